/* The pipelines of the views of work and span.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.  parallelism and whatif require tree_begin() with the tree.
 */
#include "hpcprof-lite/pipelines/pipelines.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/replay/list_schedule.h"
#include "hpcprof-lite/pipelines/tree_pipeline.h"

#include <assert.h>
#include <stdlib.h>

_Static_assert((int)SPEEDUP_ROWS < REPLAY_SCHEDULES, "a schedule for each row");

/* Shortens a table to --max-rows; the first row always stays. */
static void shorten(struct job *job, uint32_t *count)
{
  uint32_t most = job->options.limits.rows;
  if (!most || most >= *count)
    return;
  job->report.limits.left_out = *count - most;
  *count = most;
}

static struct whatif_run whatif_run(struct job *job)
{
  assert(job->row_of);
  return (struct whatif_run){.profile = &job->profile, .names = &job->names, .tree = &job->tree, .row_of = job->row_of};
}

/* Factors by which scenarios divide the work in the recorded graph. */
struct factors {
  double *shares, *directives;
  struct recorded_scenario scenarios[REPLAY_SCENARIOS];
};

static void select_rows(struct job *job, const struct whatif_run *run, const struct whatif_row *rows, uint32_t count,
                        struct factors *factors)
{
  assert(count && count <= REPLAY_SCENARIOS);
  const struct context_share *shares;
  uint32_t shares_count = recorded_graph_shares(&job->spans.recorded, &shares);
  size_t width = (size_t)shares_count + 1, directives = job->profile.workspan.directives_count;
  *factors = (struct factors){.shares = xcalloc(width * count, sizeof *factors->shares),
                              .directives = xcalloc(directives * count, sizeof *factors->directives)};
  for (uint32_t i = 0; i < count; i++) {
    double *by_share = factors->shares + width * i, *by_directive = factors->directives + directives * i;
    whatif_select(run, &rows[i], shares, shares_count, by_share, by_directive);
    by_share[0] = 1;
    factors->scenarios[i] = (struct recorded_scenario){.shares = by_share, .directives = by_directive};
  }
}

static void release_factors(struct factors *factors)
{
  free(factors->shares);
  free(factors->directives);
}

static void enter(const struct job *job, const struct whatif_run *run, const struct replay_outcome *outcome,
                  struct whatif_row *row)
{
  struct whatif_replayed replayed = {.span = outcome->span,
                                     .removed = outcome->removed,
                                     .sampled = outcome->sampled,
                                     .by_sample = outcome->by_sample,
                                     .unplaced = outcome->unplaced,
                                     .differs = job->spans.recorded.differs,
                                     .per_sample = job->spans.recorded.per_sample};
  whatif_enter(run, &replayed, row);
}

/* Replays the log in the scenarios of all rows; without a log the rows stay as they are. */
static void replay_rows(struct job *job, const struct whatif_run *run, struct whatif *whatif)
{
  whatif->replayed = job->spans.recorded.known;
  for (uint32_t first = 0; whatif->replayed && first < whatif->count; first += REPLAY_SCENARIOS) {
    uint32_t count = MIN(whatif->count - first, REPLAY_SCENARIOS);
    struct replay_outcome outcomes[REPLAY_SCENARIOS];
    struct factors factors;
    select_rows(job, run, whatif->rows + first, count, &factors);
    recorded_graph_replay(&job->spans.recorded, factors.scenarios, count, outcomes);
    for (uint32_t i = 0; i < count; i++)
      enter(job, run, &outcomes[i], &whatif->rows[first + i]);
    release_factors(&factors);
  }
}

/* Replays the log in one scenario, with the figures of all constructs. */
static void replay_scenario(struct job *job, const struct whatif_run *run, struct whatif_row *row)
{
  assert(job->spans.recorded.known);
  struct recorded_graph *recorded = &job->spans.recorded;
  struct replay_outcome outcome;
  struct factors factors;
  select_rows(job, run, row, 1, &factors);
  recorded_graph_detail(recorded, factors.scenarios, &outcome);
  release_factors(&factors);
  enter(job, run, &outcome, row);
  job->spans.scenario = (struct workspan_scenario){.shares = recorded->scenario_shares,
                                                   .shares_count = recorded->scenario_shares_count,
                                                   .spans = recorded->spans,
                                                   .lock_bounds = recorded->bounds,
                                                   .low = row->span_low,
                                                   .high = row->span_high,
                                                   .note = row->note};
}

