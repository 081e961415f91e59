#include "hpcprof-lite/analysis/advice/advice_reasons.h"

#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Thresholds. MOST: more than 1 / MOST of something is most of it. FEW_PIECES: with fewer pieces of equal length for
 * each thread, one too many makes a region longer by a quarter or more. LONG: a piece that takes more than so many
 * mean ones is long. MANY: loops at which less than a thousandth of the run is waited are left out, however many these
 * are. UNEQUAL_CORES: a part of the time by which threads with equal work can differ, as their cores do. MOSTLY: from
 * this part on, processor time is the time between events. */
enum { MOST = 2, FEW_PIECES = 4, LONG = 2, MANY = 1000 };
static const double MOSTLY = 0.8, UNEQUAL_CORES = 0.2;

/* Work and span of a construct, in time; NULL: they are not known. */
static const struct profile_directive *timed_directive(const struct advice_run *run, const struct construct_entry *at)
{
  const struct profile_workspan *workspan = &run->input->profile->workspan;
  bool known = workspan->known && workspan->is_time && at->directive && at->directive < workspan->directives_count;
  return known ? &workspan->directives[at->directive] : NULL;
}

/* Sets the gain on more cores if the region would take no longer there than its work divided among them, instead of at
 * least its span. */
static void more_by_span(const struct advice_run *run, struct advice_finding *found, const struct advice_region *region)
{
  const struct profile_directive *directive = timed_directive(run, region->at);
  if (!directive)
    return;
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

/* How long threads of a region wait for each other, all together, and for what. */
struct waiting {
  double lost_s, in_tasks_s;          /* in_tasks_s: with waiting for tasks */
  const struct construct_entry *at;   /* where that is, or most of it */
  const struct construct_entry *loop; /* whose end that is, or NULL */
  double iterations, pieces;          /* of the loop, each time; 0: not known */
  bool dynamic;                       /* threads get its pieces as they become free */
  double excess_s; /* of elapsed time: by how much the threads with most work work longer than the mean */
};

/* The work and the span of a construct, in seconds; 0: not known. */
static double work_of(const struct advice_run *run, const struct construct_entry *at)
{
  const struct profile_directive *directive = timed_directive(run, at);
  return directive ? advice_seconds(directive->work) : 0;
}

static double span_of(const struct advice_run *run, const struct construct_entry *at)
{
  const struct profile_directive *directive = timed_directive(run, at);
  return directive ? advice_seconds(directive->span) : 0;
}

static bool waits_at_end(const struct construct_entry *entry)
{
  return (entry->kind == DIRECTIVE_FOR || entry->kind == DIRECTIVE_SECTIONS) && entry->sum.wait;
}

/* Adds how long each thread worked in an entry and in all that it contains, except loops at whose end threads wait, if
 * these are not wanted. */
static void add_busy(const struct construct_tree *tree, uint32_t entry, bool loops, double *busy_s)
{
  for (uint32_t i = entry; i < tree->entries[entry].end; i++) {
    const struct construct_entry *inner = &tree->entries[i];
    if (!loops && waits_at_end(inner)) {
      i = inner->end - 1;
      continue;
    }
    for (uint32_t j = 0; j < inner->lines_count && !construct_is_lock(inner->kind); j++)
      busy_s[inner->lines[j].thread] += advice_seconds(inner->lines[j].figures.own_body);
  }
}

/* Counts the threads of each process that took part in a region, at most as many as it had at once. */
static void count_teams(const struct advice_run *run, const struct advice_region *region, uint32_t *teams)
{
  const struct construct_tree *tree = run->input->constructs;
  bool *seen = xcalloc(tree->threads_count, sizeof *seen);
  for (uint32_t first = region->first; first; first = run->next[first])
    for (uint32_t j = 0; j < tree->entries[first].lines_count; j++)
      seen[tree->entries[first].lines[j].thread] = true;
  for (uint32_t i = 0; i < tree->threads_count; i++)
    teams[tree->threads[i].process] += seen[i];
  for (uint32_t i = 0; i < run->input->profile->processes_count; i++)
    teams[i] = MAX(1, MIN(teams[i], run->input->profile->processes[i].threads_max));
  free(seen);
}

/* By how much the thread that works longest exceeds the mean of its team, over all processes. */
static double exceed(struct advice_run *run, const struct advice_region *region, const double *busy_s)
{
  const struct construct_tree *tree = run->input->constructs;
  uint32_t processes = run->input->profile->processes_count, *teams = xcalloc(processes, sizeof *teams);
  double *most_s = xcalloc(processes, sizeof *most_s);
  count_teams(run, region, teams);
  memset(run->by_process, 0, processes * sizeof *run->by_process);
  for (uint32_t i = 0; i < tree->threads_count; i++) {
    uint32_t process = tree->threads[i].process;
    most_s[process] = fmax(most_s[process], busy_s[i]);
    run->by_process[process] += busy_s[i];
  }
  for (uint32_t i = 0; i < processes; i++)
    run->by_process[i] = fmax(0, most_s[i] - run->by_process[i] / teams[i]);
  free(most_s);
  free(teams);
  return advice_chain(run);
}

/* By how much a construct's longest chain of work exceeds its work divided among the threads, in processor time: static
 * loops and code that all threads run are chains of one thread each. */
static double chain_excess_s(const struct advice_run *run, const struct advice_region *region,
                             const struct construct_entry *at)
{
  return fmax(0, span_of(run, at) - work_of(run, at) / region->threads) * advice_region_together(region);
}

/* The same of the region, without the loops at whose end threads wait. */
static double rest_excess_s(struct advice_run *run, const struct advice_region *region)
{
  const struct construct_tree *tree = run->input->constructs;
  double excess_s = chain_excess_s(run, region, region->at);
  for (int add = 1; add >= 0; add--)
    for (uint32_t first = region->first; first; first = run->next[first])
      for (uint32_t i = first; i < tree->entries[first].end; i++) {
        const struct construct_entry *entry = &tree->entries[i];
        bool counted = run->waited_s[entry->region] > 0; /* the same loop can stand in several places */
        if (waits_at_end(entry) && add && !counted)
          excess_s -= chain_excess_s(run, region, entry);
        if (waits_at_end(entry))
          run->waited_s[entry->region] = add;
      }
  return fmax(0, excess_s);
}

/* What threads did in a construct: in seconds of each thread and of all. */
struct busy {
  double *elapsed_s, *user_s; /* user_s: without the kernel's processor time */
  double all_s, kernel_s;
};

/* Of a loop or, if it is NULL, of the region without loops at whose end threads wait. */
static struct busy busy_in(const struct advice_run *run, const struct advice_region *region,
                           const struct construct_entry *loop)
{
  const struct construct_tree *tree = run->input->constructs;
  struct busy busy = {.elapsed_s = xcalloc(tree->threads_count, sizeof *busy.elapsed_s),
                      .user_s = xcalloc(tree->threads_count, sizeof *busy.user_s)};
  for (uint32_t first = region->first; first; first = run->next[first])
    for (uint32_t i = first; i < tree->entries[first].end; i++) {
      const struct construct_entry *entry = &tree->entries[i];
      if (loop ? entry->region != loop->region : i != first)
        continue;
      add_busy(tree, i, loop != NULL, busy.elapsed_s);
      for (uint32_t j = 0; j < entry->lines_count; j++) {
        double system_s = advice_seconds(entry->lines[j].figures.system_cpu);
        busy.user_s[entry->lines[j].thread] -= system_s;
        busy.kernel_s += system_s;
      }
    }
  for (uint32_t i = 0; i < tree->threads_count; i++) {
    busy.all_s += busy.elapsed_s[i];
    busy.user_s[i] = fmax(0, busy.user_s[i] + busy.elapsed_s[i]);
  }
  return busy;
}

static void busy_release(struct busy *busy)
{
  free(busy->elapsed_s);
  free(busy->user_s);
}

/* How long a thread was ready without a core while all threads worked that long, about: in proportion, divided equally.
 */
static double ready_s(const struct advice_run *run, const struct advice_region *region, double s)
{
  const struct advice_input *input = run->input;
  double all_s = advice_seconds(input->all_ns);
  return all_s > 0 ? advice_seconds(input->ns[TIMELINE_CORE_WAIT]) * s / all_s / region->threads : 0;
}

/* By how much the threads with most work work longer than the mean, of elapsed time: in a loop or, if it is NULL, in
 * the region without loops at whose end threads wait.  Processor time tells, also where another thread has most each
 * time.  Times between events are used where threads sleep in their work, less what may be waiting for a core.
 * The kernel's time is left out where it is much: it cannot be divided as work can. */
static double excess_s(struct advice_run *run, const struct advice_region *region, const struct construct_entry *loop)
{
  enum { KERNEL = 4 };
  struct busy busy = busy_in(run, region, loop);
  double found_s = loop ? chain_excess_s(run, region, loop) : rest_excess_s(run, region);
  double work_s = work_of(run, loop ? loop : region->at);
  if (work_s < MOSTLY * busy.all_s)
    found_s = fmax(found_s, exceed(run, region, busy.elapsed_s) - ready_s(run, region, busy.all_s));
  if (busy.kernel_s > busy.all_s / KERNEL)
    found_s = fmin(found_s, exceed(run, region, busy.user_s));
  busy_release(&busy);
  return found_s;
}

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
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, waiting->in_tasks_s),
      "%.0f of %.0f tasks have depend clauses; all threads together wait %.3f s of %.3f s for tasks that may run",
      region->dependent, region->created, waiting->in_tasks_s, region->total_s);
  enter_parts(run, region, region->task.at ?: region->at, found);
  return true;
}

