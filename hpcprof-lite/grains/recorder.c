#include "hpcprof-lite/grains/recorder.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void recorder_init(struct recorder *recorder, const struct profile_process *process, uint32_t streams,
                   struct problems *problems)
{
  assert(streams);
  *recorder = (struct recorder){
      .process = process, .streams = xcalloc(streams, sizeof *recorder->streams), .streams_count = streams};
  live_grains_init(&recorder->grains, process->notes, problems);
}

void recorder_release(struct recorder *recorder)
{
  live_grains_release(&recorder->grains);
  free(recorder->streams);
  free(recorder->groups);
}

void recorder_clock_changed(void *context, enum vector_clock_change change, uint32_t clock, uint32_t other)
{
  struct tape *tape = &((struct recorder *)context)->grains.tape;
  if (change == VECTOR_CLOCK_FREE)
    TAPE_PUT(tape, TAPE_FREE, clock);
  else
    TAPE_PUT(tape, change == VECTOR_CLOCK_SET ? TAPE_SET : TAPE_RAISE, clock, other);
}

/* ---- what runs ---- */

static struct task_graph_task *task_at(const struct recorder *recorder, uint32_t task)
{
  return task_graph_task(recorder->graph, task);
}

static uint32_t grain_of(const struct recorder *recorder, uint32_t task)
{
  return task_at(recorder, task)->grain;
}

/* Returns the task's grain, or the chunk that it runs. */
static uint32_t running_in(const struct recorder *recorder, uint32_t task)
{
  uint32_t index = grain_of(recorder, task), chunk = live_grain(&recorder->grains, index)->chunk;
  return chunk ? chunk : index;
}

static struct live_grain *at(const struct recorder *recorder, uint32_t index)
{
  return live_grain(&recorder->grains, index);
}

/* A task of the graph is a new grain. */
static uint32_t new_grain(struct recorder *recorder, enum grain_kind kind, uint32_t parent, uint32_t index)
{
  assert(kind < GRAIN_KINDS);
  struct task_graph_task *task = task_at(recorder, index);
  if (index)
    task->grain = live_grain_new(&recorder->grains, kind, parent, task->now);
  return task->grain;
}

static struct recorder_group *group_of(struct recorder *recorder, uint32_t group)
{
  if (!group)
    return NULL;
  xarray_reserve_zero(&recorder->groups, &recorder->groups_room, (size_t)group + 1, sizeof *recorder->groups);
  return &recorder->groups[group];
}

/* Adds the time since the stream's last record to the wait of the grain that it runs. */
static void note_wait(struct recorder *recorder, const struct graph_event *event)
{
  const struct log_reader_record *next = event->next;
  struct recorder_stream *stream = &recorder->streams[next->stream];
  struct live_grain *grain = at(recorder, running_in(recorder, event->running));
  const struct profile_process *process = recorder->process;
  uint64_t from = stream->last_ticks, to = next->begin_ticks;
  stream->last_ticks = next->end_ticks;
  if (process->to_ticks) {
    from = MAX(from, process->from_ticks);
    to = MIN(to, process->to_ticks);
  }
  if (!(grain->flags & LIVE_GRAIN_WAITING))
    return;
  const struct team_region *region = team_region(&recorder->grains, grain->region);
  if (grain->region && region->ended)
    to = MIN(to, region->ended_ticks);
  grain->wait += to > from ? to - from : 0;
}

/* ---- creation times ---- */

/* Forgets the newest creations, until `left` are left. */
static void forget_creations(struct recorder *recorder, struct recorder_stream *stream, uint32_t left)
{
  assert(left <= stream->creations_count);
  while (stream->creations_count > left)
    live_grain_unref(&recorder->grains, stream->creations[--stream->creations_count].grain);
}

static void note_creation(struct recorder *recorder, struct recorder_stream *stream, uint64_t number, uint32_t grain)
{
  assert(grain && stream->creations_count <= RECORDER_CREATIONS);
  if (stream->creations_count == RECORDER_CREATIONS) { /* the outermost one is forgotten */
    live_grain_unref(&recorder->grains, stream->creations[0].grain);
    memmove(stream->creations, stream->creations + 1, sizeof stream->creations - sizeof *stream->creations);
    stream->creations_count--;
  }
  at(recorder, grain)->refs++;
  stream->creations[stream->creations_count++] = (struct recorder_creation){number, grain};
}

