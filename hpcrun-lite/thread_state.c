#define _GNU_SOURCE
#include "hpcrun-lite/thread_state.h"

#include <pthread.h>
#include <sys/resource.h>

#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/marks/marks.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/call_sleep.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/core_limits.h"
#include "hpcrun-lite/rt/sampling/sample_trace.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/sampling/unwind.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/barrier.h"

enum { MAIN_STACK_MAX = 1 << 30 };

/* The limit at the start of the program: the space below the stack was kept free for that size. */
static uint64_t main_stack_size(void)
{
  static uint64_t size;
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
  if (!size) {
    getrlimit(RLIMIT_STACK, &limit);
    size = limit.rlim_cur < MAIN_STACK_MAX ? limit.rlim_cur : MAIN_STACK_MAX;
  }
  return size;
}

void thread_state_find_stack(struct thread_state *t, uint64_t top_sp)
{
  if (t->tid == rt.pid) { /* the main thread's stack grows down to its limit; nothing else lies there */
    extern void *__libc_stack_end;
    t->stack_high = (uint64_t)__libc_stack_end;
    t->stack_low = t->stack_high - main_stack_size();
  } else {
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
      return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0) {
      t->stack_low = (uint64_t)low;
      t->stack_high = (uint64_t)low + size;
    }
    pthread_attr_destroy(&attr);
  }
  t->top_sp = top_sp;
}

void thread_state_release(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  cct_release(t);
  waiting_release(t);
  construct_release(t);
  marks_release_thread(t);
  counts_release(t);
  if (sampling->frames_extent)
    arena_free(ARENA_FRAMES, 0, sampling->frames_extent);
  if (sampling->walk_extent)
    arena_free(ARENA_WALK, 0, sampling->walk_extent);
  if (sampling->stacks_extent)
    arena_free(ARENA_STACKS, 0, sampling->stacks_extent);
  if (measured_of(t)->handler_stack)
    arena_free(ARENA_HANDLER, 0, measured_of(t)->handler_stack);
  if (t->record_extent)
    arena_free(ARENA_RECORD, 0, t->record_extent);
  arena_free(ARENA_THREAD, 0, t->self_extent);
}

/* Makes the thread's record and publishes it before anything refers to it. */
static bool record_new(struct thread_state *t)
{
  t->record_extent = arena_new(ARENA_RECORD, 0, FORMAT_THREAD, t->index, sizeof(struct format_thread), 1);
  if (!t->record_extent)
    return false;
  t->record = arena_data(t->record_extent);
  t->record->index = t->index;
  t->record->tid = (uint32_t)t->tid;
  core_limits_thread(t);
  struct sys_moment start = sys_moment();
  t->record->start_ns = start.ns - process.start_ns;
  t->record->construct_since = start.ticks;
  sampling_of(t)->measured_since = rt_measured_clock(t->record->construct_since);
  __atomic_store_n(&t->record_extent->count, 1, __ATOMIC_RELEASE);
  return true;
}

static void list_add(struct thread_state *t)
{
  t->next = process.threads;
  t->link = &process.threads;
  if (t->next)
    t->next->link = &t->next;
  process.threads = t;
}

static void list_remove(struct thread_state *t)
{
  *t->link = t->next;
  if (t->next)
    t->next->link = t->link;
}

/* Notes what the initial thread has done until this one begins: nobody worked for a thread that did not exist, while
 * that one slept.  Of itself: how long it had waited for a processor before it was measured. */
static void note_initial(const struct thread_state *t)
{
  static struct times_schedule begun; /* before that thread was measured */
  struct times_schedule now = times_schedule(rt.pid);
  if (t->tid == rt.pid) {
    begun = now;
    t->record->initial_delay_ns = now.delay_ns;
  } else if (now.cpu_ns > begun.cpu_ns && now.delay_ns >= begun.delay_ns) {
    t->record->initial_cpu_ns = now.cpu_ns - begun.cpu_ns;
    t->record->initial_delay_ns = now.delay_ns - begun.delay_ns;
  }
}

struct thread_state *thread_state_new(uint32_t index)
{
  struct format_extent *extent = arena_new(ARENA_THREAD, 0, FORMAT_FREE, index, sizeof(struct measured_thread), 1);
  if (!extent)
    return NULL;
  struct thread_state *t = arena_data(extent);
  t->index = index;
  t->tid = sys_tid();
  t->self_extent = extent;
  sampling_of(t)->frames_extent = arena_new(ARENA_FRAMES, 0, FORMAT_FREE, index, sizeof(struct frame), RT_FRAMES_MAX);
  sampling_of(t)->walk_extent = arena_new(ARENA_WALK, 0, FORMAT_FREE, index, (uint32_t)unwind_size(), 1);
  if (!record_new(t) || !cct_init(t) || !sampling_of(t)->frames_extent || !sampling_of(t)->walk_extent ||
      !live_threads_add(t)) {
    thread_state_release(t);
    return NULL;
  }
  sampling_of(t)->frames = arena_data(sampling_of(t)->frames_extent);
  sampling_of(t)->walk = arena_data(sampling_of(t)->walk_extent);
  t->cpu_start_ns = sys_thread_cpu_ns();
  note_initial(t);
  waiting_init(t);
  call_sleep_init(t);
  barrier_start_thread(t);
  construct_init(t);
  marks_start_thread(t);
  counts_init(t);
  trace_start_thread(t);
  sample_trace_start(t);
  list_add(t);
  return t;
}

void thread_state_remove(struct thread_state *t)
{
  list_remove(t);
  live_threads_remove(t);
  region_unregister(t);
}
