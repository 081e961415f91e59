/* The ranks of an MPI job: how their threads' time divides among the categories, and what they have communicated.
 *
 * Context: BATCH.  Pure: the profile is only read.  A rank is a process; in the order of their numbers.  The caller
 * releases the rows.
 */
#ifndef HPCPROF_LITE_VIEWS_RANK_ROWS_H
#define HPCPROF_LITE_VIEWS_RANK_ROWS_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/timeline.h"

struct rank_row {
  uint32_t rank, process, threads;  /* process: its number in the profile */
  uint64_t ns[TIMELINE_CATEGORIES]; /* of its threads, wherever the cause of their waiting is */
  uint64_t calls, sent, received;   /* calls of MPI, and the bytes of those that are known */
  bool bytes_known;
};

struct rank_rows {
  struct rank_row *rows;
  uint32_t count;
};

/* Lists all processes that have a rank. */
void rank_rows_make(const struct profile *profile, struct rank_rows *rows);
void rank_rows_release(struct rank_rows *rows);

/* Sets the row with the least and with the most time in a category; of equal ones, the first.  Requires rows. */
void rank_rows_extremes(const struct rank_rows *rows, enum timeline_category category, uint32_t *least, uint32_t *most);

#endif
