/* Explicit tasks, and the waits for them.  Context: CTL (gomp.h).
 *
 * libgomp copies the argument block of a task when it creates the task, and calls the task's function with the copy.
 *
 * Where nothing is recorded of a task before it begins, libgomp gets the program's block, and as the function an
 * element of gomp_task_bodies that stands for the program's function.
 *
 * Otherwise a task has a data word from its creation on.  Then libgomp gets a larger block, in which a header (struct
 * block) stands before the program's, and run_task() as the function.  Into the first words of the block libgomp
 * writes: the bounds of a taskloop's task, or the event of a detached task.  run_task() hands them on.
 *
 * If the program has no function that copies the block, libgomp copies it as bytes; then the program's block is copied
 * behind the header first.  A taskloop needs a function in any case, because each of its tasks needs a data word. There
 * is one exception: if libgomp runs all tasks inside the call, it would keep all copies on the stack.  Then one block
 * serves all tasks, one after another, and run_task() makes each data word. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hpcrun-lite/gomp/gomp.h"
#include "hpcrun-lite/rt/span/graph_log.h"

/* Flags of GOMP_task() and GOMP_taskloop(). */
enum {
  FLAG_UNTIED = 1 << 0,
  FLAG_FINAL = 1 << 1,
  FLAG_MERGEABLE = 1 << 2,
  FLAG_DEPEND = 1 << 3,
  FLAG_GRAINSIZE = 1 << 9,
  FLAG_IF = 1 << 10, /* of a taskloop; tasks have a parameter */
  FLAG_NOGROUP = 1 << 11,
  FLAG_REDUCTION = 1 << 12,
  FLAG_DETACH = 1 << 13,
  FLAG_STRICT = 1 << 14
};

enum { CANCEL_TASKGROUP = 8, BLOCK_ON_STACK = 4096, UNDEFERRED_FACTOR = 64 };

typedef void task_body(void *);

enum { EVENT_FREE, EVENT_OPEN, EVENT_FULFILLED, EVENT_RAN };

/* An event of a detached task.  The task's data word is here, since the thread that fulfils the event needs it. */
struct detached {
  uint64_t handle; /* libgomp's name of the event; 0: not known yet */
  uint64_t number; /* distinguishes the tasks that have this element one after another */
  ompt_data_t data;
  uint32_t lock; /* of the other fields; `handle` is read without it */
  uint32_t state;
};

struct block {
  uint64_t words[3]; /* where libgomp reads and writes the first words of the program's block */
  void (*function)(void *);
  void (*copy)(void *, void *); /* the program's; NULL: copy as bytes */
  const void *source;           /* the program's block, while the task is created */
  const void *code;             /* address in the program at which the task was created */
  const struct gomp_runtime *runtime;
  struct detached *event;
  uint64_t event_number;
  ompt_data_t data;  /* data word of the task */
  long offset, size; /* of the program's block */
  unsigned flags;
  bool bounds;      /* a taskloop's task */
  bool named;       /* it has a data word */
  bool cancellable; /* run_task() asks whether the group was cancelled: libgomp does so only without a function */
  bool serial;      /* the program makes the creator wait for it */
};

/* Is anything recorded of a task before it begins? */
static inline bool creations_recorded(void)
{
  return span_process.online || sampling_process.task_creation;
}

static void *program_block(struct block *block)
{
  return (char *)block + block->offset;
}

static ompt_data_t *data_of(struct block *block)
{
  return block->event ? &block->event->data : &block->data;
}

/* The task gets its data word, as a child of the current task.  serial: the program makes the creator wait for it.
 * Outside any region, libgomp runs every task at once. */
static inline void create(struct rt_gomp_task *creator, ompt_data_t *data, unsigned flags, bool serial,
                          const void *code, const void *frame)
{
  int known = ompt_task_explicit | (flags & FLAG_UNTIED ? ompt_task_untied : 0) |
              (flags & FLAG_FINAL ? ompt_task_final : 0) | (flags & FLAG_MERGEABLE ? ompt_task_mergeable : 0) |
              (serial || !creator->parallel.value ? ompt_task_undeferred : 0);
  gomp_create(creator, data, known, serial, flags & FLAG_DEPEND, code, frame);
}

static void create_block(struct block *block, struct rt_gomp_task *creator, const void *frame)
{
  create(creator, data_of(block), block->flags, block->serial, block->code, frame);
}

/* ---- detached tasks ---- */

enum { EVENTS = 4096 };
static struct detached events[EVENTS];
static uint64_t event_count;

