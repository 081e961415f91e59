#include "hpcprof-lite/comparison/compare_pipeline.h"

#include "common/xalloc.h"
#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/comparison/compare_items.h"
#include "hpcprof-lite/comparison/compare_lists.h"
#include "hpcprof-lite/comparison/gate.h"
#include "hpcprof-lite/comparison/run_map.h"
#include "hpcprof-lite/comparison/metric_choice.h"
#include "hpcprof-lite/pipelines/gather.h"
#include "hpcprof-lite/pipelines/pipelines.h"
#include "hpcprof-lite/report/tree_view.h"
#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/pipelines/tree_pipeline.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- directories ---- */

void compare_add_directory(struct comparison *comparison, int side, char *name)
{
  assert(side >= 0 && side < COMPARE_SIDES && name);
  *XAPPEND(comparison->directories[side], comparison->counts[side], comparison->rooms[side]) = name;
}

/* Adds the directories that are separated by commas, or the one whose name contains them. */
static void add_directories(struct comparison *comparison, int side, const char *names)
{
  struct stat stat_of;
  if (!strchr(names, ',') || !stat(names, &stat_of)) {
    compare_add_directory(comparison, side, xstrdup(names));
    return;
  }
  for (const char *end; *names; names = *end ? end + 1 : end) {
    end = strchrnul(names, ',');
    if (end > names)
      compare_add_directory(comparison, side, xstrndup(names, (size_t)(end - names)));
  }
}

/* Whether two names are those of one directory. */
static bool same_directory(const char *a, const char *b)
{
  struct stat x, y;
  return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Refuses a run that is twice on one side: the variance would be too small.  Warns of a run on both sides. */
static int check_directories(const struct options *options, const struct comparison *comparison)
{
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < comparison->counts[side]; i++)
      for (uint32_t j = 0; j < i; j++)
        if (same_directory(comparison->directories[side][i], comparison->directories[side][j])) {
          job_print_error("--compare: '%s' is given twice on one side: each directory is one run",
                          comparison->directories[side][i]);
          return EXIT_USAGE;
        }
  for (uint32_t i = 0; i < comparison->counts[COMPARE_BASE] && !options->quiet; i++)
    for (uint32_t j = 0; j < comparison->counts[COMPARE_NEW]; j++)
      if (same_directory(comparison->directories[COMPARE_BASE][i], comparison->directories[COMPARE_NEW][j]))
        job_print_error("--compare: '%s' is on both sides: it is compared with itself",
                        comparison->directories[COMPARE_BASE][i]);
  return 0;
}

int compare_directories(const struct options *options, struct comparison *comparison)
{
  add_directories(comparison, COMPARE_BASE, options->comparison.base);
  for (size_t i = 0; i < options->input.count; i++)
    add_directories(comparison, COMPARE_NEW, options->input.directories[i]);
  for (int side = 0; side < COMPARE_SIDES; side++)
    if (!comparison->counts[side]) {
      job_print_error("--compare needs the names of measurement directories between the commas");
      return EXIT_USAGE;
    }
  return check_directories(options, comparison);
}

/* ---- runs ---- */

/* Reads a run and makes what the view compares.  first: it is the first run of its side. */
static int load_run(struct job *job, char **directory, bool first, struct job *run)
{
  assert(*directory);
  const struct options *options = &job->options;
  run->options = *options;
  run->options.input.directories = directory;
  run->options.input.count = 1;
  run->options.format = OPTIONS_TEXT; /* rows have no statistics of threads */
  run->options.sort = NULL;
  /* These belong to the job: */
  run->options.scenarios.list = NULL;
  run->options.scenarios.count = 0;
  run->options.comparison.conditions = NULL;
  run->options.comparison.conditions_count = 0;
  run->options.source_paths.list = NULL;
  run->options.symbols.list = xcalloc(options->symbols.count, sizeof *options->symbols.list);
  for (uint32_t i = 0; i < options->symbols.count; i++)
    run->options.symbols.list[i] = options->symbols.list[i];
  run->ranks = (struct ranks){.size = 1};
  int status = gather(run);
  if (run->status)
    job->status = run->status;
  if (status)
    return status;
  run->options.quiet |= !first; /* modules that cannot be read are the same in all runs of a side */
  tree_begin(run, true);
  if (options->view == OPTIONS_SUMMARY || options->comparison.conditions_count)
    efficiency_pipeline(run);
  if (compare_lists_has(options->view))
    return 0;
  if (options->view == OPTIONS_SUMMARY)
    run->options.view = OPTIONS_FLAT; /* of which it shows a part */
  return tree_pipeline(run);
}

