#include "hpcprof-lite/report/text.h"

#include "hpcprof-lite/report/screen.h"

#include <inttypes.h>
#include <string.h>

enum { EVENTS_SHOWN = 2, CELL = 16, PLACE_MAX = 32 };

/* How one tree is laid out. */
struct layout {
  struct screen screen;
  unsigned name_at, name_width; /* columns                                    */
  unsigned decimals;
  unsigned step; /* columns of indentation for each level      */
  bool time, overhead;
  uint32_t events; /* further events shown, beside a time        */
  bool few;        /* some figure was marked                     */
};

static bool has_time(const struct report *report)
{
  return report->columns->work != PROFILE_NONE || report->columns->overhead != PROFILE_NONE;
}

/* What the weight column holds where no time was measured. */
static const char *weight_name(const struct tree_columns *columns)
{
  return columns->events_count ? columns->columns[columns->events[0]].name : "samples";
}

static void layout_init(const struct report *report, struct layout *layout)
{
  const struct tree *tree = report->tree;
  const struct tree_columns *columns = report->columns;
  *layout = (struct layout){.time = has_time(report)};
  screen_init(&layout->screen, report->stream);
  layout->overhead = tree_incl(tree, 0, columns->overhead) != 0;
  layout->decimals = screen_decimals(tree_weight(tree, columns, 0, true));
  layout->events = layout->time ? columns->events_count : 0;
  if (layout->events > EVENTS_SHOWN)
    layout->events = EVENTS_SHOWN;
  layout->name_at = 2 * (8 + 1 + 6) + (layout->overhead ? 6 : 0) + 8 * layout->events + 2;
  layout->name_width = layout->screen.width - layout->name_at;
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < tree->count; i++)
    if (report->shown[i] && tree->rows[i].depth > deepest)
      deepest = tree->rows[i].depth;
  layout->step = deepest * 4 > layout->name_width ? 1 : 2;
}

static void weight_text(const struct layout *layout, uint64_t value, char out[CELL])
{
  if (layout->time)
    screen_seconds(value, layout->decimals, out);
  else
    screen_count(value, out);
}

/* Mark of a figure that rests on few samples. */
static char few_mark(struct layout *layout, const struct report *report, uint64_t value, uint64_t samples)
{
  if (report->columns->samples == PROFILE_NONE || !value || samples >= PROFILE_FEW_SAMPLES)
    return ' ';
  layout->few = true;
  return '*';
}

static void print_header(const struct report *report, const struct layout *layout)
{
  const struct tree_columns *columns = report->columns;
  FILE *stream = report->stream;
  char name[SCREEN_TEXT_MAX];
  fputs(screen_bold(&layout->screen), stream);
  if (layout->time)
    fprintf(stream, "%8s %6s%8s %6s", "total s", "%", "own s", "%");
  else
    fprintf(stream, "%8s %6s%8s %6s", "total", "%", "own", "%");
  if (layout->overhead)
    fputs("  ovh%", stream);
  for (uint32_t i = 0; i < layout->events; i++) {
    screen_fit(&layout->screen, columns->columns[columns->events[i]].name, 7, name);
    fprintf(stream, " %7s", name);
  }
  if (layout->time)
    fputs("  name", stream);
  else
    fprintf(stream, "  name (figures: %.40s)", weight_name(columns));
  fprintf(stream, "%s\n", screen_plain(&layout->screen));
}

static void print_figures(const struct report *report, struct layout *layout, uint32_t row)
{
  const struct tree *tree = report->tree;
  const struct tree_columns *columns = report->columns;
  uint64_t whole = tree_weight(tree, columns, 0, true);
  for (int i = 0; i < 2; i++) {
    bool inclusive = i == 0;
    uint64_t value = tree_weight(tree, columns, row, inclusive);
    uint64_t samples = inclusive ? tree_incl(tree, row, columns->samples) : tree_excl(tree, row, columns->samples);
    char figure[CELL], percent[CELL];
    weight_text(layout, value, figure);
    screen_percent(value, whole, percent);
    fprintf(report->stream, "%8s%c%6s", figure, few_mark(layout, report, value, samples), percent);
  }
  if (layout->overhead) {
    char percent[CELL];
    screen_percent(tree_incl(tree, row, columns->overhead), whole, percent);
    fprintf(report->stream, "%6s", percent);
  }
  for (uint32_t i = 0; i < layout->events; i++) {
    char percent[CELL];
    uint32_t event = columns->events[i];
    screen_percent(tree_incl(tree, row, event), tree_incl(tree, 0, event), percent);
    fprintf(report->stream, "%7s%%", percent);
  }
}

/* Indentation of a row; so deep that it would crowd out the name, the depth stands there as a number. */
static unsigned indent(const struct layout *layout, uint32_t depth, char *out, size_t size)
{
  unsigned most = layout->name_width / 2;
  if (depth * (uint64_t)layout->step <= most)
    return (unsigned)snprintf(out, size, "%*s", (int)(depth * layout->step), "");
  char number[CELL];
  int length = snprintf(number, sizeof number, "%" PRIu32 "> ", depth);
  return (unsigned)snprintf(out, size, "%*s%s", (int)most > length ? (int)most - length : 0, "", number);
}

