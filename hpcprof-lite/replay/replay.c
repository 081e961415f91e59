#include "hpcprof-lite/replay/replay.h"

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/joins.h"
#include "hpcprof-lite/replay/list_schedule.h"
#include "hpcprof-lite/replay/locks.h"
#include "hpcprof-lite/replay/task_graph.h"

#include <stdlib.h>

_Static_assert(1 + REPLAY_SCENARIOS + 1 + REPLAY_SCHEDULES <= VECTOR_CLOCK_ELEMENTS, "a lane for each");
_Static_assert((int)REPLAY_SCENARIOS <= SELECTION_MAX, "a factor for each");

enum { SAMPLES_MAX = 64, NAME_BITS = 44 };

struct stream {
  uint32_t task, region, samples_count;
  uint64_t tasks, regions;
  struct {
    uint64_t node;
    double weight;
  } samples[SAMPLES_MAX];
};

struct replay {
  const struct replay_request *request;
  uint32_t width, scenarios, burdened, schedules_at; /* lanes: numbers of the first of each kind */
  struct stream *streams;
  struct task_graph graph;
  struct joins joins;
  struct locks locks;
  struct contributions contributions;
  struct list_schedule schedules[REPLAY_SCHEDULES];
  uint32_t program; /* clock: the end of all */
  bool collects, detail;
  double removed[REPLAY_SCENARIOS];
  double *contribution;
  struct replay_result result;
};

/* Of a task, region or join; 0 where no thread can have made it. */
static uint64_t name_of(uint64_t thread, uint64_t number)
{
  bool sound = thread && number && thread >> (64 - NAME_BITS) == 0 && number >> NAME_BITS == 0;
  return sound ? thread << NAME_BITS | number : 0;
}

static struct task_graph_task *task_at(const struct replay *replay, uint32_t index)
{
  return task_graph_task(&replay->graph, index);
}

static struct task_graph_region *region_at(const struct replay *replay, uint32_t index)
{
  return task_graph_region(&replay->graph, index);
}

/* The task that a record names, 0 if none. */
static uint32_t find_task(const struct replay *replay, const struct graphlog_record *record)
{
  uint64_t name = name_of(record->operand[0], record->operand[1]);
  return name ? index_find(&replay->graph.task_names, name) : 0;
}

static uint32_t row_of(struct replay *replay, uint64_t row)
{
  if (row < replay->request->rows)
    return (uint32_t)row;
  replay->result.invalid++;
  return 0;
}

/* A clock takes another one in; it is made when it is needed. */
static void offer(struct replay *replay, uint32_t *clock, uint32_t other)
{
  if (!*clock)
    *clock = vector_clock_new(&replay->graph.clocks);
  replay->graph.lost_tasks += !*clock;
  vector_clock_raise(&replay->graph.clocks, *clock, other);
}

static void set_current(struct replay *replay, struct stream *stream, uint32_t index)
{
  uint32_t before = stream->task;
  if (index)
    task_at(replay, index)->refs++;
  stream->task = index;
  task_graph_task_release(&replay->graph, before);
}

static void on_join(struct replay *replay, uint32_t task, const struct graphlog_record *record)
{
  uint64_t name = name_of(record->operand[2], record->operand[3]);
  if (!task || !name) {
    replay->result.invalid++;
    return;
  }
  uint32_t clock = joins_clock(&replay->joins, name, record->op == GRAPHLOG_OFFER);
  replay->result.lost_joins += !clock;
  if (record->op == GRAPHLOG_TAKE)
    vector_clock_raise(&replay->graph.clocks, task_at(replay, task)->now, clock);
  else
    vector_clock_raise(&replay->graph.clocks, clock, task_at(replay, task)->now);
}

/* ---- fragments ---- */

