/* The timeline in the HTML report: its intervals as tables that stay small for millions of them.
 *
 * Context: BATCH.  The page shows the figures of `--view timeline -f csv`, whose text would take several times as much
 * room and time.  As the intervals of a lane follow one another without a hole, an interval is its length and the
 * number of what the thread did, its state; most intervals share their state with many others.  Tables:
 *   timeline             duration_ns, state: the intervals of the first lane in their order, then of the next one
 *   timeline-lanes       the threads, with their numbers of intervals
 *   timeline-states      what threads did
 *   timeline-constructs  the constructs; `number` is the CSV's column `construct`
 *   timeline-devices     what devices did (device_uses.h): lane by lane, in the order of time
 *   timeline-messages    messages between lanes (message_table.h)
 *   timeline-extent      one row: the time, and what is left out
 * From until_ns on, left_out intervals are not in the page, because it has room for INTERVAL_TABLES_ROOM.
 */
#ifndef HPCPROF_LITE_REPORT_HTML_INTERVAL_TABLES_H
#define HPCPROF_LITE_REPORT_HTML_INTERVAL_TABLES_H

#include "hpcprof-lite/report/report.h"

enum { INTERVAL_TABLES_ROOM = 12000000 };

/* Writes the tables to `output`, in the element of the first one, which is open. */
void interval_tables_write(const struct report *report, FILE *output);

#endif