static bool ordered_iterations(struct advice_run *run, const struct advice_region *region,
                               const struct waiting *waiting)
{
  if (region->ordered.s <= 0 || region->ordered.s <= waiting->lost_s / MOST)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, region->ordered.s),
                 "All threads together wait %.3f s of %.3f s until it is the turn of their iteration",
                 region->ordered.s, region->total_s);
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

/* ---- the same, of parts of work that a loop, sections or tasks are divided into ---- */

static bool is_sections(const struct construct_entry *loop)
{
  return loop && loop->kind == DIRECTIVE_SECTIONS;
}

static bool uncounted_sections(struct advice_run *run, const struct advice_region *region,
                               const struct waiting *waiting)
{
  if (!is_sections(waiting->loop) || waiting->loop->sum.chosen)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_FEW_CHUNKS, advice_region_gain(region, waiting->lost_s),
                 "Sections of unequal length for %.0f threads, which together wait %.3f s of %.3f s", region->threads,
                 waiting->lost_s, region->total_s);
  advice_place(found, region->at, waiting->at);
  return true;
}

/* The longest of pieces of work that threads get as they become free, each time; and all of them. */
struct pieces {
  double longest_s, mean_s, all_s; /* of elapsed time; all_s: all times */
  double each, executions;         /* how many, each time, 0: not known; how often */
  uint64_t first, iterations;      /* of the longest: of a loop */
};

