#include "hpcprof-lite/messages/ideal_time.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum { JOINS_MAX = 1 << 24 };

void ideal_time_init(struct ideal_time *ideal, uint32_t processes, uint32_t streams)
{
  *ideal = (struct ideal_time){.ranks = xcalloc(processes, sizeof *ideal->ranks),
                               .process_of = xcalloc(streams, sizeof *ideal->process_of)};
}

void ideal_time_release(struct ideal_time *ideal)
{
  free(ideal->ranks);
  free(ideal->process_of);
  free(ideal->joins);
  *ideal = (struct ideal_time){0};
}

/* The rank has been outside MPI until then. */
static void compute(struct ideal_rank *rank, uint64_t ns)
{
  double time_ns = ns > rank->left_ns ? (double)(ns - rank->left_ns) : 0;
  rank->clock_ns += time_ns;
  rank->computed_ns += time_ns;
}

void ideal_time_take(struct ideal_time *ideal, uint32_t stream, const struct message_stream *of, enum graphlog_op op,
                     uint64_t ns)
{
  struct ideal_rank *rank = &ideal->ranks[of->process];
  ideal->process_of[stream] = of->process;
  if (op != GRAPHLOG_MPI_CALL && op != GRAPHLOG_MPI_RETURN)
    return;
  if (of->thread != rank->thread)
    ideal->incomplete = true;
  else if (op == GRAPHLOG_MPI_CALL)
    compute(rank, ns);
  else
    rank->left_ns = ns;
  rank->in_call = op == GRAPHLOG_MPI_CALL;
}

void ideal_time_end(struct ideal_time *ideal, uint32_t process, uint64_t ns)
{
  struct ideal_rank *rank = &ideal->ranks[process];
  ideal->incomplete |= rank->in_call;
  if (!rank->in_call)
    compute(rank, ns);
  ideal->longest_ns = MAX(ideal->longest_ns, rank->clock_ns);
  ideal->most_ns = MAX(ideal->most_ns, rank->computed_ns);
}

/* ---- joins ---- */

static double *clock_of(const struct ideal_time *ideal, uint32_t stream)
{
  return &ideal->ranks[ideal->process_of[stream]].clock_ns;
}

static void offer(void *context, uint32_t stream, uint64_t number)
{
  struct ideal_time *ideal = context;
  if (number >= JOINS_MAX) {
    ideal->incomplete = true;
    return;
  }
  xarray_reserve(&ideal->joins, &ideal->joins_room, number + 1, sizeof *ideal->joins);
  for (; ideal->joins_count <= number; ideal->joins_count++)
    ideal->joins[ideal->joins_count] = 0;
  ideal->joins[number] = MAX(ideal->joins[number], *clock_of(ideal, stream));
}

static void take(void *context, uint32_t stream, uint64_t number)
{
  struct ideal_time *ideal = context;
  double *clock = clock_of(ideal, stream);
  if (number < ideal->joins_count)
    *clock = MAX(*clock, ideal->joins[number]);
}

static void forget(void *context, uint64_t number)
{
  struct ideal_time *ideal = context;
  if (number < ideal->joins_count)
    ideal->joins[number] = 0;
}

struct message_observer ideal_time_observer(struct ideal_time *ideal)
{
  assert(ideal->ranks);
  return (struct message_observer){.offers = offer, .takes = take, .ends = forget, .context = ideal};
}
