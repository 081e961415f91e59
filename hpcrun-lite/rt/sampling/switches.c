#include "hpcrun-lite/rt/sampling/switches.h"

#include "common/order.h"
#include "hpcrun-lite/rt/core/sys.h"

#include <time.h>

enum {
  PAGE_BYTES = 4096,
  RING_BYTES = 4096, /* of records, after a page that describes them */
  MAPPED_KIB = (PAGE_BYTES + RING_BYTES) / 1024,
  BUDGET_SHARE = 4,
  BUDGET_DEFAULT_KIB = 516, /* of kernel.perf_event_mlock_kb */
  RATE_MAX = 10000,         /* switches a second, over at least as long as: */
  RATE_WINDOW_NS = 200000000
};

struct switch_record {
  struct perf_event_header header;
  uint64_t time_ns; /* CLOCK_MONOTONIC */
};

_Static_assert(RING_BYTES % sizeof(struct switch_record) == 0, "no record crosses the end of the ring");

/* The number in a file that has nothing else; otherwise the default. */
static uint64_t number_in(const char *path, uint64_t otherwise)
{
  char text[24];
  size_t length = sys_read_file(path, text, sizeof text - 1), at = 0;
  uint64_t number = 0;
  for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
    number = number * 10 + (uint64_t)(text[at] - '0');
  return at ? number : otherwise;
}

void switches_probe(void)
{
  uint64_t cpus = sampling_process.cpus ? sampling_process.cpus : 1;
  uint64_t kib = number_in("/proc/sys/kernel/perf_event_mlock_kb", BUDGET_DEFAULT_KIB) * cpus;
  uint64_t limit_kib = sys_locked_limit() / 1024;
  kib = kib < limit_kib ? kib : limit_kib;
  sampling_process.rings_max = (uint32_t)(kib / BUDGET_SHARE / MAPPED_KIB);
  atomic_store(&sampling_process.rings, 0);
  atomic_store(&sampling_process.ring_readers, 0);
}

/* Takes one of the rings that the process may have. */
static bool ring_take(void)
{
  if (atomic_fetch_add(&sampling_process.rings, 1) < sampling_process.rings_max)
    return true;
  atomic_fetch_sub(&sampling_process.rings, 1);
  return false;
}

/* Maps the ring for reading only: then the kernel overwrites the oldest records.  The mapping keeps the event alive, as
 * in source.c. */
static const void *ring_open(int tid)
{
  struct perf_event_attr attr = {.size = sizeof attr,
                                 .type = PERF_TYPE_SOFTWARE,
                                 .config = PERF_COUNT_SW_DUMMY,
                                 .sample_type = PERF_SAMPLE_TIME,
                                 .sample_id_all = 1,
                                 .context_switch = 1,
                                 .use_clockid = 1,
                                 .clockid = CLOCK_MONOTONIC,
                                 .exclude_kernel = 1,
                                 .exclude_hv = 1};
  struct sys_own own;
  if (sys_perf_event_open(&own, &attr, tid))
    return NULL;
  const void *ring = sys_perf_page(&own, PAGE_BYTES + RING_BYTES);
  sys_close_own(&own);
  return ring;
}

void switches_start(struct thread_state *t)
{
  struct switches *switches = &sampling_of(t)->switches;
  *switches = (struct switches){0};
  if (!ring_take())
    return;
  const void *ring = ring_open(t->tid);
  if (!ring) {
    atomic_fetch_sub(&sampling_process.rings, 1);
    return;
  }
  struct sys_moment now = sys_moment();
  switches->opened = now;
  switches->window_ns = now.ns;
  switches->seen_since = switches->last = now.ticks;
  __atomic_store_n(&switches->ring, ring, __ATOMIC_RELEASE);
}

void switches_stop(struct thread_state *t)
{
  struct switches *switches = &sampling_of(t)->switches;
  const void *ring = switches->ring;
  if (!ring)
    return;
  if (t->tid != sys_tid()) { /* it may be reading: the mapping stays until the process ends */
    __atomic_store_n(&switches->ring, NULL, __ATOMIC_SEQ_CST);
    return;
  }
  switches_outside(t);
  t->record->switched_seen = switches->seen + rt_measured_between(switches->seen_since, rt_ticks());
  __atomic_store_n(&switches->ring, NULL, __ATOMIC_SEQ_CST);
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES && atomic_load(&sampling_process.ring_readers); i++)
    sys_yield();
  if (atomic_load(&sampling_process.ring_readers)) /* rare: it stays until the process ends */
    return;
  sys_unmap((void *)ring, PAGE_BYTES + RING_BYTES);
  atomic_fetch_sub(&sampling_process.rings, 1);
}

uint64_t switches_join(struct thread_state *t)
{
  struct switches *switches = &sampling_of(t)->switches;
  uint64_t delay = switches->since_join;
  switches->since_join = 0;
  switches->held_up += delay;
  return delay;
}

