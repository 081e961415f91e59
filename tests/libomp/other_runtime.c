/* A stand-in for OpenMP runtimes other than LLVM's: it attaches the tool, and says what a team of two threads does in
 * regions with tasks, barriers, loops and a lock, in many ways.
 * Usage: other_runtime FORM [NUMBER]; prints "done", and what the tool's start returned.
 *   plain        as the specification has it
 *   refuse N     callback N is never called; 0: no callback is
 *   sometimes N  callback N is called every second time
 *   lack N       entry point N is not there
 *   order N      each bit of N is a departure from the order: see enum departure
 *   after_end    events after the end of the tool
 *   twice        two runtimes in one process, one after the other
 *   random SEED  on each of five threads, of which the tool hears of some only, events in no order and of no sense:
 * ends without begins, tasks and regions of other threads or that are over, data words that others have or that nobody
 * has written, no data */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/rt/core/omp-tools.h"

enum { EVENTS = 64, ROUNDS = 3, TASKS = 4 };
enum departure {
  UNANNOUNCED_THREAD = 1 << 0, /* no thread_begin */
  LATE_THREAD = 1 << 1,        /* thread_begin after the thread's first region */
  NO_INITIAL_TASK = 1 << 2,    /* no implicit_task for the initial task */
  END_FIRST = 1 << 3,          /* parallel_end before the ends of implicit tasks */
  NO_END = 1 << 4,             /* no ends of implicit tasks */
  REPEATED = 1 << 5,           /* all begins of regions and implicit tasks twice */
  NO_CREATION = 1 << 6,        /* tasks run that were not created */
  WAIT_ENDS_FIRST = 1 << 7,    /* waits end before they begin */
  RELEASED_FIRST = 1 << 8,     /* locks are released before they are acquired */
  NO_PARALLEL_BEGIN = 1 << 9,  /* implicit tasks of a region that was not announced */
  NO_ADDRESS = 1 << 10,        /* code addresses are NULL */
  WORKER_IS_OTHER = 1 << 11,   /* the worker's type is "other" */
  NO_TEAM_SIZE = 1 << 12,      /* teams of 0 threads */
};

static struct {
  const char *form;
  int number;
  unsigned departures;
} way;

static ompt_callback_t callbacks[EVENTS];
static __thread ompt_data_t *current_task, *current_region;
static __thread int thread_number;
static volatile unsigned long sink;

static bool is(const char *form)
{
  return !strcmp(way.form, form);
}

static bool departs(enum departure departure)
{
  return way.departures & departure;
}

/* ---- the runtime's interface for tools ---- */

static int set_callback(int event, ompt_callback_t callback)
{
  enum { NEVER = 1, SOMETIMES = 3 };
  bool meant = !way.number || way.number == event;
  if (event < 0 || event >= EVENTS || (is("refuse") && meant))
    return NEVER;
  callbacks[event] = callback;
  return is("sometimes") && meant ? SOMETIMES : ompt_set_always;
}

static ompt_callback_t callback_of(int event)
{
  static __thread unsigned calls;
  bool left_out = is("sometimes") && (!way.number || way.number == event) && calls++ & 1;
  return left_out ? NULL : callbacks[event];
}

static int get_state(uint64_t *wait_id)
{
  *wait_id = 0;
  return current_region ? 1 : 0; /* work, in a region or not */
}

static int get_task_info(int level, int *flags, ompt_data_t **task, ompt_frame_t **frame, ompt_data_t **region,
                         int *thread)
{
  static ompt_frame_t none;
  if (level > 0 || !current_task)
    return 0;
  *(flags ? flags : &(int){0}) = current_region ? ompt_task_implicit : ompt_task_initial;
  *(task ? task : &(ompt_data_t *){0}) = current_task;
  *(frame ? frame : &(ompt_frame_t *){0}) = &none;
  *(region ? region : &(ompt_data_t *){0}) = current_region;
  *(thread ? thread : &(int){0}) = thread_number;
  return 2;
}

static ompt_interface_fn_t lookup(const char *name)
{
  static const struct {
    const char *name;
    ompt_interface_fn_t entry;
  } entries[] = {{"ompt_set_callback", (ompt_interface_fn_t)set_callback},
                 {"ompt_get_state", (ompt_interface_fn_t)get_state},
                 {"ompt_get_task_info", (ompt_interface_fn_t)get_task_info}};
  for (int i = 0; i < 3; i++)
    if (!strcmp(name, entries[i].name))
      return is("lack") && way.number == i ? NULL : entries[i].entry;
  return NULL;
}

