/* Runs work that may crash, hang or exhaust memory in a child process.
 *
 * Context: BATCH, any thread.  The child is a fork: it sees a copy of the caller's memory, and its changes are lost.
 * It may call malloc(), but nothing that needs a lock which another thread may hold.  No process, descriptor, signal
 * handler or core file is left behind, and the disposition of SIGCHLD is not changed.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_CHILD_H
#define COMMON_SYMBOLS_SYMBOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_child_limits {
  uint64_t cpu_ms;       /* CPU time after which the child is killed, however long it has waited for a core */
  uint64_t asleep_ms;    /* elapsed time of sleeping at a stretch after which it is killed: it never blocks */
  uint64_t memory_bytes; /* by which the child may enlarge its address space                               */
  uint64_t output_bytes; /* that it may write                                                              */
};

enum symbols_child_end {
  SYMBOLS_CHILD_DONE,
  SYMBOLS_CHILD_FAILED, /* it crashed, hung, or wrote too much                                */
  SYMBOLS_CHILD_LIMITED /* it needed more CPU time or memory than it may have, or was killed  */
};

/* Runs work(argument, out) in a child and collects what it writes to the descriptor `out`.  If the child succeeded,
 * *bytes is its output, which the caller frees, NULL if *size is 0.  Otherwise *fault is the reason, a clause in which
 * "they" stands for the debug data that the child reads. */
enum symbols_child_end symbols_child_run(void (*work)(void *argument, int out), void *argument,
                                         const struct symbols_child_limits *limits, uint8_t **bytes, size_t *size,
                                         const char **fault);

/* In the child: writes all bytes, or ends the child if it cannot. */
void symbols_child_write(int out, const void *bytes, size_t size);

#endif
