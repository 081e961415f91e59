#include "hpcprof-lite/comparison/compare_lists.h"

#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/comparison/metric_choice.h"
#include "hpcprof-lite/comparison/run_map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A view that is a list. */
struct listed {
  enum options_view view;
  const char *keys;           /* names of the columns that identify a row, separated by spaces */
  const char *metric;         /* compared by default */
  const char *weight;         /* by which rows that are equal in the metric are sorted; NULL: by what identifies them */
  const char *lacks;          /* what was not measured if there is no list */
  bool numbered, all_figures; /* see struct compare_list; all are shown, and tested together */
};

static const struct listed *find(enum options_view view)
{
  static const struct listed lists[] = {
      {OPTIONS_REGIONS, "kind name file thread", "exec_s", "exec_s", "times of constructs", false, false},
      {OPTIONS_OVERHEADS, "kind name file", "total_s", "total_s", "times of constructs", false, false},
      {OPTIONS_TASKS, "kind name file", "exec_s", "exec_s", "times of constructs", false, false},
      {OPTIONS_PARALLELISM, "kind name file unit", "span", "work", "work and span", false, false},
      {OPTIONS_THREADS, "rank process thread", "cpu_s", NULL, NULL, true, true}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (lists[i].view == view)
      return &lists[i];
  return NULL;
}

bool compare_lists_has(enum options_view view)
{
  return find(view);
}

/* ---- runs ---- */

/* Whether a run has measured what the view lists. */
static bool is_measured(const struct job *run)
{
  switch (run->options.view) {
  case OPTIONS_PARALLELISM:
    return run->profile.workspan.known;
  case OPTIONS_OVERHEADS:
    return run->report.overheads.count;
  case OPTIONS_REGIONS:
  case OPTIONS_TASKS:
    return run->report.constructs->count;
  default:
    return true;
  }
}

int compare_lists_load(struct job *run, view_pipeline *pipeline)
{
  run->options.format = OPTIONS_CSV; /* with all rows */
  run->options.percent_limit = 0;
  run->options.max_rows = 0;
  int status = pipeline(run);
  for (uint32_t i = 0; i < run->construct_list.count; i++)
    run->construct_list.entries[i].lines_count = 0; /* sums over threads are compared */
  if (status || is_measured(run))
    return status;
  job_print_error("view '%s' cannot be compared: %s was measured without %s; see hpcrun-lite -p",
                  run->options.view_name, run->options.directories[0], find(run->options.view)->lacks);
  return EXIT_INPUT;
}

static int add_runs(struct comparison *comparison, table_maker *make)
{
  for (int side = 0; side < COMPARE_SIDES; side++) {
    comparison->tables[side] = calloc((size_t)comparison->counts[side] + 1, sizeof **comparison->tables);
    if (!comparison->tables[side])
      return ERR_NOMEM;
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      struct table *table = &comparison->tables[side][i];
      if (make(&comparison->runs[side][i].report, table) || compare_list_add(&comparison->list, side, table))
        return ERR_NOMEM;
    }
  }
  return 0;
}

/* Finds what a sample stands for in the columns that are sampled. */
static void set_samples(struct comparison *comparison)
{
  for (int side = 0; side < COMPARE_SIDES; side++) {
    const struct job *run = &comparison->runs[side][0];
    const struct {
      const char *name;
      uint32_t column;
    } sampled[] = {
        {"samples", run->columns.samples}, {"work_s", run->columns.work}, {"overhead_s", run->columns.overhead}};
    for (size_t i = 0; i < sizeof sampled / sizeof *sampled; i++) {
      uint32_t number = compare_list_column(&comparison->list, sampled[i].name);
      if (number != MODEL_NONE && (!i || sampled[i].column != MODEL_NONE))
        comparison->list.samples[number][side] = i ? amounts_of(run, sampled[i].column).sample : 1;
    }
  }
}

/* ---- figures ---- */

static bool is_figure(const void *list, uint32_t column)
{
  return compare_list_is_figure(list, column);
}

