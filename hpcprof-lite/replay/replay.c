#include "hpcprof-lite/replay/replay.h"

#include "hpcprof-lite/replay/joins.h"
#include "hpcprof-lite/replay/locks.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/schedule.h"
#include "hpcprof-lite/replay/shape.h"

#include <stdlib.h>

_Static_assert(1 + REPLAY_SCENARIOS + 1 + REPLAY_SCHEDULES <= LANES_MAX, "a lane for each");
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
  struct shape shape;
  struct joins joins;
  struct locks locks;
  struct trails trails;
  struct schedule schedules[REPLAY_SCHEDULES];
  uint32_t program; /* clock: the end of all */
  bool collects, detail;
  double gone[REPLAY_SCENARIOS];
  double *trail;
  struct replay_result result;
};

/* Of a task, region or join; 0 where no thread can have made it. */
static uint64_t name_of(uint64_t thread, uint64_t number)
{
  bool sound = thread && number && thread >> (64 - NAME_BITS) == 0 && number >> NAME_BITS == 0;
  return sound ? thread << NAME_BITS | number : 0;
}

static struct shape_task *task_at(const struct replay *replay, uint32_t index)
{
  return shape_task(&replay->shape, index);
}

static struct shape_region *region_at(const struct replay *replay, uint32_t index)
{
  return shape_region(&replay->shape, index);
}

/* The task that a record names, 0 if none. */
static uint32_t find_task(const struct replay *replay, const struct graphlog_record *record)
{
  uint64_t name = name_of(record->operand[0], record->operand[1]);
  return name ? slab_map_find(&replay->shape.task_names, name) : 0;
}

static uint32_t row_of(struct replay *replay, uint64_t row)
{
  if (row < replay->request->rows)
    return (uint32_t)row;
  replay->result.strange++;
  return 0;
}

/* A clock takes another one in; it is made when it is needed. */
static void offer(struct replay *replay, uint32_t *clock, uint32_t other)
{
  if (!*clock)
    *clock = lanes_new(&replay->shape.lanes);
  replay->shape.lost_tasks += !*clock;
  lanes_raise(&replay->shape.lanes, *clock, other);
}

static void set_current(struct replay *replay, struct stream *stream, uint32_t index)
{
  uint32_t before = stream->task;
  if (index)
    task_at(replay, index)->refs++;
  stream->task = index;
  shape_task_release(&replay->shape, before);
}

static void on_join(struct replay *replay, uint32_t task, const struct graphlog_record *record)
{
  uint64_t name = name_of(record->operand[2], record->operand[3]);
  if (!task || !name) {
    replay->result.strange++;
    return;
  }
  uint32_t clock = joins_clock(&replay->joins, name, record->op == GRAPHLOG_OFFER);
  replay->result.lost_joins += !clock;
  if (record->op == GRAPHLOG_TAKE)
    lanes_raise(&replay->shape.lanes, task_at(replay, task)->now, clock);
  else
    lanes_raise(&replay->shape.lanes, clock, task_at(replay, task)->now);
}

/* ---- fragments ---- */

/* Who contributes to the first scenario's clock. */
static void trace(struct replay *replay, const struct stream *stream, uint32_t row, uint32_t thread, double left,
                  const struct shape_scope *scope, double work)
{
  struct lanes_clock *clock = lanes_at(&replay->shape.lanes, task_at(replay, stream->task)->now);
  double weight = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++)
    weight += stream->samples[i].weight;
  if (!(weight > 0))
    trail_add(&replay->trails, &clock->trail, parts_find(replay->request->parts, row, 0, 0), left);
  for (uint32_t i = 0; i < stream->samples_count && weight > 0; i++) {
    uint32_t part = parts_find(replay->request->parts, row, thread, stream->samples[i].node);
    double keep = selection_part(&replay->shape.selection, scope->chosen, 0, part);
    trail_add(&replay->trails, &clock->trail, part, keep * work * stream->samples[i].weight / weight);
  }
}

/* What of a fragment is left in a scenario. */
static double left_of(struct replay *replay, const struct stream *stream, const struct shape_scope *scope,
                      uint32_t scenario, const uint32_t *parts, double weight)
{
  if (!(weight > 0))
    return selection_mix(&replay->shape.selection, scope->chosen, scenario, scope->row);
  double sum = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++)
    sum += stream->samples[i].weight * selection_part(&replay->shape.selection, scope->chosen, scenario, parts[i]);
  return sum / weight;
}

