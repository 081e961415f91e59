/* Prints the plan as lines for the shell: the launcher evaluates them, --env shows them.
 *
 * Context: BATCH (the launcher's helper).  Prints to standard output; keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_SETTINGS_H
#define HPCRUN_LITE_LAUNCH_SETTINGS_H

#include "hpcrun-lite/launch/plan.h"

/* Prints the variables to export and to unset, or a command that sets them if the shell cannot. */
void settings_print(const struct plan *plan);

#endif
