#include "hpcrun-lite/process/exit_line.h"

#include <stdio.h>
#include <sys/resource.h>

#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/losses.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/sampling/sampling_process.h"
#include "hpcrun-lite/rt/span/directive.h"

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

enum { ESTIMATES_MAX = 256 };

/* Writes that figures of constructs rest on a part of their executions, if they do. */
static void estimates_text(char text[ESTIMATES_MAX])
{
  const struct table *rows = directive_table();
  uint64_t all = 0, light = 0, untimed = 0;
  for (uint32_t i = 0; i < rows->count; i++) {
    const struct format_directive *row = table_at(rows, i);
    all += row->light ? row->instances : 0;
    light += row->light;
    untimed += row->untimed;
  }
  int end = 0;
  text[0] = '\0';
  if (light)
    end = snprintf(text, ESTIMATES_MAX,
                   "; spans and times of short constructs are estimates from %llu of %llu executions",
                   (unsigned long long)(all - light), (unsigned long long)all);
  if (untimed)
    end += snprintf(text + end, ESTIMATES_MAX - (size_t)end,
                    "; spans may be too short, because %llu tasks were created without a reading of the clock",
                    (unsigned long long)untimed);
  if (end)
    snprintf(text + end, ESTIMATES_MAX - (size_t)end, " (--overhead-limit 100 follows all)");
}

static void say_counts(void)
{
  static char losses[LOSSES_TEXT_MAX];
  char rank[24] = "", estimates[ESTIMATES_MAX];
  uint64_t lost[FORMAT_LOST_MAX];
  if (config.rank >= 0)
    snprintf(rank, sizeof rank, "rank %d: ", config.rank);
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
    lost[i] = process_lost(i);
  losses_text(lost, &process.write, losses);
  estimates_text(estimates);
  char attached[sizeof process.runtime + 32];
  const char *missing = process_openmp_missing();
  snprintf(attached, sizeof attached, "OpenMP attached (%s)", process.runtime);
  bool apart = rt.pid == config.first_pid && children_us() > children_at_start_us;
  uint32_t threads = process.thread_count - atomic_load(&sampling_process.helpers);
  message_print("%s: %s%llu sample%s of %u thread%s%s; %s; %s%s%s", config.directory, rank,
                (unsigned long long)process_samples(), process_samples() == 1 ? "" : "s", threads,
                threads == 1 ? "" : "s", stream_length(trace_file()) ? ", and a trace" : "",
                missing ? missing : attached, losses, estimates,
                apart ? "; child processes are measured separately (-v)" : "");
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
  if (process.devices == PROCESS_DEVICES_APART)
    message_print("%s", process_devices_missing());
  if (process.unwind_fault)
    message_print("%s", process.unwind_fault);
}
