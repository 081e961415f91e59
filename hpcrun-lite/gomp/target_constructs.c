/* Target constructs.  Context: CTL (gomp.h).
 *
 * Without a device for it, libgomp calls the function of a target region in the thread itself, which counts as a thread
 * outside any team meanwhile; with `nowait`, in a task.  The argument of the function is the array of the addresses of
 * what the region maps, or a copy of it.
 *
 * A region that its thread runs at once is a part of the current task.  For one that is a task, or waits for
 * dependences, libgomp gets the adapter's function, and one address more, the first, of a header (struct header).  The
 * address of a region's function is also the key by which libgomp finds its code for devices: so the function is only
 * replaced where there is no device for it. */
#include <string.h>

#include "common/order.h"
#include "hpcrun-lite/gomp/gomp.h"

/* Flags of libgomp's functions. */
enum { FLAG_NOWAIT = 1 << 0, FLAG_EXIT_DATA = 1 << 1 };

/* How libgomp hands a mapped variable to the function: as the address of a copy, with the logarithm of its alignment in
 * the bits from ALIGN_SHIFT on; as the address, or value, that it is given. */
enum { MAP_COPY = 12, MAP_VALUE = 13, ALIGN_SHIFT = 8, ALIGN_8 = 3 };

enum { DEFAULT_DEVICE = -1, HOST = -2, MAPS_MAX = 1024 };

/* An argument of a target region, in a list that ends with NULL: what it is, in its lowest bits; and its value, in the
 * bits from ARGUMENT_SHIFT on, or in the next entry of the list. */
enum { ARGUMENT_NEXT = 0x80, ARGUMENT_WHAT = 0xff00, ARGUMENT_TEAMS = 0x100, ARGUMENT_THREADS = 0x200 };
enum { ARGUMENT_SHIFT = 16 };

struct header {
  void (*function)(void *); /* the program's */
  ompt_data_t data;         /* data word of the task */
  const void *code;         /* address in the program at which the task was created */
  int device;               /* see device_of() */
};

/* The device of that number, as ompt_on_target() has it.  Numbers that mean something which libgomp has learned since
 * are no device that is known. */
static int device_of(const struct gomp_runtime *runtime, int device)
{
  if (device < DEFAULT_DEVICE)
    return OMPT_DEVICE_HOST;
  int count = runtime->device_count(), wanted = device == DEFAULT_DEVICE ? runtime->default_device() : device;
  if (wanted >= 0 && wanted < count)
    return wanted;
  return device == count ? OMPT_DEVICE_HOST : OMPT_DEVICE_NONE; /* that is the host's number */
}

/* Is there no device for it?  Not if the number means something that libgomp has learned since. */
static bool on_host(const struct gomp_runtime *runtime, int device)
{
  return device_of(runtime, device) < 0 && (device >= DEFAULT_DEVICE || device == HOST);
}

/* Announces how many teams and threads the region that begins asks for. */
static void announce_arguments(void **arguments)
{
  int64_t teams = 0, threads = 0;
  for (; arguments && *arguments; arguments++) {
    int64_t what = (int64_t)*arguments, value = what >> ARGUMENT_SHIFT;
    if (what & ARGUMENT_NEXT)
      value = (int64_t) * ++arguments;
    if ((what & ARGUMENT_WHAT) == ARGUMENT_TEAMS)
      teams = value;
    else if ((what & ARGUMENT_WHAT) == ARGUMENT_THREADS)
      threads = value;
  }
  if (teams > 0 || threads > 0)
    ompt_target_asks((uint32_t)MAX(teams, 0), (uint32_t)MAX(threads, 0));
}

typedef void target_function(int, void (*)(void *), size_t, void **, size_t *, unsigned short *, unsigned, void **,
                             void **);

/* The function that libgomp calls for a region with a header. */
GOMP_CODE static void run_target(void *argument)
{
  void **addresses = argument;
  struct header *header = addresses[0];
  gomp_run_target(header->function, addresses + 1, &header->data, header->device, header->code,
                  __builtin_frame_address(0));
}

/* Parameters of GOMP_target_ext(), and of the function that calls it with a header. */
#define TARGET_PARAMETERS                                                                                              \
  int device, void (*function)(void *), size_t maps, void **addresses, size_t *sizes, unsigned short *kinds,           \
      unsigned flags, void **depend, void **arguments
#define TARGET_ARGUMENTS device, function, maps, addresses, sizes, kinds, flags, depend, arguments

GOMP_CODE static void target_task(target_function *next, struct header *header, TARGET_PARAMETERS)
{
  void *all_addresses[maps + 1];
  size_t all_sizes[maps + 1];
  unsigned short all_kinds[maps + 1];
  all_addresses[0] = header;
  all_sizes[0] = sizeof *header;
  all_kinds[0] = flags & FLAG_NOWAIT ? MAP_COPY | ALIGN_8 << ALIGN_SHIFT : MAP_VALUE;
  if (maps) {
    memcpy(all_addresses + 1, addresses, maps * sizeof *addresses);
    memcpy(all_sizes + 1, sizes, maps * sizeof *sizes);
    memcpy(all_kinds + 1, kinds, maps * sizeof *kinds);
  }
  next(device, function, maps + 1, all_addresses, all_sizes, all_kinds, flags, depend, arguments);
}

