#include "hpcprof-lite/analysis/advice.h"

#include "common/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_SAMPLES = 20, MUCH = 10 }; /* a part of the time is much from 1 / MUCH on */

static const double least = 0.01; /* of the elapsed time: smaller gains are not listed */

const char *const advice_columns[ADVICE_COLUMNS] = {"rank",       "class",      "name",   "file",        "line",
                                                    "context_id", "gain_low_s", "gain_s", "gain_high_s", "gain_pct",
                                                    "confidence", "evidence",   "remedy", "command"};

/* What is said of each class.  low, high: the range of a forecast, as parts of it: how much of the loss such changes
 * leave behind, and what else they save. */
static const struct class
{
  const char *name, *title, *remedy, *view, *confidence;
  double low, high;
} classes[ADVICE_CLASSES] = {
    [ADVICE_SERIAL] = {"serial", "serial code", "Run it in parallel (parallel for, tasks), or beside other work.",
                       "topdown --sort idleness_incl_s", "high", 0.8, 1.05},
    [ADVICE_IMBALANCE] = {"imbalance", "threads with unequal work",
                          "Give work to the threads as they become free: schedule(dynamic, N) or schedule(guided), "
                          "smaller tasks; the largest pieces first.",
                          "regions --per-thread", "high", 0.8, 1.05},
    [ADVICE_CHUNK_OVERHEAD] = {"chunk-overhead", "chunks too small",
                               "Use larger chunks, schedule(dynamic, N) with a larger N, or schedule(static).",
                               "bottomup --sort overhead_excl_s", "medium", 0.7, 1.2},
    [ADVICE_TASK_OVERHEAD] = {"task-overhead", "tasks too small",
                              "Create fewer and larger tasks: stop creating them below a size (if or final clause, a "
                              "serial function), taskloop with a larger grainsize.",
                              "tasks", "medium", 0.8, 1.25},
    [ADVICE_FEW_CHUNKS] = {"few-chunks", "too few pieces of work for the threads",
                           "Divide the work into more pieces: smaller chunks, more sections or tasks, collapse(2).",
                           "regions --per-thread", "high", 0.7, 1.05},
    [ADVICE_REGION_OVERHEAD] = {"region-overhead", "parallel regions too small",
                                "Put one region around the loop that opens it so often, or merge neighbouring "
                                "regions; if(N > LIMIT) where there is little work.",
                                "regions", "medium", 0.7, 1.2},
    [ADVICE_BARRIER] = {"barrier", "barriers whose waits cancel out",
                        "If what follows does not need the other threads' results, leave the barrier out, or add "
                        "nowait to the loop.",
                        "regions --per-thread", "medium", 0.7, 1.05},
    [ADVICE_CONTENTION] = {"contention", "threads that wait for a lock",
                           "Do less while holding it, use a reduction, copies of the data for each thread, or atomic; "
                           "several locks for parts of the data.",
                           "bottomup --sort lockwait_excl_s", "high", 0.7, 1.1},
    [ADVICE_DEPENDENCES] = {"dependences", "tasks or iterations that wait for each other",
                            "Only work that does not depend on other work can run at once: shorten the chain, make "
                            "dependences finer (parts of the data), or compute independent parts beside it.",
                            "critical-path", "medium", 0.5, 1.05},
    [ADVICE_CREATION] = {"creation", "tasks created by one thread",
                         "Create tasks in several threads (taskloop, tasks that create tasks), or larger ones.",
                         "tasks", "medium", 0.7, 1.05},
    [ADVICE_OVERSUBSCRIPTION] = {"oversubscription", "more threads than cores",
                                 "Use as many threads as cores (OMP_NUM_THREADS, OMP_DYNAMIC=true); while there are "
                                 "more, OMP_WAIT_POLICY=passive.",
                                 "threads", "medium", 0.5, 1.1},
    [ADVICE_INFLATION] = {"inflation", "work that takes longer with more threads",
                          "Threads compete for memory, caches, or lines that they share (false sharing): count cache "
                          "misses with -e cache-misses, keep each thread's data apart and in the order of its loops.",
                          "efficiency", "medium", 0, 1},
    [ADVICE_NESTING] = {"nesting", "inner regions that run with one thread",
                        "Allow them to have more: OMP_MAX_ACTIVE_LEVELS=2 with enough threads, or collapse both loops "
                        "into one.",
                        "region-tree", "medium", 0.5, 1.05},
    [ADVICE_BLOCKING] = {"blocking", "sleep, input or output while the threads wait",
                         "Do it beside the computation (a task, a thread of its own, asynchronous I/O).", "topdown",
                         "medium", 0.5, 1.05},
    [ADVICE_UNFIT] = {"unfit", "the measurement itself", "", "summary", "", 0, 0},
    [ADVICE_NONE] = {"none", "nothing found", "", "topdown", "", 0, 0},
};

