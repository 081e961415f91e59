#include "hpcrun-lite/rt/loop_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/construct_stack.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/worksharing.h"
#include "hpcrun-lite/rt/task_events.h"

void loop_events_chunks_unknown(void)
{
  if (!(__atomic_load_n(&measured_process.unseen, __ATOMIC_RELAXED) & OMPT_UNSEEN_CHUNKS))
    __atomic_fetch_or(&measured_process.unseen, OMPT_UNSEEN_CHUNKS, __ATOMIC_RELAXED);
}

static inline void chunk_begin(struct thread_state *t, uint32_t task, int kind, uint64_t start, uint64_t iterations)
{
  uint64_t moment = worksharing_chunk(t, task, kind, start, iterations);
  struct construct_open *loop = kind == ompt_dispatch_ws_loop_chunk ? construct_open_loop(t) : NULL;
  if (loop && iterations)
    construct_chunk_begin(t, loop, start, iterations, moment && work_clock_is_time() ? moment : rt_ticks());
  if (!loop && rt_gomp_task)
    construct_sections(t, 1);
  if (graph_log_on() && trace_of(t)->states)
    construct_chunk(t, rt_ticks());
}

/* The chunk from `lower` to `upper`, as libomp announces it from version 15 on.  Clang's code counts up by 1. */
static void ranged_chunk(struct thread_state *t, uint32_t task, int kind, uint64_t lower, uint64_t upper, int64_t step,
                         enum loop_bounds bounds)
{
  bool up = step > 0, above = bounds == LOOP_BOUNDS_8U ? upper > lower : (int64_t)upper > (int64_t)lower;
  uint64_t distance = upper - lower, size = (uint64_t)step, least = lower;
  if (!up) {
    distance = lower - upper;
    size = -(uint64_t)step;
    least = upper;
  }
  bool any = size && (above == up || !distance);
  uint64_t steps = size <= 1 ? distance : distance / size;
  chunk_begin(t, task, kind, least, any ? steps + 1 : 0);
}

static uint64_t bound(const void *at, enum loop_bounds bounds)
{
  const int32_t *narrow = at;
  const uint64_t *wide = at;
  if (bounds == LOOP_BOUNDS_8 || bounds == LOOP_BOUNDS_8U)
    return *wide;
  return bounds == LOOP_BOUNDS_4 ? (uint64_t)*narrow : (uint32_t)*narrow;
}

/* The thread's part of a static loop, or of sections. */
static void only_chunk(struct thread_state *t, uint32_t task, int kind, const struct loop_call *call)
{
  if (kind == ompt_work_sections)
    chunk_begin(t, task, ompt_dispatch_section, 0, 0);
  else if (kind == ompt_work_distribute)
    chunk_begin(t, task, ompt_dispatch_distribute_chunk, 0, 0);
  else
    ranged_chunk(t, task, ompt_dispatch_ws_loop_chunk, bound(call->lower, call->bounds),
                 bound(call->upper, call->bounds), call->step, call->bounds);
}

static bool has_chunks(int kind)
{
  return kind == ompt_work_loop || kind == ompt_work_sections || kind == ompt_work_distribute ||
         kind >= ompt_work_loop_static;
}

/* Takes the call by which the program has entered the loop that begins; its caller is NULL if it is not known. */
static struct loop_call take_loop_call(struct thread_state *t, int kind)
{
  struct loop_call call = measured_of(t)->loop_call;
  bool taskloop = kind == ompt_work_taskloop && graph_log_on() && !span_of(t)->log.creation.caller;
  measured_of(t)->loop_call.caller = NULL;
  if (taskloop || (has_chunks(kind) && !call.caller))
    loop_events_chunks_unknown();
  return has_chunks(kind) ? call : (struct loop_call){0};
}

/* Libomp has written the numbers of the thread's sections into variables of clang's code, of int32_t. */
static void count_sections(struct thread_state *t)
{
  const int32_t *first = rt_noted.sections[0], *last = rt_noted.sections[1];
  rt_noted.sections[0] = NULL;
  if (first)
    construct_sections(t, *last < *first ? 0 : (uint64_t)((int64_t)*last - *first + 1));
}

