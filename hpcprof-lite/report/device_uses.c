#include "hpcprof-lite/report/device_uses.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

/* What a construct means for a device; device 0: nothing. */
struct meaning {
  uint32_t device, action, construct;
};

struct uses {
  const struct report *report;
  struct meaning *meanings; /* [entry of the tree of constructs] */
  struct device_use *last;  /* of each track: not delivered yet */
  uint32_t count;
  size_t room;
  struct timeline_operation *operations;
  size_t operations_count, operations_room;
  device_uses_visit *visit;
  void *context;
};

/* Sets the meanings of all constructs: what is inside a target construct belongs to its device.  Returns whether there
 * is a device. */
static bool set_meanings(struct uses *uses)
{
  const struct construct_tree *tree = uses->report->constructs;
  const struct profile_workspan *workspan = &uses->report->profile->workspan;
  bool any = false;
  uses->meanings = xcalloc(tree->count, sizeof *uses->meanings);
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    struct meaning *meaning = &uses->meanings[i];
    uint32_t device = entry->directive ? workspan->directives[entry->directive].device : 0;
    *meaning = uses->meanings[entry->parent];
    if (!device || device == DEVICE_NONE || entry->kind == DIRECTIVE_TARGET_DATA)
      continue;
    *meaning = (struct meaning){device, DEVICE_OTHER, i};
    if (entry->kind == CONSTRUCT_COPY_TO_DEVICE)
      meaning->action = DEVICE_COPY_TO;
    else if (entry->kind == CONSTRUCT_COPY_FROM_DEVICE)
      meaning->action = DEVICE_COPY_FROM;
    any = true;
  }
  return any;
}

static struct device_use *last_of(struct uses *uses, uint32_t process, uint32_t device, uint32_t track)
{
  for (uint32_t i = 0; i < uses->count; i++)
    if (uses->last[i].process == process && uses->last[i].device == device && uses->last[i].track == track)
      return &uses->last[i];
  struct device_use *last = XAPPEND(uses->last, uses->count, uses->room);
  *last = (struct device_use){.process = process, .device = device, .track = track};
  return last;
}

static void deliver(const struct uses *uses, const struct device_use *use)
{
  if (use->start_ns < use->end_ns)
    uses->visit(uses->context, use);
}

/* Extends the track's last use to what comes next by its start, or delivers it and begins another one. */
static void append(struct uses *uses, struct device_use *last, const struct meaning *meaning, uint64_t start_ns,
                   uint64_t end_ns)
{
  start_ns = MAX(start_ns, last->end_ns);
  if (end_ns <= start_ns)
    return;
  if (last->construct != meaning->construct || last->end_ns != start_ns) {
    deliver(uses, last);
    last->start_ns = start_ns;
    last->action = meaning->action;
    last->construct = meaning->construct;
  }
  last->end_ns = end_ns;
}

/* Intervals come by their start. */
static int add(void *context, const struct timeline_interval *interval)
{
  struct uses *uses = context;
  if (interval->construct >= uses->report->constructs->count)
    return 0;
  const struct meaning *meaning = &uses->meanings[interval->construct];
  uint32_t process = uses->report->time.timeline->lanes[interval->lane].process;
  if (meaning->device)
    append(uses, last_of(uses, process, meaning->device, DEVICE_HOST_VIEW), meaning, interval->start_ns,
           interval->end_ns);
  return 0;
}

/* ---- what devices have recorded ---- */

/* The action of a construct that has a lane if a device records it; DEVICE_ACTIONS: it has none. */
static uint32_t recorded_action(uint32_t kind)
{
  switch (kind) {
  case CONSTRUCT_COPY_TO_DEVICE:
    return DEVICE_COPY_TO;
  case CONSTRUCT_COPY_FROM_DEVICE:
    return DEVICE_COPY_FROM;
  case CONSTRUCT_SUBMIT:
    return DEVICE_OTHER;
  default:
    return DEVICE_ACTIONS;
  }
}

