/* The runtime's events as events of constructs: which construct an event belongs to, and its calling context.
 *
 * Context: RT, in callbacks, within graph_enter() of rt/graph_access.h, after the event has been added to the graph,
 * which has found the rows.  `read` is the time-stamp counter if the callback has read it, else 0. */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_EVENTS_H
#define HPCRUN_LITE_RT_CONSTRUCT_EVENTS_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"

/* A construct was met for the first time: keeps the context, which its record does not have yet. */
void construct_events_keep_context(struct thread_state *t, struct format_construct *at) __attribute__((noinline));

/* again: libomp announces a team of a league, in which it belongs to the league's record. */
void construct_events_region_begin(struct thread_state *t, uint64_t region, bool league, bool again, uint64_t read);
void construct_events_region_end(struct thread_state *t, uint64_t read);

/* An implicit task begins: of the region's creator or of another thread; region 0: outside any. */
void construct_events_implicit_begin(struct thread_state *t, uint64_t region, bool creator, const void *task,
                                     uint64_t read);
void construct_events_implicit_end(struct thread_state *t, bool creator);

/* kind: OMPT's. */
void construct_events_wait_begin(struct thread_state *t, int kind, const void *code, uint64_t read);
void construct_events_wait_end(struct thread_state *t, uint64_t read);
void construct_events_group(struct thread_state *t, uint32_t row, bool begin);
void construct_events_work(struct thread_state *t, int kind, uint32_t row, bool begin);
void construct_events_scope(struct thread_state *t, uint32_t kind, uint32_t row, bool begin);
void construct_events_operation(struct thread_state *t, uint32_t kind, uint32_t row, bool begin, uint64_t bytes);

void construct_events_acquired(struct thread_state *t, int kind, uint32_t row, uint64_t wait_id, uint64_t read);
/* The thread has waited for another iteration, which is an ordered construct of that row. */
void construct_events_awaited(struct thread_state *t, uint32_t row, uint64_t moment);
/* Whether it is light: see construct_light(). */
bool construct_events_light(struct thread_state *t, int kind, uint32_t row, uint64_t wait_id, uint64_t read,
                            uint64_t *stands_for);

/* The kind of construct of a kind of mutual exclusion. */
uint32_t construct_events_mutex_kind(int kind);
void construct_events_released(struct thread_state *t, int kind, uint64_t wait_id, uint64_t read);

/* The thread goes on from task `prior` to one that no thread has run before; or ended the task that it ran, and goes on
 * with `next`. */
void construct_events_task_begin(struct thread_state *t, const ompt_data_t *prior, const ompt_data_t *task,
                                 uint64_t moment);
void construct_events_task_end(struct thread_state *t, const ompt_data_t *next, uint64_t moment);

/* The same in general.  number, directive, ran: those of `prior`, before the event; first: `next` begins. */
struct construct_prior {
  const ompt_data_t *data;
  uint32_t number, directive;
  uint64_t ran;
};
void construct_events_schedule(struct thread_state *t, struct construct_prior prior, int status,
                               const ompt_data_t *next, bool first, uint64_t moment);

#endif
