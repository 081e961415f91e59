#include "hpcprof-lite/replay/replay.h"

#include "common/xalloc.h"
#include "hpcprof-lite/messages/job_order.h"
#include "hpcprof-lite/messages/message_matching.h"
#include "hpcprof-lite/replay/list_schedule.h"
#include "hpcprof-lite/replay/schedule_change.h"
#include "hpcprof-lite/replay/task_graph_check.h"

#include <assert.h>
#include <stdlib.h>

_Static_assert(1 + REPLAY_SCENARIOS + 1 + REPLAY_SCHEDULES <= VECTOR_CLOCK_ELEMENTS, "an element for each");
_Static_assert((int)REPLAY_SCENARIOS <= SELECTION_MAX, "a factor for each");

enum { SAMPLES_MAX = 64 };

/* The samples of a stream's next fragment. */
struct samples {
  bool device; /* it is a wait for a device */
  uint32_t count;
  double weight; /* of all */
  struct {
    uint64_t node;
    double weight;
    uint32_t entry; /* of the attribution, for scenarios */
  } at[SAMPLES_MAX];
};

struct replay {
  const struct replay_request *request;
  uint32_t scenarios;      /* in elements 1 … scenarios of the clocks */
  struct samples *samples; /* [stream] */
  struct task_graph graph;
  struct contributions contributions;
  struct list_schedule schedules[REPLAY_SCHEDULES];
  bool attributes;                   /* fills the attribution: there is no scenario */
  bool detail;                       /* of the first scenario */
  bool contributes;                  /* what contributes to the span, or with `detail` to the scenario's, is kept */
  double removed[REPLAY_SCENARIOS];  /* work removed because of samples, on all chains */
  bool unplaced[REPLAY_SCENARIOS];   /* see struct replay_outcome */
  struct message_matching *matching; /* NULL: messages do not join clocks */
  struct wait_states waits;          /* of which only what is not known is used */
  struct replay_result *result;
};

/* ---- begin ---- */

static void init_graph(struct replay *replay, uint32_t streams)
{
  struct task_graph *graph = &replay->graph;
  const struct replay_request *request = replay->request;
  const double *directives[REPLAY_SCENARIOS], *attribution[REPLAY_SCENARIOS];
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    directives[i] = request->scenarios[i].directives;
    attribution[i] = request->scenarios[i].entries;
  }
  uint32_t elements = graph->first_schedule + request->cores_count;
  graph->second_element = replay->detail; /* the first scenario */
  graph->burdened_element = request->burdened ? 1 + replay->scenarios : 0;
  graph->costs = request->costs;
  task_graph_init(graph, streams);
  instances_init(&graph->instances, request->directives);
  graph->instances.limited = request->limited;
  uint32_t traced = replay->detail ? 1 : 0, parts = 1;
  if (replay->detail) /* as `detail ? count + 1 : 1`, GCC 13 and 14 read the count without an attribution, too */
    parts += request->attribution->count;
  contributions_init(&replay->contributions, parts);
  vector_clock_init(&graph->clocks, elements, replay->contributes ? traced : VECTOR_CLOCK_UNTRACED,
                    &replay->contributions);
  graph->clocks.observer = request->sink ? &request->sink->clocks : NULL;
  joins_init(&graph->joins, &graph->clocks, JOINS_MAX);
  selection_init(&graph->selection, replay->scenarios, request->directives, directives, attribution,
                 request->attribution);
  graph->program_end = vector_clock_new(&graph->clocks);
}

static void replay_init(struct replay *replay, uint32_t streams)
{
  const struct replay_request *request = replay->request;
  assert(request->scenarios_count <= REPLAY_SCENARIOS && request->cores_count <= REPLAY_SCHEDULES);
  replay->scenarios = request->scenarios_count;
  replay->detail = request->detail && replay->scenarios;
  replay->attributes = !replay->scenarios && !request->sink && !request->only_schedules;
  replay->contributes = request->detail && (replay->scenarios || replay->attributes);
  replay->graph.first_schedule = 1 + replay->scenarios + request->burdened;
  replay->samples = xcalloc(streams, sizeof *replay->samples);
  init_graph(replay, streams);
  for (uint32_t i = 0; i < request->cores_count; i++)
    list_schedule_init(&replay->schedules[i], request->cores[i]);
}

