/* Regions: their creator and the threads that take part.  Context: RT (construct.h). */
#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/construct_stack.h"

/* The top is a region, of which so much is followed. */
static void begin_part(struct thread_state *t, struct construct_part part)
{
  struct construct_open *top = construct_of(t)->top;
  construct_of(t)->stands_for = part.stands_for;
  top->body = top->at->ticks[FORMAT_TIME_BODY];
  if (!part.light)
    return;
  top->at->light++;
  construct_be_light(t, &top->at->light_ticks);
}

struct format_construct *construct_region_begin(struct thread_state *t, uint32_t kind, uint32_t directive,
                                                struct construct_part part, bool again, uint64_t now)
{
  if (!construct_started(t))
    return NULL;
  construct_pass(t, now);
  const struct construct_known *known =
      again ? construct_not_kept(t, construct_of(t)->top->record) : construct_find_inside(t, kind, directive);
  construct_count(t, known);
  if (construct_push(t, known->at, known->record, kind, FORMAT_TIME_ENTER) && known != &construct_of(t)->unkept)
    begin_part(t, part);
  return known->at;
}

uint32_t construct_region_kind(const struct thread_state *t, uint32_t *directive)
{
  const struct format_construct *at = construct_of(t)->ticks ? construct_of(t)->top->at : NULL;
  *directive = at ? at->directive : 0;
  return at ? at->kind : 0;
}

struct construct_record_id construct_region_record(const struct thread_state *t)
{
  if (!construct_of(t)->ticks)
    return (struct construct_record_id){0};
  return (struct construct_record_id){.owner = t->index, .record = construct_of(t)->top->record};
}

static bool is_region(const struct construct_open *open)
{
  return open->kind == FORMAT_DIRECTIVE_PARALLEL || open->kind == FORMAT_DIRECTIVE_TEAMS;
}

/* The top is a task from now on. */
static void top_runs(struct thread_state *t, const void *task, uint64_t now)
{
  struct construct_open *top = construct_of(t)->top;
  top->task = task;
  top->frame = top;
  top->begun = now;
  top->apart = 0;
  top->ended = 0;
  construct_go_on(t, FORMAT_TIME_BODY);
}

/* Recursive executions have one record.  One that links to the region of another thread stands for waiting at begin and
 * end; in those that the thread itself creates, that is the runtime's own work. */
static void own_region(struct thread_state *t, uint64_t now)
{
  if (__builtin_expect(!trace_of(t)->states, true))
    return;
  const struct construct_open *top = construct_of(t)->top;
  uint64_t since = t->record->construct_since;
  bool outside = top->column == FORMAT_TIME_ENTER || top->column == FORMAT_TIME_EXIT;
  if (outside && top->at->flags & FORMAT_CONSTRUCT_LINK && top != construct_of(t)->bottom->above && now > since)
    trace_own(t, now - since);
}

void construct_region_body(struct thread_state *t, const void *task, uint64_t now)
{
  if (!construct_started(t))
    return;
  own_region(t, now);
  if (!construct_of(t)->top->light)
    construct_pass(t, now);
  /* a league's teams may run one after another */
  if (is_region(construct_of(t)->top) && construct_of(t)->top->column != FORMAT_TIME_BODY)
    top_runs(t, task, now);
}

void construct_region_end(struct thread_state *t, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  if (!construct_started(t))
    return;
  own_region(t, now);
  construct_pass(t, now);
  struct construct_open *open = construct->top;
  while (open != construct->bottom && !is_region(open))
    open = open->below;
  if (open == construct->bottom)
    return;
  construct_stand(t, open);
  construct->stands_for = 0;
  construct_cut(t, open);
}

/* The beginning of the state until then was the runtime's own work: from the thread's birth until it was parked. */
static void set_up(struct thread_state *t, uint64_t until)
{
  if (__builtin_expect(!trace_of(t)->states, true))
    return;
  uint64_t since = t->record->construct_since, parked = t->idle_since < until ? t->idle_since : until;
  trace_own(t, parked > since ? parked - since : 0);
}

