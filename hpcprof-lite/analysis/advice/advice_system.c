#include "hpcprof-lite/analysis/advice/advice_system.h"

#include "common/order.h"
#include "common/words.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* FAULT_NS: a page fault takes at most so long.  PAGE: bytes that it makes usable at least.  MOSTLY: code that is in
 * the kernel for so many times as long as outside it is there nearly always. */
enum { FAULT_NS = 20000, PAGE = 4096, MOSTLY = 3, FEW_THREADS = 16 };

/* The loss that time in the kernel explains of itself: it is work. */
static const double NO_LOSS_S = 1e-9;

/* ---- places ---- */

static bool has_flag(const struct advice_run *run, const struct tree_row *row, uint32_t flags)
{
  const struct catalog *catalog = &run->input->profile->catalog;
  return row->module < catalog->modules_count && catalog->modules[row->module].flags & flags;
}

/* The program's function, region or task to which a row belongs: no function of libc, no runtime; the row itself if
 * there is none. */
static uint32_t own_place(const struct advice_run *run, uint32_t row)
{
  const struct tree *tree = run->input->tree;
  uint32_t at = row;
  while (at && (tree->rows[at].kind == ROW_RUNTIME || tree->rows[at].kind == ROW_LINE ||
                has_flag(run, &tree->rows[at], MODULE_SYSTEM | MODULE_RUNTIME)))
    at = tree->rows[at].parent;
  return at ? at : row;
}

void advice_find_around(const struct tree *tree, uint32_t *around)
{
  for (uint32_t i = 1; i < tree->count; i++) { /* a parent has a smaller number */
    uint32_t parent = tree->rows[i].parent;
    around[i] = parent == MODEL_NONE ? 0 : around[parent];
    if (!around[i] && tree->rows[i].kind == ROW_PARALLEL)
      around[i] = i;
  }
}

/* The region of a row of the tree, NULL if it is not known. */
static struct advice_region *region_of(const struct advice_run *run, const struct tree_row *row)
{
  const struct construct_tree *tree = run->input->constructs;
  for (uint32_t i = 0; i < run->count; i++)
    for (uint32_t first = run->regions[i].first; first; first = run->next[first]) {
      const struct construct_entry *entry = &tree->entries[first];
      if (entry->context == row->id || (row->line && entry->line == row->line && !strcmp(entry->file, row->file)))
        return &run->regions[i];
    }
  return NULL;
}

void advice_place_row(const struct advice_run *run, uint32_t row, struct advice_finding *found)
{
  assert(row < run->input->tree->count);
  const struct tree_row *at = &run->input->tree->rows[row];
  const struct advice_region *region = at->kind == ROW_PARALLEL ? region_of(run, at) : NULL;
  found->name = region ? region->at->name : at->name;
  found->file = at->file;
  found->line = at->line;
  found->context = at->id;
}

double advice_per_process(const struct advice_run *run)
{
  const struct profile *profile = run->input->profile;
  double sum_s = 0;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    sum_s += advice_seconds(profile_measured_ns(profile->processes[i].wall_ns, profile->processes[i].paused_ns));
  return sum_s > 0 ? fmin(1, run->input->elapsed_s / sum_s) : 1;
}

/* ---- the kernel ---- */

enum kernel_use { USE_NONE, USE_MEMORY, USE_CALLS };

static bool in_list(const char *name, const char *const *list)
{
  name += strspn(name, "_");
  while (*list && strcmp(name, *list) != 0)
    list++;
  return *list;
}

/* Returns for what a row used the kernel.  Calls that wait or create threads are for others to explain.  Other calls
 * are those of libc's functions: elsewhere, a sample only follows what a thread did before. */
