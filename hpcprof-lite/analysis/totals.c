#include "hpcprof-lite/analysis/totals.h"

#include "common/array.h"
#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_NAMES = 3 };

/* Distinct texts: their number, and the first few in the order in which they occur. */
struct distinct {
  const char *first[SHOWN_NAMES];
  uint32_t count;
};

/* Finds the distinct hosts, or commands, of the usable processes. */
static struct distinct find_distinct(const struct profile *profile, bool hosts)
{
  const char **all = xcalloc(profile->processes_count, sizeof *all);
  struct distinct distinct = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable)
      continue;
    const char *text = hosts ? process->host : process->command;
    all[count++] = *text ? text : "(unknown)";
  }
  for (uint32_t i = 0; i < count && distinct.count < SHOWN_NAMES; i++) {
    bool seen = false;
    for (uint32_t j = 0; j < distinct.count; j++)
      seen = seen || !strcmp(distinct.first[j], all[i]);
    if (!seen)
      distinct.first[distinct.count++] = all[i];
  }
  qsort(all, count, sizeof *all, array_by_text);
  distinct.count = 0;
  for (uint32_t i = 0; i < count; i++)
    distinct.count += !i || strcmp(all[i - 1], all[i]);
  free(all);
  return distinct;
}

/* Returns an allocated "a, b, c and 5 more", of the hosts or of the commands. */
static char *distinct_text(const struct profile *profile, bool hosts, const char *separator)
{
  assert(separator);
  const struct distinct distinct = find_distinct(profile, hosts);
  uint32_t shown = MIN(distinct.count, SHOWN_NAMES);
  if (!shown)
    return xstrdup("(unknown)");
  char *text;
  size_t length;
  FILE *stream = xopen_memstream(&text, &length);
  for (uint32_t i = 0; i < shown; i++)
    fprintf(stream, "%s%s", i ? separator : "", distinct.first[i]);
  if (distinct.count > shown)
    fprintf(stream, " and %" PRIu32 " more", distinct.count - shown);
  xclose(stream, &text);
  return text;
}

static void add_thread(struct totals *totals, const struct profile_thread *thread)
{
  bool helper = thread->flags & THREAD_HELPER;
  uint64_t ran_ns = model_sum(model_sum(thread->work_ns, thread->overhead_ns), thread->lockwait_ns);
  totals->threads += !helper;
  model_add(&totals->lived_ns, helper ? model_sum(ran_ns, thread->idle_ns) : thread->wall_ns);
  model_add(&totals->samples, thread->samples);
  model_add(&totals->work_ns, thread->work_ns);
  model_add(&totals->overhead_ns, thread->overhead_ns);
  model_add(&totals->lockwait_ns, thread->lockwait_ns);
  model_add(&totals->idle_ns, thread->idle_ns);
  model_add(&totals->lockwait_sampled_ns, thread->lockwait_sampled_ns);
  model_add(&totals->tool_ns, thread->tool_ns);
  model_add(&totals->core_wait_ns, thread->core_wait_ns);
  model_add(&totals->no_core_ns, thread->no_core_ns);
  totals->delay_estimated += thread->estimated_delay_ns > thread->wall_ns / 100;
  model_add(&totals->mpi_ns, thread->mpi_ns);
  model_add(&totals->mpi_calls, thread->mpi_calls);
  model_add(&totals->device_ns, helper ? 0 : thread->device_ns);
  model_add(&totals->blocked_ns, thread->blocked_ns);
  model_add(&totals->outside_ns, thread->outside_ns);
  model_add(&totals->beside_ns, thread->beside_ns);
  model_add(&totals->spun_ns, thread->spun_ns);
  model_add(&totals->delay_ns, thread->run_delay_ns);
  model_add(&totals->runnable_ns, model_sum(thread->run_delay_ns, thread->cpu_ns));
  model_add(&totals->events, thread->events);
  model_add(&totals->events_ns, thread->events_ns);
  model_add(&totals->caused_lock_ns, thread->caused_lock_ns);
  model_add(&totals->caused_idle_ns, thread->caused_idle_ns);
  for (unsigned i = 0; i < LOSS_MAX; i++)
    model_add(&totals->lost[i], thread->lost[i]);
}

