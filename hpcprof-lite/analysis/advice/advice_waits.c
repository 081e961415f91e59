#include "hpcprof-lite/analysis/advice/advice_waits.h"

#include "common/xalloc.h"
#include "hpcprof-lite/analysis/advice/advice_reasons.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Regions that are opened as often and take at most as long are small.  TINY_REGION_S: threads arrive at the end of
 * shorter ones by chance.  START_S: what beginning and ending one costs each thread at most, if no thread waits for a
 * core. */
enum { MANY_REGIONS = 100 };
static const double SMALL_REGION_S = 2e-3, TINY_REGION_S = 1e-4, START_S = 1e-5;

/* How long a team takes for sampled work without any lost time. */
static double sampled_wall(const struct advice_region *region, double work_s)
{
  assert(region->threads > 0);
  return region->total_s > 0 ? work_s * region->wall_s / region->total_s : work_s / region->threads;
}

/* The part of a time that is left where threads always have a core: other programs make short constructs longer, and no
 * change of this one saves that. */
static double with_cores(const struct advice_run *run, double s)
{
  const struct advice_input *input = run->input;
  return input->all_ns ? s * (1 - (double)input->ns[TIMELINE_CORE_WAIT] / (double)input->all_ns) : s;
}

/* Tasks that take about as long to create and schedule as to run.  All lost time of the region is theirs then.  In
 * tasks of microseconds, a tenth is enough: smaller ones would cost more, whatever threads wait for. */
static bool find_small_tasks(struct advice_run *run, struct advice_region *region)
{
  enum { MANY = 50, TINY_PART = 10, PART = 2 };
  double mean_s = region->tasks > 0 ? region->task.s / region->tasks : 0, work_s = region->sampled_work_s;
  double overhead_s = region->sampled_overhead_s;
  if (region->tasks < MANY * region->threads * region->processes || mean_s > 1e-4 || work_s <= 0 ||
      overhead_s < work_s / (mean_s < 1e-5 ? TINY_PART : PART) || run->input->samples < ADVICE_FEW_SAMPLES)
    return false;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_TASK_OVERHEAD, with_cores(run, advice_region_wall(region)) - sampled_wall(region, work_s),
      "%.0f tasks do %.2f us of work on average: the OpenMP runtime takes %.3f s of processor time, the program's code "
      "%.3f s (sampled).  In tasks of %.0f us, the runtime would take a twentieth as long as they do",
      region->tasks, 1e6 * work_s / region->tasks, overhead_s, work_s, ceil(20e6 * overhead_s / region->tasks));
  advice_place(found, region->at, region->task.at);
  /* Threads also wait because of this tool, or for cores because they meet in the runtime. */
  double most_s = advice_region_wall(region) - sampled_wall(region, work_s);
  double least_s = fmin(found->gain_s, sampled_wall(region, overhead_s));
  found->low_s *= least_s / found->gain_s;
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, most_s));
  advice_more(run->advice, found, found->gain_s / ADVICE_MORE, true);
  return true;
}

/* How long the region takes once. */
static double once_s(const struct advice_region *region)
{
  assert(region->threads > 0);
  return advice_region_own(region, region->total_s) / region->threads / fmax(region->executions, 1);
}

/* What the threads lose in regions that are over as soon as they have begun; 0: the region is not one of them.  opened:
 * how often such regions were opened.  Where threads had no core, the beginning of a region contains waiting for one.
 */
static double lost_in_small(const struct advice_run *run, const struct advice_region *region, double opened)
{
  double mean_s = once_s(region);
  double lost_s = region->startup_s + region->management_s - fmin(region->management_s, region->startup_s);
  lost_s += mean_s < TINY_REGION_S ? region->imbalance_s : 0;
  if (run->input->without_core > 0)
    lost_s = fmin(lost_s, START_S * region->threads * region->executions);
  if (opened < MANY_REGIONS || region->executions < 2 || mean_s > SMALL_REGION_S || lost_s < region->total_s / 10 ||
      region->tasks > 0)
    return 0;
  return lost_s;
}

/* What the region would gain with fewer threads; 0 unless it takes less time with them.  Where threads had no core, the
 * beginning of a region contains waiting for one. */
