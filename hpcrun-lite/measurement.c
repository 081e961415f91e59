#define _GNU_SOURCE
#include "hpcrun-lite/measurement.h"

#include <sys/resource.h>

#include "hpcrun-lite/output/packer.h"
#include "hpcrun-lite/output/symbol_files.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/core_settings.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/quiesce.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/perf_map.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/construct/devices.h"
#include "hpcrun-lite/rt/device_trace.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/marks/marks.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/lock_waiters.h"
#include "hpcrun-lite/rt/sampling/pools.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/sampling/kernel_usage.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/sampling/task_context.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/span.h"

void measurement_begin(void)
{
  process_reset();
  sys_barrier_prepare();
  times_start(process.start_ns, process.start_ticks, process.start_cpu_ns);
  writer_start();
  modules_start(process.executable);
  marks_start();
  devices_start();
  device_trace_start();
  region_start();
  live_threads_start();
  blame_start();
  lock_waiters_start();
  pools_start();
  source_reset();
  task_context_start();
  span_start();
  core_settings_find();
  writer_begin();
  if (config.keep_symbols && rt.pid == config.first_pid)
    symbol_files_keep(false); /* of the executable, in case the process is killed */
}

/* Files take descriptors, and the program may have used up its limit.  Only where measuring ends, or an exec follows:
 * other threads see the limit meanwhile.  A flush does without: a process that has no descriptor left cannot read the
 * command either.  Returns whether *before is to be restored. */
static bool raise_descriptor_limit(struct rlimit *before)
{
  enum { NEEDED = 8 };
  if (getrlimit(RLIMIT_NOFILE, before) != 0)
    return false;
  struct rlimit wider = *before;
  wider.rlim_cur = before->rlim_cur < before->rlim_max - NEEDED ? before->rlim_cur + NEEDED : before->rlim_max;
  return setrlimit(RLIMIT_NOFILE, &wider) == 0;
}

/* Child processes that were too short to be sampled (those of a shell, for example) leave no files. */
static bool files_needed(void)
{
  return rt.pid == config.first_pid || rt.ompt || process_samples() || marks_any();
}

/* Records acquisitions of locks that threads have only noted. */
static void record_acquisitions(void)
{
  for (struct thread_state *t = process.threads; t; t = t->next)
    lock_events_record_suspended(t);
}

/* Brings work and span up to date. */
static void complete_span(void)
{
  for (struct thread_state *t = process.threads; t && span_process.online; t = t->next)
    graph_report(t);
  for (struct thread_state *t = process.threads; t && span_process.online && rt_self; t = t->next) {
    span_offer_open_tasks(rt_self, t);
    span_add_sums(t);
  }
  if (span_process.online)
    span_add_lock_bounds();
}

/* Writes all tables.  last: nothing is recorded afterwards. */
static void write_tables(bool last)
{
  record_acquisitions();
  complete_span();
  if (last)
    graph_log_stop();
  if (rt_self && switches_unread(rt_self)) /* others may wait for it */
    switches_outside(rt_self);
  for (struct thread_state *t = process.threads; t; t = t->next) {
    uint64_t cpu_ns = sys_cpu_ns_of(t->tid);
    if (last)
      sample_end(t, cpu_ns);
    writer_thread(t, cpu_ns);
  }
  if (last)
    trace_stop(process.threads);
  writer_process();
  writer_commit();
}

static void discard_files(void)
{
  graph_log_stop();
  trace_stop(process.threads);
  packer_discard(graph_log_file());
  packer_discard(trace_file());
  writer_discard();
}

void measurement_take_back(void)
{
  writer_rewind();
}

bool measurement_flush(void)
{
  atomic_store(&rt.flushing, true);
  quiesce_close(false);
  record_acquisitions();
  command_change_filter();
  complete_span();
  for (struct thread_state *t = process.threads; t; t = t->next)
    times_thread(t, sys_cpu_ns_of(t->tid));
  bool written = arena_kept() && writer_flush();
  quiesce_reopen(true);
  atomic_store(&rt.flushing, false);
  if (rt_self)
    span_begin_anew(rt_self); /* the time of writing is in no fragment */
  return written;
}

void measurement_finish(bool in_exec)
{
  struct rlimit before;
  bool raised = raise_descriptor_limit(&before);
  command_finish();
  if (in_exec)
    measurement_take_back();
  if (rt_self) {
    kernel_usage_stop(rt_self);
    switches_outside(rt_self);
  }
  quiesce_publish_regions();
  quiesce_close(true);
  if (files_needed()) {
    write_tables(true);
    if (rt.ompt || process.mpi.state)
      packer_run(graph_log_file());
    else
      packer_discard(graph_log_file()); /* without callbacks there is no graph, and without MPI there are no messages */
    packer_run(trace_file());
    perf_map_finish();
    if (config.keep_symbols)
      symbol_files_keep(true);
  } else {
    discard_files();
  }
  if (raised)
    setrlimit(RLIMIT_NOFILE, &before);
}

void measurement_write_for_exec(void)
{
  struct rlimit before;
  bool raised = raise_descriptor_limit(&before);
  writer_mark();
  if (rt_self) {
    kernel_usage_stop(rt_self);
    switches_outside(rt_self);
  }
  quiesce_publish_regions();
  quiesce_close(false);
  if (files_needed()) {
    perf_map_finish();
    if (config.keep_symbols)
      symbol_files_keep(true);
    write_tables(false); /* the graph log is not packed: its live form can be read, and the exec may fail */
  } else {
    discard_files();
    if (config.graph_log)
      rt_lost(NULL, FORMAT_LOST_LOG);
    if (config.trace != RT_TRACE_OFF)
      rt_lost(NULL, FORMAT_LOST_TRACE);
  }
  if (raised)
    setrlimit(RLIMIT_NOFILE, &before);
}
