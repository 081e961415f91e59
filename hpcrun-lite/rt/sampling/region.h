/* Parallel regions: deferred resolution of their creation contexts, online (ICS'13, section 3.2).
 *
 * Context: RT.  Departures from the paper: a worker's subtree is not copied below the creation path but hung below a
 * link to the node of it in the master's tree, so trees of threads are never read by one another; and a path is
 * published as soon as the master itself is sampled inside the region, not only at its end.
 *
 * A region instance is a record in a table shared by all threads, named by a handle: generation << 32 | index.  The
 * record's word holds generation << 32 | open | users.  Users are the master, from begin until it has published the
 * link (or ended the region unsampled), and every worker that was sampled in the instance, until it has folded its
 * samples. Whoever lets go last recycles the record; the generation grows then, so old handles no longer fit.  A region
 * that nobody was sampled in costs no unwind, no allocation that grows and no shared write but its own word.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_REGION_H
#define HPCRUN_LITE_RT_SAMPLING_REGION_H

#include "hpcrun-lite/rt/core/rt.h"

void region_start(void);

/* Makes a new thread known as a possible master.  CTL, under its lock.  False without memory. */
bool region_register(struct thread_state *t);

/* Takes an ending thread's records back.  CTL. */
void region_unregister(struct thread_state *t);

/* In place of the handle of a region that has no record. */
#define REGION_UNKNOWN UINT64_MAX

/* Master enters a region whose runtime entry's frame is at enter_frame.  Returns its handle, 0 without memory. */
uint64_t region_begin(struct thread_state *t, uint64_t enter_frame);

/* Master leaves the innermost region it has entered (what the runtime says at the end which region that is cannot be
 * relied on: with nesting, libomp 14 to 19 pass another region's data).  Returns NULL, or, if somebody was sampled in
 * the region and its creation path is not known, the region: then the caller unwinds, calls region_publish() and then
 * region_close(). */
struct format_region *region_end(struct thread_state *t);
void region_close(struct thread_state *t);

/* Handle of the innermost region that the thread is in, 0 outside of any it knows. */
uint64_t region_current(const struct thread_state *t);

/* What that region's contexts begin with: the same for all instances that were created in the same context. */
uint64_t region_identity(const struct thread_state *t);

/* The innermost open region that this thread is master of, NULL without. */
struct format_region *region_innermost(const struct thread_state *t);

/* The innermost open region of this thread that was entered from a frame between those stack pointers; NULL if none. */
struct format_region *region_entered(const struct thread_state *t, uint64_t sp_from, uint64_t sp_to);

/* Has the instance not ended yet? */
bool region_open(uint64_t handle);

/* Has its creation context been published? */
bool region_known(const struct format_region *region);

/* The master's tree node of the context that created the region. */
void region_publish(struct thread_state *t, struct format_region *region, uint32_t node);

/* The node below which a worker's frames in that region belong: a link, or a placeholder to be folded later.  CCT_NONE
 * if the instance is over or memory is lacking. */
uint32_t region_base(struct thread_state *t, uint64_t handle);

/* Folds what has been resolved since: called at each sample, cheap if nothing is pending. */
void region_fold(struct thread_state *t);

/* Master of open regions that others wait to learn the origin of? */
bool region_wanted(const struct thread_state *t);

/* Before the thread sleeps: is it master of open regions with workers whose creation context nobody has been asked for?
 * Then the caller publishes them: asleep it would not come to it. */
bool region_publish_open(const struct thread_state *t);

const struct table *region_table(void);

#endif
