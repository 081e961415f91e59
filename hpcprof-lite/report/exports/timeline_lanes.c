#include "hpcprof-lite/report/exports/timeline_lanes.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct profile_thread *timeline_thread(const struct report *report, uint32_t lane)
{
  assert(lane < report->time.timeline->lanes_count);
  return &report_lane_process(report, lane)->threads[report->time.timeline->lanes[lane].thread];
}

/* ---- order ---- */

/* Processes without a rank come first. */
static int by_place(const void *a, const void *b, void *context)
{
  const struct report *report = context;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const struct profile_process *p = report_lane_process(report, x), *q = report_lane_process(report, y);
  return strcmp(p->host, q->host) ?: COMPARE((uint32_t)p->rank + 1, (uint32_t)q->rank + 1)
                                  ?: COMPARE(p, q)
                                  ?: COMPARE(x, y);
}

static int by_pid(const void *a, const void *b, void *context)
{
  const struct profile_process *processes = context;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return COMPARE(processes[x].pid, processes[y].pid) ?: COMPARE(x, y);
}

/* Viewers join processes with equal ids: those of several nodes, or before and after an exec. */
static void number_processes(const struct profile *profile, uint64_t *pids)
{
  uint32_t count = profile->processes_count, *sorted = xmalloc((size_t)count * sizeof *sorted);
  uint64_t unused = 1 << 22; /* Linux has no larger ids */
  for (uint32_t i = 0; i < count; i++) {
    sorted[i] = i;
    unused = MAX(unused, (uint64_t)profile->processes[i].pid + 1);
  }
  qsort_r(sorted, count, sizeof *sorted, by_pid, profile->processes);
  for (uint32_t i = 0; i < count; i++) {
    bool again = i && profile->processes[sorted[i]].pid == profile->processes[sorted[i - 1]].pid;
    pids[sorted[i]] = again ? unused++ : profile->processes[sorted[i]].pid;
  }
  free(sorted);
}

static void map_ids(const struct tree *tree, struct timeline_lanes *lanes)
{
  uint32_t count = tree->count, most = 0;
  for (uint32_t row = 0; row < count; row++)
    most = MAX(most, tree->rows[row].id);
  lanes->ids = most + 1;
  lanes->row_of = model_nones(lanes->ids);
  for (uint32_t row = 0; row < count; row++)
    lanes->row_of[tree->rows[row].id] = row;
}

void timeline_lanes_init(const struct report *report, struct timeline_lanes *lanes)
{
  const struct timeline *timeline = report->time.timeline;
  const struct construct_tree *constructs = report->constructs;
  *lanes = (struct timeline_lanes){.report = report, .entries = constructs ? constructs->count : 0};
  for (uint32_t i = 0; i < lanes->entries; i++)
    lanes->depth_max = MAX(lanes->depth_max, constructs->entries[i].depth);
  lanes->open = xmalloc((size_t)lanes->depth_max * sizeof *lanes->open);
  lanes->wanted = xmalloc((size_t)lanes->depth_max * sizeof *lanes->wanted);
  map_ids(report->tree, lanes);
  lanes->order = xmalloc((size_t)timeline->lanes_count * sizeof *lanes->order);
  for (uint32_t i = 0; i < timeline->lanes_count; i++)
    lanes->order[i] = i;
  qsort_r(lanes->order, timeline->lanes_count, sizeof *lanes->order, by_place, (void *)report);
  lanes->pids = xmalloc((size_t)report->profile->processes_count * sizeof *lanes->pids);
  number_processes(report->profile, lanes->pids);
}

void timeline_lanes_release(struct timeline_lanes *lanes)
{
  free(lanes->order);
  free(lanes->pids);
  free(lanes->row_of);
  free(lanes->open);
  free(lanes->wanted);
}

bool timeline_first_of_process(const struct timeline_lanes *lanes, uint32_t place)
{
  assert(place < lanes->report->time.timeline->lanes_count);
  const struct timeline_lane *all = lanes->report->time.timeline->lanes;
  return !place || all[lanes->order[place]].process != all[lanes->order[place - 1]].process;
}

bool timeline_first_of_host(const struct timeline_lanes *lanes, uint32_t place)
{
  assert(place < lanes->report->time.timeline->lanes_count);
  return !place || strcmp(report_lane_process(lanes->report, lanes->order[place])->host,
                          report_lane_process(lanes->report, lanes->order[place - 1])->host) != 0;
}

