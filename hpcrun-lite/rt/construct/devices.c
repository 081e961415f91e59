#include "hpcrun-lite/rt/construct/devices.h"

#include <string.h>

#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { DEVICES_FIRST = 8, TRIES = 100000 };

/* Of `open`: one interval, and the begin. */
static const uint64_t one_open = UINT64_C(1) << 48, since_mask = (UINT64_C(1) << 48) - 1;

static struct table devices; /* struct format_device; added to under the lock */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static struct format_device *_Atomic known[DEVICES_MAX]; /* by number; stored with release after the record */

void devices_start(void)
{
  atomic_flag_clear(&lock);
  for (unsigned i = 0; i < DEVICES_MAX; i++)
    atomic_store_explicit(&known[i], NULL, memory_order_relaxed);
  table_init(&devices, FORMAT_DEVICES, ARENA_SHARED, 0, sizeof(struct format_device), DEVICES_FIRST);
}

const struct table *devices_table(void)
{
  return &devices;
}

static struct format_device *add(int number)
{
  uint32_t index;
  for (int i = 0; i < TRIES; i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    struct format_device *device = atomic_load_explicit(&known[number], memory_order_relaxed);
    if (!device && (device = table_next(&devices, &index))) {
      device->number = (uint32_t)number + 1;
      table_publish(&devices);
      atomic_store_explicit(&known[number], device, memory_order_release);
    }
    atomic_flag_clear_explicit(&lock, memory_order_release);
    return device;
  }
  return NULL;
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

/* Is it what LLVM's plug-ins that make devices of the host call them? */
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
