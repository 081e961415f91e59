#define _GNU_SOURCE
#include "hpcrun-lite/control.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hpcrun-lite/interpose/hooks.h"
#include "hpcrun-lite/process/exit_line.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/output/packer.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/task_context.h"
#include "hpcrun-lite/rt/sampling/unwind.h"
#include "hpcrun-lite/rt/span/work_clock.h"
#include "hpcrun-lite/load_libunwind.h"
#include "hpcrun-lite/output/writer.h"

enum { SETTLE_NS = 100000000, MAIN_STACK_MAX = 1 << 30, START_SLACK = 128 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* What its holder had before.  A handler of the program's that runs on top of an exec may take the lock once more: then
 * the innermost is the last. */
enum { TAKEN_MAX = 8, MXCSR_DEFAULT = 0x1f80 };
static struct saved_state {
  sigset_t mask;
  int cancel;
  unsigned mxcsr;
  bool pipe_pending, size_pending;
} taken[TAKEN_MAX];
static unsigned taken_count;
static _Atomic pthread_t owner; /* 0 = nobody */

/* The lock, and with it peace: no signal handler of the program's runs on top (it might end the process, and so come
 * here), no cancellation, and what writing raises does not reach the program; nor do the flags of our arithmetic, which
 * it may have set to trap. */
static void lock_take(void)
{
  sigset_t all, pending;
  struct saved_state had = {.mxcsr = __builtin_ia32_stmxcsr()};
  sigfillset(&all);
  libc_sigmask(SIG_SETMASK, &all, &had.mask);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &had.cancel);
  if (atomic_load(&owner) != pthread_self()) {
    pthread_mutex_lock(&mutex);
    atomic_store(&owner, pthread_self());
  }
  __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
  sigpending(&pending);
  had.pipe_pending = sigismember(&pending, SIGPIPE);
  had.size_pending = sigismember(&pending, SIGXFSZ);
  taken[taken_count++ % TAKEN_MAX] = had;
}

static void lock_drop(void)
{
  sigset_t raised;
  struct saved_state had = taken[--taken_count % TAKEN_MAX];
  struct timespec now = {0, 0};
  sigemptyset(&raised);
  if (!had.pipe_pending)
    sigaddset(&raised, SIGPIPE);
  if (!had.size_pending)
    sigaddset(&raised, SIGXFSZ);
  if (!taken_count) {
    atomic_store(&owner, 0);
    pthread_mutex_unlock(&mutex);
  }
  while (sigtimedwait(&raised, NULL, &now) > 0)
    ;
  __builtin_ia32_ldmxcsr(had.mxcsr);
  pthread_setcancelstate(had.cancel, NULL);
  libc_sigmask(SIG_SETMASK, &had.mask, NULL);
}

/* Everything that a process image, new or forked, starts with. */
static void reset_process(void)
{
  process_reset();
  sys_barrier_prepare();
  times_start(process.start_ns, process.start_ticks, process.start_cpu_ns);
  writer_start();
  modules_start(process.executable);
  region_start();
  blame_start();
  task_start();
  span_start();
  writer_begin();
}

static void choose_metrics(void)
{
  rt.driver = -1;
  for (unsigned i = 0; i < rt.event_count && rt.driver < 0; i++)
    if (rt.events[i].clock != EVENT_COUNT)
      rt.driver = (int)i;
  rt.wall = rt.driver >= 0 && rt.events[rt.driver].clock == EVENT_WALL_TIME;
  rt.metric_count = rt.driver < 0 ? 1 + rt.event_count : 6 + rt.event_count - 1;
}

bool control_start(void)
{
  static bool tried;
  if (tried)
    return process.active;
  tried = true;
  message_start();
  config_read();
  if (!config.directory)
    return false;
  if (dlsym(RTLD_DEFAULT, "__tsan_init")) { /* it delivers signals when it likes, and its threads are not ours to see */
    message_say("built with -fsanitize=thread: nothing is measured; build it without");
    return false;
  }
  memcpy(rt.events, config.events, sizeof rt.events);
  rt.event_count = config.event_count;
  process_examine();
  rt.task_creation = config.task_creation;
  rt.online = config.online;
  rt.work_unit = config.work_unit;
  atomic_store(&rt.paused, config.paused);
  choose_metrics();
  exit_line_start();
  reset_process();
  process.unwind_fault = load_libunwind();
  source_probe();
  if (rt.online && work_clock_is_time())
    work_clock_probe();
  if (!hooks_start()) {
    message_say("cannot install its signal handler: nothing is measured");
    return false;
  }
  process.active = true;
  extern void *__libc_stack_end;
  thread_start((uint64_t)__libc_stack_end - START_SLACK, 0);
  return true;
}

/* As the limit was at the start of the program: the space below it was kept free then. */
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

