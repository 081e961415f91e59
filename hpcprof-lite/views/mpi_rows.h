/* The calls of MPI: which function was called where, how often, for how long, with how many bytes.
 *
 * Context: BATCH.  Pure: the contexts' records (struct context_mpi) are of one thread, function and context each; those
 * of a function and a line of the program are one row.  The caller releases the rows; strings belong to struct names.
 */
#ifndef HPCPROF_LITE_VIEWS_MPI_ROWS_H
#define HPCPROF_LITE_VIEWS_MPI_ROWS_H

#include "hpcprof-lite/views/call_places.h"

struct mpi_row {
  uint32_t function;       /* enum mpi_function; 0: not known */
  struct call_place place; /* of the calls */
  uint32_t row;            /* of the top-down tree, with most of the time; MODEL_NONE if not known */
  uint32_t ranks, threads; /* that called it there; ranks: processes */
  uint64_t calls, ns, longest_ns;
  uint64_t decoded, sent, received; /* decoded: calls whose bytes are known, which the other two are of */
};

struct mpi_rows {
  struct mpi_row *rows; /* by time, the longest first */
  uint32_t count;
  uint64_t all_ns; /* of all rows */
};

/* row_of[context]: its row of the top-down tree. */
void mpi_rows_make(const struct profile *profile, const struct names *names, const uint32_t *row_of,
                   struct mpi_rows *rows);
void mpi_rows_release(struct mpi_rows *rows);

/* The bytes of a call whose bytes are known, on average, of the direction with more of them; 0 if there is none. */
double mpi_row_mean_bytes(const struct mpi_row *row);

#endif