const char *advice_name(enum advice_class class)
{
  return classes[class].name;
}

const char *advice_title(enum advice_class class)
{
  return classes[class].title;
}

const char *advice_remedy(enum advice_class class)
{
  return classes[class].remedy;
}

const char *advice_view(enum advice_class class)
{
  return classes[class].view;
}

static double seconds(uint64_t ns)
{
  return (double)ns * 1e-9;
}

/* ---- what is known of a region ---- */

/* A construct with an amount of time. */
struct amount {
  const struct construct_entry *at;
  double s;
};

/* An outermost parallel region, with everything in it.  Times are of all threads together. */
struct region {
  const struct construct_entry *at;
  double threads, executions, total_s, tool_s;
  double startup_s;                 /* beginning and ending the region */
  double management_s, imbalance_s; /* as in construct_losses */
  struct amount limited, meeting;   /* waiting for a single block; at barriers inside */
  double tasks_wait_s;              /* at taskwait and taskgroup */
  double single_s;                  /* inside single, without waiting for tasks */
  double tasks, created, dependent; /* executed; created; of these with dependences */
  struct amount task;               /* executing tasks; the one with most time */
  struct amount ordered, inner;     /* waiting for its turn; nested regions of one thread */
  struct amount loop;               /* the loop or sections with most time in its body */
  double sampled_work_s, sampled_overhead_s;
  double events;  /* executions of constructs */
  double *busy_s; /* [thread of the tree] without waiting for others */
};

struct examination {
  const struct advice_input *input;
  struct advice *advice;
  struct region *regions;
  uint32_t count;
  double *busy_s;
  double lost_s; /* of elapsed time: to this tool */
  bool no_memory;
};

static void most(struct amount *amount, const struct construct_entry *at, double s, bool add)
{
  if (!amount->at || s > amount->s)
    amount->at = at;
  amount->s = add ? amount->s + s : fmax(amount->s, s);
}

/* Tasks of a directive, over all processes: created, and with dependences. */
static void count_tasks(const struct advice_input *input, struct region *region, uint32_t directive)
{
  for (uint32_t i = 0; i < input->profile->processes_count; i++) {
    const struct construct_times *times = &input->profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->tasks_count; j++) {
      if (times->tasks[j].directive != directive)
        continue;
      region->created += (double)times->tasks[j].created;
      region->dependent += (double)times->tasks[j].dependent;
    }
  }
}

static void add_by_kind(const struct advice_input *input, struct region *region, const struct construct_entry *entry,
                        const struct construct_losses *losses)
{
  const struct construct_figures *sum = &entry->sum;
  double body_s = seconds(sum->own_body);
  switch (entry->kind) {
  case DIRECTIVE_SINGLE:
    region->single_s += body_s;
    most(&region->limited, entry, seconds(losses->limited_parallelism), true);
    break;
  case DIRECTIVE_BARRIER:
    most(&region->meeting, entry, seconds(losses->synchronisation), true);
    break;
  case DIRECTIVE_TASKWAIT:
  case DIRECTIVE_TASKGROUP:
    region->tasks_wait_s += seconds(losses->synchronisation);
    break;
  case DIRECTIVE_ORDERED:
    most(&region->ordered, entry, seconds(losses->synchronisation), true);
    break;
  case DIRECTIVE_TASK:
    count_tasks(input, region, entry->directive);
    break;
  case CONSTRUCT_TASK_EXEC:
    region->tasks += (double)sum->count;
    most(&region->task, entry, body_s, true);
    break;
  case DIRECTIVE_FOR:
  case DIRECTIVE_SECTIONS:
    most(&region->loop, entry, body_s, false);
    if (losses->imbalance && entry->sum.wait)
      most(&region->meeting, entry, seconds(losses->imbalance), true);
    break;
  case DIRECTIVE_PARALLEL:
  case DIRECTIVE_TEAMS:
    if (entry != region->at && sum->executions && sum->count == sum->executions)
      most(&region->inner, entry, seconds(sum->body), true);
    break;
  default:
    break;
  }
}