/* The lock holds the process's epoch, so that a forked child takes one that another thread of its parent held. */
static void event_lock(struct detached *event)
{
  uint32_t held = 0;
  while (!__atomic_compare_exchange_n(&event->lock, &held, rt.epoch, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    if (held == rt.epoch) {
      machine_relax();
      held = 0;
    }
}

static void event_unlock(struct detached *event)
{
  __atomic_store_n(&event->lock, 0, __ATOMIC_RELEASE);
}

/* NULL if there are too many: the task's event is then not followed. */
static struct detached *event_new(void)
{
  uint64_t number = __atomic_add_fetch(&event_count, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < EVENTS; i++) {
    struct detached *event = &events[(number + i) % EVENTS];
    event_lock(event);
    bool ours = event->state == EVENT_FREE;
    if (ours) {
      event->state = EVENT_OPEN;
      event->number = number;
      event->data.value = 0;
    }
    event_unlock(event);
    if (ours)
      return event;
  }
  rt_lost(rt_thread(), FORMAT_LOST_GRAPH);
  return NULL;
}

/* libgomp has named the event with that number.  The task may have ended since, and the element have another one. */
static void event_name(struct detached *event, uint64_t number, uint64_t handle)
{
  event_lock(event);
  if (event->number == number && event->state != EVENT_FREE)
    __atomic_store_n(&event->handle, handle, __ATOMIC_RELEASE);
  event_unlock(event);
}

static struct detached *event_find(uint64_t handle)
{
  for (unsigned i = 0; i < EVENTS; i++)
    if (__atomic_load_n(&events[i].handle, __ATOMIC_ACQUIRE) == handle)
      return &events[i];
  return NULL;
}

/* The lock is held, or no other thread knows the event any more. */
static void event_free(struct detached *event)
{
  __atomic_store_n(&event->handle, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&event->state, EVENT_FREE, __ATOMIC_RELEASE);
}

/* The function of a detached task has returned.  The lock is held meanwhile: as soon as the event is known to have run,
 * the thread that fulfils it ends the task. */
static void event_ran(struct detached *event, ompt_data_t *outer)
{
  event_lock(event);
  bool fulfilled = event->state == EVENT_FULFILLED;
  event->state = EVENT_RAN;
  ompt_on_task_schedule(&event->data, fulfilled ? ompt_task_complete : ompt_task_detach, outer);
  if (fulfilled)
    event_free(event);
  event_unlock(event);
}

static void fulfil(uint64_t handle, struct rt_gomp_task *task)
{
  struct detached *event = handle ? event_find(handle) : NULL;
  if (!event)
    return;
  event_lock(event);
  bool late = event->state == EVENT_RAN;
  event->state = EVENT_FULFILLED;
  ompt_on_task_schedule(&event->data, late ? ompt_task_late_fulfill : ompt_task_early_fulfill, task->data);
  if (late)
    event_free(event);
  event_unlock(event);
}

#define FULFIL(name)                                                                                                   \
  GOMP_CODE void wrap_##name(uint64_t handle)                                                                          \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    if (task)                                                                                                          \
      fulfil(handle, task);                                                                                            \
    GOMP_NEXT(runtime, name)(handle);                                                                                  \
  }
FULFIL(omp_fulfill_event)
FULFIL(omp_fulfill_event_)

/* ---- a task runs ---- */

/* What libgomp has written into the block goes to the program's. */
static void hand_on_words(struct block *block)
{
  uint64_t *words = program_block(block);
  if (block->bounds) {
    words[0] = block->words[0];
    words[1] = block->words[1];
  } else if (block->flags & FLAG_DETACH && block->size) {
    words[0] = block->words[0];
  }
  if (block->event)
    event_name(block->event, block->event_number, block->words[0]);
}

/* The function that libgomp calls for every task. */
GOMP_CODE static void run_task(void *argument)
{
  struct block *block = argument;
  struct rt_gomp_task *outer = gomp_task();
  hand_on_words(block);
  if (!outer) {
    block->function(program_block(block));
    return;
  }
  if (block->cancellable && block->runtime->cancellation_point(CANCEL_TASKGROUP))
    return;
  if (!block->named) /* libgomp uses one block for several tasks, one after another */
    create_block(block, outer, __builtin_frame_address(0));
  struct rt_gomp_task task = {.outer = outer,
                              .data = data_of(block),
                              .function = (const char *)(uintptr_t)block->function,
                              .flags = ompt_task_explicit,
                              .frame.exit_frame.value = (uint64_t)__builtin_frame_address(0),
                              .parallel = outer->parallel,
                              .final = block->flags & FLAG_FINAL || (block->serial && outer->final)};
  ompt_on_task_schedule(outer->data, ompt_task_switch, task.data);
  gomp_run(&task);
  block->function(program_block(block));
  gomp_run(outer);
  if (block->event)
    event_ran(block->event, outer->data);
  else
    ompt_on_task_schedule(task.data, ompt_task_complete, outer->data);
}

/* Runs a task in whose block there is nothing to hand on.  target: it is that of a target construct at this address,
 * for that device; NULL: of none.  frame: of the adapter's function that libgomp has called. */
static inline __attribute__((always_inline)) void run_simple(task_body *function, void *argument, ompt_data_t *data,
                                                             bool final, const void *target, int device,
                                                             const void *frame)
{
  struct rt_gomp_task *outer = gomp_task();
  if (!outer) {
    function(argument);
    return;
  }
  struct rt_gomp_task task = {.outer = outer,
                              .data = data,
                              .function = (const char *)(uintptr_t)function,
                              .flags = ompt_task_explicit,
                              .frame.exit_frame.value = (uint64_t)frame,
                              .parallel = outer->parallel,
                              .final = final,
                              .in_target = target};
  if (span_process.online || rt_thread()->activity.idle)
    ompt_on_task_schedule(outer->data, ompt_task_switch, data);
  gomp_run(&task);
  if (target)
    ompt_on_target(ompt_target | ompt_target_nowait, ompt_scope_begin, device, data, 0, target);
  function(argument);
  if (target)
    ompt_on_target(ompt_target | ompt_target_nowait, ompt_scope_end, device, data, 0, target);
  gomp_run(outer);
  if (span_process.online || outer->data->value & RT_TASK_WAITING)
    ompt_on_task_schedule(data, ompt_task_complete, outer->data);
}

/* The header of most tasks: into their block libgomp writes nothing, and it copies it as bytes. */
struct plain_block {
  task_body *function;
  ompt_data_t data;
  char program[]; /* the program's block */
};

GOMP_CODE static void run_plain_task(void *argument)
{
  struct plain_block *block = argument;
  run_simple(block->function, block->program, &block->data, false, NULL, OMPT_DEVICE_NONE, __builtin_frame_address(0));
}

/* What stands for the block of a task for whose end the creator waits: libgomp does not copy it. */
struct serial_block {
  task_body *function;
  ompt_data_t data;
  void *program;
  bool final; /* its children are included tasks */
};

GOMP_CODE static void run_serial_task(void *argument)
{
  struct serial_block *block = argument;
  run_simple(block->function, block->program, &block->data, block->final, NULL, OMPT_DEVICE_NONE,
             __builtin_frame_address(0));
}

/* ---- tasks of which nothing is recorded before they begin ---- */

/* The functions for which the elements of gomp_task_bodies stand.  An element keeps its function. */
static _Atomic(task_body *) functions[GOMP_TASK_BODIES];

extern const char gomp_task_bodies[GOMP_TASK_BODIES][16] __attribute__((visibility("hidden")));

/* The first of the elements that may stand for a function. */
static inline unsigned body_number(task_body *function)
{
  enum { HASH_SHIFT = 32 };
  return (unsigned)((uint64_t)function * 0x9e3779b97f4a7c15ULL >> HASH_SHIFT) % GOMP_TASK_BODIES;
}

static inline bool stands_for(unsigned number, task_body *function)
{
  return atomic_load_explicit(&functions[number], memory_order_relaxed) == function;
}

static inline task_body *body_at(unsigned number)
{
  return (task_body *)gomp_task_bodies[number];
}

/* The element that stands for a function.  NULL if all that may do so stand for others. */
static task_body *find_body(task_body *function)
{
  enum { TRIES = 16 };
  for (unsigned i = 0; i < TRIES; i++) {
    unsigned number = (body_number(function) + i) % GOMP_TASK_BODIES;
    task_body *none = NULL;
    if (atomic_compare_exchange_strong(&functions[number], &none, function) || none == function)
      return body_at(number);
  }
  return NULL;
}

/* The element for a task that is created.  NULL if something of the task is recorded, or no element is left. */
static inline task_body *unrecorded_body(struct rt_gomp_task *creator, task_body *function)
{
  if (creations_recorded())
    return NULL;
  gomp_past_single(creator);
  return find_body(function);
}

/* Called by jumps.S: libgomp has called an element. */
GOMP_CODE __attribute__((visibility("hidden"))) void gomp_run_body(void *argument, unsigned number)
{
  ompt_data_t data = {0};
  task_body *function = atomic_load_explicit(&functions[number], memory_order_relaxed);
  run_simple(function, argument, &data, false, NULL, OMPT_DEVICE_NONE, __builtin_frame_address(0));
}

/* ---- dependences ---- */

enum { DEPENDENCES_ON_STACK = 64 };

/* GCC's kinds of dependences. */
enum { DEPEND_IN = 1, DEPEND_OUT, DEPEND_INOUT, DEPEND_MUTEXINOUTSET, DEPEND_INOUTSET, DEPEND_KINDS };

/* Names a dependence of GCC's kind. */
static ompt_dependence_t dependence(void *address, int kind)
{
  static const int types[DEPEND_KINDS] = {[DEPEND_IN] = ompt_dependence_type_in,
                                          [DEPEND_OUT] = ompt_dependence_type_out,
                                          [DEPEND_INOUT] = ompt_dependence_type_inout,
                                          [DEPEND_MUTEXINOUTSET] = ompt_dependence_type_mutexinoutset,
                                          [DEPEND_INOUTSET] = ompt_dependence_type_inoutset};
  int type = kind > 0 && kind < DEPEND_KINDS ? types[kind] : 0;
  if (!address && (kind == DEPEND_OUT || kind == DEPEND_INOUT))
    type = ompt_dependence_type_inout_all_memory;
  return (ompt_dependence_t){.variable.ptr = address, .dependence_type = type};
}

/* The array of a depend clause: the number of elements; the number of out and inout; the addresses, of which the rest
 * is in.  With a 0 before it: the numbers of elements, of out and inout, of mutexinoutset, of in; the addresses; and
 * the addresses of depend objects, each an address and a kind. */
static void announce_dependences(ompt_data_t *data, void **depend)
{
  bool old = depend[0];
  size_t count = (size_t)(old ? depend[0] : depend[1]), out = (size_t)(old ? depend[1] : depend[2]);
  size_t sets = old ? 0 : (size_t)depend[3], in = old ? count - out : (size_t)depend[4];
  void **addresses = depend + (old ? 2 : 5);
  ompt_dependence_t on_stack[DEPENDENCES_ON_STACK] = {0}, *named = on_stack;
  if (count > DEPENDENCES_ON_STACK)
    named = malloc(count * sizeof *named);
  if (!named) {
    rt_lost(rt_thread(), FORMAT_LOST_GRAPH);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    void **object = addresses[i];
    if (i < out)
      named[i] = dependence(addresses[i], DEPEND_INOUT);
    else if (i < out + sets)
      named[i] = dependence(addresses[i], DEPEND_MUTEXINOUTSET);
    else if (i < out + sets + in || !object)
      named[i] = dependence(addresses[i], DEPEND_IN);
    else
      named[i] = dependence(object[0], (int)(size_t)object[1]);
  }
  ompt_on_dependences(data, named, (int)count);
  if (named != on_stack)
    free(named);
}

/* ---- tasks are created ---- */

/* Copies a block to a task's own memory; libgomp calls it once for each task, in the thread that creates the task. */
GOMP_CODE static void copy_block(void *to, void *from)
{
  struct block *block = to;
  memcpy(block, from, sizeof *block);
  if (block->flags & FLAG_DETACH && block->size)
    memcpy((void *)block->source, block->words, sizeof block->words[0]);
  if (block->copy)
    block->copy(program_block(block), (void *)block->source);
  else
    memcpy(program_block(block), block->source, (size_t)block->size);
  if (!block->named)
    create_block(block, rt_gomp_task, __builtin_frame_address(0));
  block->named = true;
}

static long offset_for(long align)
{
  long least = sizeof(struct block);
  return align > 0 ? (least + align - 1) / align * align : least;
}

static long align_for(long align)
{
  return align > (long)_Alignof(struct block) ? align : (long)_Alignof(struct block);
}

typedef void task_function(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int,
                           void *);

/* Parameters of GOMP_task() that are handed on. */
struct task_call {
  task_function *next;
  long align;
  bool defer;
  void **depend;
  int priority;
  void *detach;
};

/* Puts a header, and the program's block behind it, into memory that has `align` bytes more than they need. */
static struct block *block_behind_header(const struct block *block, char *memory, long align)
{
  struct block *copy = (struct block *)(((uint64_t)memory + (uint64_t)align - 1) & -(uint64_t)align);
  memcpy(copy, block, sizeof *block);
  memcpy(program_block(copy), block->source, (size_t)block->size);
  return copy;
}

/* Makes the call with a header before the program's block. */
GOMP_CODE static void call_task(const struct task_call *call, struct block *block)
{
  long size = block->offset + block->size, align = align_for(call->align);
  if (block->copy) {
    call->next(run_task, block, copy_block, size, align, call->defer, block->flags, call->depend, call->priority,
               call->detach);
    return;
  }
  char on_stack[size <= BLOCK_ON_STACK ? size + align : 1];
  char *memory = size <= BLOCK_ON_STACK ? on_stack : malloc((size_t)(size + align));
  if (!memory) {
    call->next(block->function, (void *)block->source, NULL, block->size, call->align, call->defer, block->flags,
               call->depend, call->priority, call->detach);
    return;
  }
  call->next(run_task, block_behind_header(block, memory, align), NULL, size, align, call->defer, block->flags,
             call->depend, call->priority, call->detach);
  if (memory != on_stack)
    free(memory);
}

/* What is recorded of a task at its creation. */
static inline __attribute__((always_inline)) void record_task(const struct task_call *call,
                                                              struct rt_gomp_task *creator, ompt_data_t *data,
                                                              unsigned flags, bool serial, const void *code,
                                                              const void *frame)
{
  if (creations_recorded())
    create(creator, data, flags, serial, code, frame);
  if (flags & FLAG_DEPEND && span_process.online)
    announce_dependences(data, call->depend);
}

/* A task without a copy function and a detach clause for whose end the creator waits.  It runs with the program's own
 * block: recursion may be deep. */
GOMP_CODE static void serial_task(const struct task_call *call, struct rt_gomp_task *creator, task_body *function,
                                  void *data, unsigned flags, const void *code)
{
  struct serial_block block = {.function = function, .program = data, .final = flags & FLAG_FINAL || creator->final};
  record_task(call, creator, &block.data, flags, true, code, __builtin_frame_address(0));
  call->next(run_serial_task, &block, NULL, sizeof block, _Alignof(struct serial_block), call->defer, flags,
             call->depend, call->priority, NULL);
}

/* The same without a final clause, for whose end the creator does not wait.  Inlined, since many tasks are short. */
static inline __attribute__((always_inline)) void plain_task(const struct task_call *call, struct rt_gomp_task *creator,
                                                             task_body *function, const void *data, long size,
                                                             unsigned flags, const void *code)
{
  char memory[sizeof(struct plain_block) + (size_t)size] __attribute__((aligned(16)));
  struct plain_block *block = (struct plain_block *)memory;
  block->function = function;
  block->data.value = 0;
  record_task(call, creator, &block->data, flags, false, code, __builtin_frame_address(0));
  __asm__("" : "+r"(size)); /* a call: where the compiler knows a limit, it inlines instructions that begin slowly */
  memcpy(block->program, data, (size_t)size);
  call->next(run_plain_task, memory, NULL, (long)sizeof memory, 16, call->defer, flags, call->depend, call->priority,
             NULL);
}

/* Parameters of GOMP_task(). */
#define TASK_PARAMETERS                                                                                                \
  void (*function)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool defer,               \
      unsigned flags, void **depend, int priority, void *detach
#define TASK_ARGUMENTS function, data, copy, size, align, defer, flags, depend, priority, detach

GOMP_CODE void wrap_GOMP_task(TASK_PARAMETERS);

/* Any task. */
GOMP_CODE static void other_task(const struct gomp_runtime *runtime, struct rt_gomp_task *creator, const void *code,
                                 TASK_PARAMETERS)
{
  const struct task_call call = {GOMP_NEXT(runtime, GOMP_task), align, defer, depend, priority, detach};
  struct detached *event = flags & FLAG_DETACH ? event_new() : NULL;
  struct block block = {.function = function,
                        .copy = copy,
                        .source = data,
                        .code = code,
                        .runtime = runtime,
                        .event = event,
                        .event_number = event ? event->number : 0,
                        .offset = offset_for(align),
                        .size = data ? size : 0,
                        .flags = flags,
                        .serial = !defer || creator->final};
  const uint64_t number = block.event_number;
  record_task(&call, creator, data_of(&block), flags, block.serial, code, __builtin_frame_address(0));
  block.named = true;
  call_task(&call, &block);
  if (event)
    event_name(event, number, *(uint64_t *)detach);
}

static inline __attribute__((always_inline)) void task(const struct gomp_runtime *runtime, struct rt_gomp_task *creator,
                                                       const void *code, TASK_PARAMETERS)
{
  const struct task_call call = {GOMP_NEXT(runtime, GOMP_task), align, defer, depend, priority, detach};
  const bool serial = !defer || creator->final, final = flags & FLAG_FINAL && !serial;
  if (copy || final || flags & FLAG_DETACH || size > BLOCK_ON_STACK || align > 16)
    other_task(runtime, creator, code, TASK_ARGUMENTS);
  else if (serial)
    serial_task(&call, creator, function, data, flags, code);
  else
    plain_task(&call, creator, function, data, size, flags, code);
}

/* Also measures how long the creation takes, for -p log. */
GOMP_CODE static void timed_task(const struct gomp_runtime *runtime, struct rt_gomp_task *creator, const void *code,
                                 TASK_PARAMETERS)
{
  const struct creation_time outer = ompt_creation_begin(code, 0);
  task(runtime, creator, code, TASK_ARGUMENTS);
  ompt_creation_end(&outer);
}

GOMP_CODE void wrap_GOMP_task(TASK_PARAMETERS)
{
  GOMP_ENTER(runtime, creator);
  task_body *body = creator ? unrecorded_body(creator, function) : function;
  if (body)
    GOMP_NEXT(runtime, GOMP_task)(body, data, copy, size, align, defer, flags, depend, priority, detach);
  else if (__builtin_expect(graph_log_on(), 0))
    timed_task(runtime, creator, GOMP_CALLER, TASK_ARGUMENTS);
  else
    task(runtime, creator, GOMP_CALLER, TASK_ARGUMENTS);
}

/* The wrapper where nothing is recorded: the short way of most tasks; the others jump to the other wrapper. */
GOMP_CODE static void short_task(TASK_PARAMETERS)
{
  const struct gomp_runtime *runtime = gomp_global;
  const struct rt_gomp_task *creator = rt_gomp_task;
  unsigned number = body_number(function);
  if (!runtime || !creator || creator->single == RT_SINGLE_OTHER || !gomp_announced(rt_thread()) ||
      !stands_for(number, function))
    return wrap_GOMP_task(TASK_ARGUMENTS);
  return GOMP_NEXT(runtime, GOMP_task)(body_at(number), data, copy, size, align, defer, flags, depend, priority,
                                       detach);
}

void *gomp_task_wrapper(void)
{
  return creations_recorded() ? (void *)wrap_GOMP_task : (void *)short_task;
}

/* How many tasks libgomp makes of a taskloop. */
static uint64_t taskloop_tasks(const struct gomp_runtime *runtime, unsigned flags, uint64_t number, uint64_t iterations)
{
  if (flags & FLAG_GRAINSIZE) {
    uint64_t tasks = iterations / (number ? number : 1) + (flags & FLAG_STRICT && iterations % (number ? number : 1));
    return tasks ? tasks : 1;
  }
  uint64_t tasks = number ? number : (uint64_t)runtime->team_size();
  return tasks < iterations ? tasks : iterations;
}

/* Does libgomp run all tasks inside the call, one after another? */
static bool runs_inside(const struct block *block, const struct rt_gomp_task *creator, uint64_t tasks)
{
  uint64_t most = UNDEFERRED_FACTOR * (uint64_t)block->runtime->team_size();
  return block->serial || !creator->parallel.value || tasks > most;
}

/* Copies that a function makes are all on the stack if libgomp runs the tasks inside the call; and it may always do so
 * when many tasks are queued. */
static bool fits_on_stack(const struct block *block, uint64_t tasks)
{
  enum { TASK_BYTES = 512, RESERVE = 65536, ROOM_IF_UNKNOWN = 1 << 18 };
  const struct thread_state *t = rt_thread();
  uint64_t here = (uint64_t)__builtin_frame_address(0), each = (uint64_t)(block->offset + block->size + TASK_BYTES);
  uint64_t room = t->stack_low && here > t->stack_low ? here - t->stack_low : ROOM_IF_UNKNOWN;
  return room > RESERVE && tasks < (room - RESERVE) / each;
}

typedef void taskloop_function(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned, unsigned long,
                               int, uint64_t, uint64_t, uint64_t);

/* ---- target tasks ---- */

void gomp_create_target(struct rt_gomp_task *creator, ompt_data_t *data, void **depend, bool serial, const void *code,
                        const void *frame)
{
  if (!creations_recorded())
    return;
  gomp_create(creator, data, ompt_task_explicit | (serial ? ompt_task_undeferred : 0), serial, depend, code, frame);
  if (depend && span_process.online)
    announce_dependences(data, depend);
}

GOMP_CODE void gomp_run_target(task_body *function, void *argument, ompt_data_t *data, int device, const void *code,
                               const void *frame)
{
  run_simple(function, argument, data, false, code, device, frame);
}

/* Parameters of GOMP_taskloop() that are handed on, and what follows from them. */
struct taskloop_call {
  taskloop_function *next;
  long align;
  unsigned long number; /* of tasks, or of iterations for a task */
  int priority;
  uint64_t start, end, step;
  uint64_t iterations;
};

static void call_next(const struct taskloop_call *call, void (*function)(void *), void *data,
                      void (*copy)(void *, void *), long size, unsigned flags)
{
  call->next(function, data, copy, size, call->align, flags | FLAG_NOGROUP, call->number, call->priority, call->start,
             call->end, call->step);
}

GOMP_CODE static void call_taskloop(const struct taskloop_call *call, struct block *block, struct rt_gomp_task *creator)
{
  uint64_t tasks = taskloop_tasks(block->runtime, block->flags, call->number, call->iterations);
  task_body *body = unrecorded_body(creator, block->function);
  if (body) {
    call_next(call, body, (void *)block->source, block->copy, block->size, block->flags);
    return;
  }
  long size = block->offset + block->size, align = call->align;
  bool inside = runs_inside(block, creator, tasks), fits = fits_on_stack(block, tasks);
  if (fits && (block->copy || !inside)) {
    block->cancellable = !block->copy;
    call_next(call, run_task, block, copy_block, size, block->flags);
    return;
  }
  char on_stack[size <= BLOCK_ON_STACK ? size + align : 1];
  char *memory = size <= BLOCK_ON_STACK ? on_stack : malloc((size_t)(size + align));
  if (!memory || !inside || block->copy) { /* its tasks are not seen */
    rt_lost(rt_thread(), FORMAT_LOST_GRAPH);
    call_next(call, block->function, (void *)block->source, block->copy, block->size, block->flags);
  } else {
    call_next(call, run_task, block_behind_header(block, memory, align), NULL, size, block->flags);
  }
  if (memory != on_stack)
    free(memory);
}

/* The group of a taskloop is begun and ended here, so that the wait at its end is seen. */
GOMP_CODE static void taskloop(const struct taskloop_call *call, struct block *block, struct rt_gomp_task *creator)
{
  const struct gomp_runtime *runtime = block->runtime;
  bool group = !(block->flags & FLAG_NOGROUP);
  const void *code = block->code;
  if (group) {
    ompt_on_sync_region(ompt_sync_region_taskgroup, ompt_scope_begin, &creator->parallel, creator->data, code);
    ((void (*)(void))runtime->next[GOMP_NUMBER_GOMP_taskgroup_start])();
    if (block->flags & FLAG_REDUCTION)
      runtime->register_reductions(((uintptr_t *const *)block->source)[2]);
  }
  ompt_on_work(ompt_work_taskloop, ompt_scope_begin, &creator->parallel, creator->data, call->iterations, code);
  const struct creation_time outer = ompt_creation_begin(code, 0);
  call_taskloop(call, block, creator);
  ompt_creation_end(&outer);
  ompt_on_work(ompt_work_taskloop, ompt_scope_end, &creator->parallel, creator->data, 0, code);
  if (group) {
    gomp_wait_begin(creator, ompt_sync_region_taskgroup, code);
    ((void (*)(void))runtime->next[GOMP_NUMBER_GOMP_taskgroup_end])();
    gomp_wait_end(creator, ompt_sync_region_taskgroup, code);
    ompt_on_sync_region(ompt_sync_region_taskgroup, ompt_scope_end, &creator->parallel, creator->data, code);
  }
}

#define TASKLOOP(name, T, count)                                                                                       \
  GOMP_CODE void wrap_##name(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,            \
                             long align, unsigned flags, unsigned long number, int priority, T start, T end, T step)   \
  {                                                                                                                    \
    GOMP_ENTER(runtime, creator);                                                                                      \
    if (!creator) {                                                                                                    \
      GOMP_NEXT(runtime, name)(function, data, copy, size, align, flags, number, priority, start, end, step);          \
      return;                                                                                                          \
    }                                                                                                                  \
    struct block block = {.function = function,                                                                        \
                          .copy = copy,                                                                                \
                          .source = data,                                                                              \
                          .code = GOMP_CALLER,                                                                         \
                          .runtime = runtime,                                                                          \
                          .offset = offset_for(align),                                                                 \
                          .size = size,                                                                                \
                          .flags = flags,                                                                              \
                          .bounds = true,                                                                              \
                          .serial = !(flags & FLAG_IF) || creator->final};                                             \
    const struct taskloop_call call = {(taskloop_function *)GOMP_NEXT(runtime, name),                                  \
                                       align_for(align),                                                               \
                                       number,                                                                         \
                                       priority,                                                                       \
                                       (uint64_t)start,                                                                \
                                       (uint64_t)end,                                                                  \
                                       (uint64_t)step,                                                                 \
                                       count};                                                                         \
    taskloop(&call, &block, creator);                                                                                  \
  }

