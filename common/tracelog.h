/* The trace: what a thread did when, as a stream of bytes.  doc/format.md is normative.
 *
 * Context: RT (put), BATCH (get).  A stream has two clocks, both of which only advance: that of states, which tile the
 * thread's life, and that of samples.  A state is written when it ends, so a sample in it comes first.
 *
 * An operation is one byte, whose lowest two bits are its form, then unsigned LEB128 numbers.  In a state, the other
 * six bits are its code; if all of them are set, the first number is added to it.  Otherwise they are an enum
 * tracelog_op.
 */
#ifndef COMMON_TRACELOG_H
#define COMMON_TRACELOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/leb128.h"

/* Units of the two clocks: so many bits of the time-stamp counter are left out. */
enum { TRACELOG_STATE_SHIFT = 5, TRACELOG_SAMPLE_SHIFT = 12 };

/* Times in ns are in units of so many bits. */
enum { TRACELOG_NS_SHIFT = 10 };

enum tracelog_form {
  TRACELOG_STATE,     /* duration: the thread was in that state until then */
  TRACELOG_BEGUN,     /* duration: the same, and an execution of the construct began with it */
  TRACELOG_STATE_OWN, /* duration, own: the same as STATE; the last `own` units of it were the runtime's own work */
  TRACELOG_OTHER
};

/* A sample has TRACELOG_SAMPLE, the kind of what the thread did, and flags of the numbers that follow. */
enum tracelog_op {
  TRACELOG_SAMPLE = 0,        /* time since the last sample, node; then what the flags say */
  TRACELOG_SAMPLE_KIND = 3,   /* these bits are an enum tracelog_sample_kind */
  TRACELOG_SAMPLE_WEIGHT = 4, /* flag: what the sample stands for, if that is not the event's period */
  TRACELOG_SAMPLE_TOOL = 8,   /* flag: time in the tool until now that was not written yet, in ns */
  TRACELOG_SAMPLE_DELAY = 16, /* flag: ns for which the thread waited for a processor since the last sample */
  TRACELOG_START = 32, /* state clock, sample clock: sets both.  The first operation of every extent.  State clock 0:
                        only samples are written */
  TRACELOG_BEGIN,      /* an execution begins with the next state, whatever its form */
  TRACELOG_CHUNK,      /* a chunk of a loop begins with the next state */
  TRACELOG_BLOCKED,    /* code, duration: as STATE, but the thread slept in a call of the program */
  TRACELOG_GAP,        /* duration: measuring was paused, or what the thread did is not known */
  TRACELOG_HOLDER,     /* thread: it held the lock that the thread waits for in the next state */
  TRACELOG_CHARGE,     /* node, samples, ns, per busy, in use: what other threads waited for a lock that the context
                       released; see struct format_metric */
  TRACELOG_USER_COUNT = 40, /* time since the last sample, node, string, value: the program counted that, by the counter
                             of that name.  The clock of samples does not advance */
  TRACELOG_EVENT_COUNT, /* time since the last sample, duration, counter, count: the thread counted so many events of
                        the process's counter of that number in that time until then.  The clock does not advance either
                      */
  TRACELOG_READY, /* time, preempted, of own, woken, wakes, no core: of the state that contains the time that long after
                    the end of the last state, so long the thread was preempted outside and inside its own work; so long
                    it slept in its own work; and so often it was woken before that; and so long a thread for which it
                    waited had no processor */
  TRACELOG_LOCK_WAIT, /* code, duration: as BLOCKED, but the thread waited for a lock of POSIX or C11 */
  TRACELOG_MPI,       /* code, duration: as BLOCKED, but the thread was in a call of MPI */
  TRACELOG_OPERATION  /* thread, record, begin, duration: a device has executed an operation of that construct record of
                         the thread.  Only in the stream of owner 0.  begin: a value of the state clock, in no order */
};

enum tracelog_sample_kind { TRACELOG_WORKS, TRACELOG_OVERHEAD, TRACELOG_IDLE, TRACELOG_LOCKWAIT };

/* A code of states: a record of FORMAT_CONSTRUCTS * FORMAT_TIMES + enum format_construct_time; 0, where a thread has
 * met no construct, is time outside all.  Where construct times are off, 0 is time without a wait, and others are a
 * record of FORMAT_WAITS + 1. */
enum { TRACELOG_CODE_MAX = 63 };

enum { TRACELOG_OPERANDS_MAX = 6, TRACELOG_RECORD_MAX = 1 + LEB128_MAX * TRACELOG_OPERANDS_MAX };

struct tracelog_record {
  enum tracelog_form form;
  unsigned op; /* of TRACELOG_OTHER: enum tracelog_op; of a sample all of its bits */
  /* of a state: code, duration, own; of others in their order, with 0 for those left out */
  uint64_t operand[TRACELOG_OPERANDS_MAX];
};

/* Decodes the operation at *offset of an extent's bytes and moves *offset to its end.  Returns false at the end of the
 * extent, or with *damaged where the bytes are not an operation: the remainder cannot be read then.  BATCH. */
bool tracelog_next(const uint8_t *bytes, size_t size, size_t *offset, struct tracelog_record *record, bool *damaged);

#endif
