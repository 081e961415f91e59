/* Views as text for people: aligned, as wide as the terminal or 80 columns.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TEXT_H
#define HPCPROF_LITE_REPORT_TEXT_H

#include "hpcprof-lite/report/report.h"

void text_tree(const struct report *report);
void text_critical_path(const struct report *report);

/* Which columns of figures a tree needs: those that are not 0 in all rows. */
struct text_columns {
  bool time, overhead, lockwait, idleness, critical;
  uint32_t events;   /* further events, of which the first ones are shown */
  unsigned decimals; /* of seconds */
};

struct text_columns text_columns_of(const struct tree *tree, const struct tree_columns *columns);

#endif