/* The creation of a task has taken so long.  Those inside it have ended. */
static void on_created(struct recorder *recorder, const struct graph_event *event)
{
  struct recorder_stream *stream = &recorder->streams[event->next->stream];
  uint64_t back = event->operand[0], number = back < event->stream->tasks ? event->stream->tasks - back : 0;
  uint32_t left = stream->creations_count;
  while (left && stream->creations[left - 1].number > number)
    left--;
  if (!left || stream->creations[left - 1].number != number)
    return;
  struct live_grain *grain = at(recorder, stream->creations[left - 1].grain);
  grain->create = event->operand[1] < UINT64_MAX ? event->operand[1] + 1 : 0;
  forget_creations(recorder, stream, left - 1);
}

/* ---- tasks ---- */

/* Gives a new grain, or region, of that creator its number. */
static void number_child(struct live_grain *creator, uint64_t *number, uint64_t *construct, bool *masked)
{
  *construct = creator->open_construct;
  *masked = creator->open_construct && creator->open_masked;
  if (creator->open_construct)
    *number = ++creator->open_children;
  else
    *number = ++creator->children;
}

static uint32_t innermost_row(const struct recorder *recorder, uint32_t task)
{
  return task_graph_scope(recorder->graph, task_at(recorder, task)->scope)->row;
}

/* Returns the row of a record, 0 if it does not exist. */
static uint32_t row_of(const struct recorder *recorder, uint64_t row)
{
  return row < recorder->process->workspan.directives_count ? (uint32_t)row : 0;
}

static void on_task(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t parent = running_in(recorder, event->task), running = running_in(recorder, event->running);
  uint32_t index = new_grain(recorder, GRAIN_TASK, parent, event->created);
  if (!index)
    return;
  struct live_grain *grain = at(recorder, index);
  bool masked = false;
  if (parent)
    number_child(at(recorder, parent), &grain->number, &grain->construct, &masked);
  grain->flags |= masked ? LIVE_GRAIN_MASKED : 0;
  bool beside = event->operand[3] & GRAPHLOG_FOR_PARENT && running;
  if (event->operand[3] & GRAPHLOG_LOOP_TASK)
    team_taskloop_task(&recorder->grains, index,
                       beside ? at(recorder, running)->loop : at(recorder, grain_of(recorder, event->task))->taskloop);
  grain->row = row_of(recorder, event->operand[2]);
  grain->creator_row = innermost_row(recorder, event->task);
  grain->group = task_at(recorder, event->created)->group;
  note_creation(recorder, &recorder->streams[event->next->stream], event->stream->tasks, index);
}

/* ---- the ends of tasks ---- */

/* A grain ends: its children that have ended wait for what joins their ancestors. */
static void end_grain(struct recorder *recorder, uint32_t index)
{
  assert(index);
  struct live_grain *grain = at(recorder, index);
  struct recorder_group *group = group_of(recorder, grain->group);
  live_sum_move(&recorder->grains, group ? &group->deep : &at(recorder, grain->root)->deep, &grain->direct);
  live_grain_end(&recorder->grains, index);
}

/* Adds a task that has ended to what its parent, its group or its region joins. */
static void add_ended(struct recorder *recorder, uint32_t index)
{
  const struct live_grain *grain = at(recorder, index);
  struct live_grain *parent = at(recorder, grain->parent);
  if (!grain->parent)
    return;
  if (parent->flags & LIVE_GRAIN_OF_LOOP && parent->flags & LIVE_GRAIN_ENDED)
    parent = at(recorder, parent->parent);
  struct recorder_group *group = group_of(recorder, grain->group);
  bool waits = !(parent->flags & LIVE_GRAIN_ENDED), own = group && at(recorder, group->owner) == parent;
  struct live_sum *sum = group ? &group->deep : &at(recorder, grain->root)->deep;
  if (own)
    sum = &group->direct;
  else if (waits)
    sum = &parent->direct;
  live_sum_add(&recorder->grains, sum, grain);
}

