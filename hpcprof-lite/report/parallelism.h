/* Work, span and parallelism of the program and its constructs, as a table and as text.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_PARALLELISM_H
#define HPCPROF_LITE_REPORT_PARALLELISM_H

#include "hpcprof-lite/report/report.h"

/* Whether a process was killed, or still runs, before its work and span were known. */
bool parallelism_cut(const struct report *report);

/* Prints why figures are not known that callbacks give, such as "Work and span", and how to measure them: with
 * hpcrun-lite -p MODE. */
void parallelism_missing(const struct report *report, const char *what, const char *mode);

/* Prints that chunks of loops are not known, if so. */
void parallelism_chunks_note(const struct report *report);

/* Prints a warning if the graph log differs from the measurement; the details were printed on standard error. */
void parallelism_log_warning(const struct report *report);

#endif