/* Finds the column of --metric, or the view's own.  Returns 0 or the exit status. */
static int find_metric(struct job *job, struct comparison *comparison, const struct listed *about)
{
  struct compare_result *result = &comparison->result;
  const struct compare_list *list = &comparison->list;
  struct table table = {.shown = list->shown};
  const struct metric_choice choice = {&table, is_figure, list, false, about->metric};
  int status = table_add(&table, &(struct schema){list->columns, list->count, NULL}, NULL) ? job_no_memory() : 0;
  if (!status)
    status = metric_choice_find(job, &choice, &result->list_column);
  table_release(&table);
  if (status)
    return status;
  result->metric = list->columns[result->list_column].name;
  result->metric_chosen = job->options.metric;
  enum column_type type = list->columns[result->list_column].type;
  result->unit = "";
  if (type == COLUMN_PERCENT || type == COLUMN_RATIO)
    result->unit = type == COLUMN_PERCENT ? "%" : "ratio";
  else if (type == COLUMN_SECONDS || (type == COLUMN_AMOUNT && job->profile.workspan.is_time))
    result->unit = "s";
  return 0;
}

/* Allows for the number of figures: of all that are shown, or of the metric's. */
static int correct(struct comparison *comparison, bool all_figures)
{
  const struct compare_list *list = &comparison->list;
  struct compare_result *result = &comparison->result;
  if (all_figures)
    result->compared = compare_correct(list->figures, (size_t)list->lines_count * list->count, sizeof *list->figures);
  else
    result->compared =
        compare_correct(list->figures + result->list_column, list->lines_count, list->count * sizeof *list->figures);
  return result->compared == SIZE_MAX ? ERR_NOMEM : 0;
}

/* ---- order ---- */

struct sorter {
  const struct compare_list *list;
  uint32_t column, weight, name, file;
  const char *by; /* a column that a comparison adds */
  bool plain;     /* rows that are equal in it stay in their order */
};

/* The amount of both sides, in units so small that they are whole. */
static uint64_t weigh(const struct compare_line *line, uint32_t column)
{
  return model_rounded(1e9 * (line->figures[column].base + line->figures[column].now));
}

static const char *text_of(const struct compare_line *line, uint32_t column)
{
  return line->cells[column].kind == CELL_TEXT ? line->cells[column].text : "";
}

/* The program first, then the largest figures. */
static int by_figure(const void *a, const void *b, void *argument)
{
  const struct sorter *sorter = argument;
  const struct compare_line *x = a, *y = b;
  uint64_t left = model_rounded(1e9 * compare_sort_key(&x->figures[sorter->column], sorter->by));
  uint64_t right = model_rounded(1e9 * compare_sort_key(&y->figures[sorter->column], sorter->by));
  bool first = compare_list_is_program(sorter->list, x), other = compare_list_is_program(sorter->list, y);
  int order = first != other ? other - first : (left < right) - (left > right);
  if (!order && !sorter->plain) {
    left = weigh(x, sorter->weight);
    right = weigh(y, sorter->weight);
    order = (left < right) - (left > right);
    if (!order)
      order = strcmp(text_of(x, sorter->name), text_of(y, sorter->name));
    if (!order)
      order = strcmp(text_of(x, sorter->file), text_of(y, sorter->file));
  }
  return order ? order : (x->cells > y->cells) - (x->cells < y->cells);
}

static void sort_by_figure(struct comparison *comparison, const struct listed *about, const char *by)
{
  struct compare_list *list = &comparison->list;
  struct sorter sorter = {.list = list, .column = comparison->result.list_column, .by = by, .plain = !about->weight};
  if (about->weight) {
    sorter.weight = compare_list_column(list, about->weight);
    sorter.name = compare_list_column(list, "name");
    sorter.file = compare_list_column(list, "file");
  }
  if (list->lines_count)
    qsort_r(list->lines, list->lines_count, sizeof *list->lines, by_figure, &sorter);
}

/* Numbers constructs in the order of the view. */
static int number_regions(struct job *job, struct compare_list *list)
{
  uint32_t region = compare_list_column(list, "region");
  for (uint32_t i = 0; i < list->lines_count && region != MODEL_NONE; i++) {
    char *text;
    if (asprintf(&text, "R%" PRIu32, i + 1) < 0)
      return ERR_NOMEM;
    const char *name = names_own(&job->names, text);
    if (!name)
      return ERR_NOMEM;
    list->lines[i].cells[region] = cell_label(name, i + 1);
  }
  return 0;
}

/* Sorts by the difference, if only one column is shown, then by --sort. */
static int sort_lines(struct job *job, struct comparison *comparison, const struct listed *about)
{
  struct compare_list *list = &comparison->list;
  const char *sort = job->options.sort;
  if (about->weight)
    sort_by_figure(comparison, about, "difference");
  if (job->options.view == OPTIONS_REGIONS && number_regions(job, list))
    return ERR_NOMEM;
  if (!sort)
    return 0;
  if (!isnan(compare_sort_key(&(struct compare_figure){0}, sort))) {
    sort_by_figure(comparison, about, sort);
    return 0;
  }
  bool program = list->lines_count && compare_list_is_program(list, &list->lines[0]); /* stays first */
  return job_sort(job, list->lines + program, list->lines_count - program, sizeof *list->lines);
}

