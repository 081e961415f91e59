/* An OMPT tool that counts executions of constructs, independently of the library, into the file CONSTRUCT_COUNTS:
 * lines of `kind number`. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "hpcrun-lite/rt/core/omp-tools.h"

enum kind {
  PARALLEL,
  FOR,
  SECTIONS,
  SINGLE,
  TASKLOOP,
  DISTRIBUTE,
  MASKED,
  BARRIER,
  TASKWAIT,
  TASKGROUP,
  CRITICAL,
  LOCK,
  ORDERED,
  ATOMIC,
  TASK,
  TASK_EXEC,
  KINDS
};
static const char *const names[KINDS] = {"parallel", "for",     "sections", "single",    "taskloop", "distribute",
                                         "masked",   "barrier", "taskwait", "taskgroup", "critical", "lock",
                                         "ordered",  "atomic",  "task",     "task-exec"};
static atomic_long counts[KINDS];

static void on_implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned size, unsigned index,
                             int flags)
{
  (void)parallel, (void)task, (void)size, (void)index;
  counts[PARALLEL] += endpoint == ompt_scope_begin && !(flags & ompt_task_initial);
}

static void on_work(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, uint64_t count, const void *code)
{
  (void)parallel, (void)task, (void)count, (void)code;
  if (endpoint != ompt_scope_begin)
    return;
  bool single = kind == ompt_work_single_executor || kind == ompt_work_single_other;
  counts[FOR] += kind == ompt_work_loop || kind >= ompt_work_loop_static;
  counts[SECTIONS] += kind == ompt_work_sections;
  counts[SINGLE] += single;
  counts[TASKLOOP] += kind == ompt_work_taskloop;
  counts[DISTRIBUTE] += kind == ompt_work_distribute;
}

static void on_masked(int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
  (void)parallel, (void)task, (void)code;
  counts[MASKED] += endpoint == ompt_scope_begin;
}

static void on_sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
  (void)parallel, (void)task, (void)code;
  if (endpoint != ompt_scope_begin)
    return;
  counts[BARRIER] += kind == ompt_sync_region_barrier_explicit;
  counts[TASKWAIT] += kind == ompt_sync_region_taskwait;
  counts[TASKGROUP] += kind == ompt_sync_region_taskgroup;
}

static void on_mutex_acquired(int kind, uint64_t id, const void *code)
{
  (void)id, (void)code;
  counts[CRITICAL] += kind == ompt_mutex_critical;
  counts[LOCK] += kind <= ompt_mutex_test_nest_lock;
  counts[ORDERED] += kind == ompt_mutex_ordered;
  counts[ATOMIC] += kind == ompt_mutex_atomic;
}

/* The data word says whether a task has begun; a taskwait with dependences counts as a taskwait. */
enum { NEW = 1, BEGUN };

static void on_task_create(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task, int flags,
                           int dependences, const void *code)
{
  (void)creator, (void)frame, (void)dependences, (void)code;
  if (flags & ompt_task_taskwait) {
    counts[TASKWAIT]++;
  } else if (flags & ompt_task_explicit) {
    task->value = NEW;
    counts[TASK]++;
  }
}

static void on_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
  (void)prior, (void)status;
  if (!next || next->value != NEW)
    return;
  next->value = BEGUN;
  counts[TASK_EXEC]++;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  (void)device, (void)data;
  ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  set_callback(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
  set_callback(ompt_callback_work, (ompt_callback_t)on_work);
  set_callback(ompt_callback_masked, (ompt_callback_t)on_masked);
  set_callback(ompt_callback_sync_region, (ompt_callback_t)on_sync_region);
  set_callback(ompt_callback_mutex_acquired, (ompt_callback_t)on_mutex_acquired);
  set_callback(ompt_callback_task_create, (ompt_callback_t)on_task_create);
  set_callback(ompt_callback_task_schedule, (ompt_callback_t)on_task_schedule);
  return 1;
}

static void finalize(ompt_data_t *data)
{
  (void)data;
}

static __attribute__((destructor)) void write_counts(void)
{
  const char *path = getenv("CONSTRUCT_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  for (int i = 0; file && i < KINDS; i++)
    fprintf(file, "%s %ld\n", names[i], (long)counts[i]);
  if (file)
    fclose(file);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version, (void)runtime;
  return &result;
}
