/* The views regions and region-tree: times of constructs.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/constructs/count_columns.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDE = 100 };

/* ---- cells ---- */

static struct cell figure(const struct construct_line *line, enum construct_column column)
{
  uint64_t value;
  bool applies = construct_cell(line->entry, construct_line_figures(line), column, &value);
  return cell_applies(applies, construct_column_counts(column) ? cell_count(value) : cell_ns(value));
}

/* The time in a construct, which text shows as far as it is known. */
static struct cell time_in(const struct construct_line *line, bool exclusive)
{
  uint64_t exec;
  const struct construct_figures *figures = construct_line_figures(line);
  bool whole = construct_cell(line->entry, figures, CONSTRUCT_EXEC, &exec);
  return cell_whole(whole, cell_ns(exclusive ? construct_exclusive(line->entry->kind, figures) : exec));
}

static struct cell gain(const struct construct_line *line)
{
  if (line->row)
    return cell_empty();
  return cell_applies(line->entry->kind != DIRECTIVE_PROGRAM, cell_ns(line->entry->gain_ns));
}

/* Page faults, by the counter of -c if there is one. */
static struct cell page_faults(const struct construct_filling *filling, const struct construct_figures *figures,
                               bool usage)
{
  const struct counter_names *names = &filling->report->profile->constructs.counters;
  const struct construct_counts *counts = construct_counts_of(figures);
  uint32_t counter = counter_names_find(names, "page-faults");
  if (counter < names->count)
    return cell_optional(counters_present_has(&counts->present, counter), counts->counted[counter]);
  return cell_optional(usage, figures->page_faults);
}

static struct cell thread(const struct construct_tree *tree, const struct construct_line *line)
{
  assert(!line->row || line->row->thread < tree->threads_count);
  return line->row ? cell_count(tree->threads[line->row->thread].number) : cell_text("SUM");
}

/* The device of a construct for one. */
static struct cell device(const struct report *report, const struct construct_entry *entry)
{
  assert(entry->directive < report->profile->workspan.directives_count || !entry->directive);
  uint32_t device = entry->directive ? report->profile->workspan.directives[entry->directive].device : 0;
  if (device == DEVICE_NONE)
    return cell_text("none");
  return cell_optional(device > 0, device - 1);
}

static struct cell parent(const struct construct_tree *tree, const struct construct_entry *entry)
{
  assert(entry->parent < tree->count);
  return cell_optional(entry->depth > 0, tree->entries[entry->parent].id);
}

/* ---- tables ---- */

/* A row is a struct construct_line. */
static void fill_regions(const void *context, const void *row, struct cell *cell)
{
  const struct construct_filling *filling = context;
  const struct construct_line *line = row;
  const struct construct_entry *entry = line->entry;
  const struct construct_figures *figures = construct_line_figures(line);
  const struct construct_place place = construct_place_of(entry);
  bool sum = !line->row, program = entry->kind == DIRECTIVE_PROGRAM;
  bool usage = profile_any_usage(filling->report->profile);
  const struct region_threads *best = sum ? region_threads_of(&filling->report->region_threads, entry->region) : NULL;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/regions.def"
#undef COLUMN
}

static void fill_tree(const void *context, const void *row, struct cell *cell)
{
  const struct construct_filling *filling = context;
  const struct construct_line *line = row;
  const struct construct_entry *entry = line->entry;
  const struct construct_figures *figures = construct_line_figures(line);
  const struct construct_place place = construct_place_of(entry);
  bool sum = !line->row, program = entry->kind == DIRECTIVE_PROGRAM;
  bool usage = profile_any_usage(filling->report->profile);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/region_tree.def"
#undef COLUMN
}

static const struct table_column regions_columns[] = {
#define COLUMN COLUMN_ENTRY
#include "hpcprof-lite/report/constructs/regions.def"
#undef COLUMN
};
static const struct table_column tree_columns[] = {
#define COLUMN COLUMN_ENTRY
#include "hpcprof-lite/report/constructs/region_tree.def"
#undef COLUMN
};
const struct schema regions_schema = SCHEMA(regions_columns, fill_regions);
static const struct schema region_tree_schema = SCHEMA(tree_columns, fill_tree);

