#include "hpcprof-lite/analysis/advice/advice_waits.h"

#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Thresholds.  MOST: more than 1 / MOST of something is most of it.  FEW_PIECES: with fewer pieces of equal length for
 * each thread, one too many makes a region longer by a quarter or more.  MANY_REGIONS, SMALL_REGION_S: regions that are
 * opened as often and take at most as long are small. */
enum { MOST = 2, FEW_PIECES = 4, MANY_REGIONS = 100 };
static const double SMALL_REGION_S = 2e-3;

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
  return input->all_ns ? s * (1 - (double)input->core_wait_ns / (double)input->all_ns) : s;
}

/* Tasks that take about as long to create and schedule as to run.  All lost time of the region is theirs then. */
static bool find_small_tasks(struct advice_run *run, struct advice_region *region)
{
  enum { MANY = 50 };
  double mean_s = region->tasks > 0 ? region->task.s / region->tasks : 0, work_s = region->sampled_work_s;
  double overhead_s = region->sampled_overhead_s;
  if (region->tasks < MANY * region->threads * region->processes || mean_s > 1e-4 || work_s <= 0 ||
      overhead_s < work_s / 2 || run->input->samples < ADVICE_FEW_SAMPLES)
    return false;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_TASK_OVERHEAD, with_cores(run, advice_region_wall(region)) - sampled_wall(region, work_s),
      "%.0f tasks run for %.2f us on average; the OpenMP runtime takes %.3f s of processor time, the program's code "
      "%.3f s (sampled).  With %.0f us of work in each task it would take a twentieth of the time",
      region->tasks, mean_s * 1e6, overhead_s, work_s, ceil(20e6 * overhead_s / region->tasks));
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

/* Regions that are over as soon as they have begun.  opened: how often such regions were opened. */
static bool find_small_regions(struct advice_run *run, struct advice_region *region, double opened)
{
  double mean_s = once_s(region);
  double lost_s = region->startup_s + region->management_s - fmin(region->management_s, region->startup_s);
  bool tiny = mean_s < 1e-4; /* threads arrive at different times by chance */
  lost_s += tiny ? region->imbalance_s : 0;
  if (opened < MANY_REGIONS || region->executions < 2 || mean_s > SMALL_REGION_S || lost_s < region->total_s / 10 ||
      region->tasks > 0)
    return false;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_REGION_OVERHEAD, with_cores(run, advice_region_gain(region, lost_s)),
      "It is opened %.0f times and takes %.1f us each time, of which %.1f us are beginning and ending it",
      region->executions, mean_s * 1e6, advice_region_own(region, lost_s) / region->threads / region->executions * 1e6);
  advice_place(found, region->at, region->at);
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, advice_region_gain(region, lost_s)));
  advice_more(run->advice, found, found->gain_s, true);
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
  found->reason = "this is a bound";
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

/* How long threads of a region wait for each other, all together. */
struct waiting {
  double lost_s, in_tasks_s;          /* in_tasks_s: with waiting for tasks */
  const struct construct_entry *at;   /* where most of it is */
  const struct construct_entry *loop; /* whose end that is, or NULL */
  double pieces;                      /* iterations or sections of the loop each time; 0: not known */
};

/* Sets what follows if the region's parts are the same on more cores, but then take at least its span. */
static void enter_parts(const struct advice_run *run, const struct advice_region *region,
                        const struct construct_entry *at, struct advice_finding *found)
{
  advice_place(found, region->at, at);
  more_by_span(run, found, region);
  found->same_parts = true;
}

/* ---- why threads wait for each other: each function adds its reason if that applies, and returns whether it does ----
 */

static bool dependent_tasks(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  if (region->created <= 0 || region->dependent <= region->created / MOST)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, waiting->in_tasks_s),
                 "%.0f of %.0f tasks have depend clauses; threads wait %.3f s of %.3f s for tasks that may run",
                 region->dependent, region->created, waiting->in_tasks_s, region->total_s);
  enter_parts(run, region, region->task.at ?: region->at, found);
  return true;
}

static bool ordered_iterations(struct advice_run *run, const struct advice_region *region,
                               const struct waiting *waiting)
{
  if (region->ordered.s <= 0 || region->ordered.s <= waiting->lost_s / MOST)
    return false;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, region->ordered.s),
      "Threads wait %.3f s of %.3f s until it is the turn of their iteration", region->ordered.s, region->total_s);
  enter_parts(run, region, region->ordered.at, found);
  return true;
}

/* Sets the place of a block that one thread runs while the others wait, and what follows from it. */
static void enter_block(const struct advice_run *run, const struct advice_region *region,
                        const struct construct_entry *at, struct advice_finding *found)
{
  assert(region->threads > 1);
  double threads = region->threads;
  advice_place(found, region->at, at);
  advice_more(run->advice, found, found->gain_s * threads / (threads - 1) * (1 - 1 / more_cores(run)), false);
  found->change = ADVICE_SPREAD_BLOCK;
  found->same_parts = true;
}

