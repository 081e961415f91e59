/* What would change if a program built for libgomp ran on LLVM's libomp.
 *
 * libomp implements libgomp's interface, but not all of its behaviour.  The settings and entry points named here are
 * those for which programs were seen to behave differently; tests/cli/launcher.py runs them on both.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_EXCHANGE_H
#define HPCRUN_LITE_LAUNCH_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/program.h"

/* Would the program change?  If so, writes why, and what the user can do about it. */
bool exchange_changes(const struct program *program, char *reason, size_t size);

#endif
