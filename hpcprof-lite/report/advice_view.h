/* The advice view: findings in the order of what they would gain.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_ADVICE_VIEW_H
#define HPCPROF_LITE_REPORT_ADVICE_VIEW_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

enum { ADVICE_TITLE_MAX = 4096 };

/* Writes "chunks too small at solve.c:42 (solve)", without the parts that are not known.  Long names are shortened,
 * unless terminal is NULL. */
void advice_view_title(const struct terminal *terminal, const struct advice_finding *found, char out[ADVICE_TITLE_MAX]);

/* Writes the command that shows more of a class, in the same run. */
void advice_view_command(const struct report *report, enum advice_class class, char out[ADVICE_TITLE_MAX]);

/* Prints that command behind `first`, so that a shell reads it unchanged: what is too wide continues on the next line
 * after a backslash. */
void advice_view_print_command(const struct report *report, const struct terminal *terminal, const char *first,
                               enum advice_class class);

#endif
