/* The graph log: the operations of each thread on the task graph, as a stream of bytes.  doc/format.md is normative.
 *
 * Context: RT (put), BATCH (get).  A stream is a sequence of records: an operation, one byte, then its operands, each
 * an unsigned LEB128 number.  RUN and MOVE advance the stream's time; all other operations happen at its current time,
 * to the task that the thread runs.  The operations are those of logical clocks (rt/span/span.h): replaying them in the
 * order of time computes what was computed while the program ran, also with other amounts of work.
 */
#ifndef COMMON_GRAPHLOG_H
#define COMMON_GRAPHLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/leb128.h"

/* Names: a task, region or join is (thread that created it, its number among those of the thread, from 1); (0, 0) =
 * none. Tasks, regions and joins are numbered separately.  `row`: a directive (table 9).  Ticks: of the time-stamp
 * counter.  O(enumerator, number of operands): */
#define GRAPHLOG_LIST(O)                                                                                               \
  O(END, 0)        /* padding: the extent ends here */                                                                 \
  O(TIME, 1)       /* ticks: sets the time. The first operation of every extent */                                     \
  O(CPU, 1)        /* number: the thread runs on that CPU from now on */                                               \
  O(MOVE, 1)       /* ticks: time passes without work (waiting, or in the tool) */                                     \
  O(RUN, 2)        /* gap, ticks: a fragment begins after `gap` ticks and runs for `ticks`, which is its work */       \
  O(RUN_OTHER, 3)  /* gap, ticks, work: the same if work differs from ticks (preempted, or counted) */                 \
  O(SAMPLE, 2)     /* node, weight: a sample of this thread in the fragment of the next RUN */                         \
  O(REGION, 1)     /* row: the task creates the thread's next region, which starts at the task's clock */              \
  O(REGION_END, 1) /* row: the thread's innermost open region ends: its creator's clock takes the ends of its          \
                      tasks, and the thread runs the creator */                                                        \
  O(IMPLICIT, 4) /* region (2), size of the team, number + 1: an implicit task, the thread's next task, begins at the  \
                    region's start, or without a region at 0.  The thread runs it.  Number: in the team; 0: unknown */ \
  O(IMPLICIT_END, 2) /* task (2): ends; its clock is offered to the barrier interval. The thread runs none */          \
  O(TASK, 4)         /* task (2), row, flags: creates a child of that task, the thread's next task */                  \
  O(SWITCH, 2)       /* task (2): the thread runs that task from now on; a task that has not begun begins */           \
  O(TASK_END, 2)  /* task (2): it ends. Its clock becomes the parent's if serial, else it is offered to the parent's   \
                     children; then to its group's, or without one to its barrier interval's */                        \
  O(TASK_DROP, 2) /* task (2): it ends, and no task waits for it */                                                    \
  O(WAIT, 4)      /* task (2), kind, row: begins to wait; at a barrier its clock is offered to the interval */         \
  O(WAIT_END, 3)  /* task (2), kind: takes the ends of the children, of the group, or of the interval, which ends */   \
  O(GROUP, 1)     /* row: a taskgroup begins in the task; it is also a scope */                                        \
  O(GROUP_END, 0)                                                                                                      \
  O(SCOPE, 1) /* row: a construct begins in the task */                                                                \
  O(SCOPE_END, 0)                                                                                                      \
  O(LOOP, 2)     /* row, iterations: a loop or sections construct begins in the implicit task: a scope that the team   \
                    shares, identified by its number in the task. 0 iterations: not known */                           \
  O(LOOP_END, 0) /* the task's clock is the latest end of its chunks */                                                \
  O(CHUNK, 2) /* start, iterations: a chunk begins, at the clock that the task had at the loop's start; 0 iterations:  \
                 not known. In a task of a taskloop: what it runs. After SCOPE of a single construct: the number of    \
                 that among those that the task has met; in both, nothing else */                                      \
  O(OFFER, 4) /* task (2), join (2): the join becomes the later of itself and the task's clock */                      \
  O(TAKE, 4)  /* task (2), join (2): the task's clock becomes the later of itself and the join */                      \
  O(ACQUIRE, 3)    /* row, lock, scope: a lock is acquired; scope 1: it is also a construct */                         \
  O(RELEASE, 2)    /* lock, scope */                                                                                   \
  O(LOOP_ALONE, 2) /* row, iterations: as LOOP, but the task's part is not shared: there is no team, or other threads  \
                      are too many loops behind */                                                                     \
  O(CREATED, 2) /* back, ticks: the creation of the thread's task before its last `back` ones has taken so long; what  \
                   the thread has run meanwhile is left out */                                                         \
  O(COUNT, 2)   /* counter, amount: what the fragment of the next RUN has counted (-c) */                              \
  /* MPI.  These change no clock.  Communicator, request: their numbers in the process, from 1. */                     \
  O(MPI_CALL, 2)         /* function (common/mpi_functions.def), node of its calling context, 0: not known: a call     \
                            begins.  What follows until MPI_RETURN is what it does */                                  \
  O(MPI_RETURN, 0)       /* it ends */                                                                                 \
  O(MPI_SEND, 5)         /* communicator, destination, tag, bytes, request: a send begins; request 0: it ends with     \
                            the call */                                                                                \
  O(MPI_RECEIVE, 4)      /* communicator, source + 1, tag + 1, request: a receive begins; 0 for any source or tag;     \
                            request 0: it ends in the call */                                                          \
  O(MPI_RECEIVED, 4)     /* request, source + 1, tag + 1, bytes: a receive has got a message */                        \
  O(MPI_COLLECTIVE, 5)   /* communicator, graphlog_mpi_collective, root + 1 or graphlog_mpi_root, bytes sent, request: \
                            it begins; root 0: it has none */                                                          \
  O(MPI_COMPLETE, 1)     /* request: a send or a collective operation is complete */                                   \
  O(MPI_DROPPED, 1)      /* request: it was cancelled, or has failed; 0: that of the call */                           \
  O(MPI_FREED, 1)        /* request: the program does not ask any more whether it is complete */                       \
  O(MPI_COMMUNICATOR, 5) /* communicator, graphlog_mpi_origin, parent, ordinal or tag, own rank: it exists from now */ \
  O(MPI_RANKS, 4)        /* communicator, first << 1 | remote, number, step << 1 | descending: its next ranks, in      \
                            MPI_COMM_WORLD; remote: of the other group */                                              \
  O(MPI_NAME, 3) /* communicator, position, eight bytes: a part of its name; position 0: it replaces an earlier one */ \
  O(MPI_SYNCHRONOUS_SEND, 5) /* as MPI_SEND, but it is complete only once its receive has begun */                     \
  O(MPI_SOURCES, 4)          /* communicator, first << 1, number, step << 1 | descending: next ranks in it from which  \
                                the process receives in operations on neighbours */                                    \
  O(MPI_LEADER, 3)           /* communicator, rank, tag: the rank is the leader of its group in the JOIN that it has   \
                                begun, and that one of the communicator the leader of the other group */               \
  O(DEVICE, 0)               /* the fragment of the next RUN is no work: the task waits for a device for so long */

