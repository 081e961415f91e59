#include "hpcprof-lite/report/text.h"

#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>
#include <string.h>

enum { EVENTS_SHOWN = 2, CELL = 16, PLACE_MAX = 32 };

/* Layout of one tree. */
struct layout {
  struct terminal terminal;
  unsigned name_at, name_width; /* columns                                    */
  unsigned decimals;
  unsigned step; /* columns of indentation for each level      */
  bool time, own_percent, overhead, lockwait, idleness, critical;
  bool narrow;     /* columns are omitted because of the width   */
  uint32_t events; /* further events that are shown              */
  bool few;        /* some figure is marked                      */
  bool unsampled;  /* times of processes without samples are in  */
};

/* What the first columns hold where no time was measured. */
static const char *weight_name(const struct tree_columns *columns)
{
  return columns->events_count ? columns->columns[columns->events[0]].name : "samples";
}

/* Width of the columns before the name. */
static unsigned figures_width(const struct layout *layout)
{
  unsigned percentages =
      1 + layout->own_percent + layout->overhead + layout->lockwait + 2 * layout->idleness + layout->critical;
  return 2 * (8 + 1) + 6 * percentages + 8 * layout->events + 2;
}

/* Omits the least important columns until names have three eighths of the width: 30 of 80 columns. */
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

struct text_columns text_columns_of(const struct tree *tree, const struct tree_columns *columns)
{
  bool time = tree_has_time(columns);
  uint32_t events = time ? columns->events_count : 0;
  return (struct text_columns){.time = time,
                               .overhead = tree_incl(tree, 0, columns->overhead) != 0,
                               .lockwait = tree_incl(tree, 0, columns->lockwait) != 0,
                               .idleness = tree_incl(tree, 0, columns->idleness) != 0,
                               .critical = tree_incl(tree, 0, columns->critical) != 0,
                               .events = events < EVENTS_SHOWN ? events : EVENTS_SHOWN,
                               .decimals = terminal_decimals(tree_weight(tree, columns, 0, true))};
}

