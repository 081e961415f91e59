/* Plays an OpenMP runtime with a device that records what it does: calls the tool as OpenMP 5.2 specifies it, by the
 * declarations that LLVM's runtime comes with.  The device has a clock of its own, with an offset and another rate, and
 * all its operations have lengths that are exact by that clock.
 * Usage: recording_device MODE; prints what a report should have as lines of `name value`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp-tools.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { DEVICE = 1, RECORDS = 4096, BYTES = 4000, LONG_AGO = 1000000 };

static struct {
  ompt_callback_target_emi_t target;
  ompt_callback_target_data_op_emi_t data_op;
  ompt_callback_target_submit_emi_t submit;
  ompt_callback_device_initialize_t device_initialize;
  ompt_callback_device_finalize_t device_finalize;
  ompt_callback_thread_begin_t thread_begin;
  ompt_callback_implicit_task_t implicit_task;
} tool;
static ompt_callback_buffer_request_t request;
static ompt_callback_buffer_complete_t complete;
static ompt_record_ompt_t pending[RECORDS];
static unsigned pending_count, started, flushed, stopped, chosen;
static bool hangs;
static __thread ompt_data_t task_data;
static pid_t own_pid;

/* ---- the device's clock: 5 units for 2 ns, and an offset ---- */

static uint64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t units(uint64_t ns)
{
  return ns / 2 * 5;
}

static ompt_device_time_t device_time(ompt_device_t *device)
{
  (void)device;
  return 123456789012345u + units(now_ns());
}

static void pass(uint64_t ns)
{
  for (uint64_t end = now_ns() + ns; now_ns() < end;)
    ;
}

/* ---- the trace ---- */

static ompt_set_result_t set_trace(ompt_device_t *device, unsigned enable, unsigned type)
{
  (void)device;
  chosen += enable && (type == ompt_callback_target_data_op || type == ompt_callback_target_submit);
  return ompt_set_always;
}

static int start_trace(ompt_device_t *device, ompt_callback_buffer_request_t on_request,
                       ompt_callback_buffer_complete_t on_complete)
{
  (void)device;
  request = on_request;
  complete = on_complete;
  started++;
  return 1;
}

static ompt_record_ompt_t *record_at(ompt_buffer_t *buffer, ompt_buffer_cursor_t cursor)
{
  return (ompt_record_ompt_t *)((char *)buffer + cursor - 1);
}

static ompt_record_t record_type(ompt_buffer_t *buffer, ompt_buffer_cursor_t cursor)
{
  return record_at(buffer, cursor)->type == 0 ? ompt_record_invalid : ompt_record_ompt;
}

static int advance(ompt_device_t *device, ompt_buffer_t *buffer, size_t size, ompt_buffer_cursor_t cursor,
                   ompt_buffer_cursor_t *next)
{
  (void)device, (void)buffer;
  *next = cursor + sizeof(ompt_record_ompt_t);
  return *next - 1 < size;
}

/* Hands over what is pending, the last record first. */
static void deliver(void)
{
  while (pending_count) {
    ompt_buffer_t *buffer = NULL;
    size_t room = 0, used = 0;
    request(DEVICE, &buffer, &room);
    if (!room) {
      pending_count = 0;
      return;
    }
    for (; pending_count && used + sizeof *pending <= room; used += sizeof *pending)
      memcpy((char *)buffer + used, &pending[--pending_count], sizeof *pending);
    complete(DEVICE, buffer, used, 1, 1);
  }
}

static int flush_trace(ompt_device_t *device)
{
  (void)device;
  flushed++;
  if (getpid() != own_pid)
    puts("wrong: the child calls the parent's device");
  while (hangs)
    pause();
  deliver();
  return 1;
}

static int stop_trace(ompt_device_t *device)
{
  (void)device;
  stopped++;
  return 1;
}

static ompt_interface_fn_t device_function(const char *name)
{
  static const struct {
    const char *name;
    ompt_interface_fn_t function;
  } functions[] = {{"ompt_get_device_time", (ompt_interface_fn_t)device_time},
                   {"ompt_set_trace_ompt", (ompt_interface_fn_t)set_trace},
                   {"ompt_start_trace", (ompt_interface_fn_t)start_trace},
                   {"ompt_flush_trace", (ompt_interface_fn_t)flush_trace},
                   {"ompt_stop_trace", (ompt_interface_fn_t)stop_trace},
                   {"ompt_advance_buffer_cursor", (ompt_interface_fn_t)advance},
                   {"ompt_get_record_type", (ompt_interface_fn_t)record_type},
                   {"ompt_get_record_ompt", (ompt_interface_fn_t)record_at}};
  for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, name))
      return functions[i].function;
  return NULL;
}

