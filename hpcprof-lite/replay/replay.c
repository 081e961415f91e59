#include "hpcprof-lite/replay/replay.h"

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/joins.h"
#include "hpcprof-lite/replay/list_schedule.h"
#include "hpcprof-lite/replay/locks.h"
#include "hpcprof-lite/replay/task_graph.h"

#include <stdlib.h>

_Static_assert(1 + REPLAY_SCENARIOS + 1 + REPLAY_SCHEDULES <= VECTOR_CLOCK_ELEMENTS, "an element for each");
_Static_assert((int)REPLAY_SCENARIOS <= SELECTION_MAX, "a factor for each");

enum { SAMPLES_MAX = 64, NAME_BITS = 44 };

/* The state of one thread's stream of records. */
struct stream {
  uint32_t task;           /* the task that the thread runs */
  uint32_t region;         /* the innermost region that it has open */
  uint64_t tasks, regions; /* how many it has created: their numbers are their names */
  uint32_t samples_count;  /* samples of the next fragment */
  struct {
    uint64_t node;
    double weight;
  } samples[SAMPLES_MAX];
};

struct replay {
  const struct replay_request *request;
  uint32_t scenarios;        /* in elements 1 … scenarios of the clocks */
  uint32_t burdened_element; /* 0: not computed */
  uint32_t first_schedule;   /* element of the first schedule */
  uint32_t width;            /* number of elements */
  struct stream *streams;
  struct task_graph graph;
  struct joins joins;
  struct locks locks;
  struct contributions contributions;
  struct list_schedule schedules[REPLAY_SCHEDULES];
  uint32_t program_end; /* clock: latest end of all chains of work */
  bool attributes;      /* fills the attribution: there is no scenario */
  bool detail;
  double removed[REPLAY_SCENARIOS]; /* work removed because of samples, on all chains */
  double *contribution_sums;
  struct replay_result result;
};

/* ---- begin ---- */

static int init_graph(struct replay *replay)
{
  struct task_graph *graph = &replay->graph;
  const struct replay_request *request = replay->request;
  const double *rows[REPLAY_SCENARIOS], *attribution[REPLAY_SCENARIOS];
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    rows[i] = request->scenarios[i].rows;
    attribution[i] = request->scenarios[i].entries;
  }
  graph->second_element = replay->detail;
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
  replay->attributes = !replay->scenarios;
  replay->burdened_element = request->burdened ? 1 + replay->scenarios : 0;
  replay->first_schedule = 1 + replay->scenarios + request->burdened;
  replay->width = replay->first_schedule + request->cores_count;
  replay->streams = calloc((size_t)request->streams + 1, sizeof *replay->streams);
  int status = replay->streams ? init_graph(replay) : ERR_NOMEM;
  for (uint32_t i = 0; i < request->cores_count && !status; i++)
    status = list_schedule_init(&replay->schedules[i], request->cores[i]);
  replay->program_end = status ? 0 : vector_clock_new(&replay->graph.clocks);
  return replay->program_end ? 0 : ERR_NOMEM;
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
  free(replay->contribution_sums);
  free(replay);
}

/* ---- names, clocks and the current task ---- */

/* Returns the name of a task, region or join, 0 if no thread can have created it. */
static uint64_t name_from(uint64_t thread, uint64_t number)
{
  bool valid = thread && number && thread >> (64 - NAME_BITS) == 0 && number >> NAME_BITS == 0;
  return valid ? thread << NAME_BITS | number : 0;
}

static struct task_graph_task *task_at(const struct replay *replay, uint32_t index)
{
  return task_graph_task(&replay->graph, index);
}

static struct task_graph_region *region_at(const struct replay *replay, uint32_t index)
{
  return task_graph_region(&replay->graph, index);
}

/* Returns the task that a record names, or 0. */
static uint32_t find_task(const struct replay *replay, const struct graphlog_record *record)
{
  uint64_t name = name_from(record->operand[0], record->operand[1]);
  return name ? index_find(&replay->graph.task_names, name) : 0;
}