int compare_load_runs(struct job *job, struct comparison *comparison)
{
  for (int side = 0; side < COMPARE_SIDES; side++) {
    comparison->runs[side] = xcalloc(comparison->counts[side], sizeof *comparison->runs[side]);
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      struct job *run = &comparison->runs[side][i];
      int status = load_run(job, &comparison->directories[side][i], !i, run);
      if (!status && compare_lists_has(job->options.view))
        status = compare_lists_load(run, comparison->pipeline);
      if (status)
        return status;
    }
  }
  return 0;
}

/* ---- filters ---- */

bool compare_same_filter(const struct job *run, const struct job *other, const char *option)
{
  char own[PROFILE_FILTERED_MAX], others[PROFILE_FILTERED_MAX];
  profile_filtered(&run->profile, own, sizeof own);
  profile_filtered(&other->profile, others, sizeof others);
  bool same = !strcmp(own, others);
  if (!same && !run->options.quiet)
    job_print_error("%s: '%s' and '%s' were not measured with the same filter (%.200s; %.200s): what only one of them "
                    "leaves out is no change of the program",
                    option, run->options.input.directories[0], other->options.input.directories[0], *own ? own : "none",
                    *others ? others : "none");
  return same;
}

/* Notes what was left out.  Returns whether all runs were measured with the same filter. */
static bool check_filters(struct comparison *comparison)
{
  bool same = true;
  for (int side = 0; side < COMPARE_SIDES; side++) {
    struct job *runs = comparison->runs[side];
    profile_filtered(&runs[0].profile, comparison->result.filtered[side], sizeof comparison->result.filtered[side]);
    for (uint32_t i = 0; i < comparison->counts[side] && same; i++)
      same = compare_same_filter(&comparison->runs[COMPARE_BASE][0], &runs[i], "--compare");
  }
  return same;
}

/* Notes the most that a run of each side missed cores. */
static void note_missing_cores(struct comparison *comparison)
{
  struct compare_result *result = &comparison->result;
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      struct totals_missing_cores run = totals_missing_cores(comparison->runs[side][i].report.totals);
      result->without_core[side] = fmax(result->without_core[side], run.without_core);
      result->stolen[side] = fmax(result->stolen[side], run.stolen);
    }
}

/* ---- rows ---- */

/* Adds the tree of each run to its side. */
static void add_runs(struct job *job, struct comparison *comparison)
{
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      const struct job *run = &comparison->runs[side][i];
      struct run_map map;
      const uint32_t spent[] = {run->columns.work, run->columns.overhead};
      run_map_init(run, job, &map);
      map.map.spent = spent;
      map.map.spent_count = sizeof spent / sizeof *spent;
      compare_add(&comparison->compare, side, run->report.tree, &map.map);
      run_map_release(&map);
    }
}

/* What the columns of a tree's table are compared by. */
struct tree_figures_of {
  const struct tree_columns *columns;
  const struct table *table;
};

/* Whether a column is one of the tree, or the time that text shows as the sum of two. */
static bool is_figure(const void *context, uint32_t column)
{
  const struct tree_figures_of *of = context;
  const struct table_column *about = table_column(of->table, column);
  uint32_t number;
  bool inclusive;
  if (about->text_only)
    return of->columns->work != MODEL_NONE && (!strcmp(about->name, "incl_s") || !strcmp(about->name, "self_s"));
  return tree_columns_find(of->columns, about->name, &number, &inclusive);
}

