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
  struct device_use of;           /* the first one */
  uint64_t (*ns)[DEVICE_ACTIONS]; /* [column] */
};

struct lines {
  const struct report *report;
  const struct timeline_rows *rows;
  struct line *lines;
  uint32_t count;
  size_t room;
};

static struct line *line_of(struct lines *lines, const struct device_use *use)
{
  for (uint32_t i = 0; i < lines->count; i++) {
    const struct device_use *of = &lines->lines[i].of;
    if (of->process == use->process && of->device == use->device && of->track == use->track)
      return &lines->lines[i];
  }
  struct line *line = XAPPEND(lines->lines, lines->count, lines->room);
  *line = (struct line){*use, xcalloc(lines->rows->columns, sizeof *line->ns)};
  return line;
}

/* Divides a use among the columns. */
static void add(void *context, const struct device_use *use)
{
  struct lines *lines = context;
  const struct timeline_rows *rows = lines->rows;
  struct line *line = line_of(lines, use);
  uint64_t start_ns = MAX(use->start_ns, rows->from_ns), end_ns = MIN(use->end_ns, rows->to_ns);
  while (start_ns < end_ns) {
    uint32_t column = timeline_cell_at(rows->from_ns, rows->to_ns, rows->columns, start_ns);
    uint64_t cell_end = timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, column + 1);
    uint64_t part_end = MIN(MAX(cell_end, start_ns + 1), end_ns);
    line->ns[column][use->action] += part_end - start_ns;
    start_ns = part_end;
  }
}

ORDER(by_track, struct line,
      COMPARE(x->of.process, y->of.process) ?: COMPARE(x->of.device, y->of.device)
          ?: COMPARE(x->of.track, y->of.track))

static const char letters[DEVICE_ACTIONS] = {[DEVICE_COPY_TO] = '>', [DEVICE_COPY_FROM] = '<', [DEVICE_OTHER] = '#'};

static void write_label(const struct report *report, const struct device_use *of, char label[TIMELINE_LABEL_MAX])
{
  char mark[2] = {of->track == DEVICE_HOST_VIEW ? '\0' : letters[of->action], '\0'};
  timeline_rows_device(report, of->process, of->device, mark, label);
}

static void print(const struct lines *lines, const struct line *line)
{
  const struct timeline_rows *rows = lines->rows;
  FILE *stream = lines->report->stream;
  char label[TIMELINE_LABEL_MAX];
  write_label(lines->report, &line->of, label);
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

/* What the lines of recorded operations are, and which of these are missing. */
static void explain_recorded(const struct lines *lines, const struct terminal *terminal)
{
  const struct report *report = lines->report;
  bool explained = false;
  for (uint32_t i = 0; i < lines->count; i++) {
    const struct device_use *of = &lines->lines[i].of;
    char label[TIMELINE_LABEL_MAX];
    if (of->track == DEVICE_HOST_VIEW)
      continue;
    if (!explained)
      terminal_wrap(terminal, report->stream, "", "  ",
                    "d0>, d0<, d0#: copies to device 0, copies from it and regions, as the device recorded them.");
    explained = true;
    struct device_recorded recorded = device_uses_recorded(report, of->process, of->device, of->track);
    write_label(report, of, label);
    if (recorded.recorded < recorded.expected)
      terminal_wrapf(terminal, report->stream, "", "  ",
                     "%s: the device has recorded %" PRIu64 " of %" PRIu64 " operations; the others are not shown.",
                     label, recorded.recorded, recorded.expected);
  }
}

void device_lines_print(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows)
{
  struct lines lines = {.report = report, .rows = rows};
  device_uses_each(report, add, &lines);
  if (lines.count)
    qsort(lines.lines, lines.count, sizeof *lines.lines, by_track);
  for (uint32_t i = 0; i < lines.count; i++)
    print(&lines, &lines.lines[i]);
  if (lines.count)
    terminal_wrap(
        terminal, report->stream, "", "  ",
        "d0: device 0 as the host sees it, if busy for half of a column: > mostly copies to it, < mostly copies "
        "from it, # mostly other parts of target constructs.");
  explain_recorded(&lines, terminal);
  for (uint32_t i = 0; i < lines.count; i++)
    free(lines.lines[i].ns);
  free(lines.lines);
}