static double fewer_threads(const struct advice_run *run, const struct advice_region *region,
                            const struct region_threads **best)
{
  *best = region_threads_of(&run->input->region_threads, region->at->region);
  if (!*best || (*best)->best >= (*best)->times.threads)
    return 0;
  double waited_s = run->input->without_core > 0 ? region_threads_starts(&(*best)->times, (*best)->times.threads) -
                                                       START_S * (*best)->times.executions
                                                 : 0;
  return with_cores(run, fmax(0, (*best)->gain_s - fmax(0, waited_s)));
}

/* Whether the same number of threads is best for all regions that take a hundredth of the run or more. */
static bool best_for_all(const struct advice_run *run, uint32_t threads)
{
  for (uint32_t i = 0; i < run->count; i++) {
    const struct region_threads *best = region_threads_of(&run->input->region_threads, run->regions[i].at->region);
    bool matters = run->regions[i].wall_s >= run->advice->elapsed_s / 100;
    if (matters && (!best || best->best != threads))
      return false;
  }
  return true;
}

/* Regions that take less time with fewer threads.  small_s: what putting small regions together would gain; only what
 * gains more is reported. */
static bool find_few_threads(struct advice_run *run, const struct advice_region *region, double small_s)
{
  const struct region_threads *best;
  double gain_s = fewer_threads(run, region, &best);
  if (gain_s <= small_s || !advice_lists(run->advice, ADVICE_REGION_THREADS, gain_s))
    return false;
  char alone[48] = "";
  const struct region_threads_times *times = &best->times;
  if (times->inflation > 0)
    snprintf(alone, sizeof alone, " (%.3f s with one thread)",
             times->work_s / (1 + times->inflation * (times->threads - 1)));
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_REGION_THREADS, gain_s,
                 "%.0f executions take %.3f s with %.0f threads, and would take %.3f s with num_threads(%" PRIu32
                 "): %.3f s of work%s, the longest chain of it %.3f s, and %.3f s for starting and ending them%s",
                 times->executions, times->elapsed_s, times->threads, region_threads_forecast(times, best->best),
                 best->best, times->work_s, alone, times->span_s, region_threads_starts(times, times->threads),
                 best_for_all(run, best->best) ? ".  That number is best for all regions of 1 % or more" : "");
  advice_place(found, region->at, region->at);
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, best->gain_s));
  found->explained_s = region_threads_starts(times, times->threads); /* what work takes longer is work, and no loss */
  return true;
}

/* Regions that are over as soon as they have begun: lost_s is what their threads lose, 0 of others. */
static bool find_small_regions(struct advice_run *run, const struct advice_region *region, double lost_s)
{
  if (lost_s <= 0)
    return false;
  char fewer[80] = "";
  double mean_s = once_s(region);
  const struct region_threads *best;
  double fewer_s = fewer_threads(run, region, &best);
  if (fewer_s > 0)
    snprintf(fewer, sizeof fewer, ".  With num_threads(%" PRIu32 ") it would be %.3f s shorter", best->best, fewer_s);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_REGION_OVERHEAD, with_cores(run, advice_region_gain(region, lost_s)),
      "It is opened %.0f times and takes %.1f us each time, of which %s%.1f us are beginning and ending it%s",
      region->executions, mean_s * 1e6, run->input->without_core > 0 ? "at most " : "",
      advice_region_own(region, lost_s) / region->threads / region->executions * 1e6, fewer);
  advice_place(found, region->at, region->at);
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, advice_region_gain(region, lost_s)));
  advice_more(run->advice, found, found->gain_s, true);
  return true;
}

/* Sets the place and the range of chunks that are too small.  most_s: what the loop takes without this tool's time, but
 * while a thread is in this tool, it does not meet others in the runtime: all of the loop's time is the upper end. */