/* If only the longest piece of all executions is known, the mean of the longest ones is that of processor time.  Chunks
 * can have unequal sizes: where iterations are known, the mean is that of as many as the longest chunk has. */
static struct pieces pieces_of_loop(struct advice_run *run, const struct advice_region *region,
                                    const struct waiting *waiting)
{
  const struct construct_tree *tree = run->input->constructs;
  const struct construct_entry *loop = waiting->loop;
  struct busy busy = busy_in(run, region, loop);
  struct pieces pieces = {.all_s = busy.all_s, .each = waiting->pieces};
  for (uint32_t first = region->first; first; first = run->next[first])
    for (uint32_t i = first; i < tree->entries[first].end; i++) {
      const struct construct_figures *sum = &tree->entries[i].sum;
      if (tree->entries[i].region != loop->region)
        continue;
      pieces.executions += (double)sum->executions;
      if (!sum->longest_iterations || advice_seconds(sum->longest_ns) <= pieces.longest_s)
        continue;
      pieces.longest_s = advice_seconds(sum->longest_ns);
      pieces.first = sum->longest_first;
      pieces.iterations = sum->longest_iterations;
    }
  busy_release(&busy);
  pieces.executions = fmax(pieces.executions, 1);
  if (pieces.executions > 1 && work_of(run, loop) > MOSTLY * pieces.all_s)
    pieces.longest_s = fmin(pieces.longest_s, span_of(run, loop) / pieces.executions);
  double part = pieces.each;
  if (waiting->iterations > 0 && pieces.iterations)
    part = waiting->iterations / (double)pieces.iterations;
  pieces.mean_s = part > 0 ? pieces.all_s / pieces.executions / part : 0;
  return pieces;
}

