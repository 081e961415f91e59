#include "hpcprof-lite/analysis/advice/advice_waits.h"

#include <math.h>
#include <stdlib.h>

/* How many cores the second forecast is for, at least 1. */
static double more_cores(const struct advice_run *run)
{
  return fmax(run->advice->more_cores, 1);
}

/* Sets the gain on more cores if the region would take no longer there than its work divided among them, instead of at
 * least its span. */
static void more_by_span(const struct advice_run *run, struct advice_finding *found, const struct advice_region *region)
{
  const struct profile_workspan *workspan = &run->input->profile->workspan;
  if (!workspan->known || !workspan->is_time || !region->at->directive ||
      region->at->directive >= workspan->directives_count)
    return;
  const struct profile_directive *directive = &workspan->directives[region->at->directive];
  advice_more(run->advice, found, advice_seconds(directive->span) - advice_seconds(directive->work) / more_cores(run),
              false);
}

/* Tasks that take about as long to create and schedule as to run.  All losses of the region are theirs then. */
static bool find_small_tasks(struct advice_run *run, struct advice_region *region)
{
  enum { MANY = 50 };
  double mean_s = region->tasks > 0 ? region->task.s / region->tasks : 0, work_s = region->sampled_work_s;
  double overhead_s = region->sampled_overhead_s;
  if (region->tasks < MANY * region->threads || mean_s > 1e-4 || work_s <= 0 || overhead_s < work_s / 2 ||
      run->input->samples < ADVICE_FEW_SAMPLES)
    return false;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_TASK_OVERHEAD, advice_region_wall(region) - work_s / fmax(region->threads, 1),
      "%.0f tasks run for %.2f us on average; the OpenMP runtime takes %.3f s of processor time, the program's code "
      "%.3f s (sampled).  With %.0f us of work in each task it would take a twentieth of the time",
      region->tasks, mean_s * 1e6, overhead_s, work_s, ceil(20e6 * overhead_s / region->tasks));
  advice_place(found, region->at, region->task.at);
  advice_more(run->advice, found, found ? found->gain_s / ADVICE_MORE : 0, true);
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
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_REGION_OVERHEAD, advice_region_gain(region, lost_s),
                 "It is opened %.0f times and takes %.1f us each time, of which %.1f us are beginning and ending it",
                 region->executions, mean_s * 1e6, advice_region_gain(region, lost_s) / region->executions * 1e6);
  advice_place(found, region->at, region->at);
  advice_more(run->advice, found, found ? found->gain_s : 0, true);
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

/* Sets the place and the range of chunks that are too small. */
static void enter_chunks(const struct advice_run *run, const struct advice_region *region, double least_s,
                         double most_s, struct advice_finding *found)
{
  advice_place(found, region->at, region->loop.at);
  advice_more(run->advice, found, found ? found->gain_s / ADVICE_MORE : 0, true);
  if (!found)
    return;
  found->low_s = fmin(least_s, found->gain_s);
  found->high_s = fmax(most_s, found->gain_s);
}

/* Returns the processor time of all threads. */
static double processor_s(const struct profile *profile)
{
  double sum_s = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (uint32_t j = 0; j < profile->processes[i].threads_count; j++)
      sum_s += advice_seconds(profile->processes[i].threads[j].cpu_ns);
  return sum_s;
}

/* Chunks that are so small that this tool, which is told of each, takes more time than the loop: samples then say
 * nothing, because most are taken in this tool.  It also keeps threads from meeting in the runtime: the gain is at
 * least what is left of the loop's time.  Returns whether this is so. */
static bool find_tiny_chunks(struct advice_run *run, const struct advice_region *region, double pieces, double body_s)
{
  double own_s = fmin(region->threads * advice_region_gain(region, body_s),
                      fmax(0, processor_s(run->input->profile) - region->tool_s));
  double others_s = 1e-5 * region->events; /* more than this tool needs for what else happens in the region */
  double iterations = pieces * region->executions;
  if (iterations < 1e4 || own_s <= 0 || own_s > 1e-6 * iterations || region->tool_s < own_s ||
      region->tool_s < others_s)
    return false;
  double most_s = advice_region_gain(region, body_s);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_CHUNK_OVERHEAD, most_s,
      "%.0f iterations each time take %.0f ns each, and this tool, which is told of each chunk, needs %.3f s "
      "of processor time for that.  Without it threads meet more often in the runtime: the gain is likely "
      "to be larger",
      pieces, 1e9 * own_s / iterations, region->tool_s);
  enter_chunks(run, region, most_s / 2, most_s, found);
  if (found)
    found->confidence = "low";
  return true;
}

