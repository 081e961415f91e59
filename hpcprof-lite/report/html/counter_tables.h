/* The tables of the HTML page about what was counted along the time, of all threads together (timeline/counters.js).
 *
 * Context: BATCH.  They follow those of the intervals:
 *   timeline-counter-names  name, event (1: of -c; 0: a counter of the program)
 *   timeline-counters       counter (a row of those), start_ns, end_ns, value: so much was counted in that time; where
 *                           both are the same, at that time
 * If there are more than COUNTER_TABLES_ROOM counts, the time is divided into COUNTER_TABLES_CELLS parts, and the
 * counts in a part are added up.
 */
#ifndef HPCPROF_LITE_REPORT_HTML_COUNTER_TABLES_H
#define HPCPROF_LITE_REPORT_HTML_COUNTER_TABLES_H

#include "hpcprof-lite/report/report.h"

enum { COUNTER_TABLES_ROOM = 200000, COUNTER_TABLES_CELLS = 1 << 14 };

/* Writes them, after the element of another table, which it ends; the last one's stays open.  from_ns, to_ns: the life
 * of all lanes. */
void counter_tables_write(const struct report *report, uint64_t from_ns, uint64_t to_ns, FILE *output);

#endif
