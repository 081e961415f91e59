#include "hpcprof-lite/report/timeline/device_lines.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/device_uses.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
  uint32_t process, device;
  uint64_t (*ns)[DEVICE_ACTIONS]; /* [column] */
};

struct lines {
  const struct report *report;
  const struct timeline_rows *rows;
  struct line *lines;
  uint32_t count;
  size_t room;
};

static struct line *line_of(struct lines *lines, uint32_t process, uint32_t device)
{
  for (uint32_t i = 0; i < lines->count; i++)
    if (lines->lines[i].process == process && lines->lines[i].device == device)
      return &lines->lines[i];
  struct line *line = XAPPEND(lines->lines, lines->count, lines->room);
  *line = (struct line){process, device, xcalloc(lines->rows->columns, sizeof *line->ns)};
  return line;
}

/* Divides a use among the columns. */
static void add(void *context, const struct device_use *use)
{
  struct lines *lines = context;
  const struct timeline_rows *rows = lines->rows;
  struct line *line = line_of(lines, use->process, use->device);
  uint64_t start_ns = MAX(use->start_ns, rows->from_ns), end_ns = MIN(use->end_ns, rows->to_ns);
  while (start_ns < end_ns) {
    uint32_t column = timeline_cell_at(rows->from_ns, rows->to_ns, rows->columns, start_ns);
    uint64_t cell_end = timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, column + 1);
    uint64_t part_end = MIN(MAX(cell_end, start_ns + 1), end_ns);
    line->ns[column][use->action] += part_end - start_ns;
    start_ns = part_end;
  }
}

ORDER(by_device, struct line, COMPARE(x->process, y->process) ?: COMPARE(x->device, y->device))

static void print(const struct lines *lines, const struct line *line)
{
  static const char letters[DEVICE_ACTIONS] = {[DEVICE_COPY_TO] = '>', [DEVICE_COPY_FROM] = '<', [DEVICE_OTHER] = '#'};
  const struct timeline_rows *rows = lines->rows;
  FILE *stream = lines->report->stream;
  char label[TIMELINE_LABEL_MAX];
  timeline_rows_device(lines->report, line->process, line->device, label);
  fprintf(stream, "%*s ", (int)rows->label_width, label);
  for (uint32_t i = 0; i < rows->columns; i++) {
    uint64_t length = timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, i + 1) -
                      timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, i);
    const uint64_t *ns = line->ns[i];
    uint64_t all_ns = 0;
    unsigned most = DEVICE_OTHER;
    for (unsigned k = 0; k < DEVICE_ACTIONS; k++) {
      model_add(&all_ns, ns[k]);
      most = ns[k] > ns[most] ? k : most;
    }
    fputc(all_ns >= length - length / 2 ? letters[most] : '.', stream);
  }
  fputc('\n', stream);
}

void device_lines_print(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows)
{
  struct lines lines = {.report = report, .rows = rows};
  device_uses_each(report, add, &lines);
  if (lines.count)
    qsort(lines.lines, lines.count, sizeof *lines.lines, by_device);
  for (uint32_t i = 0; i < lines.count; i++)
    print(&lines, &lines.lines[i]);
  if (lines.count)
    terminal_wrap(
        terminal, report->stream, "", "  ",
        "d0: device 0 as the host sees it, if busy for half of a column: > mostly copies to it, < mostly copies "
        "from it, # mostly other parts of target constructs.");
  for (uint32_t i = 0; i < lines.count; i++)
    free(lines.lines[i].ns);
  free(lines.lines);
}
