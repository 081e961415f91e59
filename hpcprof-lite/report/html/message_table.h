/* The messages of an MPI job in the HTML report, as lines between the lanes of the timeline.
 *
 * Context: BATCH.  The page has room for MESSAGE_TABLE_ROOM of them: those for which receivers waited longest, in that
 * order.  The table is timeline-messages: from, to (rows of timeline-lanes), sent_ns, received_ns, bytes, waited_ns.
 */
#ifndef HPCPROF_LITE_REPORT_HTML_MESSAGE_TABLE_H
#define HPCPROF_LITE_REPORT_HTML_MESSAGE_TABLE_H

#include "hpcprof-lite/report/html/html_table.h"
#include "hpcprof-lite/report/report.h"

enum { MESSAGE_TABLE_ROOM = 200000 };

/* Fills an empty table with messages, which it gets from report->time.mpi: none without that.  Returns how many are
 * left out. */
uint64_t message_table_make(const struct report *report, struct html_table *table);

#endif