/* Sets the name of the column of --metric, or of the view's own.  Returns 0 or the exit status. */
static int choose_metric(struct job *job, const char *standard)
{
  struct table table = {0};
  uint32_t column;
  const struct tree_figures_of of = {&job->columns, &table};
  const struct metric_choice choice = {&table, is_figure, &of, job->options.view != OPTIONS_TOPDOWN, standard};
  tree_view_table(&job->report, &table);
  int status = metric_choice_find(job, &choice, &column);
  if (!status)
    job->report.comparison->metric = names_own(&job->names, xstrdup(table_column(&table, column)->name));
  table_release(&table);
  return status;
}

/* Finds the column that is compared.  Returns 0 or the exit status. */
static int find_metric(struct job *job, const struct comparison *comparison, struct compare_metric *metric)
{
  assert(job->report.comparison);
  const struct tree_columns *columns = &job->columns;
  struct compare_result *result = job->report.comparison;
  bool whole = job->options.view == OPTIONS_TOPDOWN;
  char standard[512] = "";
  *metric = (struct compare_metric){.samples = columns->samples};
  if (columns->work != MODEL_NONE)
    strcpy(standard, whole ? "work_incl_s" : "work_excl_s");
  else if (columns->events_count)
    snprintf(standard, sizeof standard, "%s_%s", columns->columns[columns->events[0]].name, whole ? "incl" : "excl");
  int status = choose_metric(job, standard);
  if (status)
    return status;
  bool spent = !tree_columns_find(columns, result->metric, &metric->column, &metric->inclusive);
  if (spent)
    metric->inclusive = !strcmp(result->metric, "incl_s");
  for (int side = 0; side < COMPARE_SIDES; side++) {
    const struct job *run = &comparison->runs[side][0];
    uint32_t own = run->columns.work;
    if (!spent)
      own = catalog_same_column(run->columns.columns, run->columns.count, &columns->columns[metric->column]);
    metric->sample[side] = 1;
    if (own == MODEL_NONE)
      continue;
    struct amounts_column amounts = amounts_of(run, own);
    metric->sample[side] = amounts.sample;
    metric->basis = amounts.basis;
    result->unit = amounts.unit;
  }
  if (spent)
    metric->column = columns->count;
  return 0;
}

/* Computes and tests the figure of each row. */
static void test_rows(struct job *job, struct comparison *comparison, const struct compare_metric *metric)
{
  assert(!comparison->result.figures);
  struct compare *compare = &comparison->compare;
  struct compare_result *result = &comparison->result;
  double scale = *result->unit == 's' ? 1e-9 : 1;
  result->figures = xcalloc(compare->joined.count, sizeof *result->figures);
  for (uint32_t row = 0; row < compare->joined.count; row++) {
    result->figures[row] = compare_row(compare, row, metric);
    result->figures[row].base *= scale;
    result->figures[row].now *= scale;
  }
  if (job->options.view != OPTIONS_SUMMARY) /* there, together with the other items */
    result->compared = compare_correct(result->figures, compare->joined.count, sizeof *result->figures);
}

/* Whether a row is that of the program, which stands first in lists. */
static bool is_program(const struct comparison *comparison, uint32_t row)
{
  assert(row < comparison->compare.joined.count);
  const struct compare_list *list = comparison->result.list;
  return list && row && compare_list_is_program(list, compare_list_keys(list, &comparison->compare.joined.rows[row]));
}

/* Sorts siblings by a column that a comparison adds; its keys replace the values of a column meanwhile.  Returns
 * whether there is such a column. */
