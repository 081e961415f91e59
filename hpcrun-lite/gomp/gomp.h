/* The adapter: measures programs compiled by GCC on their own runtime.  libgomp has no tool interface, so its entry
 * points are interposed: each wrapper reports the events of an OMPT runtime to rt/ompt.h, in the same order, and calls
 * libgomp's function.
 *
 * Context: CTL, in the program's threads, outside handlers.  State of a thread is in gomp_self and, where it is large,
 * in gomp_self.memory; the thread alone writes both.  Without memory, and for calls that it does not follow, the
 * adapter calls libgomp's function as if there were no wrapper.
 *
 * How functions of the program are called: libgomp is given the adapter's function, and a block that names the
 * program's function and its argument (regions.c, tasks.c).  All code that stands between the program and libgomp on a
 * stack is in the section gomp_text and counts as the runtime's (GOMP_CODE).
 */
#ifndef HPCRUN_LITE_GOMP_GOMP_H
#define HPCRUN_LITE_GOMP_GOMP_H

#include "hpcrun-lite/gomp/entries.h"
#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/ompt.h"

#define GOMP_CODE __attribute__((section("gomp_text"), noinline))

/* The numbers of the entry points, in the order of gomp_targets (jumps.S). */
#define GOMP_NUMBER(name) GOMP_NUMBER_##name,
#define GOMP_NUMBER_TGT(name, kind, parameters) GOMP_NUMBER_##name,
#define GOMP_NUMBER_V1(name) GOMP_NUMBER_v1_##name,
enum gomp_entry {
  GOMP_WRAPPED(GOMP_NUMBER) KMPC_CREATIONS(GOMP_NUMBER) KMPC_GROUP(GOMP_NUMBER) KMPC_SECTIONS(GOMP_NUMBER)
      KMPC_CHUNKS(GOMP_NUMBER) KMPC_TESTS(GOMP_NUMBER) KMPC_DOACROSS(GOMP_NUMBER) KMPC_REDUCTIONS(GOMP_NUMBER)
          TGT_CALLS(GOMP_NUMBER_TGT) GOMP_LOCKS(GOMP_NUMBER) GOMP_LOCKS(GOMP_NUMBER_V1) GOMP_ENTRIES
};

/* A libgomp, or another library that exports its interface. */
struct gomp_runtime {
  void *next[GOMP_ENTRIES]; /* its functions; those that it lacks end the program when they are called */
  int (*thread_number)(void), (*team_size)(void), (*team_count)(void), (*device_count)(void), (*default_device)(void);
  void (*register_reductions)(uintptr_t *);
  bool (*cancellation_point)(int);
  bool libomp;
  bool no_chunks;         /* a libomp that does not announce the chunks of loops: chunks.c does */
  bool silent;            /* its calls cause no events here: it has OMPT, or the adapter is off */
  bool tests_sections;    /* omp_test_lock() can be called for named critical sections */
  void *unnamed, *atomic; /* likewise, for these words of its own; NULL: not known */
};

/* The runtime to which a call from that address leads.  Never NULL: without any runtime, locks, single, barriers and a
 * parallel region of one thread work; all other functions end the program (no_runtime()). */
const struct gomp_runtime *gomp_find_runtime(const void *caller);

/* The same for a call of libomp's interface. */
const struct gomp_runtime *gomp_find_libomp(const void *caller);

/* Does the runtime lack the function? */
bool gomp_lacks(const struct gomp_runtime *runtime, unsigned entry);

/* Of tasks.c, for target constructs.
 *
 * gomp_create_target(): creates a target task, with those dependences if any (NULL: none).
 * gomp_run_target(): libgomp has called the adapter for it, whose frame that is: it runs.  device: see
 * ompt_on_target().
 * gomp_await(): the task waits for dependences, as in a taskwait that names them.
 * gomp_follow(): creates a task that has these dependences and does nothing, in place of one that libgomp would create.
 */
void gomp_create_target(struct rt_gomp_task *creator, ompt_data_t *data, void **depend, bool serial, const void *code,
                        const void *frame);
void gomp_run_target(void (*function)(void *), void *argument, ompt_data_t *data, int device, const void *code,
                     const void *frame);
void gomp_await(const struct gomp_runtime *runtime, struct rt_gomp_task *task, void **depend, const void *code);
void gomp_follow(const struct gomp_runtime *runtime, struct rt_gomp_task *creator, void **depend, const void *code);

/* The wrapper of GOMP_task() for what is recorded of tasks in this process. */
void *gomp_task_wrapper(void);

/* Has the taskloop whose first task this is report the iterations of each task (chunks.c).  lower, upper: their bounds,
 * in the task. */
void gomp_taskloop_chunks(void *task, const uint64_t *lower, const uint64_t *upper, int64_t step);

/* Whether a call of that entry leads to the runtime's own function: it has one, and no library of the user follows the
 * calls (libgomp.c). */
bool gomp_is_own(const struct gomp_runtime *runtime, void *handle, unsigned entry);

/* Finds out which critical sections of the runtime can be tested (exclusion.c). */
void gomp_test_sections(struct gomp_runtime *runtime, void *handle);

