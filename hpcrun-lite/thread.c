#define _GNU_SOURCE
#include "hpcrun-lite/thread.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "hpcrun-lite/lock.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/construct/trace_counts.h"
#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/posix_lock_events.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/kernel_usage.h"
#include "hpcrun-lite/rt/sampling/mpi_calls.h"
#include "hpcrun-lite/rt/sampling/pools.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/thread_state.h"

/* ---- the end of a thread ---- */

static pthread_key_t end_key;
static void (*at_end)(bool);

/* Destructors of the program's keys may run code.  They run in rounds; the tool's waits for the last round. */
static void on_thread_end(void *unused)
{
  static __thread unsigned char round __attribute__((tls_model("initial-exec")));
  bool last = ++round >= PTHREAD_DESTRUCTOR_ITERATIONS;
  (void)unused;
  if (at_end)
    at_end(last);
  if (last)
    thread_stop();
  else
    pthread_setspecific(end_key, &end_key);
}

void thread_call_at_end(void (*function)(bool))
{
  at_end = function;
}

bool thread_watch_ends(void)
{
  return pthread_key_create(&end_key, on_thread_end) == 0;
}

/* ---- what threads hand over ---- */

static struct ended {
  pthread_t thread;
  uint32_t handed; /* the thread's clock, 0 = the place is free */
} ended[1024];
static unsigned ended_next;

uint32_t thread_hand_over(void)
{
  struct thread_state *t = rt_thread();
  if (t)
    lock_events_before_other(t);
  if (!t || !rt_enter(t))
    return 0;
  arena_create_live_file();
  uint32_t handed = span_process.online ? span_hand_over(t) : 0;
  rt_leave(t);
  return handed;
}

uint8_t thread_maker(const void *start)
{
  const struct thread_state *t = rt_thread();
  if (t && (mpi_calls_in(t) || t->maker == RT_MADE_BY_MPI))
    return RT_MADE_BY_MPI;
  if (!code_in_runtime(start))
    return RT_MADE_BY_PROGRAM;
  return t && t->helper && !t->activity.openmp ? RT_MADE_BY_HELPERS : RT_MADE_BY_RUNTIME;
}

void thread_created(uint64_t ticks)
{
  struct thread_state *t = rt_thread();
  int saved_errno = errno;
  if (t && rt_enter(t)) {
    kernel_usage_created(t, rt_ticks_to_ns(ticks));
    rt_leave(t);
  }
  errno = saved_errno;
}

static void keep_ended(struct thread_state *t)
{
  uint32_t handed = t->worker ? 0 : span_hand_over(t);
  if (!handed)
    return;
  struct ended *place = NULL;
  for (unsigned i = 0; i < sizeof ended / sizeof *ended && !place; i++)
    if (ended[i].handed && pthread_equal(ended[i].thread, pthread_self())) /* an earlier thread, never joined */
      place = &ended[i];
  if (!place)
    place = &ended[ended_next++ % (sizeof ended / sizeof *ended)];
  uint32_t old = place->handed;
  *place = (struct ended){pthread_self(), handed};
  span_forget(t, old);
}

void thread_joined(pthread_t thread)
{
  struct thread_state *t = rt_thread();
  uint32_t handed = 0;
  if (!span_process.online || !t)
    return;
  lock_events_before_other(t);
  lock_take();
  for (unsigned i = 0; i < sizeof ended / sizeof *ended; i++)
    if (ended[i].handed && pthread_equal(ended[i].thread, thread)) {
      handed = ended[i].handed;
      ended[i].handed = 0;
    }
  lock_drop();
  if (handed && rt_enter(t)) {
    span_take_over(t, handed);
    rt_leave(t);
  }
}

void thread_forget_ended(void)
{
  memset(ended, 0, sizeof ended);
}

/* ---- start and end ---- */

/* Registers the calling thread, which is inside from then on.  NULL where nothing is measured any more, or without
 * memory. */