/* The name of a thread. */
static struct cell thread_name(const struct construct_filling *filling, uint32_t number)
{
  assert(number < filling->report->constructs->threads_count);
  const struct construct_tree *tree = filling->report->constructs;
  const struct construct_thread *thread = &tree->threads[number];
  const struct profile_process *process = &filling->report->profile->processes[thread->process];
  char *name = filling->room->name;
  if (tree->several)
    snprintf(name, CONSTRUCT_TEXT_MAX, "process %" PRIu32 " thread %" PRIu32, process->pid,
             process->threads[thread->thread].index);
  else
    snprintf(name, CONSTRUCT_TEXT_MAX, "thread %" PRIu32, thread->number);
  return cell_text(name);
}

static void fill_construct(const void *context, const void *row, struct cell *cell)
{
  const struct construct_filling *filling = context;
  const struct construct_line *line = row;
  const struct construct_place place = construct_place_of(line->entry);
  if (line->row)
    *cell = thread_name(filling, line->row->thread);
  else if (line->entry->kind == DIRECTIVE_PROGRAM)
    *cell = cell_text(line->entry->name);
  else
    *cell = construct_text_cell(filling, &place);
}

/* Gives the rows of entries from a number on: those of an entry's threads, then their sum. */
static int each_line(const struct report *report, uint32_t first, table_take *take, void *to)
{
  assert(report->shown || !report->constructs->count);
  const struct construct_tree *tree = report->constructs;
  int status = 0;
  for (uint32_t i = first; i < tree->count && !status; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    if (!report->shown[i])
      continue;
    for (uint32_t j = 0; j < entry->lines_count && !status; j++)
      status = take(to, &(struct construct_line){entry, &entry->lines[j]});
    if (!status)
      status = take(to, &(struct construct_line){entry, NULL});
  }
  return status;
}

static int each_region(const void *source, table_take *take, void *to)
{
  return each_line(source, 1, take, to);
}

static int each_entry(const void *source, table_take *take, void *to)
{
  return each_line(source, 0, take, to);
}

void regions_table(const struct report *report, struct table *table)
{
  table->each = each_region;
  table->source = report;
  construct_text_add(report, table, &regions_schema, "Construct", fill_construct);
  count_columns_add(table, report->profile, COUNTED_LINES);
}

void region_tree_table(const struct report *report, struct table *table)
{
  table->each = each_entry;
  table->source = report;
  construct_text_add(report, table, &region_tree_schema, "Construct", fill_construct);
  count_columns_add(table, report->profile, COUNTED_TREE_LINES);
}

/* ---- text ---- */

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
  assert(entry->lines || !entry->lines_count);
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

static void print_uneven(const struct text_table *text, const struct construct_entry *entry)
{
  const struct construct_tree *tree = text->report->constructs;
  const struct construct_row *line = NULL;
  double sum = body_and_tasks(&entry->sum), mean = sum / (entry->lines_count + !entry->lines_count);
  if (!is_divided(entry->kind) || sum * 100 < (double)construct_exec(&entry->sum) || !find_uneven(entry, mean, &line))
    return;
  const struct construct_thread *thread = &tree->threads[line->thread];
  const struct profile_process *process = &text->report->profile->processes[thread->process];
  char of[48] = "";
  if (tree->several)
    snprintf(of, sizeof of, " of process %" PRIu32, process->pid);
  terminal_wrapf(&text->terminal, text->report->stream, "        ", "        ",
                 "uneven: body and tasks of thread %" PRIu32 "%s: %.*f s; mean of %" PRIu32 " threads: %.*f s",
                 process->threads[thread->thread].index, of, (int)text->decimals, body_and_tasks(&line->figures) / 1e9,
                 entry->lines_count, (int)text->decimals, mean / 1e9);
}

/* Prints with how many threads a region would take less time, if that is shorter by at least a hundredth. */
static void print_best(const struct text_table *text, const struct construct_entry *entry)
{
  const struct region_threads *best = region_threads_of(&text->report->region_threads, entry->region);
  if (!best || best->best == best->times.threads || best->gain_s < best->times.elapsed_s / 100)
    return;
  terminal_wrapf(&text->terminal, text->report->stream, "        ", "        ",
                 "best: %" PRIu32 " thread%s instead of %.0f, %.*f s shorter (forecast)", best->best,
                 best->best == 1 ? "" : "s", best->times.threads, (int)text->decimals, best->gain_s);
}

