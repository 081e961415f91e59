/* Chooses the OpenMP runtime that the program runs on.
 *
 * By default that is the program's own.  GCC's libgomp has no OMPT: the adapter in the preloaded library measures it,
 * unless the user chooses otherwise.  LLVM's libomp also implements libgomp's interface, so that a program built for
 * libgomp can run on it, if the user asks for that; the risks are printed (exchange.h).  It does so only if libomp
 * defines every symbol, with its version, that the program and its libraries need from their runtime: otherwise each
 * runtime would serve a part of the program.
 *
 * Context: BATCH (the launcher).  Keeps no state; the caller owns all memory.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_RUNTIME_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_RUNTIME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "hpcrun-lite/launch/program/program.h"

enum runtime_kind { RUNTIME_NONE, RUNTIME_GOMP, RUNTIME_LLVM, RUNTIME_INTEL };

/* The adapter, which measures libgomp: off; on; on, but the executable contains a libgomp that it cannot see. */
enum gomp_adapter { GOMP_OFF, GOMP_ON, GOMP_STATIC };

struct runtime_choice {
  enum runtime_kind own; /* the runtime that the program would use without hpcrun-lite */
  char own_path[PATH_MAX];
  bool own_has_chunks;    /* it reports the chunks of loops (LLVM's from version 15 on), or is libgomp */
  char tool[PATH_MAX];    /* the program's own OMPT tool, which is started instead of hpcrun-lite's; "": none */
  char preload[PATH_MAX]; /* the runtime to preload; "": the program keeps its own */
  bool like_libgomp;      /* `preload` takes the place of libgomp, and should resemble it */
  enum gomp_adapter adapter;
  char note[512];     /* one line for reports: what was chosen and why; may be "" */
  bool say_note;      /* print the note on standard error before the program starts */
  char warning[1024]; /* one line, printed and for reports: risks of the choice, or what is not measured; may be "" */
};

struct runtime_request {
  const char *which;                            /* "auto", "exchange", "keep" or the path of a library */
  const char *private_libomp, *private_version; /* the libomp installed with hpcrun-lite, or "", and its version */
  const char *tools;                            /* the user's OMP_TOOL_LIBRARIES */
};

/* Fills *choice.  Returns LAUNCH_OK, or LAUNCH_FAILED with a message if the requested runtime cannot serve the program.
 */
enum launch_status runtime_choose(const struct program *program, const struct runtime_request *request,
                                  struct runtime_choice *choice, char *message, size_t message_size);

/* Does OMP_TOOL=disabled keep all tools from the runtime? */
bool runtime_tool_disabled(void);

#endif
