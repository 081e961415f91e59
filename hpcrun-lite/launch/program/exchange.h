/* What may change if a program built for libgomp runs on LLVM's libomp (--omp-runtime exchange).
 *
 * libomp implements libgomp's interface, but not all of its behaviour.  The settings and entry points named here are
 * those for which programs were seen to behave differently; tests/cli/launcher.py checks that each is named.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_EXCHANGE_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_EXCHANGE_H

#include <stddef.h>

#include "hpcrun-lite/launch/program/program.h"

/* Writes what may change in the program, and what the user can do about it, as a list in one line; "" if nothing is
 * known.  tool: the program's own OMPT tool, or "". */
void exchange_risks(const struct program *program, const char *tool, char *risks, size_t size);

#endif