static enum kernel_use use_of(const struct advice_run *run, uint32_t number, uint64_t *ns)
{
  static const char *const memory[] = {"munmap", "mmap", "mmap64", "madvise", "brk", "sbrk", "mremap", NULL};
  static const char *const others[] = {"sched_yield",
                                       "nanosleep",
                                       "clock_nanosleep",
                                       "usleep",
                                       "futex",
                                       "poll",
                                       "ppoll",
                                       "select",
                                       "pselect",
                                       "epoll_wait",
                                       "clone",
                                       "clone3",
                                       "pthread_exit",
                                       "pthread_create",
                                       "pthread_yield",
                                       "lll_lock_wait",
                                       "lll_lock_wait_private",
                                       NULL};
  const struct tree *tree = run->input->tree;
  const struct tree_columns *columns = run->input->columns;
  const struct tree_row *row = &tree->rows[number];
  const char *name = tree_unmarked_name(row);
  uint64_t work_ns = tree_excl(tree, number, columns->work);
  *ns = tree_excl(tree, number, columns->system_cpu);
  if (run->taken[number] > 0)
    return USE_NONE;
  bool system = row->kind == ROW_FUNCTION && has_flag(run, row, MODULE_SYSTEM);
  if (system && in_list(name, memory)) {
    *ns = MAX(*ns, work_ns); /* such a function does nothing else */
    return *ns ? USE_MEMORY : USE_NONE;
  }
  bool waits =
      system && (in_list(name, others) || !strncmp(name, "pthread_cond", 12) || !strncmp(name, "pthread_mutex", 13));
  if (!*ns || waits)
    return USE_NONE;
  if (*ns / FAULT_NS <= tree_excl(tree, number, columns->page_faults))
    return USE_MEMORY;
  bool mostly = row->kind <= ROW_TASK && *ns / MOSTLY > tree_excl(tree, number, columns->user_cpu);
  return system || mostly ? USE_CALLS : USE_NONE;
}

/* What the kernel did in a region, or outside all. */
struct kernel_part {
  uint64_t memory_ns, calls_ns, calls_most_ns;
  uint32_t calls_row; /* the row with most of it */
};

/* The same of a row alone. */
struct kernel_row {
  enum kernel_use use;
  uint64_t ns;
};

/* The same of the run. */
struct kernel_sums {
  struct kernel_part *parts; /* [row of a region, 0: outside] */
  struct kernel_row *rows;
  uint32_t *around;
  uint64_t *by_place; /* [row] time for memory of what belongs to that place */
  uint64_t memory_ns, freeing_ns, faults;
  double outside; /* elapsed time by second outside regions */
};

static void sum_rows(const struct advice_run *run, struct kernel_sums *sums)
{
  const struct tree *tree = run->input->tree;
  for (uint32_t i = 0; i < tree->count; i++) {
    uint64_t ns;
    enum kernel_use use = use_of(run, i, &ns);
    struct kernel_part *part = &sums->parts[sums->around[i]];
    sums->rows[i] = (struct kernel_row){use, ns};
    if (use == USE_MEMORY) {
      model_add(&part->memory_ns, ns);
      model_add(&sums->memory_ns, ns);
      model_add(&sums->faults, tree_excl(tree, i, run->input->columns->page_faults));
      model_add(&sums->freeing_ns, has_flag(run, &tree->rows[i], MODULE_SYSTEM) ? ns : 0);
      model_add(&sums->by_place[own_place(run, i)], ns);
    } else if (use == USE_CALLS) {
      model_add(&part->calls_ns, ns);
      part->calls_row = ns > part->calls_most_ns ? i : part->calls_row;
      part->calls_most_ns = MAX(part->calls_most_ns, ns);
    }
  }
}

/* How many times longer a time of a region's threads takes because some of them have hardly any of it. */
static double unshared(const struct advice_run *run, const struct advice_region *region)
{
  const struct construct_tree *tree = run->input->constructs;
  uint64_t *by_thread = xcalloc(tree->threads_count, sizeof *by_thread), most_ns = 0;
  double spending = 0;
  for (uint32_t first = region->first; first; first = run->next[first])
    for (uint32_t i = 0; i < tree->entries[first].lines_count; i++) {
      const struct construct_row *line = &tree->entries[first].lines[i];
      model_add(&by_thread[line->thread], line->figures.system_cpu);
      most_ns = MAX(most_ns, by_thread[line->thread]);
    }
  for (uint32_t i = 0; i < tree->threads_count; i++)
    spending += by_thread[i] > most_ns / ADVICE_MUCH;
  free(by_thread);
  spending /= fmax(region->processes, 1);
  return spending > 0 ? fmax(1, region->threads / spending) : 1;
}