static struct thread_state *register_thread(void)
{
  struct thread_state *t = NULL;
  lock_take();
  if (process.threads)
    arena_waive();
  if (!process.finished) {
    t = thread_state_new(++process.thread_count);
    if (t)
      t->inside = 1; /* CTL waits for its start */
    else
      rt_lost(NULL, FORMAT_LOST_THREADS);
  }
  lock_drop();
  return t;
}

static void start_graph(struct thread_state *t, uint32_t handed)
{
  uint64_t floating = machine_default_floating();
  span_start_thread(t);
  span_take_over(t, handed);
  if (t->tid == rt.pid)
    span_begin_early(t); /* its serial code counts from the start */
  machine_restore_floating(floating);
}

void thread_start(uint64_t top_sp, uint32_t handed, uint8_t maker)
{
  if (rt_self || !process.active || !rt_home.ours)
    return;
  struct thread_state *t = register_thread();
  if (!t)
    return;
  thread_state_find_stack(t, top_sp);
  t->maker = maker;
  if (maker == RT_MADE_BY_MPI)
    t->record->flags |= FORMAT_THREAD_HELPER | FORMAT_THREAD_OF_MPI;
  rt_self = t;
  pthread_setspecific(end_key, &end_key);
  own_signal_block(); /* a first period may be shorter than the delivery of a signal (under a debugger): see
                         end_initial_period() */
  command_thread_started(t);
  source_start(t);
  times_unsampled(t, atomic_load(&sampling_process.unsampled) && filter_thread(t->index));
  if (span_process.online)
    start_graph(t, handed);
  counts_start(t, graph_log_on());
  kernel_usage_start(t);
  rt_leave(t);
  own_signal_unblock();
}

static __thread bool stopped __attribute__((tls_model("initial-exec")));

bool thread_stopped(void)
{
  return stopped;
}

/* The data of an ended thread could not be written: may they stay in the live file?  Those of a limited number may. */
static bool left_in_live_file(void)
{
  enum { LEFT_MAX = 200 };
  static unsigned left;
  return arena_kept() && left++ < LEFT_MAX;
}

/* Writes what the thread has measured, and adds its counts to those of the ended threads. */
static void finish_thread(struct thread_state *t, uint64_t cpu_ns)
{
  region_resolve(t);
  RT_CHECK(cct_check(t));
  bool written = writer_thread_ended(t, cpu_ns);
  trace_stop_thread(t);
  process.finished_samples += t->record->samples;
  command_thread_ended(t->record);
  process.finished_regions += t->record->regions;
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
    process.finished_lost[i] += t->record->lost[i];
  thread_state_remove(t);
  if (!written && left_in_live_file())
    return;
  if (!written)
    writer_lose_thread(t);
  thread_state_release(t);
}

/* What the thread has counted until now belongs to the construct that is open. */
static void end_counts(struct thread_state *t)
{
  struct construct_interval open = construct_open_interval(t, rt_ticks());
  counts_end(t, open.record, open.ticks);
  if (counts_of(t)->on && trace_of(t)->on)
    trace_counts_put(t, counts_of(t)->totals, true);
  counts_stop(t);
}

/* What follows is not sampled and is not the program's. */
static void end_thread(struct thread_state *t)
{
  uint64_t cpu_ns = sys_thread_cpu_ns();
  kernel_usage_stop(t);
  pools_end(t, false); /* it was cancelled in a call */
  blame_unblocked(t);
  mpi_calls_left(t, UINT64_MAX, false);
  posix_lock_events_waited(t);
  lock_events_before_other(t);
  t->inside = 1;
  end_counts(t);
  sample_end(t, cpu_ns);
  if (span_process.online) {
    keep_ended(t);
    graph_report(t);
    span_stop_thread(t);
  }
  stopped = true;
  rt_self = NULL;
  source_stop(t);
  blame_openmp_end(t);
  rt_leave(t);
  if (!process.finished)
    finish_thread(t, cpu_ns);
  else
    trace_stop_thread(t);
}

/* Under the lock as a whole, because lifecycle_end_early() gives up what the thread has: its counters and sources. */
void thread_stop(void)
{
  struct thread_state *t = rt_thread();
  if (!t || !process.active)
    return;
  lock_take();
  if (process.active)
    end_thread(t);
  lock_drop();
}
