#include "hpcprof-lite/replay/replay.h"

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/list_schedule.h"
#include "hpcprof-lite/replay/schedule_change.h"
#include "hpcprof-lite/replay/shared_records.h"
#include "hpcprof-lite/replay/task_records.h"

#include <stdlib.h>

_Static_assert(1 + REPLAY_SCENARIOS + 1 + REPLAY_SCHEDULES <= VECTOR_CLOCK_ELEMENTS, "an element for each");
_Static_assert((int)REPLAY_SCENARIOS <= SELECTION_MAX, "a factor for each");

enum { SAMPLES_MAX = 64 };

/* The state of one thread's stream of records. */
struct stream {
  struct task_stream tasks;
  uint32_t samples_count; /* samples of the next fragment */
  struct {
    uint64_t node;
    double weight;
  } samples[SAMPLES_MAX];
};

struct replay {
  const struct replay_request *request;
  uint32_t scenarios;      /* in elements 1 … scenarios of the clocks */
  uint32_t first_schedule; /* element of the first schedule */
  struct stream *streams;
  struct task_graph graph;
  struct shared_records shared;
  struct contributions contributions;
  struct list_schedule schedules[REPLAY_SCHEDULES];
  bool attributes; /* fills the attribution: there is no scenario */
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
  uint32_t elements = replay->first_schedule + request->cores_count;
  graph->second_element = replay->detail;
  graph->burdened_element = request->burdened ? 1 + replay->scenarios : 0;
  graph->cost_fork = request->cost_fork;
  graph->cost_task = request->cost_task;
  graph->cost_join = request->cost_join;
  int status = task_graph_init(graph);
  status = status ? status : instances_init(&graph->instances, request->rows);
  graph->instances.limited = request->limited;
  status = status ? status
                  : contributions_init(&replay->contributions, replay->detail ? request->attribution->count + 1 : 1);
  if (!status)
    status =
        vector_clock_init(&graph->clocks, elements, replay->detail ? 1 : VECTOR_CLOCK_UNTRACED, &replay->contributions);
  graph->clocks.observer = status ? NULL : request->observer;
  status = status ? status : shared_records_init(&replay->shared, graph, replay->first_schedule, elements);
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
  replay->attributes = !replay->scenarios && !request->observer && !request->only_schedules;
  replay->first_schedule = 1 + replay->scenarios + request->burdened;
  replay->streams = calloc((size_t)request->streams + 1, sizeof *replay->streams);
  int status = replay->streams ? init_graph(replay) : ERR_NOMEM;
  for (uint32_t i = 0; i < request->cores_count && !status; i++)
    status = list_schedule_init(&replay->schedules[i], request->cores[i]);
  replay->graph.program_end = status ? 0 : vector_clock_new(&replay->graph.clocks);
  return replay->graph.program_end ? 0 : ERR_NOMEM;
}

