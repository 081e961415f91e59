/* COMMAND as the kernel and the dynamic loader will see it: its path, its interpreter, its libraries.
 *
 * Context: BATCH (the launcher).  The caller owns struct program; program_release() frees the modules in it.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_PROGRAM_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/program/elf_facts.h"

/* Exit statuses of the launcher's own failures, as those of env(1). */
enum launch_status { LAUNCH_OK = 0, LAUNCH_FAILED = 125, LAUNCH_NOT_EXECUTABLE = 126, LAUNCH_NOT_FOUND = 127 };

#define PROGRAM_MODULES_MAX 4096

struct program {
  char path[PATH_MAX];  /* COMMAND, searched for in PATH if it has no '/' */
  char image[PATH_MAX]; /* the file that the kernel loads: path or its interpreter */
  bool is_script;
  bool is_readable; /* false: an execute-only file, which cannot be examined */
  bool has_thread_sanitizer;
  bool has_address_sanitizer; /* as a shared library, which by default insists on being the first one */
  struct elf_facts facts;     /* of the image */
  char **modules;             /* paths in the loader's order, beginning with the image */
  size_t module_count;
  bool is_complete;            /* every needed library was found */
  char *const *loader_options; /* of "LOADER [OPTION]... PROGRAM", the command's own words */
  size_t loader_option_count;
};

/* Finds COMMAND as execvp does and follows '#!' lines to the image.  Returns LAUNCH_OK, or another status with a
 * message. */
enum launch_status program_find(const char *command, struct program *program, char *message, size_t message_size);

/* The same for a whole command, which may be glibc's dynamic loader with its options and a program as its arguments:
 * then finds that program, and the loader is its interpreter. */
enum launch_status program_find_command(char *const *command, struct program *program, char *message,
                                        size_t message_size);

/* Can a library be preloaded into the program?  Returns LAUNCH_OK, or LAUNCH_FAILED with the reason and the remedy. */
enum launch_status program_check_preload(const struct program *program, char *message, size_t message_size);

/* Asks the program's dynamic loader which libraries it will load.  preload: the user's LD_PRELOAD, or "".  If the
 * loader fails or does not find all of them, is_complete is false. */
void program_list_modules(struct program *program, const char *preload);

/* Can the program's auditors (LD_AUDIT, and those that it names) be loaded with what is preloaded?  They leave little
 * thread-local storage.  Has the dynamic loader load everything, without running the program.  Returns LAUNCH_OK, also
 * if there are no auditors or the program does not start with them alone; or LAUNCH_FAILED with the remedy. */
enum launch_status program_check_auditors(const struct program *program, const char *user_preload, const char *preload,
                                          char *message, size_t message_size);
bool program_has_auditors(const struct program *program);

void program_release(struct program *program);

/* The part of a path after its last '/'. */
const char *path_base(const char *path);

#endif