/* Adds what the kernel counted.  The errors of threads are independent: their squares add up. */
static void add_usage(struct totals *totals, const struct profile_process *process, double *squares)
{
  if (!profile_usage_known(process))
    return;
  uint64_t system_ns = 0;
  totals->usage = true;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const uint64_t *usage = process->threads[i].usage;
    double error_ns = (double)profile_system_error_ns(process->stored.tick_ns, usage[USAGE_SYSTEM], usage[USAGE_USER]);
    *squares += error_ns * error_ns;
    model_add(&totals->user_cpu_ns, usage[USAGE_USER]);
    model_add(&system_ns, usage[USAGE_SYSTEM]);
    model_add(&totals->page_faults, model_sum(usage[USAGE_MINOR_FAULTS], usage[USAGE_MAJOR_FAULTS]));
    model_add(&totals->switches, model_sum(usage[USAGE_GIVEN_UP], usage[USAGE_SWITCHED_OUT]));
    model_add(&totals->created, usage[USAGE_CREATED]);
    model_add(&totals->creating_ns, usage[USAGE_CREATING]);
  }
  model_add(&totals->system_cpu_ns, system_ns);
  model_add(&totals->system_ticks, system_ns / process->stored.tick_ns);
}

/* Adds the CPU time of a process whose quota is less than its cores. */
static void add_quota(struct totals *totals, const struct profile_process *process)
{
  enum { MILLI = 1000 };
  if (!process->quota_milli || process->quota_milli >= (uint64_t)MILLI * process->cpus)
    return;
  model_add(&totals->quota_ns, model_rounded((double)process->wall_ns * process->quota_milli / MILLI));
  model_add(&totals->in_quota_ns, process->cpu_ns);
}

/* Adds the times of a process with OpenMP: the time for which its threads could have worked, and their life time. */
static void add_openmp(struct totals *totals, const struct profile_process *process, enum profile_baseline baseline)
{
  uint32_t most = baseline == BASELINE_CORE ? process->cpus : process->threads_max;
  uint64_t product;
  if (!(process->flags & PROCESS_OMPT))
    return;
  totals->baseline = !totals->openmp_processes || totals->baseline == most ? most : 0;
  totals->openmp_processes++;
  uint64_t measured_ns = profile_measured_ns(process->wall_ns, process->paused_ns);
  model_add(&totals->baseline_ns, __builtin_mul_overflow(measured_ns, most, &product) ? UINT64_MAX : product);
  bool in_use = baseline == BASELINE_SHARED || (baseline == BASELINE_CORE && process->cpus < process->threads_max);
  if (in_use || __builtin_mul_overflow(measured_ns, process->threads_max, &product))
    return; /* idleness is only that of threads in use */
  uint64_t lived_ns = 0;
  for (uint32_t i = 0; i < process->threads_count; i++)
    if (process->threads[i].flags & THREAD_OPENMP)
      model_add(&lived_ns, profile_measured_ns(process->threads[i].wall_ns, process->threads[i].paused_ns));
  model_add(&totals->beyond_ns, model_difference(lived_ns, product));
}

/* Adds the life times of a process's threads: those of OpenMP, and others; of a helper, what it has run. */
static void add_lives(struct totals *totals, const struct profile_process *process)
{
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    bool openmp = process->flags & PROCESS_OMPT && thread->flags & THREAD_OPENMP;
    uint64_t ran_ns = model_sum(model_sum(thread->work_ns, thread->overhead_ns), thread->lockwait_ns);
    if (openmp)
      model_add(&totals->openmp_wall_ns, thread->wall_ns);
    else if (thread->flags & THREAD_HELPER)
      model_add(&totals->others_ns, ran_ns);
    else
      model_add(&totals->others_ns, profile_measured_ns(thread->wall_ns, thread->paused_ns));
  }
}

/* When a process would have ended, had each thread always had a processor: its initial thread, which all others work
 * for, would have been held up by nothing.  0: not known, also if other threads have begun regions after it. */
static uint64_t end_with_cores(const struct profile_process *process)
{
  const struct profile_thread *initial = profile_initial_thread(process);
  if (!initial || process->unfinished || process->in_part || process->paused_ns ||
      initial->wall_ns < process->wall_ns - process->wall_ns / 10)
    return 0;
  for (uint32_t i = 0; i < process->threads_count; i++)
    if (process->threads[i].flags & THREAD_OPENMP && !process->threads[i].recorded)
      return 0;
  return model_sum(process->start_ns,
                   profile_corrected_ns(process, model_difference(process->wall_ns, initial->held_up_ns)));
}

