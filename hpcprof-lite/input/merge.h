/* All measurement files of some directories, merged into one profile.
 *
 * Context: BATCH.  Files are dealt to worker threads; each adds whole files to a partial tree of its own, and the
 * partial trees are merged pairwise.  Memory: the merged result once for each worker, plus the files being read. The
 * result does not depend on the number of workers or on the order of the files, but for the numbering of nodes:
 * whatever needs an order takes it from the contexts' identities (tree.c).
 */
#ifndef HPCPROF_LITE_INPUT_MERGE_H
#define HPCPROF_LITE_INPUT_MERGE_H

#include "hpcprof-lite/model/profile.h"

/* Reads and merges the files on that many threads, idleness counted against the baseline; `progress` is called now and
 * then with the number of files done, from one thread at a time, and may be NULL.  0, or ERR_NOMEM.  The caller
 * releases *profile in any case. */
int merge_files(char *const *paths, uint32_t count, unsigned threads, enum profile_baseline baseline,
                void (*progress)(uint32_t done, uint32_t all), struct profile *profile);

/* The same in two steps, the first for one part of the files: every `parts`-th, from `part` on.  Between them
 * processes[] stands in the order of paths, with gaps where other parts' files belong, and parts can be put together.
 */
struct merge_part {
  char *const *paths;
  uint32_t count, part, parts; /* count: of all paths */
  unsigned threads;
  enum profile_baseline baseline;
  void (*progress)(uint32_t done, uint32_t all);
};

int merge_part(const struct merge_part *part, struct profile *profile);
int merge_finish(struct profile *profile);

#endif