static bool one_is_long(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  struct pieces pieces = pieces_of_loop(run, region, waiting);
  return pieces.iterations && pieces.mean_s > 0 && pieces.longest_s > LONG * pieces.mean_s;
}

/* Adds a piece that is longer than the others, while which the other threads have none left: each of them then waits no
 * longer than it takes.  Started first, it would decide only if it is longer than all work divided among the threads.
 */
static struct advice_finding *add_last_piece(struct advice_run *run, const struct advice_region *region,
                                             const struct waiting *waiting, const struct pieces *pieces,
                                             const char *what)
{
  static const struct advice_remedy divide = {
      .text = "Divide it into smaller pieces: even if it starts first, it takes longer "
              "than all work divided among the threads.",
      .brief = "Divide it: even if it starts first, it ends last"};
  double share_s = pieces->all_s / region->threads, waits_s = waiting->lost_s / region->threads;
  double best_s = fmax(share_s, pieces->executions * pieces->longest_s);
  if (pieces->mean_s <= 0 || pieces->longest_s <= LONG * pieces->mean_s ||
      waits_s > 1.2 * pieces->executions * pieces->longest_s)
    return NULL;
  double divided_s = advice_region_gain(region, waiting->lost_s);
  double first_s = advice_region_own(region, fmax(0, share_s + waits_s - best_s)) * region->per_lost * region->threads;
  bool worth = advice_lists(run->advice, ADVICE_LAST_PIECE, first_s);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_LAST_PIECE, worth ? first_s : divided_s,
      "The longest %s takes %.3f s, the mean%s is %.3f s; all threads together wait %.3f s of %.3f s.  The run would "
      "be up to %.3f s shorter if it started first, and up to %.3f s if it were divided into small pieces",
      what, pieces->longest_s, !pieces->each && pieces->iterations > 1 ? " of as many iterations" : "", pieces->mean_s,
      waiting->lost_s, region->total_s, first_s, divided_s);
  found->high_s = fmax(found->gain_s, divided_s);
  if (!worth) {
    found->low_s = found->gain_s / 2;
    found->remedy = &divide;
  }
  found->explained_s = divided_s;
  return found;
}

/* One chunk of a loop. */
static bool last_chunk(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  static const struct advice_remedy smaller = {
      .text = "Use smaller chunks, schedule(dynamic, N) with a smaller N, and start the longest one first.",
      .brief = "Smaller chunks, schedule(dynamic, N) with a smaller N; the longest first"};
  char what[80];
  if (!waiting->dynamic)
    return false;
  struct pieces pieces = pieces_of_loop(run, region, waiting);
  if (!pieces.iterations)
    return false;
  if (pieces.iterations == 1)
    snprintf(what, sizeof what, "iteration (%" PRId64 ")", (int64_t)pieces.first);
  else
    snprintf(what, sizeof what, "chunk (%" PRIu64 " iterations from %" PRId64 " on)", pieces.iterations,
             (int64_t)pieces.first);
  struct advice_finding *found = add_last_piece(run, region, waiting, &pieces, what);
  if (!found)
    return false;
  advice_place(found, region->at, waiting->at);
  if (pieces.iterations > 1) /* which can be divided */
    found->remedy = &smaller;
  return true;
}

/* The time of the longest task of a directive. */
static double longest_task(const struct profile *profile, uint32_t directive)
{
  double longest_s = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (uint32_t j = 0; j < profile->processes[i].constructs.tasks_count; j++) {
      const struct construct_tasks *tasks = &profile->processes[i].constructs.tasks[j];
      if (tasks->directive == directive)
        longest_s = fmax(longest_s, advice_seconds(tasks->longest_ns));
    }
  return longest_s;
}