/* ---- limits ---- */

/* The time of the program in the runs of a side. */
static double program_time(const struct comparison *comparison, int side)
{
  double sum = 0;
  for (uint32_t i = 0; i < comparison->counts[side]; i++)
    sum += (double)construct_exec(&comparison->runs[side][i].report.constructs->entries[0].sum);
  return 1e-9 * sum / comparison->counts[side];
}

/* Finds the largest figures of the metric, that of the program among them. */
static void find_largest(struct comparison *comparison, bool regions)
{
  const struct compare_list *list = &comparison->list;
  struct compare_result *result = &comparison->result;
  if (regions && !strcmp(result->metric, "exec_s"))
    result->largest = (struct compare_figure){.base = program_time(comparison, COMPARE_BASE),
                                              .now = program_time(comparison, COMPARE_NEW)};
  for (uint32_t i = 0; i < list->lines_count; i++) {
    const struct compare_figure *figure = &list->lines[i].figures[result->list_column];
    result->largest.base = fmax(result->largest.base, figure->base);
    result->largest.now = fmax(result->largest.now, figure->now);
  }
}

/* The whole of both sides, of which lines are a part: the program's, or the sum. */
static double whole_of(const struct job *job, const struct comparison *comparison, uint32_t weight)
{
  const struct compare_list *list = &comparison->list;
  double sum = 0;
  if (job->options.view == OPTIONS_REGIONS)
    return program_time(comparison, COMPARE_BASE) + program_time(comparison, COMPARE_NEW);
  for (uint32_t i = 0; i < list->lines_count; i++) {
    double here = 1e-9 * (double)weigh(&list->lines[i], weight);
    if (compare_list_is_program(list, &list->lines[i]))
      return here;
    sum += here;
  }
  return sum;
}

/* Leaves out what --percent-limit and --max-rows leave out. */
static void limit(struct job *job, struct comparison *comparison, const struct listed *about)
{
  const struct options *options = &job->options;
  struct compare_list *list = &comparison->list;
  uint32_t weight = about->weight ? compare_list_column(list, about->weight) : 0, kept = 0, count = list->lines_count;
  double percent = options->percent_limit, whole = 0;
  if (percent < 0)
    percent = options->view == OPTIONS_REGIONS && options->format == OPTIONS_TEXT ? 0.5 : 0;
  if (percent > 0)
    whole = whole_of(job, comparison, weight);
  for (uint32_t i = 0; i < count; i++)
    if ((percent <= 0 || 1e-9 * (double)weigh(&list->lines[i], weight) >= whole * percent / 100) &&
        (!options->max_rows || kept < options->max_rows))
      list->lines[kept++] = list->lines[i];
  list->lines_count = kept;
  job->report.left_out = count - kept;
  job->report.percent_limit = percent;
  job->report.only_percent_limit = !options->max_rows;
}

int compare_lists(struct job *job, struct comparison *comparison, bool one_build)
{
  struct compare_list *list = &comparison->list;
  const struct listed *about = find(job->options.view);
  *list = (struct compare_list){.keys = about->keys, .numbered = about->numbered, .complete = about->all_figures};
  if (job->options.view == OPTIONS_PARALLELISM && !run_map_one_unit(comparison)) {
    job_print_error("view 'parallelism' cannot compare work and span of different units");
    return EXIT_USAGE;
  }
  comparison->result.list = list;
  comparison->result.all_figures = about->all_figures;
  if (add_runs(comparison, comparison->make))
    return job_no_memory();
  set_samples(comparison);
  int status = find_metric(job, comparison, about);
  if (!status)
    status = job_choose_columns(job, comparison->compared_make);
  if (status)
    return status;
  status = compare_list_join(list, one_build);
  if (!status)
    status = correct(comparison, about->all_figures);
  if (!status)
    status = sort_lines(job, comparison, about);
  if (status)
    return job_no_memory();
  find_largest(comparison, job->options.view == OPTIONS_REGIONS);
  limit(job, comparison, about);
  return 0;
}

void compare_lists_release(struct comparison *comparison)
{
  compare_list_release(&comparison->list);
  for (int side = 0; side < COMPARE_SIDES; side++) {
    for (uint32_t i = 0; i < comparison->counts[side] && comparison->tables[side]; i++)
      table_release(&comparison->tables[side][i]);
    free(comparison->tables[side]);
  }
}
