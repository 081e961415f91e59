#include "hpcprof-lite/grains/recorder.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

static void released(void *context, const struct live_grain *grain)
{
  team_chunk_released(&((struct recorder *)context)->teams, grain);
}

int recorder_init(struct recorder *recorder, const struct profile_process *process, uint32_t streams,
                  struct problems *problems)
{
  *recorder = (struct recorder){
      .process = process, .streams = calloc((size_t)streams + 1, sizeof *recorder->streams), .streams_count = streams};
  int status = recorder->streams ? 0 : ERR_NOMEM;
  status = tape_init(&recorder->tape, problems) ? ERR_NOMEM : status;
  status = grain_schedule_init(&recorder->schedule, problems) ? ERR_NOMEM : status;
  status =
      live_grains_init(&recorder->grains, &recorder->tape, &recorder->schedule, process->notes) ? ERR_NOMEM : status;
  recorder->grains.released = released;
  recorder->grains.context = recorder;
  return team_grains_init(&recorder->teams, &recorder->grains) ? ERR_NOMEM : status;
}

void recorder_release(struct recorder *recorder)
{
  team_grains_release(&recorder->teams);
  live_grains_release(&recorder->grains);
  grain_schedule_release(&recorder->schedule);
  tape_release(&recorder->tape);
  free(recorder->streams);
  free(recorder->grain_of);
  free(recorder->region_of);
  free(recorder->groups);
}

void recorder_clock_changed(void *context, enum vector_clock_change change, uint32_t clock, uint32_t other)
{
  struct tape *tape = &((struct recorder *)context)->tape;
  if (change == VECTOR_CLOCK_FREE)
    TAPE_PUT(tape, TAPE_FREE, clock);
  else
    TAPE_PUT(tape, change == VECTOR_CLOCK_SET ? TAPE_SET : TAPE_RAISE, clock, other);
}

/* ---- who runs ---- */