/* Adds an occurrence of the region in the tree. */
static void add_region(const struct advice_input *input, struct region *region, uint32_t first)
{
  const struct construct_tree *tree = input->constructs;
  const struct construct_entry *at = &tree->entries[first];
  region->threads = fmax(region->threads, at->threads);
  region->executions += (double)at->sum.executions;
  region->startup_s += seconds(model_sum(at->sum.enter, at->sum.exit));
  for (uint32_t i = first; i < at->end; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    struct construct_losses losses = construct_losses(entry->kind, &entry->sum);
    region->total_s += seconds(construct_exclusive(entry->kind, &entry->sum));
    region->management_s += seconds(losses.management);
    region->imbalance_s += seconds(losses.imbalance);
    region->events += (double)entry->sum.count;
    add_by_kind(input, region, entry, &losses);
    for (uint32_t j = 0; j < entry->lines_count; j++) {
      const struct construct_figures *figures = &entry->lines[j].figures;
      uint64_t all = construct_exclusive(entry->kind, figures), waits = figures->wait;
      bool lock = construct_is_lock(entry->kind);
      region->busy_s[entry->lines[j].thread] += lock || waits > all ? 0 : seconds(all - waits);
    }
  }
}

static bool is_outermost(const struct tree *tree, uint32_t row)
{
  for (row = tree->rows[row].parent; row && row != MODEL_NONE; row = tree->rows[row].parent)
    if (tree->rows[row].kind == ROW_PARALLEL)
      return false;
  return true;
}

/* What was sampled in the region. */
static void add_samples(const struct advice_input *input, struct region *region)
{
  const struct tree *tree = input->tree;
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct tree_row *row = &tree->rows[i];
    if (row->kind != ROW_PARALLEL || row->line != region->at->line || strcmp(row->file, region->at->file) ||
        !is_outermost(tree, i))
      continue;
    region->sampled_work_s += seconds(tree_incl(tree, i, input->columns->work));
    region->sampled_overhead_s += seconds(tree_incl(tree, i, input->columns->overhead));
  }
}

/* Fills in the regions.  Returns 0 or ERR_NOMEM. */
static int find_regions(struct examination *run)
{
  const struct construct_tree *tree = run->input->constructs;
  size_t threads = (size_t)tree->threads_count + 1;
  uint32_t *place = calloc((size_t)tree->count + 1, sizeof *place), regions = 0; /* [number of construct] region + 1 */
  for (uint32_t i = 1; i < tree->count; i = construct_is_region(tree->entries[i].kind) ? tree->entries[i].end : i + 1)
    regions += construct_is_region(tree->entries[i].kind);
  run->regions = calloc((size_t)regions + 1, sizeof *run->regions);
  run->busy_s = calloc((size_t)(regions + 1) * threads, sizeof *run->busy_s);
  if (!place || !run->regions || !run->busy_s) {
    free(place);
    return ERR_NOMEM;
  }
  for (uint32_t i = 1; i < tree->count;) {
    const struct construct_entry *entry = &tree->entries[i];
    if (!construct_is_region(entry->kind)) {
      i++;
      continue;
    }
    if (!place[entry->region]) {
      run->regions[run->count] = (struct region){.at = entry, .busy_s = run->busy_s + run->count * threads};
      place[entry->region] = ++run->count;
    }
    add_region(run->input, &run->regions[place[entry->region] - 1], i);
    i = entry->end;
  }
  free(place);
  double events = 0;
  for (uint32_t i = 0; i < run->count; i++)
    events += run->regions[i].events;
  for (uint32_t i = 0; i < run->count; i++) {
    struct region *region = &run->regions[i];
    add_samples(run->input, region);
    region->tool_s = fmin(seconds(run->input->tool_ns) * region->events / fmax(events, 1), 0.9 * region->total_s);
    run->lost_s += region->tool_s / fmax(region->threads, 1);
  }
  return 0;
}

