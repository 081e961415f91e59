#include "hpcprof-lite/replay/answers.h"

#include "hpcprof-lite/input/graph.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/stitch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct profile_process *process_of(const struct answers *answers)
{
  return &answers->profile->processes[answers->profile->graph_process];
}

static int replay_all(struct answers *answers, const struct replay_request *request, struct replay **replay,
                      struct replay_result *result)
{
  struct streams_record record;
  int status = replay_new(request, replay);
  while (!status && streams_next(answers->streams, &record))
    replay_take(*replay, &record);
  if (!status && streams_starved(answers->streams))
    status = ERR_NOMEM;
  return status ? status : replay_end(*replay, result);
}

static struct replay_request request_of(struct answers *answers)
{
  const struct profile_graph *graph = &process_of(answers)->graph;
  return (struct replay_request){.rows = graph->directives_count,
                                 .streams = streams_count(answers->streams),
                                 .parts = &answers->parts,
                                 .exact_samples = !graph->is_time};
}

/* ---- does it say what was measured? ---- */

struct comparison {
  struct answers *answers;
  uint64_t differences;
  char first[256];
};

/* log: in its own unit. */
static void compare(struct comparison *comparison, const char *what, const char *of, double log, uint64_t measured,
                    bool is_amount)
{
  const struct profile_graph *graph = &process_of(comparison->answers)->graph;
  double value = is_amount ? log * comparison->answers->unit : log;
  double most = value > (double)measured ? value : (double)measured;
  enum { LAST_NS = 1000 }; /* a last fragment may have come too late for one of the two */
  double allowed = is_amount && graph->is_time ? 1e-6 * most + LAST_NS : 0;
  if (fabs(value - (double)measured) <= allowed || comparison->differences++)
    return;
  bool seconds = is_amount && graph->is_time;
  snprintf(comparison->first, sizeof comparison->first, "%s of %s is %.9g in the log, %.9g by the measurement", what,
           of, seconds ? value / 1e9 : value, seconds ? (double)measured / 1e9 : (double)measured);
}

static void compare_all(struct answers *answers, const struct replay_result *result, struct problems *problems)
{
  const struct profile_process *process = process_of(answers);
  struct comparison comparison = {.answers = answers};
  compare(&comparison, "span", "the program", result->span, process->graph.span, true);
  compare(&comparison, "work", "the program", (double)result->work, process->graph.work, true);
  for (uint32_t row = 1; row < process->graph.directives_count; row++) {
    const struct profile_directive *directive = &process->graph.directives[row];
    const struct instances_total *total = &result->rows[row];
    char of[64];
    snprintf(of, sizeof of, "construct %" PRIu32 " (%s)", row, graph_directive_name(directive->kind));
    compare(&comparison, "number", of, (double)total->instances, directive->instances, false);
    compare(&comparison, "work", of, (double)total->work, directive->work, true);
    compare(&comparison, "span", of, total->span.at[0], directive->span, true);
  }
  if (!comparison.differences)
    return;
  answers->differs = true;
  problems_add(problems, "%s: its log of the graph says something else: %s (%" PRIu64 " differences)", process->path,
               comparison.first, comparison.differences);
}