/* The elapsed time of a time in the kernel. */
static double elapsed_of(const struct advice_run *run, const struct kernel_sums *sums, uint32_t part, uint64_t ns)
{
  if (!part)
    return advice_seconds(ns) * sums->outside;
  const struct advice_region *region = region_of(run, &run->input->tree->rows[part]);
  if (!region)
    return advice_seconds(ns) * advice_per_process(run) / fmax(run->input->threads, 1);
  return advice_region_gain(region, advice_seconds(ns)) * unshared(run, region);
}

/* Threads that run code outside regions and spend time in the kernel, in the process with most of them. */
static double outside_threads(const struct profile *profile)
{
  double most = 1;
  for (uint32_t i = 0; i < profile->processes_usable; i++) {
    const struct profile_process *process = &profile->processes[i];
    double threads = 0;
    uint64_t most_ns = 0;
    for (uint32_t j = 0; j < process->threads_count; j++)
      most_ns = MAX(most_ns, process->threads[j].usage[USAGE_SYSTEM]);
    for (uint32_t j = 0; j < process->threads_count; j++)
      threads += !(process->threads[j].flags & THREAD_OPENMP) &&
                 process->threads[j].usage[USAGE_SYSTEM] > most_ns / ADVICE_MUCH;
    most = fmax(most, threads);
  }
  return most;
}

/* Whether twice as much memory was touched for the first time as the processes ever used at once. */
static bool touched_again(const struct advice_run *run, const struct kernel_sums *sums)
{
  const struct profile *profile = run->input->profile;
  double peak = 0;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    peak += (double)profile->processes[i].peak_memory_bytes;
  return peak > 0 && (double)sums->faults * PAGE > 2 * peak;
}

/* The place with most of the time, and its part of all. */
static void place_memory(const struct advice_run *run, const struct kernel_sums *sums, struct advice_finding *found)
{
  uint32_t most = 0;
  for (uint32_t i = 1; i < run->input->tree->count; i++)
    most = sums->by_place[i] > sums->by_place[most] ? i : most;
  size_t length = strlen(found->evidence);
  snprintf(found->evidence + length, sizeof found->evidence - length, "; %.0f %% of that in the place named",
           100 * (double)sums->by_place[most] / (double)sums->memory_ns);
  advice_place_row(run, most, found);
}

/* Explains a further part of the region's waiting.  Returns that waiting, as elapsed time. */
static double explain(struct advice_region *region, double part)
{
  double before = region->explained;
  region->explained = fmin(1, before + part);
  return (region->explained - before) * advice_region_gain(region, region->imbalance_s + region->barrier_s);
}

/* Takes the kernel's part of each row from serial code.  Returns the waiting that it caused, as elapsed time. */
static double take_outside(struct advice_run *run, const struct kernel_sums *sums, enum kernel_use use)
{
  const struct tree *tree = run->input->tree;
  double idle_s = 0;
  for (uint32_t i = 0; i < tree->count; i++) {
    if (sums->around[i] || sums->rows[i].use != use)
      continue;
    double work_ns = (double)tree_excl(tree, i, run->input->columns->work), ns = (double)sums->rows[i].ns;
    run->taken[i] = work_ns > ns ? ns / work_ns : 1;
    idle_s += run->taken[i] * advice_seconds(tree_excl(tree, i, run->input->columns->idleness));
  }
  return idle_s * advice_per_process(run) / fmax(run->input->threads, 1);
}

/* Takes the kernel's time from the waiting of a region, or from serial code: threads arrive at different times because
 * the kernel was busy for them.  Returns that waiting, as elapsed time. */