/* ---- names ---- */

void timeline_process_name(const struct profile_process *process, char out[TIMELINE_TEXT_MAX])
{
  char rank[32] = "";
  if (process->rank >= 0)
    snprintf(rank, sizeof rank, "rank %" PRId32 ": ", process->rank);
  snprintf(out, TIMELINE_TEXT_MAX, "%.200s: %s%.200s", report_known(process->host), rank,
           report_known(process->command));
}

void timeline_thread_name(const struct profile_thread *thread, char out[TIMELINE_TEXT_MAX])
{
  snprintf(out, TIMELINE_TEXT_MAX, "thread %" PRIu32 " (tid %" PRIu32 ")", thread->index, thread->tid);
}

void timeline_device_name(const struct report *report, const struct device_use *use, char out[TIMELINE_TEXT_MAX])
{
  static const char *const names[DEVICE_ACTIONS] = {
      [DEVICE_COPY_TO] = "copies to it", [DEVICE_COPY_FROM] = "copies from it", [DEVICE_OTHER] = "regions"};
  char part[64] = "";
  assert(use->device);
  if (use->track == DEVICE_HOST_VIEW) {
    snprintf(out, TIMELINE_TEXT_MAX, "device %" PRIu32 " (as the host knows)", use->device - 1);
    return;
  }
  struct device_recorded recorded = device_uses_recorded(report, use->process, use->device, use->track);
  if (recorded.recorded < recorded.expected)
    snprintf(part, sizeof part, ", %" PRIu64 " of %" PRIu64, recorded.recorded, recorded.expected);
  snprintf(out, TIMELINE_TEXT_MAX, "device %" PRIu32 ": %s (as it recorded%s)", use->device - 1, names[use->action],
           part);
}

void timeline_construct_name(const struct construct_entry *entry, char out[TIMELINE_TEXT_MAX])
{
  const char *kind = profile_directive_name(entry->kind);
  if (entry->kind == DIRECTIVE_USER_REGION && *entry->name)
    snprintf(out, TIMELINE_TEXT_MAX, "%.800s", entry->name);
  else if (*entry->file && entry->line)
    snprintf(out, TIMELINE_TEXT_MAX, "%s @ %.800s:%" PRIu32, kind, names_base(entry->file), entry->line);
  else if (*entry->name)
    snprintf(out, TIMELINE_TEXT_MAX, "%s (%.800s)", kind, entry->name);
  else
    snprintf(out, TIMELINE_TEXT_MAX, "%s", kind);
}

void timeline_row_name(const struct tree *tree, uint32_t row, char out[TIMELINE_TEXT_MAX])
{
  assert(row < tree->count);
  const struct tree_row *named = &tree->rows[row];
  if (named->kind == ROW_RUNTIME)
    snprintf(out, TIMELINE_TEXT_MAX, "%.500s > %.500s", tree->rows[named->parent].name, named->name);
  else
    snprintf(out, TIMELINE_TEXT_MAX, "%.500s", named->name);
}

uint32_t timeline_row(const struct timeline_lanes *lanes, const struct timeline_interval *interval)
{
  if (interval->context < lanes->report->tree->count)
    return interval->context;
  if (interval->construct >= lanes->entries)
    return 0;
  uint32_t id = lanes->report->constructs->entries[interval->construct].context;
  return id < lanes->ids && lanes->row_of[id] != MODEL_NONE ? lanes->row_of[id] : 0;
}

/* ---- walk ---- */

struct walk {
  const struct timeline_lanes *lanes;
  const struct timeline_events *events;
  void *context;
  uint32_t depth; /* constructs that are open */
  uint64_t end_ns;
  struct mpi_events_reader *mpi; /* NULL: not wanted, or there are none */
  uint32_t call;                 /* function that is open, 0: none */
};

static void end_call(struct walk *walk, uint64_t time_ns)
{
  const struct mpi_event end = {.time_ns = time_ns, .kind = MPI_EVENT_RETURN, .function = (uint16_t)walk->call};
  if (walk->call)
    walk->events->mpi(walk->context, &end);
  walk->call = MPI_FUNCTION_NONE;
}