static void run_scenarios(struct replay *replay, struct stream *stream, uint32_t thread,
                          const struct shape_scope *scope, double work, struct lanes_clock *clock)
{
  uint32_t parts[SAMPLES_MAX];
  double weight = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++) {
    parts[i] = parts_find(replay->request->parts, scope->row, thread, stream->samples[i].node);
    weight += stream->samples[i].weight;
  }
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    double left = work * left_of(replay, stream, scope, i, parts, weight);
    double exact = work * selection_exact(&replay->shape.selection, scope->chosen, i);
    struct lane *lane = &clock->lane[1 + i];
    lane->at += left;
    if (exact == work && !(replay->request->exact_samples && weight > 0)) {
      lane->gone += work - left;
      lane->told += work;
      replay->gone[i] += work - left;
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
    parts_add(replay->request->parts, row, 0, 0);
  for (uint32_t i = 0; i < stream->samples_count && weight > 0; i++) {
    uint32_t part = parts_add(replay->request->parts, row, thread, stream->samples[i].node);
    if (part)
      replay->request->parts->parts[part].amount += work * stream->samples[i].weight / weight;
  }
}

static void on_run(struct replay *replay, struct stream *stream, uint32_t thread, uint64_t work)
{
  struct shape_task *task = task_at(replay, stream->task);
  struct shape_scope *scope = shape_scope(&replay->shape, task->scope);
  struct lanes_clock *clock = lanes_at(&replay->shape.lanes, task->now);
  replay->result.fragments++;
  if (!stream->task || !task->scope || !task->now || work >= (uint64_t)1 << 60) {
    replay->result.strange++;
    stream->samples_count = 0;
    return;
  }
  replay->result.work += work;
  replay->result.samples += stream->samples_count;
  scope->pending += work;
  clock->lane[0].at += (double)work;
  if (replay->collects)
    collect(replay, stream, thread, scope->row, (double)work);
  else
    run_scenarios(replay, stream, thread, scope, (double)work, clock);
  if (replay->burdened)
    clock->lane[replay->burdened].at += (double)work;
  for (uint32_t i = 0; i < replay->request->cores_count && work; i++) {
    struct lane *lane = &clock->lane[replay->schedules_at + i];
    lane->at = schedule_run(&replay->schedules[i], lane->at, (double)work);
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
    lanes_at(&replay->shape.lanes, clock)->lane[replay->burdened].at += cost;
}

static void on_implicit(struct replay *replay, struct stream *stream, uint32_t thread,
                        const struct graphlog_record *record)
{
  uint64_t name = name_of(record->operand[0], record->operand[1]);
  uint32_t in = name ? slab_map_find(&replay->shape.region_names, name) : 0;
  uint32_t index = shape_task_new(&replay->shape, name_of(thread, ++stream->tasks));
  struct shape_region *region = region_at(replay, in);
  replay->result.strange += name && !in;
  if (index) {
    struct shape_task *task = task_at(replay, index);
    task->flags = SHAPE_IMPLICIT | SHAPE_STARTED;
    task->region = in;
    region->refs += in != 0;
    if (in)
      region->size = record->operand[2];
    task->now = lanes_copy(&replay->shape.lanes, region->start);
    burden(replay, in ? task->now : 0, replay->request->cost_fork);
    shape_task_scope(&replay->shape, task, region->row, region->chosen);
  }
  set_current(replay, stream, index);
}

static void offer_phase(struct replay *replay, const struct shape_task *task)
{
  struct shape_region *region = region_at(replay, task->region);
  if (region->open)
    offer(replay, &region->phases[task->phase & 1], task->now);
}

static void on_implicit_end(struct replay *replay, struct stream *stream, uint32_t index)
{
  const struct shape_task *task = task_at(replay, index);
  if (!index)
    return;
  if (task->region)
    offer_phase(replay, task);
  else
    lanes_raise(&replay->shape.lanes, replay->program, task->now);
  if (stream->task == index)
    set_current(replay, stream, 0);
  shape_task_end(&replay->shape, index);
}

static void on_region(struct replay *replay, struct stream *stream, uint32_t thread, uint64_t row)
{
  uint64_t name = name_of(thread, ++stream->regions);
  uint32_t index = name ? slab_get(&replay->shape.regions) : 0;
  if (!index || !slab_map_add(&replay->shape.region_names, name, index)) {
    replay->shape.lost_tasks++;
    return;
  }
  struct shape_region *region = region_at(replay, index);
  struct shape_task *creator = task_at(replay, stream->task);
  *region = (struct shape_region){.refs = 1,
                                  .open = true,
                                  .name = name,
                                  .row = row_of(replay, row),
                                  .size = 1,
                                  .creator = stream->task,
                                  .around = stream->region,
                                  .start = lanes_copy(&replay->shape.lanes, creator->now)};
  struct moment now = shape_now(&replay->shape, creator);
  creator->refs += stream->task != 0;
  region->chosen =
      selection_within(&replay->shape.selection, shape_scope(&replay->shape, creator->scope)->chosen, region->row);
  region->instance = instances_enter(&replay->shape.instances, region->row,
                                     stream->task ? shape_make_instances(&replay->shape, creator) : 0, &now);
  stream->region = index;
}

static void loop_close(struct replay *replay, struct shape_loop *loop)
{
  instances_leave(&replay->shape.instances, loop->instance);
  *loop = (struct shape_loop){0};
}

static void on_region_end(struct replay *replay, struct stream *stream)
{
  uint32_t index = stream->region;
  struct shape_region *region = region_at(replay, index);
  struct shape_task *creator = task_at(replay, region->creator);
  if (!index) {
    replay->result.strange++;
    return;
  }
  lanes_raise(&replay->shape.lanes, creator->now, region->phases[0]);
  lanes_raise(&replay->shape.lanes, creator->now, region->phases[1]);
  for (unsigned i = 0; i < SHAPE_LOOPS; i++)
    loop_close(replay, &region->loops[i]);
  burden(replay, creator->now, replay->request->cost_join);
  struct moment now = shape_now(&replay->shape, creator);
  if (region->creator)
    instances_work(&replay->shape.instances, region->instance, 0, &now);
  instances_leave(&replay->shape.instances, region->instance);
  region->instance = 0;
  region->open = false;
  stream->region = region->around;
  set_current(replay, stream, region->creator);
  uint32_t creator_index = region->creator;
  region->creator = 0;
  shape_region_release(&replay->shape, index);
  shape_task_release(&replay->shape, creator_index);
}

static void on_task(struct replay *replay, struct stream *stream, uint32_t thread, const struct graphlog_record *record)
{
  uint32_t above = find_task(replay, record), index = shape_task_new(&replay->shape, name_of(thread, ++stream->tasks));
  if (!index)
    return;
  bool beside = record->operand[3] & GRAPHLOG_BESIDE && stream->task;
  struct shape_task *task = task_at(replay, index), *parent = task_at(replay, above);
  const struct shape_task *like = beside ? task_at(replay, stream->task) : parent;
  uint32_t row = row_of(replay, record->operand[2]), chosen = 0;
  bool final = parent->flags & SHAPE_FINAL;
  task->flags = (record->operand[3] & GRAPHLOG_SERIAL || final ? SHAPE_SERIAL : 0) |
                (record->operand[3] & GRAPHLOG_FINAL || final ? SHAPE_FINAL : 0);
  task->now = lanes_copy(&replay->shape.lanes, like->now);
  if (above) {
    parent->refs++;
    task->parent = above;
    task->of_chunk = beside ? like->of_chunk : parent->chunk;
    task->group = like->group;
    shape_group(&replay->shape, task->group)->refs += task->group != 0;
    task->region = parent->region;
    region_at(replay, task->region)->refs += task->region != 0;
    task->phase = like->phase;
    chosen = shape_scope(&replay->shape, parent->scope)->chosen;
    task->outer = instances_share(&replay->shape.instances, shape_make_instances(&replay->shape, parent));
  }
  replay->result.strange += !above;
  burden(replay, task->flags & SHAPE_SERIAL ? 0 : task->now, replay->request->cost_task);
  shape_task_scope(&replay->shape, task, row, chosen);
}

static void on_switch(struct replay *replay, struct stream *stream, uint32_t index)
{
  struct shape_task *task = task_at(replay, index);
  if (index && !(task->flags & SHAPE_STARTED)) {
    task->flags |= SHAPE_STARTED;
    if (task->scope)
      shape_scope(&replay->shape, task->scope)->begin = shape_now(&replay->shape, task);
  }
  set_current(replay, stream, index);
}

/* A taskwait in a chunk of a loop is for the children of that chunk. */
static void offer_parent(struct replay *replay, const struct shape_task *task)
{
  struct shape_task *parent = task_at(replay, task->parent);
  offer(replay, task->of_chunk == parent->chunk ? &parent->children : &parent->earlier, task->now);
}

static void next_chunk(struct replay *replay, struct shape_task *task)
{
  task->chunk++;
  if (!task->children)
    return;
  if (task->earlier)
    lanes_raise(&replay->shape.lanes, task->earlier, task->children);
  else
    task->earlier = task->children;
  if (task->earlier != task->children)
    lanes_free(&replay->shape.lanes, &task->children);
  task->children = 0;
}

static void on_task_end(struct replay *replay, struct stream *stream, uint32_t index, bool waited_for)
{
  const struct shape_task *task = task_at(replay, index);
  const struct shape_task *parent = task_at(replay, task->parent);
  if (!index || task->flags & SHAPE_IMPLICIT) {
    replay->result.strange++;
    return;
  }
  if (waited_for && task->parent && task->flags & SHAPE_SERIAL)
    lanes_set(&replay->shape.lanes, parent->now, task->now);
  else if (waited_for && task->parent && !(parent->flags & SHAPE_ENDED))
    offer_parent(replay, task);
  if (waited_for && task->group)
    offer(replay, &shape_group(&replay->shape, task->group)->ends, task->now);
  else if (waited_for && task->region)
    offer_phase(replay, task);
  else if (waited_for) /* nobody needs to wait for it */
    lanes_raise(&replay->shape.lanes, replay->program, task->now);
  if (stream->task == index)
    set_current(replay, stream, 0);
  shape_task_end(&replay->shape, index);
}

/* ---- waits ---- */

/* A construct that does no work itself. */
static void count_instance(struct replay *replay, uint32_t row)
{
  if (row)
    replay->shape.instances.totals[row].instances++;
}

static void on_wait(struct replay *replay, uint32_t index, uint64_t kind, uint64_t row)
{
  struct shape_task *task = task_at(replay, index);
  if (!index)
    return;
  shape_settle(&replay->shape, task);
  if (kind == GRAPHLOG_BARRIER && task->region)
    offer_phase(replay, task);
  count_instance(replay, row_of(replay, row));
}

static void raise_children(struct replay *replay, const struct shape_task *task)
{
  lanes_raise(&replay->shape.lanes, task->now, task->children);
  if (!(task->flags & SHAPE_LOOP))
    lanes_raise(&replay->shape.lanes, task->now, task->earlier);
}

static void on_wait_end(struct replay *replay, uint32_t index, uint64_t kind)
{
  struct shape_task *task = task_at(replay, index);
  const struct shape_region *region = region_at(replay, task->region);
  if (!index)
    return;
  if (kind == GRAPHLOG_TASKWAIT)
    raise_children(replay, task);
  else if (kind == GRAPHLOG_TASKGROUP)
    lanes_raise(&replay->shape.lanes, task->now, shape_group(&replay->shape, task->group)->ends);
  else if (region->open) {
    lanes_raise(&replay->shape.lanes, task->now, region->phases[task->phase & 1]);
    task->phase++;
  }
}

static void on_group(struct replay *replay, struct shape_task *task, uint64_t row)
{
  shape_construct_begin(&replay->shape, task, row_of(replay, row), 0);
  uint32_t index = slab_get(&replay->shape.groups);
  if (!index) {
    replay->shape.lost_tasks++;
    return;
  }
  *shape_group(&replay->shape, index) = (struct shape_group){.refs = 1, .outer = task->group};
  task->group = index;
}

static void on_group_end(struct replay *replay, struct shape_task *task)
{
  uint32_t ended = task->group;
  if (!ended)
    return;
  const struct shape_group *group = shape_group(&replay->shape, ended);
  lanes_raise(&replay->shape.lanes, task->now, group->ends);
  task->group = group->outer;
  shape_group(&replay->shape, group->outer)->refs += group->outer != 0;
  shape_group_release(&replay->shape, ended);
  shape_construct_end(&replay->shape, task);
}

/* ---- worksharing and exclusion (hpcrun-lite/rt/sharing.c) ---- */

static struct shape_loop *loop_enter(struct replay *replay, struct shape_task *task, uint32_t row, uint64_t iterations)
{
  struct shape_region *region = region_at(replay, task->region);
  uint32_t number = ++task->constructs;
  if (!region->open || !(task->flags & SHAPE_IMPLICIT))
    return NULL;
  struct shape_loop *loop = &region->loops[number % SHAPE_LOOPS];
  if (loop->number == number)
    return loop;
  if (loop->instance)
    return NULL;
  struct moment now = shape_now(&replay->shape, task);
  *loop = (struct shape_loop){.number = number, .row = row};
  loop->instance = instances_enter(&replay->shape.instances, row, region->instance, &now);
  if (row)
    replay->shape.instances.totals[row].iterations += iterations;
  return loop;
}

static void on_loop(struct replay *replay, struct shape_task *task, uint64_t row, uint64_t iterations)
{
  struct shape_loop *loop = loop_enter(replay, task, row_of(replay, row), iterations);
  uint32_t shared = loop ? instances_share(&replay->shape.instances, loop->instance) : 0;
  bool followed = shape_construct_begin(&replay->shape, task, loop ? loop->row : row_of(replay, row), shared);
  task->loop_slot = loop ? (uint32_t)(loop - region_at(replay, task->region)->loops) + 1 : 0;
  task->flags |= followed ? SHAPE_LOOP : 0;
  if (!task->loop_entry)
    task->loop_entry = lanes_new(&replay->shape.lanes);
  if (!task->loop_end)
    task->loop_end = lanes_new(&replay->shape.lanes);
  next_chunk(replay, task);
  lanes_set(&replay->shape.lanes, task->loop_entry, task->now);
  lanes_set(&replay->shape.lanes, task->loop_end, task->now);
}

static void on_loop_end(struct replay *replay, struct shape_task *task)
{
  if (!(task->flags & SHAPE_LOOP)) {
    shape_construct_end(&replay->shape, task);
    return;
  }
  shape_settle(&replay->shape, task);
  lanes_raise(&replay->shape.lanes, task->now, task->loop_end);
  struct moment now = shape_now(&replay->shape, task), entry = shape_moment(&replay->shape, task->loop_entry);
  struct moment span = moment_since(&now, &entry);
  instances_span(&replay->shape.instances, shape_scope(&replay->shape, task->scope)->instance, &span);
  task->flags &= ~(uint32_t)SHAPE_LOOP;
  next_chunk(replay, task);
  shape_construct_end(&replay->shape, task);
  struct shape_region *region = region_at(replay, task->region);
  struct shape_loop *loop = task->loop_slot && region->open ? &region->loops[task->loop_slot - 1] : NULL;
  if (loop && ++loop->ended == region->size)
    loop_close(replay, loop);
  task->loop_slot = 0;
}

static void on_chunk(struct replay *replay, struct shape_task *task)
{
  if (!(task->flags & SHAPE_LOOP))
    return;
  shape_settle(&replay->shape, task);
  next_chunk(replay, task);
  lanes_raise(&replay->shape.lanes, task->loop_end, task->now);
  lanes_set(&replay->shape.lanes, task->now, task->loop_entry);
}

/* One holder at a time: only a schedule knows of that. */
static void on_acquire(struct replay *replay, struct shape_task *task, const struct graphlog_record *record)
{
  uint32_t row = row_of(replay, record->operand[0]);
  struct moment now = shape_now(&replay->shape, task);
  struct lock *lock = locks_get(&replay->locks, record->operand[1], &now);
  replay->shape.lost_constructs += !lock;
  for (uint32_t i = replay->schedules_at; lock && task->now && i < replay->width; i++) {
    struct lane *mine = &lanes_at(&replay->shape.lanes, task->now)->lane[i];
    const struct lane *released = &lanes_at(&replay->shape.lanes, lock->released)->lane[i];
    mine->at = released->at > mine->at ? released->at : mine->at;
  }
  if (record->operand[2])
    shape_construct_begin(&replay->shape, task, row, 0);
  else
    count_instance(replay, row);
  if (lock)
    lock_acquired(lock, row, &now);
}

static void on_release(struct replay *replay, struct shape_task *task, const struct graphlog_record *record)
{
  struct lock *lock = locks_find(&replay->locks, record->operand[0]);
  struct moment now = shape_now(&replay->shape, task);
  if (lock) {
    struct moment bound = lock_released(lock, &now);
    if (lock->row)
      moment_raise(&replay->shape.instances.totals[lock->row].lock_bound, &bound);
    if (replay->request->cores_count)
      offer(replay, &lock->released, task->now);
  }
  if (record->operand[1])
    shape_construct_end(&replay->shape, task);
}

/* ---- records ---- */

/* What happens in the task that the thread runs. */
static void take_in_task(struct replay *replay, struct shape_task *task, const struct graphlog_record *record)
{
  switch (record->op) {
  case GRAPHLOG_GROUP:
    on_group(replay, task, record->operand[0]);
    break;
  case GRAPHLOG_GROUP_END:
    on_group_end(replay, task);
    break;
  case GRAPHLOG_SCOPE:
    shape_construct_begin(&replay->shape, task, row_of(replay, record->operand[0]), 0);
    break;
  case GRAPHLOG_SCOPE_END:
    shape_construct_end(&replay->shape, task);
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

void replay_take(struct replay *replay, const struct streams_record *taken)
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
      replay->result.strange++;
  }
}

/* ---- begin and end ---- */

static int init_parts(struct replay *replay)
{
  struct shape *shape = &replay->shape;
  const struct replay_request *request = replay->request;
  const double *rows[REPLAY_SCENARIOS], *parts[REPLAY_SCENARIOS];
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    rows[i] = request->scenarios[i].rows;
    parts[i] = request->scenarios[i].parts;
  }
  shape->second = replay->detail;
  int status = locks_init(&replay->locks);
  status = status ? status : shape_init(shape);
  status = status ? status : instances_init(&shape->instances, request->rows);
  status = status ? status : trails_init(&replay->trails, replay->detail ? request->parts->count + 1 : 1);
  if (!status)
    status = lanes_init(&shape->lanes, replay->width, replay->detail ? 1 : LANES_UNTRACED, &replay->trails);
  status = status ? status : joins_init(&replay->joins, &shape->lanes, JOINS_MAX);
  return status ? status
                : selection_init(&shape->selection, replay->scenarios, request->rows, rows, parts, request->parts);
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
    status = schedule_init(&replay->schedules[i], request->cores[i]);
  replay->program = status ? 0 : lanes_new(&replay->shape.lanes);
  return replay->program ? 0 : ERR_NOMEM;
}

