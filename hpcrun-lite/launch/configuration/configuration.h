/* Configuration files: where they are looked for, and what they say.
 *
 * A file is read as a whole and parsed by libinih.  Every line is checked before anything follows from it; the first
 * bad one ends the reading with a message "FILE:LINE: KEY: reason; remedy".
 *
 * Context: BATCH (the launcher).  configuration_find() or configuration_read() fills in the caller's struct, which owns
 * its texts until configuration_release(), which is also needed after a failure.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONFIGURATION_CONFIGURATION_H
#define HPCRUN_LITE_LAUNCH_CONFIGURATION_CONFIGURATION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/configuration/setting.h"

enum { CONFIGURATION_PROGRAMS_MAX = 32, CONFIGURATION_NAME_MAX = 42 }; /* libinih's limit on a section's name */

struct configuration_program {
  char name[CONFIGURATION_NAME_MAX]; /* as the program is executed, without its folder */
  struct setting_layer layer;
};

struct configuration {
  char path[PATH_MAX]; /* as messages name the file; "": there is none */
  struct setting_layer common;
  struct configuration_program programs[CONFIGURATION_PROGRAMS_MAX];
  unsigned program_count;
};

/* Reads one file.  restricted: it may name neither libraries nor output paths, and must belong to this user, who alone
 * may write it.  Returns false with a message. */
bool configuration_read(const char *path, bool restricted, struct configuration *configuration, char *message,
                        size_t message_size);

/* Reads the file that is in force: asked_for, the argument of --config, which may be "none"; NULL: that of
 * HPCRUN_LITE_CONFIG, the file in the current directory or the user's own one, the first of them that exists.  Returns
 * false with a message; if there is no file, returns true with an empty path. */
bool configuration_find(const char *asked_for, struct configuration *configuration, char *message, size_t message_size);

void configuration_release(struct configuration *configuration);

#endif