/* ---- findings ---- */

/* Adds a finding, unless it gains too little.  Returns it, or NULL. */
static struct advice_finding *add(struct examination *run, enum advice_class class, double gain_s, const char *format,
                                  ...) __attribute__((format(printf, 4, 5)));
static struct advice_finding *add(struct examination *run, enum advice_class class, double gain_s, const char *format,
                                  ...)
{
  struct advice *advice = run->advice;
  bool forecast = class != ADVICE_UNFIT && class != ADVICE_NONE;
  if (forecast && gain_s < least * advice->elapsed_s)
    return NULL;
  if (!array_reserve(&advice->found, &advice->room, advice->count + 1, sizeof *advice->found)) {
    run->no_memory = true;
    return NULL;
  }
  gain_s = fmin(gain_s, advice->elapsed_s);
  struct advice_finding *found = &advice->found[advice->count++];
  *found = (struct advice_finding){.class = class,
                                   .name = "",
                                   .file = "",
                                   .context = MODEL_NONE,
                                   .low_s = gain_s * classes[class].low,
                                   .gain_s = gain_s,
                                   .high_s = fmin(gain_s * classes[class].high, advice->elapsed_s),
                                   .confidence = classes[class].confidence};
  va_list args;
  va_start(args, format);
  vsnprintf(found->evidence, sizeof found->evidence, format, args);
  va_end(args);
  return found;
}

static void set_place(struct advice_finding *found, const struct construct_entry *at)
{
  if (!found || !at)
    return;
  found->name = at->name;
  found->file = at->file;
  found->line = at->line;
  found->context = at->context;
}

/* The gain without a loss of all threads together in the region; without this tool's time. */
static double gain_of(const struct region *region, double lost_s)
{
  double own = region->total_s > 0 ? 1 - region->tool_s / region->total_s : 1;
  return lost_s * own / fmax(region->threads, 1);
}

static double wall_of(const struct region *region)
{
  return gain_of(region, region->total_s);
}

/* Tasks that take about as long to create and schedule as to run.  All losses of the region are theirs then. */
static bool find_small_tasks(struct examination *run, struct region *region)
{
  enum { MANY = 50 };
  double mean_s = region->tasks > 0 ? region->task.s / region->tasks : 0, work_s = region->sampled_work_s;
  double overhead_s = region->sampled_overhead_s;
  if (region->tasks < MANY * region->threads || mean_s > 1e-4 || work_s <= 0 || overhead_s < work_s / 2 ||
      run->input->samples < FEW_SAMPLES)
    return false;
  set_place(
      add(run, ADVICE_TASK_OVERHEAD, wall_of(region) - work_s / fmax(region->threads, 1),
          "%.0f tasks run for %.2f us on average; the OpenMP runtime takes %.3f s of processor time, the program's "
          "code %.3f s (sampled)",
          region->tasks, mean_s * 1e6, overhead_s, work_s),
      region->task.at);
  return true;
}

/* Regions that are over as soon as they have begun. */
static bool find_small_regions(struct examination *run, struct region *region)
{
  enum { MANY = 100 };
  double mean_s = region->executions > 0 ? wall_of(region) / region->executions : 0;
  double lost_s = region->startup_s + region->management_s - fmin(region->management_s, region->startup_s);
  bool tiny = mean_s < 1e-4; /* threads arrive at different times by chance */
  lost_s += tiny ? region->imbalance_s : 0;
  if (region->executions < MANY || mean_s > 2e-3 || lost_s < region->total_s / 10 || region->tasks > 0)
    return false;
  set_place(add(run, ADVICE_REGION_OVERHEAD, gain_of(region, lost_s),
                "It is opened %.0f times and takes %.1f us each time, of which %.1f us are beginning and ending it",
                region->executions, mean_s * 1e6, gain_of(region, lost_s) / region->executions * 1e6),
            region->at);
  return tiny;
}