static bool sort_by_figures(struct job *job, struct comparison *comparison, const char *name, bool keep_ids)
{
  assert(comparison->result.figures && name);
  struct tree *tree = &comparison->compare.joined;
  struct tree_order order = {.by = SORT_EXCL, .column = 0, .columns = &job->columns};
  const double fine = 1e9; /* times to the nanosecond */
  for (uint32_t row = 0; row < tree->count; row++) {
    double key = compare_sort_key(&comparison->result.figures[row], name);
    if (isnan(key))
      return false;
    tree->excl[(size_t)row * tree->columns] = is_program(comparison, row) ? UINT64_MAX : model_rounded(key * fine);
  }
  tree_finish(tree, &order, keep_ids);
  compare_show(&comparison->compare, COMPARE_BASE);
  return true;
}

/* Sorts the joined tree by the difference, top-down by the weight in both sides, threads by what identifies them; then
 * by --sort, with the same IDs.  The sort reads the values of the side that compare_show() has put into the tree: the
 * sums of both sides, or where a list is sorted by a column, the new side's. */
static void sort_rows(struct job *job, struct comparison *comparison)
{
  struct tree *tree = &comparison->compare.joined;
  const char *sort = job->options.sort;
  struct tree_order order = {.by = SORT_WEIGHT_INCL, .columns = &job->columns};
  bool list = comparison->result.list, by_keys = list && comparison->list.all_figures;
  if (!by_keys)
    compare_show(&comparison->compare, COMPARE_BASE);
  if (by_keys || job->options.view == OPTIONS_TOPDOWN)
    tree_finish(tree, &order, false);
  else
    sort_by_figures(job, comparison, "difference", false);
  if (!sort || sort_by_figures(job, comparison, sort, true))
    return;
  if (list) /* it is a column of the view */
    compare_show(&comparison->compare, COMPARE_NEW);
  job_sort_tree(job, tree);
  if (list)
    compare_show(&comparison->compare, COMPARE_BASE);
}

/* Whether the executables of both sides are of one build. */
static bool same_program(const struct comparison *comparison)
{
  const struct catalog *base = &comparison->runs[COMPARE_BASE][0].profile.catalog;
  const struct catalog *now = &comparison->runs[COMPARE_NEW][0].profile.catalog;
  for (uint32_t i = 0; i < base->modules_count; i++)
    for (uint32_t j = 0; j < now->modules_count; j++) {
      const struct catalog_module *a = &base->modules[i], *b = &now->modules[j];
      if ((a->flags & b->flags & MODULE_MAIN) && a->build_id_size && a->build_id_size == b->build_id_size &&
          !memcmp(a->build_id, b->build_id, a->build_id_size))
        return true;
    }
  return false;
}

/* Makes the columns of the job, finds the one that is compared, and adds the runs to their sides.  Returns 0 or the
 * exit status. */
static int add_sides(struct job *job, struct comparison *comparison, struct compare_metric *metric)
{
  bool list = compare_lists_has(job->options.view);
  struct compare *compare = &comparison->compare;
  const struct job *newest = &comparison->runs[COMPARE_NEW][comparison->counts[COMPARE_NEW] - 1];
  if (list)
    compare_lists_columns(job, comparison);
  else
    run_map_columns(job, comparison);
  compare_begin(compare, job->columns.count + !list, list ? "" : newest->report.tree->rows[0].name);
  compare->is_list = list;
  if (list) {
    compare_lists_add(job, comparison);
    return compare_lists_metric(job, comparison);
  }
  int status = find_metric(job, comparison, metric);
  if (!status)
    add_runs(job, comparison);
  return status;
}

static int join_rows(struct job *job, struct comparison *comparison)
{
  struct compare_metric metric;
  struct compare *compare = &comparison->compare;
  bool list = compare_lists_has(job->options.view);
  if (job->options.view == OPTIONS_PARALLELISM && !run_map_one_unit(comparison)) {
    job_print_error("view 'parallelism' cannot compare work and span of different units");
    return EXIT_USAGE;
  }
  int status = add_sides(job, comparison, &metric);
  if (status)
    return status;
  compare_join(compare, &job->names, job->profile.catalog.modules, same_program(comparison));
  if (list)
    compare_lists_test(comparison);
  else
    test_rows(job, comparison, &metric);
  job->report.tree = &compare->joined;
  status = job_choose_columns(job, comparison->compared_make);
  if (list && job->options.view != OPTIONS_REGIONS && job->options.limits.percent < 0)
    job->options.limits.percent = 0; /* they omit no rows, as without --compare */
  if (status)
    return status;
  sort_rows(job, comparison);
  tree_limit(job);
  compare_show(compare, COMPARE_NEW);
  if (job->options.view == OPTIONS_TOPDOWN)
    tree_inclusive(&compare->joined); /* the sums of rounded means */
  return 0;
}

