#include "hpcprof-lite/report/constructs/regions_view.h"

#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/constructs/count_columns.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 100, FIGURES_MAX = 8, COLUMN_WIDTH = 7 };

/* ---- tables ---- */

static const char *const region_columns[] = {
    "region",     "kind",          "name",     "file",         "line",           "context_id", "thread",     "exec_s",
    "exec_count", "body_s",        "enter_s",  "exit_s",       "exit_barrier_s", "startup_s",  "shutdown_s", "task_s",
    "section_s",  "section_count", "single_s", "single_count", "executions",     "gain_s",     "note"};

static const char *const tree_columns[] = {
    "id",         "parent_id",      "depth",      "kind",       "name",   "file",      "line",
    "context_id", "thread",         "exec_count", "incl_s",     "excl_s", "body_s",    "enter_s",
    "exit_s",     "exit_barrier_s", "startup_s",  "shutdown_s", "task_s", "section_s", "section_count",
    "single_s",   "single_count",   "executions", "gain_s",     "note"};

const char *const *regions_view_headers(size_t *count)
{
  *count = sizeof region_columns / sizeof *region_columns;
  return region_columns;
}

static void figure_cell(struct row_writer *writer, const struct construct_entry *entry,
                        const struct construct_figures *figures, enum construct_column column)
{
  uint64_t value;
  if (!construct_cell(entry, figures, column, &value))
    row_writer_empty(writer);
  else if (construct_column_counts(column))
    row_writer_uint(writer, value);
  else
    row_writer_ns(writer, value);
}

/* The columns from body_s on.  Sum: of all threads, which has the last three. */
static void last_cells(struct row_writer *writer, const struct construct_entry *entry,
                       const struct construct_figures *figures, bool sum)
{
  for (enum construct_column column = CONSTRUCT_BODY; column < CONSTRUCT_COLUMNS; column++)
    figure_cell(writer, entry, figures, column);
  if (!sum || entry->kind == DIRECTIVE_PROGRAM) {
    row_writer_empty(writer);
    row_writer_empty(writer);
  } else {
    row_writer_uint(writer, figures->executions);
    row_writer_ns(writer, entry->gain_ns);
  }
  row_writer_text(writer, sum ? entry->note : NULL);
}

static void thread_cell(struct row_writer *writer, const struct construct_tree *tree, const struct construct_row *line)
{
  if (line)
    row_writer_uint(writer, tree->threads[line->thread].number);
  else
    row_writer_text(writer, "SUM");
}

/* A row of a construct: of one thread, or NULL for the sum. */
static void region_row(struct row_writer *writer, const struct construct_tree *tree,
                       const struct construct_entry *entry, const struct construct_row *line,
                       const struct count_columns *columns)
{
  const struct construct_figures *figures = line ? &line->figures : &entry->sum;
  char region[CONSTRUCT_FIGURE];
  snprintf(region, sizeof region, "R%" PRIu32, entry->region);
  row_writer_text(writer, region);
  construct_text_cells(writer, entry->kind, entry->name, entry->file, entry->line);
  construct_text_number(writer, entry->context);
  thread_cell(writer, tree, line);
  figure_cell(writer, entry, figures, CONSTRUCT_EXEC);
  figure_cell(writer, entry, figures, CONSTRUCT_COUNT);
  last_cells(writer, entry, figures, !line);
  count_columns_cells(columns, writer, entry, line);
}

