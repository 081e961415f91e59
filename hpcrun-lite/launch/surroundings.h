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

/* Tests the place where the measurement directory will be created; leaves nothing behind.  trusted: others may be able
 * to exchange it. */
void surroundings_directory(const char *output, bool trusted);

/* Sanitizers in the program, other preloaded libraries and OpenMP tools. */
void surroundings_others(const struct plan *plan);

#endif
