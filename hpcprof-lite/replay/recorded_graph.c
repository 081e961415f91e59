#include "hpcprof-lite/replay/recorded_graph.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/merge/span_merge.h"
#include "hpcprof-lite/merge/stitch.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What was measured of what the log has: of the job, or of the process. */
static const struct profile_workspan *figures_of(const struct recorded_graph *recorded)
{
  return recorded->job ? &recorded->profile->workspan : &recorded->process->workspan;
}

/* The run's directive of a row of the log.  The run's must be known. */
static uint32_t directive_of_run(const struct recorded_graph *recorded, uint32_t row)
{
  return recorded->job ? row : recorded->profile->span_rows[row];
}

static struct replay_request new_request(struct recorded_graph *recorded)
{
  return (struct replay_request){.directives = figures_of(recorded)->directives_count,
                                 .attribution = &recorded->attribution,
                                 .exact_samples = !strcmp(figures_of(recorded)->unit, "units"),
                                 .messages = recorded->job,
                                 .several_hosts = recorded->job && recorded->profile->clocks.corrected,
                                 .limited = recorded->process->to_ticks != 0};
}

/* Logs are read by this process alone. */
static const struct log_help no_help;

/* ---- comparison with the measurement ---- */

struct comparison {
  struct recorded_graph *recorded;
  uint64_t differences;
  char first[256]; /* describes the first difference */
};

/* Compares one figure.  is_amount: `log` is in the unit of the log, otherwise it is a number. */
static void compare(struct comparison *comparison, const char *what, const char *of, double log, uint64_t measured,
                    bool is_amount)
{
  const struct profile_workspan *workspan = figures_of(comparison->recorded);
  double value = is_amount ? log * comparison->recorded->scale : log;
  double larger = MAX(value, (double)measured);
  enum { LAST_FRAGMENT_NS = 1000 }; /* one of the two may lack the last fragment of each process */
  double last = (double)LAST_FRAGMENT_NS * comparison->recorded->parts_count;
  double allowed = is_amount && workspan->is_time ? 1e-6 * larger + last : 0;
  if (fabs(value - (double)measured) <= allowed || comparison->differences++)
    return;
  double unit = is_amount && workspan->is_time ? 1e9 : 1;
  snprintf(comparison->first, sizeof comparison->first, "%s of %s is %.9g in the log, %.9g in the measurement", what,
           of, value / unit, (double)measured / unit);
}

/* Whether a process was killed or still runs: its work and span are those of its last flush, the log goes on. */
static bool is_unfinished(const struct recorded_graph *recorded)
{
  bool unfinished = false;
  for (uint32_t i = 0; i < recorded->parts_count; i++)
    unfinished |= recorded->parts[i].process->unfinished;
  return unfinished;
}

/* Of a job nothing else tells the span. */
static void compare_all(struct recorded_graph *recorded, const struct replay_result *result)
{
  const struct profile_workspan *workspan = figures_of(recorded);
  assert(result->directives || workspan->directives_count <= 1);
  struct comparison comparison = {.recorded = recorded};
  if (is_unfinished(recorded))
    return;
  if (!recorded->job)
    compare(&comparison, "span", "the program", result->span, workspan->span, true);
  compare(&comparison, "work", "the program", (double)result->work, workspan->work, true);
  compare(&comparison, "device time", "the program", result->directives[0].device_time,
          workspan->directives[0].device_time, true);
  for (uint32_t row = 1; row < workspan->directives_count; row++) {
    const struct profile_directive *directive = &workspan->directives[row];
    const struct instances_total *total = &result->directives[row];
    char of[64];
    snprintf(of, sizeof of, "construct %" PRIu32 " (%s)", row, profile_directive_name(directive->kind));
    compare(&comparison, "number of instances", of, (double)total->instances, directive->instances, false);
    compare(&comparison, "work", of, total->work.at[0] - total->device_time, directive->work, true);
    compare(&comparison, "device time", of, total->device_time, directive->device_time, true);
    if (!recorded->job)
      compare(&comparison, "span", of, total->span.at[0], directive->span, true);
  }
  if (!comparison.differences)
    return;
  recorded->differs = true;
  problems_add(recorded->problems, "%s: its graph log differs from the measurement: %s (differences: %" PRIu64 ")",
               recorded->process->path, comparison.first, comparison.differences);
}