static double pieces_of(const struct examination *run, const struct construct_entry *loop)
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
static void find_small_chunks(struct examination *run, struct region *region)
{
  double pieces = pieces_of(run, region->loop.at), overhead_s = region->sampled_overhead_s;
  double body_s = fmax(0, region->total_s - region->imbalance_s - region->management_s);
  bool tiny = body_s < 1e-6 * pieces * region->executions;
  if (region->tasks > 0 || wall_of(region) < 2e-4 * region->executions || pieces < 16 * region->threads ||
      overhead_s <= region->sampled_work_s / (tiny ? 4 : 2) || run->input->samples < FEW_SAMPLES)
    return;
  double most_s = gain_of(region, body_s), least_s = fmax(0, most_s - region->sampled_work_s / region->threads);
  struct advice_finding *found =
      add(run, ADVICE_CHUNK_OVERHEAD, (most_s + least_s) / 2,
          "The OpenMP runtime takes %.3f s of processor time to hand out iterations, the loop's code %.3f s (sampled); "
          "%.0f iterations each time",
          overhead_s, region->sampled_work_s, pieces);
  set_place(found, region->loop.at);
  if (found) {
    found->low_s = least_s;
    found->high_s = most_s;
  }
}

/* The gain if no thread waited for another inside the region. */
static double cancelled(const struct examination *run, const struct region *region, double lost_s)
{
  double longest_s = 0, sum_s = 0;
  for (uint32_t i = 0; i < run->input->constructs->threads_count; i++) {
    longest_s = fmax(longest_s, region->busy_s[i]);
    sum_s += region->busy_s[i];
  }
  return lost_s / region->threads - (longest_s - sum_s / region->threads);
}

/* Finds why threads of the region wait for each other: the most specific reason. */
static void find_waiting(struct examination *run, struct region *region)
{
  bool at_barrier = region->meeting.at && region->meeting.at->kind == DIRECTIVE_BARRIER;
  double lost_s =
      region->imbalance_s + (at_barrier ? region->meeting.s : 0) + (region->tasks > 0 ? region->limited.s : 0);
  double in_tasks_s = lost_s + region->tasks_wait_s, gain_s = gain_of(region, lost_s);
  double wall_s = wall_of(region), threads = fmax(region->threads, 1), pieces = pieces_of(run, region->loop.at);
  double per_execution = region->executions > 0 ? region->tasks / region->executions : 0;
  const struct construct_entry *at = region->loop.at ? region->loop.at : at_barrier ? region->meeting.at : region->at;
  if (region->dependent > region->created / 2 && region->created > 0) {
    set_place(add(run, ADVICE_DEPENDENCES, gain_of(region, in_tasks_s),
                  "%.0f of %.0f tasks have depend clauses; threads wait %.3f s of %.3f s for tasks that may run",
                  region->dependent, region->created, in_tasks_s, region->total_s),
              region->task.at ? region->task.at : region->at);
    return;
  }
  if (region->ordered.s > lost_s / 2 && region->ordered.s > 0) {
    set_place(add(run, ADVICE_DEPENDENCES, gain_of(region, region->ordered.s),
                  "Threads wait %.3f s of %.3f s until it is the turn of their iteration", region->ordered.s,
                  region->total_s),
              region->ordered.at);
    return;
  }
  if (region->tasks > 4 * threads && region->single_s > 0.6 * region->total_s / threads &&
      region->task.s < 0.7 * (threads - 1) * region->total_s / threads) {
    set_place(add(run, ADVICE_CREATION, gain_s,
                  "One thread creates %.0f tasks in %.3f s; the others wait %.3f s and run them in %.3f s",
                  region->tasks, region->single_s, lost_s, region->task.s),
              region->task.at ? region->task.at : region->at);
    return;
  }
  if (region->inner.s > region->total_s / 4) {
    set_place(add(run, ADVICE_NESTING, gain_s,
                  "Inner regions run with one thread each for %.3f s, while threads of the outer one wait %.3f s",
                  region->inner.s, lost_s),
              region->inner.at);
    return;
  }
  bool few_pieces = pieces >= 1 && pieces < 4 * threads, few_tasks = per_execution >= 1 && per_execution < 4 * threads;
  if (few_pieces || few_tasks) {
    set_place(add(run, ADVICE_FEW_CHUNKS, gain_s, "%.0f %s for %.0f threads; threads wait %.3f s of %.3f s",
                  few_pieces ? pieces : per_execution, few_pieces ? "pieces of work" : "tasks", threads, lost_s,
                  region->total_s),
              few_pieces ? at : region->task.at);
    return;
  }
  double without_s = region->meeting.at ? cancelled(run, region, lost_s) : 0;
  if (without_s > lost_s / threads / 2) {
    set_place(add(run, ADVICE_BARRIER, gain_of(region, without_s * threads),
                  "Threads wait %.3f s of %.3f s for each other, but over all phases the busiest one works only "
                  "%.3f s longer than the mean",
                  lost_s, region->total_s, fmax(0, lost_s / threads - without_s)),
              region->meeting.at);
    return;
  }
  set_place(add(run, ADVICE_IMBALANCE, gain_s,
                "Threads wait %.3f s of %.3f s for the last one to finish its part (%.0f threads, %.3f s elapsed)",
                lost_s, region->total_s, threads, wall_s),
            at);
}

