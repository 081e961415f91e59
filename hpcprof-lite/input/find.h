/* The measurement files of directories.
 *
 * Context: BATCH.
 */
#ifndef HPCPROF_LITE_INPUT_FIND_H
#define HPCPROF_LITE_INPUT_FIND_H

#include "hpcprof-lite/model/problems.h"

#include <stdint.h>

/* Names of the measurement files in directories, sorted (free() each and the array).  A directory that cannot be read,
 * or that holds no measurements, is named in problems.  0, or ERR_NOMEM. */
int find_measurements(char *const *directories, size_t directories_count, struct problems *problems, char ***paths,
                      uint32_t *count);

#endif