static ompt_start_tool_result_t *start(const char *name)
{
  ompt_start_tool_result_t *(*start_tool)(unsigned, const char *);
  *(void **)&start_tool = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  ompt_start_tool_result_t *tool = start_tool ? start_tool(202411, name) : NULL;
  int attached = tool ? tool->initialize(lookup, 0, &tool->tool_data) : -1;
  printf("attached %d\n", attached);
  return attached > 0 ? tool : NULL;
}

/* ---- events ---- */

#define CALL(event, types, ...)                                                                                        \
  do {                                                                                                                 \
    ompt_callback_t called = callback_of(event);                                                                       \
    if (called)                                                                                                        \
      ((void(*) types)called)(__VA_ARGS__);                                                                            \
  } while (0)

static const void *code(void)
{
  return departs(NO_ADDRESS) ? NULL : __builtin_return_address(0);
}

static void thread_begin(int type)
{
  static __thread ompt_data_t data;
  CALL(ompt_callback_thread_begin, (int, ompt_data_t *), type, &data);
}

static void thread_end(void)
{
  static __thread ompt_data_t data;
  CALL(ompt_callback_thread_end, (ompt_data_t *), &data);
}

static void implicit_task(int endpoint, ompt_data_t *region, ompt_data_t *task, unsigned size, int flags)
{
  CALL(ompt_callback_implicit_task, (int, ompt_data_t *, ompt_data_t *, unsigned, unsigned, int), endpoint, region,
       task, departs(NO_TEAM_SIZE) ? 0 : size, (unsigned)thread_number, flags);
}

static void parallel_begin(ompt_data_t *region)
{
  static ompt_frame_t frame;
  CALL(ompt_callback_parallel_begin, (ompt_data_t *, const ompt_frame_t *, ompt_data_t *, unsigned, int, const void *),
       current_task, &frame, region, 2, 1, code());
}

static void parallel_end(ompt_data_t *region)
{
  CALL(ompt_callback_parallel_end, (ompt_data_t *, ompt_data_t *, int, const void *), region, current_task, 1, code());
}

static void task_create(ompt_data_t *task, int flags)
{
  static ompt_frame_t frame;
  CALL(ompt_callback_task_create, (ompt_data_t *, const ompt_frame_t *, ompt_data_t *, int, int, const void *),
       current_task, &frame, task, flags, 0, code());
}

static void task_schedule(ompt_data_t *from, int status, ompt_data_t *to)
{
  CALL(ompt_callback_task_schedule, (ompt_data_t *, int, ompt_data_t *), from, status, to);
}

static void sync_region(int event, int kind, int endpoint)
{
  CALL(event, (int, int, ompt_data_t *, ompt_data_t *, const void *), kind, endpoint, current_region, current_task,
       code());
}

static pthread_barrier_t team, gate;
static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;

static void wait(int kind)
{
  int first = departs(WAIT_ENDS_FIRST) ? ompt_scope_end : ompt_scope_begin;
  sync_region(ompt_callback_sync_region, kind, first);
  sync_region(ompt_callback_sync_region_wait, kind, first);
  if (kind != ompt_sync_region_taskwait)
    pthread_barrier_wait(&team);
  sync_region(ompt_callback_sync_region_wait, kind, ompt_scope_begin + ompt_scope_end - first);
  sync_region(ompt_callback_sync_region, kind, ompt_scope_begin + ompt_scope_end - first);
}

static void mutex(int event, int kind, uint64_t id)
{
  if (event == ompt_callback_mutex_acquire)
    CALL(event, (int, unsigned, unsigned, uint64_t, const void *), kind, 0, 0, id, code());
  else
    CALL(event, (int, uint64_t, const void *), kind, id, code());
}

static void critical(void)
{
  if (departs(RELEASED_FIRST))
    mutex(ompt_callback_mutex_released, ompt_mutex_critical, 7);
  mutex(ompt_callback_mutex_acquire, ompt_mutex_critical, 7);
  pthread_mutex_lock(&section);
  mutex(ompt_callback_mutex_acquired, ompt_mutex_critical, 7);
  pthread_mutex_unlock(&section);
  mutex(ompt_callback_mutex_released, ompt_mutex_critical, 7);
}