#define GRAPHLOG_ENUMERATOR(enumerator, operands) GRAPHLOG_##enumerator,
enum graphlog_op { GRAPHLOG_LIST(GRAPHLOG_ENUMERATOR) GRAPHLOG_OPS };

enum graphlog_task_flag {
  GRAPHLOG_SERIAL = 1, /* the creator waits for it */
  GRAPHLOG_FINAL = 2,
  GRAPHLOG_UNTIED = 4,
  GRAPHLOG_MERGEABLE = 8,
  GRAPHLOG_LOOP_TASK = 16, /* of a taskloop */
  GRAPHLOG_FOR_PARENT = 32 /* created by the running task on behalf of its parent: starts at the running task's clock */
};

enum graphlog_wait { GRAPHLOG_BARRIER, GRAPHLOG_TASKWAIT, GRAPHLOG_TASKGROUP };

/* How the ranks of a collective operation depend on each other: all have to wait for all, with and without data; for
 * the root; the root for all; each for those of lower rank; each for its sources; all for all, and for those of another
 * communicator, with which they are joined; all for all, if the library does so. */
enum graphlog_mpi_collective {
  GRAPHLOG_MPI_BARRIER,
  GRAPHLOG_MPI_ALL_TO_ALL,
  GRAPHLOG_MPI_FROM_ROOT,
  GRAPHLOG_MPI_TO_ROOT,
  GRAPHLOG_MPI_PREFIX,
  GRAPHLOG_MPI_NEIGHBOURS,
  GRAPHLOG_MPI_JOIN, /* its root is the leader */
  GRAPHLOG_MPI_FILE,
  GRAPHLOG_MPI_COLLECTIVES
};

/* The root of an operation between two groups, in place of root + 1: in the root itself, and in other ranks of its
 * group.  Ranks of the other group have root + 1. */
enum graphlog_mpi_root { GRAPHLOG_MPI_ROOT_THIS_GROUP = UINT32_MAX - 1, GRAPHLOG_MPI_ROOT_SELF = UINT32_MAX };

/* How a communicator is the same in several processes, beside its ranks: */
enum graphlog_mpi_origin {
  GRAPHLOG_MPI_UNKNOWN, /* it is not known */
  GRAPHLOG_MPI_WORLD,
  GRAPHLOG_MPI_SELF,
  GRAPHLOG_MPI_CREATED,  /* ordinal: of its creation, among those of communicators by all ranks of the parent, from 1 */
  GRAPHLOG_MPI_OF_GROUP, /* created by its own ranks alone, with a tag */
  GRAPHLOG_MPI_JOINED,   /* of two groups, with a tag; without a parent */
  GRAPHLOG_MPI_ORIGINS
};

/* Constructs that are followed in one task at a time, while the program runs and in a replay; more count as lost. */
enum { GRAPHLOG_SCOPES_MAX = 18 };

enum { GRAPHLOG_OPERANDS_MAX = 5, GRAPHLOG_RECORD_MAX = 1 + LEB128_MAX * GRAPHLOG_OPERANDS_MAX };

struct graphlog_record {
  enum graphlog_op op;
  uint64_t operand[GRAPHLOG_OPERANDS_MAX];
};

/* The number of operands of an operation. */
unsigned graphlog_operands(enum graphlog_op op);

/* Returns whether the first two operands of an operation name a task that exists. */
static inline bool graphlog_names_task(enum graphlog_op op)
{
  const uint64_t all = 1ULL << GRAPHLOG_IMPLICIT_END | 1ULL << GRAPHLOG_TASK | 1ULL << GRAPHLOG_SWITCH |
                       1ULL << GRAPHLOG_TASK_END | 1ULL << GRAPHLOG_TASK_DROP | 1ULL << GRAPHLOG_WAIT |
                       1ULL << GRAPHLOG_WAIT_END | 1ULL << GRAPHLOG_OFFER | 1ULL << GRAPHLOG_TAKE;
  return all >> op & 1;
}

/* Decodes the record at *offset of an extent's bytes and moves *offset to its end.  Returns false at the end of the
 * extent, or with *damaged where the bytes are not a record: the remainder of the extent cannot be read then.  BATCH.
 */
bool graphlog_next(const uint8_t *bytes, size_t size, size_t *offset, struct graphlog_record *record, bool *damaged);

#endif