static void enter_chunks(const struct advice_run *run, const struct advice_region *region, double least_s,
                         double most_s, struct advice_finding *found)
{
  advice_place(found, region->at, region->loop.at);
  advice_more(run->advice, found, found->gain_s / ADVICE_MORE, true);
  double own = advice_region_own(region, 1);
  found->low_s = fmin(least_s, found->gain_s);
  found->high_s = fmin(run->input->elapsed_s, fmax(most_s / own, found->gain_s));
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

/* Chunks that are so small that this tool, which is called for each, takes more time than the loop: samples then say
 * nothing, because most are taken in this tool.  It also keeps threads from meeting in the runtime: the gain is at
 * least what is left of the loop's time.  Returns whether this is so. */
static bool find_tiny_chunks(struct advice_run *run, const struct advice_region *region, double pieces, double body_s)
{
  double own_s = fmin(advice_region_own(region, body_s), fmax(0, processor_s(run->input->profile) - region->tool_s));
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
  found->confidence = "low";
  found->reason = "only bounds of the gain are known";
  return true;
}

/* The work of so short iterations is sampled together with what surrounds them, so that the gain is larger: the
 * forecast lies between what the samples say and all of the loop's time.  Where iterations enter a critical section,
 * the runtime's time is that of the lock. */
static void find_small_chunks(struct advice_run *run, struct advice_region *region)
{
  double pieces = advice_pieces(run, region->loop.at), overhead_s = region->sampled_overhead_s;
  double body_s = fmax(0, region->total_s - region->imbalance_s - region->management_s - region->lock_wait_s);
  bool tiny = body_s < 1e-6 * pieces * region->executions;
  if (region->locks > pieces * region->executions / 2)
    return;
  if (region->tasks > 0 || pieces < 16 * region->threads || find_tiny_chunks(run, region, pieces, body_s) ||
      once_s(region) < 2e-4 || overhead_s <= region->sampled_work_s / (tiny ? 4 : 2) ||
      run->input->samples < ADVICE_FEW_SAMPLES)
    return;
  double most_s = advice_region_gain(region, body_s);
  double least_s = fmax(0, with_cores(run, most_s) - sampled_wall(region, region->sampled_work_s));
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_CHUNK_OVERHEAD, with_cores(run, (most_s + least_s) / 2),
      "The OpenMP runtime takes %.3f s of processor time to hand out iterations, the loop's code %.3f s (sampled); "
      "%.0f iterations each time",
      overhead_s, region->sampled_work_s, pieces);
  enter_chunks(run, region, least_s, most_s, found);
}

/* ---- code that one thread runs while its team waits ---- */

/* Waiting for each single block of the region. */
static void find_singles(struct advice_run *run, const struct advice_region *region)
{
  const struct construct_tree *tree = run->input->constructs;
  for (int add = 0; add < 2; add++)
    for (uint32_t first = region->first; first; first = run->next[first])
      for (uint32_t i = first; i < tree->entries[first].end; i++) {
        const struct construct_entry *entry = &tree->entries[i];
        double *waited_s = &run->waited_s[entry->region];
        if (entry->kind != DIRECTIVE_SINGLE)
          continue;
        if (!add) {
          *waited_s += advice_seconds(construct_lost(entry->kind, &entry->sum).limited_parallelism);
          continue;
        }
        if (*waited_s > 0)
          advice_enter_block(run, region, entry,
                             advice_add(run->advice, ADVICE_SERIAL, advice_region_gain(region, *waited_s),
                                        "One thread runs the single block; the others wait %.3f s for it", *waited_s));
        *waited_s = 0;
      }
}

static void find_serial_parts(struct advice_run *run, struct advice_region *region)
{
  if (region->threads == 1 && run->input->threads > 1) {
    double wall_s = advice_region_wall(region);
    struct advice_finding *found =
        advice_add(run->advice, ADVICE_SERIAL, wall_s * (1 - 1.0 / run->input->threads),
                   "The region runs with one thread for %.3f s, while others have no work", wall_s);
    advice_place(found, region->at, region->at);
    advice_more(run->advice, found, wall_s * (1 - 1 / advice_more_cores(run)), false);
    found->change = ADVICE_SPREAD;
    found->same_parts = true;
  }
  if (region->tasks <= 0 && region->threads >= 2)
    find_singles(run, region);
}

/* Waiting for a lock.  gain_s: without it; held_s, busy_s: how long it was held, and how long the threads of its
 * regions did not wait for it. */
struct lock_waiting {
  const struct construct_entry *place, *region;
  double gain_s, wait_s, held_s, busy_s;
  double most_s;      /* the gain if handing the locks over also costs no time */
  double combining_s; /* elapsed time in it, where it combines the copies of a reduction */
};

/* Whether the compiler combines the threads' copies there: clang's code calls the runtime; that of GCC enters the lock
 * of atomic constructs, once in each thread for each execution of the region. */
