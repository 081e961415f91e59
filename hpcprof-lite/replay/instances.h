/* Instances of constructs in a replay: their work and span, summed up for each directive.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/directive.h: an instance lives until all that it holds have
 * let it go; only outermost ones of a directive count.  Times stand in two lanes: as measured, and one more.  Work is
 * that of the run.  Departure: where instances nest deeper than any program, those further in belong to the last one;
 * that is counted.
 */
#ifndef HPCPROF_LITE_REPLAY_INSTANCES_H
#define HPCPROF_LITE_REPLAY_INSTANCES_H

#include "hpcprof-lite/replay/object_pool.h"

enum { INSTANCES_TIMES = 2 };

/* A moment, or a length of time, in each lane. */
struct moment {
  double at[INSTANCES_TIMES];
};

struct instances_total {
  uint64_t instances, work, iterations;
  struct moment span, lock_bound;
};

struct instances {
  struct object_pool pool;
  struct instances_total *totals; /* [row] */
  uint32_t rows;
  uint64_t lost;
};

/* 0, or ERR_NOMEM; instances_release() in any case. */
int instances_init(struct instances *instances, uint32_t rows);
void instances_release(struct instances *instances);

/* An instance of a row within another one (0 = none).  The caller holds it until it calls instances_leave(). */
uint32_t instances_enter(struct instances *instances, uint32_t row, uint32_t outer, const struct moment *start);
void instances_leave(struct instances *instances, uint32_t instance);
uint32_t instances_share(struct instances *instances, uint32_t instance);
bool instances_contain(const struct instances *instances, uint32_t instance, uint32_t row);

/* Work done within an instance, up to a moment; and the instance's span is at least that. */
void instances_work(struct instances *instances, uint32_t instance, uint64_t work, const struct moment *end);
void instances_span(struct instances *instances, uint32_t instance, const struct moment *span);

/* An instance that ended without ever having been made. */
void instances_ended(struct instances *instances, uint32_t row, uint64_t work, const struct moment *span);

/* The time between two moments, and the later of two. */
struct moment moment_since(const struct moment *end, const struct moment *begin);
void moment_raise(struct moment *moment, const struct moment *other);

#endif