/* Who contributes to the first scenario's clock. */
static void trace(struct replay *replay, const struct stream *stream, uint32_t row, uint32_t thread, double left,
                  const struct task_graph_scope *scope, double work)
{
  struct vector_clock *clock = vector_clock_at(&replay->graph.clocks, task_at(replay, stream->task)->now);
  double weight = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++)
    weight += stream->samples[i].weight;
  if (!(weight > 0))
    contributions_add(&replay->contributions, &clock->contribution,
                      attribution_find(replay->request->attribution, row, 0, 0), left);
  for (uint32_t i = 0; i < stream->samples_count && weight > 0; i++) {
    uint32_t entry = attribution_find(replay->request->attribution, row, thread, stream->samples[i].node);
    double keep = selection_part(&replay->graph.selection, scope->chosen, 0, entry);
    contributions_add(&replay->contributions, &clock->contribution, entry,
                      keep * work * stream->samples[i].weight / weight);
  }
}

/* What of a fragment is left in a scenario. */
static double left_of(struct replay *replay, const struct stream *stream, const struct task_graph_scope *scope,
                      uint32_t scenario, const uint32_t *attribution, double weight)
{
  if (!(weight > 0))
    return selection_mix(&replay->graph.selection, scope->chosen, scenario, scope->row);
  double sum = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++)
    sum +=
        stream->samples[i].weight * selection_part(&replay->graph.selection, scope->chosen, scenario, attribution[i]);
  return sum / weight;
}

static void run_scenarios(struct replay *replay, struct stream *stream, uint32_t thread,
                          const struct task_graph_scope *scope, double work, struct vector_clock *clock)
{
  uint32_t attribution[SAMPLES_MAX];
  double weight = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++) {
    attribution[i] = attribution_find(replay->request->attribution, scope->row, thread, stream->samples[i].node);
    weight += stream->samples[i].weight;
  }
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    double left = work * left_of(replay, stream, scope, i, attribution, weight);
    double exact = work * selection_exact(&replay->graph.selection, scope->chosen, i);
    struct vector_clock_element *element = &clock->element[1 + i];
    element->at += left;
    if (exact == work && !(replay->request->exact_samples && weight > 0)) {
      element->removed += work - left;
      element->sampled += work;
      replay->removed[i] += work - left;
    }
    if (i == 0 && replay->detail)
      trace(replay, stream, scope->row, thread, left, scope, work);
  }
}

static void collect(struct replay *replay, const struct stream *stream, uint32_t thread, uint32_t row, double work)
{
  double weight = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++)
    weight += stream->samples[i].weight;
  if (!(weight > 0))
    attribution_add(replay->request->attribution, row, 0, 0);
  for (uint32_t i = 0; i < stream->samples_count && weight > 0; i++) {
    uint32_t entry = attribution_add(replay->request->attribution, row, thread, stream->samples[i].node);
    if (entry)
      replay->request->attribution->entries[entry].amount += work * stream->samples[i].weight / weight;
  }
}

static void on_run(struct replay *replay, struct stream *stream, uint32_t thread, uint64_t work)
{
  struct task_graph_task *task = task_at(replay, stream->task);
  struct task_graph_scope *scope = task_graph_scope(&replay->graph, task->scope);
  struct vector_clock *clock = vector_clock_at(&replay->graph.clocks, task->now);
  replay->result.fragments++;
  if (!stream->task || !task->scope || !task->now || work >= (uint64_t)1 << 60) {
    replay->result.invalid++;
    stream->samples_count = 0;
    return;
  }
  replay->result.work += work;
  replay->result.samples += stream->samples_count;
  scope->pending += work;
  clock->element[0].at += (double)work;
  if (replay->collects)
    collect(replay, stream, thread, scope->row, (double)work);
  else
    run_scenarios(replay, stream, thread, scope, (double)work, clock);
  if (replay->burdened)
    clock->element[replay->burdened].at += (double)work;
  for (uint32_t i = 0; i < replay->request->cores_count && work; i++) {
    struct vector_clock_element *element = &clock->element[replay->schedules_at + i];
    element->at = list_schedule_run(&replay->schedules[i], element->at, (double)work);
  }
  stream->samples_count = 0;
}

static void on_sample(struct stream *stream, uint64_t node, uint64_t weight)
{
  if (stream->samples_count < SAMPLES_MAX) {
    stream->samples[stream->samples_count].node = node;
    stream->samples[stream->samples_count++].weight = (double)weight;
  }
}

/* ---- tasks and regions ---- */

