#include "hpcrun-lite/rt/construct/construct_stack.h"

#include "hpcrun-lite/rt/construct/trace_counts.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/filter/filter.h"

void construct_count_events(struct thread_state *t, uint64_t measured, uint64_t elapsed)
{
  uint32_t counted = construct_of(t)->counted;
  uint32_t record = counted ? counted - 1 : (uint32_t)(t->record->construct_open / FORMAT_TIMES);
  if (counts_pass(t, record, measured, elapsed) && trace_of(t)->on)
    trace_counts_put(t, counts_of(t)->totals, false);
}

bool construct_start(struct thread_state *t)
{
  struct construct_thread *state = construct_of(t);
  uint32_t index;
  struct format_construct *root;
  if (state->records.count)
    root = construct_record(t, 0);
  else
    root = table_next(&state->records, &index);
  struct construct_open *bottom = root ? table_next(&state->stack, &index) : NULL;
  if (!bottom) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return false;
  }
  if (!state->records.count) {
    for (unsigned i = 0; i < FORMAT_USAGES; i++)
      root->usage[i] = t->record->usage[i]; /* what came before */
    table_publish(&state->records);
  }
  root->context_sought |= filter_now()->constructs; /* those that it stands for have none */
  table_publish(&state->stack);
  bottom->at = root;
  bottom->frame = bottom;
  if (t->worker) /* it has no task outside regions */
    bottom->task = bottom;
  state->top = state->bottom = bottom;
  construct_go_on(t, t->worker ? FORMAT_TIME_WAIT : FORMAT_TIME_BODY);
  return true;
}

#ifdef RT_ASSERTIONS
void construct_check(const struct thread_state *t)
{
  const struct construct_thread *construct = construct_of(t);
  const struct construct_open *open = construct->top, *frame = open->frame;
  uint32_t depth = 1;
  RT_ASSERT(construct->ticks == (open->light ? open->light : &open->at->ticks[open->column]));
  for (; open != construct->bottom; open = open->below, depth++) {
    RT_ASSERT(open->below && open->below->above == open && open->frame == frame && depth < construct->stack.count);
    if (open == frame)
      frame = open->below->frame;
  }
  RT_ASSERT(frame == construct->bottom && !open->below);
}
#endif

struct construct_open *construct_add_open(struct thread_state *t)
{
  struct construct_thread *construct = construct_of(t);
  uint32_t index;
  struct construct_open *made = table_next(&construct->stack, &index);
  if (!made) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return NULL;
  }
  table_publish(&construct->stack);
  made->below = construct->top;
  construct->top->above = made;
  return made;
}
