/* The measured processes that a command of --control is for.
 *
 * A process writes DIR/HOST-PID-START.live from its first sample on.  One of this host that has no file yet (it is
 * paused) is found in /proc, by its environment.  That of another user can name any directory, so only one with the
 * marker of a launch is used.
 *
 * Context: BATCH (the launcher).  The caller owns the list; targets_release() frees what it holds.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONTROL_TARGETS_H
#define HPCRUN_LITE_LAUNCH_CONTROL_TARGETS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct target {
  pid_t pid;
  char host[256];
  bool here; /* it runs on this host */
};

struct targets {
  char directory[PATH_MAX]; /* the measurement directory */
  int at;                   /* it is open: files are reached from here, whatever takes its name meanwhile */
  uid_t owner;              /* of the launch's marker, and so of the processes that it has started */
  char host[256];           /* this one */
  struct target *items;
  size_t count, room;
};

/* Finds the processes of a directory, or the one with that process id.  Returns false with a message. */
bool targets_find(struct targets *targets, const char *which, char *message, size_t message_size);

void targets_release(struct targets *targets);

/* Reads a file of a process in /proc, with a NUL at its end.  NULL with errno if it cannot be read; the caller frees
 * it.
 */
char *target_file(pid_t pid, const char *name, size_t *size);

/* Copies the value of a variable at the process's start.  Returns false with errno; ENOENT: it is not set. */
bool target_variable(pid_t pid, const char *name, char *value, size_t room);

/* The user that the process runs as, and its group.  Returns false if the process is gone. */
bool target_owner(pid_t pid, uid_t *user, gid_t *group);

/* Does the process run?  One that has ended, but was not waited for by its parent, does not. */
bool target_exists(pid_t pid);

enum target_state {
  TARGET_STOPPED,  /* by a signal */
  TARGET_ASLEEP,   /* all threads sleep, and one of them has the signal to receive when it wakes */
  TARGET_BLOCKING, /* no thread can receive the signal now */
  TARGET_HEARING
};

/* What its threads do with signals of that number, which was sent to the process and to its threads.  threads: how many
 * there are. */
enum target_state target_state(pid_t pid, int number, unsigned *threads);

#endif
