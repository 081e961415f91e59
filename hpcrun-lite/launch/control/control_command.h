/* hpcrun-lite --control DIR|PID COMMAND: commands to processes that are being measured.
 *
 * Context: BATCH (the launcher).
 */
#ifndef HPCRUN_LITE_LAUNCH_CONTROL_CONTROL_COMMAND_H
#define HPCRUN_LITE_LAUNCH_CONTROL_CONTROL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Is it a command with the right number of arguments?  words: COMMAND and its arguments, ended by NULL.  Returns false
 * with a message. */
bool control_command_check(char *const *words, char *message, size_t message_size);

/* Carries it out and prints the answers.  Returns the exit status: 0, or 1 if a process has not done it. */
int control_command(const char *which, char *const *words);

#endif
