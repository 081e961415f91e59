/* Which calls to libgomp cannot be measured: those that do not reach the adapter, because libgomp is linked statically,
 * and those to functions that the adapter does not know.
 *
 * Context: BATCH (the launcher).  Keeps no state; the caller owns the memory.  Libraries that the program loads later
 * are not examined.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_ENTRY_POINTS_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_ENTRY_POINTS_H

#include <limits.h>
#include <stdbool.h>

#include "hpcrun-lite/launch/program/program.h"

struct entry_points {
  char static_in[PATH_MAX];  /* a module that contains a libgomp whose calls do not leave it; "": none */
  bool static_in_executable; /* and it is the executable */
  char unknown[256];         /* names, separated by ", "; if there are too many, the last is "..." */
};

void entry_points_examine(const struct program *program, struct entry_points *calls);

#endif
