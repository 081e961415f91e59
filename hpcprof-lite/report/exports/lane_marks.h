/* What a thread has marked, and counted by the program's counters, along its lane.
 *
 * Context: BATCH.  Memory: 40 bytes for each, of one lane at a time.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_LANE_MARKS_H
#define HPCPROF_LITE_REPORT_EXPORTS_LANE_MARKS_H

#include "hpcprof-lite/report/report.h"

enum lane_mark_kind { LANE_MARK, LANE_USER_PHASE, LANE_COUNT };

struct lane_mark {
  uint64_t start_ns, end_ns; /* of a mark or count, both are the same */
  uint64_t value;            /* of a count */
  const char *name;
  enum lane_mark_kind kind;
};

struct lane_marks {
  struct lane_mark *marks; /* in the order of time */
  uint32_t count, next;    /* next: for the caller */
  size_t room;
};

/* Reads those of a lane; counts are there with a trace only. */
void lane_marks_read(const struct report *report, uint32_t lane, struct lane_marks *marks);
void lane_marks_release(struct lane_marks *marks);

/* Returns the next one that comes before a time, or at it; NULL: none. */
const struct lane_mark *lane_marks_until(struct lane_marks *marks, uint64_t time_ns);

#endif
