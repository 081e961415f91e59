/* The rows of the timeline as they are drawn: cells of lanes, or of the lanes of a process or node together.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_ROWS_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_ROWS_H

#include "hpcprof-lite/report/report.h"
#include "hpcprof-lite/views/state_times.h"

enum { TIMELINE_LABEL_MAX = 40, TIMELINE_PROCESS_MAX = 24 };

struct timeline_row {
  uint32_t lane; /* the first one */
  uint32_t lanes;
  bool critical_known; /* of all of them */
  struct timeline_cell *cells;
  char label[TIMELINE_LABEL_MAX];
};

struct timeline_rows {
  const struct report *report;
  uint64_t from_ns, to_ns; /* the life of all lanes */
  struct timeline_row *rows;
  uint32_t count, columns;
  unsigned label_width;
  struct timeline_cell *cells;
  struct state_times *times, *lane_times; /* [row], [lane] */
};

extern const char *const timeline_line_names[]; /* [enum timeline_grouping] what a line stands for */

/* Writes the rank of a process, or its process id, or "2/7" of both where several have that rank. */
void timeline_rows_process(const struct profile *profile, uint32_t number, char name[TIMELINE_PROCESS_MAX]);

/* Writes the label of a device: "d0", or "7.d0" with several processes, and a mark.  device: number + 1. */
void timeline_rows_device(const struct report *report, uint32_t process, uint32_t device, const char *mark,
                          char label[TIMELINE_LABEL_MAX]);

/* The number of columns that labels leave in `width`. */
uint32_t timeline_rows_columns(const struct report *report, unsigned width);

/* Reads the cells of all lanes and joins those that are shown together. */
void timeline_rows_read(const struct report *report, uint32_t columns, struct timeline_rows *rows);

/* Adds the times of cells to others. */
void timeline_rows_join(struct timeline_cell *into, const struct timeline_cell *from, uint32_t columns);

void timeline_rows_release(struct timeline_rows *rows);

#endif
