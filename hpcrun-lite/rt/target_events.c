#include "hpcrun-lite/rt/target_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/devices.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/sampling/device_waits.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/worksharing.h"

static enum format_directive_kind directive_kind(int kind)
{
  switch (kind & ~ompt_target_nowait) {
  case ompt_target_enter_data:
    return FORMAT_DIRECTIVE_TARGET_ENTER_DATA;
  case ompt_target_exit_data:
    return FORMAT_DIRECTIVE_TARGET_EXIT_DATA;
  case ompt_target_update:
    return FORMAT_DIRECTIVE_TARGET_UPDATE;
  case OMPT_TARGET_DATA:
    return FORMAT_DIRECTIVE_TARGET_DATA;
  default:
    return FORMAT_DIRECTIVE_TARGET;
  }
}

/* Release 18 of LLVM passes addresses of data constructs that lie in its library for devices. */
static const void *code_of_target(struct thread_state *t, const ompt_data_t *task_data, const void *code)
{
  uint32_t index;
  const struct format_module *module = code ? modules_find(t, (uint64_t)code, &index) : NULL;
  return code_of_construct(t, task_data, module && module->flags & FORMAT_MODULE_DEVICES ? NULL : code);
}

/* The device of a directive: see struct format_directive. */
static uint32_t device_code(int device)
{
  if (device == OMPT_DEVICE_NONE)
    return FORMAT_DEVICE_NONE;
  return device >= 0 && device < DEVICES_MAX ? (uint32_t)device + 1 : 0;
}

/* Something keeps a device busy from now on, or does so no longer.  Also while the graph is suspended, so that each
 * begin has an end. */
static void device_busy(struct thread_state *t, int device, bool begin)
{
  if (device < 0)
    return;
  rt_inside_inc(t);
  struct format_device *busy = devices_find(t, device);
  if (busy && begin)
    devices_begin(busy, rt_ticks());
  else if (busy)
    devices_end(busy, rt_ticks());
  rt_inside_dec(t);
}

/* The thread waits for the device from now on, or does so no longer. */
static void device_wait_begin(struct thread_state *t, int device)
{
  if (device < 0)
    return;
  struct format_device *awaited = devices_find(t, device);
  if (awaited)
    device_waits_begin(t, awaited);
}

static void device_wait_end(struct thread_state *t, int device)
{
  if (device < 0)
    return;
  if (device_waits_switched(t))
    sample_charge_device_sleep(t);
  const struct format_construct *at = construct_open_target(t) ?: construct_open_operation(t);
  device_waits_end(t, at ? at->node : 0);
}

static void construct(struct thread_state *t, enum format_directive_kind directive, bool begin, uint32_t device,
                      const void *code)
{
  enum format_directive_kind kind = directive_for_device(directive, device);
  uint32_t row = 0;
  if (directive == FORMAT_DIRECTIVE_TARGET && begin) { /* it ends when all tasks in it have ended */
    row = span_taskgroup_begin(t, span_of(t)->task, kind, code);
  } else if (directive == FORMAT_DIRECTIVE_TARGET) {
    span_taskgroup_end(t, span_of(t)->task);
  } else if (begin) {
    row = directive_row(t, kind, code);
    worksharing_block(t, row);
  } else {
    worksharing_block_end(t);
  }
  construct_events_scope(t, directive, row, begin);
}

void target_events(struct thread_state *t, int kind, bool begin, int device, const ompt_data_t *task_data,
                   const void *codeptr)
{
  enum format_directive_kind directive = directive_kind(kind);
  bool uses = directive != FORMAT_DIRECTIVE_TARGET_DATA;
  if (uses && begin)
    device_busy(t, device, true);
  else if (uses)
    device_wait_end(t, device);
  if (graph_enter(t)) {
    if (begin)
      codeptr = code_of_target(t, task_data, codeptr);
    construct(t, directive, begin, device_code(device), codeptr);
    graph_leave(t);
  }
  if (uses && begin)
    device_wait_begin(t, device);
  else if (uses)
    device_busy(t, device, false);
}

void target_events_asks(struct thread_state *t, uint32_t teams, uint32_t threads)
{
  if (!graph_enter(t))
    return;
  struct format_construct *target = construct_open_target(t);
  if (target && teams > target->teams)
    target->teams = teams;
  if (target && threads > target->team_threads)
    target->team_threads = threads;
  graph_leave(t);
}

uint64_t target_events_operation(struct thread_state *t, uint32_t kind, bool begin, int device, uint64_t bytes,
                                 const void *codeptr)
{
  uint64_t number = 0;
  if (begin)
    device_busy(t, device, true);
  else
    device_wait_end(t, device);
  if (graph_enter(t)) {
    const struct format_construct *target = construct_open_target(t);
    bool copies = kind == FORMAT_CONSTRUCT_COPY_TO_DEVICE || kind == FORMAT_CONSTRUCT_COPY_FROM_DEVICE;
    uint32_t row = 0;
    if (begin && device >= 0 && (copies || !target))
      row = directive_row(t, directive_for_device((enum format_directive_kind)kind, device_code(device)),
                          code_of_target(t, NULL, codeptr));
    if (begin && row && copies)
      device_waits_copy_begin(t, row, target ? target->node : 0);
    else if (!begin && copies)
      device_waits_copy_end(t);
    construct_events_operation(t, kind, begin && target ? target->directive : row, begin, bytes);
    struct format_construct *at = begin && devices_any_traced() ? construct_open_operation(t) : NULL;
    if (at)
      number = devices_times_of(t, at, construct_of(t)->top->record);
    graph_leave(t);
  }
  if (begin)
    device_wait_begin(t, device);
  else
    device_busy(t, device, false);
  return number;
}

void target_events_unannounced(struct thread_state *t, int device)
{
  rt_inside_inc(t);
  devices_unknown(t, device);
  rt_inside_dec(t);
}

void target_events_device(struct thread_state *t, int device, const char *type)
{
  rt_inside_inc(t);
  devices_describe(t, device, type);
  rt_inside_dec(t);
}
