#include "hpcprof-lite/comparison/scaling_pipeline.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/comparison/compare_pipeline.h"
#include "hpcprof-lite/comparison/run_map.h"
#include "hpcprof-lite/input/find.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROWS = 10 }; /* contexts in text, unless --max-rows is given */

_Static_assert((int)SCALING_FACTORS == (int)EFFICIENCY_COUNT, "the factors are the efficiencies");

/* ---- directories ---- */

/* Adds a measurement directory, or those in the directory of a series, in the order of their names. */
static void add_directories(struct comparison *comparison, const char *directory)
{
  struct dirent **entries = NULL;
  bool found = false;
  int count = 0;
  if (!find_any(directory))
    count = scandir(directory, &entries, NULL, versionsort);
  for (int i = 0; i < count; i++) {
    char *path = xasprintf("%s/%s", directory, entries[i]->d_name);
    if (*entries[i]->d_name != '.' && find_any(path)) {
      compare_add_directory(comparison, COMPARE_NEW, path);
      found = true;
    } else {
      free(path);
    }
    free(entries[i]);
  }
  free(entries);
  if (!found)
    compare_add_directory(comparison, COMPARE_NEW, xstrdup(directory));
}

void scaling_directories(const struct options *options, struct comparison *comparison)
{
  for (size_t i = 0; i < options->input.count; i++)
    add_directories(comparison, options->input.directories[i]);
}

/* ---- what is known of a run ---- */

/* The line "Scaling: N threads, ..." of a run's notes, which hpcrun-lite --scaling writes, or NULL. */
static const char *series_note(const struct job *run)
{
  static const char mark[] = "Scaling: ";
  for (uint32_t i = 0; i < run->profile.processes_count; i++) {
    const struct profile_process *process = &run->profile.processes[i];
    for (const char *at = process->usable ? process->notes : NULL; at; at = strchr(at, '\n')) {
      at += *at == '\n';
      if (!strncmp(at, mark, sizeof mark - 1))
        return at + sizeof mark - 1;
    }
  }
  return NULL;
}

static bool is_weak(const struct job *run)
{
  static const char mark[] = "--scale-with";
  const char *note = series_note(run), *found = note ? strstr(note, mark) : NULL;
  return found && found < note + strcspn(note, "\n");
}

/* The most OpenMP threads that one process, or all ranks together, used at once. */
static uint32_t used_threads(const struct profile *profile)
{
  uint32_t most = 0, ranks = 0, of_rank = 0;
  int32_t rank = -1;
  for (uint32_t i = 0; i < profile->processes_count; i++) { /* by host and rank */
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable)
      continue;
    most = MAX(most, process->threads_max);
    if (process->rank != rank) {
      ranks += of_rank;
      of_rank = 0;
      rank = process->rank;
    }
    if (rank >= 0)
      of_rank = MAX(of_rank, process->threads_max);
  }
  ranks += of_rank;
  most = MAX(most, ranks);
  return MAX(most, 1);
}

static uint32_t cores(const struct profile *profile)
{
  return profile->processes[0].rank < 0 ? profile->processes[0].cpus : 0; /* usable ones come first */
}

static uint32_t asked_threads(const struct job *run)
{
  const char *note = series_note(run);
  unsigned long threads = note ? strtoul(note, NULL, 10) : 0;
  return threads > 0 && threads < UINT32_MAX ? (uint32_t)threads : used_threads(&run->profile);
}

/* ---- checks ---- */

static const struct catalog_module *executable(const struct job *run)
{
  const struct catalog *catalog = &run->profile.catalog;
  for (uint32_t i = 0; i < catalog->modules_count; i++)
    if (catalog->modules[i].flags & MODULE_MAIN)
      return &catalog->modules[i];
  return NULL;
}

/* Whether two runs are of one program: by build ID, or else by the path.  Runs without samples, of which that is not
 * known, count as such. */
static bool same_program(const struct job *run, const struct job *other)
{
  const struct catalog_module *a = executable(run), *b = executable(other);
  if (!a || !b)
    return true;
  if (a->build_id_size && b->build_id_size)
    return a->build_id_size == b->build_id_size && !memcmp(a->build_id, b->build_id, a->build_id_size);
  return !strcmp(a->path, b->path);
}

static int check_runs(const struct comparison *comparison)
{
  const struct job *runs = comparison->runs[COMPARE_NEW];
  char *const *names = comparison->directories[COMPARE_NEW];
  bool several = false;
  for (uint32_t i = 1; i < comparison->counts[COMPARE_NEW]; i++) {
    several |= asked_threads(&runs[i]) != asked_threads(&runs[0]);
    if (!same_program(&runs[0], &runs[i])) {
      job_print_error("'%s' and '%s' are runs of different programs: --scaling needs one", names[0], names[i]);
      return EXIT_USAGE;
    }
    if (is_weak(&runs[0]) != is_weak(&runs[i])) {
      job_print_error("only one of '%s' and '%s' was measured with --scale-with: report each series alone", names[0],
                      names[i]);
      return EXIT_USAGE;
    }
  }
  bool same = true;
  for (uint32_t i = 1; i < comparison->counts[COMPARE_NEW] && same; i++)
    same = compare_same_filter(&runs[0], &runs[i], "--scaling");
  if (several)
    return 0;
  job_print_error("--scaling needs runs with different numbers of threads, and '%s' and all others had %" PRIu32
                  "; measure with: hpcrun-lite --scaling 1,2,4 COMMAND",
                  names[0], asked_threads(&runs[0]));
  return EXIT_USAGE;
}

/* ---- figures ---- */

