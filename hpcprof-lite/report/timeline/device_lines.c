#include "hpcprof-lite/report/timeline/device_lines.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TO, FROM, OTHER, ACTIONS };

/* What a construct means for a device. */
struct use {
  uint32_t device; /* as in struct format_directive; 0: nothing */
  uint32_t action;
};

struct line {
  uint32_t process, device;
  uint64_t until_ns;       /* the end of what was added */
  uint64_t (*ns)[ACTIONS]; /* [column] */
};

struct lines {
  const struct report *report;
  const struct timeline_rows *rows;
  struct use *uses; /* [entry of the tree of constructs] */
  struct line *lines;
  uint32_t count;
  size_t room;
};

/* Sets the uses of all constructs: what is inside a target construct belongs to its device. */
static bool set_uses(struct lines *lines)
{
  const struct construct_tree *tree = lines->report->constructs;
  const struct profile_workspan *workspan = &lines->report->profile->workspan;
  bool any = false;
  lines->uses = xcalloc(tree->count, sizeof *lines->uses);
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    struct use *use = &lines->uses[i];
    uint32_t device = entry->directive ? workspan->directives[entry->directive].device : 0;
    *use = lines->uses[entry->parent];
    if (!device || device == DEVICE_NONE || entry->kind == DIRECTIVE_TARGET_DATA)
      continue;
    *use = (struct use){device, OTHER};
    if (entry->kind == CONSTRUCT_COPY_TO_DEVICE)
      use->action = TO;
    else if (entry->kind == CONSTRUCT_COPY_FROM_DEVICE)
      use->action = FROM;
    any = true;
  }
  return any;
}

static struct line *line_of(struct lines *lines, uint32_t process, uint32_t device)
{
  for (uint32_t i = 0; i < lines->count; i++)
    if (lines->lines[i].process == process && lines->lines[i].device == device)
      return &lines->lines[i];
  struct line *line = XAPPEND(lines->lines, lines->count, lines->room);
  *line = (struct line){process, device, 0, xcalloc(lines->rows->columns, sizeof *line->ns)};
  return line;
}

/* Intervals come by their start. */
static int add(void *context, const struct timeline_interval *interval)
{
  struct lines *lines = context;
  const struct timeline_rows *rows = lines->rows;
  const struct construct_tree *tree = lines->report->constructs;
  if (interval->construct >= tree->count || !lines->uses[interval->construct].device)
    return 0;
  struct use use = lines->uses[interval->construct];
  struct line *line = line_of(lines, lines->report->time.timeline->lanes[interval->lane].process, use.device);
  uint64_t start_ns = MAX(MAX(interval->start_ns, line->until_ns), rows->from_ns);
  uint64_t end_ns = MIN(interval->end_ns, rows->to_ns);
  line->until_ns = MAX(line->until_ns, end_ns);
  while (start_ns < end_ns) {
    uint32_t column = timeline_cell_at(rows->from_ns, rows->to_ns, rows->columns, start_ns);
    uint64_t cell_end = timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, column + 1);
    uint64_t part_end = MIN(MAX(cell_end, start_ns + 1), end_ns);
    line->ns[column][use.action] += part_end - start_ns;
    start_ns = part_end;
  }
  return 0;
}

ORDER(by_device, struct line, COMPARE(x->process, y->process) ?: COMPARE(x->device, y->device))

static void print(const struct lines *lines, const struct line *line, bool several)
{
  static const char letters[ACTIONS] = {[TO] = '>', [FROM] = '<', [OTHER] = '#'};
  const struct timeline_rows *rows = lines->rows;
  FILE *stream = lines->report->stream;
  char process[TIMELINE_PROCESS_MAX] = "", label[TIMELINE_LABEL_MAX];
  if (several)
    timeline_rows_process(lines->report->profile, line->process, process);
  snprintf(label, sizeof label, "%s%sd%" PRIu32, process, several ? "." : "", line->device - 1);
  fprintf(stream, "%*s%s", (int)rows->label_width, label, strlen(label) > rows->label_width ? "" : " ");
  for (uint32_t i = 0; i < rows->columns; i++) {
    uint64_t length = timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, i + 1) -
                      timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, i);
    const uint64_t *ns = line->ns[i];
    unsigned most = OTHER;
    for (unsigned k = 0; k < ACTIONS; k++)
      most = ns[k] > ns[most] ? k : most;
    fputc(ns[TO] + ns[FROM] + ns[OTHER] >= length - length / 2 ? letters[most] : '.', stream);
  }
  fputc('\n', stream);
}

void device_lines_print(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows)
{
  struct lines lines = {.report = report, .rows = rows};
  if (set_uses(&lines)) {
    report->time.timeline->each(report->time.timeline->source, MODEL_NONE, add, &lines);
    if (lines.count)
      qsort(lines.lines, lines.count, sizeof *lines.lines, by_device);
    for (uint32_t i = 0; i < lines.count; i++)
      print(&lines, &lines.lines[i], report->profile->processes_usable > 1);
    if (lines.count)
      terminal_wrap(terminal, report->stream, "", "  ",
                    "d0: device 0, as far as the host knows: > copies to it, < copies from it, # other parts of target "
                    "constructs, for at least half of the column.");
  }
  for (uint32_t i = 0; i < lines.count; i++)
    free(lines.lines[i].ns);
  free(lines.lines);
  free(lines.uses);
}