void replay_free(struct replay *replay)
{
  if (!replay)
    return;
  for (uint32_t i = 0; i < REPLAY_SCHEDULES; i++)
    list_schedule_release(&replay->schedules[i]);
  shared_records_free(&replay->shared);
  contributions_release(&replay->contributions);
  task_graph_release(&replay->graph);
  free(replay->streams);
  free(replay->contribution_sums);
  free(replay);
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
  struct vector_clock *clock =
      vector_clock_at(&replay->graph.clocks, task_graph_task(&replay->graph, stream->tasks.task)->now);
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

bool replay_counts(const struct task_graph_task *task, uint64_t work)
{
  return task->scope && task->now && work < (uint64_t)1 << 60;
}

static void on_run(struct replay *replay, struct stream *stream, uint32_t thread, uint64_t work)
{
  struct task_graph_task *task = task_graph_task(&replay->graph, stream->tasks.task);
  struct task_graph_scope *scope = task_graph_scope(&replay->graph, task->scope);
  struct vector_clock *clock = vector_clock_at(&replay->graph.clocks, task->now);
  replay->result.fragments++;
  if (!replay_counts(task, work)) {
    replay->graph.invalid++;
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
  if (replay->graph.burdened_element)
    clock->element[replay->graph.burdened_element].time += (double)work;
  for (uint32_t i = 0; i < replay->request->cores_count && work; i++) {
    struct vector_clock_element *element = &clock->element[replay->first_schedule + i];
    bool spread = schedule_change_spreads(&replay->graph, task, &replay->request->assumptions[i]);
    element->time =
        (spread ? list_schedule_spread : list_schedule_run)(&replay->schedules[i], element->time, (double)work);
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

/* ---- records ---- */

/* Processes a record of the task that the thread runs. */
static void replay_in_task(struct replay *replay, struct task_graph_task *task, const struct graphlog_record *record)
{
  struct task_graph *graph = &replay->graph;
  switch (record->op) {
  case GRAPHLOG_GROUP:
    task_records_group(graph, task, record->operand[0]);
    break;
  case GRAPHLOG_GROUP_END:
    task_records_group_end(graph, task);
    break;
  case GRAPHLOG_SCOPE:
    task_graph_construct_begin(graph, task, task_graph_row(graph, record->operand[0]), 0);
    break;
  case GRAPHLOG_SCOPE_END:
    task_graph_construct_end(graph, task);
    break;
  case GRAPHLOG_LOOP:
  case GRAPHLOG_LOOP_ALONE:
    shared_records_loop(graph, task, record);
    break;
  case GRAPHLOG_LOOP_END:
    shared_records_loop_end(graph, task);
    break;
  case GRAPHLOG_CHUNK:
    shared_records_chunk(graph, task);
    break;
  case GRAPHLOG_ACQUIRE:
    shared_records_acquire(&replay->shared, graph, task, record);
    break;
  default:
    shared_records_release(&replay->shared, graph, task, record);
  }
}

/* The same for all records. */
static void take(struct replay *replay, const struct log_reader_record *next)
{
  struct task_graph *graph = &replay->graph;
  struct stream *stream = &replay->streams[next->stream];
  const struct graphlog_record *record = &next->record;
  uint32_t thread = next->thread;
  graph->instances.outside = next->outside;
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
    task_records_region(graph, &stream->tasks, thread, record->operand[0]);
    break;
  case GRAPHLOG_REGION_END:
    task_records_region_end(graph, &stream->tasks);
    break;
  case GRAPHLOG_IMPLICIT:
    task_records_implicit(graph, &stream->tasks, thread, record);
    break;
  case GRAPHLOG_IMPLICIT_END:
    task_records_implicit_end(graph, &stream->tasks, task_graph_find(graph, record->operand[0], record->operand[1]));
    break;
  case GRAPHLOG_TASK:
    task_records_task(graph, &stream->tasks, thread, record);
    break;
  case GRAPHLOG_SWITCH:
    task_records_switch(graph, &stream->tasks, task_graph_find(graph, record->operand[0], record->operand[1]));
    break;
  case GRAPHLOG_TASK_END:
  case GRAPHLOG_TASK_DROP:
    task_records_task_end(graph, &stream->tasks, task_graph_find(graph, record->operand[0], record->operand[1]),
                          record->op == GRAPHLOG_TASK_END);
    break;
  case GRAPHLOG_WAIT:
    task_records_wait(graph, task_graph_find(graph, record->operand[0], record->operand[1]), record->operand[2],
                      record->operand[3]);
    break;
  case GRAPHLOG_WAIT_END:
    task_records_wait_end(graph, task_graph_find(graph, record->operand[0], record->operand[1]), record->operand[2]);
    break;
  case GRAPHLOG_OFFER:
  case GRAPHLOG_TAKE:
    shared_records_join(&replay->shared, graph, task_graph_find(graph, record->operand[0], record->operand[1]), record);
    break;
  case GRAPHLOG_END:
  case GRAPHLOG_TIME:
  case GRAPHLOG_CPU:
  case GRAPHLOG_MOVE:
  case GRAPHLOG_CREATED:
  case GRAPHLOG_OPS:
    break;
  default:
    if (stream->tasks.task && task_graph_task(graph, stream->tasks.task)->scope)
      replay_in_task(replay, task_graph_task(graph, stream->tasks.task), record);
    else
      graph->invalid++;
  }
}

void replay_take(struct replay *replay, const struct log_reader_record *next)
{
  struct schedule_change_kept kept;
  schedule_change_keep(&replay->graph, replay->streams[next->stream].tasks.task, &next->record,
                       replay->request->assumptions, replay->request->cores_count, replay->first_schedule, &kept);
  take(replay, next);
  schedule_change_restore(&replay->graph, replay->first_schedule, &kept);
}

struct task_graph *replay_graph(struct replay *replay)
{
  return &replay->graph;
}

uint32_t replay_running(const struct replay *replay, uint32_t stream)
{
  return replay->streams[stream].tasks.task;
}

/* ---- the end ---- */

int replay_end(struct replay *replay, struct replay_result *result)
{
  if (task_graph_overflow(&replay->graph) || shared_records_overflow(&replay->shared) ||
      replay->request->attribution->overflow)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < replay->request->streams; i++)
    task_records_unawaited(&replay->graph, replay->streams[i].tasks.task);
  const struct vector_clock *end = vector_clock_at(&replay->graph.clocks, replay->graph.program_end);
  struct replay_result *found = &replay->result;
  found->span = end->element[0].time;
  found->burdened = end->element[replay->graph.burdened_element].time;
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
  found->invalid = replay->graph.invalid;
  found->lost_joins = replay->shared.lost_joins;
  found->lost_tasks = replay->graph.lost_tasks;
  found->lost_constructs = replay->graph.lost_constructs + replay->graph.instances.lost;
  found->lost_contributions = replay->contributions.lost;
  *result = *found;
  return 0;
}
