#include "hpcprof-lite/messages/host_clocks.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/hash_map.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
  POINTS_LEAST = 1024, /* bounds of a direction that are kept before they are reduced */
  HULL_MAX = 1 << 16,  /* bounds of a direction on the hull; of more, every second one is kept */
  SWEEPS_MAX = 64,
  STEPS = 80 /* of a search: the rate is then exact to 1e-15 */
};

/* A bound: sent at x, on the clock of the sender's host, and arrived at x + more on that of the receiver's. */
struct point {
  double x, more;
};

/* The bounds of one direction. */
struct direction {
  uint32_t from, to;
  struct point *points;
  uint32_t count;
  size_t room;
};

struct host_clocks {
  uint32_t hosts;
  struct direction *directions;
  uint32_t count;
  size_t room;
  struct hash_map numbers; /* of directions, + 1 */
};

struct host_clocks *host_clocks_new(uint32_t hosts)
{
  struct host_clocks *clocks = xcalloc(1, sizeof *clocks);
  clocks->hosts = hosts;
  return clocks;
}

void host_clocks_free(struct host_clocks *clocks)
{
  for (uint32_t i = 0; i < clocks->count; i++)
    free(clocks->directions[i].points);
  free(clocks->directions);
  hash_map_release(&clocks->numbers);
  free(clocks);
}

/* ---- bounds ---- */

ORDER(by_time, struct point, COMPARE(x->x, y->x) ?: COMPARE(x->more, y->more))

/* Whether the second of three points lies below the line through the others, so that it is on the lower hull. */
static bool is_below(const struct point *a, const struct point *b, const struct point *c)
{
  return (b->more - a->more) * (c->x - a->x) < (c->more - a->more) * (b->x - a->x);
}

/* Whether no line whose rate is possible touches the hull in the first of two neighbours, or in the second one. */
static bool is_steep(const struct point *a, const struct point *b, double sign)
{
  return sign * (b->more - a->more) > 3 * HOST_CLOCKS_RATE_MAX * (b->x - a->x); /* either host can differ */
}

/* Keeps the bounds that imply all others: the lower hull, as far as its slopes are possible rates. */
static void reduce(struct direction *direction)
{
  struct point *points = direction->points;
  uint32_t count = 0, first = 0;
  qsort(points, direction->count, sizeof *points, by_time);
  for (uint32_t i = 0; i < direction->count; i++) {
    if (count && points[count - 1].x == points[i].x)
      continue;
    while (count > 1 && !is_below(&points[count - 2], &points[count - 1], &points[i]))
      count--;
    points[count++] = points[i];
  }
  while (count > 1 && is_steep(&points[count - 2], &points[count - 1], 1))
    count--;
  while (first + 1 < count && is_steep(&points[first], &points[first + 1], -1))
    first++;
  uint32_t step = count - first > HULL_MAX ? 2 : 1;
  direction->count = 0;
  for (uint32_t i = first; i < count; i += step)
    points[direction->count++] = points[i];
}

static struct direction *direction_of(struct host_clocks *clocks, uint32_t from, uint32_t to)
{
  uint64_t key = (uint64_t)from * clocks->hosts + to + 1;
  uint32_t number = hash_map_find(&clocks->numbers, key);
  if (!number) {
    *XAPPEND(clocks->directions, clocks->count, clocks->room) = (struct direction){.from = from, .to = to};
    number = clocks->count;
    hash_map_add(&clocks->numbers, key, number);
  }
  return &clocks->directions[number - 1];
}

void host_clocks_bound(struct host_clocks *clocks, uint32_t from, double sent_ns, uint32_t to, double arrived_ns)
{
  assert(from < clocks->hosts && to < clocks->hosts && from != to);
  struct direction *direction = direction_of(clocks, from, to);
  if (direction->count >= POINTS_LEAST && direction->count == direction->room) {
    reduce(direction);
    if (direction->count > direction->room / 2)
      xarray_reserve(&direction->points, &direction->room, 2 * direction->room, sizeof *direction->points);
  }
  *XAPPEND(direction->points, direction->count, direction->room) = (struct point){sent_ns, arrived_ns - sent_ns};
}

/* ---- a host ---- */

/* Bounds of one host's clock: at time t of it, the time of host 0 is at least, or at most, t + more. */
struct bounds {
  struct point *least, *most;
  uint32_t least_count, most_count;
  size_t least_room, most_room;
};

