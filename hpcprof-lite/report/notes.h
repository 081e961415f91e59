/* Notes that several views print about what is not known.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_NOTES_H
#define HPCPROF_LITE_REPORT_NOTES_H

#include "hpcprof-lite/report/report.h"

/* Whether a process was killed, or still runs, before its work and span were known. */
bool notes_cut(const struct report *report);

/* Prints why figures are not known that callbacks give, such as "Work and span", and how to measure them: with
 * hpcrun-lite -p MODE. */
void notes_missing(const struct report *report, const char *what, const char *mode);

/* Prints that chunks of loops are not known, if so. */
void notes_chunks(const struct report *report);

/* Prints of how many executions figures of constructs are estimates, if not all were followed. */
void notes_estimates(const struct report *report);

/* Prints a warning if the graph log differs from the measurement, whose details were printed on standard error, or does
 * not follow all calls of MPI. */
void notes_log_differs(const struct report *report);

#endif
