/* The value of a perf event from its mapped page, without a system call: the protocol of linux/perf_event.h, struct
 * perf_event_mmap_page.
 *
 * Context: RT, in the thread that the event counts.  Inline, so that the function that reads a register is called
 * directly.  The register may only be read while the page says so: otherwise the instruction faults. */
#ifndef HPCRUN_LITE_RT_CORE_COUNTER_PAGE_H
#define HPCRUN_LITE_RT_CORE_COUNTER_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "hpcrun-lite/arch/machine.h"

struct counter_reading {
  uint64_t count;
  uint64_t enabled_ns, running_ns; /* for how long the event has existed, and was counted */
  bool timed;                      /* until now; otherwise until the kernel last wrote the page: only their difference
                                      is right */
};

/* The time from the kernel's last writing of the page to a value of the time-stamp counter. */
static inline uint64_t counter_page_passed(const struct perf_event_mmap_page *page, uint64_t ticks)
{
  ticks = machine_kernel_ticks(ticks);
  unsigned shift = __atomic_load_n(&page->time_shift, __ATOMIC_RELAXED) & 63;
  uint64_t mult = __atomic_load_n(&page->time_mult, __ATOMIC_RELAXED), rest = ticks & ((1ull << shift) - 1);
  return __atomic_load_n(&page->time_offset, __ATOMIC_RELAXED) + (ticks >> shift) * mult + ((rest * mult) >> shift);
}

/* Reads an event: under a sequence lock, the sum of what the kernel had counted when it switched the thread in, and
 * what the register has counted since.  `ticks` is a value of the time-stamp counter of now, read_register() is called
 * for the event's register only.  Returns false if the register may not be read, or does not belong to the event now,
 * or the page changes again and again. */
static inline __attribute__((always_inline)) bool counter_page_read(const struct perf_event_mmap_page *page,
                                                                    uint64_t ticks,
                                                                    uint64_t (*read_register)(uint32_t number),
                                                                    struct counter_reading *reading)
{
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; i++) {
    uint32_t sequence = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
    uint32_t index = __atomic_load_n(&page->index, __ATOMIC_RELAXED);
    if (!MACHINE_READS_COUNTERS || !page->cap_user_rdpmc || !index)
      return false;
    unsigned unused = 64u - __atomic_load_n(&page->pmc_width, __ATOMIC_RELAXED);
    uint64_t offset = (uint64_t)__atomic_load_n(&page->offset, __ATOMIC_RELAXED);
    *reading = (struct counter_reading){.enabled_ns = __atomic_load_n(&page->time_enabled, __ATOMIC_RELAXED),
                                        .running_ns = __atomic_load_n(&page->time_running, __ATOMIC_RELAXED),
                                        .timed = page->cap_user_time};
    if (reading->timed) {
      uint64_t passed = counter_page_passed(page, ticks);
      reading->enabled_ns += passed;
      reading->running_ns += passed;
    }
    uint64_t now = read_register(index - 1);
    reading->count = offset + (uint64_t)((int64_t)(now << (unused & 63)) >> (unused & 63));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) == sequence && !(sequence & 1))
      return true;
  }
  return false;
}

#endif