/* ---- the runtime ---- */

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
  switch (event) {
  case ompt_callback_target_emi:
    tool.target = (ompt_callback_target_emi_t)callback;
    break;
  case ompt_callback_target_data_op_emi:
    tool.data_op = (ompt_callback_target_data_op_emi_t)callback;
    break;
  case ompt_callback_target_submit_emi:
    tool.submit = (ompt_callback_target_submit_emi_t)callback;
    break;
  case ompt_callback_device_initialize:
    tool.device_initialize = (ompt_callback_device_initialize_t)callback;
    break;
  case ompt_callback_device_finalize:
    tool.device_finalize = (ompt_callback_device_finalize_t)callback;
    break;
  case ompt_callback_thread_begin:
    tool.thread_begin = (ompt_callback_thread_begin_t)callback;
    break;
  case ompt_callback_implicit_task:
    tool.implicit_task = (ompt_callback_implicit_task_t)callback;
    break;
  default:
    break;
  }
  return ompt_set_always;
}

static int get_task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame, ompt_data_t **parallel,
                         int *thread)
{
  static ompt_frame_t no_frame;
  static ompt_data_t no_parallel;
  if (level > 0)
    return 0;
  if (flags)
    *flags = ompt_task_initial;
  if (data)
    *data = &task_data;
  if (frame)
    *frame = &no_frame;
  if (parallel)
    *parallel = &no_parallel;
  if (thread)
    *thread = 0;
  return 2;
}

static int get_state(ompt_wait_id_t *wait_id)
{
  (void)wait_id;
  return ompt_state_work_serial;
}

static ompt_interface_fn_t runtime_function(const char *name)
{
  if (!strcmp(name, "ompt_set_callback"))
    return (ompt_interface_fn_t)set_callback;
  if (!strcmp(name, "ompt_get_task_info"))
    return (ompt_interface_fn_t)get_task_info;
  return strcmp(name, "ompt_get_state") ? NULL : (ompt_interface_fn_t)get_state;
}

static void announce_thread(void)
{
  static __thread ompt_data_t data;
  tool.thread_begin(ompt_thread_initial, &data);
  tool.implicit_task(ompt_scope_begin, NULL, &task_data, 1, 1, ompt_task_initial);
}

static void start_runtime(ompt_function_lookup_t device_lookup)
{
  ompt_start_tool_result_t *(*start)(unsigned, const char *);
  own_pid = getpid();
  *(void **)&start = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  ompt_start_tool_result_t *result = start ? start(202011, "stand-in of the tests") : NULL;
  if (!result || !result->initialize(runtime_function, 0, &result->tool_data))
    exit(0); /* not measured */
  announce_thread();
  tool.device_initialize(DEVICE, "stand-in", (ompt_device_t *)&tool, device_lookup, NULL);
}

/* ---- target constructs ---- */

static void record(ompt_record_ompt_t made, uint64_t begin, uint64_t end)
{
  made.time = begin;
  if (made.type == ompt_callback_target_data_op)
    made.record.target_data_op.end_time = end;
  else
    made.record.target_kernel.end_time = end;
  pending[pending_count++] = made;
}

static NOINLINE ompt_record_ompt_t copy(ompt_target_data_op_t kind)
{
  ompt_data_t target = {0};
  ompt_id_t id = 0;
  for (int endpoint = ompt_scope_begin; endpoint <= ompt_scope_end; endpoint++)
    tool.data_op(endpoint, NULL, &target, &id, kind, &target, kind == ompt_target_data_transfer_to_device ? 0 : DEVICE,
                 &id, kind == ompt_target_data_transfer_to_device ? DEVICE : 0, BYTES, __builtin_return_address(0));
  return (ompt_record_ompt_t){.type = ompt_callback_target_data_op,
                              .record.target_data_op = {.host_op_id = id, .optype = kind, .bytes = BYTES}};
}

static NOINLINE ompt_record_ompt_t kernel(void)
{
  ompt_data_t target = {0};
  ompt_id_t id = 0;
  for (int endpoint = ompt_scope_begin; endpoint <= ompt_scope_end; endpoint++)
    tool.submit(endpoint, &target, &id, 4);
  return (ompt_record_ompt_t){.type = ompt_callback_target_submit, .record.target_kernel = {.host_op_id = id}};
}

static NOINLINE void target(ompt_scope_endpoint_t endpoint)
{
  static __thread ompt_data_t data;
  tool.target(ompt_target, endpoint, DEVICE, &task_data, NULL, &data, __builtin_return_address(0));
}

enum { MS = 1000000 };