/* At a barrier, the others wait while the master runs a masked block. */
static bool masked_block(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double caused_s = fmin(waiting->lost_s, (region->threads - 1) * region->masked.s);
  if (region->tasks > 0 || caused_s <= waiting->lost_s / MOST)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_SERIAL, advice_region_gain(region, caused_s),
                 "The master runs the masked block for %.3f s; at the next barrier, the others wait %.3f s",
                 region->masked.s, caused_s);
  enter_block(run, region, region->masked.at, found);
  return true;
}

/* The thread in the single block is there for most of the region, and the others' tasks do not fill their time. */
static bool one_creator(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double each_s = region->total_s / region->threads;
  if (region->tasks <= FEW_PIECES * region->threads * region->processes || region->single_s <= each_s / MOST ||
      region->task.s >= (region->threads - 1) * each_s * (1 - 1.0 / FEW_PIECES))
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_CREATION, advice_region_gain(region, waiting->lost_s),
                 "One thread creates %.0f tasks in %.3f s; the others wait %.3f s and run them in %.3f s",
                 region->tasks, region->single_s, waiting->lost_s, region->task.s);
  enter_parts(run, region, region->task.at ?: region->at, found);
  return true;
}

/* Inner regions of one thread are a part of the region that is worth a finding, as few pieces are. */
static bool serial_inner_regions(struct advice_run *run, const struct advice_region *region,
                                 const struct waiting *waiting)
{
  if (region->inner.s <= region->total_s / FEW_PIECES)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_NESTING, advice_region_gain(region, waiting->lost_s),
                 "Inner regions run with one thread each for %.3f s, while threads of the outer one wait %.3f s",
                 region->inner.s, waiting->lost_s);
  enter_parts(run, region, region->inner.at, found);
  return true;
}

static bool uncounted_sections(struct advice_run *run, const struct advice_region *region,
                               const struct waiting *waiting)
{
  if (!waiting->loop || waiting->loop->kind != DIRECTIVE_SECTIONS || waiting->loop->sum.chosen)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_FEW_CHUNKS, advice_region_gain(region, waiting->lost_s),
                 "Sections of unequal length for %.0f threads; threads wait %.3f s of %.3f s", region->threads,
                 waiting->lost_s, region->total_s);
  advice_place(found, region->at, waiting->at);
  return true;
}

/* Fewer pieces than FEW_PIECES for each thread. */
static bool few(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting,
                double pieces, const char *what, const struct construct_entry *at)
{
  assert(region->threads > 0);
  if (pieces < 1 || pieces >= FEW_PIECES * region->threads)
    return false;
  double cores = more_cores(run), busy_s = fmax(0, region->total_s - waiting->in_tasks_s);
  struct advice_finding *found = advice_add(run->advice, ADVICE_FEW_CHUNKS, advice_region_gain(region, waiting->lost_s),
                                            "%.0f %s for %.0f threads; threads wait %.3f s of %.3f s", pieces, what,
                                            region->threads, waiting->lost_s, region->total_s);
  advice_place(found, region->at, at);
  advice_more(run->advice, found,
              advice_region_gain(region, busy_s) * region->threads * (ceil(pieces / cores) / pieces - 1 / cores), true);
  found->same_parts = true;
  return true;
}

static bool few_pieces(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  return few(run, region, waiting, waiting->pieces, "pieces of work", waiting->at);
}

static bool few_tasks(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double each = region->executions > 0 ? region->tasks / region->executions : 0;
  return few(run, region, waiting, each, "tasks", region->task.at);
}

/* If no thread waited for another inside the region, the one that works longest would decide. */
static bool cancelled_waiting(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double gain_s = waiting->lost_s * region->per_lost - region->excess_s;
  if (!region->meeting.at || gain_s <= waiting->lost_s * region->per_lost / MOST)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_BARRIER, advice_region_own(region, gain_s),
                 "Threads wait %.3f s of %.3f s for each other, but over all phases the busiest one works only "
                 "%.3f s longer than the mean",
                 waiting->lost_s, region->total_s, region->excess_s);
  advice_place(found, region->at, region->meeting.at);
  return true;
}