static void burden(struct replay *replay, uint32_t clock, double cost)
{
  if (replay->burdened && clock)
    vector_clock_at(&replay->graph.clocks, clock)->element[replay->burdened].at += cost;
}

static void on_implicit(struct replay *replay, struct stream *stream, uint32_t thread,
                        const struct graphlog_record *record)
{
  uint64_t name = name_of(record->operand[0], record->operand[1]);
  uint32_t in = name ? index_find(&replay->graph.region_names, name) : 0;
  uint32_t index = task_graph_task_new(&replay->graph, name_of(thread, ++stream->tasks));
  struct task_graph_region *region = region_at(replay, in);
  replay->result.invalid += name && !in;
  if (index) {
    struct task_graph_task *task = task_at(replay, index);
    task->flags = TASK_GRAPH_IMPLICIT | TASK_GRAPH_STARTED;
    task->region = in;
    region->refs += in != 0;
    if (in)
      region->size = record->operand[2];
    task->now = vector_clock_copy(&replay->graph.clocks, region->start);
    burden(replay, in ? task->now : 0, replay->request->cost_fork);
    task_graph_task_scope(&replay->graph, task, region->row, region->chosen);
  }
  set_current(replay, stream, index);
}

static void offer_phase(struct replay *replay, const struct task_graph_task *task)
{
  struct task_graph_region *region = region_at(replay, task->region);
  if (region->open)
    offer(replay, &region->phases[task->phase & 1], task->now);
}

static void on_implicit_end(struct replay *replay, struct stream *stream, uint32_t index)
{
  const struct task_graph_task *task = task_at(replay, index);
  if (!index)
    return;
  if (task->region)
    offer_phase(replay, task);
  else
    vector_clock_raise(&replay->graph.clocks, replay->program, task->now);
  if (stream->task == index)
    set_current(replay, stream, 0);
  task_graph_task_end(&replay->graph, index);
}

static void on_region(struct replay *replay, struct stream *stream, uint32_t thread, uint64_t row)
{
  uint64_t name = name_of(thread, ++stream->regions);
  uint32_t index = name ? object_pool_get(&replay->graph.regions) : 0;
  if (!index || !index_add(&replay->graph.region_names, name, index)) {
    replay->graph.lost_tasks++;
    return;
  }
  struct task_graph_region *region = region_at(replay, index);
  struct task_graph_task *creator = task_at(replay, stream->task);
  *region = (struct task_graph_region){.refs = 1,
                                       .open = true,
                                       .name = name,
                                       .row = row_of(replay, row),
                                       .size = 1,
                                       .creator = stream->task,
                                       .around = stream->region,
                                       .start = vector_clock_copy(&replay->graph.clocks, creator->now)};
  struct moment now = task_graph_now(&replay->graph, creator);
  creator->refs += stream->task != 0;
  region->chosen =
      selection_within(&replay->graph.selection, task_graph_scope(&replay->graph, creator->scope)->chosen, region->row);
  region->instance = instances_enter(&replay->graph.instances, region->row,
                                     stream->task ? task_graph_make_instances(&replay->graph, creator) : 0, &now);
  stream->region = index;
}

static void loop_close(struct replay *replay, struct task_graph_loop *loop)
{
  instances_leave(&replay->graph.instances, loop->instance);
  *loop = (struct task_graph_loop){0};
}

static void on_region_end(struct replay *replay, struct stream *stream)
{
  uint32_t index = stream->region;
  struct task_graph_region *region = region_at(replay, index);
  struct task_graph_task *creator = task_at(replay, region->creator);
  if (!index) {
    replay->result.invalid++;
    return;
  }
  vector_clock_raise(&replay->graph.clocks, creator->now, region->phases[0]);
  vector_clock_raise(&replay->graph.clocks, creator->now, region->phases[1]);
  for (unsigned i = 0; i < TASK_GRAPH_LOOPS; i++)
    loop_close(replay, &region->loops[i]);
  burden(replay, creator->now, replay->request->cost_join);
  struct moment now = task_graph_now(&replay->graph, creator);
  if (region->creator)
    instances_work(&replay->graph.instances, region->instance, 0, &now);
  instances_leave(&replay->graph.instances, region->instance);
  region->instance = 0;
  region->open = false;
  stream->region = region->around;
  set_current(replay, stream, region->creator);
  uint32_t creator_index = region->creator;
  region->creator = 0;
  task_graph_region_release(&replay->graph, index);
  task_graph_task_release(&replay->graph, creator_index);
}