/* One of many tasks.  Which execution of the region had the longest task is not known if there were several. */
static bool last_task(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  const struct construct_tree *tree = run->input->constructs;
  const struct construct_entry *task = NULL;
  struct pieces pieces = {.all_s = region->task.s, .each = region->tasks, .executions = 1};
  if (region->tasks <= 0 || region->executions > 1 || waiting->lost_s < region->tasks_wait_s)
    return false;
  for (uint32_t i = region->first; i < tree->entries[region->first].end; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    double longest_s = entry->kind == CONSTRUCT_TASK_EXEC ? longest_task(run->input->profile, entry->directive) : 0;
    if (longest_s > pieces.longest_s) {
      pieces.longest_s = longest_s;
      task = entry;
    }
  }
  pieces.mean_s = pieces.all_s / pieces.each;
  struct advice_finding *found = task ? add_last_piece(run, region, waiting, &pieces, "task") : NULL;
  if (found)
    enter_parts(run, region, task, found);
  return found != NULL;
}

/* Whether there are fewer than FEW_PIECES pieces for each thread, of which there could be more; more iterations than
 * pieces: they can be divided. */
static bool is_few(const struct advice_region *region, double iterations, double pieces)
{
  bool more = pieces > region->threads || iterations > pieces;
  return pieces > 0 && pieces < FEW_PIECES * region->threads && more;
}

static struct advice_finding *add_few(struct advice_run *run, const struct advice_region *region,
                                      const struct waiting *waiting, double pieces, const char *what,
                                      const struct construct_entry *at)
{
  assert(region->threads > 0);
  double cores = advice_more_cores(run), busy_s = fmax(0, region->total_s - waiting->in_tasks_s);
  struct advice_finding *found = advice_add(run->advice, ADVICE_FEW_CHUNKS, advice_region_gain(region, waiting->lost_s),
                                            "%.0f %s for %.0f threads, which together wait %.3f s of %.3f s", pieces,
                                            what, region->threads, waiting->lost_s, region->total_s);
  advice_place(found, region->at, at);
  advice_more(run->advice, found,
              advice_region_gain(region, busy_s) * region->threads * (ceil(pieces / cores) / pieces - 1 / cores), true);
  found->same_parts = true;
  return found;
}

static bool few_pieces(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  static const struct advice_remedy larger = {
      .text = "Use smaller chunks: schedule(dynamic, N) or schedule(static, N) with a smaller N.",
      .brief = "Smaller chunks: schedule(dynamic, N) or schedule(static, N) with a smaller N"};
  static const struct advice_remedy whole = {
      .text = "Each piece is one iteration: use collapse(2), or divide the work into more, shorter iterations.",
      .brief = "More, shorter iterations: collapse(2), for example"};
  char what[64] = "pieces of work";
  double pieces = waiting->pieces;
  if (!is_few(region, waiting->iterations, pieces) || (waiting->dynamic && one_is_long(run, region, waiting)))
    return false;
  bool chunks = !is_sections(waiting->loop) && waiting->iterations > pieces;
  if (chunks)
    snprintf(what, sizeof what, "pieces of up to %.0f iterations", ceil(waiting->iterations / pieces));
  double gain_s = advice_region_gain(region, waiting->lost_s);
  if (chunks) { /* single iterations cannot be divided */
    double left = ceil(waiting->iterations / region->threads) / waiting->iterations - 1 / region->threads;
    struct busy busy = busy_in(run, region, waiting->loop);
    gain_s -= advice_region_own(region, busy.all_s * fmax(0, left)) * advice_region_together(region);
    busy_release(&busy);
    if (!advice_lists(run->advice, ADVICE_FEW_CHUNKS, gain_s))
      return false;
  }
  struct advice_finding *found = add_few(run, region, waiting, pieces, what, waiting->at);
  if (gain_s < found->gain_s)
    advice_reduce(found, gain_s);
  if (chunks)
    found->remedy = &larger;
  else if (!is_sections(waiting->loop))
    found->remedy = &whole;
  return true;
}

static bool few_tasks(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double each = region->executions > 0 ? region->tasks / region->executions : 0;
  if (!is_few(region, each, each))
    return false;
  add_few(run, region, waiting, each, "tasks", region->task.at);
  return true;
}

