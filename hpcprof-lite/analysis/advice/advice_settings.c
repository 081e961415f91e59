#include "hpcprof-lite/analysis/advice/advice_settings.h"

#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list that is being made. */
struct list {
  const struct advice_settings_input *input;
  struct trial_setting *settings;
  uint32_t count;
};

/* Adds a setting, unless it is in the list or that is full.  found: the finding whose forecast applies, or NULL. */
static void add(struct list *list, const char *class, const struct advice_finding *found, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void add(struct list *list, const char *class, const struct advice_finding *found, const char *format, ...)
{
  assert(strlen(class) < TRIAL_CLASS_MAX);
  struct trial_setting setting = {0};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(setting.text, sizeof setting.text, format, arguments);
  va_end(arguments);
  for (uint32_t i = 0; i < list->count; i++)
    if (!strcmp(list->settings[i].text, setting.text))
      return;
  if (list->count == TRIAL_SETTINGS_MAX)
    return;
  strcpy(setting.class, class);
  if (found) {
    setting.forecast = true;
    setting.low_s = found->low_s;
    setting.gain_s = found->gain_s;
    setting.high_s = found->high_s;
  }
  list->settings[list->count++] = setting;
}

/* The process with most threads, NULL if none has OpenMP threads. */
static const struct profile_process *largest_process(const struct profile *profile)
{
  const struct profile_process *largest = NULL;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    if (profile->processes[i].threads_max > (largest ? largest->threads_max : 0))
      largest = &profile->processes[i];
  return largest;
}

/* How many threads can run at once: cores rather than their hardware threads, and what a quota leaves of them. */
static uint32_t cores_of(const struct profile_process *process)
{
  uint32_t cores = process->stored.cores ? MIN(process->stored.cores, process->cpus) : process->cpus;
  return profile_within_quota(process, cores);
}

/* The mean size of a region's teams; 1 of another construct. */
static double team_of(const struct construct_entry *entry)
{
  if (!construct_is_region(entry->kind) || !entry->sum.executions)
    return 1;
  return (double)entry->sum.count / (double)entry->sum.executions;
}

/* Whether a region has larger teams than that. */
static bool has_larger_team(const struct construct_tree *constructs, uint32_t threads)
{
  for (uint32_t i = 1; i < constructs->count; i++)
    if (team_of(&constructs->entries[i]) > threads)
      return true;
  return false;
}

/* Whether OMP_NUM_THREADS, or its default, sets the number of threads: a clause would take precedence. */
static bool variable_sets_threads(const struct profile_process *process, const struct construct_tree *constructs)
{
  static const char name[] = "OMP_NUM_THREADS=";
  const char *line = strstr(process->limits, name);
  unsigned long asked = process->cpus;
  if (line && (line == process->limits || line[-1] == '\n'))
    asked = strtoul(line + strlen(name), NULL, 10);
  return asked && !has_larger_team(constructs, (uint32_t)MIN(asked, UINT32_MAX));
}

/* Whether the pool of OpenBLAS, which is not OpenMP's, is loaded. */
static bool loads_openblas_pool(const struct catalog *catalog)
{
  for (uint32_t i = 0; i < catalog->modules_count; i++)
    if (strstr(catalog->modules[i].path, "openblas-pthread") || strstr(catalog->modules[i].path, "libopenblasp"))
      return true;
  return false;
}

static void add_for_oversubscription(struct list *list, const struct advice_finding *found,
                                     const struct profile_process *process)
{
  const char *class = advice_classes[found->class].name;
  const struct construct_tree *constructs = list->input->constructs;
  uint32_t cores = cores_of(process);
  if (!found->remedy->setting && cores && cores < process->threads_max && variable_sets_threads(process, constructs))
    add(list, class, found, "OMP_NUM_THREADS=%" PRIu32, cores);
  add(list, class, NULL, "OMP_WAIT_POLICY=passive");
}

/* The best number of threads for one region: other regions get it, too. */
static void add_for_region_threads(struct list *list, const struct advice_finding *found,
                                   const struct profile_process *process)
{
  const struct region_threads *best = region_threads_of(list->input->region_threads, found->region);
  if (best && best->best && variable_sets_threads(process, list->input->constructs))
    add(list, advice_classes[found->class].name, NULL, "OMP_NUM_THREADS=%" PRIu32, best->best);
}

/* OMP_PROC_BIND takes precedence over variables of libgomp's own; in libomp, KMP_AFFINITY takes precedence over all. */
static void add_for_binding(struct list *list, const struct advice_finding *found)
{
  const char *binding = list->input->binding, *class = advice_classes[found->class].name;
  if (binding && strstr(binding, "_AFFINITY="))
    add(list, class, found, "OMP_PROC_BIND=false KMP_AFFINITY=none KMP_WARNINGS=0");
  else if (binding)
    add(list, class, found, "OMP_PROC_BIND=false");
}

static void add_for(struct list *list, const struct advice_finding *found, const struct profile_process *process)
{
  const char *class = advice_classes[found->class].name;
  bool pool = loads_openblas_pool(&list->input->profile->catalog);
  if (found->remedy->setting)
    add(list, class, found, "%s", found->remedy->setting);
  switch (found->class) {
  case ADVICE_OVERSUBSCRIPTION:
    add_for_oversubscription(list, found, process);
    if (pool)
      add(list, class, NULL, "OPENBLAS_NUM_THREADS=1");
    break;
  case ADVICE_SPINNING:
    if (pool)
      add(list, class, NULL, "OPENBLAS_NUM_THREADS=1");
    break;
  case ADVICE_REGION_OVERHEAD:
    if (process->threads_max > 1 && variable_sets_threads(process, list->input->constructs))
      add(list, class, NULL, "OMP_NUM_THREADS=%" PRIu32, process->threads_max / 2);
    break;
  case ADVICE_REGION_THREADS:
    add_for_region_threads(list, found, process);
    break;
  case ADVICE_BINDING:
    add_for_binding(list, found);
    break;
  case ADVICE_QUOTA:
    if (process->threads_max > cores_of(process) && variable_sets_threads(process, list->input->constructs))
      add(list, class, NULL, "OMP_NUM_THREADS=%" PRIu32, cores_of(process));
    break;
  case ADVICE_LOCALITY:
    add(list, class, NULL, "OMP_PROC_BIND=close");
    break;
  default:
    break;
  }
}

uint32_t advice_settings(const struct advice_settings_input *input, struct trial_setting settings[TRIAL_SETTINGS_MAX])
{
  struct list list = {.input = input, .settings = settings};
  const struct profile_process *process = largest_process(input->profile);
  for (uint32_t i = 0; process && i < input->advice->count; i++)
    add_for(&list, &input->advice->found[i], process);
  return list.count;
}