static double take(struct advice_run *run, const struct kernel_sums *sums, uint32_t number, enum kernel_use use)
{
  const struct kernel_part *part = &sums->parts[number];
  if (!number)
    return take_outside(run, sums, use);
  struct advice_region *region = region_of(run, &run->input->tree->rows[number]);
  if (!region)
    return 0;
  double busy_s = region->sampled_work_s + region->sampled_overhead_s;
  double here_s = advice_seconds(use == USE_MEMORY ? part->memory_ns : part->calls_ns);
  return explain(region, busy_s > 0 ? here_s / busy_s : 1);
}

static void find_memory(struct advice_run *run, const struct kernel_sums *sums)
{
  static const struct advice_remedy reuse = {
      "Memory is touched for the first time again and again: allocate buffers once and reuse them; or let malloc keep "
      "what is freed (MALLOC_TOP_PAD_=1073741824, MALLOC_MMAP_THRESHOLD_=1073741824).",
      "Reuse buffers; MALLOC_TOP_PAD_=1073741824 keeps what is freed",
      "MALLOC_TOP_PAD_=1073741824 MALLOC_MMAP_THRESHOLD_=1073741824"};
  static const struct advice_remedy pages = {
      "Memory is touched for the first time: larger pages need fewer faults (madvise with MADV_HUGEPAGE, "
      "GLIBC_TUNABLES=glibc.malloc.hugetlb=1); memory that is never used need not be touched.",
      "Larger pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1)", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  bool again = touched_again(run, sums);
  double gain_s = 0;
  for (uint32_t i = 0; i < run->input->tree->count; i++)
    if (sums->parts[i].memory_ns)
      gain_s += elapsed_of(run, sums, i, sums->parts[i].memory_ns);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_KERNEL, again ? gain_s : gain_s / 2,
      "Page faults (%" PRIu64 "), and calls that get memory or give it back (%.3f s), take %.3f s of CPU time",
      sums->faults, advice_seconds(sums->freeing_ns), advice_seconds(sums->memory_ns));
  found->remedy = again ? &reuse : &pages;
  found->explained_s = NO_LOSS_S;
  place_memory(run, sums, found);
  if (!again) {
    found->low_s = 0;
    found->high_s = fmin(run->advice->elapsed_s, gain_s);
    found->confidence = "low";
    found->reason = "how much larger pages save is not known";
  }
  for (uint32_t i = 0; i < run->input->tree->count && found != &run->advice->unlisted; i++)
    if (sums->parts[i].memory_ns)
      found->explained_s += take(run, sums, i, USE_MEMORY);
}

/* Other system calls of a region, or outside all. */
static void find_calls(struct advice_run *run, const struct kernel_sums *sums, uint32_t number)
{
  const struct kernel_part *part = &sums->parts[number];
  const struct tree *tree = run->input->tree;
  uint32_t at = own_place(run, part->calls_row);
  const char *call =
      at == part->calls_row ? "calls that samples do not name" : tree_unmarked_name(&tree->rows[part->calls_row]);
  char symbol[WORDS_SYMBOL];
  struct advice_finding *found = advice_add(run->advice, ADVICE_KERNEL, elapsed_of(run, sums, number, part->calls_ns),
                                            "%.3f s of CPU time in the kernel, most of it in %s",
                                            advice_seconds(part->calls_ns), words_symbol(call, symbol));
  advice_place_row(run, at, found);
  found->low_s = 0;
  found->confidence = "low";
  found->reason = "the program may need these calls";
  found->explained_s = NO_LOSS_S;
  if (found != &run->advice->unlisted)
    found->explained_s += take(run, sums, number, USE_CALLS);
}