static void on_task(struct replay *replay, struct stream *stream, uint32_t thread, const struct graphlog_record *record)
{
  uint32_t above = find_task(replay, record),
           index = task_graph_task_new(&replay->graph, name_of(thread, ++stream->tasks));
  if (!index)
    return;
  bool beside = record->operand[3] & GRAPHLOG_BESIDE && stream->task;
  struct task_graph_task *task = task_at(replay, index), *parent = task_at(replay, above);
  const struct task_graph_task *like = beside ? task_at(replay, stream->task) : parent;
  uint32_t row = row_of(replay, record->operand[2]), chosen = 0;
  bool final = parent->flags & TASK_GRAPH_FINAL;
  task->flags = (record->operand[3] & GRAPHLOG_SERIAL || final ? TASK_GRAPH_SERIAL : 0) |
                (record->operand[3] & GRAPHLOG_FINAL || final ? TASK_GRAPH_FINAL : 0);
  task->now = vector_clock_copy(&replay->graph.clocks, like->now);
  if (above) {
    parent->refs++;
    task->parent = above;
    task->of_chunk = beside ? like->of_chunk : parent->chunk;
    task->group = like->group;
    task_graph_group(&replay->graph, task->group)->refs += task->group != 0;
    task->region = parent->region;
    region_at(replay, task->region)->refs += task->region != 0;
    task->phase = like->phase;
    chosen = task_graph_scope(&replay->graph, parent->scope)->chosen;
    task->outer = instances_share(&replay->graph.instances, task_graph_make_instances(&replay->graph, parent));
  }
  replay->result.invalid += !above;
  burden(replay, task->flags & TASK_GRAPH_SERIAL ? 0 : task->now, replay->request->cost_task);
  task_graph_task_scope(&replay->graph, task, row, chosen);
}

static void on_switch(struct replay *replay, struct stream *stream, uint32_t index)
{
  struct task_graph_task *task = task_at(replay, index);
  if (index && !(task->flags & TASK_GRAPH_STARTED)) {
    task->flags |= TASK_GRAPH_STARTED;
    if (task->scope)
      task_graph_scope(&replay->graph, task->scope)->begin = task_graph_now(&replay->graph, task);
  }
  set_current(replay, stream, index);
}

/* A taskwait in a chunk of a loop is for the children of that chunk. */
static void offer_parent(struct replay *replay, const struct task_graph_task *task)
{
  struct task_graph_task *parent = task_at(replay, task->parent);
  offer(replay, task->of_chunk == parent->chunk ? &parent->children : &parent->earlier, task->now);
}

static void next_chunk(struct replay *replay, struct task_graph_task *task)
{
  task->chunk++;
  if (!task->children)
    return;
  if (task->earlier)
    vector_clock_raise(&replay->graph.clocks, task->earlier, task->children);
  else
    task->earlier = task->children;
  if (task->earlier != task->children)
    vector_clock_free(&replay->graph.clocks, &task->children);
  task->children = 0;
}

static void on_task_end(struct replay *replay, struct stream *stream, uint32_t index, bool waited_for)
{
  const struct task_graph_task *task = task_at(replay, index);
  const struct task_graph_task *parent = task_at(replay, task->parent);
  if (!index || task->flags & TASK_GRAPH_IMPLICIT) {
    replay->result.invalid++;
    return;
  }
  if (waited_for && task->parent && task->flags & TASK_GRAPH_SERIAL)
    vector_clock_set(&replay->graph.clocks, parent->now, task->now);
  else if (waited_for && task->parent && !(parent->flags & TASK_GRAPH_ENDED))
    offer_parent(replay, task);
  if (waited_for && task->group)
    offer(replay, &task_graph_group(&replay->graph, task->group)->ends, task->now);
  else if (waited_for && task->region)
    offer_phase(replay, task);
  else if (waited_for) /* nobody needs to wait for it */
    vector_clock_raise(&replay->graph.clocks, replay->program, task->now);
  if (stream->task == index)
    set_current(replay, stream, 0);
  task_graph_task_end(&replay->graph, index);
}

