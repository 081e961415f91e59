#include "hpcprof-lite/analysis/advice/advice_waits.h"

#include <math.h>
#include <stdlib.h>

/* Tasks that take about as long to create and schedule as to run.  All losses of the region are theirs then. */
static bool find_small_tasks(struct advice_run *run, struct advice_region *region)
{
  enum { MANY = 50 };
  double mean_s = region->tasks > 0 ? region->task.s / region->tasks : 0, work_s = region->sampled_work_s;
  double overhead_s = region->sampled_overhead_s;
  if (region->tasks < MANY * region->threads || mean_s > 1e-4 || work_s <= 0 || overhead_s < work_s / 2 ||
      run->input->samples < ADVICE_FEW_SAMPLES)
    return false;
  advice_place(
      advice_add(
          run->advice, ADVICE_TASK_OVERHEAD, advice_region_wall(region) - work_s / fmax(region->threads, 1),
          "%.0f tasks run for %.2f us on average; the OpenMP runtime takes %.3f s of processor time, the program's "
          "code %.3f s (sampled)",
          region->tasks, mean_s * 1e6, overhead_s, work_s),
      region->task.at);
  return true;
}

/* Regions that are over as soon as they have begun. */
static bool find_small_regions(struct advice_run *run, struct advice_region *region)
{
  enum { MANY = 100 };
  double mean_s = region->executions > 0 ? advice_region_wall(region) / region->executions : 0;
  double lost_s = region->startup_s + region->management_s - fmin(region->management_s, region->startup_s);
  bool tiny = mean_s < 1e-4; /* threads arrive at different times by chance */
  lost_s += tiny ? region->imbalance_s : 0;
  if (region->executions < MANY || mean_s > 2e-3 || lost_s < region->total_s / 10 || region->tasks > 0)
    return false;
  advice_place(
      advice_add(run->advice, ADVICE_REGION_OVERHEAD, advice_region_gain(region, lost_s),
                 "It is opened %.0f times and takes %.1f us each time, of which %.1f us are beginning and ending it",
                 region->executions, mean_s * 1e6, advice_region_gain(region, lost_s) / region->executions * 1e6),
      region->at);
  return tiny;
}

static double pieces_of(const struct advice_run *run, const struct construct_entry *loop)
{
  const struct profile_workspan *workspan = &run->input->profile->workspan;
  if (!loop)
    return 0;
  if (loop->kind == DIRECTIVE_SECTIONS)
    return loop->sum.executions ? (double)loop->sum.chosen / (double)loop->sum.executions : 0;
  if (!workspan->known || loop->directive >= workspan->directives_count || !loop->directive)
    return 0;
  const struct profile_directive *directive = &workspan->directives[loop->directive];
  return directive->instances ? (double)directive->iterations / (double)directive->instances : 0;
}

/* The work of so short iterations is sampled together with what surrounds them, so that the gain is larger: the
 * forecast lies between what the samples say and all of the loop's time. */
static void find_small_chunks(struct advice_run *run, struct advice_region *region)
{
  double pieces = pieces_of(run, region->loop.at), overhead_s = region->sampled_overhead_s;
  double body_s = fmax(0, region->total_s - region->imbalance_s - region->management_s);
  bool tiny = body_s < 1e-6 * pieces * region->executions;
  if (region->tasks > 0 || advice_region_wall(region) < 2e-4 * region->executions || pieces < 16 * region->threads ||
      overhead_s <= region->sampled_work_s / (tiny ? 4 : 2) || run->input->samples < ADVICE_FEW_SAMPLES)
    return;
  double most_s = advice_region_gain(region, body_s),
         least_s = fmax(0, most_s - region->sampled_work_s / region->threads);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_CHUNK_OVERHEAD, (most_s + least_s) / 2,
      "The OpenMP runtime takes %.3f s of processor time to hand out iterations, the loop's code %.3f s (sampled); "
      "%.0f iterations each time",
      overhead_s, region->sampled_work_s, pieces);
  advice_place(found, region->loop.at);
  if (found) {
    found->low_s = least_s;
    found->high_s = most_s;
  }
}

/* The gain if no thread waited for another inside the region. */
static double cancelled(const struct advice_run *run, const struct advice_region *region, double lost_s)
{
  double longest_s = 0, sum_s = 0;
  for (uint32_t i = 0; i < run->input->constructs->threads_count; i++) {
    longest_s = fmax(longest_s, region->busy_s[i]);
    sum_s += region->busy_s[i];
  }
  return lost_s / region->threads - (longest_s - sum_s / region->threads);
}