static void replay_release(struct replay *replay)
{
  for (uint32_t i = 0; i < REPLAY_SCHEDULES; i++)
    list_schedule_release(&replay->schedules[i]);
  contributions_release(&replay->contributions);
  task_graph_release(&replay->graph);
  free(replay->samples);
}

/* ---- fragments ---- */

/* Adds to the contributions to the first scenario's span: a fragment of `work`, of which `remaining` is left. */
static void add_contributions(struct replay *replay, const struct samples *samples,
                              const struct task_graph_scope *scope, struct vector_clock *clock, double work,
                              double remaining)
{
  assert(replay->detail && scope->row < replay->request->directives);
  if (!(samples->weight > 0))
    contributions_add(&replay->contributions, &clock->contributions,
                      attribution_find(replay->request->attribution, scope->row, 0, 0), remaining);
  for (uint32_t i = 0; i < samples->count && samples->weight > 0; i++) {
    double fraction = selection_by_sample(&replay->graph.selection, scope->choice, 0, samples->at[i].entry);
    contributions_add(&replay->contributions, &clock->contributions, samples->at[i].entry,
                      fraction * work * samples->at[i].weight / samples->weight);
  }
}

/* Returns the fraction of a fragment that remains in a scenario. */
static double remaining_fraction(const struct replay *replay, const struct samples *samples,
                                 const struct task_graph_scope *scope, uint32_t scenario)
{
  assert(scenario < replay->scenarios);
  const struct selection *selection = &replay->graph.selection;
  if (!(samples->weight > 0))
    return selection_without_samples(selection, scope->choice, scenario, scope->row);
  double sum = 0;
  for (uint32_t i = 0; i < samples->count; i++)
    sum += samples->at[i].weight * selection_by_sample(selection, scope->choice, scenario, samples->at[i].entry);
  return sum / samples->weight;
}

/* Whether it is not certain that a fragment of counted work is not in the selected code. */
static bool is_unplaced(const struct replay *replay, const struct samples *samples, uint32_t scenario)
{
  const struct replay_request *request = replay->request;
  if (!request->exact_samples)
    return false;
  for (uint32_t i = 0; i < samples->count && request->unplaced; i++) {
    uint32_t entry = samples->at[i].entry;
    if (request->unplaced[entry] && request->scenarios[scenario].entries[entry] == 1)
      return true;
  }
  return !(samples->weight > 0);
}

/* Returns the work that remains in the first scenario. */
static double run_scenarios(struct replay *replay, struct samples *samples, uint32_t thread,
                            const struct task_graph_scope *scope, double work, struct vector_clock *clock)
{
  assert(work >= 0);
  double first = work;
  for (uint32_t i = 0; i < samples->count; i++)
    samples->at[i].entry = attribution_find(replay->request->attribution, scope->row, thread, samples->at[i].node);
  for (uint32_t i = 0; i < replay->scenarios; i++) {
    double remaining = work * remaining_fraction(replay, samples, scope, i);
    double by_construct = work * selection_by_construct(&replay->graph.selection, scope->choice, i);
    struct vector_clock_element *element = &clock->element[1 + i];
    element->time += remaining;
    if (!i)
      first = remaining;
    if (by_construct == work && !(replay->request->exact_samples && samples->weight > 0)) {
      element->removed += work - remaining;
      element->sampled += work;
      replay->removed[i] += work - remaining;
    }
    if (by_construct == work && work > 0)
      replay->unplaced[i] |= is_unplaced(replay, samples, i);
    if (i == 0 && replay->detail)
      add_contributions(replay, samples, scope, clock, work, remaining);
  }
  return first;
}

/* Adds a part of a fragment's work to an entry of the attribution, or to 0, what is not known. */
static void attribute_part(struct replay *replay, struct vector_clock *clock, uint32_t entry, double part)
{
  if (!replay->contributes)
    return;
  contributions_reserve(&replay->contributions, replay->request->attribution->count + 1);
  contributions_add(&replay->contributions, &clock->contributions, entry, part);
}

