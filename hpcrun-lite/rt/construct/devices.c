#include "hpcrun-lite/rt/construct/devices.h"

#include <string.h>

#include "common/order.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { DEVICES_FIRST = 8, TIMES_FIRST = 64, TRIES = 100000, INTERVALS = 256 };

/* Of `open`: one interval, and the begin. */
static const uint64_t one_open = UINT64_C(1) << 48, since_mask = (UINT64_C(1) << 48) - 1;

static struct table devices; /* struct format_device; added to under the lock */
static struct table times;   /* struct format_device_times; likewise */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static atomic_bool any_traced;

/* When a traced device was busy, as far as is kept: intervals apart from one another, in their order.  Under the lock.
 */
static struct busy {
  struct interval {
    uint64_t begin, end;
  } intervals[INTERVALS + 1]; /* the last one is free */
  unsigned count;
  uint64_t dropped; /* the end of the last interval that is not kept */
} traced[DEVICES_TRACED_MAX];
static struct format_device *_Atomic known[DEVICES_MAX]; /* by number; stored with release after the record */

void devices_start(void)
{
  atomic_flag_clear(&lock);
  for (unsigned i = 0; i < DEVICES_MAX; i++)
    atomic_store_explicit(&known[i], NULL, memory_order_relaxed);
  table_init(&devices, FORMAT_DEVICES, ARENA_SHARED, 0, sizeof(struct format_device), DEVICES_FIRST);
  table_init(&times, FORMAT_DEVICE_TIMES, ARENA_SHARED, 0, sizeof(struct format_device_times), TIMES_FIRST);
  atomic_store(&any_traced, false);
  memset(traced, 0, sizeof traced);
}

const struct table *devices_table(void)
{
  return &devices;
}

