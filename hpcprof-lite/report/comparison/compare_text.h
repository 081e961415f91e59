/* What all views of a comparison share as text: what is compared, the figures of a line, how a difference is marked.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_COMPARE_TEXT_H
#define HPCPROF_LITE_REPORT_COMPARISON_COMPARE_TEXT_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

enum { COMPARE_TEXT_WIDTH = 3 * 10 + 9 + 2 + 2 }; /* of a line's figures, with the space behind them */

/* Prints what is compared with what. */
void compare_text_heading(const struct report *report);

/* Prepares the terminal, and prints the same and the headings of a table.  metric: NULL if it has several. */
void compare_text_begin(const struct report *report, struct terminal *terminal, const char *heading,
                        const char *metric);

/* Prints what stands below a table. */
void compare_text_end(const struct report *report);

/* Prints how a difference is marked. */
void compare_text_legend(const struct report *report);

/* Returns the decimals of a column with this largest amount. */
unsigned compare_text_decimals(const struct compare_figure *largest);

/* Prints the beginning of a line: both sides, difference, change, mark. */
void compare_text_figure(const struct report *report, const struct compare_figure *figure, const char *unit,
                         unsigned decimals);

#endif
