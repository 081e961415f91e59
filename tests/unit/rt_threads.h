/* Threads of RT as its unit tests make them: states and records, without a program that runs. */
#ifndef TESTS_UNIT_RT_THREADS_H
#define TESTS_UNIT_RT_THREADS_H

#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "tests/support/unit.h"

void threads_adopt(void)
{
}

/* Makes a thread with empty tables, whose record is at `record`. */
static inline void rt_thread_init(struct thread_state *t, uint32_t index, struct format_thread *record)
{
  memset(t, 0, sizeof(struct measured_thread));
  t->index = index;
  t->live_slot = index - 1;
  t->record = record;
  waiting_init(t);
  assert_true(cct_init(t));
}

#endif
