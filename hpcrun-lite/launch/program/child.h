/* Programs that the launcher runs: to learn from their output, and COMMAND with what follows it.
 *
 * Context: BATCH (the launcher), one thread.  From the first child on, the launcher blocks signals, and gets them while
 * it waits for a child.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_CHILD_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The launcher's environment without the assignments that begin with one of the texts, *count of them, with room for
 * `room` more and a NULL.  Returns NULL without memory; the caller frees the list, not the strings. */
char **child_environment(const char *const *without, size_t without_count, size_t room, size_t *count);

/* A process that the launcher waits for, and that gets the signals that another process sends to the launcher.  Those
 * that are sent to the whole process group, as the terminal does, go to both, and the launcher ignores them.  While the
 * process is stopped, the launcher is, too. */
struct child {
  pid_t pid;
  int failure; /* descriptor: closed when the child has executed a program */
};

/* Forks.  Returns 0 in the child, where signals are as before; in the launcher 1, or -1 on failure. */
int child_fork(struct child *child);

/* The last signal that was to end the launcher or its child: SIGHUP, SIGINT, SIGQUIT or SIGTERM; 0: none has come. */
int child_ending_signal(void);

/* In the child: ends it with this status, and lets the launcher know that it has executed no program. */
void child_fail(const struct child *child, int status) __attribute__((noreturn));

/* Waits for the child's end; returns its status as waitpid() does.  *executed: whether it has executed a program. */
int child_wait(const struct child *child, bool *executed);

/* Ends the launcher as a child has ended: with its exit status, or by the same signal, without a second core file. */
int child_end_alike(int status);

/* Starts arguments[0]; what it prints on standard error is discarded.  Returns its process id and, in *output, the
 * descriptor to read its standard output from; -1 on failure.  The caller waits for it. */
pid_t child_start(char **arguments, char **environment, int *output);

#endif
