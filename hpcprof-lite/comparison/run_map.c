#include "hpcprof-lite/comparison/run_map.h"

#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/construct_pipelines.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a list: as if one of them were work, by which rows are sorted and limited. */
static void list_columns(const struct amounts_list *list, struct tree_columns *columns)
{
  *columns = (struct tree_columns){.count = 2 * list->count,
                                   .samples = MODEL_NONE,
                                   .work = list->weight,
                                   .overhead = MODEL_NONE,
                                   .lockwait = MODEL_NONE,
                                   .idleness = MODEL_NONE,
                                   .critical = MODEL_NONE,
                                   .met = MODEL_NONE};
}

bool run_map_one_unit(const struct comparison *comparison)
{
  const char *unit = NULL;
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      const struct profile_workspan *workspan = &comparison->runs[side][i].profile.workspan;
      if (!workspan->known)
        continue;
      if (unit && strcmp(unit, workspan->unit) != 0)
        return false;
      unit = workspan->unit;
    }
  return true;
}

int run_map_columns(struct job *job, const struct comparison *comparison)
{
  const struct amounts_list *list = amounts_list(job->options.view);
  if (list) {
    list_columns(list, &job->columns);
    return 0;
  }
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      const struct tree_columns *columns = &comparison->runs[side][i].columns;
      uint32_t number;
      for (uint32_t j = 0; j < columns->count; j++)
        if (catalog_add_column(&job->profile.catalog, &columns->columns[j], &number) == ERR_NOMEM)
          return ERR_NOMEM;
    }
  tree_columns_init(&job->profile.catalog, &job->columns);
  if (!run_map_one_unit(comparison))
    job->columns.critical = MODEL_NONE;
  return 0;
}

static bool same_column(const struct catalog_column *a, const struct catalog_column *b)
{
  return a->role == b->role && !strcmp(a->name, b->name) && !strcmp(a->unit, b->unit);
}

static uint32_t find_column(const struct tree_columns *columns, const struct catalog_column *wanted)
{
  for (uint32_t i = 0; i < columns->count; i++)
    if (same_column(&columns->columns[i], wanted))
      return i;
  return MODEL_NONE;
}

uint32_t run_map_own_column(const struct job *run, const struct catalog_column *column)
{
  return find_column(&run->columns, column);
}

static int map_functions(const struct job *run, struct job *job, struct run_map *map)
{
  const struct names *names = &run->names;
  for (uint32_t i = 0; i < names->functions_count; i++) {
    struct names_function function = names->functions[i];
    function.module = function.module == MODEL_NONE ? MODEL_NONE : map->modules[function.module];
    map->functions[i] = names_function(&job->names, &function);
    if (map->functions[i] == MODEL_NONE)
      return ERR_NOMEM;
  }
  for (uint32_t i = 0; i < names->functions_count; i++)
    if (names->functions[i].origin != MODEL_NONE)
      job->names.functions[map->functions[i]].origin = map->functions[names->functions[i].origin];
  return 0;
}

int run_map_init(const struct job *run, struct job *job, struct run_map *map)
{
  const struct catalog *catalog = &run->profile.catalog;
  uint32_t columns = run->report.tree->columns;
  map->functions = calloc((size_t)run->names.functions_count + 1, sizeof *map->functions);
  map->modules = calloc((size_t)catalog->modules_count + 1, sizeof *map->modules);
  map->columns = calloc((size_t)columns + 1, sizeof *map->columns);
  map->map = (struct compare_map){map->functions, map->modules, map->columns, &job->names};
  if (!map->functions || !map->modules || !map->columns)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < catalog->modules_count; i++) {
    const struct catalog_module *module = &catalog->modules[i];
    map->modules[i] =
        catalog_add_module(&job->profile.catalog, module->path, module->build_id, module->build_id_size, module->flags);
    if (map->modules[i] == MODEL_NONE)
      return ERR_NOMEM;
  }
  for (uint32_t i = 0; i < columns; i++)
    map->columns[i] = amounts_list(job->options.view) ? i : find_column(&job->columns, &run->columns.columns[i]);
  return map_functions(run, job, map);
}

void run_map_release(struct run_map *map)
{
  free(map->functions);
  free(map->modules);
  free(map->columns);
}

/* What a row of a list is. */
struct list_place {
  const char *kind, *name, *file;
  uint32_t line;
};