/* The ticks that the allocation of a task of libomp took, if it is the one that the thread allocated last; NULL: that
 * one. */
uint64_t gomp_allocation(const void *task);

/* Binds an entry point of LLVM's library for devices at its first call (device_calls.c).  Returns where the call leads:
 * to the library's function or to the wrapper; NULL: there is no such function.  *lasting: all other calls lead there,
 * too. */
void *gomp_bind_device_call(unsigned entry, void (*wrapper)(void), const void *caller, bool *lasting);

/* Has an entry point's calls lead to that function from now on. */
void gomp_rebind(unsigned entry, void *function);

/* The runtime in the program's global scope, to which all calls lead; NULL if there is none, or if it is silent. */
extern const struct gomp_runtime *gomp_global;

/* The libomp that was loaded when the program started, to which all calls of its interface lead; NULL if there was
 * none. */
extern const struct gomp_runtime *gomp_global_libomp;

static inline const struct gomp_runtime *gomp_libomp(const void *caller)
{
  return __builtin_expect(gomp_global_libomp != NULL, 1) ? gomp_global_libomp : gomp_find_libomp(caller);
}

static inline const struct gomp_runtime *gomp_runtime(const void *caller)
{
  return __builtin_expect(gomp_global != NULL, 1) ? gomp_global : gomp_find_runtime(caller);
}

/* libgomp's function of a wrapper named wrap_NAME, as that wrapper's type. */
#define GOMP_NEXT(runtime, name) ((__typeof__(&wrap_##name))(runtime)->next[GOMP_NUMBER_##name])

/* The runtime to which calls from a module lead; generation: rt.module_generation. */
enum { GOMP_CALLERS = 8 };
struct gomp_caller {
  const void *start;
  const struct gomp_runtime *runtime;
  unsigned generation;
};

/* Libomp's numbers of schedules, in which rt_noted.schedule is written. */
enum gomp_schedule {
  GOMP_STATIC_CHUNKS = 33,
  GOMP_STATIC = 34,
  GOMP_DYNAMIC = 35,
  GOMP_GUIDED = 36,
  GOMP_RUNTIME = 37,
  GOMP_AUTO = 38
};

/* The schedule of which the name of libgomp's function, a constant, speaks; size: of its chunks, 0: none is demanded.
 */
static inline __attribute__((always_inline)) enum gomp_schedule gomp_schedule_of(const char *name, uint64_t size)
{
  if (__builtin_strstr(name, "dynamic"))
    return GOMP_DYNAMIC;
  if (__builtin_strstr(name, "guided"))
    return GOMP_GUIDED;
  if (__builtin_strstr(name, "runtime"))
    return GOMP_RUNTIME;
  return size ? GOMP_STATIC_CHUNKS : GOMP_STATIC;
}

/* The thread's next loop has that schedule, and chunks of that size. */
static inline void gomp_note_schedule(enum gomp_schedule schedule, uint64_t size)
{
  rt_noted.schedule = schedule;
  rt_noted.chunk_size = size;
}

/* A parallel region (regions.c). */
struct gomp_region {
  void *reductions; /* first word of the program's block, which libgomp reads here (GOMP_parallel_reductions) */
  void (*function)(void *);
  void *data;
  const struct gomp_runtime *runtime;
  const struct gomp_thread *master;
  const void *code; /* address in the program at which the region was entered */
  int work;         /* the worksharing construct with which all threads begin; 0: none */
  uint64_t count;   /* its iterations */
  long increment;
  enum gomp_schedule schedule; /* and the size of its chunks */
  uint64_t chunk_size;
  bool league; /* of teams: all run one after another in the master */
  ompt_data_t parallel;
  ompt_data_t data_word; /* of the master's implicit task */
  struct rt_gomp_task task, *creator;
};

/* The larger part of what the adapter knows of a thread.  Its own mapping, which the thread keeps until it ends, and
 * which a forked child inherits. */
enum { GOMP_STARTED_MAX = 8 };
struct gomp_memory {
  struct rt_gomp_task initial; /* the task outside any region */
  ompt_data_t initial_data;
  struct rt_gomp_task worker; /* the implicit task of a thread that libgomp has created, in its outermost region */
  ompt_data_t worker_data;
  struct gomp_caller callers[GOMP_CALLERS];
  struct gomp_region started[GOMP_STARTED_MAX]; /* open regions of GOMP_parallel_start(): code of GCC before 4.9 */
  unsigned started_count;                       /* also counts those beyond GOMP_STARTED_MAX, which are not followed */
};

/* What the adapter knows of a thread.  Static thread-local storage is scarce: where auditors run (LD_AUDIT), the
 * libraries of a program share less than 2 KB of it. */
struct gomp_thread {
  struct gomp_memory *memory; /* NULL: not needed yet, or given back */
  uint32_t epoch;             /* rt.epoch in which the thread was announced; 0: not yet */
  bool waits;   /* a worker that has left its function: until its next region it waits at the end of this one */
  bool refused; /* there was no memory: the thread is not followed */
  const struct gomp_runtime *team; /* of a worker: the runtime that has created it */
  const void *allocated;           /* the task of libomp that the thread has allocated, and the ticks that it took */
  uint64_t allocation_ticks;
};
extern __thread struct gomp_thread gomp_self __attribute__((tls_model("initial-exec")));

