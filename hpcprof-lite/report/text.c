#include "hpcprof-lite/report/text.h"

#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>
#include <string.h>

enum { EVENTS_SHOWN = 2, CELL = 16, PLACE_MAX = 32 };

/* How one tree is laid out. */
struct layout {
  struct terminal terminal;
  unsigned name_at, name_width; /* columns                                    */
  unsigned decimals;
  unsigned step; /* columns of indentation for each level      */
  bool time, own_percent, overhead, lockwait, idleness, critical;
  bool narrow;     /* columns are left out for want of width     */
  uint32_t events; /* further events shown, beside a time        */
  bool few;        /* some figure was marked                     */
};

/* What the weight column holds where no time was measured. */
static const char *weight_name(const struct tree_columns *columns)
{
  return columns->events_count ? columns->columns[columns->events[0]].name : "samples";
}

/* Columns that stand before the name. */
static unsigned figures_width(const struct layout *layout)
{
  unsigned percentages =
      1 + layout->own_percent + layout->overhead + layout->lockwait + 2 * layout->idleness + layout->critical;
  return 2 * (8 + 1) + 6 * percentages + 8 * layout->events + 2;
}

/* Leaves out what is missed least until names have three eighths of the screen: 30 of 80 columns. */
static void fit_columns(struct layout *layout)
{
  unsigned most = layout->terminal.width - layout->terminal.width * 3 / 8;
  layout->own_percent = figures_width(layout) + 6 <= most;
  while (figures_width(layout) > most &&
         (layout->events || layout->critical || layout->overhead || layout->lockwait || layout->idleness)) {
    layout->narrow = true;
    if (layout->events)
      layout->events--;
    else if (layout->critical)
      layout->critical = false;
    else if (layout->overhead)
      layout->overhead = false;
    else if (layout->lockwait)
      layout->lockwait = false;
    else
      layout->idleness = false;
  }
  layout->name_at = figures_width(layout);
  layout->name_width = layout->terminal.width - layout->name_at;
}

static void layout_init(const struct report *report, struct layout *layout)
{
  const struct tree *tree = report->tree;
  const struct tree_columns *columns = report->columns;
  *layout = (struct layout){.time = tree_has_time(columns)};
  terminal_init(&layout->terminal, report->stream);
  layout->overhead = tree_incl(tree, 0, columns->overhead) != 0;
  layout->lockwait = tree_incl(tree, 0, columns->lockwait) != 0;
  layout->idleness = tree_incl(tree, 0, columns->idleness) != 0;
  layout->critical = tree_incl(tree, 0, columns->critical) != 0;
  layout->decimals = terminal_decimals(tree_weight(tree, columns, 0, true));
  layout->events = layout->time ? columns->events_count : 0;
  if (layout->events > EVENTS_SHOWN)
    layout->events = EVENTS_SHOWN;
  fit_columns(layout);
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < tree->count; i++)
    if (report->shown[i] && tree->rows[i].depth > deepest)
      deepest = tree->rows[i].depth;
  layout->step = deepest * 4 > layout->name_width ? 1 : 2;
}

static void weight_text(const struct layout *layout, uint64_t value, char out[CELL])
{
  if (layout->time)
    terminal_seconds(value, layout->decimals, out);
  else
    terminal_count(value, out);
}

/* Mark of a figure that rests on few samples; `value`: all that they stand for. */
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
  char name[TERMINAL_TEXT_MAX];
  fputs(terminal_bold(&layout->terminal), stream);
  fprintf(stream, "%8s %6s%8s ", layout->time ? "total s" : "total", "%", layout->time ? "own s" : "own");
  fprintf(stream, "%s%s%s%s%s", layout->own_percent ? "     %" : "", layout->overhead ? "  ovh%" : "",
          layout->lockwait ? " lock%" : "", layout->idleness ? " idle%  rel%" : "", layout->critical ? " path%" : "");
  for (uint32_t i = 0; i < layout->events; i++) {
    terminal_fit(&layout->terminal, columns->columns[columns->events[i]].name, 7, name);
    fprintf(stream, " %7s", name);
  }
  if (layout->time)
    fputs("  name", stream);
  else
    fprintf(stream, "  name (figures: %.40s)", weight_name(columns));
  fprintf(stream, "%s\n", terminal_plain(&layout->terminal));
}