/* Reports the parts of the log that the replay could not follow. */
static void report_losses(struct recorded_graph *recorded, const struct replay_result *result)
{
  const struct {
    uint64_t count;
    const char *text;
  } all[] = {{result->lost.invalid, "records that contradict the graph, left out"},
             {result->lost.tasks, "tasks, regions or waits beyond the limit, left out"},
             {result->lost.constructs, "constructs or locks beyond the limit, not distinguished"},
             {result->lost_messages, "operations of MPI whose partners, or their order, are not known"},
             {result->lost.joins, "joins that are unknown or no longer kept, taken as time 0"},
             {log_reader_forced(recorded->log), "records that refer to what no thread has created"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (!all[i].count)
      continue;
    recorded->differs = true;
    problems_add(recorded->problems, "%s: graph log: %s: %" PRIu64, recorded->process->path, all[i].text, all[i].count);
  }
  recorded->differs = recorded->differs || log_reader_damaged(recorded->log);
}

/* Reports what is wrong with a replay of the whole log. */
static void check(struct recorded_graph *recorded, const struct replay_result *result)
{
  report_losses(recorded, result);
  compare_all(recorded, result);
}

/* ---- the first replay ---- */

/* The entries of the attribution that name nodes, in the order of their parts of the log. */
struct part_entries {
  uint32_t *numbers;
  uint32_t *firsts; /* [part], and behind the last one */
};

static void sort_entries(const struct recorded_graph *recorded, struct part_entries *sorted)
{
  uint32_t count = recorded->attribution.count, parts = recorded->parts_count, thread;
  sorted->numbers = xcalloc(count, sizeof *sorted->numbers);
  sorted->firsts = xcalloc((size_t)parts + 2, sizeof *sorted->firsts);
  for (uint32_t i = 0; i < count; i++)
    if (recorded->attribution.entries[i].thread)
      sorted->firsts[log_reader_part(recorded->log, recorded->attribution.entries[i].thread, &thread) + 2]++;
  for (uint32_t i = 2; i <= parts + 1; i++)
    sorted->firsts[i] += sorted->firsts[i - 1];
  for (uint32_t i = 0; i < count; i++)
    if (recorded->attribution.entries[i].thread)
      sorted->numbers[sorted->firsts[log_reader_part(recorded->log, recorded->attribution.entries[i].thread, &thread) +
                                     1]++] = i;
}

/* Finds the contexts of entries of a part.  The measurement file is read again, because its nodes are not kept. */
static void find_in_part(struct recorded_graph *recorded, uint32_t part, const uint32_t *entries, uint32_t count)
{
  struct profile *profile = recorded->profile;
  const struct profile_process *process = recorded->parts[part].process;
  struct profile_process copy = *process;
  struct problems reported_before = {0};
  struct read_file *file = NULL;
  struct stitch_node *nodes = xcalloc(count, sizeof *nodes);
  uint32_t *found = xcalloc(count, sizeof *found);
  for (uint32_t i = 0; i < count; i++) {
    const struct attribution_entry *entry = &recorded->attribution.entries[entries[i]];
    nodes[i].node = entry->node;
    log_reader_part(recorded->log, entry->thread, &nodes[i].thread);
    found[i] = MODEL_NONE;
  }
  if (read_open_again(process->path, &reported_before, &file))
    problems_add(recorded->problems,
                 "%s: cannot be read any more: the contexts of the samples in its log are not known", process->path);
  else
    stitch_find(file, &copy, &profile->catalog, &profile->contexts, nodes, count, found);
  for (uint32_t i = 0; i < count; i++)
    recorded->shares[entries[i]].context = found[i];
  read_close(file);
  problems_release(&reported_before);
  free(nodes);
  free(found);
}

/* Finds the contexts of the attribution's entries and fills recorded->shares. */
static void find_contexts(struct recorded_graph *recorded)
{
  assert(!recorded->shares);
  bool merged = recorded->job || recorded->profile->span_rows;
  uint32_t count = recorded->attribution.count;
  struct part_entries sorted;
  recorded->shares = xcalloc(count, sizeof *recorded->shares);
  for (uint32_t i = 0; i < count; i++) {
    const struct attribution_entry *entry = &recorded->attribution.entries[i];
    recorded->shares[i] =
        (struct context_share){.directive = merged ? directive_of_run(recorded, entry->row) : entry->row,
                               .context = MODEL_NONE,
                               .position = i,
                               .amount = model_rounded(entry->amount * recorded->scale)};
  }
  sort_entries(recorded, &sorted);
  for (uint32_t i = 0; i < recorded->parts_count; i++)
    find_in_part(recorded, i, sorted.numbers + sorted.firsts[i], sorted.firsts[i + 1] - sorted.firsts[i]);
  free(sorted.numbers);
  free(sorted.firsts);
}

/* Returns the work for which a sample stands: the sampling period of work or, if that is not known, the mean work for
 * each sample in the log. */
static double sample_period(const struct recorded_graph *recorded, const struct replay_result *result)
{
  const struct catalog *catalog = &recorded->profile->catalog;
  for (uint32_t i = 0; i < catalog->columns_count && recorded->process->workspan.is_time; i++)
    if (catalog->columns[i].role == COLUMN_WORK && catalog->columns[i].period)
      return (double)catalog->columns[i].period;
  return result->samples ? (double)result->work * recorded->scale / (double)result->samples : 0;
}

/* Of time, how much a tick of a process of the job is in ticks of recorded->process, if that is on another host. */
static double tick_scale(const struct recorded_graph *recorded, const struct profile_process *process)
{
  const struct profile_workspan *own = &process->workspan, *all = &recorded->process->workspan;
  bool other = recorded->profile->clocks.corrected && own->is_time && strcmp(process->host, recorded->process->host);
  return other && own->tick_ns > 0 && all->tick_ns > 0 ? own->tick_ns / all->tick_ns : 0;
}

/* Returns the clock that orders records of several hosts; NULL: their ticks do. */
static const struct log_clock *corrected_clock(const struct recorded_graph *recorded,
                                               const struct profile_process *process)
{
  struct log_clock *clock = &recorded->clocks[recorded->parts_count];
  *clock = (struct log_clock){
      .start_ticks = process->start_ticks, .start_ns = process->start_ns, .tick_ns = profile_tick_ns(process)};
  return recorded->profile->clocks.corrected && process->clock_rate > 0 ? clock : NULL;
}

/* Lists the processes of the job, whose rows are the run's, or recorded->process. */
static void list_parts(struct recorded_graph *recorded)
{
  const struct profile *profile = recorded->profile;
  recorded->parts = xcalloc(recorded->job ? profile->processes_count : 1, sizeof *recorded->parts);
  recorded->clocks = xcalloc(recorded->job ? profile->processes_count : 1, sizeof *recorded->clocks);
  for (uint32_t i = 0; recorded->job && i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (profile_in_job(process)) {
      recorded->parts[recorded->parts_count] = (struct log_part){.measurement = process->path,
                                                                 .process = process,
                                                                 .rows = process->directive_map,
                                                                 .rows_count = process->workspan.directives_count,
                                                                 .clock = corrected_clock(recorded, process),
                                                                 .scale = tick_scale(recorded, process)};
      recorded->parts_count++;
    }
  }
  if (!recorded->job)
    recorded->parts[recorded->parts_count++] =
        (struct log_part){.measurement = recorded->process->path, .process = recorded->process};
}

/* Opens the log of the job, or of recorded->process.  Returns false if there is none that can be used. */
static bool open_log(struct recorded_graph *recorded, const struct log_help *help)
{
  const struct profile_process *process = recorded->process;
  list_parts(recorded);
  if (recorded->job && recorded->profile->clocks.corrected)
    help = &no_help; /* records wait for others, which only one process can tell */
  recorded->log = log_reader_open_helped(recorded->parts, recorded->parts_count, LOG_ALL, help, recorded->problems);
  if (!recorded->log)
    return false;
  recorded->scale = process->workspan.is_time ? process->workspan.tick_ns : 1;
  if (recorded->scale > 0)
    return true;
  problems_add(recorded->problems, "%s: the length of a tick is not known: its graph log is not used", process->path);
  log_reader_close(recorded->log);
  recorded->log = NULL;
  return false;
}

static void burden(const struct recorded_graph *recorded, struct replay_request *request)
{
  assert(recorded->scale > 0);
  const struct profile_process *process = recorded->process;
  request->burdened = true;
  request->costs = (struct task_graph_costs){.fork = (double)process->cost_fork / recorded->scale,
                                             .task = (double)process->cost_task / recorded->scale,
                                             .join = (double)process->cost_join / recorded->scale};
}

void recorded_graph_open(struct profile *profile, const uint32_t *cores, uint32_t cores_count,
                         struct problems *problems, struct recorded_graph *recorded)
{
  assert(cores_count < REPLAY_SCHEDULES);
  *recorded = (struct recorded_graph){.profile = profile, .problems = problems, .job = profile->span_of_job};
  if (!profile->workspan.known)
    return;
  recorded->process = &profile->processes[profile->span_process];
  if (!open_log(recorded, &no_help))
    return;
  struct replay_request request = new_request(recorded);
  struct replay_result result;
  burden(recorded, &request);
  for (; request.cores_count < cores_count; request.cores_count++)
    request.cores[request.cores_count] = cores[request.cores_count];
  request.cores[request.cores_count++] = 0; /* on any number of cores only locks make a difference to the span */
  replay_log(&request, recorded->log, &result);
  recorded->known = true;
  recorded->burdened = result.burdened * recorded->scale;
  recorded->per_sample = sample_period(recorded, &result);
  for (uint32_t i = 0; i < cores_count; i++)
    recorded->makespans[i] = result.makespans[i] * recorded->scale;
  recorded->locked_chain = result.makespans[cores_count] * recorded->scale;
  check(recorded, &result);
  replay_result_release(&result);
}

void recorded_graph_release(struct recorded_graph *recorded)
{
  log_reader_close(recorded->log);
  attribution_release(&recorded->attribution);
  free(recorded->parts);
  free(recorded->clocks);
  free(recorded->shares);
  free(recorded->scenario_shares);
  free(recorded->spans);
  free(recorded->bounds);
  *recorded = (struct recorded_graph){0};
}

/* ---- scenarios ---- */

/* Whether a context names all code in which the program counted work there: its end is not the runtime, and no callers
 * are missing. */
static bool names_code(const struct contexts *contexts, uint32_t context)
{
  if (context == MODEL_NONE || !context)
    return false;
  uint32_t kind = contexts->nodes[context].kind;
  bool known = kind == CONTEXT_FRAME || kind == CONTEXT_USER_REGION || kind == CONTEXT_PARALLEL || kind == CONTEXT_TASK;
  for (; context && known; context = contexts->nodes[context].parent)
    known = contexts->nodes[context].kind != CONTEXT_PARTIAL;
  return known;
}

/* Returns a new array: replay_request.unplaced. */
static bool *unplaced_entries(const struct recorded_graph *recorded)
{
  uint32_t count = recorded->attribution.count;
  bool *unplaced = xcalloc((size_t)count + 1, sizeof *unplaced);
  for (uint32_t i = 0; i < count && recorded->shares; i++)
    unplaced[i] = !names_code(&recorded->profile->contexts, recorded->shares[i].context);
  return unplaced;
}

/* Replays scenarios, whose factors are translated to the directives of the log's process. */
static void replay_scenarios(struct recorded_graph *recorded, const struct recorded_scenario *scenarios, uint32_t count,
                             struct replay_request *request, struct replay_result *result)
{
  assert(recorded->log && count <= REPLAY_SCENARIOS && request->scenarios_count + count <= REPLAY_SCENARIOS);
  size_t width = request->directives;
  double *factors = xcalloc(width * count, sizeof *factors);
  bool *unplaced = unplaced_entries(recorded);
  request->unplaced = unplaced;
  for (uint32_t i = 0; i < count; i++) {
    double *by_row = factors + width * i;
    for (uint32_t row = 0; row < width; row++)
      by_row[row] = row ? scenarios[i].directives[directive_of_run(recorded, row)] : 1;
    request->scenarios[request->scenarios_count++] = (struct replay_scenario){by_row, scenarios[i].shares};
  }
  log_reader_rewind(recorded->log);
  replay_log(request, recorded->log, result);
  request->unplaced = NULL;
  free(unplaced);
  free(factors);
}

/* Returns an outcome in the unit of the profile. */
static struct replay_outcome scale_outcome(const struct recorded_graph *recorded, const struct replay_outcome *outcome)
{
  return (struct replay_outcome){.span = outcome->span * recorded->scale,
                                 .removed = outcome->removed * recorded->scale,
                                 .sampled = outcome->sampled * recorded->scale,
                                 .by_sample = outcome->by_sample,
                                 .unplaced = outcome->unplaced};
}

uint32_t recorded_graph_shares(struct recorded_graph *recorded, const struct context_share **shares)
{
  uint32_t count = recorded->known ? recorded->attribution.count : 0;
  if (count && !recorded->shares)
    find_contexts(recorded);
  *shares = recorded->shares;
  return count;
}

void recorded_graph_replay(struct recorded_graph *recorded, const struct recorded_scenario *scenarios, uint32_t count,
                           struct replay_outcome *outcomes)
{
  assert(recorded->known && count <= REPLAY_SCENARIOS);
  struct replay_request request = new_request(recorded);
  struct replay_result result;
  replay_scenarios(recorded, scenarios, count, &request, &result);
  for (uint32_t i = 0; i < count; i++)
    outcomes[i] = scale_outcome(recorded, &result.outcomes[i]);
  replay_result_release(&result);
}

/* Computes at most REPLAY_SCHEDULES schedules.  room: for count × directives of the log's process. */
static void schedule_some(struct recorded_graph *recorded, const struct recorded_schedule *schedules, uint32_t count,
                          bool *room, double *makespans)
{
  assert(recorded->log && count <= REPLAY_SCHEDULES);
  struct replay_request request = new_request(recorded);
  struct replay_result result;
  request.only_schedules = true;
  request.cores_count = count;
  for (uint32_t i = 0; i < count; i++) {
    bool *selected = room + (size_t)i * request.directives;
    for (uint32_t row = 0; row < request.directives; row++)
      selected[row] = row && schedules[i].directives && schedules[i].directives[directive_of_run(recorded, row)];
    request.cores[i] = schedules[i].cores;
    request.assumptions[i] = (struct schedule_assumption){schedules[i].change, selected, schedules[i].own_chunks};
  }
  log_reader_rewind(recorded->log);
  replay_log(&request, recorded->log, &result);
  for (uint32_t i = 0; i < count; i++)
    makespans[i] = result.makespans[i] * recorded->scale;
  replay_result_release(&result);
}

void recorded_graph_schedule(struct recorded_graph *recorded, const struct recorded_schedule *schedules, uint32_t count,
                             double *makespans)
{
  assert(recorded->process);
  bool *selected = xcalloc((size_t)figures_of(recorded)->directives_count * REPLAY_SCHEDULES, sizeof *selected);
  for (uint32_t first = 0; first < count; first += REPLAY_SCHEDULES)
    schedule_some(recorded, schedules + first, MIN(count - first, REPLAY_SCHEDULES), selected, makespans + first);
  free(selected);
}

/* Fills recorded->scenario_shares with the contributions to a span.  Amounts are differences of rounded
 * sums, so that they add up to the span.  What was not kept is attributed to the program. */
static void fill_scenario_shares(struct recorded_graph *recorded, const struct replay_result *result, double span)
{
  assert(!recorded->scenario_shares);
  assert((recorded->shares && result->contributions) || !recorded->attribution.count);
  double sum = 0;
  uint64_t before = 0, all = model_rounded(span * recorded->scale);
  uint32_t count = 0;
  recorded->scenario_shares = xcalloc((size_t)recorded->attribution.count + 1, sizeof *recorded->scenario_shares);
  for (uint32_t i = 0; i < recorded->attribution.count; i++) {
    if (!(result->contributions[i] > 0))
      continue;
    struct context_share share = recorded->shares[i];
    sum += result->contributions[i] * recorded->scale;
    uint64_t here = model_rounded(sum);
    share.amount = MIN(here, all) - before;
    before += share.amount;
    recorded->scenario_shares[count++] = share;
  }
  if (before < all)
    recorded->scenario_shares[count++] =
        (struct context_share){.context = MODEL_NONE, .position = MODEL_NONE, .amount = all - before};
  recorded->scenario_shares_count = count;
}

/* Fills spans and bounds of the run's directives in the scenario.  Other processes keep the measured spans. */
static void fill_directives(struct recorded_graph *recorded, const struct replay_result *result)
{
  const struct profile_workspan *workspan = &recorded->profile->workspan, *own = figures_of(recorded);
  recorded->spans = xcalloc(workspan->directives_count, sizeof *recorded->spans);
  recorded->bounds = xcalloc(workspan->directives_count, sizeof *recorded->bounds);
  for (uint32_t i = 0; i < workspan->directives_count; i++)
    recorded->spans[i] = workspan->directives[i].span;
  for (uint32_t row = 1; row < own->directives_count; row++) {
    uint32_t number = directive_of_run(recorded, row);
    uint64_t span = model_rounded(result->directives[row].span.at[1] * recorded->scale);
    uint64_t bound = model_rounded(result->directives[row].lock_bound.at[1] * recorded->scale);
    uint64_t measured = own->directives[row].span;
    recorded->spans[number] -= MIN(measured, recorded->spans[number]);
    recorded->spans[number] += span;
    recorded->bounds[number] = MAX(bound, recorded->bounds[number]);
  }
}

void recorded_graph_detail(struct recorded_graph *recorded, const struct recorded_scenario *scenario,
                           struct replay_outcome *outcome)
{
  assert(recorded->known && !recorded->spans && !recorded->bounds);
  struct replay_request request = new_request(recorded);
  struct replay_result result;
  request.detail = true;
  replay_scenarios(recorded, scenario, 1, &request, &result);
  *outcome = scale_outcome(recorded, &result.outcomes[0]);
  fill_directives(recorded, &result);
  fill_scenario_shares(recorded, &result, result.outcomes[0].span);
  span_spread(recorded->scenario_shares, &recorded->scenario_shares_count);
  replay_result_release(&result);
}

/* ---- a part of the run ---- */

/* Replays the log, with the contributions to its span, and finds their contexts. */
static void replay_once(struct recorded_graph *recorded, struct replay_result *result)
{
  struct replay_request request = new_request(recorded);
  burden(recorded, &request);
  request.detail = true;
  replay_log(&request, recorded->log, result);
  find_contexts(recorded);
}

/* Replays the whole run and compares it with the measurement. */
static void check_whole(struct recorded_graph *recorded)
{
  const struct profile_process *limited = recorded->process;
  struct profile_process whole = *limited;
  whole.from_ticks = whole.to_ticks = 0;
  recorded->process = &whole;
  log_reader_limit(recorded->log, &whole);
  struct replay_request request = new_request(recorded);
  struct replay_result result;
  replay_log(&request, recorded->log, &result);
  check(recorded, &result);
  replay_result_release(&result);
  recorded->process = limited;
  log_reader_limit(recorded->log, limited);
  log_reader_rewind(recorded->log);
}

static void enter_part(const struct recorded_graph *recorded, const struct replay_result *result,
                       struct profile_workspan *workspan)
{
  workspan->work = model_rounded((double)result->work * recorded->scale);
  workspan->span = model_rounded(result->span * recorded->scale);
  workspan->burdened = model_rounded(result->burdened * recorded->scale);
  workspan->directives[0].device_time = model_rounded(result->directives[0].device_time * recorded->scale);
  for (uint32_t row = 1; row < workspan->directives_count; row++) {
    struct profile_directive *directive = &workspan->directives[row];
    const struct instances_total *total = &result->directives[row];
    directive->instances = total->instances;
    directive->iterations = 0; /* they have no times */
    directive->work = model_rounded((total->work.at[0] - total->device_time) * recorded->scale);
    directive->device_time = model_rounded(total->device_time * recorded->scale);
    directive->span = model_rounded(total->span.at[0] * recorded->scale);
    directive->lock_bound = model_rounded(total->lock_bound.at[0] * recorded->scale);
  }
}

bool recorded_graph_limit(struct profile *profile, struct profile_process *process, struct problems *problems)
{
  struct recorded_graph recorded = {.profile = profile, .process = process, .problems = problems};
  struct replay_result result;
  if (!open_log(&recorded, &no_help)) {
    recorded_graph_release(&recorded);
    return false;
  }
  check_whole(&recorded);
  replay_once(&recorded, &result);
  enter_part(&recorded, &result, &process->workspan);
  fill_scenario_shares(&recorded, &result, result.span);
  profile->range.log_differs |= recorded.differs;
  for (uint32_t i = 0; i < recorded.scenario_shares_count; i++) {
    recorded.scenario_shares[i].owner = process->number;
    contexts_add_share(&profile->contexts, &recorded.scenario_shares[i]);
  }
  replay_result_release(&result);
  recorded_graph_release(&recorded);
  return true;
}

/* ---- a job ---- */

/* Whether the processes with a span are all ranks of one MPI job, on one host, or on several whose clocks are known. */
static bool is_job(const struct profile *profile)
{
  const struct profile_process *first = NULL;
  uint32_t ranks = 0;
  bool *there = xcalloc(profile->span_processes, sizeof *there), all = true;
  for (uint32_t i = 0; i < profile->processes_count && all; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!profile_in_job(process))
      continue;
    first = first ? first : process;
    uint32_t rank = (uint32_t)process->mpi_rank;
    bool related = profile->clocks.corrected || !strcmp(process->host, first->host);
    all = related && process->mpi_size == first->mpi_size && process->mpi_decoded && rank < profile->span_processes &&
          !there[rank];
    if (all)
      there[rank] = true;
    ranks++;
  }
  free(there);
  return all && first && ranks == first->mpi_size && ranks == profile->span_processes;
}

