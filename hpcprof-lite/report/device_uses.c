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
  struct device_use *last;  /* of each device: not delivered yet */
  uint32_t count;
  size_t room;
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

static struct device_use *last_of(struct uses *uses, uint32_t process, uint32_t device)
{
  for (uint32_t i = 0; i < uses->count; i++)
    if (uses->last[i].process == process && uses->last[i].device == device)
      return &uses->last[i];
  struct device_use *last = XAPPEND(uses->last, uses->count, uses->room);
  *last = (struct device_use){.process = process, .device = device};
  return last;
}

static void deliver(const struct uses *uses, const struct device_use *use)
{
  if (use->start_ns < use->end_ns)
    uses->visit(uses->context, use);
}

/* Intervals come by their start. */
static int add(void *context, const struct timeline_interval *interval)
{
  struct uses *uses = context;
  if (interval->construct >= uses->report->constructs->count)
    return 0;
  struct meaning meaning = uses->meanings[interval->construct];
  if (!meaning.device)
    return 0;
  uint32_t process = uses->report->time.timeline->lanes[interval->lane].process;
  struct device_use *last = last_of(uses, process, meaning.device);
  uint64_t start_ns = MAX(interval->start_ns, last->end_ns);
  if (interval->end_ns <= start_ns)
    return 0;
  if (last->construct != meaning.construct || last->end_ns != start_ns) {
    deliver(uses, last);
    last->start_ns = start_ns;
    last->action = meaning.action;
    last->construct = meaning.construct;
  }
  last->end_ns = interval->end_ns;
  return 0;
}

int device_uses_each(const struct report *report, device_uses_visit *visit, void *context)
{
  const struct timeline *timeline = report->time.timeline;
  struct uses uses = {.report = report, .visit = visit, .context = context};
  int status = set_meanings(&uses) ? timeline->each(timeline->source, MODEL_NONE, add, &uses) : 0;
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
      COMPARE(x->process, y->process) ?: COMPARE(x->device, y->device) ?: COMPARE(x->start_ns, y->start_ns))

int device_lanes_read(const struct report *report, struct device_lanes *lanes)
{
  *lanes = (struct device_lanes){0};
  int status = device_uses_each(report, keep, lanes);
  if (lanes->uses_count)
    qsort(lanes->uses, lanes->uses_count, sizeof *lanes->uses, by_lane);
  for (uint32_t i = 0; i < lanes->uses_count; i++) {
    const struct device_use *use = &lanes->uses[i];
    if (!i || use[-1].process != use->process || use[-1].device != use->device)
      *XAPPEND(lanes->lanes, lanes->count, lanes->room) = (struct device_lane){use->process, use->device, i, i};
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