static void work(int kind, int endpoint)
{
  CALL(ompt_callback_work, (int, int, ompt_data_t *, ompt_data_t *, uint64_t, const void *), kind, endpoint,
       current_region, current_task, 10, code());
}

static void dispatch(uint64_t from)
{
  ompt_dispatch_chunk_t chunk = {from, 5};
  CALL(ompt_callback_dispatch, (ompt_data_t *, ompt_data_t *, int, ompt_data_t), current_region, current_task,
       ompt_dispatch_ws_loop_chunk, (ompt_data_t){.ptr = &chunk});
}

/* ---- a team of two threads ---- */

static __attribute__((noinline)) void compute(void)
{
  for (int i = 0; i < 20000; i++)
    sink += (unsigned)i;
}

static void explicit_tasks(void)
{
  ompt_data_t tasks[TASKS] = {{0}}, *own = current_task;
  for (int i = 0; i < TASKS; i++) {
    if (!departs(NO_CREATION))
      task_create(&tasks[i], ompt_task_explicit);
    task_schedule(own, ompt_task_switch, &tasks[i]);
    current_task = &tasks[i];
    compute();
    task_schedule(&tasks[i], ompt_task_complete, own);
    current_task = own;
  }
  wait(ompt_sync_region_taskwait);
}

/* What each thread of the team does in a region. */
static void member(ompt_data_t *region)
{
  ompt_data_t task = {0}, *before = current_task, *around = current_region;
  for (int i = 0; i < (departs(REPEATED) ? 2 : 1); i++)
    implicit_task(ompt_scope_begin, region, &task, 2, ompt_task_implicit);
  current_task = &task;
  current_region = region;
  work(ompt_work_loop, ompt_scope_begin);
  dispatch(thread_number ? 5 : 0);
  compute();
  work(ompt_work_loop, ompt_scope_end);
  wait(ompt_sync_region_barrier_implicit_workshare);
  explicit_tasks();
  critical();
  wait(ompt_sync_region_barrier_explicit);
  compute();
  wait(ompt_sync_region_barrier_implicit_parallel);
  if (!departs(NO_END) && (!departs(END_FIRST) || thread_number))
    implicit_task(ompt_scope_end, NULL, &task, 0, ompt_task_implicit);
  current_task = before;
  current_region = around;
  if (departs(END_FIRST) && !thread_number) {
    parallel_end(region);
    implicit_task(ompt_scope_end, NULL, &task, 0, ompt_task_implicit);
  }
}

static ompt_data_t *shared_region;

static void *worker(void *unused)
{
  thread_number = 1;
  int type = departs(WORKER_IS_OTHER) ? 3 : ompt_thread_worker;
  if (!departs(UNANNOUNCED_THREAD | LATE_THREAD))
    thread_begin(type);
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&gate);
    member(shared_region);
    if (i == 0 && departs(LATE_THREAD))
      thread_begin(type);
    pthread_barrier_wait(&gate);
  }
  if (!departs(UNANNOUNCED_THREAD))
    thread_end();
  return unused;
}

static void regions(void)
{
  pthread_t thread;
  pthread_barrier_init(&gate, NULL, 2);
  pthread_barrier_init(&team, NULL, 2);
  if (pthread_create(&thread, NULL, worker, NULL))
    exit(3);
  for (int i = 0; i < ROUNDS; i++) {
    ompt_data_t region = {0};
    shared_region = &region;
    for (int k = 0; k < (departs(REPEATED) ? 2 : 1) && !departs(NO_PARALLEL_BEGIN); k++)
      parallel_begin(&region);
    pthread_barrier_wait(&gate);
    member(&region);
    pthread_barrier_wait(&gate);
    if (!departs(END_FIRST))
      parallel_end(&region);
    compute();
  }
  pthread_join(thread, NULL);
}

static void run(const char *name)
{
  static ompt_data_t initial;
  ompt_start_tool_result_t *tool = start(name);
  current_task = &initial;
  thread_begin(ompt_thread_initial);
  if (!departs(NO_INITIAL_TASK))
    implicit_task(ompt_scope_begin, NULL, &initial, 1, ompt_task_initial);
  regions();
  if (tool && is("after_end"))
    tool->finalize(&tool->tool_data);
  if (is("after_end"))
    regions();
}

/* ---- events in no order ---- */

