/* Names of generated code, from the copy of /tmp/perf-PID.map that a measurement has: lines of START SIZE NAME, numbers
 * in hexadecimal digits.
 *
 * Context: BATCH.  All input is hostile: lines that cannot be used are left out and counted.
 */
#ifndef HPCPROF_LITE_INPUT_GENERATED_CODE_H
#define HPCPROF_LITE_INPUT_GENERATED_CODE_H

#include <stdint.h>

#include "hpcprof-lite/model/problems.h"

struct generated_code;

/* Reads the map of the process whose measurement file has that path.  NULL: it has none, or it cannot be read. */
struct generated_code *generated_code_read(const char *path, struct problems *problems);
void generated_code_free(struct generated_code *map); /* NULL is allowed */

/* Returns the name of the code at an address: of several, the one that was written last.  NULL if it has none, or the
 * map is NULL. */
const char *generated_code_name(const struct generated_code *map, uint64_t address);

#endif
