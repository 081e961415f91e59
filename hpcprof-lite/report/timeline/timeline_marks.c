#include "hpcprof-lite/report/timeline/timeline_marks.h"

#include "common/order.h"

#include <assert.h>

enum { NOWHERE = UINT32_MAX };

static uint32_t column_of(const struct timeline_rows *rows, uint64_t at_ns)
{
  assert(rows->columns && rows->from_ns < rows->to_ns);
  uint64_t length_ns = rows->to_ns - rows->from_ns;
  if (at_ns < rows->from_ns)
    return 0;
  if (at_ns >= rows->to_ns)
    return rows->columns - 1;
  uint32_t column = (uint32_t)((double)(at_ns - rows->from_ns) / (double)length_ns * rows->columns);
  return MIN(column, rows->columns - 1);
}

/* The column of the next mark of that kind in a later column; the end of the line if there is none. */
static uint32_t next_column(const struct run_marks *marks, const struct timeline_rows *rows, uint32_t i,
                            uint32_t column)
{
  bool phase = marks->marks[i].user_phase;
  for (i++; i < marks->count; i++) {
    uint32_t other = column_of(rows, marks->marks[i].start_ns);
    if (marks->marks[i].user_phase == phase && other > column)
      return other;
  }
  return rows->columns;
}

static void print_line(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows,
                       bool phases)
{
  const struct run_marks *marks = report->time.marks;
  uint32_t used = 0, last = NOWHERE;
  for (uint32_t i = 0; i < marks->count; i++) {
    const struct run_mark *mark = &marks->marks[i];
    uint32_t column = column_of(rows, mark->start_ns);
    char name[TERMINAL_TEXT_MAX] = "";
    if (mark->user_phase != phases || column == last)
      continue;
    uint32_t room = next_column(marks, rows, i, column) - column;
    unsigned width = room > 2 ? terminal_cut(terminal, mark->name, room - 2, name) : 0;
    if (last == NOWHERE)
      fprintf(report->stream, "%*s ", (int)rows->label_width, "");
    fprintf(report->stream, "%*s%c%s", (int)(column - used), "", phases ? '[' : 'v', name);
    used = column + 1 + width;
    last = column;
  }
  if (last != NOWHERE)
    fputc('\n', report->stream);
}

void timeline_marks_print(const struct report *report, const struct terminal *terminal,
                          const struct timeline_rows *rows)
{
  if (!report->time.marks || !report->time.marks->count || rows->to_ns <= rows->from_ns)
    return;
  print_line(report, terminal, rows, true);
  print_line(report, terminal, rows, false);
}