void construct_join(struct thread_state *t, uint32_t kind, uint32_t directive, struct construct_record_id at_record,
                    struct construct_part part, const void *task, uint64_t begun, uint64_t now)
{
  uint32_t record;
  if (!construct_started(t))
    return;
  construct_cut_above(t, construct_of(t)->bottom);
  construct_go_on(t, FORMAT_TIME_WAIT);
  begun = begun < now ? begun : now;
  set_up(t, begun);
  construct_pass(t, begun);
  struct format_construct *at = NULL;
  bool filtered = at_record.owner && !at_record.record; /* it has no record, and none is around it */
  if (filtered)
    at = construct_record(t, record = 0);
  else if (at_record.owner)
    at = construct_find_link(t, kind, directive, at_record.owner, at_record.record, &record);
  if (!at) {
    rt_lost(t, FORMAT_LOST_DIRECTIVES);
    return;
  }
  at->count += !filtered && !at_record.around;
  trace_begun(t);
  bool region = kind == FORMAT_DIRECTIVE_PARALLEL || kind == FORMAT_DIRECTIVE_TEAMS; /* else what is around it */
  if (!construct_push(t, at, record, region ? kind : FORMAT_DIRECTIVE_PARALLEL, FORMAT_TIME_ENTER))
    return;
  begin_part(t, part);
  set_up(t, now);
  construct_pass(t, now);
  top_runs(t, task, now);
}

static inline uint64_t read_if_unknown(uint64_t now)
{
  return now ? now : rt_ticks();
}

/* The end of a region of another thread, at whose end this one waits. */
static void settle(struct thread_state *t, struct construct_open *region, uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  construct_cut_above(t, region);
  if (region->light) {
    construct_pass(t, construct->region_end ? construct->region_end : read_if_unknown(now));
  } else if (region->column != FORMAT_TIME_WAIT) {
    now = read_if_unknown(now);
    if (region->column == FORMAT_TIME_EXIT && now > t->record->construct_since) /* it waits no longer */
      trace_own(t, now - t->record->construct_since);
    construct_pass(t, now);
  } else if (construct->region_end) {
    uint64_t own = construct->waited_runtime;
    trace_own(t, own);
    uint64_t passed = construct_pass(t, construct->region_left);
    region->at->wait_own += own < passed ? own : passed;
    construct_go_on(t, FORMAT_TIME_EXIT);
    construct_pass(t, construct->region_end);
  } else {
    region->at->unended++;
  }
}

/* The task of the thread in the region that it has created last. */
static struct construct_open *own_part(const struct thread_state *t)
{
  const struct construct_thread *construct = construct_of(t);
  struct construct_open *frame = construct->top->frame;
  while (frame != construct->bottom && !is_region(frame))
    frame = frame->below->frame;
  return frame != construct->bottom ? frame : NULL;
}

void construct_part(struct thread_state *t, bool creator, uint64_t now)
{
  if (!construct_started(t))
    return;
  struct construct_open *bottom = construct_of(t)->bottom, *part = creator ? own_part(t) : bottom->above;
  if (!part || construct_of(t)->top == bottom)
    return;
  if (creator && part->light) {
    construct_cut_above(t, part);
  } else if (creator) {
    bool ends = construct_of(t)->top == part && part->column == FORMAT_TIME_EXIT; /* at its last barrier */
    if (ends && !counts_of(t)->attend)
      return;
    construct_pass(t, read_if_unknown(now));
    construct_cut_above(t, part);
    construct_go_on(t, FORMAT_TIME_EXIT);
  } else if (part->at->flags & FORMAT_CONSTRUCT_LINK || !part->record) {
    settle(t, part, now);
    construct_stand(t, part);
    construct_cut(t, part);
    construct_go_on(t, FORMAT_TIME_WAIT);
  }
}

void construct_initial(struct thread_state *t, const void *task)
{
  if (construct_started(t))
    construct_of(t)->bottom->task = task;
}
