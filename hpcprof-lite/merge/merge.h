/* Reads the measurement files of a run and merges them into one profile.
 *
 * Context: BATCH.  Worker threads take whole files and add each to a partial tree of their own; where there are fewer
 * files than threads, several add the threads of one file.  The partial trees are then merged in pairs.  Memory: one
 * tree of the size of the result for each worker, and the files being read.
 *
 * The result does not depend on the number of workers or on the order of the files, except for the numbers of nodes.
 * Later stages therefore order contexts by what identifies them, never by number.
 *
 * The caller owns the profile and calls profile_release() also after a failure.  A file that cannot be used is reported
 * in the problems of its process.
 */
#ifndef HPCPROF_LITE_MERGE_MERGE_H
#define HPCPROF_LITE_MERGE_MERGE_H

#include "hpcprof-lite/model/profile.h"

/* Merges all files on `threads` threads into *profile; idleness is counted against the baseline.  `progress` (may be
 * NULL) is called with the number of files done, by one thread at a time; if it returns false, merging ends.  Returns
 * 0, or ERR_INPUT if it has been ended. */
int merge_files(char *const *paths, uint32_t count, unsigned threads, enum profile_baseline baseline,
                bool (*progress)(uint32_t done, uint32_t all), struct profile *profile);

/* Which of the files merge_slice() reads: every `slices`-th, beginning with number `slice`. */
struct merge_slice {
  char *const *paths;
  uint32_t count; /* of all paths */
  uint32_t slice, slices;
  unsigned threads;
  enum profile_baseline baseline;
  bool (*progress)(uint32_t done, uint32_t all); /* NULL: none; `all`: the files of this slice */
  const struct profile_range *part; /* NULL: all of the run; else what is merged is this part of it, from traces,
                                       and the contexts of the whole as columns with COLUMN_OF_WHOLE */
};

/* The first step of merge_files(), for a slice of the files.  Initialises *profile; its processes[] has one element for
 * each path, in that order, and those of other slices are zero, so that the slices can be put together.  Returns the
 * same as merge_files(). */
int merge_slice(const struct merge_slice *slice, struct profile *profile);

/* Finds out when the first process of all files began, and how long the run took; 0, 0 if no file can be read. */
void merge_find_run(char *const *paths, uint32_t count, unsigned threads, uint64_t *begin_ns, uint64_t *run_ns);

/* The second step, once all slices are together: sorts the processes, merges work and span, and times of constructs.
 * The contexts get their shares of the span by span_enter_shares(). */
void merge_finish(struct profile *profile);

#endif
