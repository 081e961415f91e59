/* Parallel regions, teams, and the threads that libgomp creates.  Context: CTL (gomp.h). */
#include <stddef.h>

#include "hpcrun-lite/gomp/gomp.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/core/touch.h"
#include "hpcrun-lite/thread.h"

/* The structure of a region is on the stack of its master, the thread that has entered it, until that leaves it;
 * libgomp passes it to run_implicit() in each thread. */

/* Reports the region's start, by its master. */
static void region_enter(struct gomp_region *region, struct rt_gomp_task *creator, unsigned threads, const void *frame)
{
  region->creator = creator;
  region->master = &gomp_self;
  creator->frame.enter_frame.value = (uint64_t)frame;
  ompt_on_parallel_begin(creator->data, &creator->frame, &region->parallel, threads,
                         region->league ? ompt_parallel_league : 0, region->code);
}

/* Reports that the calling thread begins its part of the region, with the construct that the region begins with. */
static void implicit_begin(const struct gomp_region *region, struct rt_gomp_task *task, ompt_data_t *data, int size,
                           int index, const void *frame)
{
  ompt_data_t parallel = region->parallel;
  *task = (struct rt_gomp_task){.outer = rt_gomp_task,
                                .data = data,
                                .function = (const char *)(uintptr_t)region->function,
                                .flags = ompt_task_implicit,
                                .frame.exit_frame.value = (uint64_t)frame,
                                .parallel = parallel,
                                .increment = region->increment};
  ompt_on_implicit_task(ompt_scope_begin, &parallel, data, (unsigned)size, (unsigned)index,
                        ompt_task_implicit | (region->league ? OMPT_ONE_THREAD : 0));
  gomp_run(task);
  gomp_note_schedule(region->schedule, region->chunk_size);
  if (region->work)
    gomp_work_begin(task, region->work, region->count, NULL);
}

/* The thread's function has returned: it waits for the others, and runs tasks meanwhile. */
static void arrive(struct rt_gomp_task *task)
{
  task->frame.exit_frame.value = 0;
  gomp_wait_begin(task, ompt_sync_region_barrier_implicit_parallel, NULL);
}

/* Reports the region's end, by its master. */
static void region_leave(struct gomp_region *region)
{
  struct rt_gomp_task *task = &region->task;
  gomp_wait_end(task, ompt_sync_region_barrier_implicit_parallel, NULL);
  ompt_on_implicit_task(ompt_scope_end, NULL, task->data, 0, 0, ompt_task_implicit);
  gomp_run(region->creator);
  ompt_on_parallel_end(&region->parallel, region->creator->data, 0, region->code);
  region->creator->frame.enter_frame.value = 0;
}

/* ---- workers ---- */

/* A worker's wait at the end of a region, and its implicit task there, end when it takes part in the next one, or
 * ends: libgomp keeps it from the one to the other. */
static void worker_leave(struct gomp_thread *self)
{
  if (!self->waits)
    return;
  ompt_data_t *word = &self->memory->worker_data;
  self->waits = false;
  ompt_on_sync_region_wait(ompt_sync_region_barrier_implicit_parallel, ompt_scope_end, NULL, word, NULL);
  ompt_on_implicit_task(ompt_scope_end, NULL, word, 0, 1, ompt_task_implicit);
}

/* Destructors of the program's keys may call the runtime: the memory is kept until the last round of them.  Not given
 * back once measuring has ended early: a sandbox may forbid the call, and no thread gets memory then. */
static void on_thread_end(bool last)
{
  struct gomp_thread *self = &gomp_self;
  struct gomp_memory *memory = self->memory;
  if (self->team && rt_thread() && self->epoch == rt.epoch) {
    worker_leave(self);
    ompt_on_thread_end(NULL);
  }
  if (!last || !memory)
    return;
  gomp_run(NULL);
  self->epoch = 0;
  self->memory = NULL;
  if (process.active)
    sys_unmap(memory, sizeof *memory);
}