/* Name, and the place in the source at the right edge where there is room for it. */
static void print_name(const struct report *report, const struct layout *layout, uint32_t number)
{
  const struct tree_row *row = &report->tree->rows[number];
  const struct screen *screen = &layout->screen;
  char space[512], name[SCREEN_TEXT_MAX], place[SCREEN_TEXT_MAX] = "", text[4096] = "";
  unsigned used = indent(layout, row->depth, space, sizeof space);
  unsigned room = layout->name_width > used ? layout->name_width - used : 1;
  unsigned width = screen_fit(screen, row->name, room, name), place_width = 0;
  bool own_place = row->kind == ROW_FUNCTION || row->kind == ROW_INLINED;
  if (own_place && row->file[0] && row->line) {
    snprintf(text, sizeof text, "%s:%" PRIu32, names_base(row->file), row->line);
    place_width = screen_fit(screen, text, PLACE_MAX, place);
  }
  fprintf(report->stream, "  %s%s", space, name);
  if (place_width && width + 2 + place_width <= room)
    fprintf(report->stream, "%*s%s%s%s", (int)(room - width - place_width), "", screen_dim(screen), place,
            screen_plain(screen));
  putc('\n', report->stream);
}

static void print_footnotes(const struct report *report, const struct layout *layout)
{
  if (layout->few)
    fprintf(report->stream, "* fewer than %d samples: relative error above 22 %%\n", PROFILE_FEW_SAMPLES);
  if (!report->left_out)
    return;
  fprintf(report->stream, "%" PRIu32 " row%s left out", report->left_out, report->left_out == 1 ? "" : "s");
  if (report->percent_limit > 0)
    fprintf(report->stream, ", those below %g %% among them: --percent-limit 0 shows all", report->percent_limit);
  putc('\n', report->stream);
}

void text_tree(const struct report *report)
{
  struct layout layout;
  layout_init(report, &layout);
  print_header(report, &layout);
  for (uint32_t i = 0; i < report->tree->count; i++) {
    uint32_t row = report->tree->order[i];
    if (!report->shown[row])
      continue;
    print_figures(report, &layout, row);
    print_name(report, &layout, row);
  }
  print_footnotes(report, &layout);
}

/* Seconds in 6 columns. */
static void short_seconds(uint64_t ns, char out[CELL])
{
  double seconds = (double)ns / 1e9;
  if (seconds > 999999) {
    screen_short_count(ns / 1000000000, out);
    return;
  }
  snprintf(out, CELL, "%.*f", seconds < 999.995 ? 2 : seconds < 9999.95 ? 1 : 0, seconds);
}

static void print_thread(const struct report *report, const struct profile_thread *thread)
{
  const uint64_t times[] = {thread->work_ns, thread->overhead_ns, thread->lockwait_ns,
                            thread->idle_ns, thread->cpu_ns,      thread->wall_ns};
  const uint64_t counts[] = {thread->samples_idle, thread->samples_lockwait,
                             thread->lost[LOSS_MEMORY] + thread->lost[LOSS_REFUSED], thread->lost[LOSS_PARTIAL]};
  char text[CELL];
  screen_count(thread->samples, text);
  fprintf(report->stream, "%6" PRIu32 "%9s", thread->index, text);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    screen_short_count(counts[i], text);
    fprintf(report->stream, " %4s", text);
  }
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    short_seconds(times[i], text);
    fprintf(report->stream, " %6s", i < 2 && !has_time(report) ? "-" : text);
  }
  putc('\n', report->stream);
}

static void print_process(const struct report *report, const struct screen *screen,
                          const struct profile_process *process)
{
  char line[4096], fitted[SCREEN_TEXT_MAX], rank[CELL + 8] = "";
  if (process->rank >= 0)
    snprintf(rank, sizeof rank, ", rank %" PRId32, process->rank);
  snprintf(line, sizeof line, "process %" PRIu32 " on %.200s%s: %s", process->pid,
           *process->host ? process->host : "(unknown)", rank, *process->command ? process->command : "(unknown)");
  screen_fit(screen, line, screen->width, fitted);
  fprintf(report->stream, "%s\n", fitted);
}

void text_threads(const struct report *report)
{
  struct screen screen;
  screen_init(&screen, report->stream);
  fprintf(report->stream, "%15s%13s%19s%21s\n", "", "samples of:", "sampled s:", "exact s:");
  fprintf(report->stream, "%s%6s%9s%5s%5s%5s%5s%7s%7s%7s%7s%7s%7s%s\n", screen_bold(&screen), "thread", "samples",
          "idle", "lock", "drop", "part", "work", "ovhd", "lock", "idle", "cpu", "wall", screen_plain(&screen));
  const struct profile_process *last = NULL;
  for (uint32_t i = 0; i < report->thread_count; i++) {
    const struct profile_process *process;
    const struct profile_thread *thread = report_thread(report, i, &process);
    if (process != last)
      print_process(report, &screen, process);
    last = process;
    print_thread(report, thread);
  }
  fprintf(report->stream, "drop: samples lost or inside the tool; part: unwinds cut short\n");
  if (report->left_out)
    fprintf(report->stream, "%" PRIu32 " threads left out\n", report->left_out);
}
