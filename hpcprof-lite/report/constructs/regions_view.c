#include "hpcprof-lite/report/constructs/regions_view.h"

#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 100, FIGURES_MAX = 8, COLUMN_WIDTH = 7, INDENT_MOST = 20 };

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

static void thread_cell(struct row_writer *writer, const struct construct_tree *tree, const struct construct_line *line)
{
  if (line)
    row_writer_uint(writer, tree->threads[line->thread].number);
  else
    row_writer_text(writer, "SUM");
}

/* A row of a construct: of one thread, or NULL for the sum. */
static void region_row(struct row_writer *writer, const struct construct_tree *tree,
                       const struct construct_entry *entry, const struct construct_line *line)
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
}

int regions_view_table(const struct report *report, bool json)
{
  const struct construct_tree *list = report->constructs;
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, region_columns, sizeof region_columns / sizeof *region_columns);
  for (uint32_t i = 1; i < list->count; i++) {
    const struct construct_entry *entry = &list->entries[i];
    for (uint32_t j = 0; j < entry->lines_count && report->shown[i]; j++)
      region_row(&writer, list, entry, &entry->lines[j]);
    if (report->shown[i])
      region_row(&writer, list, entry, NULL);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

static void tree_row(struct row_writer *writer, const struct construct_tree *tree, uint32_t number,
                     const struct construct_line *line)
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
}

int regions_view_tree_table(const struct report *report, bool json)
{
  const struct construct_tree *tree = report->constructs;
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, tree_columns, sizeof tree_columns / sizeof *tree_columns);
  for (uint32_t i = 0; i < tree->count; i++) {
    for (uint32_t j = 0; j < tree->entries[i].lines_count && report->shown[i]; j++)
      tree_row(&writer, tree, i, &tree->entries[i].lines[j]);
    if (report->shown[i])
      tree_row(&writer, tree, i, NULL);
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
  terminal_short_count(sum ? figures->executions : figures->count, text);
  fprintf(layout->report->stream, "%*s  ", COLUMN_WIDTH, entry->kind == DIRECTIVE_PROGRAM ? "" : text);
}

/* The room for the name of a row. */
static unsigned name_width(const struct layout *layout, unsigned indent)
{
  return layout->terminal.width - layout->figures * COLUMN_WIDTH - 2 - indent;
}

/* Prints the name of a row, cut to the remaining width. */
static void print_name(const struct layout *layout, unsigned indent, const char *name)
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
    print_name(layout, indent, name);
  }
}

/* Whether all threads of a team are meant to do equal parts of a construct. */
static bool is_divided(uint32_t kind)
{
  return construct_is_region(kind) || kind == DIRECTIVE_FOR || kind == DIRECTIVE_SECTIONS ||
         kind == DIRECTIVE_TASKLOOP || kind == CONSTRUCT_DISTRIBUTE;
}

/* Prints which thread differs from the mean by more than a quarter, in what it does between entry and barrier. */
static void print_imbalance(const struct layout *layout, const struct construct_entry *entry, unsigned indent)
{
  const struct construct_tree *tree = layout->report->constructs;
  double sum = (double)entry->sum.body + (double)entry->sum.task,
         mean = sum / (entry->lines_count + !entry->lines_count);
  double farthest = 0;
  uint32_t which = 0;
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    double busy = (double)entry->lines[i].figures.body + (double)entry->lines[i].figures.task;
    double distance = busy > mean ? busy - mean : mean - busy;
    if (distance > farthest || (distance == farthest && busy > mean)) {
      farthest = distance;
      which = i;
    }
  }
  if (!is_divided(entry->kind) || entry->lines_count < 2 || farthest <= mean / 4 ||
      sum * 100 < (double)construct_exec(&entry->sum))
    return;
  const struct construct_figures *figures = &entry->lines[which].figures;
  const struct construct_thread *thread = &tree->threads[entry->lines[which].thread];
  char of[48] = "", text[160];
  if (tree->several)
    snprintf(of, sizeof of, " of process %" PRIu32, layout->report->profile->processes[thread->process].pid);
  double busy = (double)figures->body + (double)figures->task;
  snprintf(text, sizeof text, "uneven: thread %" PRIu32 "%s is busy for %.*f s, the mean of %" PRIu32 " is %.*f s",
           layout->report->profile->processes[thread->process].threads[thread->thread].index, of, (int)layout->decimals,
           busy / 1e9, entry->lines_count, (int)layout->decimals, mean / 1e9);
  char before[64];
  snprintf(before, sizeof before, "%*s", (int)(indent + 8), "");
  terminal_wrap(&layout->terminal, layout->report->stream, before, before, text);
}

static void print_entry(const struct layout *layout, const struct construct_entry *entry)
{
  char place[CONSTRUCT_TEXT_MAX];
  const struct report *report = layout->report;
  unsigned depth = layout->tree ? entry->depth * 2 : 0, indent = depth < INDENT_MOST ? depth : INDENT_MOST;
  const char *kind = profile_directive_name(entry->kind);
  construct_text_place(kind, entry->name, entry->file, entry->line, place);
  if (*entry->file && entry->line && strlen(place) > name_width(layout, indent))
    construct_text_place(kind, "", entry->file, entry->line, place); /* the place says more than the function */
  print_figures(layout, entry, &entry->sum, true);
  print_name(layout, indent, entry->kind == DIRECTIVE_PROGRAM ? entry->name : place);
  if (!layout->tree)
    print_imbalance(layout, entry, indent);
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
  legend_print(report, "Times of all threads together; Gain: losses / threads; see --legend\n",
               tree ? "Exec: time of all threads in the construct, with all that it contains.\n"
                      "Own: without the constructs in it.\n"
                    : "Exec: time of all threads in the construct, with all that it contains.\n"
                      "Body: in its body or chunks, with the constructs in it.\n");
  if (report->legend)
    fputs("Wait: at its barrier, or for tasks; Task: running tasks meanwhile.\n"
          "Enter: until it begins (start of a region's threads, waiting for a lock,\n"
          "creation of a task); Exit: after it.  A terminal of 100 columns shows both.\n"
          "Gain: waiting and the runtime's own work, divided by the threads: how much\n"
          "shorter the run could be; --view overheads has the classes.\n"
          "Count: executions as the program counts them; of threads, how many of them\n"
          "the thread took part in.\n",
          report->stream);
  print_notes(&layout);
  construct_text_omitted(report);
}

void regions_view_text(const struct report *report)
{
  print_view(report, false);
}

void regions_view_tree_text(const struct report *report)
{
  print_view(report, true);
}
