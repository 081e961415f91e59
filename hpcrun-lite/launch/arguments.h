/* The launcher's command line.
 *
 * Context: BATCH (the launcher).  Keeps no state but getopt's; the plan refers to the arguments.
 */
#ifndef HPCRUN_LITE_LAUNCH_ARGUMENTS_H
#define HPCRUN_LITE_LAUNCH_ARGUMENTS_H

#include <stddef.h>
#include <stdio.h>

#include "hpcrun-lite/launch/plan.h"

enum arguments_mode {
  MODE_RUN,
  MODE_ENV,
  MODE_DIAGNOSE,
  MODE_CONFIG,
  MODE_HELP,
  MODE_VERSION,
  MODE_CONTROL,
  MODE_LIST_EVENTS
};

/* Fills in what is requested, by options and by configuration files.  Returns LAUNCH_OK, or LAUNCH_FAILED with a
 * message. */
enum launch_status arguments_parse(int argc, char **argv, struct plan *plan, enum arguments_mode *mode, char *message,
                                   size_t message_size);

void arguments_print_help(FILE *stream);

#endif
