/* What the threads of a team share: loops, sections, locks, ordered and doacross loops; task dependences.
 *
 * Context: RT, in callbacks; the rules are those of rt/span/span.h.
 */
#ifndef HPCRUN_LITE_RT_SPAN_WORKSHARING_H
#define HPCRUN_LITE_RT_SPAN_WORKSHARING_H

#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/core/rt.h"

void worksharing_start(void);

void worksharing_work_begin(struct thread_state *t, uint32_t task, int kind, uint64_t count, const void *code);
/* A barrier, another worksharing construct or the task's end tells that it has left the one before: the end of GCC's is
 * not always announced. */
void worksharing_close(struct thread_state *t, struct task *task);

void worksharing_work_end(struct thread_state *t, uint32_t task, int kind);
/* Which iterations, for the log: 0 of them if that is not known. */
void worksharing_chunk(struct thread_state *t, uint32_t task, int kind, uint64_t start, uint64_t iterations);
void worksharing_masked(struct thread_state *t, uint32_t task, bool begin, const void *code);
void worksharing_mutex_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *code);

/* later: the callback has done much since that moment. */
void worksharing_mutex_released(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, bool later);

/* A lock is made or destroyed: another one may have that id. */
void worksharing_lock_ends(uint64_t wait_id);
void worksharing_dependences(struct thread_state *t, uint32_t task, const ompt_dependence_t *dependences, int count);

/* A user region of that row begins and ends in the current task. */
void worksharing_user_region(struct thread_state *t, uint32_t row);
void worksharing_user_end(struct thread_state *t);

#endif