/* Fills order[] with the numbers of the runs, those with the fewest threads first. */
static void sort_runs(const struct job *runs, uint32_t count, uint32_t *order)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    for (; at && asked_threads(&runs[order[at - 1]]) > asked_threads(&runs[i]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

/* The speedup over `base` threads that is expected from a run's work and span. */
static double forecast(const struct job *run, uint32_t threads, uint32_t base)
{
  double of_base = speedup_estimate(&run->profile, base);
  return of_base > 0 ? speedup_estimate(&run->profile, threads) / of_base : NAN;
}

static void fill_runs(const struct job *runs, uint32_t count, const uint32_t *order, bool weak,
                      struct scaling_run *figures)
{
  uint32_t base = asked_threads(&runs[order[0]]), bases = 0;
  while (bases < count && asked_threads(&runs[order[bases]]) == base)
    bases++;
  for (uint32_t i = 0; i < count; i++) {
    const struct job *run = &runs[order[i]];
    const struct efficiency *efficiency = &run->report.efficiency;
    struct totals_missing_cores missing = totals_missing_cores(&run->totals);
    uint32_t threads = asked_threads(run);
    figures[i] = (struct scaling_run){.threads = threads,
                                      .used = run->totals.openmp_processes ? used_threads(&run->profile) : 0,
                                      .elapsed_s = (double)run->totals.elapsed_ns / 1e9,
                                      .work_s = tree_has_time(&run->columns) ? (double)run->totals.work_ns / 1e9 : NAN,
                                      .without_core = missing.without_core,
                                      .stolen = missing.stolen,
                                      .forecast_base = weak ? NAN : 0,
                                      .forecast = forecast(run, threads, base)};
    for (int factor = 0; factor < SCALING_FACTORS; factor++)
      figures[i].factors[factor] = efficiency->known ? efficiency->value[factor] : NAN;
    for (uint32_t j = 0; j < bases; j++)
      figures[i].forecast_base += forecast(&runs[order[j]], threads, base) / bases;
  }
}

/* ---- contexts ---- */

/* Adds the run's contexts to the joined tree, its values to the columns of run `position`. */
static void join_run(struct job *job, struct comparison *comparison, const struct job *run, uint32_t position)
{
  struct run_map map;
  const struct tree_columns *columns = &run->columns;
  const uint32_t wanted[SCALING_COLUMNS] = {[SCALING_INFLATION] = columns->work,
                                            [SCALING_OVERHEAD] = columns->overhead,
                                            [SCALING_LOCKWAIT] = columns->lockwait,
                                            [SCALING_IDLENESS] = columns->idleness,
                                            [SCALING_SAMPLES] = columns->samples};
  run_map_init(run, job, &map);
  for (uint32_t i = 0; i < run->report.tree->columns; i++)
    map.columns[i] = MODEL_NONE;
  for (uint32_t i = 0; i < SCALING_COLUMNS; i++)
    if (wanted[i] != MODEL_NONE)
      map.columns[wanted[i]] = position * SCALING_COLUMNS + i;
  compare_add(&comparison->compare, COMPARE_NEW, run->report.tree, &map.map);
  run_map_release(&map);
}

static void compute(struct job *job, struct comparison *comparison)
{
  const struct job *runs = comparison->runs[COMPARE_NEW];
  uint32_t count = comparison->counts[COMPARE_NEW], *order = xcalloc(count, sizeof *order);
  struct scaling_run *figures = xcalloc(count, sizeof *figures);
  bool weak = is_weak(&runs[0]), timed = true;
  for (uint32_t i = 0; i < count; i++)
    timed = timed && tree_has_time(&runs[i].columns);
  sort_runs(runs, count, order);
  fill_runs(runs, count, order, weak, figures);
  job->report.totals = &runs[order[count - 1]].totals;
  compare_begin(&comparison->compare, count * SCALING_COLUMNS, job->report.totals->command);
  for (uint32_t i = 0; i < count; i++)
    join_run(job, comparison, &runs[order[i]], i);
  scaling_compute(figures, count, weak, timed, &comparison->compare.sides[COMPARE_NEW].tree, &comparison->scaling);
  free(order);
  free(figures);
  comparison->scaling.cores = cores(&runs[0].profile);
  uint32_t contexts = comparison->scaling.contexts, most = job->options.limits.rows;
  if (!most && job->options.format == OPTIONS_TEXT)
    most = TEXT_ROWS;
  job->report.limits.rows = most ? MIN(most, contexts) : contexts;
  job->report.limits.left_out = contexts - job->report.limits.rows;
}

int scaling_pipeline(struct job *job, struct comparison *comparison)
{
  if (job->options.view == OPTIONS_SUMMARY)
    job->options.view = OPTIONS_TOPDOWN; /* contexts are those of the top-down tree */
  scaling_directories(&job->options, comparison);
  int status = compare_load_runs(job, comparison);
  if (!status)
    status = check_runs(comparison);
  if (status)
    return status;
  job->report = (struct report){.view = "scaling",
                                .profile = &job->profile,
                                .names = &job->names,
                                .columns = &job->columns,
                                .command.arguments = comparison->directories[COMPARE_NEW][0],
                                .legend = job->options.legend,
                                .filtered = comparison->result.filtered[COMPARE_NEW],
                                .scaling = &comparison->scaling};
  profile_filtered(&comparison->runs[COMPARE_NEW][0].profile, comparison->result.filtered[COMPARE_NEW],
                   sizeof comparison->result.filtered[COMPARE_NEW]);
  comparison->has_catalog = true;
  catalog_init(&job->profile.catalog);
  compute(job, comparison);
  return 0;
}