/* Lists the bounds of a host by the hosts that are related. */
static void list_bounds(const struct host_clocks *clocks, uint32_t host, const struct host_clock *fitted,
                        struct bounds *bounds)
{
  bounds->least_count = bounds->most_count = 0;
  for (uint32_t i = 0; i < clocks->count; i++) {
    const struct direction *direction = &clocks->directions[i];
    bool sends = direction->from == host;
    const struct host_clock *other = &fitted[sends ? direction->to : direction->from];
    if ((!sends && direction->to != host) || !other->related)
      continue;
    for (uint32_t k = 0; k < direction->count; k++) {
      double sent = direction->points[k].x, arrived = sent + direction->points[k].more;
      double here = sends ? sent : arrived, there = sends ? arrived : sent;
      struct point bound = {here, other->offset_ns + (other->rate - 1) * there + (there - here)};
      if (sends)
        *XAPPEND(bounds->most, bounds->most_count, bounds->most_room) = bound;
      else
        *XAPPEND(bounds->least, bounds->least_count, bounds->least_room) = bound;
    }
  }
}

/* The offsets that a rate of 1 + drift leaves: from *low to the sum of it and the result, which is below 0 if none
 * keeps all bounds. */
static double corridor(const struct bounds *bounds, double drift, double *low)
{
  double most = DBL_MAX;
  *low = -DBL_MAX;
  for (uint32_t i = 0; i < bounds->most_count; i++)
    most = fmin(most, bounds->most[i].more - drift * bounds->most[i].x);
  for (uint32_t i = 0; i < bounds->least_count; i++)
    *low = fmax(*low, bounds->least[i].more - drift * bounds->least[i].x);
  return most - *low;
}

/* Returns the drift that leaves the widest corridor, whose width is concave in it. */
static double widest(const struct bounds *bounds)
{
  double from = -HOST_CLOCKS_RATE_MAX, to = HOST_CLOCKS_RATE_MAX, low;
  for (unsigned i = 0; i < STEPS; i++) {
    double third = (to - from) / 3;
    if (corridor(bounds, from + third, &low) < corridor(bounds, to - third, &low))
      from += third;
    else
      to -= third;
  }
  return (from + to) / 2;
}

/* Fits a host whose bounds are known in both directions. */
static void fit(const struct bounds *bounds, struct host_clock *clock)
{
  double drift = widest(bounds), low, open_ns = corridor(bounds, drift, &low) / 2, wanted = open_ns;
  double out = 0;
  if (wanted > 0 && corridor(bounds, out, &low) >= wanted)
    drift = 0;
  for (unsigned i = 0; i < STEPS && wanted > 0 && drift != 0; i++) { /* below 0, it violates the bounds least */
    double middle = (drift + out) / 2;
    *(corridor(bounds, middle, &low) < wanted ? &out : &drift) = middle;
  }
  double width = corridor(bounds, drift, &low);
  *clock = (struct host_clock){.related = true, .offset_ns = low + width / 2, .rate = 1 + drift, .open_ns = open_ns};
}

/* ---- all hosts ---- */

/* Fits a host to those that are related.  Returns whether that is possible. */
static bool fit_host(const struct host_clocks *clocks, uint32_t host, struct host_clock *fitted, struct bounds *bounds)
{
  list_bounds(clocks, host, fitted, bounds);
  if (!bounds->least_count || !bounds->most_count)
    return false;
  fit(bounds, &fitted[host]);
  return true;
}

uint32_t host_clocks_fit(struct host_clocks *clocks, struct host_clock *fitted)
{
  struct bounds bounds = {0};
  uint32_t related = 1;
  for (uint32_t i = 0; i < clocks->count; i++)
    reduce(&clocks->directions[i]);
  for (uint32_t i = 0; i < clocks->hosts; i++)
    fitted[i] = (struct host_clock){.related = !i, .rate = 1};
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 1; i < clocks->hosts; i++)
      if (!fitted[i].related && fit_host(clocks, i, fitted, &bounds)) {
        related++;
        more = true;
      }
  }
  bool violated = related > 1;
  for (unsigned sweep = 0; sweep < SWEEPS_MAX && violated; sweep++) {
    violated = false;
    for (uint32_t i = 1; i < clocks->hosts; i++)
      if (fitted[i].related) {
        fit_host(clocks, i, fitted, &bounds);
        violated |= fitted[i].open_ns < 0;
      }
  }
  free(bounds.least);
  free(bounds.most);
  return related;
}