/* A construct of that kind begins in the current task. */
static void target_begin(const struct gomp_runtime *runtime, struct rt_gomp_task *task, int kind, int device,
                         const void *code)
{
  int number = device_of(runtime, device);
  gomp_past_single(task);
  if (number >= 0)
    ompt_target_unannounced(number);
  ompt_on_target(kind, ompt_scope_begin, number, task->data, 0, code);
}

static void target_end(const struct gomp_runtime *runtime, struct rt_gomp_task *task, int kind, int device,
                       const void *code)
{
  ompt_on_target(kind, ompt_scope_end, device_of(runtime, device), task->data, 0, code);
}

GOMP_CODE void wrap_GOMP_target_ext(TARGET_PARAMETERS)
{
  GOMP_ENTER(runtime, task);
  const void *code = GOMP_CALLER;
  target_function *next = GOMP_NEXT(runtime, GOMP_target_ext);
  bool is_task = task && (flags & FLAG_NOWAIT || depend) && on_host(runtime, device);
  if (is_task && maps > MAPS_MAX)
    rt_lost(rt_thread(), FORMAT_LOST_GRAPH);
  if (is_task && maps <= MAPS_MAX) {
    bool serial = !(flags & FLAG_NOWAIT) || task->final;
    struct header header = {.function = function, .code = code, .device = device_of(runtime, device)};
    gomp_create_target(task, &header.data, depend, serial, code, __builtin_frame_address(0));
    target_task(next, &header, device, run_target, maps, addresses, sizes, kinds, flags, depend, arguments);
  } else if (task) {
    int kind = ompt_target | (flags & FLAG_NOWAIT ? ompt_target_nowait : 0);
    target_begin(runtime, task, kind, device, code);
    announce_arguments(arguments);
    bool around = task->in_target;
    task->in_target = true;
    next(TARGET_ARGUMENTS);
    task->in_target = around;
    target_end(runtime, task, kind, device, code);
  } else {
    next(TARGET_ARGUMENTS);
  }
}

/* ---- data ---- */

/* The construct lasts until the call of GOMP_target_end_data(). */
GOMP_CODE void wrap_GOMP_target_data_ext(int device, size_t maps, void **addresses, size_t *sizes,
                                         unsigned short *kinds)
{
  GOMP_ENTER(runtime, task);
  if (task) {
    task->data_regions++;
    target_begin(runtime, task, OMPT_TARGET_DATA, device, GOMP_CALLER);
  }
  GOMP_NEXT(runtime, GOMP_target_data_ext)(device, maps, addresses, sizes, kinds);
}

GOMP_CODE void wrap_GOMP_target_end_data(void)
{
  GOMP_ENTER(runtime, task);
  GOMP_NEXT(runtime, GOMP_target_end_data)();
  if (task && task->data_regions) {
    task->data_regions--;
    target_end(runtime, task, OMPT_TARGET_DATA, HOST, GOMP_CALLER);
  }
}

typedef void data_function(int, size_t, void **, size_t *, unsigned short *, unsigned, void **);

/* Parameters of functions that move data. */
#define DATA_PARAMETERS                                                                                                \
  int device, size_t maps, void **addresses, size_t *sizes, unsigned short *kinds, unsigned flags, void **depend
#define DATA_ARGUMENTS device, maps, addresses, sizes, kinds, flags, depend

/* Without a device there is nothing to move: what is left are the dependences. */
GOMP_CODE static void move_data(const struct gomp_runtime *runtime, struct rt_gomp_task *task, data_function *next,
                                int kind, const void *code, DATA_PARAMETERS)
{
  bool host = depend && on_host(runtime, device);
  kind |= flags & FLAG_NOWAIT ? ompt_target_nowait : 0;
  if (depend && !(flags & FLAG_NOWAIT) && !gomp_lacks(runtime, GOMP_NUMBER_GOMP_taskwait_depend))
    gomp_await(runtime, task, depend, code);
  target_begin(runtime, task, kind, device, code);
  if (host && flags & FLAG_NOWAIT)
    gomp_follow(runtime, task, depend, code);
  else
    next(DATA_ARGUMENTS);
  target_end(runtime, task, kind, device, code);
}

GOMP_CODE void wrap_GOMP_target_update_ext(DATA_PARAMETERS)
{
  GOMP_ENTER(runtime, task);
  if (task)
    move_data(runtime, task, GOMP_NEXT(runtime, GOMP_target_update_ext), ompt_target_update, GOMP_CALLER,
              DATA_ARGUMENTS);
  else
    GOMP_NEXT(runtime, GOMP_target_update_ext)(DATA_ARGUMENTS);
}

GOMP_CODE void wrap_GOMP_target_enter_exit_data(DATA_PARAMETERS)
{
  GOMP_ENTER(runtime, task);
  if (task)
    move_data(runtime, task, GOMP_NEXT(runtime, GOMP_target_enter_exit_data),
              flags & FLAG_EXIT_DATA ? ompt_target_exit_data : ompt_target_enter_data, GOMP_CALLER, DATA_ARGUMENTS);
  else
    GOMP_NEXT(runtime, GOMP_target_enter_exit_data)(DATA_ARGUMENTS);
}
