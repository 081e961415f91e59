#include "hpcprof-lite/messages/host_clocks.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/messages/line_fit.h"
#include "hpcprof-lite/model/hash_map.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  POINTS_LEAST = 64,  /* bounds of a direction that are kept before they are reduced */
  HULL_MAX = 1 << 16, /* bounds of a direction on the hull; of more, every second one is kept */
  STEPS = 80,         /* of a search: the rate is then exact to 1e-15 */
  ROUNDS_MAX = 100
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

/* The part of the run that counts, on a host's clock. */
struct span {
  double first, last;
};

struct host_clocks {
  uint32_t hosts;
  struct span *spans; /* [host] */
  struct direction *directions;
  uint32_t count;
  size_t room;
  struct hash_map numbers; /* of directions, + 1 */
};

struct host_clocks *host_clocks_new(uint32_t hosts)
{
  struct host_clocks *clocks = xcalloc(1, sizeof *clocks);
  clocks->hosts = hosts;
  clocks->spans = xcalloc(hosts, sizeof *clocks->spans);
  for (uint32_t i = 0; i < hosts; i++)
    clocks->spans[i] = (struct span){INFINITY, -INFINITY};
  return clocks;
}

void host_clocks_free(struct host_clocks *clocks)
{
  for (uint32_t i = 0; i < clocks->count; i++)
    free(clocks->directions[i].points);
  free(clocks->directions);
  free(clocks->spans);
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

static uint64_t key_of(const struct host_clocks *clocks, uint32_t from, uint32_t to)
{
  return (uint64_t)from * clocks->hosts + to + 1;
}

static struct direction *direction_of(struct host_clocks *clocks, uint32_t from, uint32_t to)
{
  uint64_t key = key_of(clocks, from, to);
  uint32_t number = hash_map_find(&clocks->numbers, key);
  if (!number) {
    *XAPPEND(clocks->directions, clocks->count, clocks->room) = (struct direction){.from = from, .to = to};
    number = clocks->count;
    hash_map_add(&clocks->numbers, key, number);
  }
  return &clocks->directions[number - 1];
}

void host_clocks_cover(struct host_clocks *clocks, uint32_t host, double ns)
{
  assert(host < clocks->hosts);
  clocks->spans[host].first = fmin(clocks->spans[host].first, ns);
  clocks->spans[host].last = fmax(clocks->spans[host].last, ns);
}

void host_clocks_bound(struct host_clocks *clocks, uint32_t from, double sent_ns, uint32_t to, double arrived_ns)
{
  assert(from != to);
  host_clocks_cover(clocks, from, sent_ns);
  host_clocks_cover(clocks, to, arrived_ns);
  struct direction *direction = direction_of(clocks, from, to);
  if (direction->count >= POINTS_LEAST && direction->count == direction->room) {
    reduce(direction);
    if (direction->count > direction->room / 2)
      xarray_reserve(&direction->points, &direction->room, 2 * direction->room, sizeof *direction->points);
  }
  *XAPPEND(direction->points, direction->count, direction->room) = (struct point){sent_ns, arrived_ns - sent_ns};
}

/* ---- which hosts are related ---- */

/* Numbers the hosts that are allowed and reached from host 0, in order of distance, from 1 on: by directions as they
 * are, or against them.  Returns how many there are. */
static uint32_t reach(const struct host_clocks *clocks, bool along, bool against, const bool *allowed, uint32_t *places)
{
  uint32_t found = 1;
  places[0] = 1;
  for (uint32_t known = 0; known < found;) {
    known = found;
    for (uint32_t i = 0; i < clocks->count; i++) {
      uint32_t from = clocks->directions[i].from, to = clocks->directions[i].to;
      if (along && places[from] && places[from] <= known && !places[to] && allowed[to])
        places[to] = ++found;
      else if (against && places[to] && places[to] <= known && !places[from] && allowed[from])
        places[from] = ++found;
    }
  }
  return found;
}

/* Finds the hosts that have bounds from both sides: what they have sent can have led to something on host 0, and the
 * other way round.  Lists them so that neighbours are close.  Returns how many there are. */
static uint32_t list_related(const struct host_clocks *clocks, uint32_t *list)
{
  uint32_t *to = xcalloc(clocks->hosts, sizeof *to), *from = xcalloc(clocks->hosts, sizeof *from);
  uint32_t *places = xcalloc(clocks->hosts, sizeof *places);
  bool *allowed = xcalloc(clocks->hosts, sizeof *allowed);
  memset(allowed, true, clocks->hosts * sizeof *allowed);
  reach(clocks, true, false, allowed, to);
  reach(clocks, false, true, allowed, from);
  for (uint32_t i = 0; i < clocks->hosts; i++)
    allowed[i] = to[i] && from[i];
  uint32_t count = reach(clocks, true, true, allowed, places);
  for (uint32_t i = 0; i < clocks->hosts; i++)
    if (places[i])
      list[places[i] - 1] = i;
  free(to);
  free(from);
  free(places);
  free(allowed);
  return count;
}

/* ---- all hosts at once ---- */

static bool is_related(const struct direction *direction, const struct host_clock *fitted)
{
  return fitted[direction->from].related && fitted[direction->to].related;
}

/* Times of a host from -1 to 1. */
struct axis {
  double middle, half;
};

static double place_on(const struct axis *axis, double ns)
{
  return (ns - axis->middle) / axis->half;
}

/* Fits the hosts of the list, so that all bounds are kept if that is possible. */
static void fit_all(const struct host_clocks *clocks, const uint32_t *list, uint32_t listed, struct host_clock *fitted)
{
  struct line *lines = xcalloc(listed, sizeof *lines);
  struct axis *axes = xcalloc(clocks->hosts, sizeof *axes);
  uint32_t *places = xcalloc(clocks->hosts, sizeof *places);
  struct line_bound *bounds = NULL;
  size_t count = 0, room = 0;
  for (uint32_t i = 0; i < listed; i++) {
    const struct span *span = &clocks->spans[list[i]];
    places[list[i]] = i;
    axes[list[i]] = (struct axis){(span->first + span->last) / 2, fmax((span->last - span->first) / 2, 1)};
    lines[i].slope_most = HOST_CLOCKS_RATE_MAX * axes[list[i]].half;
  }
  for (uint32_t i = 0; i < clocks->count; i++) {
    const struct direction *direction = &clocks->directions[i];
    if (!is_related(direction, fitted))
      continue;
    for (uint32_t k = 0; k < direction->count; k++) {
      double sent = direction->points[k].x, more = direction->points[k].more;
      *XAPPEND(bounds, count, room) =
          (struct line_bound){places[direction->from], places[direction->to], place_on(&axes[direction->from], sent),
                              place_on(&axes[direction->to], sent + more), more};
    }
  }
  line_fit(lines, listed, bounds, count);
  for (uint32_t i = 1; i < listed; i++) {
    double drift = lines[i].slope / axes[list[i]].half;
    fitted[list[i]].offset_ns = lines[i].offset - drift * axes[list[i]].middle;
    fitted[list[i]].rate = 1 + drift;
  }
  free(lines);
  free(axes);
  free(places);
  free(bounds);
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

/* The offsets that a rate of 1 + drift leaves, from high to low if none keeps all bounds; and the times of the bounds
 * that limit them. */
struct corridor {
  double low, high, low_x, high_x;
};

static struct corridor corridor(const struct bounds *bounds, double drift)
{
  struct corridor corridor = {.low = -INFINITY, .high = INFINITY};
  for (uint32_t i = 0; i < bounds->most_count; i++) {
    double high = bounds->most[i].more - drift * bounds->most[i].x;
    if (high < corridor.high) {
      corridor.high = high;
      corridor.high_x = bounds->most[i].x;
    }
  }
  for (uint32_t i = 0; i < bounds->least_count; i++) {
    double low = bounds->least[i].more - drift * bounds->least[i].x;
    if (low > corridor.low) {
      corridor.low = low;
      corridor.low_x = bounds->least[i].x;
    }
  }
  return corridor;
}

static double width(const struct bounds *bounds, double drift)
{
  struct corridor found = corridor(bounds, drift);
  return found.high - found.low;
}

/* Returns the drift that leaves the widest corridor, whose width is concave in it. */
static double widest(const struct bounds *bounds)
{
  double from = -HOST_CLOCKS_RATE_MAX, to = HOST_CLOCKS_RATE_MAX;
  for (unsigned i = 0; i < STEPS; i++) {
    double third = (to - from) / 3;
    if (width(bounds, from + third) < width(bounds, to - third))
      from += third;
    else
      to -= third;
  }
  return (from + to) / 2;
}

/* Fits a host to all others, whose clocks stay: it keeps all bounds if they let it. */
static void fit_host(const struct host_clocks *clocks, uint32_t host, struct host_clock *fitted, struct bounds *bounds)
{
  list_bounds(clocks, host, fitted, bounds);
  double drift = widest(bounds), wanted = width(bounds, drift) / 2, out = 0;
  if (wanted > 0 && width(bounds, out) >= wanted)
    drift = 0;
  for (unsigned i = 0; i < STEPS && wanted > 0 && drift != 0; i++) { /* below 0, it violates the bounds least */
    double middle = (drift + out) / 2;
    *(width(bounds, middle) < wanted ? &out : &drift) = middle;
  }
  struct corridor left = corridor(bounds, drift);
  fitted[host].offset_ns = (left.low + left.high) / 2;
  fitted[host].rate = 1 + drift;
}

/* ---- what bounds leave open ---- */

/* By how much the time of host 0 can differ from what was fitted, at the beginning and the end of the run. */
struct range {
  double low[2], high[2];
};

/* The errors that are looked for: those of each clock, by the time of host 0 as it was fitted, are linear in that. */
struct errors {
  const struct host_clocks *clocks;
  const struct host_clock *fitted;
  struct range *ranges; /* [host] */
  double begin_ns, length_ns;
  double rate_most; /* errors of rates are less */
  struct bounds bounds;
  double *most[2]; /* [direction] how much greater the error of the sender's clock can be than that of the other one */
};

/* When something had been sent, by the time of host 0; *margin_ns: how much later it arrived. */
static double sent_at(const struct host_clock *fitted, const struct direction *direction, uint32_t point,
                      double *margin_ns)
{
  const struct host_clock *from = &fitted[direction->from], *to = &fitted[direction->to];
  double sent = direction->points[point].x, more = direction->points[point].more;
  *margin_ns = to->offset_ns - from->offset_ns + (to->rate - 1) * (sent + more) - (from->rate - 1) * sent + more;
  return from->offset_ns + from->rate * sent;
}

/* Lists what the messages of a direction say of the difference of errors, its sender's less the other one, or, with
 * `sign` -1, of the opposite.  Meanwhile the other one's error can change. */
static void list_margins(struct errors *errors, const struct direction *direction, int sign)
{
  struct bounds *bounds = &errors->bounds;
  for (uint32_t i = 0; i < direction->count; i++) {
    double margin_ns, at_ns = sent_at(errors->fitted, direction, i, &margin_ns) - errors->begin_ns;
    struct point bound = {at_ns, sign * fmax(margin_ns, 0) * (1 + errors->rate_most)};
    if (sign > 0)
      *XAPPEND(bounds->most, bounds->most_count, bounds->most_room) = bound;
    else
      *XAPPEND(bounds->least, bounds->least_count, bounds->least_room) = bound;
  }
}

/* Adds what is known of the errors of both hosts by their other messages. */
static void list_ranges(struct errors *errors, const struct direction *direction)
{
  const struct range *from = &errors->ranges[direction->from], *to = &errors->ranges[direction->to];
  struct bounds *bounds = &errors->bounds;
  for (unsigned end = 0; end < 2; end++) {
    double x = end ? errors->length_ns : 0;
    *XAPPEND(bounds->most, bounds->most_count, bounds->most_room) = (struct point){x, from->high[end] - to->low[end]};
    *XAPPEND(bounds->least, bounds->least_count, bounds->least_room) =
        (struct point){x, from->low[end] - to->high[end]};
  }
}

/* Returns the furthest slope from 0 to `limit` that the bounds allow, from outside.  0 is allowed; the width of the
 * corridor is concave, so where its tangent is 0 is no less far. */
static double furthest(const struct bounds *bounds, double limit)
{
  for (unsigned i = 0; i < STEPS; i++) {
    struct corridor left = corridor(bounds, limit);
    double open = left.high - left.low, change = left.low_x - left.high_x;
    if (open >= 0 || change * limit >= 0)
      break;
    limit -= open / change;
  }
  return limit;
}

/* Finds the greatest difference of errors of a direction at both ends of the run.  It is greatest at the beginning for
 * the least slope, and at the end for the greatest one. */
static void find_most(struct errors *errors, uint32_t number)
{
  const struct host_clocks *clocks = errors->clocks;
  const struct direction *direction = &clocks->directions[number];
  struct bounds *bounds = &errors->bounds;
  uint32_t reverse = hash_map_find(&clocks->numbers, key_of(clocks, direction->to, direction->from));
  bounds->most_count = bounds->least_count = 0;
  list_margins(errors, direction, 1);
  if (reverse)
    list_margins(errors, &clocks->directions[reverse - 1], -1);
  list_ranges(errors, direction);
  double least = furthest(bounds, -2 * errors->rate_most), greatest = furthest(bounds, 2 * errors->rate_most);
  errors->most[0][number] = fmax(corridor(bounds, least).high, 0); /* slopes of 0 can be missed by rounding */
  errors->most[1][number] = fmax(corridor(bounds, greatest).high + greatest * errors->length_ns, 0);
}

/* Narrows the ranges of both hosts of a direction.  Returns whether that changes them. */
static bool narrow(struct errors *errors, uint32_t number)
{
  const struct direction *direction = &errors->clocks->directions[number];
  struct range *from = &errors->ranges[direction->from], *to = &errors->ranges[direction->to];
  bool changes = false;
  for (unsigned end = 0; end < 2; end++) {
    double high = to->high[end] + errors->most[end][number], low = from->low[end] - errors->most[end][number];
    changes |= high < from->high[end] || low > to->low[end];
    from->high[end] = fmin(from->high[end], high);
    to->low[end] = fmax(to->low[end], low);
  }
  return changes;
}

static void narrow_all(struct errors *errors)
{
  const struct host_clocks *clocks = errors->clocks;
  for (uint32_t i = 0; i < clocks->count; i++)
    if (is_related(&clocks->directions[i], errors->fitted))
      find_most(errors, i);
  for (bool changes = true; changes;) {
    changes = false;
    for (uint32_t i = 0; i < clocks->count; i++)
      changes |= is_related(&clocks->directions[i], errors->fitted) && narrow(errors, i);
  }
}

static double open_ns(const struct range *range)
{
  return fmax(fmax(range->high[0], range->high[1]), -fmin(range->low[0], range->low[1]));
}

/* Sets by how much each clock can be wrong, at most: narrows the ranges of errors until they change little. */
static void find_errors(const struct host_clocks *clocks, struct host_clock *fitted)
{
  static const double little = 0.01;
  struct errors errors = {clocks, fitted, .begin_ns = INFINITY, .rate_most = 2 * HOST_CLOCKS_RATE_MAX};
  double end_ns = -INFINITY, most = INFINITY, before;
  errors.rate_most /= 1 - HOST_CLOCKS_RATE_MAX;
  errors.ranges = xcalloc(clocks->hosts, sizeof *errors.ranges);
  errors.most[0] = xcalloc(clocks->count, sizeof *errors.most[0]);
  errors.most[1] = xcalloc(clocks->count, sizeof *errors.most[1]);
  for (uint32_t i = 0; i < clocks->hosts; i++) {
    if (i)
      errors.ranges[i] = (struct range){{-INFINITY, -INFINITY}, {INFINITY, INFINITY}};
    if (!fitted[i].related)
      continue;
    errors.begin_ns = fmin(errors.begin_ns, fitted[i].offset_ns + fitted[i].rate * clocks->spans[i].first);
    end_ns = fmax(end_ns, fitted[i].offset_ns + fitted[i].rate * clocks->spans[i].last);
  }
  errors.length_ns = fmax(end_ns - errors.begin_ns, 1);
  for (unsigned i = 0; i < ROUNDS_MAX && (!i || most < (1 - little) * before); i++) {
    narrow_all(&errors);
    before = most;
    most = 0;
    for (uint32_t k = 0; k < clocks->hosts; k++)
      most = fitted[k].related ? fmax(most, open_ns(&errors.ranges[k])) : most;
    errors.rate_most = fmin(errors.rate_most, 2 * most / errors.length_ns);
  }
  for (uint32_t i = 0; i < clocks->hosts; i++)
    fitted[i].open_ns = fitted[i].related ? open_ns(&errors.ranges[i]) : 0;
  free(errors.ranges);
  free(errors.most[0]);
  free(errors.most[1]);
  free(errors.bounds.least);
  free(errors.bounds.most);
}

/* Sets the largest violation of each host.  Returns whether there is one. */
static bool find_violations(const struct host_clocks *clocks, struct host_clock *fitted)
{
  static const double rounding_ns = 0.1;
  bool found = false;
  for (uint32_t i = 0; i < clocks->count; i++) {
    const struct direction *direction = &clocks->directions[i];
    struct host_clock *from = &fitted[direction->from], *to = &fitted[direction->to];
    for (uint32_t k = 0; k < direction->count && is_related(direction, fitted); k++) {
      double margin_ns;
      sent_at(fitted, direction, k, &margin_ns);
      from->open_ns = fmin(from->open_ns, margin_ns);
      to->open_ns = fmin(to->open_ns, margin_ns);
      found |= margin_ns < -rounding_ns;
    }
  }
  return found;
}

/* ---- all ---- */

uint32_t host_clocks_fit(struct host_clocks *clocks, struct host_clock *fitted)
{
  struct bounds bounds = {0};
  uint32_t *list = xcalloc(clocks->hosts, sizeof *list), related = list_related(clocks, list);
  for (uint32_t i = 0; i < clocks->hosts; i++)
    fitted[i] = (struct host_clock){.rate = 1};
  for (uint32_t i = 0; i < related; i++)
    fitted[list[i]].related = true;
  for (uint32_t i = 0; i < clocks->count; i++)
    reduce(&clocks->directions[i]);
  if (related > 1)
    fit_all(clocks, list, related, fitted);
  for (uint32_t i = 1; i < related; i++)
    fit_host(clocks, list[i], fitted, &bounds);
  if (!find_violations(clocks, fitted) && related > 1)
    find_errors(clocks, fitted);
  free(bounds.least);
  free(bounds.most);
  free(list);
  return related;
}