enum { RANDOM_THREADS = 5, RANDOM_EVENTS = 4000, OBJECTS = 12, RANDOM_SECONDS = 40 };

static ompt_data_t random_objects[RANDOM_THREADS][OBJECTS]; /* regions and tasks alike */
static __thread uint64_t random_thread_number;
static __thread uint64_t random_state;

static uint64_t draw(void) /* splitmix64 */
{
  uint64_t mixed = random_state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

/* One of count small numbers; rarely any number. */
static int draw_below(unsigned count)
{
  return draw() % 50 ? (int)(draw() % count) : (int)draw();
}

static ompt_data_t *draw_object(void)
{
  uint64_t object = draw() % (OBJECTS + 1);
  uint64_t thread = way.number % 2 ? random_thread_number : draw() % RANDOM_THREADS;
  return object < OBJECTS ? &random_objects[thread][object] : NULL;
}

static const void *draw_code(void)
{
  return draw() % 4 ? (const char *)compute + draw() % 64 : NULL;
}

static ompt_frame_t *draw_frame(ompt_frame_t *frame)
{
  uint64_t here = (uint64_t)__builtin_frame_address(0);
  uint64_t exit = draw() % 4 ? here + draw() % 512 : draw();
  uint64_t enter = draw() % 2 ? here : 0;
  *frame = (ompt_frame_t){{exit}, {enter}, draw_below(64), draw_below(64)};
  return draw() % 4 ? frame : NULL;
}

/* A data word that the tool has written elsewhere, or none of its own. */
static void exchange_words(void)
{
  ompt_data_t *to = draw_object(), *from = draw_object();
  if (to && way.number % 4 == 0)
    __atomic_store_n(&to->value,
                     from         ? __atomic_load_n(&from->value, __ATOMIC_RELAXED)
                     : draw() % 2 ? draw()
                                  : 0,
                     __ATOMIC_RELAXED);
}

static int draw_task_flags(void)
{
  static const int flags[] = {ompt_task_initial,
                              ompt_task_implicit,
                              ompt_task_explicit,
                              ompt_task_taskwait,
                              ompt_task_explicit | ompt_task_undeferred,
                              ompt_task_target};
  return draw() % 20 ? flags[draw() % (sizeof flags / sizeof *flags)] : (int)draw();
}

static void random_tasks(void)
{
  ompt_frame_t frame;
  ompt_dependence_t all[4];
  switch (draw() % 5) {
  case 0:
    CALL(ompt_callback_task_create, (ompt_data_t *, const ompt_frame_t *, ompt_data_t *, int, int, const void *),
         draw_object(), draw_frame(&frame), draw_object(), draw_task_flags(), draw_below(2), draw_code());
    break;
  case 1:
    CALL(ompt_callback_dependences, (ompt_data_t *, const ompt_dependence_t *, int), draw_object(), all, 0);
    for (int i = 0; i < 4; i++)
      all[i] = (ompt_dependence_t){{.value = draw() % 8 ? draw() % 6 : draw()}, draw_below(9)};
    CALL(ompt_callback_dependences, (ompt_data_t *, const ompt_dependence_t *, int), draw_object(), all,
         (int)(draw() % 5));
    break;
  default:
    task_schedule(draw_object(), draw_below(10), draw_object());
    break;
  }
}

static void random_locks(void)
{
  static const int kinds[] = {ompt_callback_mutex_acquired, ompt_callback_mutex_released, ompt_callback_nest_lock,
                              ompt_callback_lock_destroy};
  if (draw() % 2)
    mutex(ompt_callback_mutex_acquire, draw_below(9), draw() % 5);
  else
    mutex(kinds[draw() % 4], draw_below(9), draw() % 5);
}

static void random_devices(void)
{
  uint64_t number = 0;
  int device = draw_below(4) - 1;
  switch (draw() % 3) {
  case 0:
    CALL(ompt_callback_target_emi, (int, int, int, ompt_data_t *, ompt_data_t *, ompt_data_t *, const void *),
         draw_below(14), draw_below(4), device, draw_object(), draw_object(), draw_object(), draw_code());
    break;
  case 1:
    CALL(ompt_callback_target_data_op_emi,
         (int, ompt_data_t *, ompt_data_t *, uint64_t *, int, void *, int, void *, int, size_t, const void *),
         draw_below(4), draw_object(), draw_object(), draw() % 2 ? &number : NULL, draw_below(20), NULL, device, NULL,
         draw_below(4) - 1, draw(), draw_code());
    break;
  default:
    CALL(ompt_callback_target_submit_emi, (int, ompt_data_t *, uint64_t *, unsigned), draw_below(4), draw_object(),
         draw() % 2 ? &number : NULL, (unsigned)draw_below(4));
    break;
  }
}

static void random_loops(void)
{
  ompt_dispatch_chunk_t chunk = {draw(), draw()};
  switch (draw() % 3) {
  case 0:
    CALL(ompt_callback_work, (int, int, ompt_data_t *, ompt_data_t *, uint64_t, const void *), draw_below(14),
         draw_below(4), draw_object(), draw_object(), draw(), draw_code());
    break;
  case 1:
    CALL(ompt_callback_dispatch, (ompt_data_t *, ompt_data_t *, int, ompt_data_t), draw_object(), draw_object(),
         draw_below(7), (ompt_data_t){.ptr = &chunk});
    break;
  default:
    CALL(ompt_callback_masked, (int, ompt_data_t *, ompt_data_t *, const void *), draw_below(4), draw_object(),
         draw_object(), draw_code());
    break;
  }
}

static void random_regions(void)
{
  ompt_frame_t frame;
  switch (draw() % 5) {
  case 0:
    CALL(ompt_callback_parallel_begin,
         (ompt_data_t *, const ompt_frame_t *, ompt_data_t *, unsigned, int, const void *), draw_object(),
         draw_frame(&frame), draw_object(), (unsigned)draw_below(4), draw() % 4 ? 1 : (int)draw(), draw_code());
    break;
  case 1:
    CALL(ompt_callback_parallel_end, (ompt_data_t *, ompt_data_t *, int, const void *), draw_object(), draw_object(), 1,
         draw_code());
    break;
  case 2:
    CALL(ompt_callback_cancel, (ompt_data_t *, int, const void *), draw_object(), draw_below(64), draw_code());
    break;
  default:
    CALL(ompt_callback_implicit_task, (int, ompt_data_t *, ompt_data_t *, unsigned, unsigned, int), draw_below(4),
         draw_object(), draw_object(), (unsigned)(draw() % 5), (unsigned)draw_below(5), draw_task_flags());
    break;
  }
}

static void random_threads(void)
{
  if (draw() % 3 == 0)
    thread_begin(draw_below(5));
  else
    thread_end();
}

static void random_waits(void)
{
  static const int events[] = {ompt_callback_sync_region, ompt_callback_sync_region_wait};
  CALL(events[draw() % 2], (int, int, ompt_data_t *, ompt_data_t *, const void *), draw_below(12), draw_below(4),
       draw_object(), draw_object(), draw_code());
}

static void random_event(void)
{
  static void (*const groups[])(void) = {random_tasks, random_tasks,   random_locks,   random_devices, random_loops,
                                         random_waits, random_regions, random_regions, exchange_words};
  current_task = draw_object();
  current_region = draw_object();
  thread_number = draw_below(4);
  if (draw() % 200)
    groups[draw() % (sizeof groups / sizeof *groups)]();
  else
    random_threads();
  if (draw() % 500 == 0)
    compute();
}

static void *random_thread(void *number)
{
  random_state = (uint64_t)way.number * RANDOM_THREADS + (uint64_t)number;
  random_thread_number = (uint64_t)number;
  if (draw() % 2)
    thread_begin(number ? draw_below(5) : ompt_thread_initial);
  for (int i = 0; i < RANDOM_EVENTS; i++)
    random_event();
  return NULL;
}

static void run_random(void)
{
  pthread_t threads[RANDOM_THREADS];
  start("a runtime out of its mind");
  for (uint64_t i = 1; i < RANDOM_THREADS; i++)
    if (pthread_create(&threads[i], NULL, random_thread, (void *)i))
      exit(3);
  random_thread(NULL);
  for (int i = 1; i < RANDOM_THREADS; i++)
    pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
  way.form = count > 1 ? arguments[1] : "plain";
  way.number = count > 2 ? atoi(arguments[2]) : 0;
  way.departures = is("order") ? (unsigned)way.number : 0;
  if (is("random")) {
    alarm(RANDOM_SECONDS);
    run_random();
  } else {
    run("another runtime");
  }
  if (is("twice"))
    run("one more runtime");
  puts("done");
  return 0;
}
