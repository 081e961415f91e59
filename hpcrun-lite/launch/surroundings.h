/* The part of --diagnose that examines COMMAND's surroundings: cores, limits, the measurement directory, other tools.
 *
 * Context: BATCH (the launcher).  Each function prints findings; what can be tested is tested.  No state.
 */
#ifndef HPCRUN_LITE_LAUNCH_SURROUNDINGS_H
#define HPCRUN_LITE_LAUNCH_SURROUNDINGS_H

#include "hpcrun-lite/launch/plan.h"

/* CPUs that COMMAND may use, and the quota of its control group. */
void surroundings_cores(void);

/* Limits that are too small for measuring.  timers: samples come from timers. */
void surroundings_limits(bool timers);

/* Examines the measurement directory, and tests the place where it is or will be created; leaves nothing behind.
 * Returns false if a launch would refuse the directory. */
bool surroundings_directory(const struct directory_request *request);

/* Sanitizers in the program, other preloaded libraries and OpenMP tools. */
void surroundings_others(const struct plan *plan);

#endif
