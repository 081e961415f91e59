/* The measurement directory of a launch.
 *
 * A directory belongs to the launch that created the file `launch` in it (O_EXCL); the file holds the launch's id.  All
 * ranks of one MPI job have the same id and so join the same directory.  Only a directory that holds nothing but
 * measurement files and that marker is ever replaced.
 *
 * Context: BATCH (the launcher's helper).
 */
#ifndef HPCRUN_LITE_LAUNCH_DIRECTORY_H
#define HPCRUN_LITE_LAUNCH_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/program.h"

struct directory_request {
  const char *output;  /* asked for with -o; "" = the default name                   */
  const char *command; /* COMMAND's name for the default name; "" where there is none */
  bool overwrite;
  long launcher_pid;
};

/* Creates, joins or replaces the directory; writes its absolute path.  *joined: another rank of the job was first.
 * Returns LAUNCH_OK, or LAUNCH_FAILED with a message. */
enum launch_status directory_take(const struct directory_request *request, char *path, size_t path_size, bool *joined,
                                  char *message, size_t message_size);

#endif
