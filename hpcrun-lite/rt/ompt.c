#include "hpcrun-lite/rt/ompt.h"

#include "hpcrun-lite/rt/blame.h"
#include "hpcrun-lite/rt/cct.h"
#include "hpcrun-lite/rt/context.h"
#include "hpcrun-lite/rt/ospg.h"
#include "hpcrun-lite/rt/region.h"
#include "hpcrun-lite/rt/sample.h"
#include "hpcrun-lite/rt/sharing.h"
#include "hpcrun-lite/rt/task.h"

/* What a thread does follows from the task that it runs, whose data word says whether it waits: tasks scheduled inside
 * a wait make the thread busy until the waiting task is resumed. */

static struct thread_state *self(void)
{
  return rt_self && rt_self->activity.openmp ? rt_self : NULL;
}

static void on_thread_begin(int type, ompt_data_t *thread_data)
{
  (void)thread_data;
  if (!rt_self)
    threads_adopt();
  struct thread_state *t = rt_self;
  if (!t)
    return;
  blame_openmp_begin(t, type == ompt_thread_worker);
  if (type == ompt_thread_worker)
    rt_set_idle(t, true); /* until it takes part in a region */
}

static void on_thread_end(ompt_data_t *thread_data)
{
  (void)thread_data;
  struct thread_state *t = self();
  if (!t)
    return;
  rt_set_idle(t, false);
  rt_set_lockwait(t, false);
  t->base_region = 0;
  blame_openmp_end(t);
}

/* The record of a task in the graph, from its data word. */
static uint32_t record_of(const ompt_data_t *data)
{
  return rt.online && data ? rt_task_index(data->value) : 0;
}

/* The same of who creates a region or task: a forked child's inherited task has none, but the thread has begun one. */
static uint32_t creator_of(const struct thread_state *t, const ompt_data_t *data)
{
  uint32_t record = record_of(data);
  return record ? record : t->task;
}

/* The record of a task's creation, from its data word. */
static uint32_t created_of(const ompt_data_t *data)
{
  uint32_t index = data ? rt_task_index(data->value) : 0;
  return rt.online ? ospg_created(index) : index;
}

static void on_parallel_begin(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *parallel_data,
                              unsigned requested, int flags, const void *codeptr)
{
  (void)requested;
  struct thread_state *t = self();
  if (!t)
    return;
  t->inside++;
  uint64_t enter_frame = frame ? frame->enter_frame.value : 0;
  uint32_t place = CCT_NONE;
  if ((rt.task_creation || rt.online) && !rt_closed())
    place = task_place(t, created_of(task_data), enter_frame, (uint64_t)codeptr);
  uint64_t handle = region_begin(t, enter_frame);
  if (handle && place != CCT_NONE)
    region_publish(t, region_innermost(t), place);
  t->unrecorded += handle == 0;
  if (t->region_depth++ == 0 && !t->base_region)
    t->region_since = rt_ticks();
  parallel_data->value = handle ? handle : REGION_UNKNOWN;
  t->record->regions++;
  if (rt.online && handle)
    ospg_parallel_begin(t, creator_of(t, task_data), handle, flags, codeptr);
  t->inside--;
}

static void on_parallel_end(ompt_data_t *parallel_data, ompt_data_t *task_data, int flags, const void *codeptr)
{
  (void)parallel_data, (void)task_data, (void)flags, (void)codeptr;
  struct thread_state *t = self();
  if (!t || !t->region_depth)
    return;
  if (--t->region_depth == 0 && !t->base_region)
    t->region_ticks += rt_ticks() - t->region_since;
  if (t->unrecorded) {
    t->unrecorded--;
    return;
  }
  t->inside++;
  if (t->open_region)
    blame_in_use(1 - (int)region_innermost(t)->team);
  if (rt.online)
    ospg_parallel_end(t, region_current(t));
  struct format_region *unresolved = region_end(t);
  if (unresolved) {
    if (!rt_closed())
      context_publish(t, unresolved);
    region_close(t);
  }
  t->inside--;
}

/* The team of the master's innermost region has that many threads, and takes as many in use. */
static void set_team(struct thread_state *t, uint32_t threads)
{
  struct format_region *region = region_innermost(t);
  if (!region || !threads)
    return;
  blame_in_use((int)threads - (int)region->team);
  region->team = threads;
}

/* A thread that enters a region of which another thread is master has a stack of its own there: its paths begin in that
 * region.  The region's record is not looked at: its cache line is the master's. */
