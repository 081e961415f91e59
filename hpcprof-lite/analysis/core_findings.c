#include "hpcprof-lite/analysis/core_findings.h"

#include "common/order.h"
#include "hpcprof-lite/model/cpu_list.h"
#include "hpcprof-lite/model/names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MASKS_MAX = 256, MILLI = 1000, PERCENT = 100 };

const char *core_finding_name(enum core_finding_kind kind)
{
  static const char *const names[] = {[CORES_BINDING] = "binding",
                                      [CORES_QUOTA] = "quota",
                                      [CORES_OVERSUBSCRIPTION] = "oversubscription",
                                      [CORES_SMT] = "smt",
                                      [CORES_STEAL] = "steal"};
  assert(kind < sizeof names / sizeof *names);
  return names[kind];
}

/* Appends the settings of the process that are in a list of names, which ends in NULL. */
static void add_settings(struct core_finding *found, const struct profile_process *process, const char *const *names)
{
  size_t length = 0;
  for (const char *line = process->limits; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    size_t name = strcspn(line, "=\n"), whole = strcspn(line, "\n");
    for (size_t i = 0; names[i]; i++)
      if (strlen(names[i]) == name && !memcmp(names[i], line, name) && length + whole + 2 < sizeof found->settings)
        length += (size_t)snprintf(found->settings + length, sizeof found->settings - length, "%s%.*s",
                                   length ? " " : "", (int)whole, line);
  }
}

/* Returns what it has added; NULL: there is no room. */
static struct core_finding *__attribute__((format(printf, 5, 6)))
add(struct core_findings *findings, enum core_finding_kind kind, const struct profile_process *process,
    const char *const *settings, const char *format, ...)
{
  if (findings->count == CORE_FINDINGS_MAX) {
    findings->left_out++;
    return NULL;
  }
  struct core_finding *found = &findings->found[findings->count++];
  *found = (struct core_finding){.kind = kind, .pid = process->pid};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(found->text, sizeof found->text, format, arguments);
  va_end(arguments);
  add_settings(found, process, settings);
  return found;
}

/* found may be NULL. */
static void set_cores(struct core_finding *found, uint32_t threads, uint32_t cpus, uint32_t could)
{
  if (!found)
    return;
  found->threads = threads;
  found->cpus = cpus;
  found->could = could;
}

static const char *plural(uint64_t count)
{
  return count == 1 ? "" : "s";
}

/* ---- binding ---- */

/* Whether it is an OpenMP thread, or one that uses a core noticeably. */
static bool needs_core(const struct profile_thread *thread)
{
  enum { LITTLE = 20 };
  bool counts = thread->mask_cpus && !(thread->flags & THREAD_HELPER);
  return counts && (thread->flags & THREAD_OPENMP || thread->cpu_ns > thread->wall_ns / LITTLE);
}

/* Whether it needs a core, and has that mask. */
static bool has_mask(const struct profile_thread *thread, const void *mask)
{
  return needs_core(thread) && !memcmp(thread->mask, mask, sizeof thread->mask);
}

static bool meant(const struct profile_thread *thread, const void *unused)
{
  (void)unused;
  return needs_core(thread);
}

uint32_t core_findings_threads(const struct profile_process *process)
{
  return MAX(MAX(process->threads_max, 1), profile_most_at_once(process, meant, NULL));
}

bool core_finding_has(const struct core_finding *found, const struct profile_thread *thread)
{
  return found->mask ? has_mask(thread, found->mask) : needs_core(thread);
}