/* Replaces the span of the run by that of the job. */
static void enter_job(struct recorded_graph *recorded, const struct replay_result *result)
{
  struct profile *profile = recorded->profile;
  struct contexts *contexts = &profile->contexts;
  profile->workspan.span = model_rounded(result->span * recorded->scale);
  profile->workspan.burdened = model_rounded(result->burdened * recorded->scale);
  contexts->shares_count = 0;
  for (uint32_t i = 0; i < recorded->scenario_shares_count; i++)
    contexts_add_share(contexts, &recorded->scenario_shares[i]);
  span_spread(contexts->shares, &contexts->shares_count);
  profile->span_of_job = true;
  profile->span_unseen_calls = result->unseen_calls;
}

bool recorded_graph_job(struct profile *profile, const struct log_help *help, struct problems *problems)
{
  if (!profile->workspan.known || !is_job(profile))
    return false;
  struct recorded_graph recorded = {
      .profile = profile, .process = &profile->processes[profile->span_process], .problems = problems, .job = true};
  struct replay_result result;
  bool usable = open_log(&recorded, help);
  if (usable) {
    replay_once(&recorded, &result);
    if (!recorded.process->to_ticks)
      check(&recorded, &result);
    fill_scenario_shares(&recorded, &result, result.span);
    enter_job(&recorded, &result);
    replay_result_release(&result);
  }
  recorded_graph_release(&recorded);
  return usable;
}
