/* The constructs of a process: the trees of its threads, joined at links, with a row for each construct and thread.
 *
 * Context: BATCH.  A worker's record of a parallel region links to the record of the thread that created the region:
 * both are the same node.  A link can bring a construct below itself that no thread has below itself; then it is folded
 * as the running side folds recursion, and its figures count for the outer one.
 *
 * All input is hostile.  Parents, links, owners, kinds and directives are checked; what is invalid is reported, and
 * kept outside all constructs where it has a meaning there.  The memory belongs to the process.
 */
#ifndef HPCPROF_LITE_MERGE_CONSTRUCT_RECORDS_H
#define HPCPROF_LITE_MERGE_CONSTRUCT_RECORDS_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/profile.h"

/* Where a construct was met first. */
struct construct_context {
  uint32_t node;         /* of the process's constructs */
  uint32_t thread, tree; /* position of the thread, node of its calling-context tree */
};

struct construct_contexts {
  struct construct_context *all; /* sorted by thread; the caller frees it */
  uint32_t count;
  size_t room;
};

/* Fills in process->constructs, whose directives are those of process->workspan.  Without records of constructs it
 * stays empty.  Sets *contexts, which the caller has set to zero. */
void construct_records_read(struct read_file *file, struct profile_process *process, struct problems *problems,
                            struct construct_contexts *contexts);

/* The records of the threads of a process as nodes of the run's constructs. */
struct construct_record_map {
  uint32_t **nodes; /* [position of the thread][record] */
  uint32_t *counts; /* [position]: records */
  uint32_t threads;
};

/* Finds the nodes of all records of a process that has been merged into a run, for construct_record_map_release(). */
void construct_records_map(struct read_file *file, const struct profile_process *process,
                           const struct construct_times *run, struct construct_record_map *map);
void construct_record_map_release(struct construct_record_map *map);

#endif