/* Announces the calling thread.  worker: libgomp has created it.  Returns its state, or NULL if it is not measured. */
struct thread_state *gomp_announce(struct thread_state *t, bool worker);

/* The calling thread's memory, which its end gives back (regions.c).  NULL without memory, after that end, and where
 * the thread is not measured. */
struct gomp_memory *gomp_memory(void);

/* Is the calling thread, whose state that is, known to be an OpenMP thread? */
static inline bool gomp_announced(const struct thread_state *t)
{
  return __builtin_expect(t && gomp_self.epoch == rt.epoch, 1);
}

/* The calling thread's state, once it is known to be an OpenMP thread; NULL if it is not measured. */
static inline struct thread_state *gomp_thread(void)
{
  struct thread_state *t = rt_thread();
  return gomp_announced(t) ? t : gomp_announce(t, false);
}

/* The thread runs that task from now on; handlers read the list. */
static inline void gomp_run(struct rt_gomp_task *task)
{
  __atomic_store_n(&rt_gomp_task, task, __ATOMIC_RELEASE);
}

/* The task that calls; NULL if the thread is not measured. */
static inline struct rt_gomp_task *gomp_task(void)
{
  return gomp_thread() ? rt_gomp_task : NULL;
}

/* In a wrapper: the address in the program after the call. */
#define GOMP_CALLER __builtin_return_address(0)

/* Declares the runtime of this call, and the calling task; the task is NULL if no events are reported. */
#define GOMP_ENTER(runtime, task)                                                                                      \
  const struct gomp_runtime *runtime = gomp_runtime(GOMP_CALLER);                                                      \
  struct rt_gomp_task *task = runtime != gomp_global && runtime->silent ? NULL : gomp_task()

/* The same in functions for constructs that the threads of a team share.  The task is also NULL directly in a target
 * region: no other thread is in it, but the task's team around it is none of its. */
#define GOMP_ENTER_SHARED(runtime, task)                                                                               \
  GOMP_ENTER(runtime, calling);                                                                                        \
  struct rt_gomp_task *task = calling && !calling->in_target ? calling : NULL

/* A wait of the current task: kinds of OMPT.  Ends with gomp_wait_end(). */
static inline void gomp_wait_begin(struct rt_gomp_task *task, int kind, const void *code)
{
  ompt_on_sync_region_wait(kind, ompt_scope_begin, &task->parallel, task->data, code);
}

static inline void gomp_wait_end(struct rt_gomp_task *task, int kind, const void *code)
{
  ompt_on_sync_region_wait(kind, ompt_scope_end, &task->parallel, task->data, code);
}

/* The task calls the runtime, but not for a barrier: a single construct that another thread executes has ended without
 * one.  GCC's code does not announce that. */
static inline void gomp_past_single(struct rt_gomp_task *task)
{
  if (__builtin_expect(task->single == RT_SINGLE_OTHER, 0))
    task->single = RT_SINGLE_NONE;
}

/* The current task creates one, which gets that data word; flags: OMPT's.  serial: the program makes the creator wait
 * for it. */
static inline void gomp_create(struct rt_gomp_task *creator, ompt_data_t *data, int flags, bool serial, bool dependent,
                               const void *code, const void *frame)
{
  gomp_past_single(creator);
  creator->frame.enter_frame.value = (uint64_t)frame;
  creator->frame.enter_frame_flags = 0;
  if (serial)
    creator->frame.enter_frame_flags = ompt_frame_serial;
  ompt_on_task_create(creator->data, &creator->frame, data, flags, dependent, code);
  creator->frame.enter_frame.value = 0;
}

/* A worksharing construct begins in the current task. */
static inline void gomp_work_begin(struct rt_gomp_task *task, int kind, uint64_t count, const void *code)
{
  task->single = RT_SINGLE_NONE;
  ompt_on_work(kind, ompt_scope_begin, &task->parallel, task->data, count, code);
  task->work = kind;
}

/* The open one ends. */
static inline void gomp_work_end(struct rt_gomp_task *task)
{
  ompt_on_work(task->work, ompt_scope_end, &task->parallel, task->data, 0, NULL);
  task->work = 0;
}

/* The number of iterations of a loop. */
static inline uint64_t gomp_iterations(long start, long end, long increment)
{
  if (increment > 0 && end > start)
    return ((uint64_t)end - (uint64_t)start - 1) / (uint64_t)increment + 1;
  if (increment <= 0 && end < start)
    return ((uint64_t)start - (uint64_t)end - 1) / -(uint64_t)increment + 1;
  return 0;
}

static inline uint64_t gomp_ull_iterations(bool up, unsigned long long start, unsigned long long end,
                                           unsigned long long increment)
{
  if (!increment)
    return 0;
  if (up && end > start)
    return (end - start - 1) / increment + 1;
  if (!up && end < start)
    return (start - end - 1) / -increment + 1;
  return 0;
}

#endif