/* Copies are constructs, not rows of the top-down tree.  Prints why, and returns the exit status. */
static int scenario_matches_nothing(const char *text)
{
  struct selector selector;
  if (selector_parse(text, &selector) || !selector.copy_kind)
    return job_nothing_matches("--what-if", text);
  job_print_error(
      "nothing matches '--what-if %s': the run has no such copies; see the kinds and lines of --view regions "
      "-f csv",
      text);
  return EXIT_USAGE;
}

/* Computes the scenario that the parallelism view shows, if one was given. */
static int apply_scenario(struct job *job)
{
  if (!job->options.scenarios.count || !job->profile.workspan.known)
    return 0;
  struct whatif_run run = whatif_run(job);
  struct whatif_row row = {.scenario_given = &job->options.scenarios.list[0]};
  const char *unmatched;
  job->spans.factors = xcalloc((size_t)job->profile.contexts.shares_count + 1, sizeof *job->spans.factors);
  whatif_factors(&run, row.scenario_given, job->spans.factors, &unmatched);
  if (unmatched)
    return scenario_matches_nothing(unmatched);
  job->spans.scenario.factors = job->spans.factors;
  recorded_graph_open(&job->profile, NULL, 0, job_log_problems(job), &job->spans.recorded);
  if (job->spans.recorded.known)
    replay_scenario(job, &run, &row);
  return 0;
}

/* Finds scenarios without --what-if; the log, if there is one, is open. */
static void rank_functions(struct job *job, const struct whatif_run *run, struct whatif *whatif)
{
  struct tree_order order = tree_default_order(job, true);
  const struct context_share *shares;
  derived_flat(&job->tree, &job->columns, &job->trees.derived, NULL);
  tree_finish(&job->trees.derived, &order, false);
  assert(check_finished_tree(&job->trees.derived));
  uint32_t count = recorded_graph_shares(&job->spans.recorded, &shares);
  whatif_rank(run, &job->trees.derived, &job->columns, shares, count, whatif);
}

int whatif_pipeline(struct job *job)
{
  struct whatif_run run = whatif_run(job);
  const char *unmatched = NULL;
  if (!job->profile.workspan.known)
    return 0;
  struct whatif *whatif = &job->report.spans.whatif;
  if (job->options.scenarios.count)
    whatif_compute(&run, job->options.scenarios.list, job->options.scenarios.count, whatif, &unmatched);
  if (unmatched)
    return scenario_matches_nothing(unmatched);
  recorded_graph_open(&job->profile, NULL, 0, job_log_problems(job), &job->spans.recorded);
  if (!job->options.scenarios.count)
    rank_functions(job, &run, whatif);
  replay_rows(job, &run, whatif);
  if (whatif->automatic)
    whatif_choose(&run, whatif);
  job->report.log_differs |= job->spans.recorded.differs;
  return 0;
}

int speedup_pipeline(struct job *job)
{
  struct speedup *speedup = &job->report.spans.speedup;
  uint32_t cores[SPEEDUP_ROWS], count = 0;
  double makespans[SPEEDUP_ROWS] = {0};
  speedup_compute(&job->profile, speedup);
  if (job->profile.span_processes != 1) /* the schedule of one process would not be that of several */
    return 0;
  for (uint32_t i = 0; i < speedup->count; i++)
    if (speedup->rows[i].cores <= LIST_SCHEDULE_CORES_MAX)
      cores[count++] = (uint32_t)speedup->rows[i].cores;
  recorded_graph_open(&job->profile, cores, count, job_log_problems(job), &job->spans.recorded);
  if (!job->spans.recorded.known)
    return 0;
  for (uint32_t i = 0; i < count; i++) /* rows beyond have too many cores for a list schedule */
    makespans[i] = job->spans.recorded.makespans[i];
  speedup_enter(&job->profile, job->spans.recorded.burdened, job->spans.recorded.locked_chain, makespans, speedup);
  job->report.log_differs |= job->spans.recorded.differs;
  return 0;
}

int parallelism_pipeline(struct job *job)
{
  int unusable = apply_scenario(job);
  if (unusable)
    return unusable;
  struct workspan *workspan = &job->report.spans.workspan;
  workspan_compute(&job->profile, &job->names, &job->tree, job->spans.factors ? &job->spans.scenario : NULL, workspan);
  workspan_find_top(job->row_of, job->tree.count, workspan);
  if (workspan->count) /* the program stays the first row */
    job_sort(job, workspan->rows + 1, workspan->count - 1, sizeof *workspan->rows);
  job->report.tree = &job->tree;
  if (job->spans.factors) {
    job->report.spans.scenario = job->options.scenarios.list[0].text;
    job->report.spans.best_case = !job->spans.recorded.known;
  }
  shorten(job, &workspan->count);
  return 0;
}
