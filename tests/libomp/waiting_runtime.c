/* A stand-in for an OpenMP runtime with a device that is not the host: announces itself and its target constructs by
 * OMPT, and waits for the device by polling or asleep.  Only what the tool asks for is there. */
#define _GNU_SOURCE
#include "waiting_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

enum { EVENTS = 64, OP = 1 };

static ompt_callback_t callbacks[EVENTS];
static ompt_data_t initial_task, tool_region;

static int set_callback(int event, ompt_callback_t callback)
{
  if (event < 0 || event >= EVENTS)
    return 1;
  callbacks[event] = callback;
  return ompt_set_always;
}

static int get_state(uint64_t *wait_id)
{
  *wait_id = 0;
  return 0; /* serial work */
}

static int get_task_info(int level, int *flags, ompt_data_t **task, ompt_frame_t **frame, ompt_data_t **region,
                         int *thread)
{
  static ompt_frame_t none;
  if (level > 0)
    return 0;
  if (flags)
    *flags = ompt_task_initial;
  if (task)
    *task = &initial_task;
  if (frame)
    *frame = &none;
  if (region)
    *region = &tool_region;
  if (thread)
    *thread = 0;
  return 2;
}

static void (*lookup(const char *name))(void)
{
  if (!strcmp(name, "ompt_set_callback"))
    return (void (*)(void))set_callback;
  if (!strcmp(name, "ompt_get_state"))
    return (void (*)(void))get_state;
  if (!strcmp(name, "ompt_get_task_info"))
    return (void (*)(void))get_task_info;
  return NULL;
}

void runtime_start(const char *type)
{
  ompt_start_tool_result_t *(*start)(unsigned, const char *);
  *(void **)&start = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  ompt_start_tool_result_t *tool = start ? start(202111, "LLVM stand-in") : NULL;
  if (!tool || !tool->initialize((ompt_function_lookup_t)lookup, 0, &tool->tool_data))
    return;
  ((void (*)(int, ompt_data_t *))callbacks[ompt_callback_thread_begin])(ompt_thread_initial, &initial_task);
  ((void (*)(int, ompt_data_t *, ompt_data_t *, unsigned, unsigned, int))callbacks[ompt_callback_implicit_task])(
      ompt_scope_begin, NULL, &initial_task, 1, 1, ompt_task_initial);
  if (callbacks[ompt_callback_device_initialize])
    ((void (*)(int, const char *, void *, ompt_function_lookup_t,
               const char *))callbacks[ompt_callback_device_initialize])(0, type, NULL, NULL, NULL);
}

static sem_t parked;

static void *worker(void *unused)
{
  static ompt_data_t data;
  (void)unused;
  ((void (*)(int, ompt_data_t *))callbacks[ompt_callback_thread_begin])(ompt_thread_worker, &data);
  sem_post(&parked);
  for (;;)
    pause();
}

void runtime_worker(void)
{
  pthread_t thread;
  sem_init(&parked, 0, 0);
  if (!callbacks[ompt_callback_thread_begin] || pthread_create(&thread, NULL, worker, NULL))
    return;
  sem_wait(&parked);
}

static double now(clockid_t clock)
{
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The device needs so long. */
static void wait_for_device(double seconds, int asleep)
{
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  double until = now(CLOCK_MONOTONIC) + seconds;
  if (asleep)
    nanosleep(&time, NULL);
  while (now(CLOCK_MONOTONIC) < until)
    ;
}

static void target(int endpoint, const void *code)
{
  static ompt_data_t target_task, data;
  if (callbacks[ompt_callback_target_emi])
    ((void (*)(int, int, int, ompt_data_t *, ompt_data_t *, ompt_data_t *,
               const void *))callbacks[ompt_callback_target_emi])(ompt_target, endpoint, 0, &initial_task, &target_task,
                                                                  &data, code);
}

static void copy(int endpoint, int type, size_t bytes, const void *code)
{
  static ompt_data_t target_task, data;
  uint64_t op = OP;
  if (callbacks[ompt_callback_target_data_op_emi])
    ((void (*)(int, ompt_data_t *, ompt_data_t *, uint64_t *, int, void *, int, void *, int, size_t,
               const void *))callbacks[ompt_callback_target_data_op_emi])(endpoint, &target_task, &data, &op, type,
                                                                          NULL, 0, NULL, 0, bytes, code);
}

void runtime_target(double copy_s, double kernel_s, int asleep)
{
  const void *code = __builtin_return_address(0);
  target(ompt_scope_begin, code);
  copy(ompt_scope_begin, ompt_target_data_transfer_to_device, RUNTIME_BYTES, code);
  wait_for_device(copy_s, asleep);
  copy(ompt_scope_end, ompt_target_data_transfer_to_device, RUNTIME_BYTES, code);
  wait_for_device(kernel_s, asleep);
  target(ompt_scope_end, code);
}

void runtime_counted_target(unsigned copy_units, unsigned kernel_units)
{
  const void *code = __builtin_return_address(0);
  target(ompt_scope_begin, code);
  copy(ompt_scope_begin, ompt_target_data_transfer_to_device, RUNTIME_BYTES, code);
  hpcrun_lite_add_work(copy_units);
  copy(ompt_scope_end, ompt_target_data_transfer_to_device, RUNTIME_BYTES, code);
  hpcrun_lite_add_work(kernel_units);
  target(ompt_scope_end, code);
}
