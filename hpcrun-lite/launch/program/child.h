/* Programs that the launcher runs: to learn from their output, and COMMAND with what follows it.
 *
 * Context: BATCH (the launcher), one thread.  From the first child on, the launcher blocks signals, and gets them while
 * it waits for a child.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_CHILD_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* ---- a child that leads a process group of its own, so that all of it can be ended ---- */

/* As child_fork().  Signals of the terminal then reach only the launcher: child_group_signal() passes them on. */
int child_fork_group(struct child *child);

/* Opens a descriptor from which the signals of child_fork_group() are read, SIGCHLD among them; -1 on failure. */
int child_open_signals(void);

/* Reads signals, if there are any, and passes them on to the group, except those of children.  Where the group is to
 * stop, it and the launcher do; the time until they continue is added to *stopped_ns.  Returns whether one has come
 * that ends the launcher. */
bool child_group_signals(const struct child *child, int signals, uint64_t *stopped_ns);

/* Returns whether such a child has ended; then sets *status as waitpid() does, *executed as child_wait(), and *cpu_ns
 * to the CPU time of it and of those of its descendants that it has waited for. */
bool child_group_ended(const struct child *child, int *status, bool *executed, uint64_t *cpu_ns);

/* Starts arguments[0]; what it prints on standard error is discarded.  Returns its process id and, in *output, the
 * descriptor to read its standard output from; -1 on failure.  The caller waits for it. */
pid_t child_start(char **arguments, char **environment, int *output);

/* Writes how a child ended, whose status is as of waitpid(): "ended with status 3" or "was ended by signal 11". */
void child_describe_end(int status, char *how, size_t size);

#endif