static uint32_t grain_of(const struct recorder *recorder, uint32_t task)
{
  return task < recorder->grain_room ? recorder->grain_of[task] : 0;
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

/* A task of the replay is a new grain. */
static uint32_t new_grain(struct recorder *recorder, enum grain_kind kind, uint32_t parent, uint32_t task)
{
  uint32_t clock = task_graph_task(recorder->graph, task)->now;
  if (!task ||
      !array_reserve_zero(&recorder->grain_of, &recorder->grain_room, (size_t)task + 1, sizeof *recorder->grain_of)) {
    recorder->no_memory |= task != 0;
    return 0;
  }
  return recorder->grain_of[task] = live_grain_new(&recorder->grains, kind, parent, clock);
}

static struct recorder_group *group_of(struct recorder *recorder, uint32_t group)
{
  static const struct recorder_group none;
  if (!group)
    return NULL;
  if (!array_reserve_zero(&recorder->groups, &recorder->groups_room, (size_t)group + 1, sizeof none)) {
    recorder->no_memory = true;
    return NULL;
  }
  return &recorder->groups[group];
}

/* Adds the time since the stream's last record to the wait of the grain that it runs. */
static void note_wait(struct recorder *recorder, const struct log_reader_record *next)
{
  struct recorder_stream *stream = &recorder->streams[next->stream];
  uint32_t index = running_in(recorder, replay_running(recorder->replay, next->stream));
  struct live_grain *grain = at(recorder, index);
  const struct profile_process *process = recorder->process;
  uint64_t from = stream->last_ticks, to = next->begin_ticks;
  stream->last_ticks = next->end_ticks;
  if (process->to_ticks) {
    from = from > process->from_ticks ? from : process->from_ticks;
    to = to < process->to_ticks ? to : process->to_ticks;
  }
  if (!(grain->flags & LIVE_GRAIN_WAITING))
    return;
  const struct team_region *region = team_region(&recorder->teams, grain->region);
  bool left = grain->region && region->ended && region->ended_ticks < to;
  to = left ? region->ended_ticks : to;
  grain->wait += to > from ? to - from : 0;
}

/* ---- creation times ---- */

/* Forgets the newest creations, until `left` are left. */
static void forget_creations(struct recorder *recorder, struct recorder_stream *stream, uint32_t left)
{
  while (stream->creations_count > left)
    live_grain_unref(&recorder->grains, stream->creations[--stream->creations_count].grain);
}

static void note_creation(struct recorder *recorder, struct recorder_stream *stream, uint64_t number, uint32_t grain)
{
  if (stream->creations_count == RECORDER_CREATIONS) { /* the outermost one is forgotten */
    live_grain_unref(&recorder->grains, stream->creations[0].grain);
    memmove(stream->creations, stream->creations + 1, sizeof stream->creations - sizeof *stream->creations);
    stream->creations_count--;
  }
  at(recorder, grain)->refs++;
  stream->creations[stream->creations_count++] = (struct recorder_creation){number, grain};
}

/* The creation of a task has taken so long.  Those inside it have ended. */
static void on_created(struct recorder *recorder, const struct log_reader_record *next)
{
  struct recorder_stream *stream = &recorder->streams[next->stream];
  uint64_t back = next->record.operand[0], number = back < stream->tasks ? stream->tasks - back : 0;
  uint32_t left = stream->creations_count;
  while (left && stream->creations[left - 1].number > number)
    left--;
  if (!left || stream->creations[left - 1].number != number)
    return;
  struct live_grain *grain = at(recorder, stream->creations[left - 1].grain);
  grain->create = next->record.operand[1] < UINT64_MAX ? next->record.operand[1] + 1 : 0;
  forget_creations(recorder, stream, left - 1);
}

/* ---- tasks ---- */

/* Gives a new grain, or region, of that creator its number. */
static void number_child(struct live_grain *creator, uint64_t *number, uint64_t *construct, bool *masked)
{
  *construct = creator->open_construct;
  *masked = creator->open_construct && creator->open_masked;
  *number = creator->open_construct ? ++creator->open_children : ++creator->children;
}

static uint32_t innermost_row(const struct recorder *recorder, uint32_t task)
{
  return task_graph_scope(recorder->graph, task_graph_task(recorder->graph, task)->scope)->row;
}

static void on_task(struct recorder *recorder, const struct log_reader_record *next)
{
  const uint64_t *operand = next->record.operand;
  uint32_t parent_task = task_graph_find(recorder->graph, operand[0], operand[1]);
  uint32_t creator_row = innermost_row(recorder, parent_task);
  uint32_t running = running_in(recorder, replay_running(recorder->replay, next->stream));
  uint64_t number = ++recorder->streams[next->stream].tasks;
  uint32_t row = operand[2] < recorder->process->workspan.directives_count ? (uint32_t)operand[2] : 0;
  replay_take(recorder->replay, next);
  uint32_t task = task_graph_find(recorder->graph, next->thread, number);
  uint32_t parent = running_in(recorder, parent_task);
  uint32_t index = new_grain(recorder, GRAIN_TASK, parent, task);
  if (!index)
    return;
  struct live_grain *grain = at(recorder, index);
  bool masked = false;
  if (parent)
    number_child(at(recorder, parent), &grain->number, &grain->construct, &masked);
  grain->flags |= masked ? LIVE_GRAIN_MASKED : 0;
  bool beside = operand[3] & GRAPHLOG_FOR_PARENT && running;
  if (operand[3] & GRAPHLOG_LOOP_TASK)
    team_taskloop_task(&recorder->teams, index,
                       beside ? at(recorder, running)->loop : at(recorder, grain_of(recorder, parent_task))->taskloop);
  grain->row = row;
  grain->creator_row = creator_row;
  grain->group = task_graph_task(recorder->graph, task)->group;
  note_creation(recorder, &recorder->streams[next->stream], number, index);
}

/* ---- the ends of tasks ---- */

/* A grain ends: its children that have ended wait for what joins their ancestors. */
static void end_grain(struct recorder *recorder, uint32_t index)
{
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
  struct live_sum *sum = waits && !own ? &parent->direct
                         : own         ? &group->direct
                         : group       ? &group->deep
                                       : &at(recorder, grain->root)->deep;
  live_sum_add(&recorder->grains, sum, grain);
}

/* The parent goes on when its child has ended. */
static void join_child(struct recorder *recorder, uint32_t parent, uint32_t index)
{
  struct live_sum joined = {0};
  live_sum_add(&recorder->grains, &joined, at(recorder, index));
  live_grain_sync(&recorder->grains, parent, LIVE_SYNC_CHILD, index, &joined);
}

static void on_task_end(struct recorder *recorder, const struct log_reader_record *next)
{
  uint32_t task = task_graph_find(recorder->graph, next->record.operand[0], next->record.operand[1]);
  uint32_t index = grain_of(recorder, task);
  uint32_t flags = task_graph_task(recorder->graph, task)->flags;
  replay_take(recorder->replay, next);
  if (!index || flags & TASK_GRAPH_IMPLICIT)
    return;
  recorder->grain_of[task] = 0;
  uint32_t parent = at(recorder, index)->parent;
  bool parent_waits = flags & TASK_GRAPH_SERIAL && parent && !(at(recorder, parent)->flags & LIVE_GRAIN_ENDED);
  if (next->record.op == GRAPHLOG_TASK_END && parent_waits)
    join_child(recorder, parent, index);
  else if (next->record.op == GRAPHLOG_TASK_END)
    add_ended(recorder, index);
  else if (!(at(recorder, index)->flags & LIVE_GRAIN_STARTED))
    at(recorder, index)->flags |= LIVE_GRAIN_DROPPED;
  end_grain(recorder, index);
}

static void on_switch(struct recorder *recorder, const struct log_reader_record *next)
{
  replay_take(recorder->replay, next);
  uint32_t index = grain_of(recorder, replay_running(recorder->replay, next->stream));
  struct live_grain *grain = at(recorder, index);
  if (!index || grain->flags & LIVE_GRAIN_STARTED)
    return;
  grain->flags |= LIVE_GRAIN_STARTED;
  grain->place = live_grains_place(&recorder->grains, next->thread, next->cpu);
}

/* Puts what the grain has counted in a fragment on the tape. */
static void count_events(struct recorder *recorder, uint32_t index, const struct log_reader_record *next)
{
  uint32_t counters = recorder->process->constructs.counters.count;
  if (counters && (!next->counts || next->cut))
    at(recorder, index)->flags |= LIVE_GRAIN_UNCOUNTED;
  for (uint32_t i = 0; i < counters && next->counts; i++)
    if (next->counts[i])
      TAPE_PUT(&recorder->tape, TAPE_COUNT, index, i, next->counts[i]);
}

static void on_run(struct recorder *recorder, const struct log_reader_record *next, uint64_t work)
{
  uint32_t task_index = replay_running(recorder->replay, next->stream);
  const struct task_graph_task *task = task_graph_task(recorder->graph, task_index);
  uint32_t index = running_in(recorder, task_index);
  uint64_t start = model_rounded(task_graph_now(recorder->graph, task).at[0]);
  bool runs = index && replay_counts(task, work);
  replay_take(recorder->replay, next);
  if (next->cut && index)
    at(recorder, index)->flags |= LIVE_GRAIN_CUT;
  if (index && !next->outside)
    count_events(recorder, index, next);
  if (runs && !next->outside)
    live_grain_run(&recorder->grains, index, live_grains_place(&recorder->grains, next->thread, next->cpu), work,
                   start);
}

/* ---- regions ---- */

static void on_region(struct recorder *recorder, const struct log_reader_record *next)
{
  struct recorder_stream *stream = &recorder->streams[next->stream];
  uint32_t task = replay_running(recorder->replay, next->stream), creator = running_in(recorder, task);
  uint32_t creator_row = innermost_row(recorder, task);
  uint64_t row = next->record.operand[0], name = task_graph_name(next->thread, ++stream->regions);
  replay_take(recorder->replay, next);
  uint32_t in_graph = name ? index_find(&recorder->graph->region_names, name) : 0;
  if (!in_graph || !array_reserve_zero(&recorder->region_of, &recorder->region_room, (size_t)in_graph + 1,
                                       sizeof *recorder->region_of)) {
    recorder->no_memory |= in_graph != 0;
    return;
  }
  uint32_t index = recorder->region_of[in_graph] = team_region_new(&recorder->teams, creator);
  struct team_region *region = team_region(&recorder->teams, index);
  if (!index)
    return;
  region->outer = stream->region;
  region->in_graph = in_graph;
  region->row = row < recorder->process->workspan.directives_count ? (uint32_t)row : 0;
  region->creator_row = creator_row;
  if (creator)
    number_child(at(recorder, creator), &region->number, &region->construct, &region->masked);
  stream->region = index;
}

static void on_region_end(struct recorder *recorder, const struct log_reader_record *next)
{
  struct recorder_stream *stream = &recorder->streams[next->stream];
  uint32_t index = stream->region;
  replay_take(recorder->replay, next);
  stream->region = team_region(&recorder->teams, index)->outer;
  team_region_end(&recorder->teams, index, next->begin_ticks);
}

/* Returns the region that is open, or has implicit tasks that are; 0: none. */
static uint32_t open_region(const struct recorder *recorder, uint32_t in_graph)
{
  uint32_t index = in_graph < recorder->region_room ? recorder->region_of[in_graph] : 0;
  const struct team_region *region = team_region(&recorder->teams, index);
  return region->refs && region->in_graph == in_graph ? index : 0;
}

/* Tasks are only created early, and by the first thread, outside regions of an initial task. */
static void on_implicit(struct recorder *recorder, const struct log_reader_record *next)
{
  replay_take(recorder->replay, next);
  recorder->streams[next->stream].tasks++;
  uint32_t task = replay_running(recorder->replay, next->stream);
  uint32_t in_graph = task_graph_task(recorder->graph, task)->region;
  uint32_t region_index = open_region(recorder, in_graph);
  const struct team_region *region = team_region(&recorder->teams, region_index);
  bool further = recorder->grains.count;
  uint32_t index = new_grain(recorder, in_graph ? GRAIN_IMPLICIT : GRAIN_INITIAL, region->creator, task);
  if (!index)
    return;
  struct live_grain *grain = at(recorder, index);
  team_region_entered(&recorder->teams, region_index, index);
  grain->flags |=
      LIVE_GRAIN_STARTED | (!in_graph && further ? LIVE_GRAIN_FURTHER : 0) | (region->masked ? LIVE_GRAIN_MASKED : 0);
  grain->member = next->record.operand[3] < UINT32_MAX ? (uint32_t)next->record.operand[3] : 0;
  grain->row = region->row;
  grain->creator_row = region->creator_row;
  grain->number = in_graph ? region->number : ++recorder->streams[next->stream].initials;
  grain->construct = region->construct;
  grain->place = live_grains_place(&recorder->grains, next->thread, next->cpu);
}

/* Joins what has ended below an implicit task. */
static void join_root(struct recorder *recorder, uint32_t index)
{
  struct live_grain *grain = at(recorder, index);
  struct live_sum joined = grain->direct;
  live_sum_move(&recorder->grains, &joined, &grain->deep);
  grain->direct = (struct live_sum){0};
  uint64_t barrier = team_region(&recorder->teams, grain->region)->name << 24 | (++grain->barriers & 0xffffff);
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
  team_loop_leave(&recorder->teams, index);
  if (region && (grain->flags & LIVE_GRAIN_WAITING || grain->direct.count || grain->deep.count))
    join_root(recorder, index);
  recorder->grain_of[task] = 0;
  team_region_left(&recorder->teams, region, index);
  live_grain_end(&recorder->grains, index);
  team_region_release(&recorder->teams, region);
}

static void on_implicit_end(struct recorder *recorder, const struct log_reader_record *next)
{
  uint32_t task = task_graph_find(recorder->graph, next->record.operand[0], next->record.operand[1]);
  replay_take(recorder->replay, next);
  end_implicit(recorder, task);
}

/* ---- waits and taskgroups ---- */

/* Adds what has ended in the taskgroups that the grain has open to what a taskwait joins. */
static void join_open_groups(struct recorder *recorder, uint32_t index, uint32_t task, struct live_sum *joined)
{
  uint32_t group = task_graph_task(recorder->graph, task)->group;
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

static void on_wait(struct recorder *recorder, const struct log_reader_record *next)
{
  const uint64_t *operand = next->record.operand;
  uint32_t task = task_graph_find(recorder->graph, operand[0], operand[1]), index = running_in(recorder, task);
  bool ends = next->record.op == GRAPHLOG_WAIT_END;
  replay_take(recorder->replay, next);
  if (!index)
    return;
  struct live_grain *grain = at(recorder, index);
  grain->flags = ends ? grain->flags & ~(uint32_t)LIVE_GRAIN_WAITING : grain->flags | LIVE_GRAIN_WAITING;
  if (!ends)
    return;
  if (operand[2] == GRAPHLOG_TASKWAIT) {
    struct live_sum joined = {0};
    live_sum_move(&recorder->grains, &joined, &grain->direct);
    join_open_groups(recorder, index, task, &joined);
    live_grain_sync(&recorder->grains, index, LIVE_SYNC_TASKWAIT, 0, &joined);
  } else if (operand[2] == GRAPHLOG_TASKGROUP) {
    join_group(recorder, index, task_graph_task(recorder->graph, task)->group);
  } else if (grain->region) {
    join_root(recorder, index);
  }
}

static void on_group(struct recorder *recorder, const struct log_reader_record *next)
{
  uint32_t task = replay_running(recorder->replay, next->stream), index = running_in(recorder, task);
  uint32_t before = task_graph_task(recorder->graph, task)->group;
  if (next->record.op == GRAPHLOG_GROUP_END)
    join_group(recorder, index, before);
  replay_take(recorder->replay, next);
  uint32_t group = task_graph_task(recorder->graph, task)->group;
  struct recorder_group *begun = group_of(recorder, group);
  if (!index || next->record.op == GRAPHLOG_GROUP_END || group == before || !begun)
    return;
  live_sum_end(&recorder->grains, &begun->direct);
  live_sum_end(&recorder->grains, &begun->deep);
  *begun = (struct recorder_group){.owner = index};
  TAPE_PUT(&recorder->tape, TAPE_GROUP, group);
}

/* ---- constructs ---- */

/* A single or masked construct numbers the tasks that are created in it by itself, so that they are the same whichever
 * thread runs it. */
static void on_scope(struct recorder *recorder, const struct log_reader_record *next)
{
  uint32_t task = replay_running(recorder->replay, next->stream), index = grain_of(recorder, task);
  struct live_grain *grain = at(recorder, index);
  uint64_t row = next->record.operand[0];
  replay_take(recorder->replay, next);
  if (!index)
    return;
  if (next->record.op == GRAPHLOG_SCOPE_END) {
    if (grain->open_construct && grain->scopes == grain->construct_scope)
      grain->open_construct = 0;
    if (grain->taskloop && grain->scopes == grain->taskloop_scope)
      team_taskloop_end(&recorder->teams, index);
    grain->scopes -= grain->scopes > 0;
    return;
  }
  grain->scopes++;
  uint32_t kind = row < recorder->process->workspan.directives_count ? recorder->process->workspan.directives[row].kind
                                                                     : (uint32_t)DIRECTIVE_PROGRAM;
  struct team_region *region = team_region(&recorder->teams, grain->region);
  if (kind == DIRECTIVE_TASKLOOP) {
    struct live_grain *creator = at(recorder, running_in(recorder, task));
    uint64_t *number = creator->open_construct ? &creator->open_taskloops : &creator->taskloops;
    team_taskloop_begin(&recorder->teams, index, ++*number);
    grain->taskloop_scope = grain->scopes;
  }
  if (!grain->region || grain->open_construct || (kind != DIRECTIVE_SINGLE && kind != DIRECTIVE_MASKED))
    return;
  grain->open_masked = kind == DIRECTIVE_MASKED;
  grain->open_construct = grain->open_masked ? ++region->maskeds : ++region->singles;
  grain->open_children = grain->open_taskloops = 0;
  grain->construct_scope = grain->scopes;
}

static void on_loop(struct recorder *recorder, const struct log_reader_record *next)
{
  uint32_t task_index = replay_running(recorder->replay, next->stream), index = grain_of(recorder, task_index);
  uint32_t in_graph = task_graph_task(recorder->graph, task_index)->region;
  uint32_t place = task_graph_task(recorder->graph, task_index)->loop_slot;
  struct live_grain *grain = at(recorder, index);
  const uint64_t *operand = next->record.operand;
  replay_take(recorder->replay, next);
  const struct task_graph_task *task = task_graph_task(recorder->graph, task_index);
  if (!index || (grain->flags & LIVE_GRAIN_KIND) > GRAIN_IMPLICIT)
    return;
  if (next->record.op != GRAPHLOG_LOOP_END) {
    uint32_t row = operand[0] < recorder->process->workspan.directives_count ? (uint32_t)operand[0] : 0;
    team_loop_enter(&recorder->teams, index, grain->region, task->loop_slot ? task->loop_slot - 1 : TASK_GRAPH_LOOPS,
                    task->constructs, operand[1], row);
    grain->loop_begin_ticks = next->begin_ticks;
    return;
  }
  team_loop_leave(&recorder->teams, index);
  if (place && grain->region && !task_graph_region(recorder->graph, in_graph)->loops[place - 1].number)
    team_loop_close(&recorder->teams, grain->region, place - 1);
}

/* A chunk of the loop that the task is in, or the range of a taskloop's task. */
static void on_chunk(struct recorder *recorder, const struct log_reader_record *next)
{
  uint32_t index = grain_of(recorder, replay_running(recorder->replay, next->stream));
  struct live_grain *grain = at(recorder, index);
  const uint64_t *operand = next->record.operand;
  replay_take(recorder->replay, next);
  bool single = !grain->loop && grain->open_construct && !grain->open_masked && !grain->open_children;
  if (single && operand[0]) /* the threads agree on it, whoever runs the construct first */
    grain->open_construct = operand[0];
  else if (grain->flags & LIVE_GRAIN_LOOP_TASK)
    team_taskloop_chunk(&recorder->teams, index, operand[0], operand[1]);
  else if (grain->loop)
    team_chunk_begin(&recorder->teams, index, live_grains_place(&recorder->grains, next->thread, next->cpu), operand[0],
                     operand[1], next->begin_ticks);
}

/* ---- records ---- */

static void on_join(struct recorder *recorder, const struct log_reader_record *next)
{
  const uint64_t *operand = next->record.operand;
  uint32_t index = running_in(recorder, task_graph_find(recorder->graph, operand[0], operand[1]));
  uint64_t join = task_graph_name(operand[2], operand[3]);
  replay_take(recorder->replay, next);
  if (index && join)
    TAPE_PUT(&recorder->tape, TAPE_DEPENDENCE, index, join, next->record.op == GRAPHLOG_TAKE);
}

void recorder_take(struct recorder *recorder, const struct log_reader_record *next)
{
  note_wait(recorder, next);
  switch (next->record.op) {
  case GRAPHLOG_RUN:
    on_run(recorder, next, next->record.operand[1]);
    break;
  case GRAPHLOG_RUN_OTHER:
    on_run(recorder, next, next->record.operand[2]);
    break;
  case GRAPHLOG_REGION:
    on_region(recorder, next);
    break;
  case GRAPHLOG_REGION_END:
    on_region_end(recorder, next);
    break;
  case GRAPHLOG_IMPLICIT:
    on_implicit(recorder, next);
    break;
  case GRAPHLOG_IMPLICIT_END:
    on_implicit_end(recorder, next);
    break;
  case GRAPHLOG_TASK:
    on_task(recorder, next);
    break;
  case GRAPHLOG_SWITCH:
    on_switch(recorder, next);
    break;
  case GRAPHLOG_TASK_END:
  case GRAPHLOG_TASK_DROP:
    on_task_end(recorder, next);
    break;
  case GRAPHLOG_WAIT:
  case GRAPHLOG_WAIT_END:
    on_wait(recorder, next);
    break;
  case GRAPHLOG_GROUP:
  case GRAPHLOG_GROUP_END:
    on_group(recorder, next);
    break;
  case GRAPHLOG_SCOPE:
  case GRAPHLOG_SCOPE_END:
    on_scope(recorder, next);
    break;
  case GRAPHLOG_LOOP:
  case GRAPHLOG_LOOP_ALONE:
  case GRAPHLOG_LOOP_END:
    on_loop(recorder, next);
    break;
  case GRAPHLOG_CHUNK:
    on_chunk(recorder, next);
    break;
  case GRAPHLOG_CREATED:
    on_created(recorder, next);
    break;
  case GRAPHLOG_OFFER:
  case GRAPHLOG_TAKE:
    on_join(recorder, next);
    break;
  default:
    replay_take(recorder->replay, next);
  }
}

int recorder_end(struct recorder *recorder)
{
  for (uint32_t task = 0; task < recorder->grain_room; task++)
    end_implicit(recorder, task); /* the ends of workers are announced late, or never */
  for (uint32_t i = 0; i < recorder->streams_count; i++)
    forget_creations(recorder, &recorder->streams[i], 0);
  int status = live_grains_finish(&recorder->grains);
  team_grains_finish(&recorder->teams);
  int taped = tape_end(&recorder->tape);
  bool overflow = recorder->grains.pool.overflow || recorder->teams.regions.overflow ||
                  recorder->teams.loops.overflow || recorder->grains.place_index.overflow ||
                  recorder->grains.spreads.overflow;
  if (recorder->no_memory || overflow)
    return ERR_NOMEM;
  return status ? status : taped;
}
