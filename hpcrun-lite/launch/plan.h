/* A launch, as the helper works it out for the launcher: what was asked for, and what follows from it.
 *
 * Context: BATCH (the launcher's helper).  inspect.c fills it; diagnose.c and inspect.c read it.
 */
#ifndef HPCRUN_LITE_LAUNCH_PLAN_H
#define HPCRUN_LITE_LAUNCH_PLAN_H

#include <limits.h>
#include <stdbool.h>

#include "common/events.h"
#include "hpcrun-lite/launch/program.h"
#include "hpcrun-lite/launch/runtime.h"

struct plan {
  /* asked for */
  const char *output, *event_list, *task_context, *parallelism, *work, *runtime, *user_preload;
  bool overwrite, paused, for_script; /* for_script: --env */
  int log_level;                      /* 0 quiet, 1, 2 verbose */
  long launcher_pid;
  char **command; /* COMMAND and its arguments; command[0] is NULL where --env has none */

  /* found */
  struct event events[EVENTS_MAX];
  int event_count;
  char library[PATH_MAX];        /* the preloaded library               */
  char private_libomp[PATH_MAX]; /* "" where none is installed          */
  struct program program;
  struct runtime_choice choice;
  char directory[PATH_MAX];
};

/* Writes LD_PRELOAD's and OMP_TOOL_LIBRARIES' values of the plan. */
void plan_preload_value(const struct plan *plan, char *value, size_t size);
void plan_tools_value(const struct plan *plan, char *value, size_t size);

/* Prints what stands in the way of measuring COMMAND well, each with its remedy.  status is what a launch would have
 * ended in so far, message its reason.  Returns 0 where the program would be measured, else 1. */
int diagnose(struct plan *plan, enum launch_status status, const char *message);

#endif