/* ---- conditions ---- */

static int check_conditions(struct job *job, struct comparison *comparison, const struct gate_side *base,
                            const struct gate_side *now)
{
  assert(!comparison->result.gates);
  struct compare_result *result = &comparison->result;
  result->gates_count = job->options.comparison.conditions_count;
  result->gates = xcalloc(result->gates_count, sizeof *result->gates);
  return gate_check(&job->options, base, now, result->gates);
}

int compare_conditions(struct job *job, struct comparison *comparison)
{
  struct gate_side now = {.runs = job, .count = 1};
  job->report.comparison = &comparison->result;
  comparison->result.directory[COMPARE_NEW] = job->options.input.directories[0];
  comparison->result.runs[COMPARE_NEW] = 1;
  return check_conditions(job, comparison, NULL, &now);
}

/* ---- the pipeline ---- */

int compare_pipeline(struct job *job, struct comparison *comparison)
{
  struct compare_result *result = &comparison->result;
  int status = compare_directories(&job->options, comparison);
  if (!status)
    status = compare_load_runs(job, comparison);
  if (status)
    return status;
  const struct job *newest = &comparison->runs[COMPARE_NEW][comparison->counts[COMPARE_NEW] - 1];
  job->report = (struct report){.view = job->options.view_name,
                                .profile = &job->profile,
                                .names = &job->names,
                                .columns = &job->columns,
                                .totals = &newest->totals,
                                .command.arguments = comparison->directories[COMPARE_NEW][0],
                                .baseline = job->options.baseline,
                                .legend = job->options.legend,
                                .mpi = newest->report.mpi,
                                .comparison = result};
  bool same_filter = check_filters(comparison);
  note_missing_cores(comparison);
  result->has_base = comparison->has_catalog = true;
  catalog_init(&job->profile.catalog);
  for (int side = 0; side < COMPARE_SIDES; side++) {
    result->directory[side] = comparison->directories[side][0];
    result->runs[side] = comparison->counts[side];
  }
  job->profile.workspan.is_time = newest->profile.workspan.is_time;
  job->profile.workspan.unit = newest->profile.workspan.unit; /* the run stays its owner */
  status = join_rows(job, comparison);
  if (status)
    return status;
  if (job->options.view == OPTIONS_SUMMARY)
    compare_items(comparison);
  struct gate_side base = {comparison->runs[COMPARE_BASE], comparison->counts[COMPARE_BASE]};
  struct gate_side now = {comparison->runs[COMPARE_NEW], comparison->counts[COMPARE_NEW]};
  status = check_conditions(job, comparison, &base, &now);
  for (uint32_t i = 0; i < result->gates_count; i++)
    result->gates[i].other_filter = !same_filter;
  return status;
}

void compare_pipeline_release(struct job *job, struct comparison *comparison)
{
  if (comparison->has_catalog)
    catalog_release(&job->profile.catalog);
  for (int side = 0; side < COMPARE_SIDES; side++) {
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      if (comparison->runs[side])
        job_release(&comparison->runs[side][i]);
      free(comparison->directories[side][i]);
    }
    free(comparison->runs[side]);
    free(comparison->directories[side]);
  }
  compare_lists_release(comparison);
  compare_release(&comparison->compare);
  scaling_release(&comparison->scaling);
  free(comparison->result.figures);
  free(comparison->result.items);
  free(comparison->result.gates);
}
