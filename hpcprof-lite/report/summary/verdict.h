/* The summary's first lines: what makes the measurement unfit, and what the run was and what limits it.  Context:
 * BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_SUMMARY_VERDICT_H
#define HPCPROF_LITE_REPORT_SUMMARY_VERDICT_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

enum { VERDICT_MAX = 4096 };

/* Prints a line for each reason for which the figures are less reliable than others, except missing cores. */
void verdict_unfit(const struct report *report, const struct terminal *terminal);

/* Writes the sentence; names are shortened for the terminal, unless it is NULL.  Returns the text. */
const char *verdict_sentence(const struct report *report, const struct terminal *terminal, char out[VERDICT_MAX]);

/* Prints it. */
void verdict_print(const struct report *report, const struct terminal *terminal);

/* Whether that sentence contains the whole command. */
bool verdict_names_command(const struct report *report);

/* The first finding that has a forecast, NULL if there is none. */
const struct advice_finding *verdict_first(const struct report *report);

/* Whether threads were blocked in calls for most of the time. */
bool verdict_blocked(const struct report *report);

/* Writes where threads were blocked outside OpenMP, as the rest of a sentence: ", 0.412 s of it in f (f.c:7)".  Returns
 * the text. */
const char *verdict_blocked_places(const struct report *report, char *text, size_t size);

#endif
