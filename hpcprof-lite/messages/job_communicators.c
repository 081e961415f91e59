#include "hpcprof-lite/messages/job_communicators.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void release_groups(struct job_communicators *communicators, struct job_group *groups)
{
  communicators->ranks -= (uint64_t)groups[0].count + groups[1].count;
  free(groups[0].ranks);
  free(groups[1].ranks);
  groups[0] = groups[1] = (struct job_group){0};
}

void job_communicators_release(struct job_communicators *communicators)
{
  for (uint32_t i = 1; i <= communicators->count; i++)
    release_groups(communicators, communicators->all[i].groups);
  for (uint32_t i = 1; i <= communicators->locals_count; i++) {
    release_groups(communicators, communicators->locals[i].groups);
    free(communicators->locals[i].sources.ranks);
  }
  free(communicators->all);
  free(communicators->locals);
  hash_map_release(&communicators->numbers);
  hash_map_release(&communicators->identities);
  hash_map_release(&communicators->occurred);
  *communicators = (struct job_communicators){0};
}

/* ---- what a process knows ---- */

static uint64_t local_key(uint32_t process, uint64_t number)
{
  return hash_map_key(hash_map_key(1, process), number);
}

static struct job_local *find_local(struct job_communicators *communicators, uint32_t process, uint64_t number)
{
  uint32_t found = hash_map_find(&communicators->numbers, local_key(process, number));
  return found ? &communicators->locals[found] : NULL;
}

/* ---- which ones are the same ---- */

static bool same_group(const struct job_group *x, const struct job_group *y)
{
  return x->count == y->count && (!x->count || !memcmp(x->ranks, y->ranks, x->count * sizeof *x->ranks));
}

static uint64_t identity_of(const struct job_communicator *communicator)
{
  uint64_t key = hash_map_key(hash_map_key(2, communicator->origin), communicator->parent);
  key = hash_map_key(key, communicator->ordinal);
  for (unsigned i = 0; i < 2; i++)
    if (communicator->groups[i].count)
      key = hash_map_key_bytes(key, communicator->groups[i].ranks,
                               communicator->groups[i].count * sizeof *communicator->groups[i].ranks);
  return key;
}

static bool same_communicator(const struct job_communicator *x, const struct job_communicator *y)
{
  return x->origin == y->origin && x->parent == y->parent && x->ordinal == y->ordinal &&
         x->occurrence == y->occurrence && same_group(&x->groups[0], &y->groups[0]) &&
         same_group(&x->groups[1], &y->groups[1]);
}

/* Which one of this identity it is in its process, from 0. */
static uint32_t occurrence_of(struct job_communicators *communicators, uint32_t process, uint64_t identity)
{
  uint64_t key = hash_map_key(hash_map_key(3, process), identity);
  uint32_t occurrence = hash_map_find(&communicators->occurred, key);
  if (occurrence)
    hash_map_remove(&communicators->occurred, key);
  hash_map_add(&communicators->occurred, key, occurrence + 1);
  return occurrence;
}

/* Enters a communicator, whose groups it takes over. */
static uint32_t intern(struct job_communicators *communicators, struct job_communicator *communicator)
{
  uint64_t key = hash_map_key(identity_of(communicator), communicator->occurrence);
  uint32_t found =
      HASH_MAP_FIND(&communicators->identities, key, i, same_communicator(&communicators->all[i], communicator));
  if (found) {
    release_groups(communicators, communicator->groups);
    return found;
  }
  uint32_t number = ++communicators->count;
  xarray_reserve(&communicators->all, &communicators->room, (size_t)number + 1, sizeof *communicators->all);
  communicators->all[number] = *communicator;
  hash_map_add(&communicators->identities, key, number);
  return number;
}

static void complete(struct job_communicators *communicators, struct job_local *local)
{
  struct job_communicator fresh = {.origin = local->origin, .ordinal = local->ordinal};
  bool known = !local->invalid && local->origin != GRAPHLOG_MPI_UNKNOWN && local->groups[0].count;
  local->complete = true;
  if (known && local->parent) {
    const struct job_local *parent = find_local(communicators, local->process, local->parent);
    fresh.parent = parent ? parent->same : 0;
    known = fresh.parent;
  }
  if (!known) {
    release_groups(communicators, local->groups);
    return;
  }
  local->own = local->groups[1].count && local->groups[0].ranks[0] > local->groups[1].ranks[0];
  fresh.groups[0] = local->groups[local->own];
  fresh.groups[1] = local->groups[!local->own];
  local->groups[0] = local->groups[1] = (struct job_group){0};
  if (local->origin == GRAPHLOG_MPI_OF_GROUP || local->origin == GRAPHLOG_MPI_JOINED)
    fresh.occurrence = occurrence_of(communicators, local->process, identity_of(&fresh));
  local->same = intern(communicators, &fresh);
}

