/* How a row's work is spread over threads and ranks: least, mean, most, standard deviation, and who the extremes are.
 *
 * Context: BATCH.  Extremes and squares of rows that merge several contexts do not follow from those of the contexts,
 * so that the files are read once more when the rows are known: each thread's work is summed up over the rows, and only
 * sums over threads are kept.  Memory: the rows once for each worker, and one thread's values at a time; it does not
 * grow with the number of threads.  A thread that never was in a row counts there with 0, so that mean x threads =
 * inclusive work of the row.  All sums are of whole numbers: the result does not depend on who adds what and when.
 */
#ifndef HPCPROF_LITE_VIEWS_STATISTICS_H
#define HPCPROF_LITE_VIEWS_STATISTICS_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"
#include "hpcprof-lite/views/derived.h"

/* What is to be counted: the profile's files, by the rows of a view. */
struct statistics_view {
  const struct profile *profile;
  uint32_t column;                  /* of work, the catalog's                                        */
  const uint32_t *row_of;           /* [context] the row of its own values, PROFILE_NONE: in no row  */
  const struct tree *tree;          /* these rows; work is inclusive of the rows below               */
  const struct derived_links *into; /* rows of the view that are made of them; NULL: they are the view */
  uint32_t rows;                    /* of the view                                                   */
};

/* Sums of one row; extremes name an owner: its place among the run's threads, or ranks. */
struct statistics_sums {
  unsigned __int128 squares;
  uint64_t sum, least, most;
  uint32_t owners; /* that have work in the row */
  uint32_t least_owner, most_owner;
  uint32_t lacks; /* the first owner that has none, PROFILE_NONE if all have */
};

struct statistics_owner {
  uint32_t process, thread; /* process: its place in the profile; thread: its place in the process */
};

struct statistics {
  bool known, ranked;                      /* ranked: processes have ranks */
  struct statistics_sums *threads, *ranks; /* [row]; ranks: NULL unless ranked */
  struct statistics_owner *thread_owners;  /* by rank, process, thread */
  struct statistics_owner *rank_owners;    /* a process of each rank, by rank */
  uint32_t rows, threads_count, ranks_count;
};

/* One row's figures. */
struct statistics_figures {
  uint64_t least, mean, most, deviation; /* ns */
  struct statistics_owner least_owner, most_owner;
};

/* Reads all files once more on so many threads.  What cannot be read any more is named in problems and counts as no
 * work.  0, or ERR_NOMEM; statistics_release() in any case. */
int statistics_count(const struct statistics_view *view, unsigned threads, struct problems *problems,
                     struct statistics *statistics);

/* The same for one part of the run's ranks or processes: every `parts`-th, from `part` on. */
int statistics_count_part(const struct statistics_view *view, uint32_t part, uint32_t parts, unsigned threads,
                          struct problems *problems, struct statistics *statistics);

/* Adds the sums of another part of the same view. */
void statistics_merge(struct statistics *into, const struct statistics *from);

void statistics_release(struct statistics *statistics);

/* False where there are none: no time was measured, or no process has a rank. */
bool statistics_row(const struct statistics *statistics, uint32_t row, bool of_ranks,
                    struct statistics_figures *figures);

#endif