/* The work of so short iterations is sampled together with what surrounds them, so that the gain is larger: the
 * forecast lies between what the samples say and all of the loop's time.  Where iterations enter a critical section,
 * the runtime's time is that of the lock. */
static void find_small_chunks(struct advice_run *run, struct advice_region *region)
{
  double pieces = pieces_of(run, region->loop.at), overhead_s = region->sampled_overhead_s;
  double body_s = fmax(0, region->total_s - region->imbalance_s - region->management_s - region->lock_wait_s);
  bool tiny = body_s < 1e-6 * pieces * region->executions;
  if (region->locks > pieces * region->executions / 2)
    return;
  if (region->tasks > 0 || pieces < 16 * region->threads || find_tiny_chunks(run, region, pieces, body_s) ||
      advice_region_wall(region) < 2e-4 * region->executions || overhead_s <= region->sampled_work_s / (tiny ? 4 : 2) ||
      run->input->samples < ADVICE_FEW_SAMPLES)
    return;
  double most_s = advice_region_gain(region, body_s);
  double least_s = fmax(0, most_s - region->sampled_work_s / region->threads);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_CHUNK_OVERHEAD, (most_s + least_s) / 2,
      "The OpenMP runtime takes %.3f s of processor time to hand out iterations, the loop's code %.3f s (sampled); "
      "%.0f iterations each time",
      overhead_s, region->sampled_work_s, pieces);
  enter_chunks(run, region, least_s, most_s, found);
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

/* How long threads of a region wait for each other, all together. */
struct waiting {
  double lost_s, in_tasks_s; /* in_tasks_s: with waiting for tasks */
  const struct construct_entry *at;
};

/* Most tasks, or the iterations of an ordered loop, depend on each other. */
static bool find_dependences(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  struct advice_finding *found;
  if (region->dependent > region->created / 2 && region->created > 0) {
    found = advice_add(run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, waiting->in_tasks_s),
                       "%.0f of %.0f tasks have depend clauses; threads wait %.3f s of %.3f s for tasks that may run",
                       region->dependent, region->created, waiting->in_tasks_s, region->total_s);
    advice_place(found, region->at, region->task.at ? region->task.at : region->at);
  } else if (region->ordered.s > waiting->lost_s / 2 && region->ordered.s > 0) {
    found = advice_add(run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, region->ordered.s),
                       "Threads wait %.3f s of %.3f s until it is the turn of their iteration", region->ordered.s,
                       region->total_s);
    advice_place(found, region->at, region->ordered.at);
  } else {
    return false;
  }
  more_by_span(run, found, region);
  if (found)
    found->same_parts = true;
  return true;
}

/* Sets the place of a block that one thread runs while the others wait, and what follows from it. */
static void enter_block(const struct advice_run *run, const struct advice_region *region,
                        const struct construct_entry *at, struct advice_finding *found)
{
  double threads = region->threads;
  advice_place(found, region->at, at);
  if (!found)
    return;
  advice_more(run->advice, found, found->gain_s * threads / (threads - 1) * (1 - 1 / more_cores(run)), false);
  found->change = ADVICE_SPREAD_BLOCK;
  found->same_parts = true;
}

/* The others wait at a barrier while the master runs a masked block.  Returns whether that is most of the waiting. */
static bool find_masked(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double caused_s = fmin(waiting->lost_s, (region->threads - 1) * region->masked.s);
  if (region->tasks > 0 || caused_s <= waiting->lost_s / 2)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_SERIAL, advice_region_gain(region, caused_s),
                 "The master runs the masked block for %.3f s; at the next barrier, the others wait %.3f s",
                 region->masked.s, caused_s);
  enter_block(run, region, region->masked.at, found);
  return true;
}