/* Code that one thread runs while its team waits. */
static void find_serial_parts(struct examination *run, struct region *region)
{
  double single_s = region->limited.s, threads = region->threads;
  if (threads == 1 && run->input->threads > 1) {
    double wall_s = wall_of(region);
    set_place(add(run, ADVICE_SERIAL, wall_s * (1 - 1.0 / run->input->threads),
                  "The region runs with one thread for %.3f s, while others have no work", wall_s),
              region->at);
  }
  if (region->tasks <= 0)
    set_place(add(run, ADVICE_SERIAL, gain_of(region, single_s),
                  "One thread runs the single block; the others wait %.3f s for it", single_s),
              region->limited.at);
}

/* Waiting for each lock. */
static int find_contention(struct examination *run)
{
  const struct construct_tree *tree = run->input->constructs;
  double *gain_s = calloc((size_t)tree->count + 1, sizeof *gain_s), *wait_s = calloc((size_t)tree->count + 1, 8);
  const struct construct_entry **place = calloc((size_t)tree->count + 1, sizeof *place);
  for (uint32_t i = 0; gain_s && wait_s && place && i < run->count; i++) {
    struct region *region = &run->regions[i];
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
      wait_s[entry->region] += seconds(losses.synchronisation);
      gain_s[entry->region] += gain_of(region, seconds(losses.synchronisation));
      place[entry->region] = entry;
    }
  }
  for (uint32_t i = 1; gain_s && wait_s && place && i <= tree->count; i++)
    if (place[i])
      set_place(add(run, ADVICE_CONTENTION, gain_s[i], "Threads wait %.3f s for it", wait_s[i]), place[i]);
  int status = gain_s && wait_s && place ? 0 : ERR_NOMEM;
  free(gain_s);
  free(wait_s);
  free(place);
  return status;
}

/* ---- outside regions ---- */

/* The idleness that code outside regions causes, with everything below each row; whether a region is below it. */
struct serial_rows {
  uint64_t *idle;
  bool *region;
};

static void sum_serial(const struct advice_input *input, struct serial_rows *rows)
{
  const struct tree *tree = input->tree;
  for (uint32_t i = tree->count; i-- > 0;) { /* a parent has a smaller number */
    const struct tree_row *row = &tree->rows[i];
    if (row->kind == ROW_PARALLEL || row->kind == ROW_PARTIAL || row->kind == ROW_RUNTIME) {
      rows->region[i] = row->kind != ROW_RUNTIME;
      rows->idle[i] = 0;
    } else {
      rows->idle[i] = model_sum(rows->idle[i], tree_excl(tree, i, input->columns->idleness));
    }
    if (i && row->parent != MODEL_NONE) {
      rows->idle[row->parent] = model_sum(rows->idle[row->parent], rows->idle[i]);
      rows->region[row->parent] = rows->region[row->parent] || rows->region[i];
    }
  }
}

/* Finds the highest row that causes at least 80 % of the idleness outside regions and contains no region; otherwise the
 * lowest one that causes so much.  Returns 0, or ERR_NOMEM. */