/* ---- waits ---- */

/* A construct that does no work itself. */
static void count_instance(struct replay *replay, uint32_t row)
{
  if (row)
    replay->graph.instances.totals[row].instances++;
}

static void on_wait(struct replay *replay, uint32_t index, uint64_t kind, uint64_t row)
{
  struct task_graph_task *task = task_at(replay, index);
  if (!index)
    return;
  task_graph_settle(&replay->graph, task);
  if (kind == GRAPHLOG_BARRIER && task->region)
    offer_phase(replay, task);
  count_instance(replay, row_of(replay, row));
}

static void raise_children(struct replay *replay, const struct task_graph_task *task)
{
  vector_clock_raise(&replay->graph.clocks, task->now, task->children);
  if (!(task->flags & TASK_GRAPH_LOOP))
    vector_clock_raise(&replay->graph.clocks, task->now, task->earlier);
}

static void on_wait_end(struct replay *replay, uint32_t index, uint64_t kind)
{
  struct task_graph_task *task = task_at(replay, index);
  const struct task_graph_region *region = region_at(replay, task->region);
  if (!index)
    return;
  if (kind == GRAPHLOG_TASKWAIT)
    raise_children(replay, task);
  else if (kind == GRAPHLOG_TASKGROUP)
    vector_clock_raise(&replay->graph.clocks, task->now, task_graph_group(&replay->graph, task->group)->ends);
  else if (region->open) {
    vector_clock_raise(&replay->graph.clocks, task->now, region->phases[task->phase & 1]);
    task->phase++;
  }
}

static void on_group(struct replay *replay, struct task_graph_task *task, uint64_t row)
{
  task_graph_construct_begin(&replay->graph, task, row_of(replay, row), 0);
  uint32_t index = object_pool_get(&replay->graph.groups);
  if (!index) {
    replay->graph.lost_tasks++;
    return;
  }
  *task_graph_group(&replay->graph, index) = (struct task_graph_group){.refs = 1, .outer = task->group};
  task->group = index;
}

static void on_group_end(struct replay *replay, struct task_graph_task *task)
{
  uint32_t ended = task->group;
  if (!ended)
    return;
  const struct task_graph_group *group = task_graph_group(&replay->graph, ended);
  vector_clock_raise(&replay->graph.clocks, task->now, group->ends);
  task->group = group->outer;
  task_graph_group(&replay->graph, group->outer)->refs += group->outer != 0;
  task_graph_group_release(&replay->graph, ended);
  task_graph_construct_end(&replay->graph, task);
}

/* ---- worksharing and exclusion (hpcrun-lite/rt/span/worksharing.c) ---- */

static struct task_graph_loop *loop_enter(struct replay *replay, struct task_graph_task *task, uint32_t row,
                                          uint64_t iterations)
{
  struct task_graph_region *region = region_at(replay, task->region);
  uint32_t number = ++task->constructs;
  if (!region->open || !(task->flags & TASK_GRAPH_IMPLICIT))
    return NULL;
  struct task_graph_loop *loop = &region->loops[number % TASK_GRAPH_LOOPS];
  if (loop->number == number)
    return loop;
  if (loop->instance)
    return NULL;
  struct moment now = task_graph_now(&replay->graph, task);
  *loop = (struct task_graph_loop){.number = number, .row = row};
  loop->instance = instances_enter(&replay->graph.instances, row, region->instance, &now);
  if (row)
    replay->graph.instances.totals[row].iterations += iterations;
  return loop;
}

