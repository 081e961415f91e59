#include "hpcprof-lite/comparison/run_map.h"

#include "common/xalloc.h"

#include <stdlib.h>
#include <string.h>

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

void run_map_columns(struct job *job, const struct comparison *comparison)
{
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      const struct tree_columns *columns = &comparison->runs[side][i].columns;
      uint32_t number;
      for (uint32_t j = 0; j < columns->count; j++)
        catalog_add_column(&job->profile.catalog, &columns->columns[j], &number);
    }
  tree_columns_init(&job->profile.catalog, &job->columns);
  if (!run_map_one_unit(comparison))
    job->columns.critical = MODEL_NONE;
}

static void map_functions(const struct job *run, struct job *job, struct run_map *map)
{
  const struct names *names = &run->names;
  for (uint32_t i = 0; i < names->functions_count; i++) {
    struct names_function function = names->functions[i];
    if (function.module != MODEL_NONE)
      function.module = map->modules[function.module];
    map->functions[i] = names_function(&job->names, &function);
  }
  for (uint32_t i = 0; i < names->functions_count; i++)
    if (names->functions[i].origin != MODEL_NONE)
      job->names.functions[map->functions[i]].origin = map->functions[names->functions[i].origin];
}

void run_map_init(const struct job *run, struct job *job, struct run_map *map)
{
  const struct catalog *catalog = &run->profile.catalog;
  uint32_t columns = run->report.tree->columns;
  map->functions = xcalloc(run->names.functions_count, sizeof *map->functions);
  map->modules = xcalloc(catalog->modules_count, sizeof *map->modules);
  map->columns = xcalloc(columns, sizeof *map->columns);
  map->map = (struct compare_map){map->functions, map->modules, map->columns, &job->names, NULL, 0};
  for (uint32_t i = 0; i < catalog->modules_count; i++) {
    map->modules[i] = catalog_add_same(&job->profile.catalog, &catalog->modules[i]);
    if (map->modules[i] == MODEL_NONE) /* more than can be numbered */
      xalloc_die();
  }
  for (uint32_t i = 0; i < columns; i++)
    map->columns[i] = catalog_same_column(job->columns.columns, job->columns.count, &run->columns.columns[i]);
  map_functions(run, job, map);
}

void run_map_release(struct run_map *map)
{
  free(map->functions);
  free(map->modules);
  free(map->columns);
}
