#include "hpcrun-lite/launch/plan.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpcrun-lite/launch/configuration/filter_values.h"
#include "hpcrun-lite/launch/configuration/program_settings.h"
#include "hpcrun-lite/launch/safety/installation_link.h"
#include "hpcrun-lite/launch/events/perf_check.h"
#include "hpcrun-lite/launch/program/installation.h"
#include "hpcrun-lite/launch/program/mpi_use.h"
#include "hpcrun-lite/launch/safety/safe_directory.h"

#define MPI_LIBRARY "libhpcrun-lite-mpi.so"

#ifndef PRIVATE_LIBOMP_VERSION
#define PRIVATE_LIBOMP_VERSION ""
#endif

/* ---- the installation ---- */

/* Finds the launcher, the library, the reporter and the private libomp. */
static enum launch_status find_installation(struct plan *plan, char *message, size_t message_size)
{
  char path[INSTALLATION_PATH];
  snprintf(plan->launcher, sizeof plan->launcher, "%s", installation_launcher());
  installation_library("libhpcrun-lite.so", path);
  if (!realpath(path, plan->library)) {
    snprintf(message, message_size, "incomplete installation: %.400s is missing; install it again", path);
    return LAUNCH_FAILED;
  }
  installation_library(MPI_LIBRARY, path);
  if (!realpath(path, plan->mpi_library)) {
    snprintf(message, message_size, "incomplete installation: %.400s is missing; install it again", path);
    return LAUNCH_FAILED;
  }
  installation_program("hpcprof-lite", path);
  if ((plan->report || plan->live || plan->trials.wanted) && !realpath(path, plan->reporter)) {
    snprintf(message, message_size, "incomplete installation: %.400s is missing, which --report, --live and --try need",
             path);
    return LAUNCH_FAILED;
  }
  installation_library("omp/libomp.so.5", path);
  if (!realpath(path, plan->private_libomp))
    plan->private_libomp[0] = '\0';
  return LAUNCH_OK;
}

/* ---- list variables ---- */

/* Does the program run on the private libomp? */
static bool exchanged(const struct plan *plan)
{
  return plan->choice.preload[0] && !strcmp(plan->choice.preload, plan->private_libomp);
}

enum launch_status plan_make_preloadable(struct plan *plan, char *message, size_t message_size)
{
  char target[PATH_MAX], link[PATH_MAX];
  bool private = exchanged(plan);
  if (plan->choice.preload[0] && !private && !safe_directory_nameable(plan->choice.preload)) {
    snprintf(message, message_size,
             "runtime '%.400s': LD_PRELOAD cannot contain a path with spaces, ':', ';' or '$'; copy it to another path",
             plan->choice.preload);
    return LAUNCH_FAILED;
  }
  if (safe_directory_nameable(plan->library))
    return LAUNCH_OK;
  snprintf(target, sizeof target, "%.*s", (int)(path_base(plan->library) - plan->library - 1), plan->library);
  if (!installation_link(target, link, sizeof link, message, message_size))
    return LAUNCH_FAILED;
  snprintf(plan->library, sizeof plan->library, "%.4000s/libhpcrun-lite.so", link);
  snprintf(plan->mpi_library, sizeof plan->mpi_library, "%.4000s/" MPI_LIBRARY, link);
  if (private)
    snprintf(plan->choice.preload, sizeof plan->choice.preload, "%.4000s/omp/libomp.so.5", link);
  return LAUNCH_OK;
}

struct directory_request plan_directory(const struct plan *plan)
{
  assert(plan->command);
  const char *command = plan->program.path[0] ? plan->program.path : plan->command[0];
  return (struct directory_request){.output = plan->output,
                                    .command = command ? path_base(command) : "",
                                    .overwrite = plan->overwrite,
                                    .trust = plan->trust_directory,
                                    .series = plan->series.count > 0};
}

/* Appends "SEPARATOR item", unless item is empty. */
static void append_item(char *value, size_t size, const char *item, size_t item_length)
{
  assert(size && strlen(value) < size);
  size_t length = strlen(value);
  if (item_length > 0 && length + item_length + 2 <= size)
    snprintf(value + length, size - length, "%s%.*s", length ? ":" : "", (int)item_length, item);
}

static bool equals(const char *item, size_t length, const char *path)
{
  return path && strlen(path) == length && strncmp(item, path, length) == 0;
}

/* Appends the items of a list that were not added by an outer launch. */
static void append_foreign_items(const struct plan *plan, char *value, size_t size, const char *list,
                                 const char *separators)
{
  const char *outer_runtime = getenv("HPCRUN_LITE_RUNTIME");
  while (list && *list) {
    size_t length = strcspn(list, separators);
    if (!equals(list, length, plan->library) && !equals(list, length, plan->mpi_library) &&
        !equals(list, length, outer_runtime))
      append_item(value, size, list, length);
    list += length;
    list += strspn(list, separators);
  }
}