static void on_loop(struct replay *replay, struct task_graph_task *task, uint64_t row, uint64_t iterations)
{
  struct task_graph_loop *loop = loop_enter(replay, task, row_of(replay, row), iterations);
  uint32_t shared = loop ? instances_share(&replay->graph.instances, loop->instance) : 0;
  bool followed = task_graph_construct_begin(&replay->graph, task, loop ? loop->row : row_of(replay, row), shared);
  task->loop_slot = loop ? (uint32_t)(loop - region_at(replay, task->region)->loops) + 1 : 0;
  task->flags |= followed ? TASK_GRAPH_LOOP : 0;
  if (!task->loop_entry)
    task->loop_entry = vector_clock_new(&replay->graph.clocks);
  if (!task->loop_end)
    task->loop_end = vector_clock_new(&replay->graph.clocks);
  next_chunk(replay, task);
  vector_clock_set(&replay->graph.clocks, task->loop_entry, task->now);
  vector_clock_set(&replay->graph.clocks, task->loop_end, task->now);
}

static void on_loop_end(struct replay *replay, struct task_graph_task *task)
{
  if (!(task->flags & TASK_GRAPH_LOOP)) {
    task_graph_construct_end(&replay->graph, task);
    return;
  }
  task_graph_settle(&replay->graph, task);
  vector_clock_raise(&replay->graph.clocks, task->now, task->loop_end);
  struct moment now = task_graph_now(&replay->graph, task), entry = task_graph_moment(&replay->graph, task->loop_entry);
  struct moment span = moment_since(&now, &entry);
  instances_span(&replay->graph.instances, task_graph_scope(&replay->graph, task->scope)->instance, &span);
  task->flags &= ~(uint32_t)TASK_GRAPH_LOOP;
  next_chunk(replay, task);
  task_graph_construct_end(&replay->graph, task);
  struct task_graph_region *region = region_at(replay, task->region);
  struct task_graph_loop *loop = task->loop_slot && region->open ? &region->loops[task->loop_slot - 1] : NULL;
  if (loop && ++loop->ended == region->size)
    loop_close(replay, loop);
  task->loop_slot = 0;
}

static void on_chunk(struct replay *replay, struct task_graph_task *task)
{
  if (!(task->flags & TASK_GRAPH_LOOP))
    return;
  task_graph_settle(&replay->graph, task);
  next_chunk(replay, task);
  vector_clock_raise(&replay->graph.clocks, task->loop_end, task->now);
  vector_clock_set(&replay->graph.clocks, task->now, task->loop_entry);
}

/* One holder at a time: only a schedule knows of that. */
static void on_acquire(struct replay *replay, struct task_graph_task *task, const struct graphlog_record *record)
{
  uint32_t row = row_of(replay, record->operand[0]);
  struct moment now = task_graph_now(&replay->graph, task);
  struct lock *lock = locks_get(&replay->locks, record->operand[1], &now);
  replay->graph.lost_constructs += !lock;
  for (uint32_t i = replay->schedules_at; lock && task->now && i < replay->width; i++) {
    struct vector_clock_element *mine = &vector_clock_at(&replay->graph.clocks, task->now)->element[i];
    const struct vector_clock_element *released = &vector_clock_at(&replay->graph.clocks, lock->released)->element[i];
    mine->at = released->at > mine->at ? released->at : mine->at;
  }
  if (record->operand[2])
    task_graph_construct_begin(&replay->graph, task, row, 0);
  else
    count_instance(replay, row);
  if (lock)
    lock_acquired(lock, row, &now);
}

static void on_release(struct replay *replay, struct task_graph_task *task, const struct graphlog_record *record)
{
  struct lock *lock = locks_find(&replay->locks, record->operand[0]);
  struct moment now = task_graph_now(&replay->graph, task);
  if (lock) {
    struct moment bound = lock_released(lock, &now);
    if (lock->row)
      moment_raise(&replay->graph.instances.totals[lock->row].lock_bound, &bound);
    if (replay->request->cores_count)
      offer(replay, &lock->released, task->now);
  }
  if (record->operand[1])
    task_graph_construct_end(&replay->graph, task);
}

/* ---- records ---- */

