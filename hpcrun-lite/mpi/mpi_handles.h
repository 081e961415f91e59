/* What a module that decodes MPI calls knows of communicators and requests.
 *
 * Context: CTL, any number of threads at once; every function takes the lock of its table.  The tables own what they
 * hold.  A library gives a handle to another thread as soon as it has freed what had it, before the call that frees it
 * returns: so a thread takes a request out of its table while a call may free it.  Without memory nothing is added, and
 * what is not known is not followed. */
#ifndef HPCRUN_LITE_MPI_MPI_HANDLES_H
#define HPCRUN_LITE_MPI_MPI_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

/* A handle, as a number: an address or an index.  A message that was matched (MPI_Mprobe) is none of the requests. */
#define MPI_HANDLES_MESSAGE (1ULL << 63)

/* Set or cleared, whichever it is not, in the handle of a window or file, which is none of the communicators. */
#define MPI_HANDLES_OBJECT (1ULL << 62)

struct mpi_handle {
  uint64_t handle;
  struct mpi_handle *next; /* in the table */
};

struct mpi_communicator {
  struct mpi_handle entry;
  uint32_t number;             /* its number in the process, from 1 */
  uint32_t created;            /* how many communicators, windows and files its members have created from it; atomic */
  int rank, size, remote_size; /* size: of the own group; remote_size: 0 unless it has two groups */
};

enum mpi_request_kind { MPI_REQUEST_SEND, MPI_REQUEST_RECEIVE, MPI_REQUEST_COLLECTIVE, MPI_REQUEST_COMMUNICATOR };

struct mpi_request {
  struct mpi_handle entry;
  enum mpi_request_kind kind;
  uint32_t number;  /* of the operation that it stands for, 0 if it is not active */
  uint32_t sending; /* of a receive: the number of a send that has the same request, or 0 */
  bool persistent, cancelled;
  bool synchronous;      /* a send that is complete only once its receive has begun */
  bool uncounted;        /* its bytes are not known */
  int peer, tag;         /* negative: any */
  uint32_t communicator; /* its number */
  uint64_t sent;         /* bytes */
  uint64_t received;     /* of a persistent collective operation */
  uint32_t collective;   /* enum graphlog_mpi_collective */
  uint32_t root;         /* of a collective operation, as it is logged */
  void *created;         /* where the new communicator will be */
  uint32_t ordinal;      /* of its creation */
};

/* Returns what has that handle, or NULL.  It stays valid until the program frees the communicator, which it does only
 * when no other call uses it. */
struct mpi_communicator *mpi_handles_communicator(uint64_t handle);

/* How many were taken out of the table: what has a handle may be another one only when that has changed. */
uint32_t mpi_handles_communicators_freed(void);

/* Returns a copy, with a number of its own, for the caller to put or to free(); or NULL. */
struct mpi_communicator *mpi_handles_new_communicator(const struct mpi_communicator *communicator);

/* Take what has that handle out of the table, for the caller to put back or to free(); NULL if it is not known. */
struct mpi_communicator *mpi_handles_take_communicator(uint64_t handle);
struct mpi_request *mpi_handles_take_request(uint64_t handle);

/* Put back what was taken, or allocated; the table owns it then.  One request there with the same handle is complete:
 * its number is returned, or 0.  It stays, with the number 0, if both may be of messages that were sent at once, for
 * which a library has one handle; it is freed otherwise. */
void mpi_handles_put_communicator(struct mpi_communicator *communicator);
uint32_t mpi_handles_put_request(struct mpi_request *request);

/* Returns a number that no other operation of the process has. */
uint32_t mpi_handles_operation(void);

#endif