/* GCC sets FLAG_UP where an unsigned loop counts up. */
enum { FLAG_UP = 1 << 8 };

TASKLOOP(GOMP_taskloop, long, gomp_iterations(start, end, step))
TASKLOOP(GOMP_taskloop_ull, unsigned long long, gomp_ull_iterations(flags &FLAG_UP, start, end, step))

/* ---- waits ---- */

GOMP_CODE void wrap_GOMP_taskwait(void)
{
  GOMP_ENTER(runtime, task);
  const void *code = GOMP_CALLER;
  if (task) {
    gomp_past_single(task);
    gomp_wait_begin(task, ompt_sync_region_taskwait, code);
  }
  GOMP_NEXT(runtime, GOMP_taskwait)();
  if (task)
    gomp_wait_end(task, ompt_sync_region_taskwait, code);
}

GOMP_CODE void wrap_GOMP_taskwait_depend(void **depend);

/* OMPT reports it as a task that is created, has the dependences, and is complete when they are met. */
GOMP_CODE void gomp_await(const struct gomp_runtime *runtime, struct rt_gomp_task *task, void **depend,
                          const void *code)
{
  ompt_data_t data = {0};
  ompt_on_task_create(task->data, &task->frame, &data, ompt_task_explicit | ompt_task_taskwait, true, code);
  announce_dependences(&data, depend);
  GOMP_NEXT(runtime, GOMP_taskwait_depend)(depend);
  ompt_on_task_schedule(&data, ompt_taskwait_complete, NULL);
}

