#include "hpcprof-lite/live/reading.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/live/difference.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/views/derived.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/thread_order.h"
#include "hpcprof-lite/views/topdown.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { HIDDEN_BELOW = 200 }; /* contexts below 1 / 200 of the weight */

uint64_t reading_now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t reading_cpu_ns(void)
{
  static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof whose / sizeof *whose; i++) {
    struct rusage usage;
    if (getrusage(whose[i], &usage))
      continue;
    sum += (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
  }
  return sum;
}

/* ---- files ---- */

static void free_paths(char **paths, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    free(paths[i]);
  free(paths);
}

char *reading_signature(const struct reading_source *source)
{
  struct problems ignored = {0};
  char **paths = NULL, *text = NULL;
  uint32_t count = 0;
  size_t size;
  find_measurements(source->directories, source->directories_count, &ignored, &paths, &count);
  FILE *stream = xopen_memstream(&text, &size);
  for (uint32_t i = 0; i < count; i++) {
    struct stat found = {0};
    if (!stat(paths[i], &found))
      fprintf(stream, "%s %ju %jd %jd.%09ld\n", paths[i], (uintmax_t)found.st_ino, (intmax_t)found.st_size,
              (intmax_t)found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
  }
  xclose(stream, &text);
  problems_release(&ignored);
  free_paths(paths, count);
  return text;
}

/* Notes the first problem and how many there are. */
static void note_problems(struct reading *reading)
{
  size_t count = 0;
  const char *first = NULL;
  for (uint32_t i = 0; i < reading->profile.processes_count; i++) {
    const struct problems *problems = &reading->profile.problems[i];
    if (!first && problems->count)
      first = problems->lines[0];
    count += problems->count;
  }
  if (count > 1)
    snprintf(reading->note, sizeof reading->note, "%zu problems, such as: %s", count, first);
  else if (count)
    snprintf(reading->note, sizeof reading->note, "%s", first);
}

/* Finds and merges the files.  Returns 0, or an error if source->between has ended it. */
static int read_files(const struct reading_source *source, struct reading *reading)
{
  assert(source->directories_count);
  struct problems problems = {0};
  char **paths = NULL;
  uint32_t count = 0;
  find_measurements(source->directories, source->directories_count, &problems, &paths, &count);
  int status = merge_files(paths, count, 1, source->baseline, source->between, &reading->profile);
  reading->files = count;
  if (!status)
    note_problems(reading);
  if (!status && count && problems.count && !*reading->note)
    snprintf(reading->note, sizeof reading->note, "%s", problems.lines[0]);
  problems_release(&problems);
  free_paths(paths, count);
  return status;
}

/* Whether all processes of the reading before were read again. */
static bool is_complete(const struct reading *before, struct reading *reading)
{
  const char *example;
  uint32_t lacking = before ? difference_lacking(&before->profile, &reading->profile, &example) : 0;
  if (lacking)
    snprintf(reading->note, sizeof reading->note, "%" PRIu32 " process%s cannot be read again, such as %s", lacking,
             lacking == 1 ? "" : "es", example);
  return !lacking;
}

/* ---- rows ---- */

/* Whether some process runs: on this machine, or elsewhere, where only its samples show it. */
static bool is_growing(const struct reading *before, const struct reading *reading)
{
  bool unfinished = false;
  for (uint32_t i = 0; i < reading->profile.processes_count; i++) {
    const struct profile_process *process = &reading->profile.processes[i];
    if (process->running && !process->copied)
      return true;
    unfinished |= process->usable && process->unfinished && !process->copied;
  }
  return unfinished && (!before || difference_any(&before->profile, &reading->profile));
}

/* How long the run has taken: its figures extend to the last sample, but a process that sleeps has none. */
static uint64_t elapsed_ns(const struct reading *reading)
{
  struct timespec time;
  uint64_t begin_ns = UINT64_MAX;
  for (uint32_t i = 0; i < reading->profile.processes_count; i++)
    if (reading->profile.processes[i].usable)
      begin_ns = MIN(begin_ns, reading->profile.processes[i].start_ns);
  clock_gettime(CLOCK_REALTIME, &time);
  uint64_t now_ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec, known_ns = reading->totals.elapsed_ns;
  return reading->totals.running && now_ns > begin_ns ? MAX(now_ns - begin_ns, known_ns) : known_ns;
}

/* Makes the trees. */
static void build_rows(struct reading *reading)
{
  assert(reading->columns.count <= CATALOG_COLUMNS_MAX);
  struct profile *profile = &reading->profile;
  size_t places = (size_t)profile->contexts.count + profile->workspan.directives_count + 1;
  struct tree_order order = {.by = SORT_WEIGHT_INCL, .columns = &reading->columns};
  uint32_t *row_of = xmalloc(places * sizeof *row_of);
  topdown_build(profile, &reading->names, &reading->columns, reading->totals.command, (struct topdown_choice){0},
                &reading->tree, row_of);
  free(row_of);
  tree_inclusive(&reading->tree);
  assert(check_tree_sums(&reading->tree));
  tree_finish(&reading->tree, &order, false);
  assert(check_finished_tree(&reading->tree));
  derived_flat(&reading->tree, &reading->columns, &reading->flat, NULL);
  tree_finish(&reading->flat, &order, false);
  assert(check_finished_tree(&reading->flat));
}

/* Computes everything from the profile. */
static void compute(struct reading_source *source, struct reading *before, struct reading *reading)
{
  struct profile *profile = &reading->profile;
  struct profile *earlier = before ? &before->profile : NULL;
  tree_columns_init(&profile->catalog, &reading->columns);
  difference_processes(earlier, profile, &reading->part);
  difference_contexts(earlier, profile);
  totals_compute(profile, &reading->columns, source->baseline, &reading->totals);
  totals_compute(&reading->part, &reading->columns, source->baseline, &reading->part_totals);
  reading->elapsed_ns = elapsed_ns(reading);
  difference_columns(profile->catalog.columns_count, &reading->columns, &reading->part_columns);
  uint64_t begin_ns = reading_cpu_ns(), modules_read = source->kept.modules_read;
  symbolize_kept(profile, &source->where, 1, &source->kept, &reading->names);
  reading->lookup_ns = source->kept.modules_read > modules_read ? reading_cpu_ns() - begin_ns : 0;
  build_rows(reading);
  thread_order(profile, &reading->threads, &reading->threads_count);
}

int reading_take(struct reading_source *source, struct reading *before, struct reading *reading)
{
  assert(before != reading);
  if (before && !before->profile.processes_usable)
    before = NULL;
  *reading = (struct reading){.at_ns = reading_now_ns()};
  reading->lasted_ns = before ? reading->at_ns - before->at_ns : 0;
  int status = read_files(source, reading);
  if (status)
    return status;
  if (!is_complete(before, reading))
    return ERR_INPUT;
  reading->growing = is_growing(before, reading);
  reading->has_interval = before && reading->growing;
  if (reading->profile.processes_usable)
    compute(source, before, reading);
  return 0;
}

void reading_release(struct reading *reading)
{
  free(reading->functions);
  free(reading->contexts);
  free(reading->threads);
  tree_release(&reading->flat);
  tree_release(&reading->tree);
  totals_release(&reading->totals);
  totals_release(&reading->part_totals);
  symbolize_release(&reading->names);
  difference_release(&reading->part);
  if (reading->profile.processes)
    profile_release(&reading->profile);
  *reading = (struct reading){0};
}

/* ---- lists ---- */

struct sorter {
  const struct tree *tree;
  const struct tree_columns *columns;
};

static int by_spent(const void *a, const void *b, void *argument)
{
  const struct sorter *sorter = argument;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  uint64_t of_x = tree_spent(sorter->tree, sorter->columns, x, false);
  uint64_t of_y = tree_spent(sorter->tree, sorter->columns, y, false);
  return COMPARE(of_y, of_x) ?: strcmp(sorter->tree->rows[x].name, sorter->tree->rows[y].name) ?: COMPARE(x, y);
}

/* Finds the contexts with the most time of their own. */
static void find_hot(struct reading *reading, const struct tree_columns *columns)
{
  assert(reading->tree.count);
  const struct tree *tree = &reading->tree;
  reading->hot_count = 0;
  for (uint32_t row = 1; row < tree->count; row++) {
    uint64_t own = tree_spent(tree, columns, row, false);
    uint32_t position = reading->hot_count;
    while (position && tree_spent(tree, columns, reading->hot[position - 1], false) < own)
      position--;
    if (!own || position == READING_HOT)
      continue;
    reading->hot_count += reading->hot_count < READING_HOT;
    memmove(reading->hot + position + 1, reading->hot + position,
            (reading->hot_count - 1 - position) * sizeof *reading->hot);
    reading->hot[position] = row;
  }
}

void reading_sort(struct reading *reading, bool of_interval)
{
  assert(reading->tree.count && reading->flat.count);
  of_interval = of_interval && reading->has_interval;
  const struct tree_columns *columns = of_interval ? &reading->part_columns : &reading->columns;
  struct sorter sorter = {.tree = &reading->flat, .columns = columns};
  struct tree_order order = {.by = SORT_WEIGHT_INCL, .columns = columns};
  free(reading->functions);
  free(reading->contexts);
  reading->functions_count = reading->contexts_count = 0;
  reading->functions = xcalloc(reading->flat.count, sizeof *reading->functions);
  reading->contexts = xcalloc(reading->tree.count, sizeof *reading->contexts);
  for (uint32_t i = 1; i < reading->flat.count; i++)
    if (tree_spent(&reading->flat, &reading->columns, i, false))
      reading->functions[reading->functions_count++] = i;
  qsort_r(reading->functions, reading->functions_count, sizeof *reading->functions, by_spent, &sorter);
  if (!reading->tree.count)
    return;
  find_hot(reading, columns);
  tree_finish(&reading->tree, &order, true);
  assert(check_finished_tree(&reading->tree));
  uint64_t all = tree_weight(&reading->tree, columns, 0, true);
  for (uint32_t i = 1; i < reading->tree.count; i++) {
    uint64_t weight = tree_weight(&reading->tree, columns, reading->tree.order[i], true);
    if (weight && weight >= all / HIDDEN_BELOW)
      reading->contexts[reading->contexts_count++] = reading->tree.order[i];
  }
}
