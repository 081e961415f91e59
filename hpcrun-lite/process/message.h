/* Messages to the user: one line each on standard error.
 *
 * Context: CTL.  The state, which file standard error is at the start, is written by message_start() before the program
 * has threads.  A message that cannot be written is dropped.
 */
#ifndef HPCRUN_LITE_PROCESS_MESSAGE_H
#define HPCRUN_LITE_PROCESS_MESSAGE_H

/* What an error of rt/core/pinned.h stands for. */
const char *message_error(int error);

/* Remembers which file standard error is. */
void message_start(void);

/* Prints "hpcrun-lite: ..." and a newline if standard error is still the file that it was at the start.  Not reentrant:
 * callers run before the program has threads, under the CTL lock, or in the start of the OpenMP runtime. */
void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