/* ---- records ---- */

/* The one that the process has met before is complete now, so that those with the same identity are in order. */
static void add_local(struct job_communicators *communicators, uint32_t process, const uint64_t *operand)
{
  enum { LATEST = 0 }; /* no number of a communicator */
  struct job_local *latest = find_local(communicators, process, LATEST);
  if (communicators->locals_count == UINT32_MAX - 1 || !operand[0] || find_local(communicators, process, operand[0]))
    return;
  if (latest && !latest->complete)
    complete(communicators, latest);
  uint32_t number = ++communicators->locals_count;
  xarray_reserve(&communicators->locals, &communicators->locals_room, (size_t)number + 1,
                 sizeof *communicators->locals);
  communicators->locals[number] = (struct job_local){.process = process,
                                                     .origin = (enum graphlog_mpi_origin)operand[1],
                                                     .parent = (uint32_t)MIN(operand[2], UINT32_MAX),
                                                     .ordinal = operand[3],
                                                     .rank = (uint32_t)MIN(operand[4], JOB_RANK_NONE),
                                                     .invalid = operand[1] >= GRAPHLOG_MPI_ORIGINS};
  hash_map_add(&communicators->numbers, local_key(process, operand[0]), number);
  hash_map_remove(&communicators->numbers, local_key(process, LATEST));
  hash_map_add(&communicators->numbers, local_key(process, LATEST), number);
}

static void add_ranks(struct job_communicators *communicators, struct job_local *local, struct job_group *group,
                      const uint64_t *operand)
{
  uint64_t first = operand[1] >> 1, number = operand[2], step = operand[3] >> 1;
  bool descending = operand[3] & 1;
  bool small = number && number <= JOB_RANKS_MAX && step <= JOB_RANKS_MAX;
  uint64_t reach = small ? (number - 1) * step : UINT64_MAX;
  if (local->complete || reach > JOB_RANKS_MAX || first > JOB_RANKS_MAX || (descending && reach > first) ||
      group->count + number > JOB_RANKS_MAX || communicators->ranks + number > JOB_ALL_RANKS_MAX) {
    local->invalid = true;
    return;
  }
  xarray_reserve(&group->ranks, &group->room, group->count + number, sizeof *group->ranks);
  communicators->ranks += number;
  for (uint64_t i = 0; i < number; i++)
    group->ranks[group->count++] = (uint32_t)(descending ? first - i * step : first + i * step);
}

void job_communicators_take(struct job_communicators *communicators, uint32_t process,
                            const struct graphlog_record *record)
{
  const uint64_t *operand = record->operand;
  assert(record->op == GRAPHLOG_MPI_COMMUNICATOR || record->op == GRAPHLOG_MPI_RANKS ||
         record->op == GRAPHLOG_MPI_SOURCES);
  if (record->op == GRAPHLOG_MPI_COMMUNICATOR) {
    add_local(communicators, process, operand);
    return;
  }
  struct job_local *local = operand[0] ? find_local(communicators, process, operand[0]) : NULL;
  if (local)
    add_ranks(communicators, local,
              record->op == GRAPHLOG_MPI_SOURCES ? &local->sources : &local->groups[operand[1] & 1], operand);
}

const struct job_local *job_communicators_find(struct job_communicators *communicators, uint32_t process,
                                               uint64_t number)
{
  struct job_local *local = number ? find_local(communicators, process, number) : NULL;
  if (local && !local->complete)
    complete(communicators, local);
  return local;
}

static uint32_t rank_in(const struct job_group *group, uint64_t rank)
{
  return rank < group->count ? group->ranks[rank] : JOB_RANK_NONE;
}

uint32_t job_communicators_peer(const struct job_communicators *communicators, const struct job_local *local,
                                uint64_t rank)
{
  assert(local->same);
  const struct job_communicator *communicator = job_communicator(communicators, local);
  bool two = communicator->groups[1].count;
  return rank_in(&communicator->groups[two ? !local->own : 0], rank);
}

uint32_t job_communicators_self(const struct job_communicators *communicators, const struct job_local *local)
{
  assert(local->same);
  return rank_in(&job_communicator(communicators, local)->groups[local->own], local->rank);
}