/* One thread creates all tasks, or inner regions run with one thread each. */
static bool find_one_thread(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  struct advice_finding *found;
  double threads = fmax(region->threads, 1), gain_s = advice_region_gain(region, waiting->lost_s);
  if (region->tasks > 4 * threads && region->single_s > 0.6 * region->total_s / threads &&
      region->task.s < 0.7 * (threads - 1) * region->total_s / threads) {
    found = advice_add(run->advice, ADVICE_CREATION, gain_s,
                       "One thread creates %.0f tasks in %.3f s; the others wait %.3f s and run them in %.3f s",
                       region->tasks, region->single_s, waiting->lost_s, region->task.s);
    advice_place(found, region->at, region->task.at ? region->task.at : region->at);
  } else if (region->inner.s > region->total_s / 4) {
    found = advice_add(run->advice, ADVICE_NESTING, gain_s,
                       "Inner regions run with one thread each for %.3f s, while threads of the outer one wait %.3f s",
                       region->inner.s, waiting->lost_s);
    advice_place(found, region->at, region->inner.at);
  } else {
    return false;
  }
  more_by_span(run, found, region);
  if (found)
    found->same_parts = true;
  return true;
}

/* Fewer loop iterations, sections or tasks than four for each thread. */
static bool find_few_pieces(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double threads = fmax(region->threads, 1), pieces = pieces_of(run, region->loop.at), cores = more_cores(run);
  double tasks = region->executions > 0 ? region->tasks / region->executions : 0;
  bool few_pieces = pieces >= 1 && pieces < 4 * threads, few_tasks = tasks >= 1 && tasks < 4 * threads;
  struct advice_finding *found;
  if (!pieces && region->loop.at && region->loop.at->kind == DIRECTIVE_SECTIONS) { /* the runtime does not count them */
    found = advice_add(run->advice, ADVICE_FEW_CHUNKS, advice_region_gain(region, waiting->lost_s),
                       "Sections of unequal length for %.0f threads; threads wait %.3f s of %.3f s", threads,
                       waiting->lost_s, region->total_s);
    advice_place(found, region->at, waiting->at);
    return true;
  }
  if (!few_pieces && !few_tasks)
    return false;
  double few = few_pieces ? pieces : tasks, busy_s = fmax(0, region->total_s - waiting->in_tasks_s);
  found = advice_add(run->advice, ADVICE_FEW_CHUNKS, advice_region_gain(region, waiting->lost_s),
                     "%.0f %s for %.0f threads; threads wait %.3f s of %.3f s", few,
                     few_pieces ? "pieces of work" : "tasks", threads, waiting->lost_s, region->total_s);
  advice_place(found, region->at, few_pieces ? waiting->at : region->task.at);
  advice_more(run->advice, found, advice_region_gain(region, busy_s) * threads * (ceil(few / cores) / few - 1 / cores),
              true);
  if (found)
    found->same_parts = true;
  return true;
}

/* Threads do unequal work, in each phase or in all. */
static void find_unequal_work(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double threads = fmax(region->threads, 1), lost_s = waiting->lost_s;
  double without_s = region->meeting.at ? cancelled(run, region, lost_s) : 0;
  if (without_s > lost_s / threads / 2) {
    advice_place(
        advice_add(run->advice, ADVICE_BARRIER, advice_region_gain(region, without_s * threads),
                   "Threads wait %.3f s of %.3f s for each other, but over all phases the busiest one works only "
                   "%.3f s longer than the mean",
                   lost_s, region->total_s, fmax(0, lost_s / threads - without_s)),
        region->at, region->meeting.at);
    return;
  }
  bool unseen = !region->loop.at && region->tasks <= 0 && run->input->profile->workspan.unseen & UNSEEN_INLINED;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_IMBALANCE, advice_region_gain(region, lost_s),
                 "Threads wait %.3f s of %.3f s for the last one to finish its part (%.0f threads, %.3f s elapsed)%s",
                 lost_s, region->total_s, threads, advice_region_wall(region),
                 unseen ? "; GCC's static loops do not tell their number of iterations: if it is small, divide the "
                          "work into more pieces (collapse(2))"
                        : "");
  advice_place(found, region->at, waiting->at);
  if (region->loop.at) /* blocks of equal numbers of iterations become more unequal with more threads */
    advice_more(run->advice, found, found ? found->gain_s / ADVICE_MORE : 0, true);
  else if (found)
    found->same_parts = region->tasks > 0;
}

