/* User phases in the phases view.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_USER_PHASES_H
#define HPCPROF_LITE_REPORT_TIMELINE_USER_PHASES_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/report/terminal.h"

/* A row of the table of phases: one that the program has named, one that was found, or a step of it. */
struct phase_row {
  const struct profile_process *process;
  uint32_t phase, step; /* numbers from 1, or 0 */
  const char *kind, *name, *figures_of;
  uint64_t start_ns, end_ns; /* not of a step */
  const struct phases_spread *spread;
  const uint64_t *ns;     /* [category] NULL: not known */
  struct cell efficiency; /* in percent */
  uint32_t context;       /* MODEL_NONE: not known */
};

/* Gives a row for each, of the kind "user"; before the phases that are found. */
int user_phases_each(const struct report *report, table_take *take, void *to);

/* A line for each name, with its executions of all processes together. */
void user_phases_text(const struct report *report, const struct terminal *terminal);

#endif
