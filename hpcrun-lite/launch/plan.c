#include "hpcrun-lite/launch/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "hpcrun-lite/launch/perf_check.h"

#ifndef LIBRARY_FROM_LAUNCHER
#error "LIBRARY_FROM_LAUNCHER: path of the library's directory relative to the launcher's"
#endif
#ifndef PRIVATE_LIBOMP_VERSION
#define PRIVATE_LIBOMP_VERSION ""
#endif

/* ---- the installation ---- */

/* Finds the library and the private libomp relative to the launcher, so that an installation can be moved.  /proc is
 * not used: a container may lack it. */
static enum launch_status find_installation(struct plan *plan, char *message, size_t message_size)
{
  char self[PATH_MAX], path[2 * PATH_MAX];
  if (!realpath((const char *)getauxval(AT_EXECFN), self))
    self[0] = '\0';
  char *slash = strrchr(self, '/');
  if (slash)
    *slash = '\0';
  snprintf(path, sizeof path, "%s/%s/libhpcrun-lite.so", self, LIBRARY_FROM_LAUNCHER);
  if (!realpath(path, plan->library)) {
    snprintf(message, message_size, "incomplete installation: %.400s is missing; install it again", path);
    return LAUNCH_FAILED;
  }
  if (strpbrk(plan->library, " :$;\t\n")) {
    snprintf(message, message_size,
             "installed in '%.400s': LD_PRELOAD cannot name a path with spaces, ':' or '$'; move it", plan->library);
    return LAUNCH_FAILED;
  }
  snprintf(path, sizeof path, "%s/hpcprof-lite", self);
  if (plan->report && !realpath(path, plan->reporter)) {
    snprintf(message, message_size, "incomplete installation: %.400s is missing, which --report needs", path);
    return LAUNCH_FAILED;
  }
  snprintf(path, sizeof path, "%s/%s/omp/libomp.so.5", self, LIBRARY_FROM_LAUNCHER);
  if (!realpath(path, plan->private_libomp))
    plan->private_libomp[0] = '\0';
  return LAUNCH_OK;
}

/* ---- list variables ---- */

/* Appends "SEPARATOR item", unless item is empty. */
static void append_item(char *value, size_t size, const char *item, size_t item_length)
{
  size_t length = strlen(value);
  if (item_length > 0 && length + item_length + 2 <= size)
    snprintf(value + length, size - length, "%s%.*s", length ? ":" : "", (int)item_length, item);
}

static bool equals(const char *item, size_t length, const char *path)
{
  return path && strlen(path) == length && strncmp(item, path, length) == 0;
}

/* Appends the items of a list that were not added by an outer launch. */
static void append_foreign_items(char *value, size_t size, const char *list, const char *separators,
                                 const char *library)
{
  const char *outer_runtime = getenv("HPCRUN_LITE_RUNTIME");
  while (list && *list) {
    size_t length = strcspn(list, separators);
    if (!equals(list, length, library) && !equals(list, length, outer_runtime))
      append_item(value, size, list, length);
    list += length;
    list += strspn(list, separators);
  }
}

void plan_preload_value(const struct plan *plan, char *value, size_t size)
{
  value[0] = '\0';
  append_item(value, size, plan->library, strlen(plan->library));
  append_item(value, size, plan->choice.preload, strlen(plan->choice.preload));
  append_foreign_items(value, size, plan->user_preload, ": ", plan->library);
}

void plan_tools_value(const struct plan *plan, char *value, size_t size)
{
  value[0] = '\0';
  append_foreign_items(value, size, getenv("OMP_TOOL_LIBRARIES"), ":", plan->library);
  append_item(value, size, plan->library, strlen(plan->library));
}

/* ---- working the plan out ---- */

static enum launch_status check_events(struct plan *plan, char *message, size_t message_size)
{
  plan->event_count = events_parse_list(plan->event_list, plan->events, message, message_size);
  if (plan->event_count < 0)
    return LAUNCH_FAILED;
  for (int i = 0; i < plan->event_count; i++)
    if (perf_check_event(&plan->events[i], message, message_size) != 0)
      return LAUNCH_FAILED;
  for (int i = 0; i < plan->event_count; i++)
    for (unsigned k = 0; k < plan->counted.count; k++)
      if (!strcmp(plan->events[i].name, plan->counted.counters[k].name)) {
        snprintf(message, message_size, "event '%s' is given to --event and to --count: leave out one of them",
                 plan->events[i].name);
        return LAUNCH_FAILED;
      }
  if (!count_events_check(&plan->counted, message, message_size))
    return LAUNCH_FAILED;
  return perf_check_work(plan->work, message, message_size) == 0 ? LAUNCH_OK : LAUNCH_FAILED;
}

/* A value of --trace that was taken for the command. */
static void suggest_value(const struct plan *plan, char *message, size_t message_size)
{
  size_t length = strlen(message);
  const char *command = plan->command[0];
  if (plan->trace && (!strcmp(command, "samples") || !strcmp(command, "states")))
    snprintf(message + length, message_size - length, " (did you mean -t%s?)", command);
}

/* Whether this launch is one of several ranks, of which no one knows when all have ended. */
static bool is_one_of_many(void)
{
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                      "SLURM_STEP_NUM_TASKS"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const char *size = getenv(sizes[i]);
    if (size && atoi(size) > 1)
      return true;
  }
  return false;
}

enum launch_status plan_work_out(struct plan *plan, char *message, size_t message_size)
{
  static char user_preload[PLAN_VALUE_BYTES], user_tools[PLAN_VALUE_BYTES];
  if ((plan->report || plan->series.count) && is_one_of_many()) {
    snprintf(message, message_size, "%s",
             plan->series.count ? "--scaling starts all runs itself, and this is one of several ranks: measure each "
                                  "number of threads in a job of its own, with -o"
                                : "--report shows a run when it has ended, and this is one of several ranks: when the "
                                  "job has ended, use hpcprof-lite DIR");
    return LAUNCH_FAILED;
  }
  enum launch_status status = find_installation(plan, message, message_size);
  if (status == LAUNCH_OK)
    status = check_events(plan, message, message_size);
  if (status != LAUNCH_OK)
    return status;
  if (plan->command[0]) {
    status = program_find(plan->command[0], &plan->program, message, message_size);
    if (status == LAUNCH_NOT_FOUND)
      suggest_value(plan, message, message_size);
    if (status == LAUNCH_OK)
      status = program_check_preload(&plan->program, message, message_size);
    if (status != LAUNCH_OK)
      return status;
    append_foreign_items(user_preload, sizeof user_preload, plan->user_preload, ": ", plan->library);
    program_list_modules(&plan->program, user_preload);
  }
  append_foreign_items(user_tools, sizeof user_tools, getenv("OMP_TOOL_LIBRARIES"), ":", plan->library);
  const struct runtime_request request = {.which = plan->runtime,
                                          .private_libomp = plan->private_libomp,
                                          .private_version = PRIVATE_LIBOMP_VERSION,
                                          .tools = user_tools};
  return runtime_choose(&plan->program, &request, &plan->choice, message, message_size);
}