/* The parent goes on when its child has ended. */
static void join_child(struct recorder *recorder, uint32_t parent, uint32_t index)
{
  assert(parent && index);
  struct live_sum joined = {0};
  live_sum_add(&recorder->grains, &joined, at(recorder, index));
  live_grain_sync(&recorder->grains, parent, LIVE_SYNC_CHILD, index, &joined);
}

static void on_task_end(struct recorder *recorder, const struct graph_event *event)
{
  struct task_graph_task *task = task_at(recorder, event->task);
  uint32_t index = task->grain;
  if (!index || task->flags & TASK_GRAPH_IMPLICIT)
    return;
  task->grain = 0;
  uint32_t parent = at(recorder, index)->parent;
  bool parent_waits = task->flags & TASK_GRAPH_SERIAL && parent && !(at(recorder, parent)->flags & LIVE_GRAIN_ENDED);
  if (event->op == GRAPHLOG_TASK_END && parent_waits)
    join_child(recorder, parent, index);
  else if (event->op == GRAPHLOG_TASK_END)
    add_ended(recorder, index);
  else if (!(at(recorder, index)->flags & LIVE_GRAIN_STARTED))
    at(recorder, index)->flags |= LIVE_GRAIN_DROPPED;
  end_grain(recorder, index);
}

/* Returns the number of the placement at which a record's thread runs. */
static uint32_t placement_of(struct recorder *recorder, const struct graph_event *event)
{
  return live_grains_placement(&recorder->grains, event->next->thread, event->next->cpu);
}

static void on_switch(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = grain_of(recorder, event->task);
  struct live_grain *grain = at(recorder, index);
  if (!index || grain->flags & LIVE_GRAIN_STARTED)
    return;
  grain->flags |= LIVE_GRAIN_STARTED;
  grain->placement = placement_of(recorder, event);
}

/* Puts what the grain has counted in a fragment on the tape. */
static void count_events(struct recorder *recorder, uint32_t index, const struct log_reader_record *next)
{
  uint32_t counters = recorder->process->constructs.counters.count;
  if (counters && (!next->counts || next->cut))
    at(recorder, index)->flags |= LIVE_GRAIN_UNCOUNTED;
  for (uint32_t i = 0; i < counters && next->counts; i++)
    if (next->counts[i])
      TAPE_PUT(&recorder->grains.tape, TAPE_COUNT, index, i, next->counts[i]);
}

static void on_run(struct recorder *recorder, const struct graph_event *event)
{
  const struct log_reader_record *next = event->next;
  uint32_t index = running_in(recorder, event->running);
  if (!index)
    return;
  if (next->cut)
    at(recorder, index)->flags |= LIVE_GRAIN_CUT;
  if (next->outside)
    return;
  count_events(recorder, index, next);
  if (event->counts)
    live_grain_run(&recorder->grains, index, placement_of(recorder, event), event->work, model_rounded(event->start));
}

/* ---- regions ---- */

static void on_region(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t creator = running_in(recorder, event->running);
  if (!event->created)
    return;
  uint32_t index = team_region_new(&recorder->grains, creator);
  struct team_region *region = team_region(&recorder->grains, index);
  task_graph_region(recorder->graph, event->created)->team = index;
  if (!index)
    return;
  region->in_graph = event->created;
  region->row = row_of(recorder, event->operand[0]);
  region->creator_row = innermost_row(recorder, event->running);
  if (creator)
    number_child(at(recorder, creator), &region->number, &region->construct, &region->masked);
}

static void on_region_end(struct recorder *recorder, const struct graph_event *event)
{
  const struct task_graph_region *region = task_graph_region(recorder->graph, event->stream->region);
  for (uint32_t i = 0; i < TASK_GRAPH_LOOPS; i++)
    team_loop_release(&recorder->grains, region->loops[i].team);
  team_region_end(&recorder->grains, region->team, event->next->begin_ticks);
}

/* Returns the region that is open, or has implicit tasks that are; 0: none. */
static uint32_t open_region(const struct recorder *recorder, uint32_t in_graph)
{
  uint32_t index = task_graph_region(recorder->graph, in_graph)->team;
  const struct team_region *region = team_region(&recorder->grains, index);
  return region->refs && region->in_graph == in_graph ? index : 0;
}

