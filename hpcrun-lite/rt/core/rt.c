#include "hpcrun-lite/rt/core/rt.h"

#include "hpcrun-lite/rt/core/sys.h"

struct rt_process rt;
__thread struct thread_state *rt_self;
__thread struct rt_gomp_task *rt_gomp_task;
__thread struct rt_undeferred rt_undeferred;
__thread struct rt_noted rt_noted;
_Static_assert(offsetof(struct rt_noted, group) == 0 && offsetof(struct rt_noted, allocation) == 8 &&
                   offsetof(struct rt_noted, sections) == 16 && offsetof(struct rt_noted, taskloop) == 32 &&
                   offsetof(struct rt_noted, chunk_size) == 40 && offsetof(struct rt_noted, schedule) == 48 &&
                   offsetof(struct rt_noted, reduction) == 56 && offsetof(struct rt_noted, reduction_since) == 64,
               "jumps.S (arch) writes there");
union rt_home rt_home __attribute__((aligned(sizeof rt_home)));

void rt_begin(void)
{
  sys_wipe_on_fork(&rt_home, sizeof rt_home);
  rt_home.ours = true;
}

enum { PAUSE_TRIES = 100 };

/* The ticks of all pauses until `now`, of which the last change was number changes - 1.  A pause before the process's
 * start counts from there. */
static uint64_t paused_after(uint32_t changes, uint64_t now)
{
  if (!changes)
    return 0;
  uint64_t at = atomic_load(&rt.paused_at[(changes - 1) % RT_PAUSES]);
  uint64_t ended = atomic_load(&rt.paused_until[(changes - 1) % RT_PAUSES]);
  at = at > rt.start_ticks ? at : rt.start_ticks;
  return ended + (changes % 2 && now > at ? now - at : 0);
}

uint64_t rt_ticks_to_ns(uint64_t ticks)
{
  struct sys_moment now = sys_moment();
  return rt_scale(ticks, now.ns - rt.start_ns, now.ticks - rt.start_ticks);
}

uint64_t rt_measured_clock(uint64_t now)
{
  return now - paused_after(atomic_load(&rt.pauses), now);
}

void rt_pause_at(enum rt_pause_reason reason, bool pause, uint64_t moment)
{
  if (pause) {
    atomic_fetch_or(&rt.waits, RT_WAITS_PAUSED);
    atomic_fetch_or(&rt.paused_by, reason);
  } else {
    atomic_fetch_and(&rt.paused_by, ~(unsigned)reason);
  }
  for (int i = 0; i < PAUSE_TRIES; i++) { /* again, as another thread may add or remove a reason meanwhile */
    uint32_t changes = atomic_load(&rt.pauses);
    if (changes % 2 == (atomic_load(&rt.paused_by) != 0))
      return;
    atomic_store(&rt.paused_until[changes % RT_PAUSES], paused_after(changes, moment));
    atomic_store(&rt.paused_at[changes % RT_PAUSES], moment);
    atomic_compare_exchange_strong(&rt.pauses, &changes, changes + 1); /* otherwise another thread did the same */
  }
}

void rt_pause(bool pause)
{
  rt_pause_at(RT_PAUSED_PROGRAM, pause, rt_ticks());
}

uint64_t rt_measured(uint64_t since, uint64_t now)
{
  uint32_t changes = atomic_load_explicit(&rt.pauses, memory_order_acquire);
  uint64_t measured = 0, end = now;
  bool paused = changes % 2;
  for (uint32_t i = 0; i < changes && i + 1 < RT_PAUSES && end > since; i++) { /* from the latest; the oldest place may
                                                                                  be written now */
    uint64_t at = atomic_load_explicit(&rt.paused_at[(changes - 1 - i) % RT_PAUSES], memory_order_relaxed);
    at = at < since ? since : at;
    if (at < end) {
      measured += paused ? 0 : end - at;
      end = at;
    }
    paused = !paused;
  }
  return measured + (paused || end < since ? 0 : end - since);
}

static bool ompt_task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame)
{
  enum { LOWEST_POINTER = 65536, TASK_KNOWN = 2 };
  return rt.get_task_info && rt.get_task_info(level, flags, data, frame, NULL, NULL) == TASK_KNOWN &&
         (uint64_t)*frame >= LOWEST_POINTER;
}

/* With two runtimes in a thread, one is called from within the other: the inner one's frame is at a lower address. */
bool rt_task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame)
{
  struct rt_gomp_task *task = rt_gomp_task;
  bool known = (!task || level == 0) && ompt_task_info(level, flags, data, frame);
  if (known && task && task->frame.exit_frame.value - 1 > (*frame)->exit_frame.value - 1)
    return true;
  for (; task && level > 0; level--)
    task = task->outer;
  if (!task)
    return known;
  *flags = task->flags;
  *data = task->data;
  *frame = &task->frame;
  return true;
}

/* The elements that end the list are not on the stack: a jump never leaves them. */
void rt_jump(uint64_t sp)
{
  const struct thread_state *t = rt_self;
  struct rt_gomp_task *task = rt_gomp_task;
  if (!t || sp < t->stack_low || sp >= t->stack_high)
    return;
  while (task && task->outer && (uint64_t)task >= t->stack_low && (uint64_t)task < sp)
    task = task->outer;
  rt_gomp_task = task;
}

void rt_await_flush(void)
{
  enum { TRIES = 100000 };
  for (int i = 0; i < TRIES && atomic_load(&rt.flushing); i++)
    sys_yield();
}
