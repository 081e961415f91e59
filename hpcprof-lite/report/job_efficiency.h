/* The efficiencies of a job of several ranks, as text.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_JOB_EFFICIENCY_H
#define HPCPROF_LITE_REPORT_JOB_EFFICIENCY_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

/* Prints the efficiencies as they multiply, with what each costs; nothing unless the run has several ranks with calls
 * of MPI. */
void job_efficiency_print(const struct report *report, const struct terminal *terminal);

/* Returns what an efficiency of the job is lost to, in a few words. */
const char *job_efficiency_meaning(enum efficiency_job_metric metric);

#endif
