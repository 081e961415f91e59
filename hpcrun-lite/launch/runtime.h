/* Which OpenMP runtime the program is to run on, and why.
 *
 * libgomp has no OMPT; LLVM's libomp speaks libgomp's interface too, so that a program built for libgomp can be
 * measured when libomp is preloaded.  That is only done where libomp offers every symbol, in the very version, that the
 * program and its libraries want from their runtime: otherwise both runtimes would serve parts of one program.
 *
 * Context: BATCH (the launcher's helper).
 */
#ifndef HPCRUN_LITE_LAUNCH_RUNTIME_H
#define HPCRUN_LITE_LAUNCH_RUNTIME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/program.h"

enum runtime_kind { RUNTIME_NONE, RUNTIME_GOMP, RUNTIME_LLVM, RUNTIME_INTEL };

struct runtime_choice {
  enum runtime_kind own; /* what the program would run on by itself                           */
  char own_path[PATH_MAX];
  bool own_has_chunks;    /* it reports the chunks of a loop (LLVM's: from version 15 on)      */
  char preload[PATH_MAX]; /* the runtime to put under the program; "" = its own stays          */
  char note[512];         /* one line for reports: what was done, or why not; "" without       */
  bool say_note;          /* worth a line on standard error before the program starts          */
};

/* Decides.  which: "auto", "keep" or the path of a library.  private_libomp: the libomp beside our library (""
 * without), version its version.  Returns LAUNCH_OK, or LAUNCH_FAILED with a message where the library asked for cannot
 * serve the program. */
enum launch_status runtime_choose(const struct program *program, const char *which, const char *private_libomp,
                                  const char *private_version, struct runtime_choice *choice, char *message,
                                  size_t message_size);

/* Does OMP_TOOL=disabled keep all tools from the runtime? */
bool runtime_tool_disabled(void);

#endif
