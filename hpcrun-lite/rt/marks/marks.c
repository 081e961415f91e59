#include "hpcrun-lite/rt/marks/marks.h"

#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/marks/mark_names.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/times.h"

enum { MARKS_FIRST = 64, COUNTS_FIRST = 16, HEADS_FIRST = 64, TRIES = 100000 };

static struct table marks; /* struct format_mark; added to under the lock */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static uint32_t counters[MARKS_COUNTERS_MAX]; /* their names; written under the lock */
static atomic_uint counters_count;            /* stored with release after the name */

void marks_start(void)
{
  atomic_flag_clear(&lock);
  atomic_store(&counters_count, 0);
  mark_names_start();
  table_init(&marks, FORMAT_MARKS, ARENA_SHARED, 0, sizeof(struct format_mark), MARKS_FIRST);
}

void marks_start_thread(struct thread_state *t)
{
  table_init(&marks_of(t)->user_counts, FORMAT_USER_COUNTS, ARENA_USER_COUNTS, t->index,
             sizeof(struct format_user_count), COUNTS_FIRST);
  table_init(&marks_of(t)->user_heads, FORMAT_FREE, ARENA_USER_HEADS, t->index, sizeof(uint64_t), HEADS_FIRST);
}

void marks_release_thread(struct thread_state *t)
{
  table_release(&marks_of(t)->user_counts);
  table_release(&marks_of(t)->user_heads);
}

bool marks_any(void)
{
  return marks.count || atomic_load(&counters_count);
}

const struct table *marks_table(void)
{
  return &marks;
}

/* ---- marks and user phases ---- */

/* The time is taken by the holder of the lock, so that records are in the order of time. */
static bool append(struct thread_state *t, enum format_mark_kind kind, uint32_t name)
{
  uint32_t index;
  for (int i = 0; i < TRIES; i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    struct format_mark *mark = marks.count < MARKS_MAX ? table_next(&marks, &index) : NULL;
    if (mark) {
      *mark = (struct format_mark){.ticks = rt_ticks(), .thread = t->index, .kind = kind, .name = name};
      table_publish(&marks);
    }
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return mark;
  }
  return false;
}

void marks_add(struct thread_state *t, enum format_mark_kind kind, const char *name)
{
  bool stopped = rt_stopped();
  if (rt_closed(t, FORMAT_LOST_MARKS))
    return;
  if (!stopped)
    arena_create_live_file(); /* the thread is the only one, or the file exists: see core/arena.h */
  uint32_t string = name ? mark_names_find(name) : 0;
  if ((name && !string) || !append(t, kind, string))
    rt_lost(t, FORMAT_LOST_MARKS);
  if (!stopped)
    times_refresh(t); /* a reader needs the length of a tick, also if the process is killed before its first sample */
}

/* ---- counters ---- */

static struct format_user_count *count_at(struct thread_state *t, uint32_t index)
{
  return table_at(&marks_of(t)->user_counts, index);
}

static bool counter_known(uint32_t name)
{
  unsigned count = atomic_load_explicit(&counters_count, memory_order_acquire);
  for (unsigned i = 0; i < count; i++)
    if (counters[i] == name)
      return true;
  return false;
}

/* The first time that a thread counts by the counter.  Returns false if there are too many. */
static bool counter_add(uint32_t name)
{
  for (int i = 0; i < TRIES && !counter_known(name); i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    unsigned count = atomic_load_explicit(&counters_count, memory_order_relaxed);
    bool added = counter_known(name) || count < MARKS_COUNTERS_MAX;
    if (added && !counter_known(name)) {
      counters[count] = name;
      atomic_store_explicit(&counters_count, count + 1, memory_order_release);
    }
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return added;
  }
  return counter_known(name);
}

/* Where the list of a context's records begins; each has another counter.  NULL without memory. */
static uint64_t *head_of(struct thread_state *t, uint32_t node)
{
  struct marks_thread *marks = marks_of(t);
  uint32_t index;
  while (marks->user_heads.count <= node) {
    if (!table_next(&marks->user_heads, &index))
      return NULL;
    table_publish(&marks->user_heads);
  }
  return table_at(&marks->user_heads, node);
}

/* Finds or adds the record of a context and a counter.  A list of records, by index + 1, ends with 0. */
static struct format_user_count *count_of(struct thread_state *t, uint32_t node, uint32_t name)
{
  struct marks_thread *marks = marks_of(t);
  uint64_t *head = head_of(t, node);
  uint32_t index;
  if (!head)
    return NULL;
  for (index = (uint32_t)*head; index; index = count_at(t, index - 1)->next)
    if (count_at(t, index - 1)->name == name)
      return count_at(t, index - 1);
  bool room = marks->user_counts.count < MARKS_COUNTS_MAX && counter_add(name);
  struct format_user_count *made = room ? table_next(&marks->user_counts, &index) : NULL;
  if (!made)
    return NULL;
  *made = (struct format_user_count){.node = node, .name = name, .least = UINT64_MAX, .next = (uint32_t)*head};
  table_publish(&marks->user_counts);
  sampling_of(t)->nodes_counted = true;
  *head = index + 1;
  return made;
}

/* With -t.  The clock of samples does not advance: the operation states the time since the last sample. */
static void trace_count(struct thread_state *t, uint32_t node, uint32_t name, uint64_t value)
{
  uint64_t clock = rt_ticks() >> TRACELOG_SAMPLE_SHIFT;
  const uint64_t operands[] = {clock > trace_of(t)->sample_clock ? clock - trace_of(t)->sample_clock : 0, node, name,
                               value};
  trace_put_op(t, TRACELOG_USER_COUNT, 4, operands);
}

void marks_count(struct thread_state *t, const char *name, int64_t value, uint64_t inside)
{
  if (rt_paused())
    return;
  bool stopped = rt_stopped(); /* while the process forks nothing is unwound: the value counts for the program */
  if (rt_closed(t, FORMAT_LOST_MARKS))
    return;
  if (!stopped)
    arena_create_live_file();
  uint32_t string = value < 0 ? 0 : mark_names_find(name);
  uint32_t node = !string || stopped ? CCT_NONE : context_call(t, inside);
  node = node == CCT_NONE ? CCT_ROOT : node;
  struct format_user_count *count = string ? count_of(t, node, string) : NULL;
  if (!count) {
    rt_lost(t, FORMAT_LOST_MARKS);
    return;
  }
  uint64_t amount = (uint64_t)value;
  count->sum = count->sum > UINT64_MAX - amount ? UINT64_MAX : count->sum + amount;
  count->least = amount < count->least ? amount : count->least;
  count->most = amount > count->most ? amount : count->most;
  count->count++;
  if (stopped)
    return;
  times_refresh(t);
  if (trace_of(t)->on)
    trace_count(t, node, string, amount);
}
