#include "hpcrun-lite/mpi/mpi_handles.h"

#include <sched.h>
#include <stdlib.h>

enum { BUCKETS = 4096 };

struct table {
  bool busy; /* the lock */
  struct mpi_handle *buckets[BUCKETS];
};

static struct table communicators, requests;
static uint32_t communicators_added, operations;

/* No lock of POSIX: those are measured. */
static void acquire(struct table *table)
{
  while (__atomic_exchange_n(&table->busy, true, __ATOMIC_ACQUIRE))
    sched_yield();
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

static void remove_entry(struct table *table, uint64_t handle)
{
  acquire(table);
  struct mpi_handle **place = place_of(table, handle), *entry = *place;
  if (entry)
    *place = entry->next;
  release(table);
  free(entry); /* the first member of what was allocated */
}

struct mpi_communicator *mpi_handles_communicator(uint64_t handle)
{
  return (struct mpi_communicator *)find(&communicators, handle);
}

struct mpi_request *mpi_handles_request(uint64_t handle)
{
  return (struct mpi_request *)find(&requests, handle);
}

struct mpi_communicator *mpi_handles_add_communicator(const struct mpi_communicator *communicator)
{
  struct mpi_communicator *added = malloc(sizeof *added);
  if (!added)
    return NULL;
  *added = *communicator;
  added->number = __atomic_add_fetch(&communicators_added, 1, __ATOMIC_RELAXED);
  add(&communicators, &added->entry);
  return added;
}

struct mpi_request *mpi_handles_add_request(const struct mpi_request *request)
{
  struct mpi_request *added = malloc(sizeof *added);
  if (!added)
    return NULL;
  *added = *request;
  add(&requests, &added->entry);
  return added;
}

void mpi_handles_remove_communicator(uint64_t handle)
{
  remove_entry(&communicators, handle);
}

void mpi_handles_remove_request(uint64_t handle)
{
  remove_entry(&requests, handle);
}

uint32_t mpi_handles_operation(void)
{
  return __atomic_add_fetch(&operations, 1, __ATOMIC_RELAXED);
}
