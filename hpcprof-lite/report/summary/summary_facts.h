/* The facts of the summary, as a table.
 *
 * Context: BATCH.  A row is one fact, with a value of its own type.
 */
#ifndef HPCPROF_LITE_REPORT_SUMMARY_SUMMARY_FACTS_H
#define HPCPROF_LITE_REPORT_SUMMARY_SUMMARY_FACTS_H

#include "hpcprof-lite/report/report.h"

extern const struct schema summary_facts_schema;
int summary_facts_table(const struct report *report, struct table *table);

#endif
