/* hpcrun-lite --diagnose: one line for each thing that decides how well COMMAND can be measured, with its remedy.
 *
 * Context: BATCH (the launcher).  Prints findings (finding.h) to standard output; keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_DIAGNOSE_H
#define HPCRUN_LITE_LAUNCH_DIAGNOSE_H

#include "hpcrun-lite/launch/plan.h"

/* Prints the findings.  status and message: of plan_work_out().  Returns 0 if the program would be measured, else 1. */
int diagnose(struct plan *plan, enum launch_status status, const char *message);

#endif