/* Libomp's schedules, by their numbers in its enum sched_type.  Those of loops with `ordered` are ORDERED higher. */
static struct schedule {
  uint8_t schedule;
  bool sized; /* the size of chunks has a meaning */
} const schedules[] = {[33] = {FORMAT_SCHEDULE_STATIC, true},   [34] = {FORMAT_SCHEDULE_STATIC, false},
                       [35] = {FORMAT_SCHEDULE_DYNAMIC, true},  [36] = {FORMAT_SCHEDULE_GUIDED, true},
                       [37] = {FORMAT_SCHEDULE_RUNTIME, false}, [38] = {FORMAT_SCHEDULE_AUTO, false},
                       [40] = {FORMAT_SCHEDULE_STATIC, false},  [41] = {FORMAT_SCHEDULE_STATIC, false},
                       [42] = {FORMAT_SCHEDULE_GUIDED, true},   [43] = {FORMAT_SCHEDULE_GUIDED, true},
                       [44] = {FORMAT_SCHEDULE_DYNAMIC, true},  [45] = {FORMAT_SCHEDULE_STATIC, true},
                       [46] = {FORMAT_SCHEDULE_GUIDED, true},   [47] = {FORMAT_SCHEDULE_RUNTIME, false}};

/* Gives the record of a loop that begins what the program's call has said of it.  Where the call was not seen, newer
 * libomps announce the kind of the schedule.  Of static chunks that clang's code demands, libomp announces the first.
 */
static void note_schedule(struct thread_state *t, int kind, uint32_t noted)
{
  enum { MODIFIERS = 3 << 29, ORDERED = 32, COUNT = sizeof schedules / sizeof *schedules };
  static const uint8_t announced[] = {FORMAT_SCHEDULE_STATIC, FORMAT_SCHEDULE_DYNAMIC, FORMAT_SCHEDULE_GUIDED};
  uint32_t number = noted & ~(uint32_t)MODIFIERS;
  number -= number >= COUNT ? ORDERED : 0;
  struct schedule found = {0};
  if (noted && number < COUNT)
    found = schedules[number];
  else if (!noted && kind >= ompt_work_loop_static && kind - ompt_work_loop_static < (int)sizeof announced)
    found.schedule = announced[kind - ompt_work_loop_static];
  bool dispatched = rt_gomp_task || found.schedule > FORMAT_SCHEDULE_STATIC; /* each chunk is announced */
  construct_schedule(t, found.schedule, found.sized ? rt_noted.chunk_size : 0, !dispatched && (found.sized || !noted));
}

/* ---- light regions (span/light_region.h) ---- */

static bool is_loop(int kind)
{
  return kind == ompt_work_loop || kind >= ompt_work_loop_static;
}

static struct construct_light_site *light_site(struct thread_state *t, const void *code)
{
  enum { SITES = sizeof construct_of(t)->light_sites / sizeof *construct_of(t)->light_sites };
  return &construct_of(t)->light_sites[((uint64_t)code ^ (uint64_t)code >> 3) % SITES];
}

/* Does the thread run a light region's task, outside all constructs? */
static inline bool in_light_task(const struct thread_state *t)
{
  const struct task *running = span_of(t)->running;
  return running && running->flags & TASK_LIGHT && construct_in_light_region(t);
}

/* A loop begins like others before. */
static bool light_loop_begin(struct thread_state *t, uint64_t count, const void *code)
{
  struct construct_thread *construct = construct_of(t);
  const struct construct_light_site *site = light_site(t, code);
  struct construct_open *frame = construct->top;
  if (site->code != code || !site->at || site->parent != frame->record || frame != frame->frame)
    return false;
  uint64_t *ticks = frame->light;
  site->at->count++;
  site->at->light++;
  if (span_of(t)->open_region == (uint32_t)span_of(t)->running->region) { /* once for the team */
    site->total->instances++;
    site->total->light++;
    site->total->iterations += count;
  }
  frame->ended = 0;
  if (construct_push(t, site->at, site->record, FORMAT_DIRECTIVE_FOR, FORMAT_TIME_BODY))
    construct_be_light(t, ticks);
  return true;
}

/* The loop ends that the thread is in; see work_ended() of construct/construct.c. */
static bool light_loop_end(struct thread_state *t)
{
  struct construct_open *top = construct_of(t)->top, *frame = top->frame;
  if (top->kind != FORMAT_DIRECTIVE_FOR || top->below != frame)
    return false;
  frame->ended = top->record;
  frame->ended_code = NULL;
  frame->spare = false;
  construct_cut(t, top);
  return true;
}

/* Keeps where it has begun for the next ones. */
static void keep_site(struct thread_state *t, uint32_t row, const void *code)
{
  struct directive_total *total = row ? directive_total(t, row) : NULL;
  const struct construct_open *top = construct_of(t)->top;
  bool kept = total && top->light && top->kind == FORMAT_DIRECTIVE_FOR && top->at->kind == FORMAT_DIRECTIVE_FOR;
  if (kept && top->at->context_sought)
    *light_site(t, code) = (struct construct_light_site){code, top->below->record, top->record, top->at, total};
}

