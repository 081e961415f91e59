/* The communicators of a job: what the processes call by numbers of their own, and which of these are the same.
 *
 * Context: BATCH.  The rules are those of doc/format.md, Operations of MPI.  Input is hostile: what contradicts itself,
 * or has too many ranks, is not known, and counted where it is used.  The structure owns its memory.
 */
#ifndef HPCPROF_LITE_MESSAGES_JOB_COMMUNICATORS_H
#define HPCPROF_LITE_MESSAGES_JOB_COMMUNICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/graphlog.h"
#include "hpcprof-lite/model/hash_map.h"

enum { JOB_RANKS_MAX = 1 << 20, JOB_ALL_RANKS_MAX = 1 << 27, JOB_RANK_NONE = UINT32_MAX };

struct job_group {
  uint32_t *ranks; /* in MPI_COMM_WORLD */
  uint32_t count;
  size_t room;
};

struct job_communicator {
  enum graphlog_mpi_origin origin;
  uint32_t parent; /* of the job; 0: none */
  uint64_t ordinal;
  uint32_t occurrence;
  struct job_group groups[2]; /* [1]: empty unless it has two; then the one with the lower ranks comes first */
};

/* What one process knows of a communicator. */
struct job_local {
  uint32_t process, parent; /* parent: its number in the process */
  enum graphlog_mpi_origin origin;
  uint64_t ordinal;
  struct job_group groups[2]; /* own, other; until it is complete */
  struct job_group sources;   /* ranks in it from which the process receives in operations on neighbours */
  uint32_t rank, same;        /* own rank; the communicator of the job, 0: not known */
  uint8_t own;                /* which group of that is the own one */
  bool complete, invalid;
};

struct job_communicators {
  struct job_communicator *all; /* from 1 */
  struct job_local *locals;     /* from 1 */
  uint32_t count, locals_count;
  size_t room, locals_room;
  uint64_t ranks;             /* kept in all groups, at most JOB_ALL_RANKS_MAX */
  struct hash_map numbers;    /* process and number → local */
  struct hash_map identities; /* → communicator */
  struct hash_map occurred;   /* process, identity and occurrence */
};

void job_communicators_release(struct job_communicators *communicators);

/* Takes MPI_COMMUNICATOR, MPI_RANKS and MPI_SOURCES of a process. */
void job_communicators_take(struct job_communicators *communicators, uint32_t process,
                            const struct graphlog_record *record);

/* Returns what a process knows of the communicator with that number, or NULL; it is complete.  `same` is 0 if it cannot
 * be found again in other processes.  Valid until the next call. */
const struct job_local *job_communicators_find(struct job_communicators *communicators, uint32_t process,
                                               uint64_t number);

/* Returns the communicator of the job for which `same` stands. */
static inline const struct job_communicator *job_communicator(const struct job_communicators *communicators,
                                                              const struct job_local *local)
{
  return &communicators->all[local->same];
}

/* Return the rank in MPI_COMM_WORLD of a peer with that rank, and of the process itself; JOB_RANK_NONE: not known. */
uint32_t job_communicators_peer(const struct job_communicators *communicators, const struct job_local *local,
                                uint64_t rank);
uint32_t job_communicators_self(const struct job_communicators *communicators, const struct job_local *local);

#endif