void plan_preload_value(const struct plan *plan, char *value, size_t size)
{
  assert(size && plan->library[0]);
  value[0] = '\0';
  append_item(value, size, plan->library, strlen(plan->library));
  if (plan->mpi)
    append_item(value, size, plan->mpi_library, strlen(plan->mpi_library));
  append_item(value, size, plan->choice.preload, strlen(plan->choice.preload));
  append_foreign_items(plan, value, size, plan->user_preload, ": ");
}

enum launch_status plan_check_auditors(const struct plan *plan, char *message, size_t message_size)
{
  static char preload[PLAN_VALUE_BYTES], user_preload[PLAN_VALUE_BYTES];
  plan_preload_value(plan, preload, sizeof preload);
  user_preload[0] = '\0';
  append_foreign_items(plan, user_preload, sizeof user_preload, plan->user_preload, ": ");
  return program_check_auditors(&plan->program, user_preload, preload, message, message_size);
}

void plan_tools_value(const struct plan *plan, char *value, size_t size)
{
  assert(size && plan->library[0]);
  value[0] = '\0';
  append_foreign_items(plan, value, size, getenv("OMP_TOOL_LIBRARIES"), ":");
  append_item(value, size, plan->library, strlen(plan->library));
}

/* ---- settings ---- */

/* What the settings amount to for programs that no section names. */
static void take_values(struct plan *plan, const struct setting_values *values)
{
  const char *const *text = values->of.text;
  plan->event_list = text[SETTING_EVENTS];
  plan->parallelism = text[SETTING_PARALLELISM];
  plan->work = text[SETTING_WORK];
  plan->overhead_limit = text[SETTING_OVERHEAD_LIMIT];
  plan->trace = setting_is(values, SETTING_TRACE, "off") ? NULL : text[SETTING_TRACE];
  plan->task_context = text[SETTING_TASK_CONTEXT];
  plan->runtime = text[SETTING_OMP_RUNTIME];
  plan->output = text[SETTING_OUTPUT] ? text[SETTING_OUTPUT] : "";
  plan->overwrite = setting_is(values, SETTING_OVERWRITE, "yes");
  plan->paused = setting_is(values, SETTING_PAUSED, "yes");
  plan->no_arguments = setting_is(values, SETTING_ARGUMENTS, "no");
  plan->keep_symbols = setting_is(values, SETTING_KEEP_SYMBOLS, "yes");
  plan->level = text[SETTING_LEVEL];
  plan->trace_limit = setting_size(text[SETTING_TRACE_LIMIT]);
  plan->trace_keep = text[SETTING_TRACE_KEEP];
  plan->memory_limit = setting_size(text[SETTING_MEMORY_LIMIT]);
}

enum launch_status plan_take_settings(struct plan *plan, const char *asked_for, char *message, size_t message_size)
{
  static char filter[FILTER_VALUES_BYTES], programs[PLAN_VALUE_BYTES];
  struct setting_values values;
  if (!configuration_find(asked_for, &plan->configuration, message, message_size))
    return LAUNCH_FAILED;
  setting_resolve(&plan->options, NULL, &plan->configuration.common, &values);
  take_values(plan, &values);
  if (!filter_values_text(&values.of, filter, sizeof filter)) {
    filter_values_refuse(&values.of, plan->configuration.path, message, message_size);
    return LAUNCH_FAILED;
  }
  if (!program_settings_text(&plan->options, &plan->configuration, programs, sizeof programs, message, message_size))
    return LAUNCH_FAILED;
  plan->filter = filter;
  plan->programs = programs[0] ? programs : NULL;
  return LAUNCH_OK;
}

/* ---- working the plan out ---- */

/* Writes "FILE:LINE: KEY: " if the setting comes from a file.  Returns its length. */
static size_t name_place(const struct plan *plan, const struct setting_values *values, enum setting setting,
                         char *message, size_t message_size)
{
  assert(setting < SETTINGS && message_size);
  message[0] = '\0';
  if (values->source[setting] == SOURCE_FILE)
    snprintf(message, message_size, "%.400s:%d: %s: ", plan->configuration.path, values->of.line[setting],
             setting_keys[setting].name);
  return strlen(message);
}

/* Whether this user can count the counters beside these events. */
static bool check_counters(const struct plan *plan, const struct setting_values *values, const struct event *events,
                           int event_count, struct count_list *counted, char *message, size_t message_size)
{
  size_t at = name_place(plan, values, SETTING_COUNTERS, message, message_size);
  if (!at)
    at = (size_t)snprintf(message, message_size, "option --count: ");
  *counted = (struct count_list){0};
  if (!count_events_add(counted, values->of.text[SETTING_COUNTERS], message + at, message_size - at))
    return false;
  for (int i = 0; i < event_count; i++)
    for (unsigned k = 0; k < counted->count; k++)
      if (!strcmp(events[i].name, counted->counters[k].name)) {
        snprintf(message + at, message_size - at, "event '%s' is also sampled (--event): leave out one of them",
                 events[i].name);
        return false;
      }
  return count_events_check(counted, message + at, message_size - at);
}

