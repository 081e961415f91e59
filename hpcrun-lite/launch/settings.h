/* The plan as lines for the shell: what the launcher evaluates, and what --env prints.
 *
 * Context: BATCH (the launcher's helper).  Prints to standard output; keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_SETTINGS_H
#define HPCRUN_LITE_LAUNCH_SETTINGS_H

#include "hpcrun-lite/launch/plan.h"

/* Prints the variables to export and to unset, or a command that sets them where the shell cannot. */
void settings_print(const struct plan *plan);

#endif