static void layout_init(const struct report *report, struct layout *layout)
{
  const struct tree *tree = report->tree;
  struct text_columns shown = text_columns_of(tree, report->columns);
  *layout = (struct layout){.time = shown.time,
                            .overhead = shown.overhead,
                            .lockwait = shown.lockwait,
                            .idleness = shown.idleness,
                            .critical = shown.critical,
                            .events = shown.events,
                            .decimals = shown.decimals};
  for (uint32_t i = 0; i < report->profile->processes_usable; i++)
    layout->unsampled |= profile_unsampled(&report->profile->processes[i]);
  terminal_init(&layout->terminal, report->stream);
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

/* Returns the mark of a figure that is based on few samples; `value`: the weight that they stand for. */
static char few_mark(struct layout *layout, const struct report *report, uint64_t value, uint64_t samples)
{
  bool exact = !samples && layout->unsampled;
  if (report->columns->samples == MODEL_NONE || !value || exact || samples >= MODEL_FEW_SAMPLES)
    return ' ';
  layout->few = true;
  return '*';
}

static void print_header(const struct report *report, const struct layout *layout)
{
  const struct tree_columns *columns = report->columns;
  char name[TERMINAL_TEXT_MAX], line[4096];
  size_t length = (size_t)snprintf(line, sizeof line, "%8s %6s%8s ", layout->time ? "Incl s" : "Incl", "%",
                                   layout->time ? "Self s" : "Self");
  length += (size_t)snprintf(line + length, sizeof line - length, "%s%s%s%s%s", layout->own_percent ? "     %" : "",
                             layout->overhead ? " Ovhd%" : "", layout->lockwait ? " Lock%" : "",
                             layout->idleness ? " Idle%  Rel%" : "", layout->critical ? " Crit%" : "");
  for (uint32_t i = 0; i < layout->events; i++) {
    terminal_fit(&layout->terminal, columns->columns[columns->events[i]].name, 7, name);
    if (length < sizeof line)
      length += (size_t)snprintf(line + length, sizeof line - length, " %7s", name);
  }
  if (layout->time && length < sizeof line)
    snprintf(line + length, sizeof line - length, "  Name");
  else if (length < sizeof line)
    snprintf(line + length, sizeof line - length, "  Name (figures: %.40s)", weight_name(columns));
  category_heading(&layout->terminal, report->stream, line);
}

static void print_percent(const struct report *report, uint64_t part, uint64_t whole)
{
  char percent[CELL];
  terminal_percent(part, whole, percent);
  fprintf(report->stream, "%6s", percent);
}

/* A dot instead of 0, so that the rows that cause waiting stand out. */
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

/* Indentation of a row; if it would leave too little room for the name, the depth is printed as a number. */
static unsigned indent(const struct layout *layout, uint32_t depth, char *out, size_t size)
{
  unsigned most = layout->name_width / 2;
  if (depth * (uint64_t)layout->step <= most)
    return (unsigned)snprintf(out, size, "%*s", (int)(depth * layout->step), "");
  char number[CELL];
  int length = snprintf(number, sizeof number, "%" PRIu32 "> ", depth);
  return (unsigned)snprintf(out, size, "%*s%s", (int)most > length ? (int)most - length : 0, "", number);
}

/* Prints the name, and the source line at the right edge if there is room for it. */
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

static void print_legend(const struct report *report, const struct layout *layout)
{
  static const char *const against[] = {[BASELINE_THREAD] = "the most threads ever in use at once (--idleness thread)",
                                        [BASELINE_CORE] = "the cores that the process may use (--idleness core)",
                                        [BASELINE_SHARED] = "the threads in use at the time (--idleness shared)"};
  char all[CELL], line[128], full[1024];
  if (!layout->time)
    return;
  terminal_seconds(tree_weight(report->tree, report->columns, 0, true), layout->decimals, all);
  snprintf(line, sizeof line, "Percentages are of the time of all threads, %s s%s; see --legend\n", all,
           layout->idleness ? ";\nRel% is of the row's own time" : "");
  int length =
      snprintf(full, sizeof full,
               "Incl s: time spent in the function and all that it calls; Self s: in itself.\n"
               "%%: share of the time of all threads together, %s s.\n"
               "%s%s",
               all, layout->overhead ? "Ovhd%: time in the OpenMP runtime.\n" : "",
               layout->lockwait ? "Lock%: time that threads waited for a lock until it was released here.\n" : "");
  if (layout->idleness)
    length += snprintf(full + length, sizeof full - (size_t)length,
                       "Idle%%: time that threads were idle while this code ran, counted against\n"
                       "       %s.\n"
                       "Rel%%: idleness as a share of the row's own work, overhead, lock waiting and\n"
                       "      idleness; look first where Idle%% and Rel%% are both high.\n",
                       against[report->baseline]);
  if (layout->critical)
    snprintf(full + length, sizeof full - (size_t)length,
             "Crit%%: share of the critical path, the longest chain of dependent work.\n");
  legend_print(report, line, full);
}

static void print_footnotes(const struct report *report, const struct layout *layout)
{
  print_legend(report, layout);
  if (layout->narrow)
    fprintf(report->stream, "Some columns need more width than there is; -f csv has all of them.\n");
  if (layout->few)
    fprintf(report->stream, "* fewer than %d samples: relative error above 22 %%.\n", MODEL_FEW_SAMPLES);
  legend_omitted(report);
}

/* An amount of work in the unit of the run. */
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

void text_critical_path(const struct report *report)
{
  struct layout layout;
  char span[CELL];
  if (!report->profile->workspan.known) {
    parallelism_missing(report, "Work and span", "online");
    return;
  }
  const char *unit = report->profile->workspan.is_time ? "s" : "units";
  layout_init(report, &layout);
  layout.name_at = 33;
  layout.name_width = layout.terminal.width - layout.name_at;
  uint64_t whole = tree_incl(report->tree, 0, report->columns->critical);
  layout.decimals = terminal_decimals(whole);
  char total[CELL], own[CELL];
  snprintf(total, sizeof total, "Incl %s", unit);
  snprintf(own, sizeof own, "Self %s", unit);
  fprintf(report->stream, "%s%8s %6s %8s %6s  Name%s\n", terminal_bold(&layout.terminal), *unit == 's' ? total : "Incl",
          "%", *unit == 's' ? own : "Self", "%", terminal_plain(&layout.terminal));
  for (uint32_t i = 0; i < report->tree->count; i++)
    if (report->shown[report->tree->order[i]])
      print_path_row(report, &layout, report->tree->order[i]);
  path_figure(report, &layout, whole, span);
  char line[128], full[256];
  unit = report->profile->workspan.is_time ? "s" : report->profile->workspan.unit;
  snprintf(line, sizeof line, "%%: of the critical path, %s %.20s; see --legend\n", span, unit);
  snprintf(full, sizeof full,
           "The critical path is the longest chain of work of which each part waits for the\n"
           "one before.  Incl: of the function and all that it calls; Self: of itself.\n"
           "%%: share of the whole, %s %.20s.\n",
           span, unit);
  legend_print(report, line, full);
  if (report->left_out)
    fprintf(report->stream, "Rows off the critical path or below %g %% of it are omitted.\n", report->percent_limit);
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