/* Tasks are only created early, and by the first thread, outside regions of an initial task. */
static void on_implicit(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t in_graph = task_at(recorder, event->created)->region;
  uint32_t region_index = open_region(recorder, in_graph);
  const struct team_region *region = team_region(&recorder->grains, region_index);
  bool further = recorder->grains.count;
  uint32_t index = new_grain(recorder, in_graph ? GRAIN_IMPLICIT : GRAIN_INITIAL, region->creator, event->created);
  if (!index)
    return;
  struct live_grain *grain = at(recorder, index);
  team_region_entered(&recorder->grains, region_index, index);
  grain->flags |= LIVE_GRAIN_STARTED;
  if (!in_graph && further)
    grain->flags |= LIVE_GRAIN_FURTHER;
  if (region->masked)
    grain->flags |= LIVE_GRAIN_MASKED;
  grain->member = event->operand[3] < UINT32_MAX ? (uint32_t)event->operand[3] : 0;
  grain->row = region->row;
  grain->creator_row = region->creator_row;
  if (in_graph)
    grain->number = region->number;
  else
    grain->number = ++recorder->streams[event->next->stream].initials;
  grain->construct = region->construct;
  grain->placement = placement_of(recorder, event);
}

/* Joins what has ended below an implicit task. */
static void join_root(struct recorder *recorder, uint32_t index)
{
  assert(index);
  struct live_grain *grain = at(recorder, index);
  struct live_sum joined = grain->direct;
  live_sum_move(&recorder->grains, &joined, &grain->deep);
  grain->direct = (struct live_sum){0};
  uint64_t barrier = team_region(&recorder->grains, grain->region)->name << 24 | (++grain->barriers & 0xffffff);
  live_grain_sync(&recorder->grains, index, LIVE_SYNC_BARRIER, barrier, &joined);
}

/* The implicit or initial task ends, if it is one. */
static void end_implicit(struct recorder *recorder, uint32_t task)
{
  uint32_t index = grain_of(recorder, task);
  if (!index || (at(recorder, index)->flags & LIVE_GRAIN_KIND) > GRAIN_IMPLICIT)
    return;
  struct live_grain *grain = at(recorder, index);
  uint32_t region = grain->region;
  team_loop_leave(&recorder->grains, index);
  if (region && (grain->flags & LIVE_GRAIN_WAITING || grain->direct.count || grain->deep.count))
    join_root(recorder, index);
  task_at(recorder, task)->grain = 0;
  team_region_left(&recorder->grains, region, index);
  live_grain_end(&recorder->grains, index);
  team_region_release(&recorder->grains, region);
}

static void on_implicit_end(struct recorder *recorder, const struct graph_event *event)
{
  end_implicit(recorder, event->task);
}

/* ---- waits and taskgroups ---- */

/* Adds what has ended in the taskgroups that the grain has open to what a taskwait joins. */
static void join_open_groups(struct recorder *recorder, uint32_t index, uint32_t task, struct live_sum *joined)
{
  uint32_t group = task_at(recorder, task)->group;
  for (struct recorder_group *open = group_of(recorder, group); open && open->owner == index;
       open = group_of(recorder, group)) {
    live_sum_move(&recorder->grains, joined, &open->direct);
    group = task_graph_group(recorder->graph, group)->outer;
  }
}

static void join_group(struct recorder *recorder, uint32_t index, uint32_t group)
{
  struct recorder_group *ending = group_of(recorder, group);
  if (!ending || ending->joined || ending->owner != index)
    return;
  struct live_sum joined = {0};
  ending->joined = true;
  live_sum_move(&recorder->grains, &joined, &ending->direct);
  live_sum_move(&recorder->grains, &joined, &ending->deep);
  live_grain_sync(&recorder->grains, index, LIVE_SYNC_GROUP, group, &joined);
}

static void on_wait(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = running_in(recorder, event->task);
  if (index)
    at(recorder, index)->flags |= LIVE_GRAIN_WAITING;
}

