/* Translates a run to the numbers that all runs of a comparison share: functions, modules and columns of the job that
 * compares them.
 *
 * Context: BATCH, the main thread.
 */
#ifndef HPCPROF_LITE_COMPARISON_RUN_MAP_H
#define HPCPROF_LITE_COMPARISON_RUN_MAP_H

#include "hpcprof-lite/comparison/comparison.h"

struct run_map {
  struct compare_map map; /* its arrays are these */
  uint32_t *functions, *modules, *columns;
};

/* Makes the columns of the job from those of all runs. */
void run_map_columns(struct job *job, const struct comparison *comparison);

/* Adds the functions and modules of a run to the job's, and fills *map. */
void run_map_init(const struct job *run, struct job *job, struct run_map *map);
void run_map_release(struct run_map *map);

/* Whether work and span have the same unit in all runs that know them. */
bool run_map_one_unit(const struct comparison *comparison);

#endif
