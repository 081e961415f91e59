/* Directives: the rows of the parallelism report, and instances of constructs.
 *
 * Context: RT, in callbacks.  A row is a kind of construct at a code address.  An instance is one execution of a
 * construct, with all that its tasks and their descendants do: it lives until the last of them has let it go, and then
 * adds its work and span to its row, and its work and end to the instance around it.  Only outermost instances count: a
 * construct inside an instance of its own row belongs to that instance.  Each thread sums up for its rows; the sums of
 * all threads meet in the shared table when a thread ends, and at the end.
 */
#ifndef HPCRUN_LITE_RT_SPAN_DIRECTIVE_H
#define HPCRUN_LITE_RT_SPAN_DIRECTIVE_H

#include "hpcrun-lite/rt/core/rt.h"

enum { DIRECTIVE_PROGRAM = 0, DIRECTIVES_MAX = 65535 };

void directive_start(void);
bool directive_start_thread(struct thread_state *t);

/* Adds the thread's sums to the shared table and gives its memory back. */
void directive_stop_thread(struct thread_state *t);
void directive_settle(struct thread_state *t);

/* The row of that kind and return address; DIRECTIVE_PROGRAM where the table is full. */
uint32_t directive_row(struct thread_state *t, enum format_directive_kind kind, const void *code);

/* The row of a user region of that name, and the name's place among the strings. */
uint32_t directive_user_row(struct thread_state *t, const char *name, uint32_t *string);

/* An instance of a row within another one (0 = none) that begins at a clock.  The caller holds it until it calls
 * directive_leave(). */
uint32_t directive_enter(struct thread_state *t, uint32_t row, uint32_t outer, uint64_t start);
void directive_leave(struct thread_state *t, uint32_t instance);
uint32_t directive_share(struct thread_state *t, uint32_t instance);

/* Instances that ended without ever having been made. */
void directive_ended(struct thread_state *t, uint32_t row, uint64_t instances, uint64_t work, uint64_t span);

/* Is the instance, or one around it, of that row? */
bool directive_contains(uint32_t instance, uint32_t row);

/* Work done within an instance, up to a clock.  The thread keeps it in t->holds for a while, with references of its
 * own, so that threads do not fight for the instance. */
void directive_work(struct thread_state *t, uint32_t instance, uint64_t work, uint64_t end);

/* The instance's span is that (otherwise its latest end - its start). */
void directive_span(uint32_t instance, uint64_t span);

/* The lower bound that a lock sets to the span, for a row. */
void directive_lock_bound(uint32_t row, uint64_t bound);

/* Counts an execution of a construct that does no work itself, and iterations of a loop. */
void directive_count(struct thread_state *t, uint32_t row, uint64_t iterations);

const struct table *directive_table(void);

#endif
