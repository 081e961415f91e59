/* The timeline of a run: the lanes of all processes that have a trace, in the terms of the reports.
 *
 * Context: BATCH.  Lanes can be read by several threads at the same time, each lane by one of them.  Memory: the
 * samples of working threads, the intervals of the critical path, for each lane that is being read an extent of its
 * trace, and for each thread that reads lanes 8 bytes for each context, to find what they wait for.
 */
#ifndef HPCPROF_LITE_TIMELINE_TIMELINE_SOURCE_H
#define HPCPROF_LITE_TIMELINE_TIMELINE_SOURCE_H

#include "hpcprof-lite/model/timeline.h"
#include "hpcprof-lite/timeline/index_builder.h"
#include "hpcprof-lite/timeline/traced.h"

struct timeline_source;

/* Opens the traces; if there is none, the timeline has no lanes. */
struct timeline_source *timeline_source_open(const struct timeline_input *input);
void timeline_source_close(struct timeline_source *source); /* NULL is allowed */

/* To build the index of a process that has none, of the whole run: timeline_source_collect() for each of its lanes,
 * timeline_source_prepare() for the first one, timeline_source_index(), what index_builder.h says, and
 * timeline_source_forget().  Several threads may do that for different lanes, or processes.  index: returns NULL if
 * the index cannot be stored, which is reported.  An index must not be stored if the process is `damaged` then: it
 * would hide what must be reported each time. */
void timeline_source_collect(struct timeline_source *source, uint32_t lane);
void timeline_source_prepare(struct timeline_source *source, uint32_t first);
struct index_builder *timeline_source_index(struct timeline_source *source, uint32_t first,
                                            const struct timeline_index_guest *guest, struct problems *problems);
void timeline_source_forget(struct timeline_source *source, uint32_t process);

/* Returns what is known of a process.  Its index is NULL if it has none. */
const struct traced *timeline_source_traced(const struct timeline_source *source, uint32_t process);

/* The intervals of the thread at a position in a process, also outside the range, without wait_for and critical path.
 * Returns 0, or what `visit` has returned, which ends it unless that is 0. */
int timeline_source_each(struct timeline_source *source, uint32_t process, uint32_t position, timeline_visit *visit,
                         void *context);

/* How many bytes of trace must be read for the lanes. */
uint64_t timeline_source_bytes(const struct timeline_source *source);

/* Adds what a lane did in a part of time, from the index, right but for its shortest cells at both ends.  Returns 0, or
 * 1 if there is none or it is damaged. */
int timeline_source_sum(const struct timeline_source *source, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
                        uint64_t ns[TIMELINE_CATEGORIES]);

/* Returns the construct in the report of a thread's record, MODEL_NONE if there is none. */
uint32_t timeline_source_construct(const struct timeline_source *source, uint32_t process, uint32_t position,
                                   uint32_t record);

const struct timeline *timeline_source_timeline(const struct timeline_source *source);

#endif