/* Groups of threads that share fewer CPUs than an equal division of those of the process would give them. */
static void find_bound(const struct profile_process *process, struct core_findings *findings)
{
  static const char *const settings[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", NULL};
  const uint64_t *seen[MASKS_MAX];
  uint32_t masks = 0;
  for (uint32_t i = 0; i < process->threads_count && masks < MASKS_MAX; i++) {
    const struct profile_thread *thread = &process->threads[i];
    uint32_t known = 0;
    while (known < masks && memcmp(seen[known], thread->mask, sizeof thread->mask) != 0)
      known++;
    if (known < masks || !needs_core(thread))
      continue;
    seen[masks++] = thread->mask;
    if (thread->mask_cpus >= process->cpus || !cpu_list_within(thread->mask, process->launch_mask))
      continue;
    uint64_t threads = MAX(process->threads_max, process->cpus); /* as many as cores have one core each */
    uint64_t fair = (thread->mask_cpus * threads + process->cpus - 1) / process->cpus;
    uint32_t most = profile_most_at_once(process, has_mask, thread->mask);
    char list[CPU_LIST_TEXT];
    if (most <= fair)
      continue;
    struct core_finding *found =
        add(findings, CORES_BINDING, process, settings,
            "%" PRIu32 " threads share CPU%s %s, of %" PRIu32 " that the process could use", most,
            plural(thread->mask_cpus), cpu_list_text(thread->mask, thread->mask_cpus, list), process->cpus);
    set_cores(found, most, thread->mask_cpus, process->cpus);
    if (found)
      found->mask = thread->mask;
  }
}

/* ---- too few cores for the threads ---- */

/* Whether the list of numbers in the variable has that one: it has a number for each level of nesting. */
static bool asks_for(const struct profile_process *process, uint32_t threads)
{
  static const char name[] = "OMP_NUM_THREADS=";
  const char *line = strstr(process->limits, name);
  if (!line || (line != process->limits && line[-1] != '\n'))
    return false;
  for (line += sizeof name - 1; *line && *line != '\n'; line += *line == ',') {
    char *end;
    if (strtoul(line, &end, 10) == threads)
      return true;
    line = end == line ? line + strcspn(line, ",\n") : end;
  }
  return false;
}

/* The members of a region's teams, on average. */
static double team_of(const struct construct_entry *entry)
{
  bool counted = construct_is_region(entry->kind) && entry->sum.executions;
  return counted ? (double)entry->sum.count / (double)entry->sum.executions : 0;
}

/* The region with the largest teams, if these are larger than the cores; NULL: there is none. */
static const struct construct_entry *largest_team(const struct construct_tree *constructs, uint32_t cpus)
{
  const struct construct_entry *largest = NULL;
  for (uint32_t i = 1; i < constructs->count; i++) {
    const struct construct_entry *entry = &constructs->entries[i];
    if (team_of(entry) > (largest ? team_of(largest) : cpus))
      largest = entry;
  }
  return largest;
}

static void find_oversubscription(const struct profile_process *process, const struct construct_tree *constructs,
                                  struct core_findings *findings)
{
  static const char clause[] = "num_threads clause or omp_set_num_threads()";
  const struct construct_entry *region = largest_team(constructs, process->cpus);
  uint32_t team = region ? (uint32_t)(team_of(region) + 0.5) : process->threads_max;
  const char *settings[] = {asks_for(process, team) ? "OMP_NUM_THREADS" : NULL, NULL};
  char place[CORE_FINDING_TEXT / 2] = "";
  if (region && *region->file)
    snprintf(place, sizeof place, "; %s @ %.100s:%" PRIu32 " (%.100s) has teams of %.3g threads",
             profile_directive_name(region->kind), names_base(region->file), region->line, region->name,
             team_of(region));
  struct core_finding *found = add(findings, CORES_OVERSUBSCRIPTION, process, settings,
                                   "%" PRIu32 " OpenMP threads at once on %" PRIu32 " CPU%s%s", process->threads_max,
                                   process->cpus, plural(process->cpus), place);
  set_cores(found, process->threads_max, process->cpus, process->cpus);
  if (!found)
    return;
  found->region = region;
  found->asked = settings[0];
  if (region && !settings[0])
    memcpy(found->settings, clause, sizeof clause);
}

static void find_few_cores(const struct profile_process *process, const struct construct_tree *constructs,
                           struct core_findings *findings)
{
  char list[CPU_LIST_TEXT];
  uint32_t cores = process->stored.cores;
  if (cores && cores < process->cpus && process->threads_max > cores)
    add(findings, CORES_SMT, process, (const char *const[]){NULL},
        "%" PRIu32 " OpenMP threads at once on %" PRIu32 " core%s: the %" PRIu32
        " CPUs that the process could use are hardware threads (SMT)",
        process->threads_max, cores, plural(cores), process->cpus);
  if (process->threads_max <= process->cpus)
    return;
  cpu_list_text(process->launch_mask, process->cpus, list);
  if (process->machine_cpus > process->cpus)
    set_cores(add(findings, CORES_BINDING, process, (const char *const[]){NULL},
                  "%" PRIu32 " threads on CPU%s %s: the process was started with a mask of %" PRIu32 " of the %" PRIu32
                  " CPUs of the machine (taskset, mpirun, a batch system)",
                  process->threads_max, plural(process->cpus), list, process->cpus, process->machine_cpus),
              process->threads_max, process->cpus, process->machine_cpus);
  find_oversubscription(process, constructs, findings);
}

/* ---- the kernel's figures ---- */

/* ", until 3.200 s of 10.000 s": for figures that were read long before the end; "" for others. */
static void until_text(const struct profile_process *process, char text[64])
{
  *text = '\0';
  if (process->limits_ns < process->wall_ns - process->wall_ns / 10)
    snprintf(text, 64, ", until %.3f s of %.3f s", (double)process->limits_ns / 1e9, (double)process->wall_ns / 1e9);
}

static double percent_of(uint64_t part, uint64_t whole)
{
  return whole ? PERCENT * (double)MIN(part, whole) / (double)whole : 0;
}

static void find_limits(const struct profile_process *process, struct core_findings *findings)
{
  static const char *const settings[] = {"cgroup", NULL};
  char until[64], quota[64] = "", threads[64];
  uint32_t count = core_findings_threads(process);
  until_text(process, until);
  if (process->quota_milli)
    snprintf(quota, sizeof quota, "quota of %.3g CPU%s for ", process->quota_milli / (double)MILLI,
             process->quota_milli == MILLI ? "" : "s");
  snprintf(threads, sizeof threads, "%" PRIu32 " thread%s", count, plural(count));
  if (process->throttled_periods)
    add(findings, CORES_QUOTA, process, settings, "%s%s: throttled in %.0f %% of the periods, for %.3f s of CPU time%s",
        quota, threads, percent_of(process->throttled_periods, process->quota_periods),
        (double)process->throttled_ns / 1e9, until);
  else if (process->quota_milli && process->quota_milli < (uint64_t)MILLI * count)
    add(findings, CORES_QUOTA, process, settings, "%s%s: %s%s", quota, threads,
        process->limits_ns ? "not throttled" : "whether it was throttled is not known",
        process->limits_ns ? until : "");
  double steal = percent_of(process->steal_ns, process->machine_ns);
  if (steal >= 1)
    add(findings, CORES_STEAL, process, (const char *const[]){NULL},
        "the host of this virtual machine took %.0f %% of the time of its CPUs (steal)%s", steal, until);
}

void core_findings_find(const struct profile *profile, const struct construct_tree *constructs,
                        struct core_findings *findings)
{
  findings->count = findings->left_out = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable || !process->cpus || !cpu_list_count(process->launch_mask))
      continue; /* an older file */
    uint32_t first = findings->count;
    find_few_cores(process, constructs, findings);
    find_bound(process, findings);
    find_limits(process, findings);
    for (uint32_t j = first; j < findings->count; j++)
      findings->found[j].process = i;
  }
}
