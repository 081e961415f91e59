/* The log of the series-parallel graph: what one thread did, as a stream of bytes.  doc/format.md is normative.
 *
 * Context: RT (put), BATCH (get).  A stream is a sequence of records: an operation, one byte, then its operands, each
 * an unsigned LEB128 number.  Time of a stream moves by RUN and MOVE only; all other operations happen at the stream's
 * present time, to the task that the thread runs.  The operations are those of logical clocks (rt/span/span.h), so
 * whoever replays them in the order of time computes what the running side did, with other work if it likes.
 */
#ifndef COMMON_GRAPHLOG_H
#define COMMON_GRAPHLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names: a task, region or join is (thread that made it, its number among that thread's, from 1); (0, 0) = none. Tasks,
 * regions and joins are numbered apart.  `row`: a directive (table 9).  Ticks: of the time-stamp counter. */
enum graphlog_op {
  GRAPHLOG_END,  /* (padding) nothing more in this chunk                                                        */
  GRAPHLOG_TIME, /* ticks: the time now, absolute.  Begins every chunk                                           */
  GRAPHLOG_CPU,  /* number: what the thread does from now on happens on that CPU                                 */
  GRAPHLOG_MOVE, /* ticks: so many pass without work (waiting, or in the tool)                                   */
  GRAPHLOG_RUN,  /* gap, ticks: a fragment begins `gap` ticks after the time, runs for `ticks`, which is its work */
  GRAPHLOG_RUN_OTHER, /* gap, ticks, work: the same where work is another number (preempted, or counted)              */
  GRAPHLOG_SAMPLE,    /* node, weight: a sample of this thread in the fragment that the next RUN tells of             */
  GRAPHLOG_REGION,    /* row: the task creates a region, the thread's next; it starts at the task's clock             */
  GRAPHLOG_REGION_END, /* row: the thread's innermost open region ends: its creator's clock takes its phases' ends, and
                          the thread runs the creator                                                             */
  GRAPHLOG_IMPLICIT,   /* region (2), size of the team, flags: an implicit task, the thread's next task, begins at the
                          region's start; without a region it begins at 0.  The thread runs it                     */
  GRAPHLOG_IMPLICIT_END, /* task (2): ends; its clock is offered to the region's phase.  The thread runs none */
  GRAPHLOG_TASK,   /* task (2), row, flags: creates a child of that task, the thread's next task                     */
  GRAPHLOG_SWITCH, /* task (2): the thread runs that task now; if it has not begun, it begins                         */
  GRAPHLOG_TASK_END, /* task (2): it ends.  Its clock becomes the parent's if serial, else it is offered to the parent's
                        children; then to its group's, or without one to the phase's in which it was created          */
  GRAPHLOG_TASK_DROP, /* task (2): it ends, and nobody waits for it */
  GRAPHLOG_WAIT, /* task (2), kind, row: begins to wait; at a barrier its clock is offered to the region's phase    */
  GRAPHLOG_WAIT_END, /* task (2), kind: takes the children's ends, the group's, or the phase's, whose number then grows
                      */
  GRAPHLOG_GROUP, /* row: a taskgroup begins in the task, and is a scope                                             */
  GRAPHLOG_GROUP_END,
  GRAPHLOG_SCOPE, /* row: a construct begins in the task */
  GRAPHLOG_SCOPE_END,
  GRAPHLOG_LOOP,     /* row, iterations: a loop or sections construct begins in the implicit task: a scope that the team
                        shares, by its number among the task's.  0 iterations: not known                               */
  GRAPHLOG_LOOP_END, /* the task's clock is the latest end of its chunks */
  GRAPHLOG_CHUNK, /* start, iterations: a chunk begins, at the task's clock at the loop's begin; 0 iterations: not known
                   */
  GRAPHLOG_OFFER, /* task (2), join (2): the join becomes the later of itself and the task's clock */
  GRAPHLOG_TAKE,  /* task (2), join (2): the task's clock becomes the later of itself and the join  */
  GRAPHLOG_ACQUIRE, /* row, lock, scope: a lock is held from now on; scope 1: and it is a construct */
  GRAPHLOG_RELEASE, /* lock, scope */
  GRAPHLOG_OPS
};

enum graphlog_task_flag {
  GRAPHLOG_SERIAL = 1, /* the creator waits for it */
  GRAPHLOG_FINAL = 2,
  GRAPHLOG_UNTIED = 4,
  GRAPHLOG_MERGEABLE = 8,
  GRAPHLOG_LOOP_TASK = 16, /* of a taskloop */
  GRAPHLOG_BESIDE = 32 /* created in the name of its parent by the task that the thread runs: it starts at the clock of
                          that one */
};

enum graphlog_wait { GRAPHLOG_BARRIER, GRAPHLOG_TASKWAIT, GRAPHLOG_TASKGROUP };

enum { GRAPHLOG_OPERANDS_MAX = 4, GRAPHLOG_RECORD_MAX = 1 + 10 * GRAPHLOG_OPERANDS_MAX };

struct graphlog_record {
  enum graphlog_op op;
  uint64_t operand[GRAPHLOG_OPERANDS_MAX];
};

/* How many operands an operation has. */
unsigned graphlog_operands(enum graphlog_op op);

/* Appends one number; returns behind it.  There must be room for 10 bytes. */
static inline uint8_t *graphlog_put(uint8_t *at, uint64_t value)
{
  while (value >= 0x80) {
    *at++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *at++ = (uint8_t)value;
  return at;
}

/* The record at *offset of a chunk's bytes; moves *offset behind it.  False at the end of the chunk; *damaged is set
 * where the bytes are no record: then nothing behind can be read.  BATCH. */
bool graphlog_next(const uint8_t *bytes, size_t size, size_t *offset, struct graphlog_record *record, bool *damaged);

#endif