static __attribute__((constructor)) void watch_ends(void)
{
  thread_call_at_end(on_thread_end);
}

struct gomp_memory *gomp_memory(void)
{
  struct gomp_thread *self = &gomp_self;
  if (self->memory || self->refused || !rt_thread())
    return self->memory;
  self->memory = sys_map(sizeof *self->memory);
  self->refused = !self->memory;
  if (self->refused)
    rt_lost(NULL, FORMAT_LOST_THREADS);
  else
    touch_part(self->memory, sizeof *self->memory);
  return self->memory;
}

/* The function that libgomp calls in the threads of a team. */
GOMP_CODE static void run_implicit(void *argument)
{
  struct gomp_region *region = argument;
  struct gomp_thread *self = &gomp_self;
  bool master = region->master == self;
  struct thread_state *t = rt_thread();
  if (!master)
    self->team = region->runtime;
  if (!master && t && self->epoch != rt.epoch)
    t = gomp_announce(t, true);
  if (!t) {
    region->function(region->data);
    return;
  }
  void (*function)(void *) = region->function; /* the region may end while the thread is in it for the last time */
  void *data = region->data;
  struct rt_gomp_task *task = master ? &region->task : &self->memory->worker;
  if (!master) {
    worker_leave(self);
    gomp_run(&self->memory->initial);
  }
  implicit_begin(region, task, master ? &region->data_word : &self->memory->worker_data, region->runtime->team_size(),
                 region->runtime->thread_number(), __builtin_frame_address(0));
  function(data);
  arrive(task);
  self->waits = !master;
}

/* ---- entry points ---- */

GOMP_CODE void wrap_GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
  GOMP_ENTER(runtime, creator);
  if (!creator) {
    GOMP_NEXT(runtime, GOMP_parallel)(function, data, threads, flags);
    return;
  }
  struct gomp_region region = {.function = function, .data = data, .runtime = runtime, .code = GOMP_CALLER};
  region_enter(&region, creator, threads, __builtin_frame_address(0));
  GOMP_NEXT(runtime, GOMP_parallel)(run_implicit, &region, threads, flags);
  region_leave(&region);
}

GOMP_CODE unsigned wrap_GOMP_parallel_reductions(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
  GOMP_ENTER(runtime, creator);
  if (!creator)
    return GOMP_NEXT(runtime, GOMP_parallel_reductions)(function, data, threads, flags);
  struct gomp_region region = {
      .reductions = *(void **)data, .function = function, .data = data, .runtime = runtime, .code = GOMP_CALLER};
  region_enter(&region, creator, threads, __builtin_frame_address(0));
  unsigned result = GOMP_NEXT(runtime, GOMP_parallel_reductions)(run_implicit, &region, threads, flags);
  region_leave(&region);
  return result;
}

GOMP_CODE void wrap_GOMP_parallel_sections(void (*function)(void *), void *data, unsigned threads, unsigned count,
                                           unsigned flags)
{
  GOMP_ENTER(runtime, creator);
  if (!creator) {
    GOMP_NEXT(runtime, GOMP_parallel_sections)(function, data, threads, count, flags);
    return;
  }
  struct gomp_region region = {.function = function,
                               .data = data,
                               .runtime = runtime,
                               .code = GOMP_CALLER,
                               .work = ompt_work_sections,
                               .count = count,
                               .increment = 1};
  region_enter(&region, creator, threads, __builtin_frame_address(0));
  GOMP_NEXT(runtime, GOMP_parallel_sections)(run_implicit, &region, threads, count, flags);
  region_leave(&region);
}