/* What of the log could not be followed. */
static void report_losses(struct answers *answers, const struct replay_result *result, struct problems *problems)
{
  const struct {
    uint64_t count;
    const char *text;
  } all[] = {{result->strange, "records that make no sense where they stand: left out"},
             {result->lost_tasks, "tasks, regions or waits for which there was no room: left out"},
             {result->lost_constructs, "constructs or locks for which there was no room: not told apart"},
             {result->lost_joins, "joins that are not known, or are known no longer: taken as they were at the start"},
             {streams_forced(answers->streams), "records that name what no thread has made"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (!all[i].count)
      continue;
    answers->differs = true;
    problems_add(problems, "%s: in its log of the graph %" PRIu64 " %s", process_of(answers)->path, all[i].count,
                 all[i].text);
  }
  answers->differs = answers->differs || streams_damaged(answers->streams);
}

/* ---- the first replay ---- */

/* Where in the profile the samples fell: the file is read again, since nothing of it is kept. */
static int find_contexts(struct answers *answers)
{
  struct profile *profile = answers->profile;
  const struct profile_process *process = process_of(answers);
  struct profile_process again = *process;
  struct problems known = {0};
  struct read_file *file = NULL;
  uint32_t count = answers->parts.count;
  struct stitch_place *places = calloc((size_t)count + 1, sizeof *places);
  uint32_t *found = malloc(((size_t)count + 1) * sizeof *found);
  answers->shares = calloc((size_t)count + 1, sizeof *answers->shares);
  int status = places && found && answers->shares ? 0 : ERR_NOMEM;
  for (uint32_t i = 1; i < count && !status; i++)
    places[i] = (struct stitch_place){answers->parts.parts[i].thread, answers->parts.parts[i].node};
  if (!status)
    memset(found, 0xff, ((size_t)count + 1) * sizeof *found);
  if (!status)
    status = read_open_again(process->path, &known, &file);
  if (!status)
    status = stitch_find(file, &again, &profile->catalog, &profile->contexts, places, count, found);
  if (status == ERR_INPUT) {
    problems_add(answers->problems, "%s: cannot be read any more: where its log's samples fell is not known",
                 process->path);
    status = 0;
  }
  for (uint32_t i = 0; i < count && !status; i++) {
    const struct part *part = &answers->parts.parts[i];
    answers->shares[i] = (struct profile_share){.directive = profile->graph_rows[part->row],
                                                .context = part->thread ? found[i] : PROFILE_NONE,
                                                .place = i,
                                                .amount = profile_rounded(part->amount * answers->unit)};
  }
  read_close(file);
  problems_release(&known);
  free(places);
  free(found);
  return status;
}

/* Work that a sample stands for: the period of what was sampled, or what there was for each record of one. */
static double sample_period(const struct answers *answers, const struct replay_result *result)
{
  const struct catalog *catalog = &answers->profile->catalog;
  for (uint32_t i = 0; i < catalog->columns_count && answers->profile->graph.is_time; i++)
    if (catalog->columns[i].role == COLUMN_WORK && catalog->columns[i].period)
      return (double)catalog->columns[i].period;
  return result->samples ? (double)result->work * answers->unit / (double)result->samples : 0;
}

int answers_open(struct profile *profile, const uint32_t *cores, uint32_t cores_count, struct problems *problems,
                 struct answers *answers)
{
  *answers = (struct answers){.profile = profile, .problems = problems};
  if (!profile->graph.known)
    return 0;
  const struct profile_process *process = process_of(answers);
  int status = streams_open(process->path, problems, &answers->streams);
  answers->unit = process->graph.is_time ? process->graph.tick_ns : 1;
  if (status == ERR_NOMEM || !answers->streams)
    return status == ERR_NOMEM ? status : 0;
  if (!(answers->unit > 0)) {
    problems_add(problems, "%s: the length of a tick is not known: its log of the graph is not used", process->path);
    return 0;
  }
  struct replay_request request = request_of(answers);
  struct replay_result result;
  struct replay *replay = NULL;
  request.burdened = true;
  request.cost_fork = (double)process->graph.cost_fork / answers->unit;
  request.cost_task = (double)process->graph.cost_task / answers->unit;
  request.cost_join = (double)process->graph.cost_join / answers->unit;
  for (; request.cores_count < cores_count; request.cores_count++)
    request.cores[request.cores_count] = cores[request.cores_count];
  status = replay_all(answers, &request, &replay, &result);
  if (!status) {
    answers->known = true;
    answers->burdened = result.burdened * answers->unit;
    answers->per_sample = sample_period(answers, &result);
    for (uint32_t i = 0; i < cores_count; i++)
      answers->makespans[i] = result.makespans[i] * answers->unit;
    report_losses(answers, &result, problems);
    compare_all(answers, &result, problems);
  }
  replay_free(replay);
  return status;
}

void answers_release(struct answers *answers)
{
  streams_close(answers->streams);
  parts_release(&answers->parts);
  free(answers->shares);
  free(answers->path);
  free(answers->spans);
  free(answers->bounds);
  *answers = (struct answers){0};
}

/* ---- scenarios ---- */

/* What rows select, by the log's directives and parts. */
struct selected {
  double *factors, *rows, *directives;
};

static int select_rows(struct answers *answers, const struct whatif_run *run, const struct whatif_row *rows,
                       uint32_t count, struct selected *selected, struct replay_request *request)
{
  size_t parts = (size_t)answers->parts.count + 1, width = request->rows;
  if (!answers->shares && find_contexts(answers))
    return ERR_NOMEM;
  *selected = (struct selected){
      .factors = calloc(parts * count, sizeof(double)),
      .rows = calloc(width * count, sizeof(double)),
      .directives = calloc((size_t)answers->profile->graph.directives_count + 1, sizeof(double)),
  };
  if (!selected->factors || !selected->rows || !selected->directives)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < count; i++) {
    double *factors = selected->factors + parts * i, *by_row = selected->rows + width * i;
    if (whatif_select(run, &rows[i], answers->shares, answers->parts.count, factors, selected->directives))
      return ERR_NOMEM;
    factors[0] = 1; /* parts that are not known */
    for (uint32_t row = 0; row < width; row++)
      by_row[row] = row ? selected->directives[answers->profile->graph_rows[row]] : 1;
    request->scenarios[request->scenarios_count++] = (struct replay_scenario){by_row, factors};
  }
  return 0;
}

static void release_selected(struct selected *selected)
{
  free(selected->factors);
  free(selected->rows);
  free(selected->directives);
}

static void enter(const struct answers *answers, const struct whatif_run *run, const struct replay_answer *found,
                  struct whatif_row *row)
{
  struct whatif_answer answer = {.span = found->span * answers->unit,
                                 .gone = found->gone * answers->unit,
                                 .told = found->told * answers->unit,
                                 .by_sample = found->by_sample,
                                 .differs = answers->differs,
                                 .per_sample = answers->per_sample};
  whatif_enter(run, &answer, row);
}

