/* Target constructs on a device that is not the host, in the tasks of LLVM's runtime: between that and the tool, the
 * program takes the tool's callbacks for targets, and calls them itself.  What the device does is counted.
 * Usage: device_strands FORM. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "hpcrun-lite.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

#define NOINLINE __attribute__((noinline))
#define WAITS ((void (*)(int, int, int, ompt_data_t *, ompt_data_t *, ompt_data_t *, const void *))target_callback)
#define COPIES                                                                                                         \
  ((void (*)(int, ompt_data_t *, ompt_data_t *, uint64_t *, int, void *, int, void *, int, size_t,                     \
             const void *))data_callback)

static int (*next_initialize)(ompt_function_lookup_t, int, ompt_data_t *);
static ompt_function_lookup_t next_lookup;
static int (*next_set)(int, ompt_callback_t);
static int (*task_info)(int, int *, ompt_data_t **, ompt_frame_t **, ompt_data_t **, int *);
static ompt_callback_t target_callback, data_callback, device_callback;

static int set_callback(int event, ompt_callback_t callback)
{
  if (event == ompt_callback_target_emi)
    target_callback = callback;
  else if (event == ompt_callback_target_data_op_emi)
    data_callback = callback;
  else if (event == ompt_callback_device_initialize)
    device_callback = callback;
  else
    return next_set(event, callback);
  return ompt_set_always;
}

static void (*lookup(const char *name))(void)
{
  return !strcmp(name, "ompt_set_callback") ? (void (*)(void))set_callback : next_lookup(name);
}

static int initialize(ompt_function_lookup_t runtime, int device, ompt_data_t *data)
{
  next_lookup = runtime;
  *(void (**)(void)) & next_set = runtime("ompt_set_callback");
  *(void (**)(void)) & task_info = runtime("ompt_get_task_info");
  return next_initialize((ompt_function_lookup_t)lookup, device, data);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  ompt_start_tool_result_t *(*next)(unsigned, const char *);
  *(void **)&next = dlsym(RTLD_NEXT, "ompt_start_tool");
  ompt_start_tool_result_t *tool = next ? next(version, runtime) : NULL;
  if (!tool)
    return NULL;
  *(void **)&next_initialize = *(void **)&tool->initialize;
  *(void **)&tool->initialize = (void *)initialize;
  return tool;
}

/* A target construct, for which the device needs so long. */
NOINLINE static void device(uint64_t units)
{
  static __thread ompt_data_t target_task, data;
  ompt_data_t *task = NULL;
  const void *code = __builtin_return_address(0);
  if (!target_callback)
    return;
  task_info(0, NULL, &task, NULL, NULL, NULL);
  WAITS(ompt_target, ompt_scope_begin, 0, task, &target_task, &data, code);
  hpcrun_lite_add_work(units - 1); /* the units of a wait may come in parts */
  hpcrun_lite_add_work(1);
  WAITS(ompt_target, ompt_scope_end, 0, task, &target_task, &data, code);
}

static void copy(int kind, uint64_t units, const void *code)
{
  static __thread ompt_data_t target_task, data;
  static __thread uint64_t operation;
  bool to = kind == ompt_target_data_transfer_to_device;
  COPIES(ompt_scope_begin, &target_task, &data, &operation, kind, NULL, to ? 1 : 0, NULL, to ? 0 : 1, 100, code);
  hpcrun_lite_add_work(units);
  COPIES(ompt_scope_end, &target_task, &data, &operation, kind, NULL, to ? 1 : 0, NULL, to ? 0 : 1, 100, code);
}

/* A target construct with a copy to the device, a region and a copy from it, which need so long. */
NOINLINE static void device_with_copies(uint64_t to, uint64_t units, uint64_t from)
{
  static __thread ompt_data_t target_task, data;
  ompt_data_t *task = NULL;
  const void *code = __builtin_return_address(0);
  if (!target_callback || !data_callback)
    return;
  task_info(0, NULL, &task, NULL, NULL, NULL);
  WAITS(ompt_target, ompt_scope_begin, 0, task, &target_task, &data, code);
  copy(ompt_target_data_transfer_to_device, to, code);
  hpcrun_lite_add_work(units);
  copy(ompt_target_data_transfer_from_device, from, code);
  WAITS(ompt_target, ompt_scope_end, 0, task, &target_task, &data, code);
}

