/* A configuration file for processes that run: what each of them can take of it, as a command
 * (rt/control/reconfiguration.h).
 *
 * Keys that the file does not have stay as they are; the filter is taken as a whole.  Something that a running process
 * cannot change is refused, unless the file only repeats what is in force.
 *
 * Context: BATCH (the launcher).  The caller owns the list of changes; reconfigure_release() frees what it holds and
 * removes the files of filters.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONTROL_RECONFIGURE_H
#define HPCRUN_LITE_LAUNCH_CONTROL_RECONFIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/control_file.h"
#include "hpcrun-lite/launch/control/targets.h"

struct change {
  char command[CONTROL_TEXT_MAX]; /* "": nothing changes */
  char done[1024];                /* for the user */
  char warning[512];              /* "": there is none */
  char file[336];                 /* of the filter; "": there is none */
  int fd;                         /* of that file */
};

/* Reads the file.  Returns false with a message. */
bool reconfigure_read(const char *path, char *message, size_t message_size);

/* Works out what changes in a process, from the settings that it reports to be in force.  Returns false with a message.
 */
bool reconfigure_work_out(const struct targets *targets, const struct target *target, const char *in_force,
                          struct change *change, char *message, size_t message_size);

/* Frees the file that was read, and the changes (NULL: none), one for each target. */
void reconfigure_release(const struct targets *targets, struct change *changes);

#endif
