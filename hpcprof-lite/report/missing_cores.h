/* That threads lacked cores, by the kernel's totals: then times of waiting say little about the program.
 *
 * Context: BATCH.  The line comes first in every view whose figures rest on waiting. */
#ifndef HPCPROF_LITE_REPORT_MISSING_CORES_H
#define HPCPROF_LITE_REPORT_MISSING_CORES_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

/* Whether they did: see totals_missing_cores(). */
bool missing_cores(const struct report *report);

/* Prints how much, with the efficiency and the elapsed time with cores; nothing, if they did not. */
void missing_cores_print(const struct report *report, const struct terminal *terminal);

/* The same at the top of a view of constructs, whose times contain those without a core. */
void missing_cores_of_constructs(const struct report *report);

/* Writes one of two reasons as a sentence without a full stop; returns false if it does not apply. */
enum { MISSING_CORES_PARTS = 2, MISSING_CORES_TEXT = 512 };
bool missing_cores_of_report(const struct report *report, unsigned part, char out[MISSING_CORES_TEXT]);

/* The same of given parts, with what follows from threads without a core.  before: in front of each line.  Returns
 * whether any applied. */
bool missing_cores_text(const struct totals_missing_cores *missing, unsigned part, const char *so,
                        char out[MISSING_CORES_TEXT]);
bool missing_cores_print_of(FILE *stream, const struct terminal *terminal, const struct totals_missing_cores *missing,
                            const char *before, const char *so);

/* What the user can do about it; NULL if they did not. */
const char *missing_cores_remedy(const struct report *report);

#endif