/* The stack's bounds, within which an unwind may load directly.  The main thread's grows; below its limit lies nothing
 * else. */
static void find_stack(struct thread_state *t, uint64_t top_sp)
{
  if (t->tid == rt.pid) {
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

static void state_release(struct thread_state *t)
{
  cct_release(t);
  if (t->frames_chunk)
    arena_free(ARENA_FRAMES, 0, t->frames_chunk);
  if (t->walk_chunk)
    arena_free(ARENA_WALK, 0, t->walk_chunk);
  if (t->stacks_chunk)
    arena_free(ARENA_STACKS, 0, t->stacks_chunk);
  if (t->record_chunk)
    arena_free(ARENA_RECORD, 0, t->record_chunk);
  arena_free(ARENA_THREAD, 0, t->self_chunk);
}

/* The thread's record, published before anything that refers to it. */
static bool record_new(struct thread_state *t)
{
  t->record_chunk = arena_new(ARENA_RECORD, 0, FORMAT_THREAD, t->index, sizeof(struct format_thread), 1);
  if (!t->record_chunk)
    return false;
  t->record = arena_data(t->record_chunk);
  t->record->index = t->index;
  t->record->tid = (uint32_t)t->tid;
  t->record->start_ns = sys_monotonic_ns() - process.start_ns;
  __atomic_store_n(&t->record_chunk->count, 1, __ATOMIC_RELEASE);
  return true;
}

/* The state of the calling thread, with all its memory; NULL without. */
static struct thread_state *state_new(uint32_t index)
{
  struct format_chunk *chunk = arena_new(ARENA_THREAD, 0, FORMAT_FREE, index, sizeof(struct thread_state), 1);
  if (!chunk)
    return NULL;
  struct thread_state *t = arena_data(chunk);
  t->index = index;
  t->tid = sys_tid();
  t->self_chunk = chunk;
  t->frames_chunk = arena_new(ARENA_FRAMES, 0, FORMAT_FREE, index, sizeof(struct frame), RT_FRAMES_MAX);
  t->walk_chunk = arena_new(ARENA_WALK, 0, FORMAT_FREE, index, (uint32_t)unwind_size(), 1);
  if (!record_new(t) || !cct_init(t) || !t->frames_chunk || !t->walk_chunk || !region_register(t)) {
    state_release(t);
    return NULL;
  }
  if (!blame_join(t)) {
    region_unregister(t);
    state_release(t);
    return NULL;
  }
  t->frames = arena_data(t->frames_chunk);
  t->walk = arena_data(t->walk_chunk);
  t->cpu_start_ns = sys_thread_cpu_ns();
  return t;
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

void thread_start(uint64_t top_sp, uint32_t handed)
{
  if (rt_self || !process.active || !rt_home.ours)
    return;
  lock_take();
  if (process.threads)
    arena_waive();
  struct thread_state *t = process.finished ? NULL : state_new(++process.thread_count);
  if (t)
    list_add(t);
  else if (!process.finished)
    rt_lost(NULL, FORMAT_LOST_THREADS);
  lock_drop();
  if (!t)
    return;
  find_stack(t, top_sp);
  t->inside = 1;
  rt_self = t;
  hooks_watch_thread_end();
  own_signal_block(); /* a first period may be shorter than a signal's way (under a debugger): see settle_period() */
  source_start(t);
  unsigned mxcsr = __builtin_ia32_stmxcsr(); /* our arithmetic leaves no flags behind */
  __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
  if (rt.online) {
    span_start_thread(t);
    span_take_over(t, handed);
    if (t->tid == rt.pid)
      span_begin_early(t); /* its serial code counts from the start */
  }
  __builtin_ia32_ldmxcsr(mxcsr);
  rt_leave(t);
  own_signal_unblock();
}

/* Brings the record up to date.  The clock of a thread that the system has removed already reads 0. */
static void settle_record(struct thread_state *t, uint64_t cpu_ns, bool ended)
{
  times_thread(t, cpu_ns);
  t->record->end_ns = ended ? t->record->start_ns + t->record->wall_ns : 0;
}

/* Clocks of threads that have ended and may be joined: the oldest make room. */
static struct ended {
  pthread_t thread;
  uint32_t handed;
} ended[1024];
static unsigned ended_next;

uint32_t thread_hand_over(void)
{
  struct thread_state *t = rt_thread();
  if (!t || !rt_enter(t))
    return 0;
  arena_settle();
  uint32_t handed = rt.online ? span_hand_over(t) : 0;
  rt_leave(t);
  return handed;
}

static void keep_ended(struct thread_state *t)
{
  uint32_t handed = t->worker ? 0 : span_hand_over(t);
  if (!handed)
    return;
  lock_take();
  struct ended *place = NULL;
  for (unsigned i = 0; i < sizeof ended / sizeof *ended && !place; i++)
    if (ended[i].handed && pthread_equal(ended[i].thread, pthread_self())) /* that one was never joined */
      place = &ended[i];
  if (!place)
    place = &ended[ended_next++ % (sizeof ended / sizeof *ended)];
  uint32_t old = place->handed;
  *place = (struct ended){pthread_self(), handed};
  lock_drop();
  span_forget(t, old); /* nobody has joined that thread in time */
}

void thread_joined(pthread_t thread)
{
  struct thread_state *t = rt_thread();
  uint32_t handed = 0;
  if (!rt.online || !t)
    return;
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

static __thread bool stopped __attribute__((tls_model("initial-exec")));

bool thread_stopped(void)
{
  return stopped;
}

/* What an ended thread has measured could not be written: it stays where it is, for a number of threads. */
static bool left_in_live_file(void)
{
  enum { LEFT_MAX = 200 };
  static unsigned left;
  return arena_kept() && left++ < LEFT_MAX;
}

void thread_stop(void)
{
  struct thread_state *t = rt_thread();
  if (!t || !process.active)
    return;
  own_signal_block();                    /* as in thread_start() */
  uint64_t cpu_ns = sys_thread_cpu_ns(); /* what follows is not sampled, nor is it the program's */
  unsigned mxcsr = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
  t->inside = 1;
  sample_end(t, cpu_ns);
  if (rt.online) {
    keep_ended(t);
    span_stop_thread(t);
  }
  stopped = true;
  rt_self = NULL;
  source_stop(t);
  blame_openmp_end(t);
  rt_leave(t); /* no handler will come: who waits for those inside need not wait for us */
  lock_take();
  if (!process.finished) {
    region_fold(t);
    settle_record(t, cpu_ns, true);
    bool written = writer_thread_ended(t);
    list_remove(t);
    process.finished_samples += t->record->samples;
    process.finished_regions += t->record->regions;
    for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
      process.finished_lost[i] += t->record->lost[i];
    blame_leave(t);
    region_unregister(t);
    if (written || !left_in_live_file())
      state_release(t);
  }
  lock_drop();
  __builtin_ia32_ldmxcsr(mxcsr);
  own_signal_unblock();
}

/* Waits, for a bounded time, until a condition on every live thread holds. */
static void wait_until(bool (*done)(const struct thread_state *t))
{
  uint64_t deadline = sys_monotonic_ns() + SETTLE_NS;
  for (const struct thread_state *t = process.threads; t; t = t->next)
    while (t != rt_self && !done(t) && sys_monotonic_ns() < deadline)
      sys_yield();
}

static bool outside_handler(const struct thread_state *t)
{
  return !__atomic_load_n(&t->inside, __ATOMIC_ACQUIRE);
}

static bool nothing_wanted(const struct thread_state *t)
{
  return !region_wanted(t);
}

/* The process ends inside parallel regions: their masters tell where those were created, each from its own stack. */
static void publish_open_regions(void)
{
  struct thread_state *self = rt_self;
  bool asked = false;
  if (self && self->open_region && rt_enter(self)) {
    context_publish_open(self);
    rt_leave(self);
  }
  for (struct thread_state *t = process.threads; t; t = t->next)
    if (t != self && region_wanted(t)) {
      sys_signal_thread(rt.pid, t->tid, RT_SIGNAL, (void *)&sample_publish);
      asked = true;
    }
  if (asked)
    wait_until(nothing_wanted);
}

/* No thread is in a handler, or follows the graph any more. */
static void rest(void)
{
  atomic_store(&rt.closed, true);
  atomic_store(&rt.graph_suspended, true);
  sys_barrier_all();
  wait_until(outside_handler);
}

/* Children that were too short to be sampled (a shell's, say) leave no file; what they took is in the samples of the
 * others of their kind.  last: nothing comes after it.  False: no file was needed. */
static bool write_all(bool last)
{
  if (rt.pid != config.first_pid && !rt.ompt && !process_samples())
    return false;
  for (struct thread_state *t = process.threads; t && rt.online; t = t->next)
    span_report(t);
  for (struct thread_state *t = process.threads; t && rt.online && rt_self; t = t->next) {
    span_reach(rt_self, t);
    span_settle(t);
  }
  if (last)
    graph_log_stop();
  for (struct thread_state *t = process.threads; t; t = t->next) {
    uint64_t cpu_ns = sys_cpu_ns_of(t->tid);
    if (last)
      sample_end(t, cpu_ns);
    settle_record(t, cpu_ns, false);
    writer_thread(t);
  }
  writer_process();
  writer_commit();
  return true;
}

static pid_t exec_pid; /* of the process that is in an exec, under the lock; 0 = none */

/* The files take descriptors, of which the program may have used up its own. */
static void write_files(void (*write)(void))
{
  enum { NEEDED = 8 };
  struct rlimit limit, wider;
  bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
  wider = limit;
  wider.rlim_cur = limit.rlim_cur < limit.rlim_max - NEEDED ? limit.rlim_cur + NEEDED : limit.rlim_max;
  bool widened = known && setrlimit(RLIMIT_NOFILE, &wider) == 0;
  write();
  if (widened)
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void write_last(void)
{
  if (exec_pid == rt.pid) /* a handler of the program's ends it in the midst of an exec */
    writer_rewind();
  publish_open_regions();
  rest();
  if (write_all(true)) {
    packer_run();
  } else {
    packer_discard();
    writer_discard();
  }
}

void control_finish(void)
{
  if (!process.active || rt.pid != sys_pid()) /* a vfork child lives in its parent's memory */
    return;
  lock_take();
  if (!process.finished) {
    process.finished = true;
    write_files(write_last);
    exit_line_say();
  }
  lock_drop();
}

/* From now on nothing of ours calls the system. */
void control_seal(void)
{
  if (!process.active || rt.pid != sys_pid())
    return;
  control_finish();
  lock_take();
  if (config.log)
    message_say("the program restricts its system calls (seccomp): measuring has ended there");
  for (struct thread_state *t = process.threads; t; t = t->next)
    source_stop(t);
  process.active = false;
  lock_drop();
  rt_self = NULL;
}

static bool may_exec(void)
{
  return process.active && rt.pid == sys_pid();
}

static void write_for_exec(void)
{
  writer_mark();
  publish_open_regions();
  rest();
  if (!write_all(false)) { /* else the log stays as it is, since the exec may fail: it can be read */
    packer_discard();
    writer_discard();
    if (config.graph_log)
      rt_lost(NULL, FORMAT_LOST_LOG);
  }
}

void control_before_exec(void)
{
  if (!may_exec())
    return;
  lock_take();
  if (!process.finished && !exec_pid) {
    write_files(write_for_exec);
    exec_pid = rt.pid;
  }
  unsigned own = (taken_count - 1) % TAKEN_MAX;
  __builtin_ia32_ldmxcsr(taken[own].mxcsr);
  libc_sigmask(SIG_SETMASK, &taken[own].mask, NULL); /* the mask is the new program's too */
}

void control_exec_failed(void)
{
  int saved_errno = errno;
  if (!may_exec())
    return;
  if (exec_pid && taken_count == 1) {
    if (!process.finished && exec_pid == rt.pid) /* else a child, forked by a handler meanwhile */
      writer_rewind();
    exec_pid = 0;
    if (!process.finished) {
      if (process.threads && !process.threads->next)
        atomic_store(&rt.graph_suspended, false);
      else if (rt.online) /* the others have gone on meanwhile, and what they did is not known */
        rt_lost(NULL, FORMAT_LOST_GRAPH);
      atomic_store(&rt.closed, false);
    }
  }
  lock_drop();
  errno = saved_errno;
}

static bool fork_locked;

/* No thread is in a handler, where it could hold libunwind's locks, while the process is copied. */
void control_fork_prepare(void)
{
  fork_locked = process.active && rt_home.ours;
  if (!fork_locked)
    return;
  lock_take();
  atomic_store(&rt.quiet, true);
  if (!process.finished)
    wait_until(outside_handler);
}

void control_fork_parent(void)
{
  if (!fork_locked)
    return;
  atomic_store(&rt.quiet, false);
  lock_drop();
}

/* Only the forking thread goes on.  Its sources stayed behind with the parent; so does what was measured until now. The
 * tables are the parent's own: they are let go before anything of ours runs. */
void control_fork_child(void)
{
  if (!fork_locked)
    return;
  static struct thread_state old;
  bool measured = process.active && !process.finished, known = measured && rt_self;
  for (struct thread_state *t = process.threads; t; t = t->next)
    graph_log_forget(t);
  if (known)
    old = *rt_self;
  if (measured) {
    rt_self = NULL;
    arena_reset();
  }
  atomic_store(&rt.quiet, false);
  unsigned mxcsr = taken[(taken_count - 1) % TAKEN_MAX].mxcsr;
  lock_drop();
  if (!measured)
    return;
  __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
  unwind_restart();
  process.forked = rt.forked = true;
  memset(ended, 0, sizeof ended);
  reset_process();
  thread_start(known ? old.top_sp : 0, 0);
  if (rt_self && known) {
    if (old.activity.openmp)
      blame_openmp_begin(rt_self, false);
    rt_self->stack_low = old.stack_low;
    rt_self->stack_high = old.stack_high;
  }
  __builtin_ia32_ldmxcsr(mxcsr);
}