void advice_kernel_find(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  const struct tree *tree = input->tree;
  uint64_t least_ns = KERNEL_TICKS_LEAST * input->kernel->tick_ns;
  if (!least_ns || input->columns->system_cpu == MODEL_NONE || input->columns->work == MODEL_NONE)
    return;
  struct kernel_sums sums = {.parts = xcalloc(tree->count, sizeof *sums.parts),
                             .rows = xcalloc(tree->count, sizeof *sums.rows),
                             .around = xcalloc(tree->count, sizeof *sums.around),
                             .by_place = xcalloc(tree->count, sizeof *sums.by_place),
                             .outside = advice_per_process(run) / outside_threads(input->profile)};
  advice_find_around(tree, sums.around);
  sum_rows(run, &sums);
  if (sums.memory_ns >= least_ns)
    find_memory(run, &sums);
  least_ns = MAX(least_ns, tree_incl(tree, 0, input->columns->work) / 100 * KERNEL_PERCENT_LEAST);
  for (uint32_t i = 0; i < tree->count; i++)
    if (sums.parts[i].calls_ns >= least_ns)
      find_calls(run, &sums, i);
  free(sums.parts);
  free(sums.rows);
  free(sums.around);
  free(sums.by_place);
}

/* ---- threads that come and go ---- */

/* What threads that are created cost a region, as elapsed time. */
struct churning {
  uint64_t created;
  double creating_s;       /* the calls that created them */
  double wall_s, needed_s; /* masters were in it; they would be if all threads were there from the beginning: as long as
                              a master works, or a thread on average */
  double late_s;           /* until masters began; or the other threads on average, with these calls */
  double held_s;           /* masters waited at its end although all threads had arrived */
};

static struct churning churning_of(const struct advice_run *run, const struct advice_region *region)
{
  struct churning sum = {0};
  double masters_s = 0, bodies_s = 0, mean_s = 0, start_s = 0, begun = 0, others = 0,
         processes = fmax(region->processes, 1);
  for (uint32_t first = region->first; first; first = run->next[first]) {
    const struct construct_entry *at = &run->input->constructs->entries[first];
    model_add(&sum.created, at->sum.created);
    sum.creating_s += advice_seconds(at->sum.creating);
    mean_s += advice_seconds(at->sum.body);
    begun += (double)at->sum.count;
    for (uint32_t i = 0; i < at->lines_count; i++) {
      const struct construct_figures *line = &at->lines[i].figures;
      double beside = line->count > line->executions ? (double)(line->count - line->executions) : 0;
      masters_s += line->executions ? advice_seconds(construct_exec(line)) : 0;
      bodies_s += line->executions ? advice_seconds(line->body) : 0;
      sum.held_s += line->executions ? advice_seconds(line->wait_own) : 0;
      double late_s = line->count ? advice_seconds(line->enter) * beside / (double)line->count : 0;
      start_s += advice_seconds(line->enter) - late_s;
      sum.late_s += late_s;
      others += beside;
    }
  }
  sum.late_s = others > 0 ? sum.late_s / others * region->executions : 0;
  sum.late_s = fmax(start_s, sum.late_s + sum.creating_s);
  bodies_s = fmax(bodies_s, begun > 0 ? mean_s / begun * region->executions : 0);
  sum.wall_s = advice_region_own(region, masters_s / processes);
  sum.needed_s = advice_region_own(region, bodies_s / processes);
  sum.late_s = advice_region_own(region, sum.late_s / processes);
  sum.held_s = advice_region_own(region, sum.held_s / processes);
  sum.creating_s = advice_region_own(region, sum.creating_s / processes);
  return sum;
}

/* A region whose teams begin with the creation of threads.  These begin late, and the others wait for them.  How
 * much of that is due to measuring them is not known; at most, a constant team is also let go sooner at the end.
 * Waiting for other reasons is left to these. */
