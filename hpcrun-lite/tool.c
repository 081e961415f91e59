/* The tool's entry points: OMPT's start and end, and the functions of include/hpcrun-lite.h.  Context: CTL. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

#include "hpcrun-lite/lifecycle.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/governor.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/marks/marks.h"
#include "hpcrun-lite/rt/ompt.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/span/work_clock.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/thread.h"

void threads_adopt(void)
{
  thread_start(0, 0, RT_MADE_BY_PROGRAM);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  (void)device, (void)data;
  sampling_process.get_state = (ompt_get_state_t)lookup("ompt_get_state");
  rt.get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  if (!rt.get_task_info || !set_callback)
    return 0;
  bool separate = true;
  if (!rt_thread())
    thread_start(0, 0, RT_MADE_BY_PROGRAM);
  if (rt_thread() && rt_enter(rt_thread())) {
    separate = modules_mark_runtime(rt_thread(), (const void *)rt.get_task_info);
    rt_leave(rt_thread());
  }
  sampling_process.runtime_apart = separate;
  gomp_note_libomp((const void *)rt.get_task_info);
  work_clock_calibrate();
  int missing = ompt_register(set_callback);
  if (missing && config.verbosity)
    message_print(
        "the OpenMP runtime does not report all events (callbacks that it lacks: %d): figures are incomplete; "
        "use another release of it",
        missing);
  if (!separate && config.verbosity)
    message_print(
        "the OpenMP runtime is linked into the executable: its frames appear in the contexts; link it dynamically");
  rt.ompt = true;
  writer_runtime();
  return 1;
}

static void finalize(ompt_data_t *data)
{
  (void)data; /* measuring ends in the library's destructor, which runs earlier */
}

/* Starts the tool that the runtime would have found without this library: one that is preloaded after it, or that the
 * program is linked to. */
static ompt_start_tool_result_t *start_next_tool(unsigned omp_version, const char *runtime)
{
  ompt_start_tool_result_t *(*next)(unsigned, const char *);
  *(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
  return next ? next(omp_version, runtime) : NULL;
}

/* A runtime starts one tool.  The program's own comes first: one that is found as a symbol, then those in
 * OMP_TOOL_LIBRARIES.  This library is the last one there, so that the runtime asks again if no other has started. */
__attribute__((visibility("default"))) ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version,
                                                                                 const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  static bool asked;
  bool first = !asked, measured = lifecycle_start();
  asked = true;
  gomp_note_libomp(__builtin_return_address(0)); /* also if nothing is measured: its calls lead here */
  ompt_start_tool_result_t *other = first ? start_next_tool(omp_version, runtime) : NULL;
  process.other_tool |= other != NULL;
  if (other || !measured || (first && config.other_tools))
    return other;
  char name[sizeof process.runtime];
  snprintf(name, sizeof name, "%s (OpenMP %u)", runtime, omp_version);
  process_add_runtime(name);
  return &result;
}

/* Like rt_enter(), but waits while CTL reads the tables for a flush. */
static bool enter(struct thread_state *t)
{
  enum { FLUSHES = 10 };
  lock_events_before_other(t);
  for (int i = 0; rt_enter(t); i++) {
    bool closed = atomic_load_explicit(&rt.closed, memory_order_relaxed);
    if (__builtin_expect(!closed || !atomic_load(&rt.flushing) || i == FLUSHES, 1))
      return true;
    rt_leave(t);
    rt_await_flush();
  }
  return false;
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_start(const void *unused, uint64_t none)
{
  (void)unused, (void)none;
  ompt_pause(false);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_stop(const void *unused, uint64_t none)
{
  (void)unused, (void)none;
  ompt_pause(true);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_add_work(const void *inside, uint64_t units)
{
  struct thread_state *t = rt_thread();
  if (!t || !span_process.online || span_process.work_unit != WORK_USER || rt_paused() || !enter(t))
    return;
  bool stopped = rt_stopped(); /* while the process forks nothing is unwound; the work counts */
  if (!rt_closed(t, FORMAT_LOST_GRAPH))
    span_add_work(t, stopped ? CCT_NONE : context_call(t, (uint64_t)inside), units);
  rt_leave(t);
}

static void mark(enum format_mark_kind kind, const char *name)
{
  struct thread_state *t = rt_thread();
  if (!t || !enter(t)) {
    rt_lost(t, FORMAT_LOST_MARKS);
    return;
  }
  marks_add(t, kind, name);
  rt_leave(t);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_mark(const void *name, uint64_t none)
{
  (void)none;
  if (name)
    mark(FORMAT_MARK, name);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_phase(const void *name, uint64_t none)
{
  (void)none;
  mark(FORMAT_USER_PHASE, name);
}

static void count(const char *name, int64_t value, uint64_t inside)
{
  struct thread_state *t = rt_thread();
  if (!name)
    return;
  if (!t || !enter(t)) {
    rt_lost(t, FORMAT_LOST_MARKS);
    return;
  }
  marks_count(t, name, value, inside);
  rt_leave(t);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_counter(const void *name, uint64_t value)
{
  count(name, (int64_t)value, 0);
}

/* Called by procedures of include/hpcrun_lite.f90, in whose frame the name lies. */
__attribute__((visibility("default"))) void hpcrun_lite_tool_fortran_counter(const void *name, uint64_t value)
{
  count(name, (int64_t)value, (uint64_t)name);
}

static void region_begin(const char *name, uint64_t inside)
{
  struct thread_state *t = rt_thread();
  if (!t || !name || !enter(t))
    return;
  bool stopped = rt_stopped(); /* while the process forks nothing is unwound: the region is not part of contexts */
  if (construct_of(t)->user_depth++ < RT_USER_REGIONS) {
    struct user_region *region = &construct_of(t)->user_regions[construct_of(t)->user_depth - 1];
    bool closed = rt_closed(t, FORMAT_LOST_GRAPH);
    *region = (struct user_region){.followed = span_process.online && !closed,
                                   .wanted = filter_now()->regions.length && filter_user_region(name)};
    if (!closed)
      region->row = directive_user_row(t, name, &region->name);
    if (!stopped)
      region->cfa = context_frame_end(t, inside);
    if (region->followed) {
      governor_enter(t);
      span_begin_early(t);
      graph_settle(t);
      worksharing_block(t, region->row);
      construct_events_scope(t, FORMAT_DIRECTIVE_USER_REGION, region->row, true);
      governor_leave(t);
    }
  }
  rt_leave(t);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_region_begin(const void *name, uint64_t none)
{
  (void)none;
  region_begin(name, 0);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_fortran_region_begin(const void *name, uint64_t none)
{
  (void)none;
  region_begin(name, (uint64_t)name);
}

__attribute__((visibility("default"))) void hpcrun_lite_tool_region_end(const void *unused, uint64_t none)
{
  (void)unused, (void)none;
  struct thread_state *t = rt_thread();
  if (!t || !construct_of(t)->user_depth || !enter(t))
    return;
  if (construct_of(t)->user_depth-- <= RT_USER_REGIONS &&
      construct_of(t)->user_regions[construct_of(t)->user_depth].followed && !rt_closed(t, FORMAT_LOST_GRAPH)) {
    governor_enter(t);
    graph_settle(t);
    worksharing_block_end(t);
    construct_events_scope(t, FORMAT_DIRECTIVE_USER_REGION, 0, false);
    governor_leave(t);
  }
  rt_leave(t);
}