/* What happens in the task that the thread runs. */
static void take_in_task(struct replay *replay, struct task_graph_task *task, const struct graphlog_record *record)
{
  switch (record->op) {
  case GRAPHLOG_GROUP:
    on_group(replay, task, record->operand[0]);
    break;
  case GRAPHLOG_GROUP_END:
    on_group_end(replay, task);
    break;
  case GRAPHLOG_SCOPE:
    task_graph_construct_begin(&replay->graph, task, row_of(replay, record->operand[0]), 0);
    break;
  case GRAPHLOG_SCOPE_END:
    task_graph_construct_end(&replay->graph, task);
    break;
  case GRAPHLOG_LOOP:
    on_loop(replay, task, record->operand[0], record->operand[1]);
    break;
  case GRAPHLOG_LOOP_END:
    on_loop_end(replay, task);
    break;
  case GRAPHLOG_CHUNK:
    on_chunk(replay, task);
    break;
  case GRAPHLOG_ACQUIRE:
    on_acquire(replay, task, record);
    break;
  default:
    on_release(replay, task, record);
  }
}

void replay_take(struct replay *replay, const struct log_reader_record *taken)
{
  struct stream *stream = &replay->streams[taken->stream];
  const struct graphlog_record *record = &taken->record;
  uint32_t thread = taken->thread;
  switch (record->op) {
  case GRAPHLOG_RUN:
    on_run(replay, stream, thread, record->operand[1]);
    break;
  case GRAPHLOG_RUN_OTHER:
    on_run(replay, stream, thread, record->operand[2]);
    break;
  case GRAPHLOG_SAMPLE:
    on_sample(stream, record->operand[0], record->operand[1]);
    break;
  case GRAPHLOG_REGION:
    on_region(replay, stream, thread, record->operand[0]);
    break;
  case GRAPHLOG_REGION_END:
    on_region_end(replay, stream);
    break;
  case GRAPHLOG_IMPLICIT:
    on_implicit(replay, stream, thread, record);
    break;
  case GRAPHLOG_IMPLICIT_END:
    on_implicit_end(replay, stream, find_task(replay, record));
    break;
  case GRAPHLOG_TASK:
    on_task(replay, stream, thread, record);
    break;
  case GRAPHLOG_SWITCH:
    on_switch(replay, stream, find_task(replay, record));
    break;
  case GRAPHLOG_TASK_END:
  case GRAPHLOG_TASK_DROP:
    on_task_end(replay, stream, find_task(replay, record), record->op == GRAPHLOG_TASK_END);
    break;
  case GRAPHLOG_WAIT:
    on_wait(replay, find_task(replay, record), record->operand[2], record->operand[3]);
    break;
  case GRAPHLOG_WAIT_END:
    on_wait_end(replay, find_task(replay, record), record->operand[2]);
    break;
  case GRAPHLOG_OFFER:
  case GRAPHLOG_TAKE:
    on_join(replay, find_task(replay, record), record);
    break;
  case GRAPHLOG_END:
  case GRAPHLOG_TIME:
  case GRAPHLOG_CPU:
  case GRAPHLOG_MOVE:
  case GRAPHLOG_OPS:
    break;
  default:
    if (stream->task && task_at(replay, stream->task)->scope)
      take_in_task(replay, task_at(replay, stream->task), record);
    else
      replay->result.invalid++;
  }
}

/* ---- begin and end ---- */

static int init_parts(struct replay *replay)
{
  struct task_graph *graph = &replay->graph;
  const struct replay_request *request = replay->request;
  const double *rows[REPLAY_SCENARIOS], *attribution[REPLAY_SCENARIOS];
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    rows[i] = request->scenarios[i].rows;
    attribution[i] = request->scenarios[i].attribution;
  }
  graph->second = replay->detail;
  int status = locks_init(&replay->locks);
  status = status ? status : task_graph_init(graph);
  status = status ? status : instances_init(&graph->instances, request->rows);
  status = status ? status
                  : contributions_init(&replay->contributions, replay->detail ? request->attribution->count + 1 : 1);
  if (!status)
    status = vector_clock_init(&graph->clocks, replay->width, replay->detail ? 1 : VECTOR_CLOCK_UNTRACED,
                               &replay->contributions);
  status = status ? status : joins_init(&replay->joins, &graph->clocks, JOINS_MAX);
  return status ? status
                : selection_init(&graph->selection, replay->scenarios, request->rows, rows, attribution,
                                 request->attribution);
}

