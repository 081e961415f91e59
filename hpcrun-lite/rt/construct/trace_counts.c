#include "hpcrun-lite/rt/construct/trace_counts.h"

#include "hpcrun-lite/rt/construct/trace.h"

enum { APART_TICKS = 1 << 21 }; /* between counts in the trace, outside samples: about a millisecond */

/* Writes what was counted since the time until which the trace has it. */
static void put(struct thread_state *t, const uint64_t *totals, uint64_t now)
{
  const struct counts_state *state = &t->counts;
  uint64_t clock = now >> TRACELOG_SAMPLE_SHIFT, since = state->traced_at >> TRACELOG_SAMPLE_SHIFT;
  for (unsigned i = 0; i < rt.counter_count; i++) {
    const uint64_t operands[] = {clock > t->trace.sample_clock ? clock - t->trace.sample_clock : 0,
                                 clock > since ? clock - since : 0, i, totals[i] - state->traced[i]};
    if (totals[i] > state->traced[i])
      trace_put_op(t, TRACELOG_EVENT_COUNT, sizeof operands / sizeof *operands, operands);
  }
}

/* Where nothing was counted, nothing is written: what follows is then known to have been counted since that time. */
void trace_counts_put(struct thread_state *t, const uint64_t *totals, bool always)
{
  struct counts_state *state = &t->counts;
  uint64_t now = rt_ticks();
  bool changed = false;
  for (unsigned i = 0; i < rt.counter_count; i++)
    changed |= totals[i] > state->traced[i];
  if (changed && !always && now - state->written_at < APART_TICKS)
    return;
  if (changed) {
    put(t, totals, now);
    state->written_at = now;
  }
  for (unsigned i = 0; i < rt.counter_count; i++)
    state->traced[i] = totals[i];
  state->traced_at = now;
}

void trace_counts_open(struct thread_state *t, const uint64_t *counted)
{
  uint64_t totals[COUNTERS_MAX];
  if (!t->trace.on || __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE))
    return;
  for (unsigned i = 0; i < rt.counter_count; i++)
    totals[i] = t->counts.passed[i] + counted[i];
  put(t, totals, rt_ticks());
}
