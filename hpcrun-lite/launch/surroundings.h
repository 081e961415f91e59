/* What --diagnose finds around COMMAND: the machine's cores, limits, the measurement directory, what else is preloaded.
 *
 * Context: BATCH (the launcher's helper).  Each prints findings; what can be tried is tried.
 */
#ifndef HPCRUN_LITE_LAUNCH_SURROUNDINGS_H
#define HPCRUN_LITE_LAUNCH_SURROUNDINGS_H

#include "hpcrun-lite/launch/plan.h"

/* Cores that may be used, and a quota of a control group on them. */
void surroundings_cores(void);

/* Limits that are too small for measuring; timers: samples come from timers. */
void surroundings_limits(bool timers);

/* A trial in the place where the measurement directory will be; nothing stays behind. */
void surroundings_directory(const char *output);

/* Sanitizers in the program, other preloaded libraries and OpenMP tools. */
void surroundings_others(const struct plan *plan);

#endif
