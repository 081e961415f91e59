/* What a module that decodes MPI calls knows of communicators and requests.
 *
 * Context: CTL, any number of threads at once; every function takes the lock of its table.  The tables own what they
 * hold.  Without memory nothing is added, and what is not known is not followed. */
#ifndef HPCRUN_LITE_MPI_MPI_HANDLES_H
#define HPCRUN_LITE_MPI_MPI_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

/* A handle, as a number: an address or an index.  A message that was matched (MPI_Mprobe) is none of the requests. */
#define MPI_HANDLES_MESSAGE (1ULL << 63)

struct mpi_handle {
  uint64_t handle;
  struct mpi_handle *next; /* in the table */
};

struct mpi_communicator {
  struct mpi_handle entry;
  uint32_t number;             /* its number in the process, from 1 */
  uint32_t created;            /* how many communicators its members have created from it; atomic */
  int rank, size, remote_size; /* size: of the own group; remote_size: 0 unless it has two groups */
};

enum mpi_request_kind { MPI_REQUEST_SEND, MPI_REQUEST_RECEIVE, MPI_REQUEST_COLLECTIVE, MPI_REQUEST_COMMUNICATOR };

struct mpi_request {
  struct mpi_handle entry;
  enum mpi_request_kind kind;
  uint32_t number; /* of the operation that it stands for, 0 if it is not active */
  bool persistent, cancelled;
  int peer, tag;         /* negative: any */
  uint32_t communicator; /* its number */
  uint64_t sent;         /* bytes */
  void *created;         /* where the new communicator will be */
  uint32_t ordinal;      /* of its creation */
};

/* Return what has that handle, or NULL.  It stays valid until it is removed, which the program does only when no call
 * uses it. */
struct mpi_communicator *mpi_handles_communicator(uint64_t handle);
struct mpi_request *mpi_handles_request(uint64_t handle);

/* Add a copy; of a communicator, with a number of its own.  Return it, or NULL. */
struct mpi_communicator *mpi_handles_add_communicator(const struct mpi_communicator *communicator);
struct mpi_request *mpi_handles_add_request(const struct mpi_request *request);

/* Remove what has that handle.  Nothing happens if it is not known. */
void mpi_handles_remove_communicator(uint64_t handle);
void mpi_handles_remove_request(uint64_t handle);

/* Returns a number that no other operation of the process has. */
uint32_t mpi_handles_operation(void);

#endif
