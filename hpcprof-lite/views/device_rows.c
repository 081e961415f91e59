#include "hpcprof-lite/views/device_rows.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

struct build {
  const struct profile *profile;
  struct device_rows *rows;
  size_t room;
};

/* Adds an operation's figures.  Until the end, `ns` is the host's time, and recorded[] the device's. */
static void add_operation(struct device_operations *sum, uint64_t *recorded_ns, const struct construct_figures *figures)
{
  model_add(&sum->count, figures->executions);
  model_add(&sum->bytes, figures->bytes);
  model_add(&sum->ns, construct_exec(figures));
  model_add(&sum->timed, figures->device_operations);
  model_add(recorded_ns, figures->device_ns);
}

static struct device_operations *operations_of(struct device_row *row, uint32_t kind)
{
  switch (kind) {
  case CONSTRUCT_DEVICE_ALLOC:
    return &row->allocated;
  case CONSTRUCT_DEVICE_FREE:
    return &row->freed;
  case CONSTRUCT_COPY_TO_DEVICE:
    return &row->to;
  case CONSTRUCT_COPY_FROM_DEVICE:
    return &row->from;
  case CONSTRUCT_SUBMIT:
    return &row->submitted;
  default:
    return NULL;
  }
}

/* Adds what the threads of a process did for a device. */
static void add_constructs(const struct build *build, const struct profile_process *process, struct device_row *row)
{
  const struct profile *profile = build->profile;
  uint64_t recorded_ns[CONSTRUCT_KINDS] = {0};
  for (uint32_t i = 0; i < process->constructs.rows_count; i++) {
    const struct construct_row *figures = &process->constructs.rows[i];
    const struct construct_node *node = &profile->constructs.nodes[figures->node];
    if (profile->workspan.directives[node->directive].device != row->number + 1)
      continue;
    struct device_operations *operations = operations_of(row, node->kind);
    if (operations)
      add_operation(operations, &recorded_ns[node->kind], &figures->figures);
    if (node->kind == DIRECTIVE_TARGET)
      model_add(&row->targets, figures->figures.executions);
    if (construct_is_target(node->kind) && node->kind != DIRECTIVE_TARGET_DATA)
      model_add(&row->target_ns, construct_exec(&figures->figures));
  }
  for (uint32_t kind = CONSTRUCT_DEVICE_ALLOC; kind <= CONSTRUCT_SUBMIT; kind++) {
    struct device_operations *operations = operations_of(row, kind);
    if (operations->count && operations->timed == operations->count)
      operations->ns = recorded_ns[kind];
  }
}

/* ---- what the host does while a device is idle ---- */

struct idle {
  const struct context_device *from;
  struct call_place place;
};

ORDER(by_place, struct idle, call_place_compare(&x->place, &y->place))
ORDER(by_time, struct device_row, COMPARE(y->idle_ns, x->idle_ns) ?: call_place_compare(&x->place, &y->place))

/* Divides a device's idleness by that of its rows, of which samples have counted too much: sum_ns. */
static void divide(struct device_row *rows, uint32_t count, uint64_t sum_ns, uint64_t idle_ns)
{
  uint64_t sampled_ns = 0, given_ns = 0;
  for (uint32_t i = 0; i < count; i++) {
    model_add(&sampled_ns, rows[i].idle_ns);
    uint64_t until_ns = MIN(model_rounded((double)idle_ns * ((double)sampled_ns / (double)sum_ns)), idle_ns);
    rows[i].idle_ns = model_difference(until_ns, given_ns);
    given_ns = MAX(given_ns, until_ns);
  }
}