void switches_limit(struct thread_state *t)
{
  struct switches *switches = &sampling_of(t)->switches;
  if (!switches->ring || switches->reading)
    return;
  uint64_t now = sys_monotonic_ns(), passed = now - switches->window_ns;
  if (passed < RATE_WINDOW_NS)
    return;
  uint64_t records = (switches->read - switches->window_read) / sizeof(struct switch_record);
  if (records / 2 > rt_scale(passed, RATE_MAX, 1000000000)) {
    switches_stop(t);
    return;
  }
  switches->window_ns = now;
  switches->window_read = switches->read;
}

/* Copies the record at that position.  Returns false if the kernel has overwritten it, or may just do so. */
static bool record_at(const struct perf_event_mmap_page *page, uint64_t at, struct switch_record *record)
{
  const char *records = (const char *)page + PAGE_BYTES;
  __builtin_memcpy(record, records + at % RING_BYTES, sizeof *record);
  atomic_thread_fence(memory_order_acquire);
  return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - at < RING_BYTES;
}

/* The time-stamp counter at a moment between the opening of the ring and now. */
static uint64_t ticks_at(const struct switches *switches, const struct sys_moment *now, uint64_t ns)
{
  return now->ticks -
         rt_scale(rt_minus(now->ns, ns), now->ticks - switches->opened.ticks, now->ns - switches->opened.ns);
}

/* A reading, which divides time at moments. */
struct reading {
  const struct perf_event_mmap_page *page; /* CTL may forget the thread's ring meanwhile */
  struct sys_moment now;
  unsigned count;
  const uint64_t *moments;
  struct switched *parts;
};

static void note_preempted(struct thread_state *t, uint64_t ticks)
{
  t->record->switched_preempted += ticks;
  sampling_of(t)->switches.since_join += ticks;
}

/* Adds an interval in which the thread had no processor. */
static void add_interval(struct thread_state *t, const struct reading *reading, bool preempted, uint64_t from_ns,
                         uint64_t to_ns)
{
  const struct switches *switches = &sampling_of(t)->switches;
  uint64_t from = ticks_at(switches, &reading->now, from_ns), to = ticks_at(switches, &reading->now, to_ns);
  unsigned part = 0;
  while (part < reading->count && reading->moments[part] <= from)
    part++;
  if (preempted)
    note_preempted(t, rt_measured_between(from, to));
  else
    t->record->switched_wakes++;
  for (bool last = false; !last; part++) {
    last = part >= reading->count || reading->moments[part] >= to;
    uint64_t end = last ? to : reading->moments[part], ticks = rt_measured_between(from, end);
    if (preempted)
      reading->parts[part].preempted += ticks;
    else
      reading->parts[part].slept += ticks;
    reading->parts[part].wakes += last && !preempted;
    from = end;
  }
}

/* Records were overwritten before they were read: the time until the first one that is left is not covered. */
static void skip_lost(struct switches *switches, const struct reading *reading, uint64_t head)
{
  struct switch_record first;
  switches->read = head - RING_BYTES / 2; /* not the oldest ones, which are overwritten next */
  switches->out = false;
  bool known = record_at(reading->page, switches->read, &first);
  uint64_t until = known ? ticks_at(switches, &reading->now, first.time_ns) : reading->now.ticks;
  switches->seen += rt_measured_between(switches->seen_since, switches->last);
  switches->seen_since = until;
}

static void read_records(struct thread_state *t, const struct reading *reading)
{
  struct switches *switches = &sampling_of(t)->switches;
  const struct perf_event_mmap_page *page = reading->page;
  uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  struct switch_record record;
  if (head - switches->read >= RING_BYTES)
    skip_lost(switches, reading, head);
  for (; switches->read < head; switches->read += sizeof record) {
    if (!record_at(page, switches->read, &record)) { /* the thread was switched very often while it read */
      skip_lost(switches, reading, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE));
      return;
    }
    bool out = record.header.misc & PERF_RECORD_MISC_SWITCH_OUT;
    if (!out && switches->out)
      add_interval(t, reading, switches->preempted, switches->out_ns, record.time_ns);
    switches->out = out;
    switches->out_ns = record.time_ns;
    switches->preempted = record.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
  }
  switches->last = reading->now.ticks;
}

/* Reads also what belongs to a wait for a lock, which was over before the first moment. */
static void read_with_lock(struct thread_state *t, const void *ring, unsigned count, const uint64_t moments[],
                           struct switched parts[])
{
  enum { WAIT = 1, REST, LOCK_MOMENTS = REST };
  struct switches *switches = &sampling_of(t)->switches;
  uint64_t all[LOCK_MOMENTS + SWITCHES_MOMENTS] = {switches->lock_since, switches->lock_until};
  struct switched found[LOCK_MOMENTS + SWITCHES_MOMENTS + 1] = {{0}};
  for (unsigned i = 0; i < count; i++)
    all[LOCK_MOMENTS + i] = moments[i];
  read_records(t, &(struct reading){ring, sys_moment(), LOCK_MOMENTS + count, all, found});
  switches->slept_outside += found[0].slept;
  switches->lock->preempted += found[WAIT].preempted;
  switches->lock->wakes += found[WAIT].wakes;
  switches->since_join -= found[WAIT].preempted;
  switches->lock_read = true;
  for (unsigned i = 0; i <= count; i++) {
    parts[i].preempted += found[REST + i].preempted;
    parts[i].slept += found[REST + i].slept;
    parts[i].wakes += found[REST + i].wakes;
  }
}