/* Adds a fragment's work to the attribution: divided among its samples, or to the entry without samples. */
static void attribute_work(struct replay *replay, const struct samples *samples, uint32_t thread, uint32_t row,
                           double work, struct vector_clock *clock)
{
  assert(replay->attributes && row < replay->request->directives);
  struct attribution *attribution = replay->request->attribution;
  if (!(samples->weight > 0))
    attribute_part(replay, clock, attribution_add(attribution, row, 0, 0), work);
  for (uint32_t i = 0; i < samples->count && samples->weight > 0; i++) {
    uint32_t entry = attribution_add(attribution, row, thread, samples->at[i].node);
    double part = work * samples->at[i].weight / samples->weight;
    if (entry)
      attribution->entries[entry].amount += part;
    attribute_part(replay, clock, entry, part);
  }
}

static void forget_samples(struct samples *samples)
{
  samples->device = false;
  samples->count = 0;
  samples->weight = 0;
}

/* A fragment contradicts the graph if its task has no scope. */
static void on_run(struct replay *replay, struct graph_event *event)
{
  struct task_graph *graph = &replay->graph;
  struct samples *samples = &replay->samples[event->next->stream];
  struct task_graph_task *task = task_graph_task(graph, event->running);
  struct task_graph_scope *scope = task_graph_scope(graph, task->scope);
  struct vector_clock *clock = vector_clock_at(&graph->clocks, task->now);
  uint32_t thread = event->next->thread, taken = samples->count;
  event->work = event->operand[event->op == GRAPHLOG_RUN ? 1 : 2];
  double work = (double)event->work, remaining = work;
  event->start = clock->element[0].time;
  event->device = samples->device;
  event->counts = task->scope && task->now && event->work < (uint64_t)1 << 60;
  if (!event->counts) {
    graph->lost.invalid++;
    forget_samples(samples);
    return;
  }
  replay->result->work += event->device ? 0 : event->work;
  replay->result->samples += event->device ? 0 : taken;
  if (event->device)
    task_graph_device_time(graph, task, work);
  clock->element[0].time += work;
  if (replay->attributes)
    attribute_work(replay, samples, thread, scope->row, work, clock);
  else if (replay->scenarios)
    remaining = run_scenarios(replay, samples, thread, scope, work, clock);
  clock_pair_add(&scope->pending, &(struct clock_pair){{work, replay->detail ? remaining : work}});
  if (graph->burdened_element)
    clock->element[graph->burdened_element].time += work;
  for (uint32_t i = 0; i < replay->request->cores_count && event->work; i++) {
    struct vector_clock_element *element = &clock->element[graph->first_schedule + i];
    bool spread = schedule_change_spreads(graph, task, &replay->request->assumptions[i]);
    if (event->device) /* it needs no core */
      list_schedule_wait(&replay->schedules[i], element->time += work);
    else
      element->time = list_schedule_run(&replay->schedules[i], element->time, work, spread);
  }
  forget_samples(samples);
}

static void on_sample(struct samples *samples, uint64_t node, uint64_t weight)
{
  assert(samples->count <= SAMPLES_MAX);
  if (samples->count < SAMPLES_MAX) {
    samples->at[samples->count].node = node;
    samples->at[samples->count++].weight = (double)weight;
    samples->weight += (double)weight;
  }
}

/* ---- messages ---- */

static void offer_message(void *context, uint32_t stream, uint64_t number)
{
  struct replay *replay = context;
  graph_reader_message(&replay->graph, stream, number, true);
}

static void take_message(void *context, uint32_t stream, uint64_t number)
{
  struct replay *replay = context;
  graph_reader_message(&replay->graph, stream, number, false);
}

static void end_message(void *context, uint64_t number)
{
  struct replay *replay = context;
  graph_reader_message_ends(&replay->graph, number);
}

static void begin_messages(struct replay *replay, uint32_t streams)
{
  const struct message_observer observer = {
      .offers = offer_message, .takes = take_message, .ends = end_message, .context = replay};
  if (replay->request->messages)
    replay->matching = message_matching_new(streams, false, &replay->waits, &observer);
}

static void match(struct replay *replay, const struct log_reader_record *next)
{
  const struct message_stream of = {next->part, next->local};
  if (!replay->matching || next->record.op < GRAPHLOG_MPI_CALL || next->record.op >= GRAPHLOG_DEVICE)
    return;
  message_matching_take(replay->matching, next->stream, &of, &next->record, next->begin_ticks, next->end_ticks);
}