/* Finds why threads of the region wait for each other: the most specific reason. */
static void find_waiting(struct advice_run *run, struct advice_region *region)
{
  bool at_barrier = region->meeting.at && region->meeting.at->kind == DIRECTIVE_BARRIER;
  double lost_s =
      region->imbalance_s + (at_barrier ? region->meeting.s : 0) + (region->tasks > 0 ? region->limited.s : 0);
  double in_tasks_s = lost_s + region->tasks_wait_s, gain_s = advice_region_gain(region, lost_s);
  double wall_s = advice_region_wall(region), threads = fmax(region->threads, 1),
         pieces = pieces_of(run, region->loop.at);
  double per_execution = region->executions > 0 ? region->tasks / region->executions : 0;
  const struct construct_entry *at = region->loop.at ? region->loop.at : at_barrier ? region->meeting.at : region->at;
  if (region->dependent > region->created / 2 && region->created > 0) {
    advice_place(
        advice_add(run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, in_tasks_s),
                   "%.0f of %.0f tasks have depend clauses; threads wait %.3f s of %.3f s for tasks that may run",
                   region->dependent, region->created, in_tasks_s, region->total_s),
        region->task.at ? region->task.at : region->at);
    return;
  }
  if (region->ordered.s > lost_s / 2 && region->ordered.s > 0) {
    advice_place(advice_add(run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, region->ordered.s),
                            "Threads wait %.3f s of %.3f s until it is the turn of their iteration", region->ordered.s,
                            region->total_s),
                 region->ordered.at);
    return;
  }
  if (region->tasks > 4 * threads && region->single_s > 0.6 * region->total_s / threads &&
      region->task.s < 0.7 * (threads - 1) * region->total_s / threads) {
    advice_place(advice_add(run->advice, ADVICE_CREATION, gain_s,
                            "One thread creates %.0f tasks in %.3f s; the others wait %.3f s and run them in %.3f s",
                            region->tasks, region->single_s, lost_s, region->task.s),
                 region->task.at ? region->task.at : region->at);
    return;
  }
  if (region->inner.s > region->total_s / 4) {
    advice_place(
        advice_add(run->advice, ADVICE_NESTING, gain_s,
                   "Inner regions run with one thread each for %.3f s, while threads of the outer one wait %.3f s",
                   region->inner.s, lost_s),
        region->inner.at);
    return;
  }
  bool few_pieces = pieces >= 1 && pieces < 4 * threads, few_tasks = per_execution >= 1 && per_execution < 4 * threads;
  if (few_pieces || few_tasks) {
    advice_place(advice_add(run->advice, ADVICE_FEW_CHUNKS, gain_s,
                            "%.0f %s for %.0f threads; threads wait %.3f s of %.3f s",
                            few_pieces ? pieces : per_execution, few_pieces ? "pieces of work" : "tasks", threads,
                            lost_s, region->total_s),
                 few_pieces ? at : region->task.at);
    return;
  }
  double without_s = region->meeting.at ? cancelled(run, region, lost_s) : 0;
  if (without_s > lost_s / threads / 2) {
    advice_place(
        advice_add(run->advice, ADVICE_BARRIER, advice_region_gain(region, without_s * threads),
                   "Threads wait %.3f s of %.3f s for each other, but over all phases the busiest one works only "
                   "%.3f s longer than the mean",
                   lost_s, region->total_s, fmax(0, lost_s / threads - without_s)),
        region->meeting.at);
    return;
  }
  advice_place(
      advice_add(run->advice, ADVICE_IMBALANCE, gain_s,
                 "Threads wait %.3f s of %.3f s for the last one to finish its part (%.0f threads, %.3f s elapsed)",
                 lost_s, region->total_s, threads, wall_s),
      at);
}

/* Code that one thread runs while its team waits. */
static void find_serial_parts(struct advice_run *run, struct advice_region *region)
{
  double single_s = region->limited.s, threads = region->threads;
  if (threads == 1 && run->input->threads > 1) {
    double wall_s = advice_region_wall(region);
    advice_place(advice_add(run->advice, ADVICE_SERIAL, wall_s * (1 - 1.0 / run->input->threads),
                            "The region runs with one thread for %.3f s, while others have no work", wall_s),
                 region->at);
  }
  if (region->tasks <= 0)
    advice_place(advice_add(run->advice, ADVICE_SERIAL, advice_region_gain(region, single_s),
                            "One thread runs the single block; the others wait %.3f s for it", single_s),
                 region->limited.at);
}

/* Waiting for each lock. */
static int find_contention(struct advice_run *run)
{
  const struct construct_tree *tree = run->input->constructs;
  double *gain_s = calloc((size_t)tree->count + 1, sizeof *gain_s), *wait_s = calloc((size_t)tree->count + 1, 8);
  const struct construct_entry **place = calloc((size_t)tree->count + 1, sizeof *place);
  for (uint32_t i = 0; gain_s && wait_s && place && i < run->count; i++) {
    struct advice_region *region = &run->regions[i];
    for (uint32_t j = 1; j < tree->count; j++) {
      uint32_t outer = j;
      const struct construct_entry *entry = &tree->entries[j];
      if (!construct_is_lock(entry->kind) || entry->kind == DIRECTIVE_ORDERED)
        continue;
      while (tree->entries[outer].parent && tree->entries[outer].parent != MODEL_NONE)
        outer = tree->entries[outer].parent;
      if (tree->entries[outer].region != region->at->region)
        continue;
      struct construct_losses losses = construct_losses(entry->kind, &entry->sum);
      wait_s[entry->region] += advice_seconds(losses.synchronisation);
      gain_s[entry->region] += advice_region_gain(region, advice_seconds(losses.synchronisation));
      place[entry->region] = entry;
    }
  }
  for (uint32_t i = 1; gain_s && wait_s && place && i <= tree->count; i++)
    if (place[i])
      advice_place(advice_add(run->advice, ADVICE_CONTENTION, gain_s[i], "Threads wait %.3f s for it", wait_s[i]),
                   place[i]);
  int status = gain_s && wait_s && place ? 0 : ERR_NOMEM;
  free(gain_s);
  free(wait_s);
  free(place);
  return status;
}

int advice_waits_find(struct advice_run *run, bool crowded)
{
  for (uint32_t i = 0; i < run->count && !crowded; i++) {
    struct advice_region *region = &run->regions[i];
    find_serial_parts(run, region);
    if (region->threads < 2 || find_small_tasks(run, region))
      continue;
    find_small_chunks(run, region);
    if (!find_small_regions(run, region))
      find_waiting(run, region);
  }
  return find_contention(run);
}
