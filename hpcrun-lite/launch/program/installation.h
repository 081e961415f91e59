/* Where the parts of the installation are: relative to the launcher, so that it can be moved.
 *
 * /proc is not used: a container may lack it.
 *
 * Context: BATCH (the launcher).  The launcher's path is looked up once.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_INSTALLATION_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_INSTALLATION_H

#include <limits.h>

enum { INSTALLATION_PATH = 2 * PATH_MAX };

/* The launcher's own path, "" if it cannot be found. */
const char *installation_launcher(void);

/* The path of a file beside the launcher, which need not exist. */
void installation_program(const char *name, char path[INSTALLATION_PATH]);

/* The path of a file in the library's directory, which need not exist. */
void installation_library(const char *name, char path[INSTALLATION_PATH]);

#endif