int regions_view_table(const struct report *report, bool json)
{
  const struct construct_tree *list = report->constructs;
  struct row_writer writer;
  struct count_columns columns;
  count_columns_init(&columns, report->profile, COUNT_COLUMNS_EACH, region_columns,
                     sizeof region_columns / sizeof *region_columns);
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns.all, columns.count);
  for (uint32_t i = 1; i < list->count; i++) {
    const struct construct_entry *entry = &list->entries[i];
    for (uint32_t j = 0; j < entry->lines_count && report->shown[i]; j++)
      region_row(&writer, list, entry, &entry->lines[j], &columns);
    if (report->shown[i])
      region_row(&writer, list, entry, NULL, &columns);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

static void tree_row(struct row_writer *writer, const struct construct_tree *tree, uint32_t number,
                     const struct construct_row *line, const struct count_columns *columns)
{
  const struct construct_entry *entry = &tree->entries[number];
  const struct construct_figures *figures = line ? &line->figures : &entry->sum;
  row_writer_uint(writer, entry->id);
  construct_text_number(writer, number ? tree->entries[entry->parent].id : MODEL_NONE);
  row_writer_uint(writer, entry->depth);
  construct_text_cells(writer, entry->kind, entry->name, entry->file, entry->line);
  construct_text_number(writer, entry->context);
  thread_cell(writer, tree, line);
  figure_cell(writer, entry, figures, CONSTRUCT_COUNT);
  figure_cell(writer, entry, figures, CONSTRUCT_EXEC);
  uint64_t exec;
  if (construct_cell(entry, figures, CONSTRUCT_EXEC, &exec))
    row_writer_ns(writer, construct_exclusive(entry->kind, figures));
  else
    row_writer_empty(writer);
  last_cells(writer, entry, figures, !line);
  count_columns_cells(columns, writer, entry, line);
}

int regions_view_tree_table(const struct report *report, bool json)
{
  const struct construct_tree *tree = report->constructs;
  struct row_writer writer;
  struct count_columns columns;
  count_columns_init(&columns, report->profile, COUNT_COLUMNS_TREE, tree_columns,
                     sizeof tree_columns / sizeof *tree_columns);
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns.all, columns.count);
  for (uint32_t i = 0; i < tree->count; i++) {
    for (uint32_t j = 0; j < tree->entries[i].lines_count && report->shown[i]; j++)
      tree_row(&writer, tree, i, &tree->entries[i].lines[j], &columns);
    if (report->shown[i])
      tree_row(&writer, tree, i, NULL, &columns);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

/* ---- text ---- */

/* What a text view shows of each construct. */
struct layout {
  const struct report *report;
  struct terminal terminal;
  unsigned decimals;
  const char *titles[FIGURES_MAX];
  unsigned figures; /* columns */
  bool tree;
};

/* Writes the figures of a row; gain_ns: MODEL has none for a thread. */
static void print_figures(const struct layout *layout, const struct construct_entry *entry,
                          const struct construct_figures *figures, bool sum)
{
  uint64_t exclusive = construct_exclusive(entry->kind, figures);
  const uint64_t times[FIGURES_MAX] = {construct_exec(figures), layout->tree ? exclusive : figures->body,
                                       figures->wait,           figures->task,
                                       figures->enter,          figures->exit};
  char text[CONSTRUCT_FIGURE];
  for (unsigned i = 0; i + 2 < layout->figures; i++) {
    construct_text_seconds(times[i], layout->decimals, text);
    fprintf(layout->report->stream, "%*s", COLUMN_WIDTH, text);
  }
  construct_text_seconds(entry->gain_ns, layout->decimals, text);
  fprintf(layout->report->stream, "%*s", COLUMN_WIDTH, sum ? text : "");
  terminal_whole_count(sum ? figures->executions : figures->count, text);
  fprintf(layout->report->stream, "%*s  ", COLUMN_WIDTH, entry->kind == DIRECTIVE_PROGRAM ? "" : text);
}

/* The room for the name of a row. */
static unsigned name_width(const struct layout *layout, unsigned indent)
{
  return terminal_room(&layout->terminal, layout->figures * COLUMN_WIDTH + 2 + indent);
}

/* Prints the name of a thread, cut to the remaining width. */
static void print_thread(const struct layout *layout, unsigned indent, const char *name)
{
  char fitted[TERMINAL_TEXT_MAX];
  terminal_fit(&layout->terminal, name, name_width(layout, indent), fitted);
  fprintf(layout->report->stream, "%*s%s\n", (int)indent, "", fitted);
}

static void print_threads(const struct layout *layout, const struct construct_entry *entry, unsigned indent)
{
  const struct construct_tree *tree = layout->report->constructs;
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    const struct construct_thread *thread = &tree->threads[entry->lines[i].thread];
    const struct profile_process *process = &layout->report->profile->processes[thread->process];
    char name[64];
    if (tree->several)
      snprintf(name, sizeof name, "process %" PRIu32 " thread %" PRIu32, process->pid,
               process->threads[thread->thread].index);
    else
      snprintf(name, sizeof name, "thread %" PRIu32, thread->number);
    print_figures(layout, entry, &entry->lines[i].figures, false);
    print_thread(layout, indent, name);
  }
}

/* Whether all threads of a team are meant to do equal parts of a construct. */
static bool is_divided(uint32_t kind)
{
  return construct_is_region(kind) || kind == DIRECTIVE_FOR || kind == DIRECTIVE_SECTIONS ||
         kind == DIRECTIVE_TASKLOOP || kind == CONSTRUCT_DISTRIBUTE;
}

/* The time of a thread in the body of a construct, and in tasks while it waited. */
static double body_and_tasks(const struct construct_figures *figures)
{
  return (double)figures->body + (double)figures->task;
}

/* Finds the thread that is farthest from the mean; false if that is less than a quarter away, or if the threads did
 * not take part equally often, so that they cannot be compared. */
static bool find_uneven(const struct construct_entry *entry, double mean, const struct construct_row **found)
{
  double farthest = 0;
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    double busy = body_and_tasks(&entry->lines[i].figures), distance = fabs(busy - mean);
    if (entry->lines[i].figures.count != entry->lines[0].figures.count)
      return false;
    if (distance > farthest || (distance == farthest && busy > mean)) {
      farthest = distance;
      *found = &entry->lines[i];
    }
  }
  return farthest > mean / 4;
}