/* Finds why threads of the region wait for each other: the most specific reason. */
static void find_waiting(struct advice_run *run, const struct advice_region *region)
{
  bool at_barrier = region->meeting.at && region->meeting.at->kind == DIRECTIVE_BARRIER;
  struct waiting waiting = {.lost_s = region->imbalance_s + (at_barrier ? region->meeting.s : 0) +
                                      (region->tasks > 0 ? region->limited.s : 0),
                            .at = region->loop.at ? region->loop.at
                                  : at_barrier    ? region->meeting.at
                                                  : region->at};
  waiting.in_tasks_s = waiting.lost_s + region->tasks_wait_s;
  if (!find_dependences(run, region, &waiting) && !find_masked(run, region, &waiting) &&
      !find_one_thread(run, region, &waiting) && !find_few_pieces(run, region, &waiting))
    find_unequal_work(run, region, &waiting);
}

/* Code that one thread runs while its team waits. */
static void find_serial_parts(struct advice_run *run, struct advice_region *region)
{
  double threads = region->threads, cores = more_cores(run);
  struct advice_finding *found = NULL;
  if (threads == 1 && run->input->threads > 1) {
    double wall_s = advice_region_wall(region);
    found = advice_add(run->advice, ADVICE_SERIAL, wall_s * (1 - 1.0 / run->input->threads),
                       "The region runs with one thread for %.3f s, while others have no work", wall_s);
    advice_place(found, region->at, region->at);
    advice_more(run->advice, found, wall_s * (1 - 1 / cores), false);
    if (found) {
      found->change = ADVICE_SPREAD;
      found->same_parts = true;
    }
  }
  if (region->tasks > 0 || threads < 2)
    return;
  found = advice_add(run->advice, ADVICE_SERIAL, advice_region_gain(region, region->limited.s),
                     "One thread runs the single block; the others wait %.3f s for it", region->limited.s);
  enter_block(run, region, region->limited.at, found);
}

/* Waiting for a lock.  gain_s: without it; held_s, busy_s: how long it was held, and how long the threads of its
 * regions did not wait for it. */
struct lock_waiting {
  const struct construct_entry *place, *region;
  double gain_s, wait_s, held_s, busy_s;
  double most_s; /* the gain if handing the locks over also costs no time */
};

/* Handing over a lock that is held for less than a microsecond, from core to core, takes longer than what it protects:
 * that is neither waiting nor the program's work. */
static void add_lock(const struct advice_region *region, const struct construct_entry *entry, struct lock_waiting *lock)
{
  double wait_s = advice_seconds(construct_losses(entry->kind, &entry->sum).synchronisation);
  double own = fmax(region->threads, 1);
  lock->wait_s += wait_s;
  lock->gain_s += advice_region_gain(region, wait_s);
  bool brief = advice_seconds(entry->sum.own_body) < 1e-6 * (double)entry->sum.count;
  lock->most_s +=
      fmax(advice_region_gain(region, wait_s), brief ? advice_region_wall(region) - region->sampled_work_s / own : 0);
  lock->held_s += own * advice_region_gain(region, advice_seconds(entry->sum.body));
  lock->busy_s += own * advice_region_gain(region, fmax(0, region->total_s - wait_s));
  lock->place = entry;
  lock->region = region->at;
}

/* Waiting for each lock. */
static int find_contention(struct advice_run *run)
{
  const struct construct_tree *tree = run->input->constructs;
  struct lock_waiting *locks = calloc((size_t)tree->count + 1, sizeof *locks);
  for (uint32_t i = 0; locks && i < run->count; i++) {
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
      add_lock(region, entry, &locks[entry->region]);
    }
  }
  for (uint32_t i = 1; locks && i <= tree->count; i++) {
    const struct lock_waiting *lock = &locks[i];
    if (!lock->place)
      continue;
    struct advice_finding *found =
        advice_add(run->advice, ADVICE_CONTENTION, lock->gain_s, "Threads wait %.3f s for it", lock->wait_s);
    advice_place(found, lock->region, lock->place);
    if (found)
      found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, lock->most_s));
    advice_more(run->advice, found, lock->held_s - lock->busy_s / more_cores(run), true);
  }
  int status = locks ? 0 : ERR_NOMEM;
  free(locks);
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