/* Returns the row, or 0 if it does not exist. */
static uint32_t checked_row(struct replay *replay, uint64_t row)
{
  if (row < replay->request->rows)
    return (uint32_t)row;
  replay->result.invalid++;
  return 0;
}

/* Raises a clock to another one; makes it if it does not exist. */
static void raise_clock(struct replay *replay, uint32_t *clock, uint32_t other)
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

/* ---- fragments ---- */

static double samples_weight(const struct stream *stream)
{
  double weight = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++)
    weight += stream->samples[i].weight;
  return weight;
}

/* Adds to the contributions to the first scenario's span: a fragment of `work`, of which `remaining` is left. */
static void add_contributions(struct replay *replay, const struct stream *stream, uint32_t thread,
                              const struct task_graph_scope *scope, double work, double remaining)
{
  const struct attribution *attribution = replay->request->attribution;
  struct vector_clock *clock = vector_clock_at(&replay->graph.clocks, task_at(replay, stream->task)->now);
  double weight = samples_weight(stream);
  if (!(weight > 0))
    contributions_add(&replay->contributions, &clock->contributions, attribution_find(attribution, scope->row, 0, 0),
                      remaining);
  for (uint32_t i = 0; i < stream->samples_count && weight > 0; i++) {
    uint32_t entry = attribution_find(attribution, scope->row, thread, stream->samples[i].node);
    double fraction = selection_by_sample(&replay->graph.selection, scope->choice, 0, entry);
    contributions_add(&replay->contributions, &clock->contributions, entry,
                      fraction * work * stream->samples[i].weight / weight);
  }
}

/* Returns the fraction of a fragment that remains in a scenario.  entries: those of its samples. */
static double remaining_fraction(struct replay *replay, const struct stream *stream,
                                 const struct task_graph_scope *scope, uint32_t scenario, const uint32_t *entries,
                                 double weight)
{
  const struct selection *selection = &replay->graph.selection;
  if (!(weight > 0))
    return selection_without_samples(selection, scope->choice, scenario, scope->row);
  double sum = 0;
  for (uint32_t i = 0; i < stream->samples_count; i++)
    sum += stream->samples[i].weight * selection_by_sample(selection, scope->choice, scenario, entries[i]);
  return sum / weight;
}

/* Returns the work that remains in the first scenario. */
static double run_scenarios(struct replay *replay, struct stream *stream, uint32_t thread,
                            const struct task_graph_scope *scope, double work, struct vector_clock *clock)
{
  double first = work;
  uint32_t entries[SAMPLES_MAX];
  double weight = samples_weight(stream);
  for (uint32_t i = 0; i < stream->samples_count; i++)
    entries[i] = attribution_find(replay->request->attribution, scope->row, thread, stream->samples[i].node);
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    double remaining = work * remaining_fraction(replay, stream, scope, i, entries, weight);
    double by_construct = work * selection_by_construct(&replay->graph.selection, scope->choice, i);
    struct vector_clock_element *element = &clock->element[1 + i];
    element->time += remaining;
    first = i ? first : remaining;
    if (by_construct == work && !(replay->request->exact_samples && weight > 0)) {
      element->removed += work - remaining;
      element->sampled += work;
      replay->removed[i] += work - remaining;
    }
    if (i == 0 && replay->detail)
      add_contributions(replay, stream, thread, scope, work, remaining);
  }
  return first;
}

