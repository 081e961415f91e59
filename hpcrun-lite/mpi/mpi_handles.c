#include "hpcrun-lite/mpi/mpi_handles.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUCKETS = 4096 };

struct table {
  bool busy; /* the lock */
  struct mpi_handle *buckets[BUCKETS];
};

static struct table communicators, requests;
static uint32_t communicators_added, communicators_freed, operations;

/* No lock of POSIX: those are measured.  A thread that waits for long sleeps, so that one with a lower priority can
 * release the lock; it must not be cancelled there, as in nanosleep(). */
static void acquire(struct table *table)
{
  enum { YIELDS = 100 };
  static const struct timespec pause = {.tv_nsec = 50000};
  for (int i = 0; __atomic_exchange_n(&table->busy, true, __ATOMIC_ACQUIRE); i++)
    if (i < YIELDS)
      sched_yield();
    else
      syscall(SYS_nanosleep, &pause, NULL);
}

static void release(struct table *table)
{
  __atomic_store_n(&table->busy, false, __ATOMIC_RELEASE);
}

/* Returns where the entry of that handle is linked, or the end of its bucket. */
static struct mpi_handle **place_of(struct table *table, uint64_t handle)
{
  enum { BITS = 12 };
  struct mpi_handle **place = &table->buckets[handle * 0x9e3779b97f4a7c15ULL >> (64 - BITS)];
  while (*place && (*place)->handle != handle)
    place = &(*place)->next;
  return place;
}

static struct mpi_handle *find(struct table *table, uint64_t handle)
{
  acquire(table);
  struct mpi_handle *entry = *place_of(table, handle);
  release(table);
  return entry;
}

static void add(struct table *table, struct mpi_handle *entry)
{
  acquire(table);
  struct mpi_handle **place = place_of(table, entry->handle);
  entry->next = *place;
  *place = entry;
  release(table);
}

static struct mpi_handle *take(struct table *table, uint64_t handle)
{
  acquire(table);
  struct mpi_handle **place = place_of(table, handle), *entry = *place;
  if (entry)
    *place = entry->next;
  release(table);
  return entry;
}

struct mpi_communicator *mpi_handles_communicator(uint64_t handle)
{
  return (struct mpi_communicator *)find(&communicators, handle);
}

struct mpi_communicator *mpi_handles_new_communicator(const struct mpi_communicator *communicator)
{
  struct mpi_communicator *added = malloc(sizeof *added);
  if (!added)
    return NULL;
  *added = *communicator;
  added->number = __atomic_add_fetch(&communicators_added, 1, __ATOMIC_RELAXED);
  return added;
}

uint32_t mpi_handles_communicators_freed(void)
{
  return __atomic_load_n(&communicators_freed, __ATOMIC_ACQUIRE);
}

struct mpi_communicator *mpi_handles_take_communicator(uint64_t handle)
{
  __atomic_add_fetch(&communicators_freed, 1, __ATOMIC_ACQ_REL);
  return (struct mpi_communicator *)take(&communicators, handle);
}

struct mpi_request *mpi_handles_take_request(uint64_t handle)
{
  return (struct mpi_request *)take(&requests, handle);
}

void mpi_handles_put_communicator(struct mpi_communicator *communicator)
{
  add(&communicators, &communicator->entry);
}

static bool may_share(const struct mpi_request *request)
{
  return !request->persistent && (request->kind == MPI_REQUEST_SEND || request->kind == MPI_REQUEST_COLLECTIVE);
}

uint32_t mpi_handles_put_request(struct mpi_request *request)
{
  acquire(&requests);
  struct mpi_handle **place = place_of(&requests, request->entry.handle);
  struct mpi_request *before = (struct mpi_request *)*place, *replaced = NULL;
  uint32_t complete = before ? before->number : 0;
  if (before && may_share(before) && may_share(request)) {
    before->number = 0;
  } else if (before) {
    *place = before->entry.next;
    replaced = before;
  }
  request->entry.next = *place;
  *place = &request->entry;
  release(&requests);
  free(replaced);
  return complete;
}

uint32_t mpi_handles_operation(void)
{
  return __atomic_add_fetch(&operations, 1, __ATOMIC_RELAXED);
}
