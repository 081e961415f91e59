#include "hpcrun-lite/rt/construct/trace_counts.h"

#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/counts/counts.h"

enum { APART_TICKS = 1 << 21 }; /* between counts in the trace, outside samples: about a millisecond */

/* Writes what was counted from one reading to another one. */
static void put(struct thread_state *t, const uint64_t *before, uint64_t since, const uint64_t *totals, uint64_t until)
{
  uint64_t clock = until >> TRACELOG_SAMPLE_SHIFT, begin = since >> TRACELOG_SAMPLE_SHIFT;
  for (unsigned i = 0; i < counts_process.count; i++) {
    uint64_t counted = totals[i] > before[i] ? counts_measured(totals[i] - before[i], since, until) : 0;
    const uint64_t operands[] = {clock > trace_of(t)->sample_clock ? clock - trace_of(t)->sample_clock : 0,
                                 clock > begin ? clock - begin : 0, i, counted};
    if (counted)
      trace_put_op(t, TRACELOG_EVENT_COUNT, sizeof operands / sizeof *operands, operands);
  }
}

static bool differ(const uint64_t *before, const uint64_t *totals)
{
  bool changed = false;
  for (unsigned i = 0; i < counts_process.count; i++)
    changed |= totals[i] > before[i];
  return changed;
}

/* The trace has, or need not have, what was counted until then. */
static void set_traced(struct counts_state *state, const uint64_t *totals, uint64_t at)
{
  for (unsigned i = 0; i < counts_process.count; i++)
    state->traced[i] = totals[i];
  state->traced_at = at;
  state->held_at = 0;
}

/* A reading too soon after the last one that was written is held.  If nothing follows it soon, it is written as it is:
 * otherwise it becomes part of what follows. */
static bool has_held(const struct counts_state *state, uint64_t now)
{
  return state->held_at && now - state->held_at >= APART_TICKS;
}

/* Where nothing was counted, nothing is written: what follows is then known to have been counted since that time. */
void trace_counts_put(struct thread_state *t, const uint64_t *totals, bool always)
{
  struct counts_state *state = counts_of(t);
  uint64_t now = rt_ticks();
  if (has_held(state, now)) {
    put(t, state->traced, state->traced_at, state->held, state->held_at);
    set_traced(state, state->held, state->held_at);
    state->written_at = now;
  }
  bool changed = differ(state->traced, totals);
  if (changed && !always && now - state->written_at < APART_TICKS) {
    for (unsigned i = 0; i < counts_process.count; i++)
      state->held[i] = totals[i];
    state->held_at = now;
    return;
  }
  if (changed) {
    put(t, state->traced, state->traced_at, totals, now);
    state->written_at = now;
  }
  set_traced(state, totals, now);
}

void trace_counts_open(struct thread_state *t, const uint64_t *totals)
{
  const struct counts_state *state = counts_of(t);
  uint64_t now = rt_ticks();
  if (!trace_of(t)->on || __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE))
    return;
  bool held = has_held(state, now);
  if (held)
    put(t, state->traced, state->traced_at, state->held, state->held_at);
  put(t, held ? state->held : state->traced, held ? state->held_at : state->traced_at, totals, now);
}