#define LOOP_REGION(name, start, end, step, size)                                                                      \
  {                                                                                                                    \
    .function = function, .data = data, .runtime = runtime, .code = GOMP_CALLER, .work = ompt_work_loop,               \
    .count = gomp_iterations(start, end, step), .increment = step,                                                     \
    .schedule = gomp_schedule_of(#name, (uint64_t)(size)), .chunk_size = (uint64_t)(size)                              \
  }

#define PARALLEL_LOOP(name)                                                                                            \
  GOMP_CODE void wrap_##name(void (*function)(void *), void *data, unsigned threads, long start, long end, long step,  \
                             long chunk, unsigned flags)                                                               \
  {                                                                                                                    \
    GOMP_ENTER(runtime, creator);                                                                                      \
    if (!creator) {                                                                                                    \
      GOMP_NEXT(runtime, name)(function, data, threads, start, end, step, chunk, flags);                               \
      return;                                                                                                          \
    }                                                                                                                  \
    struct gomp_region region = LOOP_REGION(name, start, end, step, chunk);                                            \
    region_enter(&region, creator, threads, __builtin_frame_address(0));                                               \
    GOMP_NEXT(runtime, name)(run_implicit, &region, threads, start, end, step, chunk, flags);                          \
    region_leave(&region);                                                                                             \
  }
GOMP_PARALLEL_LOOPS(PARALLEL_LOOP)

#define PARALLEL_RUNTIME_LOOP(name)                                                                                    \
  GOMP_CODE void wrap_##name(void (*function)(void *), void *data, unsigned threads, long start, long end, long step,  \
                             unsigned flags)                                                                           \
  {                                                                                                                    \
    GOMP_ENTER(runtime, creator);                                                                                      \
    if (!creator) {                                                                                                    \
      GOMP_NEXT(runtime, name)(function, data, threads, start, end, step, flags);                                      \
      return;                                                                                                          \
    }                                                                                                                  \
    struct gomp_region region = LOOP_REGION(name, start, end, step, 0);                                                \
    region_enter(&region, creator, threads, __builtin_frame_address(0));                                               \
    GOMP_NEXT(runtime, name)(run_implicit, &region, threads, start, end, step, flags);                                 \
    region_leave(&region);                                                                                             \
  }
GOMP_PARALLEL_RUNTIME_LOOPS(PARALLEL_RUNTIME_LOOP)

/* libgomp runs the teams of a league one after another, in the thread that meets the construct. */
GOMP_CODE static void run_team(void *argument)
{
  struct gomp_region *region = argument;
  struct rt_gomp_task task;
  ompt_data_t data = {0};
  implicit_begin(region, &task, &data, region->runtime->team_count(), 0, __builtin_frame_address(0));
  region->function(region->data);
  task.frame.exit_frame.value = 0;
  ompt_on_implicit_task(ompt_scope_end, NULL, &data, 0, 0, ompt_task_implicit);
  gomp_run(task.outer);
}

GOMP_CODE void wrap_GOMP_teams_reg(void (*function)(void *), void *data, unsigned teams, unsigned limit, unsigned flags)
{
  GOMP_ENTER(runtime, creator);
  if (!creator) {
    GOMP_NEXT(runtime, GOMP_teams_reg)(function, data, teams, limit, flags);
    return;
  }
  struct gomp_region region = {
      .function = function, .data = data, .runtime = runtime, .code = GOMP_CALLER, .league = true};
  region_enter(&region, creator, teams, __builtin_frame_address(0));
  GOMP_NEXT(runtime, GOMP_teams_reg)(run_team, &region, teams, limit, flags);
  ompt_on_parallel_end(&region.parallel, creator->data, 0, region.code);
  creator->frame.enter_frame.value = 0;
}

/* ---- code of GCC before 4.9 ---- */

/* It calls the region's function in the master itself, between the start and the end of the region. */

/* NULL if the region is not followed: events are not reported (creator is NULL), or too many are open. */
static struct gomp_region *start_region(struct gomp_region region, struct rt_gomp_task *creator, unsigned threads,
                                        const void *frame)
{
  struct gomp_memory *memory = gomp_self.memory;
  if (!creator || memory->started_count++ >= GOMP_STARTED_MAX)
    return NULL;
  struct gomp_region *made = &memory->started[memory->started_count - 1];
  *made = region;
  region_enter(made, creator, threads, frame);
  return made;
}