static void end_messages(struct replay *replay)
{
  if (!replay->matching)
    return;
  const struct wait_states *waits = &replay->waits;
  message_matching_end(replay->matching);
  replay->result->lost_messages = waits->unsent + waits->ambiguous + waits->unknown + waits->incomplete;
  replay->result->unseen_calls = waits->unseen;
  wait_states_release(&replay->waits);
}

/* ---- records ---- */

static void take(struct replay *replay, const struct log_reader_record *next)
{
  const struct replay_request *request = replay->request;
  const struct graph_sink *sink = request->sink;
  struct task_graph *graph = &replay->graph;
  struct graph_event event;
  struct schedule_change_kept kept;
  graph_reader_find(graph, next, &event);
  if (sink && sink->before)
    sink->before(sink->clocks.context, &event);
  graph->instances.outside = next->outside;
  schedule_change_keep(graph, &event, request->assumptions, request->cores_count, &kept);
  if (event.op == GRAPHLOG_RUN || event.op == GRAPHLOG_RUN_OTHER)
    on_run(replay, &event);
  else if (event.op == GRAPHLOG_SAMPLE)
    on_sample(&replay->samples[next->stream], event.operand[0], event.operand[1]);
  else if (event.op == GRAPHLOG_DEVICE)
    replay->samples[next->stream].device = true;
  else
    graph_reader_take(graph, &event);
  match(replay, next);
  schedule_change_restore(graph, &kept);
  assert(event.op != GRAPHLOG_REGION_END || task_graph_check(graph));
  if (sink && sink->after)
    sink->after(sink->clocks.context, &event);
}

/* ---- the end ---- */

/* Computes the result, which takes over arrays. */
static void finish(struct replay *replay, uint32_t streams)
{
  assert(replay->graph.program_end);
  for (uint32_t i = 0; i < streams; i++)
    graph_reader_unawaited(&replay->graph, replay->graph.streams[i].task);
  graph_reader_lock_bounds(&replay->graph);
  const struct vector_clock *end = vector_clock_at(&replay->graph.clocks, replay->graph.program_end);
  struct replay_result *found = replay->result;
  found->span = end->element[0].time;
  found->burdened = end->element[replay->graph.burdened_element].time;
  for (uint32_t i = 0; i < replay->scenarios; i++)
    found->outcomes[i] = (struct replay_outcome){.span = end->element[1 + i].time,
                                                 .removed = end->element[1 + i].removed,
                                                 .sampled = end->element[1 + i].sampled,
                                                 .by_sample = replay->removed[i] > 0,
                                                 .unplaced = replay->unplaced[i]};
  for (uint32_t i = 0; i < replay->request->cores_count; i++)
    found->makespans[i] = replay->schedules[i].makespan;
  found->directives = replay->graph.instances.totals;
  replay->graph.instances.totals = NULL;
  found->lost = replay->graph.lost;
  found->lost.constructs += replay->graph.instances.lost;
  found->lost_contributions = replay->contributions.lost;
  if (!replay->contributes)
    return;
  found->contributions = xcalloc((size_t)replay->request->attribution->count + 1, sizeof *found->contributions);
  contributions_sum(&replay->contributions, end->contributions, found->contributions);
}

int replay_log(const struct replay_request *request, struct log_reader *log, struct replay_result *result)
{
  assert(request->directives);
  struct replay replay = {.request = request, .result = result};
  const struct graph_sink *sink = request->sink;
  struct log_reader_record next;
  uint32_t streams = log_reader_count(log);
  *result = (struct replay_result){0};
  replay_init(&replay, streams);
  begin_messages(&replay, streams);
  if (sink)
    sink->begin(sink->clocks.context, &replay.graph);
  struct job_order order = {.log = log, .matching = request->several_hosts ? replay.matching : NULL};
  while (job_order_next(&order, &next))
    take(&replay, &next);
  job_order_release(&order);
  end_messages(&replay);
  finish(&replay, streams);
  int status = 0;
  if (sink)
    status = sink->end(sink->clocks.context);
  replay_release(&replay);
  return status;
}

void replay_result_release(struct replay_result *result)
{
  free(result->directives);
  free(result->contributions);
  *result = (struct replay_result){0};
}
