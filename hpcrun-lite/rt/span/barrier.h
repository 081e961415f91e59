/* Arrivals of a team's threads at the barriers of a region: what each has done until then reaches all that leave.
 *
 * Context: RT, in callbacks; the rules of span/span.h hold.  A thread leaves the clock of its implicit task, and its
 * work, in a slot of its own, from where the others take them; so threads that arrive at the same time do not write to
 * the same memory.  What a barrier costs, in lines that move between the caches of the threads: each thread writes the
 * lines of its own slot, and reads those of the others; where another one's clock is not the later one, only the first
 * of the two.  At the end of a region only its creator reads them.
 *
 * A thread has two slots, by the parity of the interval, since threads may be one barrier apart.  If it arrives in
 * another region before all threads of this one have taken what it left there, that goes to the interval's join
 * (struct barrier_interval), which is read last. */
#ifndef HPCRUN_LITE_RT_SPAN_BARRIER_H
#define HPCRUN_LITE_RT_SPAN_BARRIER_H

#include "hpcrun-lite/rt/span/graph.h"

/* CTL: starts the table of a new process, and a thread's slots (false without memory). */
void barrier_start(void);
bool barrier_start_thread(struct thread_state *t);

/* The thread, which runs that implicit task of the team, arrives: offers its clock, and its work since the last time.
 */
void barrier_arrive(struct thread_state *t, struct task *task, struct team *team);

/* Raises a clock to all ends of an interval of the region: of implicit tasks, and of those explicit ones that the
 * barrier waits for. */
void barrier_join(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region, uint32_t interval);

/* The creator ends the region: the same for all intervals (clock NULL: there is none to raise).  Returns the work of
 * all implicit tasks, and leaves the team's intervals empty. */
uint64_t barrier_close(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region);

/* Empties the intervals before a region begins: a late thread of the last one may have reported. */
void barrier_clear(struct thread_state *t, struct team *team);

/* CTL: offers the clocks that were left in an open region to the program's longest chain. */
void barrier_reach(struct thread_state *self, const struct team *team, uint64_t region);

#endif
