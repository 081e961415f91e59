#include "hpcrun-lite/rt/span/work_clock.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/rseq.h>

#include "hpcrun-lite/rt/core/counter_page.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { PAGE = 4096, RECENT_TICKS = 5000 };
static const uint64_t always_switched = 1; /* an indicator that always shows a switch */

/* Nanoseconds of a tick of the time-stamp counter, with 32 bits of fraction, and the interval in which they were
 * measured.  Written by CTL, and before that by a thread that needs them, relaxed: any of the values is good enough. */
static _Atomic uint64_t ns_per_tick, calibrated_ns;
static struct sys_moment begun;

void work_clock_calibrate(void)
{
  struct sys_moment now = sys_moment();
  if (!begun.ns) {
    begun = now;
    return;
  }
  uint64_t passed_ns = now.ns - begun.ns, passed_ticks = now.ticks - begun.ticks;
  if (passed_ticks == 0 || passed_ns < 2 * atomic_load_explicit(&calibrated_ns, memory_order_relaxed))
    return;
  atomic_store_explicit(&calibrated_ns, passed_ns, memory_order_relaxed);
  atomic_store_explicit(&ns_per_tick, rt_scale(passed_ns, 1ull << 32, passed_ticks), memory_order_relaxed);
}

/* Converts the kernel's nanoseconds to ticks. */
static uint64_t to_ticks(uint64_t ns)
{
  uint64_t rate = atomic_load_explicit(&ns_per_tick, memory_order_relaxed);
  if (!rate) {
    work_clock_calibrate();
    rate = atomic_load_explicit(&ns_per_tick, memory_order_relaxed);
  }
  return rt_scale(ns, 1ull << 32, rate);
}

/* ---- the rseq area ---- */

/* A critical section that no thread ever runs.  When a thread was preempted, migrated or gets a signal, the kernel
 * looks at the descriptor to which the thread's rseq area points, and clears the pointer if the thread is outside the
 * section.  The kernel requires a signature before the address where an aborted section would continue; data is
 * sufficient, since no thread goes there. */
static const struct {
  uint32_t signature, abort[3], section[4];
} empty_section = {.signature = RSEQ_SIG};
static struct rseq_cs descriptor;
static bool rseq_works;

/* The pointer in the calling thread's rseq area, as registered by libc; NULL without one. */
static uint64_t *rseq_pointer(void)
{
  char *thread = __builtin_thread_pointer();
  const struct rseq *area = (const struct rseq *)(thread + __rseq_offset);
  if (__rseq_size == 0 || (int32_t)__atomic_load_n(&area->cpu_id, __ATOMIC_RELAXED) < 0)
    return NULL;
  return (uint64_t *)(thread + __rseq_offset + offsetof(struct rseq, rseq_cs));
}

/* Sets the pointer, unless the program uses it.  Returns whether it is ours. */
static bool rseq_set(uint64_t *pointer)
{
  if (__atomic_load_n(pointer, __ATOMIC_RELAXED) == 0)
    __atomic_store_n(pointer, (uint64_t)&descriptor, __ATOMIC_SEQ_CST);
  return __atomic_load_n(pointer, __ATOMIC_RELAXED) == (uint64_t)&descriptor;
}

/* The kernel only promises to clear the pointer of threads that are switched out in user code.  Linux up to 6.18 also
 * clears it for those that sleep in a system call, later versions only if they wake up on another processor.  So a few
 * short sleeps test it. */
void work_clock_probe(void)
{
  enum { WANTED = 4, ROUNDS = 16 };
  uint64_t *pointer = rseq_pointer();
  work_clock_calibrate();
  if (!pointer)
    return;
  descriptor.start_ip = (uint64_t)empty_section.section;
  descriptor.post_commit_offset = sizeof empty_section.section;
  descriptor.abort_ip = (uint64_t)empty_section.abort;
  const struct rseq *area = (const struct rseq *)((char *)pointer - offsetof(struct rseq, rseq_cs));
  int stayed = 0;
  for (int i = 0; i < ROUNDS && stayed < WANTED; i++) {
    uint32_t cpu = __atomic_load_n(&area->cpu_id, __ATOMIC_RELAXED);
    if (!rseq_set(pointer))
      return;
    sys_sleep_ns(1);
    if (__atomic_load_n(pointer, __ATOMIC_RELAXED) != 0) {
      __atomic_store_n(pointer, 0, __ATOMIC_RELAXED);
      return;
    }
    stayed += cpu == __atomic_load_n(&area->cpu_id, __ATOMIC_RELAXED);
  }
  rseq_works = stayed == WANTED;
}

/* ---- CPU time ---- */

/* Asks the kernel for the thread's CPU time: the new base from which ticks count.  The indicator is set first, so that
 * it shows any switch from here on.  Returns the time of the question: the kernel often switches a thread out at the
 * end of this very call, when it checks how long the thread has run. */
static uint64_t query_kernel(struct work *work)
{
  if (work->how == WORK_RSEQ)
    rseq_set((uint64_t *)work->switch_indicator);
  if (work->how == WORK_PAGE)
    work->unswitched_value = __atomic_load_n(work->switch_indicator, __ATOMIC_ACQUIRE);
  uint64_t queried = rt_ticks();
  work->base_ns = sys_thread_cpu_ns();
  work->base_ticks = rt_ticks();
  return queried;
}

