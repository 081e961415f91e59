#include "hpcprof-lite/analysis/advice/advice_cores.h"

#include "common/order.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Appends to the evidence what is set and causes it. */
static void add_settings(const struct core_finding *cause, struct advice_finding *found)
{
  size_t length = strlen(found->evidence);
  if (*cause->settings)
    snprintf(found->evidence + length, sizeof found->evidence - length, " (%.120s)", cause->settings);
}

/* Appends the process if there are several. */
static void add_process(const struct advice_run *run, const struct core_finding *cause, struct advice_finding *found)
{
  size_t length = strlen(found->evidence);
  if (run->input->profile->processes_usable > 1)
    snprintf(found->evidence + length, sizeof found->evidence - length, "; process %" PRIu32, cause->pid);
}

static double elapsed_of(const struct profile_process *process)
{
  return advice_seconds(profile_measured_ns(process->wall_ns, process->paused_ns));
}

/* CPUs that the threads could have: of those of a machine, processes that were started together on it have a part each.
 */
static double could_have(const struct advice_run *run, const struct core_finding *cause)
{
  const struct profile *profile = run->input->profile;
  const struct profile_process *process = &profile->processes[cause->process];
  uint32_t together = 1;
  for (uint32_t i = 0; i < profile->processes_usable && !cause->mask; i++) {
    const struct profile_process *other = &profile->processes[i];
    together += other != process && other->rank >= 0 && process->rank >= 0 && !strcmp(other->host, process->host);
  }
  return fmin(cause->threads, cause->could / together);
}

/* While n threads are ready on m CPUs, they wait for n - m seconds in each second, and with k CPUs they would need
 * m / min(n, k) seconds for the same. */
static bool find_binding(struct advice_run *run, const struct core_finding *cause)
{
  static const struct advice_remedy started = {.text = "Start it on more CPUs: taskset, mpirun --bind-to none or "
                                                       "--map-by with PE=N, --cpus-per-task of a batch system.",
                                               .brief =
                                                   "Start it on more CPUs: taskset, mpirun --bind-to, --cpus-per-task"};
  const struct profile_process *process = &run->input->profile->processes[cause->process];
  double own = cause->cpus, threads = cause->threads, most = could_have(run, cause), ready_s = 0;
  if (most <= own)
    return false;
  for (uint32_t i = 0; i < process->threads_count; i++)
    if (core_finding_has(cause, &process->threads[i]))
      ready_s += advice_seconds(process->threads[i].run_delay_ns);
  double most_s = elapsed_of(process) * (1 - own / most);
  double gain_s = fmin(most_s, ready_s * (1 - own / most) / (threads - own));
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_BINDING, gain_s, "%.200s; they were ready to run without a core for %.3f s",
                 cause->text, ready_s);
  if (found == &run->advice->unlisted)
    return false;
  found->high_s = fmin(run->advice->elapsed_s, fmax(gain_s, most_s));
  add_settings(cause, found);
  add_process(run, cause, found);
  if (!cause->mask)
    found->remedy = &started;
  return true;
}