static int keep_operation(void *context, const struct timeline_operation *operation)
{
  struct uses *uses = context;
  if (operation->construct < uses->report->constructs->count && uses->meanings[operation->construct].device)
    *XAPPEND(uses->operations, uses->operations_count, uses->operations_room) = *operation;
  return 0;
}

ORDER(by_start, struct timeline_operation, COMPARE(x->start_ns, y->start_ns) ?: COMPARE(x->end_ns, y->end_ns))

/* Each operation is a use of its own, also right after another one of the same construct. */
static int add_recorded(struct uses *uses)
{
  const struct timeline *timeline = uses->report->time.timeline;
  int status = timeline->operations ? timeline->operations(timeline->source, keep_operation, uses) : 0;
  if (uses->operations_count)
    qsort(uses->operations, uses->operations_count, sizeof *uses->operations, by_start);
  for (size_t i = 0; i < uses->operations_count && !status; i++) {
    const struct timeline_operation *operation = &uses->operations[i];
    struct meaning meaning = uses->meanings[operation->construct];
    meaning.action = recorded_action(uses->report->constructs->entries[operation->construct].kind);
    if (meaning.action == DEVICE_ACTIONS)
      continue;
    struct device_use *last = last_of(uses, operation->process, meaning.device, DEVICE_RECORDED + meaning.action);
    deliver(uses, last);
    last->start_ns = last->end_ns;
    append(uses, last, &meaning, operation->start_ns, operation->end_ns);
  }
  free(uses->operations);
  return status;
}

int device_uses_each(const struct report *report, device_uses_visit *visit, void *context)
{
  const struct timeline *timeline = report->time.timeline;
  struct uses uses = {.report = report, .visit = visit, .context = context};
  int status = 0;
  if (set_meanings(&uses))
    status = timeline->each(timeline->source, MODEL_NONE, add, &uses) ?: add_recorded(&uses);
  for (uint32_t i = 0; i < uses.count; i++)
    deliver(&uses, &uses.last[i]);
  free(uses.last);
  free(uses.meanings);
  return status;
}

/* ---- all of them ---- */

static void keep(void *context, const struct device_use *use)
{
  struct device_lanes *lanes = context;
  *XAPPEND(lanes->uses, lanes->uses_count, lanes->uses_room) = *use;
}

ORDER(by_lane, struct device_use,
      COMPARE(x->process, y->process) ?: COMPARE(x->device, y->device) ?: COMPARE(x->track, y->track)
          ?: COMPARE(x->start_ns, y->start_ns))

int device_lanes_read(const struct report *report, struct device_lanes *lanes)
{
  *lanes = (struct device_lanes){0};
  int status = device_uses_each(report, keep, lanes);
  if (lanes->uses_count)
    qsort(lanes->uses, lanes->uses_count, sizeof *lanes->uses, by_lane);
  for (uint32_t i = 0; i < lanes->uses_count; i++) {
    const struct device_use *use = &lanes->uses[i];
    if (!i || use[-1].process != use->process || use[-1].device != use->device || use[-1].track != use->track)
      *XAPPEND(lanes->lanes, lanes->count, lanes->room) =
          (struct device_lane){use->process, use->device, use->track, i, i};
    lanes->lanes[lanes->count - 1].end = i + 1;
  }
  return status;
}

void device_lanes_release(struct device_lanes *lanes)
{
  free(lanes->uses);
  free(lanes->lanes);
  *lanes = (struct device_lanes){0};
}

struct device_recorded device_uses_recorded(const struct report *report, uint32_t process, uint32_t device,
                                            uint32_t track)
{
  const struct profile *profile = report->profile;
  const struct profile_process *of = &profile->processes[process];
  struct device_recorded sum = {0};
  for (uint32_t i = 0; i < of->constructs.rows_count; i++) {
    const struct construct_row *row = &of->constructs.rows[i];
    const struct construct_node *node = &profile->constructs.nodes[row->node];
    if (profile->workspan.directives[node->directive].device != device ||
        DEVICE_RECORDED + recorded_action(node->kind) != track)
      continue;
    model_add(&sum.recorded, row->figures.device_operations);
    model_add(&sum.expected, row->figures.device_expected);
  }
  return sum;
}