static void on_wait_end(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = running_in(recorder, event->task);
  struct live_grain *grain = at(recorder, index);
  if (!index)
    return;
  grain->flags &= ~(uint32_t)LIVE_GRAIN_WAITING;
  if (event->operand[2] == GRAPHLOG_TASKWAIT) {
    struct live_sum joined = {0};
    live_sum_move(&recorder->grains, &joined, &grain->direct);
    join_open_groups(recorder, index, event->task, &joined);
    live_grain_sync(&recorder->grains, index, LIVE_SYNC_TASKWAIT, 0, &joined);
  } else if (event->operand[2] == GRAPHLOG_TASKGROUP) {
    join_group(recorder, index, task_at(recorder, event->task)->group);
  } else if (grain->region) {
    join_root(recorder, index);
  }
}

static void on_group(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = running_in(recorder, event->running), group = event->created;
  struct recorder_group *begun = group_of(recorder, group);
  if (!index || !begun)
    return;
  live_sum_end(&recorder->grains, &begun->direct);
  live_sum_end(&recorder->grains, &begun->deep);
  *begun = (struct recorder_group){.owner = index};
  TAPE_PUT(&recorder->grains.tape, TAPE_GROUP, group);
}

static void on_group_end(struct recorder *recorder, const struct graph_event *event)
{
  join_group(recorder, running_in(recorder, event->running), task_at(recorder, event->running)->group);
}

/* ---- constructs ---- */

static void on_scope_end(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = grain_of(recorder, event->running);
  struct live_grain *grain = at(recorder, index);
  if (!index)
    return;
  if (grain->open_construct && grain->scopes == grain->construct_scope)
    grain->open_construct = 0;
  if (grain->taskloop && grain->scopes == grain->taskloop_scope)
    team_taskloop_end(&recorder->grains, index);
  grain->scopes -= grain->scopes > 0;
}

/* A single or masked construct numbers the tasks that are created in it by itself, so that they are the same whichever
 * thread runs it. */
static void on_scope(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = grain_of(recorder, event->running);
  struct live_grain *grain = at(recorder, index);
  uint64_t row = event->operand[0];
  if (!index)
    return;
  grain->scopes++;
  uint32_t kind = DIRECTIVE_PROGRAM;
  if (row < recorder->process->workspan.directives_count)
    kind = recorder->process->workspan.directives[row].kind;
  struct team_region *region = team_region(&recorder->grains, grain->region);
  if (kind == DIRECTIVE_TASKLOOP) {
    struct live_grain *creator = at(recorder, running_in(recorder, event->running));
    uint64_t *number = creator->open_construct ? &creator->open_taskloops : &creator->taskloops;
    team_taskloop_begin(&recorder->grains, index, ++*number);
    grain->taskloop_scope = grain->scopes;
  }
  if (!grain->region || grain->open_construct || (kind != DIRECTIVE_SINGLE && kind != DIRECTIVE_MASKED))
    return;
  grain->open_masked = kind == DIRECTIVE_MASKED;
  if (grain->open_masked)
    grain->open_construct = ++region->maskeds;
  else
    grain->open_construct = ++region->singles;
  grain->open_children = grain->open_taskloops = 0;
  grain->construct_scope = grain->scopes;
}

/* Returns whether a grain is an implicit or initial task. */
static bool is_implicit(const struct recorder *recorder, uint32_t index)
{
  return index && (at(recorder, index)->flags & LIVE_GRAIN_KIND) <= GRAIN_IMPLICIT;
}

static void on_loop(struct recorder *recorder, const struct graph_event *event)
{
  const struct task_graph_task *task = task_at(recorder, event->running);
  struct task_graph_region *region = task_graph_region(recorder->graph, task->region);
  struct live_grain *grain = at(recorder, task->grain);
  if (!is_implicit(recorder, task->grain))
    return;
  team_loop_enter(&recorder->grains, task->grain,
                  task->loop_slot && grain->region ? &region->loops[task->loop_slot - 1].team : NULL, task->constructs,
                  event->operand[1], row_of(recorder, event->operand[0]));
  grain->loop_begin_ticks = event->next->begin_ticks;
}

