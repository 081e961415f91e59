#include "hpcprof-lite/input/thread_states.h"

#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>

/* A worker enters and leaves a region of another thread while it waits. */
uint32_t thread_states_wait(const struct format_construct *construct, bool outside, uint32_t time)
{
  assert(time < CONSTRUCT_TIMES && (outside || construct));
  bool waits = time == CONSTRUCT_TIME_WAIT;
  if (outside)
    return waits ? FORMAT_WAIT_PARKED : MODEL_NONE;
  if (time == CONSTRUCT_TIME_ENTER && construct_is_lock(construct->kind))
    return FORMAT_WAIT_LOCK;
  if (construct_is_region(construct->kind) && read_is_link(construct) && time == CONSTRUCT_TIME_ENTER)
    return FORMAT_WAIT_PARKED;
  if (construct_is_region(construct->kind) && (waits || (read_is_link(construct) && time == CONSTRUCT_TIME_EXIT)))
    return FORMAT_WAIT_REGION_END;
  if (!waits)
    return MODEL_NONE;
  bool tasks = construct->kind == DIRECTIVE_TASKWAIT || construct->kind == DIRECTIVE_TASKGROUP ||
               construct->kind == DIRECTIVE_TASKLOOP || construct->kind == DIRECTIVE_TASK;
  return tasks ? FORMAT_WAIT_TASKS : FORMAT_WAIT_BARRIER;
}

/* Whether threads wait for a device (as in struct format_directive). */
static bool is_awaited(const struct read_file *file, uint32_t device)
{
  const struct format_device *devices = read_records(file, FORMAT_DEVICES);
  uint32_t count = read_count(file, FORMAT_DEVICES), i = 0;
  while (i < count && devices[i].number != device)
    i++;
  return device && i < count && devices[i].flags & FORMAT_DEVICE_AWAITED;
}

void thread_states_awaited(const struct read_file *file, const struct format_construct *constructs, uint32_t count,
                           bool *awaited)
{
  const struct format_directive *directives = read_records(file, FORMAT_DIRECTIVES);
  uint32_t directives_count = read_count(file, FORMAT_DIRECTIVES);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t kind = constructs[i].kind, directive = constructs[i].directive;
    bool uses = construct_is_operation(kind) || (construct_is_target(kind) && kind != DIRECTIVE_TARGET_DATA);
    awaited[i] = uses && directive < directives_count && is_awaited(file, directives[directive].device);
  }
}

bool thread_states_own_first(uint64_t code, bool lock)
{
  return !lock && (code < CONSTRUCT_TIMES || code % CONSTRUCT_TIMES != CONSTRUCT_TIME_WAIT);
}