static void print_uneven(const struct layout *layout, const struct construct_entry *entry)
{
  const struct construct_tree *tree = layout->report->constructs;
  const struct construct_row *line = NULL;
  double sum = body_and_tasks(&entry->sum), mean = sum / (entry->lines_count + !entry->lines_count);
  if (!is_divided(entry->kind) || sum * 100 < (double)construct_exec(&entry->sum) || !find_uneven(entry, mean, &line))
    return;
  const struct construct_thread *thread = &tree->threads[line->thread];
  const struct profile_process *process = &layout->report->profile->processes[thread->process];
  char of[48] = "", text[160];
  if (tree->several)
    snprintf(of, sizeof of, " of process %" PRIu32, process->pid);
  snprintf(text, sizeof text,
           "uneven: body and tasks of thread %" PRIu32 "%s: %.*f s; mean of %" PRIu32 " threads: %.*f s",
           process->threads[thread->thread].index, of, (int)layout->decimals, body_and_tasks(&line->figures) / 1e9,
           entry->lines_count, (int)layout->decimals, mean / 1e9);
  terminal_wrap(&layout->terminal, layout->report->stream, "        ", "        ", text);
}

static void print_entry(const struct layout *layout, const struct construct_entry *entry)
{
  char name[TERMINAL_TEXT_MAX], level[16] = "";
  const struct report *report = layout->report;
  const struct construct_counts *counts = construct_counts_of(&entry->sum);
  unsigned depth = layout->tree ? entry->depth * 2 : 0, most = name_width(layout, 0) / 3;
  unsigned indent = depth < most ? depth : most;
  struct construct_place place = {profile_directive_name(entry->kind), entry->name, entry->file, entry->line};
  if (depth > most) /* the name needs the rest */
    snprintf(level, sizeof level, "%" PRIu32 ": ", entry->depth);
  print_figures(layout, entry, &entry->sum, true);
  if (entry->kind == DIRECTIVE_PROGRAM)
    terminal_fit(&layout->terminal, entry->name, name_width(layout, 0), name);
  else
    construct_text_name(&layout->terminal, &place, name_width(layout, indent + (unsigned)strlen(level)), name);
  fprintf(report->stream, "%*s%s%s\n", (int)indent, "", level, name);
  if (!layout->tree)
    print_uneven(layout, entry);
  if (entry->kind != DIRECTIVE_TASK && !report->profile->range.traced)
    count_columns_text(&report->profile->constructs.counters, layout->tree ? counts->counted_own : counts->counted,
                       &counts->present, (layout->tree ? counts->unread_own : counts->unread) > 0, &layout->terminal,
                       report->stream);
  if (report->per_thread)
    print_threads(layout, entry, indent + 2);
}