static void on_implicit_task(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, unsigned team_size,
                             unsigned index, int flags)
{
  struct thread_state *t = self();
  if (!t)
    return;
  if (endpoint == ompt_scope_end) {
    if (rt.online && task_data) {
      t->inside++;
      ospg_implicit_end(t, record_of(task_data));
      task_data->value = 0;
      t->inside--;
    }
    if (!t->open_region) {
      t->base_region = 0;
      if (t->worker)
        rt_set_idle(t, true); /* until its next region; after one with pending tasks its wait has just ended */
    }
    return;
  }
  if (task_data)
    task_data->value = 0;
  uint64_t handle = parallel_data && parallel_data->value ? parallel_data->value : REGION_UNKNOWN;
  bool initial = flags & ompt_task_initial && handle == REGION_UNKNOWN; /* of the program, not of a league */
  bool own = initial || (index == 0 && (handle == REGION_UNKNOWN || t->open_region == (uint32_t)handle));
  if (!own)
    t->base_region = handle;
  else if (!initial && handle != REGION_UNKNOWN)
    set_team(t, team_size);
  rt_set_idle(t, false);
  if (!rt.online || !task_data)
    return;
  t->inside++;
  if (!initial && handle != REGION_UNKNOWN)
    ospg_team_size(handle, team_size); /* by whoever comes first */
  uint32_t task = ospg_implicit_begin(t, handle == REGION_UNKNOWN ? 0 : handle);
  task_data->value = rt_task_word(task);
  t->inside--;
}

/* The data word of a new task: its record in the graph, or of where it was created. */
static uint64_t creation(struct thread_state *t, const ompt_data_t *creator, const ompt_frame_t *frame, int flags,
                         const void *codeptr)
{
  uint32_t created = 0, task = 0;
  t->inside++;
  if (rt.task_creation && !rt_closed())
    created = task_create(t, created_of(creator), frame ? frame->enter_frame.value : 0, (uint64_t)codeptr);
  if (rt.online) {
    bool serial = flags & ompt_task_undeferred && frame && frame->enter_frame_flags & ompt_frame_application_serial;
    task = ospg_task_create(t, creator_of(t, creator), flags, serial, codeptr);
    ospg_set_created(task, created);
  }
  t->inside--;
  return rt_task_word(rt.online ? task : created);
}

/* A taskwait with dependences announces itself as a task that is created and completes. */
static void on_task_create(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *new_data, int flags,
                           int has_dependences, const void *codeptr)
{
  (void)has_dependences;
  struct thread_state *t = self();
  if (!t)
    return;
  if (rt.task_creation || rt.online)
    new_data->value = creation(t, task_data, frame, flags, codeptr);
  if (!(flags & ompt_task_taskwait) || !task_data)
    return;
  t->dependent_wait = task_data;
  task_data->value |= RT_TASK_WAITING;
  uint64_t moment = rt_set_idle(t, true);
  if (rt.online) {
    t->inside++;
    ospg_wait_begin(t, record_of(task_data), ompt_sync_region_taskwait, moment, codeptr);
    t->inside--;
  }
}

static void on_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
  struct thread_state *t = self();
  if (!t)
    return;
  if (status == ompt_taskwait_complete)
    next = t->dependent_wait;
  if (status == ompt_taskwait_complete && next)
    next->value &= ~(uint64_t)RT_TASK_WAITING;
  uint64_t moment = next ? rt_set_idle(t, next->value & RT_TASK_WAITING) : 0;
  if (!rt.online)
    return;
  t->inside++;
  ospg_task_schedule(t, record_of(prior), status, record_of(next), moment);
  t->inside--;
}

static void on_dependences(ompt_data_t *task_data, const ompt_dependence_t *dependences, int count)
{
  struct thread_state *t = self();
  if (!t)
    return;
  t->inside++;
  sharing_dependences(t, record_of(task_data), dependences, count);
  t->inside--;
}

/* The current task's data word: for the end of a taskgroup, libomp (14 to 19) names a copy of it. */
static ompt_data_t *current_data(ompt_data_t *otherwise)
{
  enum { LOWEST_POINTER = 65536, TASK_KNOWN = 2 };
  int flags;
  ompt_data_t *data = NULL;
  bool known = rt.get_task_info(0, &flags, &data, NULL, NULL, NULL) == TASK_KNOWN;
  return known && (uint64_t)data >= LOWEST_POINTER ? data : otherwise;
}

static void on_sync_region_wait(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                                const void *codeptr)
{
  struct thread_state *t = self();
  if (!t)
    return;
  bool waits = endpoint == ompt_scope_begin;
  if (kind == ompt_sync_region_taskgroup)
    task_data = current_data(task_data);
  if (task_data)
    task_data->value = waits ? task_data->value | RT_TASK_WAITING : task_data->value & ~(uint64_t)RT_TASK_WAITING;
  uint64_t moment = rt_set_idle(t, waits);
  if (!rt.online)
    return;
  t->inside++;
  if (waits)
    ospg_wait_begin(t, record_of(task_data), kind, moment, codeptr);
  else
    ospg_wait_end(t, record_of(task_data), kind, parallel_data && parallel_data->value, moment);
  t->inside--;
}

static void on_sync_region(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                           const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = self();
  if (!t || kind != ompt_sync_region_taskgroup)
    return;
  t->inside++;
  if (endpoint == ompt_scope_begin)
    ospg_taskgroup_begin(t, record_of(task_data), codeptr);
  else
    ospg_taskgroup_end(t, record_of(task_data));
  t->inside--;
}

static void on_work(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, uint64_t count,
                    const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = self();
  if (!t)
    return;
  t->inside++;
  if (endpoint == ompt_scope_begin)
    sharing_work_begin(t, record_of(task_data), kind, count, codeptr);
  else
    sharing_work_end(t, record_of(task_data), kind);
  t->inside--;
}