static bool combines(const struct advice_region *region, const struct construct_entry *entry)
{
  return entry->kind == CONSTRUCT_REDUCTION ||
         (entry->kind == CONSTRUCT_ATOMIC && entry->sum.count == region->at->sum.count);
}

/* Handing over a lock that is held for less than a microsecond, from core to core, takes longer than what it protects:
 * that is neither waiting nor the program's work. */
static void add_lock(const struct advice_region *region, const struct construct_entry *entry, struct lock_waiting *lock)
{
  assert(construct_is_lock(entry->kind) || entry->kind == CONSTRUCT_REDUCTION);
  double wait_s = advice_seconds(construct_lost(entry->kind, &entry->sum).synchronisation);
  bool brief = advice_seconds(entry->sum.own_body) < 1e-6 * (double)entry->sum.count;
  double together = advice_region_together(region);
  lock->wait_s += wait_s;
  lock->gain_s += advice_region_gain(region, wait_s);
  double most_s = advice_region_gain(region, wait_s);
  if (brief)
    most_s = fmax(most_s, advice_region_wall(region) - sampled_wall(region, region->sampled_work_s));
  lock->most_s += most_s;
  lock->held_s += advice_region_own(region, advice_seconds(entry->sum.body)) * together;
  lock->busy_s += advice_region_own(region, fmax(0, region->total_s - wait_s)) * together;
  if (combines(region, entry))
    lock->combining_s += advice_region_gain(region, advice_seconds(entry->sum.body));
  lock->place = entry;
  lock->region = region->at;
}

/* Waiting for a lock, or combining the copies of a reduction. */
static void find_lock(struct advice_run *run, const struct lock_waiting *lock)
{
  struct advice_finding *found = NULL;
  if (lock->combining_s > 0)
    found = advice_add(run->advice, ADVICE_REDUCTION, lock->gain_s + lock->combining_s,
                       "Threads combine their copies for %.3f s, and wait %.3f s for each other meanwhile; setting up "
                       "the copies is not known",
                       lock->held_s, lock->wait_s);
  else
    found = advice_add(run->advice, ADVICE_CONTENTION, lock->gain_s, "Threads wait %.3f s for it", lock->wait_s);
  advice_place(found, lock->region, lock->place);
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, lock->most_s));
  advice_more(run->advice, found, lock->held_s - lock->busy_s / advice_more_cores(run), true);
}

/* Waiting for each lock, and reductions. */
static void find_contention(struct advice_run *run)
{
  const struct construct_tree *tree = run->input->constructs;
  struct lock_waiting *locks = xcalloc(tree->count, sizeof *locks);
  for (uint32_t i = 0; i < run->count; i++)
    for (uint32_t first = run->regions[i].first; first; first = run->next[first])
      for (uint32_t j = first; j < tree->entries[first].end; j++) {
        const struct construct_entry *entry = &tree->entries[j];
        bool lock = construct_is_lock(entry->kind) && entry->kind != DIRECTIVE_ORDERED;
        if (lock || entry->kind == CONSTRUCT_REDUCTION)
          add_lock(&run->regions[i], entry, &locks[entry->region]);
      }
  for (uint32_t i = 1; i < tree->count; i++)
    if (locks[i].place)
      find_lock(run, &locks[i]);
  free(locks);
}

void advice_waits_find(struct advice_run *run, bool crowded)
{
  double opened = 0;
  for (uint32_t i = 0; i < run->count; i++)
    opened += once_s(&run->regions[i]) <= SMALL_REGION_S ? run->regions[i].executions : 0;
  for (uint32_t i = 0; i < run->count && !crowded; i++) {
    struct advice_region *region = &run->regions[i];
    find_serial_parts(run, region);
    if (region->threads < 2 || region->explained >= 1 || find_small_tasks(run, region))
      continue;
    find_small_chunks(run, region);
    double lost_s = lost_in_small(run, region, opened), small_s = with_cores(run, advice_region_gain(region, lost_s));
    bool found = find_few_threads(run, region, small_s) || find_small_regions(run, region, lost_s);
    if (!found || once_s(region) >= TINY_REGION_S)
      advice_reasons_find(run, region);
  }
  find_contention(run);
}