NOINLINE static void on_host(uint64_t units)
{
  hpcrun_lite_add_work(units);
}

static void serial(void)
{
  on_host(10);
  device(20); // @ serial
  on_host(5);
}

static void beside(uint64_t on_device, uint64_t host)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task firstprivate(on_device) // @ nowait
    device(on_device);
    on_host(host);
#pragma omp taskwait
    on_host(3);
  }
}

static void two(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    device(20);
#pragma omp task
    device(30);
  }
}

static void chain(void)
{
  int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 10; i++) {
    on_host(2);
#pragma omp task depend(inout : x)
    device(10);
  }
  (void)x;
}

static void loop(void)
{
  on_host(10);
#pragma omp parallel for num_threads(2) schedule(dynamic, 1) // @ loop
  for (int i = 0; i < 16; i++) {
    on_host(1);
    device((uint64_t)i + 1);
  }
  on_host(10);
}

static void locked(void)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (int i = 0; i < 10; i++) {
    on_host(3);
#pragma omp critical
    device(7);
  }
}

/* Targets in tasks of a recursive function, and in regions in a task. */
static void tree(int depth)
{
  device(4);
  for (int i = 0; i < 2 && depth; i++) {
#pragma omp task // @ tree
    tree(depth - 1);
  }
#pragma omp taskwait
  on_host(1);
}

static void nested(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    tree(3);
#pragma omp task
#pragma omp parallel num_threads(2)
    {
      on_host(1);
      device(6);
    }
  }
}

static void copies(void)
{
  on_host(10);
  device_with_copies(8, 20, 4);                                       // @ copies
  device_with_copies(2, 5, 1);                                        // @ others
  copy(ompt_target_data_transfer_to_device, 6, (const void *)copies); /* in no target construct */
  on_host(5);
}

/* Beside work of the host: without the copies, that is longer. */
static void copies_beside(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    device_with_copies(8, 20, 4); // @ beside
    on_host(25);
#pragma omp taskwait
    on_host(3);
  }
}

/* Without a device: a thread of the runtime runs the region.  The tasks that wait for it follow one another. */
static void after_helper(void)
{
  int x = 0;
#pragma omp target nowait map(tofrom : x) depend(out : x)
  {
    on_host(10);
    x = 1;
  }
#pragma omp task depend(inout : x) shared(x)
  on_host(20);
#pragma omp task depend(inout : x) shared(x)
  on_host(5);
#pragma omp taskwait
  on_host(3);
}

int main(int count, char **arguments)
{
  const char *form = count > 1 ? arguments[1] : "";
  omp_set_max_active_levels(2);
  omp_get_max_threads();
  if (device_callback)
    ((void (*)(int, const char *, void *, ompt_function_lookup_t, const char *))device_callback)(0, "gfx90a", NULL,
                                                                                                 NULL, NULL);
  if (!strcmp(form, "serial"))
    serial();
  else if (!strcmp(form, "device_longer"))
    beside(30, 10);
  else if (!strcmp(form, "host_longer"))
    beside(10, 30);
  else if (!strcmp(form, "two"))
    two();
  else if (!strcmp(form, "chain"))
    chain();
  else if (!strcmp(form, "loop"))
    loop();
  else if (!strcmp(form, "locked"))
    locked();
  else if (!strcmp(form, "nested"))
    nested();
  else if (!strcmp(form, "after_helper"))
    after_helper();
  else if (!strcmp(form, "copies"))
    copies();
  else if (!strcmp(form, "copies_beside"))
    copies_beside();
  else
    return 1;
  return 0;
}
