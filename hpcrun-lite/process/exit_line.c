#include "hpcrun-lite/process/exit_line.h"

#include <stdio.h>
#include <sys/resource.h>

#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/losses.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/sampling/sampling_process.h"

static uint64_t children_at_start_us;

/* CPU time of children that have ended. */
static uint64_t children_us(void)
{
  struct rusage children = {0};
  getrusage(RUSAGE_CHILDREN, &children);
  return (uint64_t)children.ru_utime.tv_sec * 1000000u + (uint64_t)children.ru_utime.tv_usec;
}

void exit_line_start(void)
{
  children_at_start_us = children_us();
}

static void say_counts(void)
{
  static char losses[LOSSES_TEXT_MAX];
  char rank[24] = "";
  uint64_t lost[FORMAT_LOST_MAX];
  if (config.rank >= 0)
    snprintf(rank, sizeof rank, "rank %d: ", config.rank);
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
    lost[i] = process_lost(i);
  losses_text(lost, &process.write, losses);
  char attached[sizeof process.runtime + 32];
  const char *missing = process_openmp_missing();
  snprintf(attached, sizeof attached, "OpenMP attached (%s)", process.runtime);
  bool apart = rt.pid == config.first_pid && children_us() > children_at_start_us;
  message_print("%s: %s%llu sample%s of %u thread%s%s; %s; %s%s", config.directory, rank,
                (unsigned long long)process_samples(), process_samples() == 1 ? "" : "s", process.thread_count,
                process.thread_count == 1 ? "" : "s", stream_length(trace_file()) ? ", and a trace" : "",
                missing ? missing : attached, losses, apart ? "; child processes are measured separately (-v)" : "");
}

void exit_line_print(void)
{
  bool prints = rt.pid == config.first_pid && config.rank <= 0; /* rank 0 prints for its job */
  if (config.verbosity == 0 || (!prints && config.verbosity < 2))
    return;
  say_counts();
  const struct event *timed =
      sampling_process.time_event < 0 ? NULL : &sampling_process.events[sampling_process.time_event];
  if (timed && sampling_process.timers_for_cpu && timed->clock == EVENT_CPU_TIME)
    message_print("CPU time was sampled by timers, since perf_event may not sample the kernel here (hpcrun-lite "
                  "--diagnose COMMAND tells how to allow it)");
  if (process.unwind_fault)
    message_print("%s", process.unwind_fault);
}
