#define _GNU_SOURCE
#include "hpcrun-lite/lifecycle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/exec.h"
#include "hpcrun-lite/fork.h"
#include "hpcrun-lite/handler.h"
#include "hpcrun-lite/load_libunwind.h"
#include "hpcrun-lite/lock.h"
#include "hpcrun-lite/measurement.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/exit_line.h"
#include "hpcrun-lite/process/filter_settings.h"
#include "hpcrun-lite/process/find_code.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/core/touch.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/device_trace.h"
#include "hpcrun-lite/rt/span/work_clock.h"
#include "hpcrun-lite/thread.h"

enum { START_SLACK = 128, PAGE_BYTES = 4096 };

static void configure_counts(void)
{
  struct counts_process *to = &counts_process;
  memcpy(to->counters, config.counters, sizeof to->counters);
  to->count = config.counter_count;
  for (unsigned i = 0; i < to->count; i++)
    to->by_usage |= to->counters[i].usage;
  if (to->count || config.trace != RT_TRACE_OFF || config.graph_log)
    touch_start();
  if (to->count)
    process_touch_library();
}

static void configure_sampling(void)
{
  struct sampling_process *to = &sampling_process;
  memcpy(to->events, config.events, sizeof to->events);
  to->event_count = config.event_count;
  to->task_creation = config.task_creation;
  atomic_store(&to->task_words, config.task_creation);
  atomic_store(&to->helpers, 0);
  to->known_contexts = to->task_creation || config.online || filter_now()->paths; /* a path in a region needs what is
                                                                                   around it */
  atomic_store(&to->unsampled, config.unsampled);
  to->time_event = -1;
  for (unsigned i = 0; i < to->event_count && to->time_event < 0; i++)
    if (to->events[i].clock != EVENT_COUNT)
      to->time_event = (int)i;
  bool timed = to->time_event >= 0;
  to->wall = timed && to->events[to->time_event].clock == EVENT_WALL_TIME;
  to->share_metric = timed ? 6 : UINT32_MAX;
  to->usage_metric = timed ? 7 + to->event_count - 1 : 1 + to->event_count;
  to->blocked_metric = to->usage_metric + FORMAT_USAGES;
  to->count_metric = to->blocked_metric + FORMAT_ROLE_BLOCKED_LAST - FORMAT_ROLE_BLOCKED + 1;
  to->metric_count = to->count_metric + config.counter_count;
  to->count_locks = config.count_locks;
}

/* Gives RT its settings. */
static void configure_rt(void)
{
  span_process.online = config.online;
  span_process.work_unit = config.work_unit;
  span_process.overhead_limit = config.overhead_limit;
  control_process.no_arguments = config.no_arguments;
  control_process.program = config.program;
  control_process.rank = config.rank;
  rt_pause(config.paused);
  configure_counts();
  configure_sampling();
}

/* False where the program cannot be measured, which is reported. */
static bool wanted(void)
{
  char message[256];
  config_read();
  if (!config.directory)
    return false;
  config.filter = find_code(config.filter);
  if (!filter_settings_apply(config.filter, message, sizeof message)) {
    message_print("%s: nothing is measured", message);
    return false;
  }
  if (getpagesize() != PAGE_BYTES) {
    message_print("the system's pages have %d bytes: nothing is measured; use a kernel with pages of %d bytes",
                  getpagesize(), PAGE_BYTES);
    return false;
  }
  if (!dlsym(RTLD_DEFAULT, "__tsan_init"))
    return true;
  /* ThreadSanitizer's runtime delays signals, and creates threads that are not seen here. */
  message_print("built with -fsanitize=thread: nothing is measured; build it without that option");
  return false;
}

/* Installs the handler, and what runs at the ends of threads and of the process. */
static bool install(void)
{
  if (!thread_watch_ends() || !handler_install())
    return false;
  fork_start();
  at_quick_exit(lifecycle_finish);
  return true;
}

/* Limits measuring to a part of the run. */
static void start_window(void)
{
  struct filter_window window = filter_settings_window(config.filter);
  bool limited = window.skip_ns || window.only_ns;
  if (!limited || time_filter_start(window.skip_ns, window.only_ns, process.start_ns, process.start_ticks))
    return;
  message_print("filter: the system gives no timer (limit of pending signals, ulimit -i): all of the run is measured");
  writer_notes();
}

bool lifecycle_start(void)
{
  static bool tried;
  if (tried)
    return process.active;
  tried = true;
  libc_start(); /* also if nothing is measured: later, a thread could wait for the loader */
  message_start();
  if (!wanted())
    return false;
  configure_rt();
  process_examine();
  exit_line_start();
  process.unwind_fault = load_libunwind();
  source_probe();
  switches_probe();
  if (span_process.online && work_clock_is_time())
    work_clock_probe();
  measurement_begin(); /* the time before does not count as the program's */
  if (!install()) {
    message_print("cannot install the signal handler: nothing is measured");
    return false;
  }
  process.active = true;
  rt_home.measuring = true;
  start_window();
  writer_times();
  if (rt.pid == config.first_pid)
    arena_create_live_file(); /* however early the program is killed, it leaves a report; before the first sample */
  extern void *__libc_stack_end;
  thread_start((uint64_t)__libc_stack_end - START_SLACK, 0, RT_MADE_BY_PROGRAM);
  return true;
}

void lifecycle_finish(void)
{
  if (!process.active || rt.pid != sys_pid()) /* a vfork child lives in its parent's memory */
    return;
  lock_take();
  if (!process.finished) {
    process.finished = true;
    measurement_finish(exec_under_way()); /* a handler of the program may end it during an exec */
    exit_line_print();
  }
  lock_drop();
}

void lifecycle_end_early(const char *why)
{
  if (!process.active || rt.pid != sys_pid())
    return;
  lifecycle_finish();
  lock_take();
  if (config.verbosity)
    message_print("%s: measuring ended at that point", why);
  time_filter_stop();
  for (struct thread_state *t = process.threads; t; t = t->next) {
    source_stop(t);
    counts_stop(t);
  }
  process.active = false;
  rt_home.measuring = false;
  lock_drop();
  lock_settle();
  rt_self = NULL;
}

static __attribute__((constructor)) void on_load(void)
{
  lifecycle_start();
}

static __attribute__((destructor)) void on_unload(void)
{
  if (process.active && !process.finished && rt.pid == sys_pid())
    device_trace_end();
  lifecycle_finish();
}