int replay_new(const struct replay_request *request, struct replay **out)
{
  struct replay *replay = calloc(1, sizeof *replay);
  *out = replay;
  if (!replay)
    return ERR_NOMEM;
  replay->request = request;
  replay->scenarios = request->scenarios_count;
  replay->detail = request->detail && replay->scenarios;
  replay->collects = !replay->scenarios;
  replay->burdened = request->burdened ? 1 + replay->scenarios : 0;
  replay->schedules_at = 1 + replay->scenarios + request->burdened;
  replay->width = replay->schedules_at + request->cores_count;
  replay->streams = calloc((size_t)request->streams + 1, sizeof *replay->streams);
  int status = replay->streams ? init_parts(replay) : ERR_NOMEM;
  for (uint32_t i = 0; i < request->cores_count && !status; i++)
    status = list_schedule_init(&replay->schedules[i], request->cores[i]);
  replay->program = status ? 0 : vector_clock_new(&replay->graph.clocks);
  return replay->program ? 0 : ERR_NOMEM;
}

void replay_free(struct replay *replay)
{
  if (!replay)
    return;
  for (uint32_t i = 0; i < REPLAY_SCHEDULES; i++)
    list_schedule_release(&replay->schedules[i]);
  joins_release(&replay->joins);
  locks_release(&replay->locks);
  contributions_release(&replay->contributions);
  task_graph_release(&replay->graph);
  free(replay->streams);
  free(replay->contribution);
  free(replay);
}

/* What has not been awaited when the log ends: in the task and all around it. */
static void reach(struct replay *replay, uint32_t index)
{
  struct vector_clocks *clocks = &replay->graph.clocks;
  while (index) {
    const struct task_graph_task *task = task_at(replay, index);
    const struct task_graph_region *region = region_at(replay, task->region);
    const uint32_t ends[] = {task->now,         task->children,
                             task->earlier,     task->flags & TASK_GRAPH_LOOP ? task->loop_end : 0,
                             region->phases[0], region->phases[1]};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
      vector_clock_raise(clocks, replay->program, ends[i]);
    for (uint32_t group = task->group; group; group = task_graph_group(&replay->graph, group)->outer)
      vector_clock_raise(clocks, replay->program, task_graph_group(&replay->graph, group)->ends);
    index = task->flags & TASK_GRAPH_IMPLICIT ? region->creator : task->parent;
  }
}

int replay_end(struct replay *replay, struct replay_result *result)
{
  const struct joins *joins = &replay->joins;
  if (task_graph_starved(&replay->graph) || joins->pool.overflow || joins->names.overflow ||
      locks_overflow(&replay->locks) || replay->request->attribution->overflow)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < replay->request->streams; i++)
    reach(replay, replay->streams[i].task);
  const struct vector_clock *end = vector_clock_at(&replay->graph.clocks, replay->program);
  struct replay_result *found = &replay->result;
  found->span = end->element[0].at;
  found->burdened = end->element[replay->burdened].at;
  for (uint32_t i = 0; i < replay->scenarios; i++)
    found->outcomes[i] = (struct replay_outcome){.span = end->element[1 + i].at,
                                                 .removed = end->element[1 + i].removed,
                                                 .sampled = end->element[1 + i].sampled,
                                                 .by_sample = replay->removed[i] > 0};
  for (uint32_t i = 0; i < replay->request->cores_count; i++)
    found->makespans[i] = list_schedule_makespan(&replay->schedules[i]);
  if (replay->detail) {
    replay->contribution = calloc((size_t)replay->request->attribution->count + 1, sizeof *replay->contribution);
    if (!replay->contribution)
      return ERR_NOMEM;
    contributions_sum(&replay->contributions, end->contribution, replay->contribution);
  }
  found->contribution = replay->contribution;
  found->rows = replay->graph.instances.totals;
  found->lost_tasks = replay->graph.lost_tasks;
  found->lost_constructs = replay->graph.lost_constructs + replay->graph.instances.lost;
  found->lost_contributions = replay->contributions.lost;
  *result = *found;
  return 0;
}