/* The control group whose quota stops a process, as a line of its settings; NULL: its name is not known. */
static const char *group_of(const struct profile_process *process)
{
  static const char name[] = "cgroup=";
  const char *line = process->limits ? process->limits : "";
  while (*line && strncmp(line, name, sizeof name - 1) != 0) {
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return *line ? line : NULL;
}

static uint64_t end_of(const struct profile_process *process)
{
  return model_sum(process->start_ns, process->wall_ns);
}

/* Whether both were in the same control group at the same time. */
static bool share_group(const struct profile_process *x, const struct profile_process *y)
{
  const char *of_x = group_of(x), *of_y = group_of(y);
  if (x == y)
    return true;
  return of_x && of_y && strcspn(of_x, "\n") == strcspn(of_y, "\n") && !memcmp(of_x, of_y, strcspn(of_x, "\n")) &&
         !strcmp(x->host, y->host) && x->start_ns < end_of(y) && y->start_ns < end_of(x);
}

/* The time in which a group is stopped is summed over CPUs; each of its processes has seen it, the one that ran longest
 * most of it. */
static void find_quota(struct advice_run *run, const struct core_finding *cause)
{
  const struct profile *profile = run->input->profile;
  const struct profile_process *process = &profile->processes[cause->process];
  double cores = 0, elapsed_s = elapsed_of(process);
  uint32_t processes = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *other = &profile->processes[i];
    if (other != process && (!other->usable || !share_group(process, other)))
      continue;
    if (other->throttled_ns > process->throttled_ns ||
        (other->throttled_ns == process->throttled_ns && other < process))
      return;
    cores += MAX(1, MIN(core_findings_threads(other), other->cpus)); /* that its threads can use at once */
    processes++;
  }
  if (!process->throttled_ns)
    return;
  if (process->machine_cpus)
    cores = fmin(cores, process->machine_cpus);
  double gain_s = fmin(advice_seconds(process->throttled_ns) / cores, elapsed_s);
  if (process->quota_milli)
    gain_s = fmin(gain_s, elapsed_s * fmax(0, 1 - process->quota_milli * 1e-3 / cores));
  struct advice_finding *found = advice_add(run->advice, ADVICE_QUOTA, gain_s, "%.300s", cause->text);
  size_t length = strlen(found->evidence);
  if (processes > 1)
    snprintf(found->evidence + length, sizeof found->evidence - length, "; %" PRIu32 " processes share it", processes);
  add_process(run, cause, found);
}

bool advice_cores_find(struct advice_run *run)
{
  const struct core_findings *cores = run->input->cores;
  bool bound = false;
  for (uint32_t i = 0; i < cores->count; i++) {
    if (cores->found[i].kind == CORES_BINDING)
      bound |= find_binding(run, &cores->found[i]);
    if (cores->found[i].kind == CORES_QUOTA)
      find_quota(run, &cores->found[i]);
  }
  return bound;
}

/* ---- more threads than cores ---- */

/* The region around an entry, NULL if there is none with several threads. */
static const struct construct_entry *region_around(const struct construct_tree *tree,
                                                   const struct construct_entry *entry)
{
  assert(entry >= tree->entries && entry < tree->entries + tree->count);
  for (uint32_t i = entry->parent; i; i = tree->entries[i].parent)
    if (construct_is_region(tree->entries[i].kind) && tree->entries[i].threads > 1)
      return &tree->entries[i];
  return NULL;
}

/* The region in which most teams of a team are opened, NULL: there is none. */
static const struct construct_entry *nested_region(const struct construct_tree *tree)
{
  const struct construct_entry *most = NULL;
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    if (construct_is_region(entry->kind) && entry->threads > 1 && region_around(tree, entry) &&
        (!most || entry->sum.executions > most->sum.executions))
      most = entry;
  }
  return most;
}

void advice_cores_place(const struct advice_run *run, uint32_t process, struct advice_finding *found)
{
  static const struct advice_remedy inner = {
      "Threads of a team open teams of their own: OMP_MAX_ACTIVE_LEVELS=1 runs the inner region with one thread; or "
      "ask "
      "for fewer threads there (num_threads clause, second number of OMP_NUM_THREADS).",
      "OMP_MAX_ACTIVE_LEVELS=1, or a smaller team in the inner region", "OMP_MAX_ACTIVE_LEVELS=1"};
  static const struct advice_remedy clause = {
      .text =
          "Ask for no more threads than cores in its num_threads clause or in omp_set_num_threads(), which decide here "
          "instead of OMP_NUM_THREADS; while there are more, OMP_WAIT_POLICY=passive.",
      .brief = "No more threads than cores in num_threads or omp_set_num_threads()"};
  const struct construct_tree *tree = run->input->constructs;
  const struct core_findings *cores = run->input->cores;
  const struct construct_entry *region = NULL;
  bool asked = false;
  for (uint32_t i = 0; i < cores->count; i++)
    if (cores->found[i].kind == CORES_OVERSUBSCRIPTION && cores->found[i].process == process) {
      region = cores->found[i].region;
      asked = cores->found[i].asked;
    }
  const struct construct_entry *nested = region && region_around(tree, region) ? region : NULL;
  if (!region && !asked)
    nested = nested_region(tree);
  if (nested) {
    found->remedy = &inner;
    advice_place(found, nested, nested);
  } else if (region) {
    found->remedy = asked ? found->remedy : &clause;
    advice_place(found, region, region);
  }
}