static void print_percent(const struct report *report, uint64_t part, uint64_t whole)
{
  char percent[CELL];
  terminal_percent(part, whole, percent);
  fprintf(report->stream, "%6s", percent);
}

/* Most rows make nobody wait: then a dot, so that the others are seen. */
static void print_waiting(const struct report *report, uint64_t part, uint64_t whole)
{
  if (part)
    print_percent(report, part, whole);
  else
    fprintf(report->stream, "%6s", ".");
}

/* Time that threads spent in the row itself, and shares of the time of all threads: so the root's shares of spent time,
 * lock wait and idleness are 100 % together. */
static void print_figures(const struct report *report, struct layout *layout, uint32_t row)
{
  const struct tree *tree = report->tree;
  const struct tree_columns *columns = report->columns;
  uint64_t whole = tree_weight(tree, columns, 0, true);
  for (int i = 0; i < 2; i++) {
    bool inclusive = i == 0;
    uint64_t value = tree_spent(tree, columns, row, inclusive), weight = tree_weight(tree, columns, row, inclusive);
    uint64_t samples = inclusive ? tree_incl(tree, row, columns->samples) : tree_excl(tree, row, columns->samples);
    char figure[CELL];
    weight_text(layout, value, figure);
    fprintf(report->stream, "%8s%c", figure, few_mark(layout, report, weight, samples));
    if (inclusive || layout->own_percent)
      print_percent(report, value, whole);
  }
  if (layout->overhead)
    print_percent(report, tree_incl(tree, row, columns->overhead), whole);
  if (layout->lockwait)
    print_waiting(report, tree_incl(tree, row, columns->lockwait), whole);
  if (layout->idleness) {
    uint64_t idle = tree_incl(tree, row, columns->idleness);
    print_waiting(report, idle, whole);
    print_waiting(report, idle, tree_weight(tree, columns, row, true));
  }
  if (layout->critical)
    print_waiting(report, tree_incl(tree, row, columns->critical), tree_incl(tree, 0, columns->critical));
  for (uint32_t i = 0; i < layout->events; i++) {
    char percent[CELL];
    uint32_t event = columns->events[i];
    terminal_percent(tree_incl(tree, row, event), tree_incl(tree, 0, event), percent);
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
  const struct terminal *terminal = &layout->terminal;
  char space[512], name[TERMINAL_TEXT_MAX], place[TERMINAL_TEXT_MAX] = "", text[4096] = "";
  unsigned used = indent(layout, row->depth, space, sizeof space);
  unsigned room = layout->name_width > used ? layout->name_width - used : 1;
  unsigned width = terminal_fit(terminal, row->name, room, name), place_width = 0;
  bool own_place = row->kind == ROW_FUNCTION || row->kind == ROW_INLINED;
  if (own_place && row->file[0] && row->line) {
    snprintf(text, sizeof text, "%s:%" PRIu32, names_base(row->file), row->line);
    place_width = terminal_fit(terminal, text, PLACE_MAX, place);
  }
  fprintf(report->stream, "  %s%s", space, name);
  if (place_width && width + 2 + place_width <= room)
    fprintf(report->stream, "%*s%s%s%s", (int)(room - width - place_width), "", terminal_dim(terminal), place,
            terminal_plain(terminal));
  putc('\n', report->stream);
}

/* What the columns of waiting mean. */
static void explain_waiting(const struct report *report, const struct layout *layout)
{
  static const char *const against[] = {[BASELINE_THREAD] = "the most threads ever in use at once (--idleness thread)",
                                        [BASELINE_CORE] = "the cores that the process may use (--idleness core)",
                                        [BASELINE_SHARED] = "the threads in use at the time (--idleness shared)"};
  char all[CELL];
  terminal_seconds(tree_weight(report->tree, report->columns, 0, true), layout->decimals, all);
  fprintf(report->stream, "s: time spent here; %%: shares of the time of all threads together, %s s\n", all);
  if (layout->lockwait)
    fprintf(report->stream, "lock%%: time that others waited for a lock until it was released here\n");
  if (layout->idleness)
    fprintf(report->stream,
            "idle%%: time that threads were idle while this ran, counted against\n"
            "       %s\n"
            "rel%%: idleness in %% of the row's own work, overhead, lock wait and idleness;\n"
            "      look first where idle%% and rel%% are both high\n",
            against[report->baseline]);
  if (layout->critical)
    fprintf(report->stream, "path%%: share of the critical path, the longest chain of work\n");
}

static void print_footnotes(const struct report *report, const struct layout *layout)
{
  if (layout->lockwait || layout->idleness || layout->critical)
    explain_waiting(report, layout);
  if (layout->narrow)
    fprintf(report->stream, "some columns are left out for want of width: -f csv has all\n");
  if (layout->few)
    fprintf(report->stream, "* fewer than %d samples: relative error above 22 %%\n", PROFILE_FEW_SAMPLES);
  if (!report->left_out)
    return;
  fprintf(report->stream, "%" PRIu32 " row%s left out", report->left_out, report->left_out == 1 ? "" : "s");
  if (report->percent_limit > 0)
    fprintf(report->stream, ", those below %g %% among them: --percent-limit 0 shows all", report->percent_limit);
  putc('\n', report->stream);
}

/* An amount of work in the unit of the graph. */
static void path_figure(const struct report *report, const struct layout *layout, uint64_t amount, char out[CELL])
{
  if (report->profile->workspan.is_time)
    terminal_seconds(amount, layout->decimals, out);
  else
    terminal_count(amount, out);
}

static void print_path_row(const struct report *report, const struct layout *layout, uint32_t row)
{
  const struct tree *tree = report->tree;
  uint32_t column = report->columns->critical;
  for (int i = 0; i < 2; i++) {
    uint64_t amount = i ? tree_excl(tree, row, column) : tree_incl(tree, row, column);
    char figure[CELL], percent[CELL];
    path_figure(report, layout, amount, figure);
    terminal_percent(amount, tree_incl(tree, 0, column), percent);
    fprintf(report->stream, "%8s %6s%s", figure, percent, i ? "" : " ");
  }
  print_name(report, layout, row);
}

/* What the critical path consists of, as a tree: like text_tree(), with the path's figures instead of time. */
void text_critical_path(const struct report *report)
{
  struct layout layout;
  char span[CELL];
  if (!report->profile->workspan.known) {
    parallelism_missing(report);
    return;
  }
  const char *unit = report->profile->workspan.is_time ? "s" : "units";
  layout_init(report, &layout);
  layout.name_at = 33;
  layout.name_width = layout.terminal.width - layout.name_at;
  uint64_t whole = tree_incl(report->tree, 0, report->columns->critical);
  layout.decimals = terminal_decimals(whole);
  char total[CELL], own[CELL];
  snprintf(total, sizeof total, "path %s", unit);
  snprintf(own, sizeof own, "own %s", unit);
  fprintf(report->stream, "%s%8s %6s %8s %6s  name%s\n", terminal_bold(&layout.terminal), *unit == 's' ? total : "path",
          "%", *unit == 's' ? own : "own", "%", terminal_plain(&layout.terminal));
  for (uint32_t i = 0; i < report->tree->count; i++)
    if (report->shown[report->tree->order[i]])
      print_path_row(report, &layout, report->tree->order[i]);
  path_figure(report, &layout, whole, span);
  fprintf(report->stream,
          "The longest chain of work that one thing after another had to wait for:\n"
          "%%: share of all that is shown, %s %.20s\n",
          span, report->profile->workspan.is_time ? "s" : report->profile->workspan.unit);
  if (report->left_out)
    fprintf(report->stream, "rows off the path or below %g %% of it are left out\n", report->percent_limit);
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

/* Seconds in 9 columns, whatever their size. */
static void real_seconds(double seconds, char out[CELL])
{
  snprintf(out, CELL, seconds < 99999 ? "%.3f" : "%.3g", seconds);
}

/* Where the time of all threads went. */
static void print_split(const struct report *report, const struct terminal *terminal)
{
  static const char *const meaning[EFFICIENCY_PARTS] = {[EFFICIENCY_WHOLE] = "threads x elapsed time",
                                                        [EFFICIENCY_WORK] = "work of this run (sampled)",
                                                        [EFFICIENCY_WORK_ONE] = "of the run with one thread",
                                                        [EFFICIENCY_INFLATION] = "more work than with one thread",
                                                        [EFFICIENCY_OVERHEAD] = "in the OpenMP runtime (sampled)",
                                                        [EFFICIENCY_IDLENESS] = "the rest: waiting of every kind",
                                                        [EFFICIENCY_LOCKWAIT] = "of it: for locks (exact)"};
  const struct efficiency_split *split = &report->efficiency.split;
  if (!split->known)
    return;
  fprintf(report->stream, "\n%s%-21s %10s %9s  %s%s\n", terminal_bold(terminal), "time of all threads", "seconds",
          "gain s", "what it is", terminal_plain(terminal));
  for (int i = 0; i < EFFICIENCY_PARTS; i++) {
    char part[CELL], gain[CELL] = "";
    bool compared = i == EFFICIENCY_WORK_ONE || i == EFFICIENCY_INFLATION;
    int indent = i == EFFICIENCY_WHOLE ? 0 : compared || i == EFFICIENCY_LOCKWAIT ? 4 : 2;
    if (compared && !split->compared)
      continue;
    real_seconds(split->part_s[i], part);
    if (i >= EFFICIENCY_INFLATION)
      real_seconds(split->gain_s[i], gain);
    fprintf(report->stream, "%*s%-*s %10s %9s  %s\n", indent, "", 21 - indent, efficiency_part_name(i), part, gain,
            meaning[i]);
  }
  fprintf(report->stream, "thread_time = work + overhead_time + idleness_time\n%s",
          split->compared ? "work = work_one_thread + work_inflation\n" : "");
  if (!split->compared)
    fprintf(report->stream, "Work at one thread is not known: give also the directory of a run of the same\n"
                            "command with OMP_NUM_THREADS=1.\n");
}

void text_efficiency(const struct report *report)
{
  static const char *const meaning[EFFICIENCY_COUNT] = {[EFFICIENCY_PARALLEL] = "all that is said below",
                                                        [EFFICIENCY_BALANCE] = "idle in regions: uneven work",
                                                        [EFFICIENCY_SERIAL] = "idle while one thread runs serially",
                                                        [EFFICIENCY_LOCK] = "locks and critical sections",
                                                        [EFFICIENCY_RUNTIME] = "the OpenMP runtime's work (sampled)"};
  const struct efficiency *efficiency = &report->efficiency;
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  if (!efficiency->known) {
    fprintf(report->stream, "No efficiencies: OpenMP's threads and regions were not timed in this run: it has\n"
                            "none, its runtime offers no OMPT, or it ended before any region did.\n");
    return;
  }
  char whole[CELL];
  real_seconds(efficiency->thread_s, whole);
  if (efficiency->threads)
    fprintf(report->stream, "%" PRIu32 " process%s of %" PRIu32 " thread%s: ", efficiency->processes,
            efficiency->processes == 1 ? "" : "es", efficiency->threads, efficiency->threads == 1 ? "" : "s");
  fprintf(report->stream, "%s thread-seconds\n", whole);
  fprintf(report->stream, "%s%-21s %10s %9s  %s%s\n", terminal_bold(&terminal), "", "efficiency", "gain s", "lost to",
          terminal_plain(&terminal));
  for (int i = 0; i < EFFICIENCY_COUNT; i++) {
    char gain[CELL];
    real_seconds(efficiency->gain_s[i], gain);
    fprintf(report->stream, "%s%-*s %8.1f %% %9s  %s\n", i ? "  " : "", i ? 19 : 21, efficiency_name(i),
            100 * efficiency->value[i], gain, meaning[i]);
  }
  fprintf(report->stream, "thread-seconds: threads x elapsed time; efficiency: the part that is not lost\n"
                          "gain s: elapsed time that the run would be shorter without that loss, at most\n"
                          "The losses, 100 %% - efficiency, add up to parallel_efficiency's; POP's metrics.\n");
  print_split(report, &terminal);
}