/* Whether this user can measure the events, the counters and the work.  Returns the number of events, or -1 with a
 * message. */
static int check_values(const struct plan *plan, const struct setting_values *values, struct event events[EVENTS_MAX],
                        struct count_list *counted, char *message, size_t message_size)
{
  size_t at = name_place(plan, values, SETTING_EVENTS, message, message_size);
  int count = events_parse_list(values->of.text[SETTING_EVENTS], events, message + at, message_size - at);
  for (int i = 0; i < count; i++)
    if (perf_check_event(&events[i], message + at, message_size - at) != 0)
      return -1;
  if (count < 0)
    return -1;
  if (!check_counters(plan, values, events, count, counted, message, message_size))
    return -1;
  at = name_place(plan, values, SETTING_WORK, message, message_size);
  return perf_check_work(values->of.text[SETTING_WORK], message + at, message_size - at) == 0 ? count : -1;
}

static enum launch_status check_events(struct plan *plan, char *message, size_t message_size)
{
  struct setting_values values;
  struct event events[EVENTS_MAX];
  struct count_list counted;
  const struct configuration *configuration = &plan->configuration;
  setting_resolve(&plan->options, NULL, &configuration->common, &values);
  plan->event_count = check_values(plan, &values, plan->events, &plan->counted, message, message_size);
  int count = plan->event_count;
  for (unsigned i = 0; i < configuration->program_count && count >= 0; i++) {
    setting_resolve(&plan->options, &configuration->programs[i].layer, &configuration->common, &values);
    count = check_values(plan, &values, events, &counted, message, message_size);
  }
  return count < 0 ? LAUNCH_FAILED : LAUNCH_OK;
}

/* A value of --trace or --try that was taken for the command. */
static void suggest_value(const struct plan *plan, char *message, size_t message_size)
{
  size_t length = strlen(message);
  const char *command = plan->command[0];
  if (plan->trace && (!strcmp(command, "samples") || !strcmp(command, "states")))
    snprintf(message + length, message_size - length, " (did you mean -t%s?)", command);
  if (plan->trials.wanted && strchr(command, '='))
    snprintf(message + length, message_size - length, " (did you mean --try='%.200s'?)", command);
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

/* Why one of several ranks cannot be launched like this. */
static const char *refusal_of_rank(const struct plan *plan)
{
  if (plan->series.count)
    return "--scaling starts all runs itself, and this is one of several ranks: measure each number of threads in a "
           "job of its own, with -o";
  if (plan->live)
    return "--live shows one process on its terminal, and this is one of several ranks: run hpcprof-lite --live DIR "
           "beside the job";
  return "--report shows a run when it has ended, and this is one of several ranks: when the job has ended, use "
         "hpcprof-lite DIR";
}

enum launch_status plan_work_out(struct plan *plan, char *message, size_t message_size)
{
  static char user_preload[PLAN_VALUE_BYTES], user_tools[PLAN_VALUE_BYTES];
  if ((plan->report || plan->live || plan->series.count) && is_one_of_many()) {
    snprintf(message, message_size, "%s", refusal_of_rank(plan));
    return LAUNCH_FAILED;
  }
  enum launch_status status = find_installation(plan, message, message_size);
  if (status == LAUNCH_OK)
    status = check_events(plan, message, message_size);
  if (status != LAUNCH_OK)
    return status;
  if (plan->command[0]) {
    status = program_find_command(plan->command, &plan->program, message, message_size);
    if (status == LAUNCH_NOT_FOUND)
      suggest_value(plan, message, message_size);
    if (status == LAUNCH_OK)
      status = program_check_preload(&plan->program, message, message_size);
    if (status != LAUNCH_OK)
      return status;
    append_foreign_items(plan, user_preload, sizeof user_preload, plan->user_preload, ": ");
    program_list_modules(&plan->program, user_preload);
  }
  plan->mpi = mpi_use_expected(&plan->program, plan->command);
  append_foreign_items(plan, user_tools, sizeof user_tools, getenv("OMP_TOOL_LIBRARIES"), ":");
  const struct runtime_request request = {.which = plan->runtime,
                                          .private_libomp = plan->private_libomp,
                                          .private_version = PRIVATE_LIBOMP_VERSION,
                                          .tools = user_tools};
  struct setting_values values;
  setting_resolve(&plan->options, NULL, &plan->configuration.common, &values);
  size_t at = name_place(plan, &values, SETTING_OMP_RUNTIME, message, message_size);
  if (!at)
    at = (size_t)snprintf(message, message_size, "option --omp-runtime: ");
  return runtime_choose(&plan->program, &request, &plan->choice, message + at, message_size - at);
}