/* Adds a row to the run's list.  Its function stands for its kind and for the function that contains it; the file of
 * that is the name of the kind.  Returns its number, MODEL_NONE without memory. */
static uint32_t add_row(struct job *run, const struct list_place *place)
{
  char *text;
  if (asprintf(&text, "%s %s", place->kind, place->name) < 0)
    return MODEL_NONE;
  const char *name = names_own(&run->names, text);
  if (!name)
    return MODEL_NONE;
  struct names_function function = {.name = name, .raw = name, .file = place->kind, .module = MODEL_NONE};
  struct tree_row row = {.kind = ROW_PARALLEL,
                         .function = names_function(&run->names, &function),
                         .module = MODEL_NONE,
                         .name = place->name,
                         .file = place->file,
                         .line = place->line};
  return row.function == MODEL_NONE ? MODEL_NONE : tree_add(&run->view, &row, NULL);
}

/* Sets a figure, and marks it as known. */
static void set_figure(struct job *run, uint32_t row, uint32_t column, uint64_t value)
{
  tree_value(&run->view, row, column, value);
  tree_value(&run->view, row, run->view.columns / 2 + column, 1);
}

/* Makes the list the tree of the report: its rows have no rows below them. */
static void finish_list(struct job *run)
{
  for (size_t i = 0; i < (size_t)run->view.count * run->view.columns; i++)
    run->view.incl[i] = run->view.excl[i];
  run->report.tree = &run->view;
}

static int not_measured(const struct job *run, const char *what)
{
  job_print_error("view '%s' cannot be compared: %s was measured without %s; see hpcrun-lite -p",
                  run->options.view_name, run->options.directories[0], what);
  return EXIT_INPUT;
}

static int list_regions(struct job *run)
{
  const struct construct_tree *list = &run->construct_list;
  if (construct_gains(run) || tree_init(&run->view, 2 * COMPARE_CONSTRUCT_COLUMNS, run->totals.command))
    return job_no_memory();
  if (!list->count)
    return not_measured(run, "times of constructs");
  for (uint32_t i = 1; i < list->count; i++) {
    const struct construct_entry *entry = &list->entries[i];
    struct list_place place = {profile_directive_name(entry->kind), entry->name, entry->file, entry->line};
    uint32_t row = add_row(run, &place);
    if (row == MODEL_NONE)
      return job_no_memory();
    for (uint32_t column = 0; column < COMPARE_CONSTRUCT_COLUMNS; column++) {
      uint64_t value;
      if (amounts_construct_value(entry, column, &value))
        set_figure(run, row, column, value);
    }
  }
  tree_value(&run->view, 0, CONSTRUCT_EXEC, construct_exec(&list->entries[0].sum));
  return 0;
}

static int list_parallelism(struct job *run)
{
  struct workspan *workspan = &run->report.workspan;
  if (!run->profile.workspan.known)
    return not_measured(run, "work and span");
  if (workspan_compute(&run->profile, &run->names, &run->tree, NULL, workspan) ||
      tree_init(&run->view, 2 * COMPARE_PARALLELISM_COLUMNS, run->totals.command))
    return job_no_memory();
  for (uint32_t i = 0; i < workspan->count; i++) {
    const struct workspan_row *from = &workspan->rows[i];
    struct list_place place = {from->kind, i ? from->name : "", i ? from->file : "", from->line};
    uint32_t row = add_row(run, &place);
    if (row == MODEL_NONE)
      return job_no_memory();
    const uint64_t values[COMPARE_PARALLELISM_COLUMNS] = {from->instances, from->work, from->span, from->critical,
                                                          from->lock_bound};
    for (uint32_t column = 0; column < COMPARE_PARALLELISM_COLUMNS; column++)
      if (column != COMPARE_LOCK_BOUND || from->lock_bound)
        set_figure(run, row, column, values[column]);
  }
  tree_value(&run->view, 0, COMPARE_WORK, workspan->work);
  return 0;
}

int run_map_list(struct job *run)
{
  int status = run->options.view == OPTIONS_REGIONS ? list_regions(run) : list_parallelism(run);
  if (!status)
    finish_list(run);
  return status;
}

int run_map_order(const struct job *job, struct tree_order *order)
{
  const struct amounts_list *list = amounts_list(job->options.view);
  assert(list);
  order->by = SORT_INCL;
  order->column = amounts_list_column(list, job->options.sort);
  return order->column == MODEL_NONE ? ERR_INPUT : 0;
}