/* Tasks of which a chain takes most of the region's time, because each waits for others that it has created. */
static bool long_chain(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double span_s = span_of(run, region->at), own_s = advice_region_wall(region);
  if (region->tasks <= 0 || span_s * MOST <= own_s)
    return false;
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_DEPENDENCES, advice_region_gain(region, waiting->in_tasks_s),
                 "The longest chain of tasks takes %.3f s of %.3f s; all threads together wait %.3f s", span_s, own_s,
                 waiting->in_tasks_s);
  enter_parts(run, region, region->task.at, found);
  found->low_s = 0;
  return true;
}

/* Threads that work for different times.  What they wait beyond that difference is not explained by it. */
static bool imbalance(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  static const struct advice_remedy no_loop = {
      .text = "Divide the work evenly among the threads.  In a loop: schedule(dynamic, N) or schedule(guided).",
      .brief = "Divide it evenly; in a loop: schedule(dynamic, N) or schedule(guided)"};
  static const struct advice_remedy runtime = {"The loop has schedule(runtime): set OMP_SCHEDULE=dynamic,N or guided, "
                                               "so that threads get work as they become free.",
                                               "Its schedule is runtime: OMP_SCHEDULE=dynamic,N or guided",
                                               "OMP_SCHEDULE=dynamic,16"};
  double gain_s = fmin(advice_region_gain(region, waiting->lost_s), advice_region_own(region, waiting->excess_s));
  if (gain_s <= 0 || region->tasks > 0 || waiting->dynamic)
    return false;
  const char *unseen = "";
  if (!waiting->loop && run->input->profile->workspan.unseen & UNSEEN_INLINED)
    unseen =
        "; in GCC's code the number of iterations of a static loop is not known: if it is small, divide the work into "
        "more pieces (collapse(2))";
  struct advice_finding *found = advice_add(run->advice, ADVICE_IMBALANCE, gain_s,
                                            "All threads together wait %.3f s of %.3f s; the one with most work works "
                                            "%.3f s longer than the mean (%.0f threads%s)%s",
                                            waiting->lost_s, region->total_s, waiting->excess_s, region->threads,
                                            region->processes > 1 ? " in each process" : "", unseen);
  advice_place(found, region->at, waiting->at);
  if (waiting->loop) /* blocks of equal numbers of iterations become more unequal with more threads */
    advice_more(run->advice, found, found->gain_s / ADVICE_MORE, true);
  else
    found->remedy = &no_loop;
  if (waiting->loop && waiting->loop->sum.schedule == SCHEDULE_RUNTIME)
    found->remedy = &runtime;
  if (waiting->excess_s < UNEQUAL_CORES * region->wall_s) {
    found->confidence = "medium";
    found->reason = "cores of unequal speed would look the same";
  }
  return true;
}

/* ---- all reasons ---- */

/* If no thread waited for another inside the region, the one that works longest would decide.  Fewer waits are better
 * had by more pieces, where these are possible. */
static bool cancelled_waiting(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting)
{
  double gain_s = waiting->lost_s * region->per_lost - region->excess_s;
  if (is_few(region, waiting->iterations, waiting->pieces) || !region->meeting.at ||
      (waiting->dynamic && one_is_long(run, region, waiting)) || gain_s <= waiting->lost_s * region->per_lost / MOST)
    return false;
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_BARRIER, advice_region_own(region, gain_s),
      "All threads together wait %.3f s of %.3f s for each other, but over all phases the busiest one works only "
      "%.3f s longer than the mean",
      waiting->lost_s, region->total_s, region->excess_s);
  advice_place(found, region->at, region->meeting.at);
  return true;
}

typedef bool reason(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting);

/* The most specific reason first: the first one that applies is added.  The words for each class, and its range, are in
 * the table of advice_findings.c. */
static reason *const of_region[] = {dependent_tasks,      ordered_iterations, masked_block, one_creator,
                                    serial_inner_regions, cancelled_waiting,  NULL};
static reason *const of_parts[] = {uncounted_sections, few_pieces, last_chunk, few_tasks,
                                   last_task,          long_chain, imbalance,  NULL};