static bool imbalance(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  if (waiting->lost_s <= 0)
    return false;
  const char *unseen = "";
  if (!region->loop.at && region->tasks <= 0 && run->input->profile->workspan.unseen & UNSEEN_INLINED)
    unseen = "; GCC's static loops do not tell their number of iterations: if it is small, divide the work into more "
             "pieces (collapse(2))";
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_IMBALANCE, advice_region_gain(region, waiting->lost_s),
                 "Threads wait %.3f s of %.3f s for the last one to finish its part (%.0f threads%s, %.3f s elapsed)%s",
                 waiting->lost_s, region->total_s, region->threads, region->processes > 1 ? " in each process" : "",
                 advice_region_wall(region), unseen);
  advice_place(found, region->at, waiting->at);
  if (waiting->loop) /* blocks of equal numbers of iterations become more unequal with more threads */
    advice_more(run->advice, found, found->gain_s / ADVICE_MORE, true);
  else
    found->same_parts = region->tasks > 0;
  return true;
}

/* Why threads of a region wait for each other, the most specific reason first: the first one that applies is added.
 * The words for each class, and its range, are in the table of advice_findings.c. */
static bool (*const reasons[])(struct advice_run *run, const struct advice_region *region,
                               const struct waiting *waiting) = {
    dependent_tasks,    ordered_iterations, masked_block, one_creator,       serial_inner_regions,
    uncounted_sections, few_pieces,         few_tasks,    cancelled_waiting, imbalance};

/* Finds where threads of the region wait for each other, and why.  What they wait for at a barrier or the region's end
 * is a loop with nowait, if there is one. */
static void find_waiting(struct advice_run *run, const struct advice_region *region)
{
  const struct construct_entry *at = region->waits.at;
  bool own = at && (at->kind == DIRECTIVE_FOR || at->kind == DIRECTIVE_SECTIONS);
  struct waiting waiting = {.lost_s =
                                region->imbalance_s + region->barrier_s + (region->tasks > 0 ? region->limited_s : 0),
                            .loop = own ? at : region->open_loop.at};
  waiting.in_tasks_s = waiting.lost_s + region->tasks_wait_s;
  waiting.pieces = pieces_of(run, waiting.loop);
  waiting.at = at && at->kind == DIRECTIVE_BARRIER ? at : region->at;
  if (waiting.loop)
    waiting.at = waiting.loop;
  size_t i = 0;
  while (i < sizeof reasons / sizeof *reasons && !reasons[i](run, region, &waiting))
    i++;
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
          enter_block(run, region, entry,
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
    advice_more(run->advice, found, wall_s * (1 - 1 / more_cores(run)), false);
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
  double most_s; /* the gain if handing the locks over also costs no time */
};

/* Handing over a lock that is held for less than a microsecond, from core to core, takes longer than what it protects:
 * that is neither waiting nor the program's work. */
static void add_lock(const struct advice_region *region, const struct construct_entry *entry, struct lock_waiting *lock)
{
  assert(construct_is_lock(entry->kind));
  double wait_s = advice_seconds(construct_lost(entry->kind, &entry->sum).synchronisation);
  bool brief = advice_seconds(entry->sum.own_body) < 1e-6 * (double)entry->sum.count;
  double processes = fmax(region->processes, 1);
  lock->wait_s += wait_s;
  lock->gain_s += advice_region_gain(region, wait_s);
  double most_s = advice_region_gain(region, wait_s);
  if (brief)
    most_s = fmax(most_s, advice_region_wall(region) - sampled_wall(region, region->sampled_work_s));
  lock->most_s += most_s;
  lock->held_s += advice_region_own(region, advice_seconds(entry->sum.body)) / processes;
  lock->busy_s += advice_region_own(region, fmax(0, region->total_s - wait_s)) / processes;
  lock->place = entry;
  lock->region = region->at;
}

/* Waiting for each lock. */
static void find_contention(struct advice_run *run)
{
  const struct construct_tree *tree = run->input->constructs;
  struct lock_waiting *locks = xcalloc(tree->count, sizeof *locks);
  for (uint32_t i = 0; i < run->count; i++)
    for (uint32_t first = run->regions[i].first; first; first = run->next[first])
      for (uint32_t j = first; j < tree->entries[first].end; j++) {
        const struct construct_entry *entry = &tree->entries[j];
        if (construct_is_lock(entry->kind) && entry->kind != DIRECTIVE_ORDERED)
          add_lock(&run->regions[i], entry, &locks[entry->region]);
      }
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct lock_waiting *lock = &locks[i];
    if (!lock->place)
      continue;
    struct advice_finding *found =
        advice_add(run->advice, ADVICE_CONTENTION, lock->gain_s, "Threads wait %.3f s for it", lock->wait_s);
    advice_place(found, lock->region, lock->place);
    found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, lock->most_s));
    advice_more(run->advice, found, lock->held_s - lock->busy_s / more_cores(run), true);
  }
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
    if (region->threads < 2 || find_small_tasks(run, region))
      continue;
    find_small_chunks(run, region);
    if (!find_small_regions(run, region, opened))
      find_waiting(run, region);
  }
  find_contention(run);
}