/* Opens an event of the thread, in user mode and without samples, and maps its page.  Either may fail. */
static const void *open_page(struct thread_state *t, uint32_t type, uint64_t config, struct sys_own *own)
{
  struct perf_event_attr attr = {
      .size = sizeof attr, .type = type, .config = config, .exclude_kernel = 1, .exclude_hv = 1};
  attr.pinned = type == PERF_TYPE_HARDWARE; /* a counter that is on for a share of the time is of no use */
  if (sys_perf_event_open(own, &attr, t->tid) != 0)
    return NULL;
  return sys_perf_page(own, PAGE);
}

/* The page of an event opened for the purpose, which makes each switch of the thread about 1 us slower. */
static const struct perf_event_mmap_page *own_page(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  struct sys_own own;
  if (!span->work.page) {
    span->work.page = open_page(t, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, &own);
    sys_close_own(&own); /* the page keeps the event alive */
  }
  return span->work.page;
}

void work_clock_choose_indicator(struct thread_state *t)
{
  struct work *work = &span_of(t)->work;
  if (!span_process.online || !work_clock_is_time())
    return;
  const struct perf_event_mmap_page *page = span_of(t)->sampled_page;
  uint64_t *pointer = !page && rseq_works ? rseq_pointer() : NULL;
  if (!page && !pointer)
    page = own_page(t);
  work->how = WORK_ASK;
  work->switch_indicator = &always_switched;
  work->unswitched_value = 0;
  if (page) {
    work->how = WORK_PAGE;
    work->switch_indicator = (const uint64_t *)(const void *)&page->lock;
  } else if (pointer) {
    work->how = WORK_RSEQ;
    work->switch_indicator = pointer;
    work->unswitched_value = (uint64_t)&descriptor;
  }
}

uint64_t work_clock_query(struct thread_state *t, uint64_t moment)
{
  struct work *work = &span_of(t)->work;
  uint64_t before = work->base_ticks, before_ns = work->base_ns;
  if (work->since >= before && moment - before < RECENT_TICKS) /* too short for a switch */
    return work->done + (moment > work->since ? moment - work->since : 0);
  uint64_t begin = work->since > before ? work->since - before : 0;
  uint64_t queried = query_kernel(work), late = queried > moment ? queried - moment : 0;
  uint64_t used = to_ticks(work->base_ns - before_ns);
  used = used > begin ? used - begin : 0;
  work->done += used > late ? used - late : 0;
  work->since = moment > work->since ? moment : work->since;
  return work->done;
}

void work_clock_rebase(struct thread_state *t)
{
  struct work *work = &span_of(t)->work;
  if (work->since < work->base_ticks)
    work->since = work->base_ticks;
  if (work->since - work->base_ticks < RECENT_TICKS)
    return;
  query_kernel(work);
  work->since = work->base_ticks;
}

/* ---- hardware counters ---- */

/* Reads the counter without a system call.  *idle_ns: for how long the event has existed without being counted. */
static bool read_page(const struct perf_event_mmap_page *page, uint64_t *count, uint64_t *idle_ns)
{
  struct counter_reading reading;
  if (!counter_page_read(page, 0, machine_counter, &reading))
    return false;
  *count = reading.count;
  *idle_ns = reading.enabled_ns - reading.running_ns;
  return true;
}

/* If the hardware did not count all the time, or the counter cannot be read, it is unknown which fragment has lost
 * work: that is counted as a loss, and the work is too small. */
uint64_t work_clock_count(struct thread_state *t)
{
  struct work *work = &span_of(t)->work;
  uint64_t count, idle_ns = work->idle_ns;
  if (!work->page && work->own.fd < 0)
    return work->units;
  bool known = work->page && read_page(work->page, &count, &idle_ns);
  if (!known)
    known = sys_perf_read(&work->own, &count);
  if (!known || idle_ns != work->idle_ns)
    rt_lost(t, FORMAT_LOST_WORK);
  work->idle_ns = idle_ns;
  if (known && count > work->units)
    work->units = count;
  return work->units;
}

static void start_counter(struct thread_state *t)
{
  struct work *work = &span_of(t)->work;
  bool cycles = span_process.work_unit == WORK_CYCLES;
  work->page =
      open_page(t, PERF_TYPE_HARDWARE, cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS, &work->own);
  if (work->own.fd < 0)
    rt_lost(t, FORMAT_LOST_EVENTS);
  uint64_t count;
  if (work->page)
    read_page(work->page, &count, &work->idle_ns);
}

/* ---- threads ---- */

void work_clock_start(struct thread_state *t)
{
  enum { NEVER_SIMPLE = 63 }; /* for work_clock_cut(), where work is counted */
  struct work *work = &span_of(t)->work;
  *work = (struct work){.own.fd = -1, .switch_indicator = &always_switched};
  work->base_ticks = work_clock_is_time() ? 0 : 1ull << NEVER_SIMPLE;
  work_clock_choose_indicator(t);
  if (work_clock_is_time())
    query_kernel(work);
  else if (span_process.work_unit != WORK_USER)
    start_counter(t);
  work->since = work_clock_value(t);
}

void work_clock_stop(struct thread_state *t)
{
  struct work *work = &span_of(t)->work;
  if (work->how == WORK_RSEQ && work_clock_not_switched(work))
    __atomic_store_n((uint64_t *)work->switch_indicator, 0, __ATOMIC_RELAXED);
  if (work->page)
    sys_unmap((void *)work->page, PAGE);
  sys_close_own(&work->own);
  *work = (struct work){.own.fd = -1, .switch_indicator = &always_switched};
}
