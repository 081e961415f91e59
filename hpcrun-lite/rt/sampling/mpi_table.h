/* The table of a thread's calls of MPI: a row for each function in each context.
 *
 * Context: RT; functions marked CTL are called by CTL only.  The table is the thread's own; the arena owns the memory.
 * Rows beyond a limit, or without memory, share record 0: sums are complete. */
#ifndef HPCRUN_LITE_RT_SAMPLING_MPI_TABLE_H
#define HPCRUN_LITE_RT_SAMPLING_MPI_TABLE_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: sets up the tables of rows and places of a new thread.  Nothing is allocated yet. */
void mpi_table_init(struct thread_state *t);
void mpi_table_release(struct thread_state *t);

/* Finds or adds a row; node 0: the context is not known.  NULL without memory for any.  The caller is inside. */
struct format_mpi *mpi_table_find(struct mpi_calls *mpi, uint32_t function, uint32_t node);

/* A node of the thread was merged into another one. */
void mpi_table_follow_merge(struct thread_state *t, uint32_t from, uint32_t to);

/* CTL, for any thread, while measuring is stopped: the row of the call that it is in, and for how many ticks until now;
 * NULL: it is in none. */
const struct format_mpi *mpi_table_open(const struct thread_state *t, uint64_t now, uint64_t *ticks);

#endif