static bool add_first(struct advice_run *run, const struct advice_region *region, const struct waiting *waiting,
                      reason *const *reasons)
{
  for (; *reasons; reasons++)
    if ((*reasons)(run, region, waiting))
      return true;
  return false;
}

/* Sets what threads wait for: a loop or sections; NULL: code that is in none. */
static void set_loop(const struct advice_run *run, const struct construct_entry *loop, struct waiting *waiting)
{
  waiting->loop = loop;
  waiting->dynamic = false;
  waiting->iterations = waiting->pieces = advice_pieces(run, loop);
  if (!loop)
    return;
  const struct construct_figures *figures = &loop->sum;
  bool demanded = figures->schedule == SCHEDULE_STATIC && figures->chunk_size; /* chunks of a size */
  double chunks = figures->chunk_most ? ceil(waiting->iterations / (double)figures->chunk_most) : 0;
  waiting->at = loop;
  waiting->dynamic = figures->schedule == SCHEDULE_DYNAMIC || figures->schedule == SCHEDULE_GUIDED ||
                     (figures->schedule == SCHEDULE_RUNTIME && chunks > 2 * loop->threads);
  if ((figures->schedule == SCHEDULE_DYNAMIC || demanded) && figures->chunk_most)
    waiting->pieces = chunks;
  else if (figures->schedule == SCHEDULE_GUIDED)
    waiting->pieces = 0;
}

/* Waiting at the ends of loops and sections, for each of them.  Returns all of it. */
static double find_at_loops(struct advice_run *run, const struct advice_region *region)
{
  const struct construct_tree *tree = run->input->constructs;
  double all_s = 0;
  for (int add = 0; add < 2; add++)
    for (uint32_t first = region->first; first; first = run->next[first])
      for (uint32_t i = first; i < tree->entries[first].end; i++) {
        const struct construct_entry *entry = &tree->entries[i];
        double *waited_s = &run->waited_s[entry->region];
        if (!waits_at_end(entry))
          continue;
        double lost_s = (1 - region->explained) * advice_seconds(construct_lost(entry->kind, &entry->sum).imbalance);
        if (!add) {
          *waited_s += lost_s;
          all_s += lost_s;
        } else if (advice_region_gain(region, *waited_s) > run->advice->elapsed_s / MANY) {
          struct waiting waiting = {.lost_s = *waited_s, .in_tasks_s = *waited_s};
          set_loop(run, entry, &waiting);
          waiting.excess_s = (1 - region->explained) * excess_s(run, region, entry);
          add_first(run, region, &waiting, of_parts);
          *waited_s = 0;
        } else {
          *waited_s = 0;
        }
      }
  return all_s;
}

/* What threads wait for at a barrier or the region's end is a loop with nowait, if there is one. */
void advice_reasons_find(struct advice_run *run, const struct advice_region *region)
{
  const struct construct_entry *at = region->waits.at;
  bool own = at && (at->kind == DIRECTIVE_FOR || at->kind == DIRECTIVE_SECTIONS);
  double limited_s = region->tasks > 0 ? region->limited_s : 0;
  struct waiting waiting = {.lost_s = (1 - region->explained) * (region->imbalance_s + region->barrier_s + limited_s)};
  waiting.in_tasks_s = waiting.lost_s + region->tasks_wait_s;
  waiting.at = at && at->kind == DIRECTIVE_BARRIER ? at : region->at;
  set_loop(run, own ? at : region->open_loop.at, &waiting);
  if (waiting.in_tasks_s <= 0 || add_first(run, region, &waiting, of_region))
    return;
  double at_loops_s = find_at_loops(run, region);
  waiting.lost_s = fmax(0, waiting.lost_s - at_loops_s);
  waiting.in_tasks_s = fmax(0, waiting.in_tasks_s - at_loops_s);
  waiting.at = at && at->kind == DIRECTIVE_BARRIER ? at : region->at;
  set_loop(run, region->open_loop.at, &waiting);
  waiting.excess_s = (1 - region->explained) * excess_s(run, region, NULL);
  if (waiting.in_tasks_s > 0)
    add_first(run, region, &waiting, of_parts);
}
