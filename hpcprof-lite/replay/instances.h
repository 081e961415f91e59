/* Instances of constructs in a replay, with their work and span, and the totals of each directive.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/span/directive.h: an instance lives until all its holders have
 * left it, then its figures are added to those of its directive and of the instance around it.  Only the outermost
 * instances of a directive count.  An instance is named by its number, 0 = none.  The structure owns its memory.
 *
 * Departure: if there are too many instances or they nest too deeply, a new one is replaced by the instance around it,
 * and counted in `lost`.
 */
#ifndef HPCPROF_LITE_REPLAY_INSTANCES_H
#define HPCPROF_LITE_REPLAY_INSTANCES_H

#include "hpcprof-lite/model/object_pool.h"

enum { INSTANCES_TIMES = 2 };

/* A time, or a length of time, as two elements of the vector clocks have it: at[0] as measured, at[1] in the first
 * scenario if that is replayed in detail (replay.h). */
struct clock_pair {
  double at[INSTANCES_TIMES];
};

struct instances_total {
  uint64_t instances, iterations;
  struct clock_pair work, span, lock_bound;
  double device_time; /* of `work`, in which tasks wait for devices */
};

struct instances {
  struct object_pool pool;
  struct instances_total *totals; /* [directive] */
  uint32_t directives;
  uint64_t lost; /* instances that were not made */
  bool limited;  /* only instances that do work count */
  bool outside;  /* nor do those that do none, now */
};

/* Prepares for directives below `directives`. */
void instances_init(struct instances *instances, uint32_t directives);
void instances_release(struct instances *instances);

/* Begins an instance of a row, within the instance `outer`.  Returns its number, or `outer` if the row is 0 or has an
 * instance there already.  The caller holds the result until it calls instances_leave(). */
uint32_t instances_enter(struct instances *instances, uint32_t row, uint32_t outer, const struct clock_pair *start);

/* Begins a thread's part of an instance that threads share and that is in no other one: what is done in the part counts
 * for that instance, and for those around the part. */
uint32_t instances_enter_part(struct instances *instances, uint32_t whole, uint32_t outer,
                              const struct clock_pair *start);

/* Releases a hold.  The last one ends the instance. */
void instances_leave(struct instances *instances, uint32_t instance);

/* Adds a hold and returns the instance. */
uint32_t instances_share(struct instances *instances, uint32_t instance);

/* Returns whether the instance, or one around it, is of that row. */
bool instances_contain(const struct instances *instances, uint32_t instance, uint32_t row);

/* Adds work that was done within an instance until `end`. */
void instances_work(struct instances *instances, uint32_t instance, const struct clock_pair *work,
                    const struct clock_pair *end);

/* Of the work that is added within an instance (0: none), so much is time in which a task waits for a device. */
void instances_device_time(struct instances *instances, uint32_t instance, double amount);

/* Sets a lower bound of the instance's span, which otherwise is its latest end - its start.  It is never more than the
 * instance's work. */
void instances_span(struct instances *instances, uint32_t instance, const struct clock_pair *span);

/* In a part of an instance, chains begin later than the part: its own span does not count for the whole. */
void instances_part_moved(struct instances *instances, uint32_t index);

/* Counts an instance of a construct that does no work itself. */
void instances_count(struct instances *instances, uint32_t row);

/* Adds an instance that has ended and has no number to the totals. */
void instances_ended(struct instances *instances, uint32_t row, const struct clock_pair *work,
                     const struct clock_pair *span);

/* Returns the time from `start` to `end`, at least 0. */
struct clock_pair clock_pair_since(const struct clock_pair *end, const struct clock_pair *start);

/* Returns the span of an execution with that work, between two clocks: at most its work (hpcrun-lite/rt/span/graph.h).
 */
struct clock_pair clock_pair_own_span(const struct clock_pair *work, const struct clock_pair *begin,
                                      const struct clock_pair *end);

/* Adds another pair. */
void clock_pair_add(struct clock_pair *pair, const struct clock_pair *other);

/* Sets *pair to the later of the two. */
void clock_pair_raise(struct clock_pair *pair, const struct clock_pair *other);

#endif