static int serial_place(const struct advice_input *input, uint32_t *row, double *part)
{
  const struct tree *tree = input->tree;
  struct serial_rows rows = {calloc((size_t)tree->count + 1, sizeof *rows.idle), calloc((size_t)tree->count + 1, 1)};
  int status = rows.idle && rows.region ? 0 : ERR_NOMEM;
  uint32_t at = 0;
  *part = 1;
  if (!status && input->columns->idleness != MODEL_NONE) {
    sum_serial(input, &rows);
    uint64_t all = rows.idle[0];
    for (uint32_t next = 0; next != MODEL_NONE && all; at = next == MODEL_NONE ? at : next) {
      uint32_t best = MODEL_NONE;
      if (at && !rows.region[at])
        break;
      for (uint32_t child = tree->rows[at].first_child; child != MODEL_NONE; child = tree->rows[child].next)
        if (rows.idle[child] >= all - all / 5 && tree->rows[child].kind <= ROW_INLINED)
          best = child;
      next = best;
    }
    *part = all ? (double)rows.idle[at] / (double)all : 1;
  }
  free(rows.idle);
  free(rows.region);
  *row = at;
  return status;
}

/* How long the threads that other threads wait for were blocked in calls. */
static double blocked_s(const struct profile *profile)
{
  double sum_s = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    if (profile->processes[i].usable && profile->processes[i].threads_count)
      sum_s = fmax(sum_s, seconds(profile->processes[i].threads[0].blocked_ns));
  return sum_s;
}

static int find_outside(struct examination *run)
{
  const struct advice_input *input = run->input;
  double part, blocking_s = blocked_s(input->profile), threads = input->threads;
  add(run, ADVICE_BLOCKING, blocking_s, "The initial thread was blocked in calls outside OpenMP for %.3f s%s",
      blocking_s, input->by_wall ? "" : "; -e wall shows where");
  if (threads < 2)
    return 0;
  uint32_t row;
  int status = serial_place(input, &row, &part);
  double gain_s = input->serial_s - fmin(input->serial_s, blocking_s * (1 - 1 / threads));
  struct advice_finding *found = add(
      run, ADVICE_SERIAL, gain_s, "One thread runs for %.3f s outside parallel regions, while the others have no work",
      gain_s / (1 - 1 / threads));
  if (found && row) {
    size_t length = strlen(found->evidence);
    snprintf(found->evidence + length, sizeof found->evidence - length, "; %.0f %% of that in the place named",
             100 * part);
    found->name = input->tree->rows[row].name;
    found->file = input->tree->rows[row].file;
    found->line = input->tree->rows[row].line;
    found->context = input->tree->rows[row].id;
  }
  return status;
}

/* More threads than cores: returns whether there are.  A thread that waits then leaves its core to another one, so that
 * its waiting says nothing about the elapsed time. */
static bool find_oversubscription(struct examination *run)
{
  const struct advice_input *input = run->input;
  uint32_t cores = 0, threads = 0;
  uint64_t delay_ns = 0;
  for (uint32_t i = 0; i < input->profile->processes_count; i++) {
    const struct profile_process *process = &input->profile->processes[i];
    for (uint32_t j = 0; j < process->threads_count; j++)
      delay_ns = model_sum(delay_ns, process->threads[j].run_delay_ns);
    if (process->usable && process->cpus && process->threads_max > process->cpus && process->threads_max > threads) {
      cores = process->cpus;
      threads = process->threads_max;
    }
  }
  if (!cores || delay_ns < input->openmp_wall_ns / 20)
    return false;
  double serial_s = input->serial_s / (1 - 1.0 / threads), elapsed_s = run->advice->elapsed_s;
  double work_s = fmax(0, seconds(input->work_ns) - serial_s);
  add(run, ADVICE_OVERSUBSCRIPTION, elapsed_s - serial_s - work_s / cores,
      "%" PRIu32 " threads share %" PRIu32 " cores: for %.3f s of %.3f s they were ready to run without a core; their "
      "work alone would keep the cores busy for %.3f s",
      threads, cores, seconds(delay_ns), seconds(input->openmp_wall_ns), work_s / cores);
  return true;
}

