/* The settings of a launch, as environment variables.
 *
 * Context: BATCH (the launcher).  Changes the launcher's own environment, which COMMAND inherits, or prints lines for a
 * shell (--env).
 */
#ifndef HPCRUN_LITE_LAUNCH_SETTINGS_H
#define HPCRUN_LITE_LAUNCH_SETTINGS_H

#include "hpcrun-lite/launch/plan.h"

/* Sets or prints all variables, and unsets what an outer launch has set and this one does not.  Returns false if memory
 * runs out. */
bool settings_apply(const struct plan *plan);

#endif