static void on_dispatch(ompt_data_t *parallel_data, ompt_data_t *task_data, int kind, ompt_data_t instance)
{
  (void)parallel_data;
  struct thread_state *t = self();
  if (!t)
    return;
  const ompt_dispatch_chunk_t *chunk = kind == ompt_dispatch_ws_loop_chunk ? instance.ptr : NULL;
  t->inside++;
  sharing_chunk(t, record_of(task_data), kind, chunk ? chunk->start : 0, chunk ? chunk->iterations : 0);
  t->inside--;
}

static void on_masked(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = self();
  if (!t)
    return;
  t->inside++;
  sharing_masked(t, record_of(task_data), endpoint == ompt_scope_begin, codeptr);
  t->inside--;
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *codeptr)
{
  (void)hint, (void)impl, (void)codeptr;
  struct thread_state *t = self();
  if (!t)
    return;
  if (kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock) /* those never wait */
    return;
  t->wait_id = wait_id;
  rt_set_lockwait(t, true);
}

static void on_mutex_acquired(int kind, uint64_t wait_id, const void *codeptr)
{
  struct thread_state *t = self();
  if (!t)
    return;
  uint64_t moment = rt_set_lockwait(t, false);
  if (!rt.online)
    return;
  t->inside++;
  sharing_mutex_acquired(t, kind, wait_id, moment, codeptr);
  t->inside--;
}

/* A nested lock that the thread holds already is acquired anew without on_mutex_acquired(). */
static void on_nest_lock(int endpoint, uint64_t wait_id, const void *codeptr)
{
  (void)wait_id, (void)codeptr;
  struct thread_state *t = self();
  if (t && endpoint == ompt_scope_begin)
    rt_set_lockwait(t, false);
}

static void take_blame(struct thread_state *t, uint64_t wait_id) __attribute__((noinline));
static void take_blame(struct thread_state *t, uint64_t wait_id)
{
  t->inside++;
  struct blame blame = {0};
  if (!rt_closed())
    blame = blame_take(wait_id);
  if (blame.samples)
    sample_charge_blame(t, context_caller(t).node, &blame);
  t->inside--;
}

static void on_mutex_released(int kind, uint64_t wait_id, const void *codeptr)
{
  (void)codeptr;
  if (rt.online && self()) {
    rt_self->inside++;
    sharing_mutex_released(rt_self, kind, wait_id);
    rt_self->inside--;
  }
  if (blame_waits(wait_id) && self())
    take_blame(rt_self, wait_id);
}

void ompt_pause(bool pause)
{
  struct thread_state *t = rt_self;
  if (!rt.online || !t) {
    atomic_store(&rt.paused, pause);
    return;
  }
  t->inside++;
  ospg_pause(t, pause);
  t->inside--;
}

/* omp_control_tool(): there is nothing to flush, and the end is a pause for good. */
static int on_control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr)
{
  (void)modifier, (void)argument, (void)codeptr;
  enum { START = 1, PAUSE = 2, END = 4 };
  static atomic_bool ended;
  if (command == END)
    atomic_store(&ended, true);
  if (command == PAUSE || command == END || (command == START && !atomic_load(&ended)))
    ompt_pause(command != START);
  return 0;
}

struct wanted {
  int event;
  ompt_callback_t callback;
};

int ompt_register(void)
{
  static const struct wanted wanted[] = {
      {ompt_callback_thread_begin, (ompt_callback_t)on_thread_begin},
      {ompt_callback_control_tool, (ompt_callback_t)on_control_tool},
      {ompt_callback_thread_end, (ompt_callback_t)on_thread_end},
      {ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin},
      {ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end},
      {ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task},
      {ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule},
      {ompt_callback_sync_region_wait, (ompt_callback_t)on_sync_region_wait},
      {ompt_callback_task_create, (ompt_callback_t)on_task_create},
      {ompt_callback_mutex_released, (ompt_callback_t)on_mutex_released},
      {ompt_callback_mutex_acquire, (ompt_callback_t)on_mutex_acquire},
      {ompt_callback_mutex_acquired, (ompt_callback_t)on_mutex_acquired},
      {ompt_callback_nest_lock, (ompt_callback_t)on_nest_lock},
  };
  static const struct wanted graph[] = {
      {ompt_callback_sync_region, (ompt_callback_t)on_sync_region}, {ompt_callback_work, (ompt_callback_t)on_work},
      {ompt_callback_dispatch, (ompt_callback_t)on_dispatch},       {ompt_callback_masked, (ompt_callback_t)on_masked},
      {ompt_callback_dependences, (ompt_callback_t)on_dependences},
  };
  int missing = 0;
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
    missing += rt.set_callback(wanted[i].event, wanted[i].callback) != ompt_set_always;
  for (unsigned i = 0; rt.online && i < sizeof graph / sizeof *graph; i++)
    if (rt.set_callback(graph[i].event, graph[i].callback) != ompt_set_always)
      rt.unseen |= 1u << i;
  return missing;
}
