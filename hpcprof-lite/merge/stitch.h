/* Adds one measurement file to a tree of contexts: values, idleness, waiting, work and span, times of constructs.
 *
 * Context: BATCH.  node_map.h finds the context of each node.
 *
 * Memory, for each worker: the nodes of one thread at a time and of the threads that it links to, and four bytes for
 * each node of the threads that are stitched together.  All input is hostile: what is invalid is reported in `problems`
 * and kept with its values where that is possible, so that no time is lost.  The result does not depend on the number
 * of workers.
 */
#ifndef HPCPROF_LITE_MERGE_STITCH_H
#define HPCPROF_LITE_MERGE_STITCH_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/catalog.h"
#include "hpcprof-lite/model/contexts.h"
#include "hpcprof-lite/model/profile.h"

/* Adds all threads of the file to contexts, and their totals to process->threads.  Adds the process's shares of the
 * span and the places of its constructs to contexts, its directives to process->workspan, and the times of its
 * constructs to process->constructs.  Many threads are divided among `workers` threads, each of which adds to one of
 * the `workers` trees in contexts[].
 *
 * Idleness is computed here, for each thread and node, because it depends on the process and the thread (Liu et al.,
 * ICS'13, equation 1; lock waits carry idleness too, as they count in b).  For a sample of p ns while b threads were
 * busy and t threads in use:
 *
 *   P        = work + overhead + lock wait of the node
 *   per_busy = sum of p / b over the samples of the node
 *   in_use   = sum of p t / b over the samples of the node
 *   idleness = max(0, T per_busy - P) against a baseline of T threads or cores
 *            = max(0, in_use - P) against the threads in use at the time
 *
 * A file without these sums has no column of idleness. */
void stitch_file(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                 enum profile_baseline baseline, struct contexts *contexts, unsigned workers,
                 struct problems *problems);

/* A node of a thread's tree. */
struct stitch_node {
  uint32_t thread, node; /* thread: its index in the file */
};

/* Looks up the merged contexts of nodes of a file that has been stitched before: sets found[i] to the context of
 * nodes[i], or to MODEL_NONE if it has none.  Adds nothing to contexts. */
void stitch_find(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                 struct contexts *contexts, const struct stitch_node *nodes, uint32_t count, uint32_t *found);

/* Prepares a file that has been stitched before for stitch_amounts().  All arguments must stay unchanged until
 * stitch_close(). */
struct stitch *stitch_open(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                           struct contexts *contexts);
void stitch_close(struct stitch *stitch);

struct stitch_amount {
  uint32_t context;
  uint64_t amount;
};

/* The caller initialises it to zero and frees `amounts`. */
struct stitch_amounts {
  struct stitch_amount *amounts;
  uint32_t count;
  size_t room;
};

/* Replaces *amounts by what the thread at `position` in process->threads has in one column of the catalog; a merged
 * context may occur more than once.  May be called once for each thread. */
void stitch_amounts(struct stitch *stitch, uint32_t position, uint32_t column, struct stitch_amounts *amounts);

#endif