/* Prints each note of the rows that are shown once. */
static void print_notes(const struct layout *layout)
{
  const struct construct_tree *tree = layout->report->constructs;
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    bool known = !*entry->note || !layout->report->shown[i];
    for (uint32_t j = 0; j < i && !known; j++)
      known = layout->report->shown[j] && tree->entries[j].kind == entry->kind &&
              !strcmp(tree->entries[j].note, entry->note);
    char text[1024];
    snprintf(text, sizeof text, "%.30s: %.900s", profile_directive_name(entry->kind), entry->note);
    if (!known)
      terminal_wrap(&layout->terminal, layout->report->stream, "", "", text);
  }
}

/* On a narrow terminal, the names in a tree need the room of a column. */
static struct layout layout_of(const struct report *report, bool tree)
{
  struct layout layout = {
      .report = report, .titles = {"Exec s", tree ? "Own" : "Body", "Wait", "Task", "Enter", "Exit"}, .tree = tree};
  terminal_init(&layout.terminal, report->stream);
  unsigned next = layout.terminal.width >= WIDE ? 6 : tree ? 4 : 5;
  layout.titles[next++] = "Gain s";
  layout.titles[next++] = "Count";
  layout.figures = next;
  uint64_t largest = 0;
  for (uint32_t i = 0; i < report->constructs->count; i++) {
    uint64_t exec = construct_exec(&report->constructs->entries[i].sum);
    largest = (i || tree) && exec > largest ? exec : largest;
  }
  layout.decimals = construct_text_decimals(largest);
  return layout;
}

static void print_legend(const struct layout *layout)
{
  fprintf(layout->report->stream,
          "%s"
          "Wait: at its barrier, or for tasks; Task: running tasks meanwhile.\n"
          "%s"
          "Enter: until it begins (start of a region's threads, waiting for a lock,\n"
          "creation of a task); Exit: after it.%s\n"
          "Gain: waiting and the runtime's own work, divided by the threads: the most by\n"
          "which the run could be shorter; --view overheads has the classes.\n"
          "Count: executions; in the row of a thread, those in which it took part.\n"
          "%s",
          layout->tree ? "Own: without the constructs in it.\n"
                       : "Body: in its body or chunks, with the constructs in it.\n",
          layout->tree ? "Wait of the program: threads outside any region.\n" : "",
          layout->figures == FIGURES_MAX ? "" : "  Text of 100 columns has both.",
          layout->tree ? "" : "uneven: the thread farthest from the mean, if by more than a quarter.\n");
}

static void print_view(const struct report *report, bool tree)
{
  if (!report->constructs->count) {
    construct_text_missing(report);
    return;
  }
  struct layout layout = layout_of(report, tree);
  fputs(terminal_bold(&layout.terminal), report->stream);
  for (unsigned i = 0; i < layout.figures; i++)
    fprintf(report->stream, "%*s", COLUMN_WIDTH, layout.titles[i]);
  fprintf(report->stream, "  Construct%s\n", terminal_plain(&layout.terminal));
  for (uint32_t i = !tree; i < report->constructs->count; i++)
    if (report->shown[i])
      print_entry(&layout, &report->constructs->entries[i]);
  legend_print(report, "Times are sums over all threads; Gain: what the run could save; see --legend\n",
               "Times are elapsed time, summed over all threads.  '.' is 0, or does not apply.\n"
               "Exec: in the construct, with all that its threads do in it; threads that a\n"
               "nested region adds count there only.\n");
  if (report->legend)
    print_legend(&layout);
  print_notes(&layout);
  legend_omitted(report);
}

void regions_view_text(const struct report *report)
{
  print_view(report, false);
}

void regions_view_tree_text(const struct report *report)
{
  print_view(report, true);
}