/* Returns whether the event is one of a loop in a light region, and has ended. */
static bool light_loop(struct thread_state *t, int kind, bool begin, const ompt_data_t *task_data, uint64_t count,
                       const void *code)
{
  if (!in_light_task(t) || !is_loop(kind))
    return false;
  if (begin ? code && light_loop_begin(t, count, code) : light_loop_end(t))
    return true;
  uint32_t row = 0, task = graph_task_of(t, task_data);
  if (begin)
    row = worksharing_work_begin(t, task, kind, count, code);
  construct_events_work(t, kind, row, begin);
  if (begin && code)
    keep_site(t, row, code);
  return true;
}

/* ---- events ---- */

/* Does nothing depend on the thread's chunks? */
static inline bool chunks_do_not_matter(const struct thread_state *t)
{
  return in_light_task(t) && !rt_gomp_task;
}

void loop_events_chunk(struct thread_state *t, uint64_t lower, uint64_t upper, int64_t step, enum loop_bounds bounds)
{
  if (!measured_process.no_chunks || chunks_do_not_matter(t) || !graph_enter(t))
    return;
  ranged_chunk(t, span_of(t)->task, ompt_dispatch_ws_loop_chunk, lower, upper, step, bounds);
  graph_leave(t);
}

void loop_events_taskloop_chunk(struct thread_state *t, uint64_t lower, uint64_t upper, int64_t step)
{
  if (!measured_process.no_chunks || !graph_enter(t))
    return;
  if (span_of(t)->running &&
      !(span_of(t)->running->flags & TASK_SERIAL)) /* newer ones do not announce those of undeferred tasks */
    ranged_chunk(t, span_of(t)->task, ompt_dispatch_taskloop_chunk, lower, upper, step, LOOP_BOUNDS_8U);
  graph_leave(t);
}

void loop_events_work(struct thread_state *t, int kind, bool begin, const ompt_data_t *task_data, uint64_t count,
                      const void *codeptr)
{
  struct loop_call call = {0};
  uint32_t schedule = rt_noted.schedule;
  rt_noted.schedule = 0;
  if (__builtin_expect(measured_process.no_chunks, 0) && begin)
    call = take_loop_call(t, kind);
  if (!graph_enter(t))
    return;
  bool none = !codeptr && (kind == ompt_work_single_other || kind == ompt_work_scope);
  if (call.caller)
    codeptr = call.caller;
  else if (begin && !none)
    codeptr = code_of_construct(t, task_data, codeptr);
  if (light_loop(t, kind, begin, task_data, count, codeptr)) {
    graph_leave(t);
    return;
  }
  uint32_t row = 0;
  if (kind == ompt_work_taskloop && !begin && span_of(t)->log.creation.caller)
    task_events_creation_ended(t);
  if (begin)
    row = worksharing_work_begin(t, graph_task_of(t, task_data), kind, count, codeptr);
  else
    worksharing_work_end(t, graph_task_of(t, task_data), kind);
  construct_events_work(t, kind, row, begin);
  if (begin && (kind == ompt_work_loop || kind >= ompt_work_loop_static))
    note_schedule(t, kind, schedule);
  if (kind == ompt_work_sections && begin && !rt_gomp_task)
    count_sections(t);
  if (call.lower && count)
    only_chunk(t, graph_task_of(t, task_data), kind, &call);
  graph_leave(t);
}

void loop_events_distributed(struct thread_state *t, const void *caller)
{
  if (!measured_process.no_chunks)
    return;
  measured_of(t)->loop_call = (struct loop_call){.caller = caller};
  loop_events_work(t, ompt_work_distribute, true, graph_current_data(NULL), 0, caller);
  if (!graph_enter(t))
    return;
  chunk_begin(t, span_of(t)->task, ompt_dispatch_distribute_chunk, 0, 0);
  graph_leave(t);
}

void loop_events_dispatch(struct thread_state *t, const ompt_data_t *task_data, int kind, ompt_data_t instance)
{
  if (chunks_do_not_matter(t) || !graph_enter(t))
    return;
  bool ranged = kind == ompt_dispatch_ws_loop_chunk || kind == ompt_dispatch_taskloop_chunk;
  ompt_dispatch_chunk_t chunk = {0};
  if (ranged && instance.ptr)
    chunk = *(const ompt_dispatch_chunk_t *)instance.ptr;
  chunk_begin(t, graph_task_of(t, task_data), kind, chunk.start, chunk.iterations);
  graph_leave(t);
}

void loop_events_masked(struct thread_state *t, bool begin, const ompt_data_t *task_data, const void *codeptr)
{
  if (!graph_enter(t))
    return;
  uint32_t row = worksharing_masked(t, graph_task_of(t, task_data), begin, codeptr);
  construct_events_scope(t, FORMAT_DIRECTIVE_MASKED, row, begin);
  graph_leave(t);
}
