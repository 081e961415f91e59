/* Adds one measurement file to a tree of contexts: the links between its threads' trees become full calling paths.
 *
 * Context: BATCH.  A worker's tree hangs below the context that created its parallel region, which stands in another
 * thread's tree: LINK names that node, PLACEHOLDER names the region whose record names it.  Links may chain through
 * several threads. Memory: the nodes of one thread at a time and of those it links to, and four bytes for each node of
 * the process. Departure from trust: every index is checked; cycles and links to nowhere are reported and end below a
 * PARTIAL node, with their values, so that no time is lost.
 */
#ifndef HPCPROF_LITE_INPUT_STITCH_H
#define HPCPROF_LITE_INPUT_STITCH_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/catalog.h"
#include "hpcprof-lite/model/contexts.h"
#include "hpcprof-lite/model/profile.h"

/* Adds all threads of the file to contexts, and what they hold in total to process->threads; the parts of the process's
 * span to contexts, its constructs to process->graph.  0, or ERR_NOMEM.
 *
 * Idleness is made here, for each thread and node, while its process and thread are known.  With P = work + overhead +
 * lock wait of the node, and the sums over its samples of p/b (per busy) and p t/b (in use), it is T per_busy - P
 * against T threads or cores, in_use - P against the threads in use at the time; at least 0.  Liu et al., ICS'13,
 * equation 1; lock waits carry idleness too, as they count in b.  A file without those sums yields no such column. */
int stitch_file(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                enum profile_baseline baseline, struct contexts *contexts, struct problems *problems);

/* The merged contexts of some nodes of threads of a file that was stitched before: found[i] of places[i], PROFILE_NONE
 * where there is none.  Nothing is added to the contexts.  0, or ERR_NOMEM. */
struct stitch_place {
  uint32_t thread, node; /* thread: its index in the file */
};

int stitch_find(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                struct contexts *contexts, const struct stitch_place *places, uint32_t count, uint32_t *found);

/* A file that was stitched before, to look at its threads once more.  The process must not change meanwhile.  NULL
 * without memory. */
struct stitch *stitch_open(struct read_file *file, struct profile_process *process, struct catalog *catalog,
                           struct contexts *contexts);
void stitch_close(struct stitch *stitch);

/* What the thread at that position, asked for once, has in one of the catalog's columns, by merged context; contexts
 * may occur more than once.  The list is the caller's and is filled
 * anew.  0, or ERR_NOMEM. */
struct stitch_amount {
  uint32_t context;
  uint64_t amount;
};

struct stitch_amounts {
  struct stitch_amount *amounts;
  uint32_t count;
  size_t room;
};

int stitch_amounts(struct stitch *stitch, uint32_t position, uint32_t column, struct stitch_amounts *amounts);

#endif
