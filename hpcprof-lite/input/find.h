/* Finds the measurement files in directories.
 *
 * Context: BATCH.  The caller owns the list of paths.  A directory that cannot be read is reported in `problems` and
 * skipped.
 */
#ifndef HPCPROF_LITE_INPUT_FIND_H
#define HPCPROF_LITE_INPUT_FIND_H

#include "hpcprof-lite/model/problems.h"

#include <stdbool.h>
#include <stdint.h>

/* Lists the measurement files in the directories, sorted by path, one file for each process.  A directory that is given
 * twice is read once.  One that cannot be read, or that holds no measurements, is reported in problems.  The caller
 * frees each path and the array. */
void find_measurements(char *const *directories, size_t directories_count, struct problems *problems, char ***paths,
                       uint32_t *count);

/* Returns whether the directory holds a measurement file. */
bool find_any(const char *directory);

/* Returns whether the directory holds the runs of hpcrun-lite --scaling. */
bool find_series(const char *directory);

#endif