/* The team is there: the master is in its implicit task. */
static void enter_started(struct gomp_region *region)
{
  implicit_begin(region, &region->task, &region->data_word, region->runtime->team_size(), 0, NULL);
}

/* Not the frame's own address: the caller's stack shows where it is (enter_started_region() of context.c). */
#define STARTED_FRAME ((char *)__builtin_dwarf_cfa() - RT_STARTED_BYTES)

GOMP_CODE void wrap_GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads)
{
  GOMP_ENTER(runtime, creator);
  struct gomp_region *region =
      start_region((struct gomp_region){.function = function, .data = data, .runtime = runtime, .code = GOMP_CALLER},
                   creator, threads, STARTED_FRAME);
  if (!region) {
    GOMP_NEXT(runtime, GOMP_parallel_start)(function, data, threads);
    return;
  }
  GOMP_NEXT(runtime, GOMP_parallel_start)(run_implicit, region, threads);
  enter_started(region);
}

GOMP_CODE void wrap_GOMP_parallel_sections_start(void (*function)(void *), void *data, unsigned threads, unsigned count)
{
  GOMP_ENTER(runtime, creator);
  struct gomp_region *region = start_region((struct gomp_region){.function = function,
                                                                 .data = data,
                                                                 .runtime = runtime,
                                                                 .code = GOMP_CALLER,
                                                                 .work = ompt_work_sections,
                                                                 .count = count,
                                                                 .increment = 1},
                                            creator, threads, STARTED_FRAME);
  if (!region) {
    GOMP_NEXT(runtime, GOMP_parallel_sections_start)(function, data, threads, count);
    return;
  }
  GOMP_NEXT(runtime, GOMP_parallel_sections_start)(run_implicit, region, threads, count);
  enter_started(region);
}

#define PARALLEL_LOOP_START(name)                                                                                      \
  GOMP_CODE void wrap_##name(void (*function)(void *), void *data, unsigned threads, long start, long end, long step,  \
                             long chunk)                                                                               \
  {                                                                                                                    \
    GOMP_ENTER(runtime, creator);                                                                                      \
    struct gomp_region *region =                                                                                       \
        start_region((struct gomp_region)LOOP_REGION(name, start, end, step, chunk), creator, threads, STARTED_FRAME); \
    if (!region) {                                                                                                     \
      GOMP_NEXT(runtime, name)(function, data, threads, start, end, step, chunk);                                      \
      return;                                                                                                          \
    }                                                                                                                  \
    GOMP_NEXT(runtime, name)(run_implicit, region, threads, start, end, step, chunk);                                  \
    enter_started(region);                                                                                             \
  }
GOMP_PARALLEL_LOOP_STARTS(PARALLEL_LOOP_START)

GOMP_CODE void wrap_GOMP_parallel_loop_runtime_start(void (*function)(void *), void *data, unsigned threads, long start,
                                                     long end, long step)
{
  GOMP_ENTER(runtime, creator);
  struct gomp_region *region =
      start_region((struct gomp_region)LOOP_REGION(runtime, start, end, step, 0), creator, threads, STARTED_FRAME);
  if (!region) {
    GOMP_NEXT(runtime, GOMP_parallel_loop_runtime_start)(function, data, threads, start, end, step);
    return;
  }
  GOMP_NEXT(runtime, GOMP_parallel_loop_runtime_start)(run_implicit, region, threads, start, end, step);
  enter_started(region);
}

GOMP_CODE void wrap_GOMP_parallel_end(void)
{
  GOMP_ENTER(runtime, task);
  struct gomp_memory *memory = gomp_self.memory;
  bool counted = task && memory->started_count, followed = counted && memory->started_count <= GOMP_STARTED_MAX;
  if (counted)
    memory->started_count--;
  if (followed)
    arrive(task);
  GOMP_NEXT(runtime, GOMP_parallel_end)();
  if (followed)
    region_leave(&memory->started[memory->started_count]);
}
