/* The measurement directory of a launch.
 *
 * A directory belongs to the launch that created the marker in it: the file `launch`, created with O_EXCL, which
 * contains the launch's id.  All ranks of one MPI job have the same id and so join the same directory.  A directory is
 * replaced only if it contains nothing but files that hpcrun-lite has written: safety/known_file.h.
 *
 * Only a directory of the effective user is taken, in a place in which no other user can replace it
 * (safe_directory.h), and it is made private.  The path is its real one, without links.
 *
 * Context: BATCH (the launcher).  Keeps no state in memory; the caller owns all memory.
 */
#ifndef HPCRUN_LITE_LAUNCH_DIRECTORY_H
#define HPCRUN_LITE_LAUNCH_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/program/program.h"

struct directory_request {
  const char *output;  /* the argument of -o; "": the default name */
  const char *command; /* COMMAND's name, for the default name; may be "" */
  bool overwrite;
  bool trust;  /* --trust-directory: also a directory of another user, and in any place */
  bool series; /* it is for the directories of several runs, named threads-..., which only this launch fills */
};

struct directory_origin {
  bool created; /* by this launch: there was nothing of that name */
  bool joined;  /* another rank of the job has taken it */
};

/* Creates, joins or replaces the directory and writes its absolute path.  Returns LAUNCH_OK and sets *origin, or
 * LAUNCH_FAILED with a message. */
enum launch_status directory_take(const struct directory_request *request, char *path, size_t path_size,
                                  struct directory_origin *origin, char *message, size_t message_size);

/* Whether directory_take() would take the directory, as far as that shows without changing anything.  Returns
 * LAUNCH_OK, or LAUNCH_FAILED with its message. */
enum launch_status directory_examine(const struct directory_request *request, char *message, size_t message_size);

/* Removes what directory_take() made for a launch that will not use the directory, unless ranks of its job may use it.
 * What it has replaced is lost. */
void directory_give_back(const char *path, const struct directory_origin *origin);

/* Whether a process has measured anything into the directory, or it cannot be read. */
bool directory_holds_profiles(const char *path);

#endif
