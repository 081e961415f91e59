/* The distribution of each row's work over threads and ranks: minimum, mean, maximum and standard deviation, and which
 * threads or ranks have the extremes.
 *
 * Context: BATCH.  Extremes and squares of a row that merges several contexts cannot be computed from those of the
 * contexts.  Therefore the files are read again when the rows are known: each thread's work is added up for the rows,
 * and only sums over threads are kept.  The caller owns the result.  Memory: the rows once for each worker, and the
 * values of one thread at a time; it does not grow with the number of threads.
 *
 * A thread that never ran in a row counts there with 0, so that mean x threads = inclusive work of the row.  All sums
 * are sums of whole numbers: the result does not depend on how the work was divided.
 */
#ifndef HPCPROF_LITE_VIEWS_STATISTICS_H
#define HPCPROF_LITE_VIEWS_STATISTICS_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"
#include "hpcprof-lite/views/derived.h"

/* What is counted: the work in the profile's files, by the rows of a view. */
struct statistics_view {
  const struct profile *profile;
  uint32_t column;                  /* of work, in the catalog */
  const uint32_t *row_of;           /* [context] row of `tree` for its own values, or MODEL_NONE */
  const struct tree *tree;          /* a top-down tree: work of a row includes that of the rows below */
  const struct derived_links *into; /* from rows of the tree to rows of the view; NULL: the tree is the view */
  uint32_t rows;                    /* of the view */
};

/* Sums of one row over its owners.  An owner is a thread or a rank: a position in thread_owners or rank_owners. */
struct statistics_sums {
  unsigned __int128 squares;
  uint64_t sum, least, most;
  uint32_t owners; /* number of owners that have work in the row */
  uint32_t least_owner, most_owner;
  uint32_t first_without; /* the first owner that has no work in the row, MODEL_NONE if all have some */
};

struct statistics_owner {
  uint32_t process, thread; /* positions: of the process in the profile, of the thread in the process */
};

struct statistics {
  bool known, ranked;                      /* ranked: some processes have ranks */
  struct statistics_sums *threads, *ranks; /* [row]; ranks: NULL unless `ranked` */
  struct statistics_owner *thread_owners;  /* all threads, by rank, process, thread */
  struct statistics_owner *rank_owners;    /* one process of each rank, by rank */
  uint32_t rows, threads_count, ranks_count;
};

/* One row's figures. */
struct statistics_figures {
  uint64_t least, mean, most, deviation; /* ns */
  struct statistics_owner least_owner, most_owner;
};

/* Reads all files again on that many threads.  A file that cannot be read any more is reported in *problems and counts
 * as no work.  The caller calls statistics_release(). */
void statistics_count(const struct statistics_view *view, unsigned threads, struct problems *problems,
                      struct statistics *statistics);

/* The same for a part of the run: counts every `parts`-th of its ranks and of its processes without a rank, from `part`
 * on. */
void statistics_count_part(const struct statistics_view *view, uint32_t part, uint32_t parts, unsigned threads,
                           struct problems *problems, struct statistics *statistics);

/* Adds the sums of another part of the same view. */
void statistics_merge(struct statistics *into, const struct statistics *from);

/* Frees what the statistics own and sets them to zeros. */
void statistics_release(struct statistics *statistics);

/* Computes the figures of one row, over threads or over ranks.  Returns false if there are none: no time was measured,
 * or no process has a rank. */
bool statistics_row(const struct statistics *statistics, uint32_t row, bool of_ranks,
                    struct statistics_figures *figures);

#endif