int answers_parts(struct answers *answers, const struct profile_share **parts, uint32_t *count)
{
  *count = answers->known ? answers->parts.count : 0;
  int status = *count && !answers->shares ? find_contexts(answers) : 0;
  *parts = answers->shares;
  return status;
}

int answers_whatif(struct answers *answers, const struct whatif_run *run, struct whatif *whatif)
{
  int status = 0;
  whatif->replayed = answers->known;
  for (uint32_t first = 0; answers->known && first < whatif->count && !status; first += REPLAY_SCENARIOS) {
    struct replay_request request = request_of(answers);
    struct replay_result result;
    struct replay *replay = NULL;
    struct selected selected = {0};
    uint32_t left = whatif->count - first, count = left < REPLAY_SCENARIOS ? left : REPLAY_SCENARIOS;
    status = select_rows(answers, run, whatif->rows + first, count, &selected, &request);
    streams_rewind(answers->streams);
    if (!status)
      status = replay_all(answers, &request, &replay, &result);
    for (uint32_t i = 0; i < count && !status; i++)
      enter(answers, run, &result.answers[i], &whatif->rows[first + i]);
    release_selected(&selected);
    replay_free(replay);
  }
  return status;
}

static int by_directive(const void *a, const void *b)
{
  const struct profile_share *x = a, *y = b;
  bool x_none = x->context == PROFILE_NONE, y_none = y->context == PROFILE_NONE;
  if (x->directive != y->directive)
    return x->directive < y->directive ? -1 : 1;
  if (x_none != y_none)
    return x_none ? 1 : -1;
  return (x->place > y->place) - (x->place < y->place);
}

/* Who contributes to the scenario's span.  Amounts are differences of rounded sums, so that they add up; what was not
 * kept is the program's. */
static uint32_t take_path(struct answers *answers, const struct replay_result *result)
{
  double sum = 0;
  uint64_t before = 0, all = profile_rounded(result->answers[0].span * answers->unit);
  uint32_t count = 0;
  for (uint32_t i = 0; i < answers->parts.count; i++) {
    if (!(result->trail[i] > 0))
      continue;
    struct profile_share share = answers->shares[i];
    sum += result->trail[i] * answers->unit;
    uint64_t here = profile_rounded(sum);
    share.amount = (here < all ? here : all) - before;
    before += share.amount;
    answers->path[count++] = share;
  }
  if (before < all)
    answers->path[count++] =
        (struct profile_share){.context = PROFILE_NONE, .place = PROFILE_NONE, .amount = all - before};
  if (count)
    qsort(answers->path, count, sizeof *answers->path, by_directive);
  graph_spread(answers->path, &count);
  return count;
}

/* The run's directives under the scenario: other processes are as measured. */
static void take_rows(struct answers *answers, const struct replay_result *result)
{
  const struct profile_graph *graph = &answers->profile->graph, *own = &process_of(answers)->graph;
  for (uint32_t i = 0; i < graph->directives_count; i++)
    answers->spans[i] = graph->directives[i].span;
  for (uint32_t row = 1; row < own->directives_count; row++) {
    uint32_t number = answers->profile->graph_rows[row];
    uint64_t span = profile_rounded(result->rows[row].span.at[1] * answers->unit);
    uint64_t bound = profile_rounded(result->rows[row].lock_bound.at[1] * answers->unit);
    uint64_t measured = own->directives[row].span;
    answers->spans[number] -= measured < answers->spans[number] ? measured : answers->spans[number];
    answers->spans[number] += span;
    answers->bounds[number] = bound > answers->bounds[number] ? bound : answers->bounds[number];
  }
}

int answers_scenario(struct answers *answers, const struct whatif_run *run, struct whatif_row *row,
                     struct workspan_scenario *scenario)
{
  struct replay_request request = request_of(answers);
  struct replay_result result;
  struct replay *replay = NULL;
  struct selected selected = {0};
  size_t directives = (size_t)answers->profile->graph.directives_count + 1;
  int status = select_rows(answers, run, row, 1, &selected, &request);
  answers->path = calloc((size_t)answers->parts.count + 1, sizeof *answers->path);
  answers->spans = calloc(directives, sizeof *answers->spans);
  answers->bounds = calloc(directives, sizeof *answers->bounds);
  if (!answers->path || !answers->spans || !answers->bounds)
    status = ERR_NOMEM;
  request.detail = true;
  streams_rewind(answers->streams);
  if (!status)
    status = replay_all(answers, &request, &replay, &result);
  if (!status) {
    enter(answers, run, &result.answers[0], row);
    take_rows(answers, &result);
    *scenario = (struct workspan_scenario){.shares = answers->path,
                                           .shares_count = take_path(answers, &result),
                                           .spans = answers->spans,
                                           .lock_bounds = answers->bounds,
                                           .low = row->span_low,
                                           .high = row->span_high,
                                           .note = row->note};
  }
  release_selected(&selected);
  replay_free(replay);
  return status;
}