/* Adds a fragment's work to the attribution: divided among its samples, or to the entry without samples. */
static void attribute_work(struct replay *replay, const struct stream *stream, uint32_t thread, uint32_t row,
                           double work)
{
  struct attribution *attribution = replay->request->attribution;
  double weight = samples_weight(stream);
  if (!(weight > 0))
    attribution_add(attribution, row, 0, 0);
  for (uint32_t i = 0; i < stream->samples_count && weight > 0; i++) {
    uint32_t entry = attribution_add(attribution, row, thread, stream->samples[i].node);
    if (entry)
      attribution->entries[entry].amount += work * stream->samples[i].weight / weight;
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
  clock->element[0].time += (double)work;
  double remaining = (double)work;
  if (replay->attributes)
    attribute_work(replay, stream, thread, scope->row, (double)work);
  else
    remaining = run_scenarios(replay, stream, thread, scope, (double)work, clock);
  clock_pair_add(&scope->pending, &(struct clock_pair){{(double)work, replay->detail ? remaining : (double)work}});
  if (replay->burdened_element)
    clock->element[replay->burdened_element].time += (double)work;
  for (uint32_t i = 0; i < replay->request->cores_count && work; i++) {
    struct vector_clock_element *element = &clock->element[replay->first_schedule + i];
    element->time = list_schedule_run(&replay->schedules[i], element->time, (double)work);
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

/* Adds a cost to the burdened element of a clock. */
static void add_cost(struct replay *replay, uint32_t clock, double cost)
{
  if (replay->burdened_element && clock)
    vector_clock_at(&replay->graph.clocks, clock)->element[replay->burdened_element].time += cost;
}

static void on_implicit(struct replay *replay, struct stream *stream, uint32_t thread,
                        const struct graphlog_record *record)
{
  uint64_t name = name_from(record->operand[0], record->operand[1]);
  uint32_t region_index = name ? index_find(&replay->graph.region_names, name) : 0;
  uint32_t index = task_graph_task_new(&replay->graph, name_from(thread, ++stream->tasks));
  struct task_graph_region *region = region_at(replay, region_index);
  replay->result.invalid += name && !region_index;
  if (index) {
    struct task_graph_task *task = task_at(replay, index);
    task->flags = TASK_GRAPH_IMPLICIT | TASK_GRAPH_STARTED;
    task->region = region_index;
    region->refs += region_index != 0;
    if (region_index)
      region->size = record->operand[2];
    task->now = vector_clock_copy(&replay->graph.clocks, region->start);
    add_cost(replay, region_index ? task->now : 0, replay->request->cost_fork);
    task_graph_task_scope(&replay->graph, task, region->row, region->choice);
  }
  set_current(replay, stream, index);
}

/* Raises the clock at which the tasks of the region's phase join. */
static void offer_to_phase(struct replay *replay, const struct task_graph_task *task)
{
  struct task_graph_region *region = region_at(replay, task->region);
  if (region->open)
    raise_clock(replay, &region->phases[task->phase & 1], task->now);
}

static void on_implicit_end(struct replay *replay, struct stream *stream, uint32_t index)
{
  const struct task_graph_task *task = task_at(replay, index);
  if (!index)
    return;
  if (task->region)
    offer_to_phase(replay, task);
  else
    vector_clock_raise(&replay->graph.clocks, replay->program_end, task->now);
  if (stream->task == index)
    set_current(replay, stream, 0);
  task_graph_task_end(&replay->graph, index);
}

static void on_region(struct replay *replay, struct stream *stream, uint32_t thread, uint64_t row)
{
  uint64_t name = name_from(thread, ++stream->regions);
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
                                       .row = checked_row(replay, row),
                                       .size = 1,
                                       .creator = stream->task,
                                       .outer = stream->region,
                                       .start = vector_clock_copy(&replay->graph.clocks, creator->now)};
  struct clock_pair now = task_graph_now(&replay->graph, creator);
  creator->refs += stream->task != 0;
  region->choice =
      selection_within(&replay->graph.selection, task_graph_scope(&replay->graph, creator->scope)->choice, region->row);
  region->instance = instances_enter(&replay->graph.instances, region->row,
                                     stream->task ? task_graph_make_instances(&replay->graph, creator) : 0, &now);
  stream->region = index;
}

static void close_loop(struct replay *replay, struct task_graph_loop *loop)
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
    close_loop(replay, &region->loops[i]);
  add_cost(replay, creator->now, replay->request->cost_join);
  struct clock_pair now = task_graph_now(&replay->graph, creator);
  if (region->creator)
    instances_work(&replay->graph.instances, region->instance, &(struct clock_pair){0}, &now);
  instances_leave(&replay->graph.instances, region->instance);
  region->instance = 0;
  region->open = false;
  stream->region = region->outer;
  set_current(replay, stream, region->creator);
  uint32_t creator_index = region->creator;
  region->creator = 0;
  task_graph_region_release(&replay->graph, index);
  task_graph_task_release(&replay->graph, creator_index);
}

static void on_task(struct replay *replay, struct stream *stream, uint32_t thread, const struct graphlog_record *record)
{
  uint32_t parent_index = find_task(replay, record);
  uint32_t index = task_graph_task_new(&replay->graph, name_from(thread, ++stream->tasks));
  if (!index)
    return;
  uint64_t flags = record->operand[3];
  bool beside = flags & GRAPHLOG_FOR_PARENT && stream->task; /* the running task creates it for its own parent */
  struct task_graph_task *task = task_at(replay, index), *parent = task_at(replay, parent_index);
  const struct task_graph_task *starter = beside ? task_at(replay, stream->task) : parent;
  uint32_t row = checked_row(replay, record->operand[2]), choice = 0;
  bool final = parent->flags & TASK_GRAPH_FINAL;
  task->flags = (flags & GRAPHLOG_SERIAL || final ? TASK_GRAPH_SERIAL : 0) |
                (flags & GRAPHLOG_FINAL || final ? TASK_GRAPH_FINAL : 0);
  task->now = vector_clock_copy(&replay->graph.clocks, starter->now);
  if (parent_index) {
    parent->refs++;
    task->parent = parent_index;
    task->creation_chunk = beside ? starter->creation_chunk : parent->chunk;
    task->group = starter->group;
    task_graph_group(&replay->graph, task->group)->refs += task->group != 0;
    task->region = parent->region;
    region_at(replay, task->region)->refs += task->region != 0;
    task->phase = starter->phase;
    choice = beside ? starter->choice : task_graph_scope(&replay->graph, parent->scope)->choice;
    uint32_t outer = beside ? starter->outer_instance : task_graph_make_instances(&replay->graph, parent);
    task->outer_instance = instances_share(&replay->graph.instances, outer);
  }
  replay->result.invalid += !parent_index;
  task->choice = choice;
  add_cost(replay, task->flags & TASK_GRAPH_SERIAL ? 0 : task->now, replay->request->cost_task);
  task_graph_task_scope(&replay->graph, task, row, choice);
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

/* Raises the clock at which the parent's children join.  A taskwait in a chunk of a loop waits only for the children
 * that were created in that chunk. */
static void offer_to_parent(struct replay *replay, const struct task_graph_task *task)
{
  struct task_graph_task *parent = task_at(replay, task->parent);
  raise_clock(replay, task->creation_chunk == parent->chunk ? &parent->children : &parent->earlier_children, task->now);
}

/* Begins the next chunk: children so far are those of earlier chunks. */
static void next_chunk(struct replay *replay, struct task_graph_task *task)
{
  task->chunk++;
  if (!task->children)
    return;
  if (task->earlier_children)
    vector_clock_raise(&replay->graph.clocks, task->earlier_children, task->children);
  else
    task->earlier_children = task->children;
  if (task->earlier_children != task->children)
    vector_clock_free(&replay->graph.clocks, &task->children);
  task->children = 0;
}

static void on_task_end(struct replay *replay, struct stream *stream, uint32_t index, bool awaited)
{
  const struct task_graph_task *task = task_at(replay, index);
  const struct task_graph_task *parent = task_at(replay, task->parent);
  if (!index || task->flags & TASK_GRAPH_IMPLICIT) {
    replay->result.invalid++;
    return;
  }
  if (awaited && task->parent && task->flags & TASK_GRAPH_SERIAL)
    vector_clock_set(&replay->graph.clocks, parent->now, task->now);
  else if (awaited && task->parent && !(parent->flags & TASK_GRAPH_ENDED))
    offer_to_parent(replay, task);
  if (awaited && task->group)
    raise_clock(replay, &task_graph_group(&replay->graph, task->group)->ends, task->now);
  else if (awaited && task->region)
    offer_to_phase(replay, task);
  else if (awaited) /* neither a taskgroup nor a region waits for it */
    vector_clock_raise(&replay->graph.clocks, replay->program_end, task->now);
  if (stream->task == index)
    set_current(replay, stream, 0);
  task_graph_task_end(&replay->graph, index);
}

/* ---- waits and joins ---- */

/* Counts an instance of a construct that does no work itself. */
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
  task_graph_flush_work(&replay->graph, task);
  if (kind == GRAPHLOG_BARRIER && task->region)
    offer_to_phase(replay, task);
  count_instance(replay, checked_row(replay, row));
}

static void take_children(struct replay *replay, const struct task_graph_task *task)
{
  vector_clock_raise(&replay->graph.clocks, task->now, task->children);
  if (!(task->flags & TASK_GRAPH_LOOP))
    vector_clock_raise(&replay->graph.clocks, task->now, task->earlier_children);
}

static void on_wait_end(struct replay *replay, uint32_t index, uint64_t kind)
{
  struct task_graph_task *task = task_at(replay, index);
  const struct task_graph_region *region = region_at(replay, task->region);
  if (!index)
    return;
  if (kind == GRAPHLOG_TASKWAIT)
    take_children(replay, task);
  else if (kind == GRAPHLOG_TASKGROUP)
    vector_clock_raise(&replay->graph.clocks, task->now, task_graph_group(&replay->graph, task->group)->ends);
  else if (region->open) {
    vector_clock_raise(&replay->graph.clocks, task->now, region->phases[task->phase & 1]);
    task->phase++;
  }
}

static void on_group(struct replay *replay, struct task_graph_task *task, uint64_t row)
{
  task_graph_construct_begin(&replay->graph, task, checked_row(replay, row), 0);
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

static struct clock_pair own_chain(const struct replay *replay, const struct task_graph_task *task)
{
  struct clock_pair now = task_graph_now(&replay->graph, task);
  return clock_pair_since(&now, &task->loop_begin);
}

static void offer_to_join(struct replay *replay, const struct task_graph_task *task, struct join *join)
{
  vector_clock_raise(&replay->graph.clocks, join->clock, task->now);
  if (!(task->flags & TASK_GRAPH_LOOP))
    return;
  struct clock_pair own = own_chain(replay, task);
  clock_pair_raise(&join->within, &own);
  join->in_loop = true;
}

/* A loop's own chain goes on through joins between its iterations; of what else arrives, nothing belongs to it. */
static void take_join(struct replay *replay, struct task_graph_task *task, const struct join *join)
{
  struct clock_pair own = own_chain(replay, task);
  vector_clock_raise(&replay->graph.clocks, task->now, join->clock);
  if (!(task->flags & TASK_GRAPH_LOOP) || !join->in_loop)
    return;
  struct clock_pair now = task_graph_now(&replay->graph, task);
  clock_pair_raise(&own, &join->within);
  task->loop_begin = clock_pair_since(&now, &own);
}

/* A join by name: dependences, ordered, doacross, threads that are created and joined. */
static void on_join(struct replay *replay, uint32_t task, const struct graphlog_record *record)
{
  uint64_t name = name_from(record->operand[2], record->operand[3]);
  if (!task || !name) {
    replay->result.invalid++;
    return;
  }
  struct join *join = joins_find(&replay->joins, name, record->op == GRAPHLOG_OFFER);
  replay->result.lost_joins += !join;
  if (join && record->op == GRAPHLOG_TAKE)
    take_join(replay, task_at(replay, task), join);
  else if (join)
    offer_to_join(replay, task_at(replay, task), join);
}

/* ---- worksharing and exclusion (hpcrun-lite/rt/span/worksharing.c) ---- */

/* Finds or begins the loop that the team shares.  Returns NULL if the task is not in a team, or too many loops ahead.
 */
static struct task_graph_loop *enter_loop(struct replay *replay, struct task_graph_task *task, uint32_t row,
                                          uint64_t iterations)
{
  struct task_graph_region *region = region_at(replay, task->region);
  uint32_t number = ++task->constructs;
  if (!region->open || !(task->flags & TASK_GRAPH_IMPLICIT))
    return NULL;
  struct task_graph_loop *loop = &region->loops[number % TASK_GRAPH_LOOPS];
  if (loop->number == number)
    return loop;
  if (loop->number)
    return NULL;
  struct clock_pair now = task_graph_now(&replay->graph, task);
  *loop = (struct task_graph_loop){.number = number, .row = row};
  if (!instances_contain(&replay->graph.instances, region->instance, row))
    loop->instance = instances_enter(&replay->graph.instances, row, 0, &now);
  if (row)
    replay->graph.instances.totals[row].iterations += iterations;
  return loop;
}

static void on_loop(struct replay *replay, struct task_graph_task *task, uint64_t row, uint64_t iterations)
{
  struct task_graph_loop *loop = enter_loop(replay, task, checked_row(replay, row), iterations);
  struct clock_pair now = task_graph_now(&replay->graph, task);
  uint32_t outer = loop ? task_graph_make_instances(&replay->graph, task) : 0;
  uint32_t part = loop ? instances_enter_part(&replay->graph.instances, loop->instance, outer, &now) : 0;
  task_graph_construct_begin(&replay->graph, task, loop ? loop->row : checked_row(replay, row), part);
  task->loop_slot = loop ? (uint32_t)(loop - region_at(replay, task->region)->loops) + 1 : 0;
  task->flags |= TASK_GRAPH_LOOP;
  if (!task->loop_entry)
    task->loop_entry = vector_clock_new(&replay->graph.clocks);
  if (!task->loop_end)
    task->loop_end = vector_clock_new(&replay->graph.clocks);
  next_chunk(replay, task);
  vector_clock_set(&replay->graph.clocks, task->loop_entry, task->now);
  vector_clock_set(&replay->graph.clocks, task->loop_end, task->now);
  task->loop_begin = task_graph_now(&replay->graph, task);
  task->loop_span = (struct clock_pair){0};
}

/* A chunk of the loop ends. */
static void own_chain_ends(struct replay *replay, struct task_graph_task *task)
{
  struct clock_pair own = own_chain(replay, task);
  clock_pair_raise(&task->loop_span, &own);
  task_graph_flush_work(&replay->graph, task);
}

static void on_loop_end(struct replay *replay, struct task_graph_task *task)
{
  if (!(task->flags & TASK_GRAPH_LOOP)) {
    replay->result.invalid++;
    return;
  }
  bool followed = task->scopes_open <= GRAPHLOG_SCOPES_MAX;
  own_chain_ends(replay, task);
  vector_clock_raise(&replay->graph.clocks, task->now, task->loop_end);
  task->flags &= ~(uint32_t)TASK_GRAPH_LOOP;
  next_chunk(replay, task);
  task_graph_construct_end(&replay->graph, task);
  struct task_graph_region *region = region_at(replay, task->region);
  bool shared = followed && task->loop_slot && region->open;
  struct task_graph_loop *loop = shared ? &region->loops[task->loop_slot - 1] : NULL;
  if (loop)
    instances_span(&replay->graph.instances, loop->instance, &task->loop_span);
  if (loop && ++loop->ended == region->size)
    close_loop(replay, loop);
  task->loop_slot = 0;
}

static void on_chunk(struct replay *replay, struct task_graph_task *task)
{
  if (!(task->flags & TASK_GRAPH_LOOP))
    return;
  own_chain_ends(replay, task);
  next_chunk(replay, task);
  vector_clock_raise(&replay->graph.clocks, task->loop_end, task->now);
  vector_clock_set(&replay->graph.clocks, task->now, task->loop_entry);
  task->loop_begin = task_graph_now(&replay->graph, task);
}

/* Only schedules delay a task until the lock's last holder has released it. */
static void on_acquire(struct replay *replay, struct task_graph_task *task, const struct graphlog_record *record)
{
  uint32_t row = checked_row(replay, record->operand[0]);
  struct clock_pair now = task_graph_now(&replay->graph, task);
  struct lock *lock = locks_get(&replay->locks, record->operand[1], &now);
  replay->graph.lost_constructs += !lock;
  for (uint32_t i = replay->first_schedule; lock && task->now && i < replay->width; i++) {
    struct vector_clock_element *own = &vector_clock_at(&replay->graph.clocks, task->now)->element[i];
    const struct vector_clock_element *released = &vector_clock_at(&replay->graph.clocks, lock->released)->element[i];
    own->time = released->time > own->time ? released->time : own->time;
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
  struct clock_pair now = task_graph_now(&replay->graph, task);
  if (lock) {
    struct clock_pair bound = lock_released(lock, &now);
    if (lock->row)
      clock_pair_raise(&replay->graph.instances.totals[lock->row].lock_bound, &bound);
    if (replay->request->cores_count)
      raise_clock(replay, &lock->released, task->now);
  }
  if (record->operand[1])
    task_graph_construct_end(&replay->graph, task);
}

/* ---- records ---- */

/* Processes a record of the task that the thread runs. */
static void replay_in_task(struct replay *replay, struct task_graph_task *task, const struct graphlog_record *record)
{
  switch (record->op) {
  case GRAPHLOG_GROUP:
    on_group(replay, task, record->operand[0]);
    break;
  case GRAPHLOG_GROUP_END:
    on_group_end(replay, task);
    break;
  case GRAPHLOG_SCOPE:
    task_graph_construct_begin(&replay->graph, task, checked_row(replay, record->operand[0]), 0);
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

void replay_take(struct replay *replay, const struct log_reader_record *next)
{
  struct stream *stream = &replay->streams[next->stream];
  const struct graphlog_record *record = &next->record;
  uint32_t thread = next->thread;
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
      replay_in_task(replay, task_at(replay, stream->task), record);
    else
      replay->result.invalid++;
  }
}

/* ---- the end ---- */

/* Raises the end of the program to all chains of a task, and of the tasks and regions around it, that have not been
 * awaited when the log ends. */
static void include_unawaited(struct replay *replay, uint32_t index)
{
  struct vector_clocks *clocks = &replay->graph.clocks;
  while (index) {
    const struct task_graph_task *task = task_at(replay, index);
    const struct task_graph_region *region = region_at(replay, task->region);
    const uint32_t ends[] = {
        task->now,         task->children,   task->earlier_children, task->flags & TASK_GRAPH_LOOP ? task->loop_end : 0,
        region->phases[0], region->phases[1]};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
      vector_clock_raise(clocks, replay->program_end, ends[i]);
    for (uint32_t group = task->group; group; group = task_graph_group(&replay->graph, group)->outer)
      vector_clock_raise(clocks, replay->program_end, task_graph_group(&replay->graph, group)->ends);
    index = task->flags & TASK_GRAPH_IMPLICIT ? region->creator : task->parent;
  }
}

int replay_end(struct replay *replay, struct replay_result *result)
{
  const struct joins *joins = &replay->joins;
  if (task_graph_overflow(&replay->graph) || joins->pool.overflow || joins->names.overflow ||
      locks_overflow(&replay->locks) || replay->request->attribution->overflow)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < replay->request->streams; i++)
    include_unawaited(replay, replay->streams[i].task);
  const struct vector_clock *end = vector_clock_at(&replay->graph.clocks, replay->program_end);
  struct replay_result *found = &replay->result;
  found->span = end->element[0].time;
  found->burdened = end->element[replay->burdened_element].time;
  for (uint32_t i = 0; i < replay->scenarios; i++)
    found->outcomes[i] = (struct replay_outcome){.span = end->element[1 + i].time,
                                                 .removed = end->element[1 + i].removed,
                                                 .sampled = end->element[1 + i].sampled,
                                                 .by_sample = replay->removed[i] > 0};
  for (uint32_t i = 0; i < replay->request->cores_count; i++)
    found->makespans[i] = list_schedule_makespan(&replay->schedules[i]);
  if (replay->detail) {
    replay->contribution_sums =
        calloc((size_t)replay->request->attribution->count + 1, sizeof *replay->contribution_sums);
    if (!replay->contribution_sums)
      return ERR_NOMEM;
    contributions_sum(&replay->contributions, end->contributions, replay->contribution_sums);
  }
  found->contributions = replay->contribution_sums;
  found->rows = replay->graph.instances.totals;
  found->lost_tasks = replay->graph.lost_tasks;
  found->lost_constructs = replay->graph.lost_constructs + replay->graph.instances.lost;
  found->lost_contributions = replay->contributions.lost;
  *result = *found;
  return 0;
}
