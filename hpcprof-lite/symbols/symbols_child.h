/* Work that may crash, hang or eat memory, done in a child process.
 *
 * Context: BATCH, from any thread.  The child is forked, not executed: it sees the caller's memory as it was, and what
 * it changes is gone with it.  It may use malloc() and what needs no lock of another thread.  Nothing stays behind: no
 * process, descriptor, signal handler or core file; SIGCHLD is left as the caller has it. */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_CHILD_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_child_limits {
  uint64_t cpu_ms;       /* the child is ended beyond it                          */
  uint64_t wall_ms;      /* the same for a child that waits                       */
  uint64_t memory_bytes; /* what the child may add to the address space it begins with */
  uint64_t output_bytes; /* what it may hand back                                 */
};

/* Runs work(argument, out) in a child and collects what it writes to the descriptor out.  True: the child ended in
 * order, *bytes (the caller's to free; NULL if *size is 0) holds its output.  False: *fault says why, in words that
 * follow a colon. */
bool symbols_child_run(void (*work)(void *argument, int out), void *argument, const struct symbols_child_limits *limits,
                       uint8_t **bytes, size_t *size, const char **fault);

/* For the child only: writes all bytes, or ends the child; ends the child for want of memory. */
void symbols_child_write(int out, const void *bytes, size_t size);
_Noreturn void symbols_child_give_up(void);

#endif