void replay_free(struct replay *replay)
{
  if (!replay)
    return;
  for (uint32_t i = 0; i < REPLAY_SCHEDULES; i++)
    schedule_release(&replay->schedules[i]);
  joins_release(&replay->joins);
  locks_release(&replay->locks);
  trails_release(&replay->trails);
  shape_release(&replay->shape);
  free(replay->streams);
  free(replay->trail);
  free(replay);
}

/* What has not been awaited when the log ends: in the task and all around it. */
static void reach(struct replay *replay, uint32_t index)
{
  struct lanes *lanes = &replay->shape.lanes;
  while (index) {
    const struct shape_task *task = task_at(replay, index);
    const struct shape_region *region = region_at(replay, task->region);
    const uint32_t ends[] = {task->now,         task->children,
                             task->earlier,     task->flags & SHAPE_LOOP ? task->loop_end : 0,
                             region->phases[0], region->phases[1]};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
      lanes_raise(lanes, replay->program, ends[i]);
    for (uint32_t group = task->group; group; group = shape_group(&replay->shape, group)->outer)
      lanes_raise(lanes, replay->program, shape_group(&replay->shape, group)->ends);
    index = task->flags & SHAPE_IMPLICIT ? region->creator : task->parent;
  }
}

int replay_end(struct replay *replay, struct replay_result *result)
{
  const struct joins *joins = &replay->joins;
  if (shape_starved(&replay->shape) || joins->slab.starved || joins->names.starved || locks_starved(&replay->locks) ||
      replay->request->parts->starved)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < replay->request->streams; i++)
    reach(replay, replay->streams[i].task);
  const struct lanes_clock *end = lanes_at(&replay->shape.lanes, replay->program);
  struct replay_result *found = &replay->result;
  found->span = end->lane[0].at;
  found->burdened = end->lane[replay->burdened].at;
  for (uint32_t i = 0; i < replay->scenarios; i++)
    found->answers[i] = (struct replay_answer){.span = end->lane[1 + i].at,
                                               .gone = end->lane[1 + i].gone,
                                               .told = end->lane[1 + i].told,
                                               .by_sample = replay->gone[i] > 0};
  for (uint32_t i = 0; i < replay->request->cores_count; i++)
    found->makespans[i] = schedule_makespan(&replay->schedules[i]);
  if (replay->detail) {
    replay->trail = calloc((size_t)replay->request->parts->count + 1, sizeof *replay->trail);
    if (!replay->trail)
      return ERR_NOMEM;
    trail_sum(&replay->trails, end->trail, replay->trail);
  }
  found->trail = replay->trail;
  found->rows = replay->shape.instances.totals;
  found->lost_tasks = replay->shape.lost_tasks;
  found->lost_constructs = replay->shape.lost_constructs + replay->shape.instances.lost;
  found->lost_trails = replay->trails.lost;
  *result = *found;
  return 0;
}
