/* Measurements of MPI programs.  See make_golden.c. */
#ifndef TESTS_GOLDEN_GOLDEN_MPI_H
#define TESTS_GOLDEN_GOLDEN_MPI_H

void golden_mpi(void);

#endif
