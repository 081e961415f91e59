/* COMMAND as the kernel and the dynamic loader will see it: where it is, what runs it, which libraries come with it.
 *
 * Context: BATCH (the launcher's helper).  The caller owns struct program; program_release() frees what hangs below it.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/elf_facts.h"

/* Exit statuses of the launcher's own failures. */
enum launch_status { LAUNCH_OK = 0, LAUNCH_FAILED = 125, LAUNCH_NOT_EXECUTABLE = 126, LAUNCH_NOT_FOUND = 127 };

#define PROGRAM_MODULES_MAX 4096

struct program {
  char path[PATH_MAX];  /* COMMAND, found in PATH where it has no '/'          */
  char image[PATH_MAX]; /* what the kernel loads: path, or its interpreter     */
  bool is_script;
  bool is_readable;       /* false: an execute-only file, nothing is known of it */
  struct elf_facts facts; /* of the image                                        */
  char **modules;         /* paths in the loader's order, the image first        */
  size_t module_count;
  bool is_complete; /* every needed library was found                      */
};

/* Finds COMMAND as execvp does and follows '#!' lines to the image.  Returns LAUNCH_OK, or another status with a
 * message. */
enum launch_status program_find(const char *command, struct program *program, char *message, size_t message_size);

/* Can a library be preloaded into it?  Returns LAUNCH_OK, or LAUNCH_FAILED with the reason and the remedy. */
enum launch_status program_check_preload(const struct program *program, char *message, size_t message_size);

/* Asks the program's own dynamic loader for the libraries it will load; preload is the user's LD_PRELOAD ("" without).
 * Where the loader cannot say, is_complete stays false. */
void program_list_modules(struct program *program, const char *preload);

void program_release(struct program *program);

/* The part of a path behind its last '/'. */
const char *path_base(const char *path);

#endif