GOMP_CODE void wrap_GOMP_taskwait_depend(void **depend)
{
  GOMP_ENTER(runtime, task);
  if (task)
    gomp_await(runtime, task, depend, GOMP_CALLER);
  else
    GOMP_NEXT(runtime, GOMP_taskwait_depend)(depend);
}

static void do_nothing(void *unused)
{
  (void)unused;
}

GOMP_CODE void gomp_follow(const struct gomp_runtime *runtime, struct rt_gomp_task *creator, void **depend,
                           const void *code)
{
  task(runtime, creator, code, do_nothing, depend, NULL, 0, 1, true, FLAG_DEPEND, depend, 0, NULL);
}

/* libgomp would create a task of its own, which cannot be seen. */
GOMP_CODE void wrap_GOMP_taskwait_depend_nowait(void **depend)
{
  GOMP_ENTER(runtime, creator);
  if (creator)
    gomp_follow(runtime, creator, depend, GOMP_CALLER);
  else
    GOMP_NEXT(runtime, GOMP_taskwait_depend_nowait)(depend);
}

/* A taskgroup that began before a single construct ends after it. */
static void group_ends(struct rt_gomp_task *task)
{
  if (task->single == RT_SINGLE_EXECUTES && task->groups)
    task->groups--;
  else
    task->single = RT_SINGLE_NONE;
}

GOMP_CODE void wrap_GOMP_taskgroup_start(void)
{
  GOMP_ENTER(runtime, task);
  if (task) {
    gomp_past_single(task);
    task->groups++;
    ompt_on_sync_region(ompt_sync_region_taskgroup, ompt_scope_begin, &task->parallel, task->data, GOMP_CALLER);
  }
  GOMP_NEXT(runtime, GOMP_taskgroup_start)();
}

GOMP_CODE void wrap_GOMP_taskgroup_end(void)
{
  GOMP_ENTER(runtime, task);
  const void *code = GOMP_CALLER;
  if (task) {
    group_ends(task);
    gomp_wait_begin(task, ompt_sync_region_taskgroup, code);
  }
  GOMP_NEXT(runtime, GOMP_taskgroup_end)();
  if (task) {
    gomp_wait_end(task, ompt_sync_region_taskgroup, code);
    ompt_on_sync_region(ompt_sync_region_taskgroup, ompt_scope_end, &task->parallel, task->data, code);
  }
}