void totals_compute(const struct profile *profile, const struct tree_columns *columns, enum profile_baseline baseline,
                    struct totals *totals)
{
  uint64_t begin_ns = UINT64_MAX, end_ns = 0, sleeping_ns = 0, walls_ns = 0, pauses_ns = 0, with_cores_ns = 0;
  bool with_cores = true;
  double squares = 0;
  *totals = (struct totals){0};
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable)
      continue;
    totals->processes++;
    totals->running += process->running && !process->copied;
    totals->copied += process->copied;
    totals->unfinished += process->unfinished && !process->running;
    uint64_t stop_ns = profile_end_ns(process);
    begin_ns = MIN(begin_ns, process->start_ns);
    end_ns = MAX(end_ns, stop_ns);
    uint64_t own_ns = end_with_cores(process);
    with_cores = with_cores && own_ns;
    with_cores_ns = MAX(with_cores_ns, own_ns);
    totals->threads_max = MAX(totals->threads_max, process->threads_max);
    model_add(&totals->cpu_ns, process->cpu_ns);
    model_add(&walls_ns, process->wall_ns);
    model_add(&pauses_ns, process->paused_ns);
    model_add(&totals->regions, process->regions);
    model_add(&totals->caused_idle_ns, process->unblamed_idle_ns);
    model_add(&totals->steal_ns, process->steal_ns);
    model_add(&totals->machine_ns, process->machine_ns);
    for (unsigned j = 0; j < LOSS_MAX; j++)
      model_add(&totals->lost[j], process->lost[j]);
    uint64_t others_ns = totals->blocked_ns;
    for (uint32_t j = 0; j < process->threads_count; j++) {
      add_thread(totals, &process->threads[j]);
      if (!(process->flags & PROCESS_OMPT))
        model_add(&totals->pool_idle_ns, process->threads[j].idle_ns);
    }
    if (profile_by_wall(process))
      model_add(&sleeping_ns, totals->blocked_ns - others_ns);
    add_quota(totals, process);
    add_usage(totals, process, &squares);
    add_openmp(totals, process, baseline);
    add_lives(totals, process);
    totals->unsampled = (totals->unsampled || totals->processes == 1) && profile_unsampled(process);
    totals->paused = totals->paused || profile_paused(process);
    totals->by_wall = totals->by_wall || profile_by_wall(process);
  }
  totals->work_ns -= MIN(totals->work_ns, sleeping_ns);
  totals->elapsed_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
  totals->measured_ns = totals->elapsed_ns;
  if (pauses_ns)
    totals->measured_ns -= (uint64_t)((double)totals->elapsed_ns * ((double)pauses_ns / (double)walls_ns));
  if (columns->work == MODEL_NONE && columns->overhead == MODEL_NONE)
    totals->work_ns = totals->overhead_ns = 0;
  totals->system_error_ns = model_rounded(sqrt(squares));
  if (with_cores && totals_missing_cores(totals).stolen <= 0) /* else it is not known from whom time was stolen */
    totals->with_cores_ns = model_difference(with_cores_ns, begin_ns);
  totals->command = distinct_text(profile, false, "; ");
  totals->hosts = distinct_text(profile, true, ", ");
}

static double part_of(uint64_t part, uint64_t whole)
{
  return whole ? (double)MIN(part, whole) / (double)whole : 0;
}

double totals_without_core(const struct totals *totals)
{
  return part_of(totals->delay_ns, totals->runnable_ns);
}

double totals_stolen(const struct totals *totals)
{
  return part_of(totals->steal_ns, totals->machine_ns);
}

struct totals_missing_cores totals_missing_cores(const struct totals *totals)
{
  enum { LEAST = 100 };
  struct totals_missing_cores missing = {totals_without_core(totals), totals_stolen(totals)};
  if (missing.without_core <= TOTALS_UNRELIABLE || totals->delay_ns < totals->lived_ns / LEAST)
    missing.without_core = 0;
  if (missing.stolen <= TOTALS_UNRELIABLE)
    missing.stolen = 0;
  return missing;
}

void totals_release(struct totals *totals)
{
  free(totals->command);
  free(totals->hosts);
  *totals = (struct totals){0};
}