static void on_loop_end(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = grain_of(recorder, event->running);
  if (is_implicit(recorder, index))
    team_loop_leave(&recorder->grains, index);
  team_loop_release(&recorder->grains, event->closed_loop);
}

/* A chunk of the loop that the task is in, or the range of a taskloop's task. */
static void on_chunk(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = grain_of(recorder, event->running);
  struct live_grain *grain = at(recorder, index);
  const uint64_t *operand = event->operand;
  bool single = !grain->loop && grain->open_construct && !grain->open_masked && !grain->open_children;
  if (single && operand[0]) /* the threads agree on it, whichever runs the construct first */
    grain->open_construct = operand[0];
  else if (grain->flags & LIVE_GRAIN_LOOP_TASK)
    team_taskloop_chunk(&recorder->grains, index, operand[0], operand[1]);
  else if (grain->loop)
    team_chunk_begin(&recorder->grains, index, placement_of(recorder, event), operand[0], operand[1],
                     event->next->begin_ticks);
}

static void on_join(struct recorder *recorder, const struct graph_event *event)
{
  uint32_t index = running_in(recorder, event->task);
  uint64_t join = task_graph_name(event->operand[2], event->operand[3]);
  if (index && join)
    TAPE_PUT(&recorder->grains.tape, TAPE_DEPENDENCE, index, join, event->op == GRAPHLOG_TAKE);
}

/* ---- records ---- */

typedef void on_event(struct recorder *recorder, const struct graph_event *event);

/* Ends are processed while the graph still has what ends. */
static on_event *const before[GRAPHLOG_OPS] = {
    [GRAPHLOG_REGION_END] = on_region_end, [GRAPHLOG_IMPLICIT_END] = on_implicit_end, [GRAPHLOG_TASK_END] = on_task_end,
    [GRAPHLOG_TASK_DROP] = on_task_end,    [GRAPHLOG_GROUP_END] = on_group_end,
};
static on_event *const after[GRAPHLOG_OPS] = {
    [GRAPHLOG_RUN] = on_run,           [GRAPHLOG_RUN_OTHER] = on_run,       [GRAPHLOG_REGION] = on_region,
    [GRAPHLOG_IMPLICIT] = on_implicit, [GRAPHLOG_TASK] = on_task,           [GRAPHLOG_SWITCH] = on_switch,
    [GRAPHLOG_WAIT] = on_wait,         [GRAPHLOG_WAIT_END] = on_wait_end,   [GRAPHLOG_GROUP] = on_group,
    [GRAPHLOG_SCOPE] = on_scope,       [GRAPHLOG_SCOPE_END] = on_scope_end, [GRAPHLOG_LOOP] = on_loop,
    [GRAPHLOG_LOOP_ALONE] = on_loop,   [GRAPHLOG_LOOP_END] = on_loop_end,   [GRAPHLOG_CHUNK] = on_chunk,
    [GRAPHLOG_CREATED] = on_created,   [GRAPHLOG_OFFER] = on_join,          [GRAPHLOG_TAKE] = on_join,
};

void recorder_begin(void *recorder, const struct task_graph *graph)
{
  ((struct recorder *)recorder)->graph = graph;
}

void recorder_before(void *recorder, const struct graph_event *event)
{
  assert(event->op < GRAPHLOG_OPS && event->next->stream < ((const struct recorder *)recorder)->streams_count);
  note_wait(recorder, event);
  if (before[event->op])
    before[event->op](recorder, event);
}

void recorder_after(void *recorder, const struct graph_event *event)
{
  assert(event->op < GRAPHLOG_OPS);
  if (after[event->op])
    after[event->op](recorder, event);
}

int recorder_end(void *context)
{
  struct recorder *recorder = context;
  for (uint32_t task = 1; task < recorder->graph->tasks.pool.used; task++)
    end_implicit(recorder, task); /* the ends of workers are announced late, or never */
  for (uint32_t i = 0; i < recorder->streams_count; i++)
    forget_creations(recorder, &recorder->streams[i], 0);
  live_grains_finish(&recorder->grains);
  team_grains_finish(&recorder->grains);
  return tape_end(&recorder->grains.tape);
}