/* Prints the rows of an entry.  tree: they are indented. */
static void print_entry(struct text_table *text, const struct construct_entry *entry, bool tree)
{
  char level[16] = "";
  const struct report *report = text->report;
  const struct construct_counts *counts = construct_counts_of(&entry->sum);
  unsigned depth = tree ? entry->depth * 2 : 0, most = text_table_room(text, 0) / 3;
  unsigned indent = MIN(depth, most);
  if (depth > most) /* the name needs the rest */
    snprintf(level, sizeof level, "%" PRIu32 ": ", entry->depth);
  text_table_row_below(text, &(struct construct_line){entry, NULL}, indent, level);
  bool below = !report->chosen_count;
  if (below && !tree) {
    print_uneven(text, entry);
    print_best(text, entry);
  }
  if (below && entry->kind != DIRECTIVE_TASK && !report->profile->range.traced)
    count_columns_text(&report->profile->constructs.counters, tree ? counts->counted_own : counts->counted,
                       &counts->present, (tree ? counts->unread_own : counts->unread) > 0, &text->terminal,
                       report->stream);
  for (uint32_t i = 0; i < entry->lines_count && report->per_thread; i++)
    text_table_row_below(text, &(struct construct_line){entry, &entry->lines[i]}, indent + 2, "");
}

/* Prints each note of the rows that are shown once. */
static void print_notes(const struct text_table *text)
{
  const struct construct_tree *tree = text->report->constructs;
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    bool known = !*entry->note || !text->report->shown[i];
    for (uint32_t j = 0; j < i && !known; j++)
      known =
          text->report->shown[j] && tree->entries[j].kind == entry->kind && !strcmp(tree->entries[j].note, entry->note);
    if (!known)
      terminal_wrapf(&text->terminal, text->report->stream, "", "", "%.30s: %.900s",
                     profile_directive_name(entry->kind), entry->note);
  }
}

static void print_legend(const struct text_table *text, bool tree)
{
  const char *inside = "Body: in its body or chunks, with the constructs in it.\n", *program = "";
  const char *uneven = "uneven: the thread farthest from the mean, if by more than a quarter.\n"
                       "best: forecast of the number of threads with which the region would be fastest.\n";
  if (tree) {
    inside = "Own: without the constructs in it.\n";
    program = "Wait of the program: threads outside any region.\n";
    uneven = "";
  }
  fprintf(text->report->stream,
          "%s"
          "< :13: in the code that is called, and inlined, at line 13 of the same file.\n"
          "Wait: at its barrier, or for tasks; Task: running tasks meanwhile.\n"
          "%s"
          "Enter: until it begins (start of a region's threads, waiting for a lock,\n"
          "creation of a task); Exit: after it.%s\n"
          "Gain: waiting and the runtime's own work, divided by the threads: the most by\n"
          "which the run could be shorter; --view overheads has the classes.\n"
          "Count: executions; in the row of a thread, those in which it took part.\n"
          "%s",
          inside, program, text_table_shows(text, "after_s") ? "" : "  Text of 100 columns has both.", uneven);
}

/* The decimals with which all times take 6 columns. */
static unsigned decimals_of(const struct construct_tree *tree, uint32_t first)
{
  uint64_t largest = 0;
  for (uint32_t i = first; i < tree->count; i++) {
    uint64_t exec = construct_exec(&tree->entries[i].sum);
    largest = MAX(exec, largest);
  }
  return construct_text_decimals(largest);
}

static void print_view(const struct report *report, table_maker *make, bool tree)
{
  struct text_table text;
  if (!report->constructs->count) {
    notes_missing(report, "Times of constructs", "online");
    return;
  }
  missing_cores_of_constructs(report);
  text_table_init(&text, report, make);
  text.plain = true;
  text.decimals = decimals_of(report->constructs, !tree);
  text_table_heading(&text);
  for (uint32_t i = 1; i < report->constructs->count && !tree; i++)
    if (report->shown[i])
      text_table_expect(&text, &(struct construct_line){&report->constructs->entries[i], NULL}, 0, "", "");
  for (uint32_t i = !tree; i < report->constructs->count; i++)
    if (report->shown[i])
      print_entry(&text, &report->constructs->entries[i], tree);
  legend_print(report, "Times are sums over all threads; Gain: what the run could save; see --legend\n",
               "Times are elapsed time, summed over all threads.  '.' is 0, or does not apply.\n"
               "Exec: in the construct, with all that its threads do in it; threads that a\n"
               "nested region adds count there only.\n");
  if (report->legend)
    print_legend(&text, tree);
  print_notes(&text);
  legend_omitted(report);
  text_table_release(&text);
}

void regions_view_text(const struct report *report)
{
  print_view(report, regions_table, false);
}

void regions_view_tree_text(const struct report *report)
{
  print_view(report, region_tree_table, true);
}