static void find_churning(struct advice_run *run, struct advice_region *region, const struct churning *churning)
{
  double most_s = fmax(0, churning->wall_s - churning->needed_s), late_s = fmin(churning->late_s, most_s);
  double least_s = fmin(churning->creating_s, late_s);
  double waited_s = advice_region_gain(region, region->imbalance_s + region->barrier_s);
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_CHURN, (least_s + late_s) / 2,
      "%" PRIu64
      " threads were created in %.0f executions of the region, by calls that took %.3f s, while at most %" PRIu32
      " lived at once; until threads had begun, it took %.3f s of %.3f s",
      churning->created, region->executions, churning->creating_s, run->input->kernel->at_once, late_s,
      churning->wall_s);
  advice_place(found, region->at, region->at);
  found->low_s = least_s / 2;
  found->high_s = fmin(run->advice->elapsed_s, fmin(late_s + churning->held_s, most_s));
  found->explained_s = late_s;
  found->confidence = "low";
  found->reason = "new threads begin later because they are measured";
  if (found == &run->advice->unlisted)
    return;
  run->claimed_s += late_s;
  explain(region, waited_s > 0 ? late_s / waited_s : 1);
}

/* Code outside regions that creates threads. */
static void find_creating_code(struct advice_run *run)
{
  static const struct advice_remedy pool = {.text = "Keep threads and give them further work (a pool, a parallel "
                                                    "region around the loop), instead of ending them and "
                                                    "creating new ones.",
                                            .brief =
                                                "Keep threads and give them further work: a pool, one parallel region"};
  const struct tree *tree = run->input->tree;
  const struct tree_columns *columns = run->input->columns;
  uint32_t most = 0;
  for (uint32_t i = 1; i < tree->count; i++)
    most = tree_excl(tree, i, columns->created) > tree_excl(tree, most, columns->created) ? i : most;
  uint64_t creating_ns = tree_incl(tree, 0, columns->creating);
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_CHURN, advice_seconds(creating_ns) * advice_per_process(run),
                 "%" PRIu64 " threads were created by calls that took %.3f s, while at most %" PRIu32 " lived at once",
                 tree_incl(tree, 0, columns->created), advice_seconds(creating_ns), run->input->kernel->at_once);
  found->remedy = &pool;
  advice_place_row(run, own_place(run, most), found);
}

void advice_churn_find(struct advice_run *run)
{
  const struct kernel_findings *kernel = run->input->kernel;
  const struct tree_columns *columns = run->input->columns;
  uint64_t created = 0, in_regions = 0;
  for (uint32_t i = 0; i < kernel->count; i++)
    created += kernel->found[i].kind == KERNEL_CHURN ? kernel->found[i].size : 0;
  if (created < FEW_THREADS || columns->created == MODEL_NONE || columns->creating == MODEL_NONE)
    return;
  for (uint32_t i = 0; i < run->count; i++) {
    struct churning churning = churning_of(run, &run->regions[i]);
    double here = (double)churning.created * ADVICE_MUCH;
    in_regions += churning.created;
    if (here >= (double)created && here >= run->regions[i].executions)
      find_churning(run, &run->regions[i], &churning);
  }
  if (in_regions < created / 2)
    find_creating_code(run);
}

/* ---- atomic instructions ---- */

/* How much of the time is that of waiting for other threads is not known: between nothing and all of it. */
static void find_atomics(struct advice_run *run, const struct advice_atomics *atomics)
{
  const struct tree *tree = run->input->tree;
  uint32_t around = 0;
  for (uint32_t i = atomics->row; i; i = tree->rows[i].parent)
    around = tree->rows[i].kind == ROW_PARALLEL ? i : around;
  const struct advice_region *region = around ? region_of(run, &tree->rows[around]) : NULL;
  if (!region || region->threads < 2)
    return;
  char symbol[WORDS_SYMBOL];
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_ATOMICS, advice_region_gain(region, atomics->atomic_s) / 2,
      "%" PRIu64 " of %" PRIu64 " samples in %s are at or just after atomic instructions (on x86: with a lock prefix)",
      atomics->atomic, atomics->samples, words_symbol(atomics->name, symbol));
  found->name = atomics->name;
  found->file = atomics->file;
  found->line = atomics->line;
  found->context = tree->rows[atomics->row].id;
  found->reason = "samples do not tell how long an instruction waits for other threads";
}

void advice_atomics_find(struct advice_run *run)
{
  for (uint32_t i = 0; i < run->input->atomics_count; i++)
    find_atomics(run, &run->input->atomics[i]);
}