static bool lock_take(void)
{
  for (int i = 0; i < TRIES; i++) {
    if (!atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
      return true;
    sys_yield();
  }
  return false;
}

static void lock_drop(void)
{
  atomic_flag_clear_explicit(&lock, memory_order_release);
}

static struct format_device *add(int number)
{
  uint32_t index;
  if (!lock_take())
    return NULL;
  struct format_device *device = atomic_load_explicit(&known[number], memory_order_relaxed);
  if (!device && (device = table_next(&devices, &index))) {
    device->number = (uint32_t)number + 1;
    table_publish(&devices);
    atomic_store_explicit(&known[number], device, memory_order_release);
  }
  lock_drop();
  return device;
}

struct format_device *devices_find(struct thread_state *t, int number)
{
  struct format_device *device = NULL;
  if (number >= 0 && number < DEVICES_MAX)
    device = atomic_load_explicit(&known[number], memory_order_acquire) ?: add(number);
  if (!device)
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
  return device;
}

/* Whether LLVM's plug-ins use that type for devices that they make of the host. */
static bool is_host(const char *type)
{
  return !strcmp(type, "generic-64bit");
}

void devices_describe(struct thread_state *t, int number, const char *type)
{
  struct format_device *device = devices_find(t, number);
  if (!device || !type || device->type)
    return;
  if (is_host(type))
    __atomic_fetch_or(&device->flags, FORMAT_DEVICE_ON_HOST, __ATOMIC_RELAXED);
  __atomic_store_n(&device->type, modules_string(type), __ATOMIC_RELEASE);
}

void devices_unknown(struct thread_state *t, int number)
{
  struct format_device *device = devices_find(t, number);
  if (device && !(__atomic_load_n(&device->flags, __ATOMIC_RELAXED) & FORMAT_DEVICE_ON_HOST))
    __atomic_fetch_or(&device->flags, FORMAT_DEVICE_ON_HOST, __ATOMIC_RELAXED);
}

void devices_begin(struct format_device *device, uint64_t now)
{
  uint64_t open = __atomic_load_n(&device->open, __ATOMIC_RELAXED), next;
  do
    next = open ? open + one_open : one_open | (now & since_mask);
  while (!__atomic_compare_exchange_n(&device->open, &open, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  uint64_t first = 0;
  if (!device->first)
    __atomic_compare_exchange_n(&device->first, &first, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void devices_end(struct format_device *device, uint64_t now)
{
  uint64_t open = __atomic_load_n(&device->open, __ATOMIC_RELAXED), next;
  do {
    if (!open)
      return; /* its begin was not seen */
    next = open - one_open < one_open ? 0 : open - one_open;
  } while (!__atomic_compare_exchange_n(&device->open, &open, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  uint64_t passed = (now - open) & since_mask;
  if (next || passed > since_mask / 2) /* the counters of two processors may differ a little */
    return;
  __atomic_fetch_add(&device->busy, rt_measured_between(now - passed, now), __ATOMIC_RELAXED);
  __atomic_store_n(&device->last, now, __ATOMIC_RELAXED);
}

static struct format_device *find(int number)
{
  return number >= 0 && number < DEVICES_MAX ? atomic_load_explicit(&known[number], memory_order_acquire) : NULL;
}

bool devices_busy(int number)
{
  const struct format_device *device = find(number);
  return device && __atomic_load_n(&device->open, __ATOMIC_RELAXED);
}

/* ---- devices that record what they do ---- */

const struct table *devices_times_table(void)
{
  return &times;
}

bool devices_any_traced(void)
{
  return atomic_load_explicit(&any_traced, memory_order_relaxed);
}

void devices_trace(struct thread_state *t, int number)
{
  struct format_device *device = devices_find(t, number);
  if (device)
    __atomic_fetch_or(&device->flags, FORMAT_DEVICE_TRACED, __ATOMIC_RELAXED);
  atomic_store(&any_traced, true);
}

uint32_t devices_times_of(struct thread_state *t, struct format_construct *at, uint32_t record)
{
  uint32_t index = 0;
  if (at->device_times)
    return at->device_times;
  if (lock_take()) {
    bool first = !times.count && table_next(&times, &index);
    if (first)
      table_publish(&times); /* record 0 means "none" */
    struct format_device_times *made = times.count ? table_next(&times, &index) : NULL;
    if (made) {
      made->thread = t->index;
      made->record = record;
      table_publish(&times);
    } else {
      index = 0;
    }
    lock_drop();
  }
  if (!index)
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
  at->device_times = index;
  return index;
}

bool devices_add_times(uint32_t number, uint64_t begin, uint64_t end, bool shown)
{
  if (!number || number >= __atomic_load_n(&times.count, __ATOMIC_ACQUIRE))
    return false;
  struct format_device_times *at = table_at(&times, number);
  __atomic_fetch_add(&at->ticks, end - begin, __ATOMIC_RELAXED);
  __atomic_fetch_add(&at->operations, 1, __ATOMIC_RELAXED);
  if (shown && lock_take()) {
    trace_put_operation(at, begin, end);
    lock_drop();
  } else if (shown) {
    rt_lost(NULL, FORMAT_LOST_TRACE);
  }
  return true;
}

void devices_reject(int number)
{
  struct format_device *device = find(number);
  if (device)
    __atomic_fetch_add(&device->rejected, 1, __ATOMIC_RELAXED);
}

uint64_t devices_rejected(void)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < DEVICES_MAX; i++) {
    const struct format_device *device = atomic_load_explicit(&known[i], memory_order_acquire);
    sum += device ? __atomic_load_n(&device->rejected, __ATOMIC_RELAXED) : 0;
  }
  return sum;
}

/* Merges an interval into those that are kept.  Returns by how much their sum grows. */
static uint64_t merge(struct busy *busy, struct interval added)
{
  uint64_t grows = added.end - added.begin;
  unsigned kept = 0, at = 0;
  for (unsigned i = 0; i < busy->count; i++) {
    struct interval old = busy->intervals[i];
    if (old.end < added.begin || old.begin > added.end) {
      at += old.end < added.begin;
      busy->intervals[kept++] = old;
      continue;
    }
    grows -= MIN(old.end, added.end) - MAX(old.begin, added.begin);
    added.begin = MIN(old.begin, added.begin);
    added.end = MAX(old.end, added.end);
  }
  memmove(busy->intervals + at + 1, busy->intervals + at, (kept - at) * sizeof added);
  busy->intervals[at] = added;
  busy->count = kept + 1;
  if (busy->count > INTERVALS) {
    busy->dropped = busy->intervals[0].end;
    memmove(busy->intervals, busy->intervals + 1, --busy->count * sizeof added);
  }
  return grows;
}

bool devices_add_busy(int number, uint64_t begin, uint64_t end)
{
  struct format_device *device =
      number >= 0 && number < DEVICES_TRACED_MAX ? atomic_load_explicit(&known[number], memory_order_acquire) : NULL;
  if (!device || !lock_take())
    return false;
  struct busy *busy = &traced[number];
  bool late = begin < busy->dropped;
  begin = late ? busy->dropped : begin;
  if (begin < end)
    __atomic_fetch_add(&device->recorded, merge(busy, (struct interval){begin, end}), __ATOMIC_RELAXED);
  lock_drop();
  return !late;
}
