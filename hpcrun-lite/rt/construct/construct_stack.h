/* The constructs that a thread has open, and the counter that its time goes to.
 *
 * Context: RT. */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_STACK_H
#define HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_STACK_H

#include "hpcrun-lite/rt/construct/construct_table.h"

/* ---- the running counter ---- */

/* From now on the thread's time goes to a column of the top's record. */
static inline void construct_go_on(struct thread_state *t, enum format_construct_time column)
{
  struct construct_open *top = construct_of(t)->top;
  top->column = (uint8_t)column;
  construct_of(t)->ticks = top->light ? top->light : &top->at->ticks[column];
  t->record->construct_open = construct_code(top->record, column);
}

/* Gives what the thread has counted in that time, of which some was measured, to the record to which the time goes. */
void construct_count_events(struct thread_state *t, uint64_t measured, uint64_t elapsed) __attribute__((noinline));

/* Adds the time until now to the running counter.  Returns it. */
static inline uint64_t construct_pass(struct thread_state *t, uint64_t now)
{
  uint64_t since = t->record->construct_since, passed = rt_measured_between(since, now);
  t->record->construct_since = now > since ? now : since; /* first: a kill in between must not count it twice */
  RT_ASSERT(t->record->construct_since >= since && passed <= t->record->construct_since - since);
  atomic_signal_fence(memory_order_seq_cst);
  *construct_of(t)->ticks += passed;
  if (__builtin_expect(counts_of(t)->attend, false)) {
    trace_state(t, now, t->record->construct_open);
    if (counts_of(t)->on)
      construct_count_events(t, passed, now > since ? now - since : 0);
  }
  return passed;
}

/* Begins to count the thread's time.  Returns false without memory. */
bool construct_start(struct thread_state *t) __attribute__((noinline));

/* Whether the thread's time is counted, from now on at the latest. */
static inline bool construct_started(struct thread_state *t)
{
  return __builtin_expect(construct_of(t)->ticks != NULL, 1) || construct_start(t);
}

/* ---- the stack ---- */

/* The record of a construct that is met below the top: see construct_find(). */
static inline const struct construct_known *construct_find_inside(struct thread_state *t, uint32_t kind,
                                                                  uint32_t directive)
{
  const struct construct_open *top = construct_of(t)->top;
  return construct_find(t, top->record, kind, directive, top->column == FORMAT_TIME_WAIT);
}

/* Defined with assertions only: the entries are linked both ways, down to the bottom, and each names the innermost task
 * from there on; the running counter is that of the top. */
void construct_check(const struct thread_state *t);

/* A new entry above the top; NULL without memory. */
struct construct_open *construct_add_open(struct thread_state *t) __attribute__((noinline));

/* Whether the entry is in the stack. */
static inline bool construct_is_open(const struct thread_state *t, const struct construct_open *open)
{
  const struct construct_open *at = construct_of(t)->top;
  while (at && at != open)
    at = at->below;
  return at;
}

/* Puts a construct on the stack.  Returns NULL without memory: then its end finds nothing to end. */
static inline struct construct_open *construct_push(struct thread_state *t, struct format_construct *at,
                                                    uint32_t record, uint32_t kind, enum format_construct_time column)
{
  struct construct_thread *state = construct_of(t);
  struct construct_open *top = state->top->above;
  if (__builtin_expect(!top, 0) && !(top = construct_add_open(t)))
    return NULL;
  top->at = at;
  top->frame = state->top->frame;
  top->record = record;
  top->kind = (uint8_t)kind;
  top->spare = false;
  top->chunks = false;
  top->light = NULL;
  RT_ASSERT(top->below == state->top);
  state->top = top;
  construct_go_on(t, column);
  return top;
}

/* Ends an open construct, and those above it. */
static inline void construct_cut(struct thread_state *t, struct construct_open *open)
{
  RT_ASSERT(open != construct_of(t)->bottom && construct_is_open(t, open));
  construct_of(t)->top = open->below;
  construct_go_on(t, open->below->column);
}

/* Ends what is above. */
static inline void construct_cut_above(struct thread_state *t, struct construct_open *open)
{
  RT_ASSERT(construct_is_open(t, open));
  if (construct_of(t)->top != open) {
    construct_of(t)->top = open;
    construct_go_on(t, open->column);
  }
}

/* The innermost open construct of that kind in the current task; NULL: none. */
static inline struct construct_open *construct_innermost(const struct thread_state *t, uint32_t kind)
{
  struct construct_open *open = construct_of(t)->top, *frame = open->frame;
  while (open != frame && open->kind != kind)
    open = open->below;
  return open != frame ? open : NULL;
}

/* Counts a construct, and puts it on the stack. */
static inline struct format_construct *construct_enter(struct thread_state *t, uint32_t kind, uint32_t directive,
                                                       enum format_construct_time column)
{
  const struct construct_known *known = construct_find_inside(t, kind, directive);
  construct_count(t, known);
  construct_push(t, known->at, known->record, kind, column);
  return known->at;
}

/* ---- light regions (span/light_region.h) ---- */

/* The top is in a light region from now on, whose time goes there. */
static inline void construct_be_light(struct thread_state *t, uint64_t *ticks)
{
  construct_of(t)->top->light = construct_of(t)->ticks = ticks;
}

/* Whether the thread's time goes to a light region. */
static inline bool construct_in_light_region(const struct thread_state *t)
{
  return construct_of(t)->ticks && construct_of(t)->top->light;
}

/* An execution of that body stands for light ones. */
void construct_stand_for(struct format_construct *at, uint64_t light, uint64_t ticks);

/* An open construct ends; it stands for executions in the light regions for which the thread's region stands. */
static inline void construct_stand(struct thread_state *t, const struct construct_open *open)
{
  if (__builtin_expect(construct_of(t)->stands_for != 0, 0))
    construct_stand_for(open->at, construct_of(t)->stands_for, open->at->ticks[FORMAT_TIME_BODY] - open->body);
}

/* ---- chunks ---- */

/* The chunk of the loop that ends at that moment may be the longest one. */
void construct_chunk_longest(struct thread_state *t, struct construct_open *loop, uint64_t now)
    __attribute__((noinline));

/* The chunk that the thread runs in the loop ends. */
static inline void construct_chunk_end(struct thread_state *t, struct construct_open *loop, uint64_t now)
{
  if (loop->iterations && now - construct_of(t)->waits - loop->begun > loop->at->longest)
    construct_chunk_longest(t, loop, now);
}

/* The loop has a chunk of so many iterations. */
void construct_chunk_size(struct format_construct *at, uint64_t iterations) __attribute__((noinline));

/* The loop that the thread is in, if its record has what is known of chunks; otherwise NULL. */
static inline struct construct_open *construct_open_loop(const struct thread_state *t)
{
  struct construct_open *top = construct_of(t)->top;
  return construct_of(t)->ticks && top->chunks ? top : NULL;
}

/* A chunk of so many iterations, not 0, begins in that loop. */
static inline void construct_chunk_begin(struct thread_state *t, struct construct_open *loop, uint64_t first,
                                         uint64_t iterations, uint64_t now)
{
  construct_chunk_end(t, loop, now);
  if (iterations != loop->iterations)
    construct_chunk_size(loop->at, iterations);
  loop->begun = now - construct_of(t)->waits;
  loop->first = first;
  loop->iterations = loop->strides ? 0 : iterations;
}

#endif
