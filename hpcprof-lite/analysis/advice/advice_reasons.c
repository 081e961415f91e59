#include "hpcprof-lite/analysis/advice/advice_reasons.h"


#include <assert.h>
#include <math.h>

/* Thresholds.  MOST: more than 1 / MOST of something is most of it.  FEW_PIECES: with fewer pieces of equal length for
 * each thread, one too many makes a region longer by a quarter or more. */
enum { MOST = 2, FEW_PIECES = 4 };

/* Sets the gain on more cores if the region would take no longer there than its work divided among them, instead of at
 * least its span. */
static void more_by_span(const struct advice_run *run, struct advice_finding *found, const struct advice_region *region)
{
  const struct profile_workspan *workspan = &run->input->profile->workspan;
  if (!workspan->known || !workspan->is_time || !region->at->directive ||
      region->at->directive >= workspan->directives_count)
    return;
  const struct profile_directive *directive = &workspan->directives[region->at->directive];
  advice_more(run->advice, found,
              advice_seconds(directive->span) - advice_seconds(directive->work) / advice_more_cores(run), false);
}

double advice_pieces(const struct advice_run *run, const struct construct_entry *loop)
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
void advice_enter_block(const struct advice_run *run, const struct advice_region *region,
                        const struct construct_entry *at, struct advice_finding *found)
{
  assert(region->threads > 1);
  double threads = region->threads;
  advice_place(found, region->at, at);
  advice_more(run->advice, found, found->gain_s * threads / (threads - 1) * (1 - 1 / advice_more_cores(run)), false);
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
  advice_enter_block(run, region, region->masked.at, found);
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
  double cores = advice_more_cores(run), busy_s = fmax(0, region->total_s - waiting->in_tasks_s);
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
void advice_reasons_find(struct advice_run *run, const struct advice_region *region)
{
  const struct construct_entry *at = region->waits.at;
  bool own = at && (at->kind == DIRECTIVE_FOR || at->kind == DIRECTIVE_SECTIONS);
  struct waiting waiting = {.lost_s =
                                region->imbalance_s + region->barrier_s + (region->tasks > 0 ? region->limited_s : 0),
                            .loop = own ? at : region->open_loop.at};
  waiting.in_tasks_s = waiting.lost_s + region->tasks_wait_s;
  waiting.pieces = advice_pieces(run, waiting.loop);
  waiting.at = at && at->kind == DIRECTIVE_BARRIER ? at : region->at;
  if (waiting.loop)
    waiting.at = waiting.loop;
  size_t i = 0;
  while (i < sizeof reasons / sizeof *reasons && !reasons[i](run, region, &waiting))
    i++;
}