/* A copy of 2 ms, 3 ms after its begin a kernel of 4 ms, during whose last ms a copy back of 2 ms begins: 7 ms in which
 * the device is busy. */
static NOINLINE void one_target(void)
{
  target(ompt_scope_begin);
  ompt_record_ompt_t to = copy(ompt_target_data_transfer_to_device), run = kernel(),
                     from = copy(ompt_target_data_transfer_from_device);
  uint64_t begin = device_time(NULL);
  record(to, begin, begin + units(2 * MS));
  record(run, begin + units(3 * MS), begin + units(7 * MS));
  record(from, begin + units(6 * MS), begin + units(8 * MS));
  target(ompt_scope_end); /* long before it is over */
}

static void expect(int targets)
{
  printf("targets %d\nto_s %g\nrun_s %g\nfrom_s %g\nbusy_s %g\n", targets, targets * 2e-3, targets * 4e-3,
         targets * 2e-3, targets * 7e-3);
}

enum { TARGETS = 20 };

/* Buffers come back in any order, after the constructs have ended. */
static void plain(void)
{
  for (int i = 0; i < TARGETS; i++) {
    one_target();
    pass(9 * MS);
    if (i % 3 == 0)
      deliver();
  }
  deliver();
  expect(TARGETS);
}

/* All records come with the flush at the end of the program. */
static void at_exit(void)
{
  for (int i = 0; i < TARGETS; i++) {
    one_target();
    pass(9 * MS);
  }
  expect(TARGETS);
}

static void *in_thread(void *unused)
{
  announce_thread();
  one_target();
  return unused;
}

/* The thread ends before its records come. */
static void ended(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  pass(9 * MS);
  deliver();
  expect(1);
}

/* Every second kernel has no record; and there are records of no operation, of no type, and from before the trace. */
static void lost(void)
{
  for (int i = 0; i < TARGETS; i++) {
    target(ompt_scope_begin);
    ompt_record_ompt_t run = kernel();
    uint64_t begin = device_time(NULL);
    if (i % 2)
      record(run, begin, begin + units(4 * MS));
    target(ompt_scope_end);
    pass(5 * MS);
  }
  ompt_record_ompt_t unknown = {.type = ompt_callback_target_submit, .record.target_kernel = {.host_op_id = LONG_AGO}};
  uint64_t now = device_time(NULL);
  record(unknown, now - 2, now - 1);
  record((ompt_record_ompt_t){0}, now - 2, now - 1);
  record(kernel(), 1, 2);
  deliver();
  printf("run_s %g\nreported %d\nlost 3\n", TARGETS / 2 * 4e-3, TARGETS / 2);
}

/* The runtime asks for more buffers than the tool gives, and gives none back. */
static void greedy(void)
{
  unsigned refused = 1; /* at the end of the program */
  one_target();
  for (int i = 0; i < 40; i++) {
    ompt_buffer_t *buffer;
    size_t room;
    request(DEVICE, &buffer, &room);
    refused += !room;
  }
  printf("lost %u\n", refused);
}

static void finalized(void)
{
  one_target();
  pass(9 * MS);
  tool.device_finalize(DEVICE);
  printf("flushed %u\nstopped %u\n", flushed, stopped);
  one_target();
  expect(1);
}

static void forks(void)
{
  int status;
  one_target();
  pass(9 * MS);
  deliver();
  expect(1);
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    copy(ompt_target_data_transfer_to_device);
    exit(7);
  }
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
    puts("wrong: the child ends otherwise");
}

static void inside(bool killed)
{
  one_target();
  pass(9 * MS);
  deliver();
  target(ompt_scope_begin);
  kernel();
  expect(1);
  fflush(stdout);
  if (killed)
    raise(SIGKILL);
  exit(5);
}

static void killed(void)
{
  inside(true);
}

static void exits(void)
{
  inside(false);
}

/* The device never ends its last region, nor a flush. */
static void stuck(void)
{
  hangs = true;
  inside(false);
}

static ompt_interface_fn_t no_function(const char *name)
{
  (void)name;
  return NULL;
}

int main(int count, char **arguments)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } modes[] = {{"plain", plain},   {"at_exit", at_exit},     {"ended", ended},        {"lost", lost},
               {"greedy", greedy}, {"finalized", finalized}, {"forks", forks},        {"killed", killed},
               {"exits", exits},   {"stuck", stuck},         {"untraced", one_target}};
  const char *mode = count > 1 ? arguments[1] : "";
  start_runtime(!strcmp(mode, "untraced") ? no_function : device_function);
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
    if (!strcmp(modes[i].name, mode))
      modes[i].run();
  if (strcmp(mode, "untraced") && (chosen != 2 || started != 1))
    puts("wrong: the trace was not started once");
  return 0;
}