/* Appends the rows of a device's idleness. */
static void add_idle(struct build *build, const struct names *names, const uint32_t *row_of, struct device_row device)
{
  const struct contexts *contexts = &build->profile->contexts;
  uint32_t owner = build->profile->processes[device.process].number, count = 0, first = build->rows->count;
  uint64_t sum_ns = 0, most_ns = 0;
  struct idle *idle = xcalloc(contexts->devices_count, sizeof *idle);
  for (uint32_t i = 0; i < contexts->devices_count; i++)
    if (contexts->devices[i].owner == owner && contexts->devices[i].device == device.number + 1)
      idle[count++] =
          (struct idle){&contexts->devices[i], call_place_of(build->profile, names, contexts->devices[i].context)};
  if (count)
    qsort(idle, count, sizeof *idle, by_place);
  for (uint32_t i = 0; i < count; i++) {
    if (!i || call_place_compare(&idle[i - 1].place, &idle[i].place)) {
      *XAPPEND(build->rows->rows, build->rows->count, build->room) = (struct device_row){
          .kind = DEVICE_ROW_WORK, .process = device.process, .number = device.number, .place = idle[i].place};
      most_ns = 0;
    }
    struct device_row *row = &build->rows->rows[build->rows->count - 1];
    model_add(&row->idle_ns, idle[i].from->ns);
    model_add(&sum_ns, idle[i].from->ns);
    if (idle[i].from->ns >= most_ns)
      row->row = row_of[idle[i].from->context];
    most_ns = MAX(most_ns, idle[i].from->ns);
  }
  free(idle);
  if (build->rows->count > first)
    qsort(build->rows->rows + first, build->rows->count - first, sizeof *build->rows->rows, by_time);
  if (device.device && device.device->idle_ns < sum_ns)
    divide(build->rows->rows + first, build->rows->count - first, sum_ns, device.device->idle_ns);
  if (device.device && device.device->idle_ns > sum_ns)
    *XAPPEND(build->rows->rows, build->rows->count, build->room) =
        (struct device_row){.kind = DEVICE_ROW_REST,
                            .process = device.process,
                            .number = device.number,
                            .idle_ns = device.device->idle_ns - sum_ns,
                            .place = {"", "", 0, false},
                            .row = MODEL_NONE};
}

/* ---- devices ---- */

/* Sets which devices a process has constructs for, or times of; by number + 1. */
static bool *devices_of(const struct profile *profile, const struct profile_process *process, uint32_t *most)
{
  const struct profile_workspan *workspan = &profile->workspan;
  *most = 0;
  for (uint32_t i = 0; i < process->devices_count; i++)
    *most = MAX(*most, process->devices[i].number);
  for (uint32_t i = 0; i < workspan->directives_count; i++)
    if (workspan->directives[i].device != DEVICE_NONE)
      *most = MAX(*most, workspan->directives[i].device);
  bool *used = xcalloc((size_t)*most + 1, sizeof *used);
  for (uint32_t i = 0; i < process->devices_count; i++)
    used[process->devices[i].number] = true;
  for (uint32_t i = 0; i < process->constructs.rows_count; i++) {
    const struct construct_node *node = &profile->constructs.nodes[process->constructs.rows[i].node];
    uint32_t device = workspan->directives[node->directive].device;
    if (device && device <= *most)
      used[device] = true;
  }
  return used;
}

static const struct profile_device *times_of(const struct profile_process *process, uint32_t device)
{
  for (uint32_t i = 0; i < process->devices_count; i++)
    if (process->devices[i].number == device)
      return &process->devices[i];
  return NULL;
}

void device_rows_make(const struct profile *profile, const struct names *names, const uint32_t *row_of,
                      struct device_rows *rows)
{
  assert(row_of && names->address_of);
  struct build build = {.profile = profile, .rows = rows};
  *rows = (struct device_rows){0};
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    uint32_t most;
    bool *used = devices_of(profile, &profile->processes[i], &most);
    for (uint32_t device = 1; device <= most; device++) {
      if (!used[device])
        continue;
      struct device_row row = {.process = i,
                               .number = device - 1,
                               .device = times_of(&profile->processes[i], device),
                               .operations_known = !(profile->processes[i].workspan.unseen & UNSEEN_OPERATIONS),
                               .place = {"", "", 0, false},
                               .row = MODEL_NONE};
      add_constructs(&build, &profile->processes[i], &row);
      *XAPPEND(rows->rows, rows->count, build.room) = row;
      rows->devices++;
      add_idle(&build, names, row_of, row);
    }
    free(used);
  }
}

void device_rows_release(struct device_rows *rows)
{
  free(rows->rows);
  *rows = (struct device_rows){0};
}
