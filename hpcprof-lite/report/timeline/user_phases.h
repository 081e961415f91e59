/* Phases that the program has named, in the phases view.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_USER_PHASES_H
#define HPCPROF_LITE_REPORT_TIMELINE_USER_PHASES_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

/* A row for each, of the kind "user"; before the phases that are found. */
void user_phases_rows(const struct report *report, struct row_writer *writer);

/* A line for each name, with its executions of all processes together. */
void user_phases_text(const struct report *report, const struct terminal *terminal);

#endif