/* What makes the measurement unfit; returns whether no forecast is possible. */
static bool find_unfit(struct examination *run)
{
  const struct advice_input *input = run->input;
  bool known = input->constructs->count > 1 || input->threads > 0;
  if (!known)
    add(run, ADVICE_UNFIT, 0,
        "No OpenMP construct was timed: forecasts need a program that uses OpenMP, and -p online (the default)");
  if (input->tool_ns > input->openmp_wall_ns / MUCH)
    add(run, ADVICE_UNFIT, 0,
        "This tool took %.0f %% of the threads' time: forecasts for short constructs are uncertain",
        100 * (double)input->tool_ns / (double)input->openmp_wall_ns);
  if (input->core_wait_ns > input->openmp_wall_ns / MUCH)
    add(run, ADVICE_UNFIT, 0,
        "Threads had no core for %.0f %% of their time: measure without other programs, with no more threads than "
        "cores",
        100 * (double)input->core_wait_ns / (double)input->openmp_wall_ns);
  if (input->samples < FEW_SAMPLES)
    add(run, ADVICE_UNFIT, 0,
        "%" PRIu64 " samples are too few to say where time is spent: measure longer, or with -e task-clock@f1000",
        input->samples);
  return !known;
}

static int by_gain(const void *a, const void *b)
{
  const struct advice_finding *x = a, *y = b;
  bool last_x = x->class >= ADVICE_UNFIT, last_y = y->class >= ADVICE_UNFIT;
  if (last_x != last_y)
    return last_x - last_y;
  if (x->class != y->class && last_x)
    return (x->class < y->class) - (x->class > y->class);
  return (x->gain_s < y->gain_s) - (x->gain_s > y->gain_s);
}

static void find_none(struct examination *run)
{
  const struct advice_input *input = run->input;
  for (uint32_t i = 0; i < run->advice->count; i++)
    if (run->advice->found[i].class < ADVICE_UNFIT)
      return;
  char busy[64] = "";
  if (input->efficiency >= 0)
    snprintf(busy, sizeof busy, " for %.0f %% of their time", 100 * input->efficiency);
  if (input->constructs->count > 1 || input->threads)
    add(run, ADVICE_NONE, 0,
        "The program uses its threads%s.  Whether memory slows their work down, a run with one thread tells "
        "(OMP_NUM_THREADS=1, then hpcprof-lite --view efficiency DIR DIR1)",
        busy);
}

int advice_compute(const struct advice_input *input, struct advice *advice)
{
  struct examination run = {.input = input, .advice = advice};
  *advice = (struct advice){.elapsed_s = seconds(input->elapsed_ns)};
  int status = find_regions(&run);
  if (!status) {
    advice->elapsed_s = fmax(advice->elapsed_s - run.lost_s, 0.1 * advice->elapsed_s);
    advice->unfit_first = find_unfit(&run);
    bool crowded = find_oversubscription(&run);
    int outside = find_outside(&run);
    add(&run, ADVICE_INFLATION, input->inflation_s,
        "The same work takes %.3f s of elapsed time longer than in the run with one thread", input->inflation_s);
    for (uint32_t i = 0; i < run.count && !crowded; i++) {
      struct region *region = &run.regions[i];
      find_serial_parts(&run, region);
      if (region->threads < 2 || find_small_tasks(&run, region))
        continue;
      find_small_chunks(&run, region);
      if (!find_small_regions(&run, region))
        find_waiting(&run, region);
    }
    status = find_contention(&run);
    status = status ? status : outside;
    find_none(&run);
  }
  free(run.regions);
  free(run.busy_s);
  status = run.no_memory ? ERR_NOMEM : status;
  bool disturbed = input->core_wait_ns > input->openmp_wall_ns / MUCH || input->tool_ns > input->openmp_wall_ns / MUCH;
  for (uint32_t i = 0; i < advice->count && disturbed; i++)
    if (*advice->found[i].confidence)
      advice->found[i].confidence = "low";
  if (!status)
    qsort(advice->found, advice->count, sizeof *advice->found, by_gain);
  return status;
}

double advice_percent(const struct advice *advice, const struct advice_finding *found)
{
  return advice->elapsed_s > 0 ? 100 * found->gain_s / advice->elapsed_s : 0;
}

void advice_release(struct advice *advice)
{
  free(advice->found);
  *advice = (struct advice){0};
}