void switches_read(struct thread_state *t, unsigned count, const uint64_t moments[], struct switched parts[])
{
  struct switches *switches = &sampling_of(t)->switches;
  const void *ring = __atomic_load_n(&switches->ring, __ATOMIC_RELAXED);
  if (!ring || switches->reading)
    return;
  uint64_t slept = parts[0].slept;
  switches->reading = true;
  atomic_signal_fence(memory_order_seq_cst);
  if (switches->lock && !switches->lock_read)
    read_with_lock(t, ring, count, moments, parts);
  else
    read_records(t, &(struct reading){ring, sys_moment(), count, moments, parts});
  switches->slept_outside += parts[0].slept - slept;
  atomic_signal_fence(memory_order_seq_cst);
  switches->reading = false;
}

void switches_outside(struct thread_state *t)
{
  struct switched outside = {0};
  switches_read(t, 0, NULL, &outside);
}

uint64_t switches_moment(const struct thread_state *t, uint64_t position)
{
  enum { SLACK_TICKS = 1 << 13 }; /* a few microseconds: a later reading converts times with other clock values */
  const struct switches *switches = &sampling_of(t)->switches;
  struct switch_record record;
  struct sys_moment now = sys_moment();
  const void *ring = __atomic_load_n(&switches->ring, __ATOMIC_RELAXED);
  if (!ring || !record_at(ring, position - 1, &record))
    return 0;
  return ticks_at(switches, &now, record.time_ns) - SLACK_TICKS;
}

uint64_t switches_ns_at(const struct thread_state *t, const struct sys_moment *now, uint64_t ticks)
{
  const struct sys_moment *opened = &sampling_of(t)->switches.opened;
  return now->ns - rt_scale(rt_minus(now->ticks, ticks), now->ns - opened->ns, now->ticks - opened->ticks);
}

uint64_t switches_ticks_of(const struct thread_state *t, const struct sys_moment *now, uint64_t ns)
{
  const struct sys_moment *opened = &sampling_of(t)->switches.opened;
  return rt_scale(ns, now->ticks - opened->ticks, now->ns - opened->ns);
}

/* The same of a ring, the last interval first. */
static unsigned off_latest(const struct perf_event_mmap_page *page, uint64_t from_ns, uint64_t to_ns, bool asleep,
                           struct switches_interval *intervals, unsigned most)
{
  unsigned count = 0;
  uint64_t again_ns = to_ns; /* when the thread got a processor again */
  struct switch_record record;
  uint64_t at = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  for (bool before = false; at && count < most && !before;) {
    at -= sizeof record;
    if (!record_at(page, at, &record))
      break;
    before = record.time_ns <= from_ns;
    if (!(record.header.misc & PERF_RECORD_MISC_SWITCH_OUT)) {
      again_ns = record.time_ns;
      continue;
    }
    struct switches_interval interval = {MAX(from_ns, record.time_ns), MIN(again_ns, to_ns)};
    bool counts = asleep || record.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    if (counts && interval.from < interval.to)
      intervals[count++] = interval;
  }
  return count;
}

/* The last record of a ring. */
static enum switches_state latest(const struct perf_event_mmap_page *page)
{
  struct switch_record record;
  uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  if (!head || !record_at(page, head - sizeof record, &record) || !(record.header.misc & PERF_RECORD_MISC_SWITCH_OUT))
    return SWITCHES_RUNS;
  return record.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCHES_READY : SWITCHES_SLEEPS;
}

enum switches_state switches_state(const struct thread_state *of)
{
  const void *ring = __atomic_load_n(&sampling_of(of)->switches.ring, __ATOMIC_SEQ_CST);
  return ring ? latest(ring) : SWITCHES_UNKNOWN;
}

void switches_readers(int more)
{
  atomic_fetch_add(&sampling_process.ring_readers, (unsigned)more);
}

unsigned switches_off(struct thread_state *of, uint64_t from_ns, uint64_t to_ns, bool asleep,
                      struct switches_interval *intervals, unsigned most)
{
  atomic_fetch_add(&sampling_process.ring_readers, 1);
  const void *ring = __atomic_load_n(&sampling_of(of)->switches.ring, __ATOMIC_SEQ_CST);
  unsigned count = ring ? off_latest(ring, from_ns, to_ns, asleep, intervals, most) : 0;
  atomic_fetch_sub(&sampling_process.ring_readers, 1);
  for (unsigned i = 0; i < count / 2; i++) {
    struct switches_interval first = intervals[i];
    intervals[i] = intervals[count - 1 - i];
    intervals[count - 1 - i] = first;
  }
  return count;
}