/* Returns the next event of MPI that is wanted and comes before a time, or NULL. */
static const struct mpi_event *next_before(struct walk *walk, uint64_t time_ns)
{
  const struct mpi_event *event;
  while (walk->mpi && (event = mpi_events_peek(walk->mpi)) && event->time_ns < time_ns) {
    if (!walk->events->calls_only || event->kind == MPI_EVENT_CALL || event->kind == MPI_EVENT_RETURN)
      return event;
    mpi_events_skip(walk->mpi);
  }
  return NULL;
}

/* Passes on what happens in MPI at a time; a call that a construct has cut has returned already. */
static void pass_on(struct walk *walk, const struct mpi_event *next, uint64_t time_ns)
{
  struct mpi_event event = *next;
  mpi_events_skip(walk->mpi);
  event.time_ns = time_ns;
  if (event.kind == MPI_EVENT_RETURN) {
    end_call(walk, time_ns);
    return;
  }
  if (event.kind == MPI_EVENT_CALL) {
    end_call(walk, time_ns);
    walk->call = event.function;
  }
  walk->events->mpi(walk->context, &event);
}

static void leave_to(struct walk *walk, uint32_t depth, uint64_t time_ns)
{
  assert(depth <= walk->depth);
  if (walk->depth > depth)
    end_call(walk, time_ns);
  while (walk->depth > depth) {
    walk->depth--;
    if (walk->events->leave)
      walk->events->leave(walk->context, walk->lanes->open[walk->depth], time_ns);
  }
}

/* An interval, in pieces between what happens in MPI. */
static void pass_pieces(struct walk *walk, const struct timeline_interval *interval)
{
  struct timeline_interval piece = *interval;
  const struct mpi_event *event;
  while ((event = next_before(walk, interval->end_ns))) {
    uint64_t time_ns = MAX(event->time_ns, piece.start_ns);
    if (time_ns > piece.start_ns) {
      piece.end_ns = time_ns;
      walk->events->interval(walk->context, &piece);
      piece.start_ns = time_ns;
      piece.begins = false;
    }
    pass_on(walk, event, time_ns);
  }
  piece.end_ns = interval->end_ns;
  walk->events->interval(walk->context, &piece);
}

static int visit(void *argument, const struct timeline_interval *interval)
{
  struct walk *walk = argument;
  const struct timeline_lanes *lanes = walk->lanes;
  const struct construct_entry *entries = lanes->entries ? lanes->report->constructs->entries : NULL;
  uint32_t construct = interval->construct < lanes->entries ? interval->construct : 0, common = 0;
  for (uint32_t up = construct; up; up = entries[up].parent)
    lanes->wanted[entries[up].depth - 1] = up;
  uint32_t wanted = construct ? entries[construct].depth : 0;
  while (common < wanted && common < walk->depth && lanes->wanted[common] == lanes->open[common])
    common++;
  if (interval->begins && common && common == wanted)
    common--;
  leave_to(walk, common, interval->start_ns);
  if (walk->depth < wanted)
    end_call(walk, interval->start_ns);
  while (walk->depth < wanted) {
    lanes->open[walk->depth] = lanes->wanted[walk->depth];
    if (walk->events->enter)
      walk->events->enter(walk->context, lanes->open[walk->depth], interval->start_ns);
    walk->depth++;
  }
  pass_pieces(walk, interval);
  walk->end_ns = interval->end_ns;
  return lanes->report->stream && ferror(lanes->report->stream) ? ERR_INPUT : 0;
}

int timeline_walk(const struct timeline_lanes *lanes, uint32_t lane, const struct timeline_events *events,
                  void *context)
{
  assert(lane < lanes->report->time.timeline->lanes_count);
  const struct timeline *timeline = lanes->report->time.timeline;
  struct walk walk = {.lanes = lanes, .events = events, .context = context};
  struct mpi_events_reader reader;
  if (events->mpi && lanes->report->time.mpi) {
    mpi_events_open(lanes->report->time.mpi, lane, &reader);
    walk.mpi = &reader;
  }
  int status = timeline->each(timeline->source, lane, visit, &walk);
  const struct mpi_event *event;
  while ((event = next_before(&walk, UINT64_MAX)))
    pass_on(&walk, event, walk.end_ns);
  end_call(&walk, walk.end_ns);
  leave_to(&walk, 0, walk.end_ns);
  return walk.mpi && mpi_events_failed(lanes->report->time.mpi) ? ERR_INPUT : status;
}
