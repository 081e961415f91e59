/* That threads lacked cores, by the kernel's totals: then times of waiting say little about the program.
 *
 * Context: BATCH.  The line comes first in every view whose figures rest on waiting. */
#ifndef HPCPROF_LITE_REPORT_MISSING_CORES_H
#define HPCPROF_LITE_REPORT_MISSING_CORES_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

/* Whether they did: see totals_missing_cores(). */
bool missing_cores(const struct report *report);

/* Prints how much, with the efficiency in the time with cores; nothing, if they did not. */
void missing_cores_print(const struct report *report, const struct terminal *terminal);

/* The same of given parts, with what follows from threads without a core. */
void missing_cores_print_of(FILE *stream, const struct terminal *terminal, const struct totals_missing_cores *missing,
                            const char *indent, const char *so);

/* What the user can do about it; NULL if they did not. */
const char *missing_cores_remedy(const struct report *report);

#endif
