#include "hpcprof-lite/analysis/region_threads.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORES_MAX = 4096 /* with more, no forecast is tried */ };

static const double close_to_best = 0.01; /* a time that is longer by no more is as good */
static const double tolerance = 0.25;     /* of the measured time: how far the forecast of it may be away */
static const double tool_most = 0.9;      /* of a region's time */

static double seconds(uint64_t ns)
{
  return (double)ns * 1e-9;
}

/* ---- the model ---- */

/* Work with that many threads, as a part of what was measured. */
static double inflated(const struct region_threads_times *times, double threads)
{
  double counted = times->inflation < 0 ? fmin(threads, times->threads) : threads;
  return (1 + times->inflation * (counted - 1)) / (1 + times->inflation * (times->threads - 1));
}

/* The bounds of a greedy schedule. */
static double least_s(const struct region_threads_times *times, double threads)
{
  return inflated(times, threads) * fmax(times->span_s, times->work_s / threads);
}

static double most_s(const struct region_threads_times *times, double threads)
{
  return inflated(times, threads) * (times->span_s + (times->work_s - times->span_s) / threads);
}

double region_threads_starts(const struct region_threads_times *times, double threads)
{
  return threads > 1 ? times->executions * (times->first_s + times->further_s * (threads - 1)) : 0;
}

/* Where the measured run lies between the bounds: 0 to 1. */
static double overlap(const struct region_threads_times *times)
{
  double least = least_s(times, times->threads), between = most_s(times, times->threads) - least;
  double measured = times->elapsed_s - region_threads_starts(times, times->threads) - least;
  return between > 0 ? fmin(fmax(measured / between, 0), 1) : 0;
}

double region_threads_forecast(const struct region_threads_times *times, double threads)
{
  assert(threads >= 1 && times->threads >= 1 && times->span_s <= times->work_s);
  double least = least_s(times, threads);
  return region_threads_starts(times, threads) + least + overlap(times) * (most_s(times, threads) - least);
}

/* Whether it would be clearly shorter with more threads if work could be divided among them at will, as it can where a
 * loop gets more pieces then. */
static bool may_gain_with_more(const struct region_threads_times *times, uint32_t best, uint32_t cores)
{
  double limit_s = region_threads_forecast(times, best) * (1 - close_to_best);
  for (uint32_t i = best + 1; i <= cores; i++)
    if (region_threads_starts(times, i) + inflated(times, i) * times->work_s / i < limit_s)
      return true;
  return false;
}

void region_threads_choose(const struct region_threads_times *times, uint32_t cores, struct region_threads *result)
{
  assert(cores >= 1 && times->threads >= 1);
  *result = (struct region_threads){.times = *times};
  uint32_t threads = (uint32_t)times->threads, best = 1;
  double here_s = region_threads_forecast(times, threads), shortest_s = INFINITY;
  if (threads < 2 || fabs(here_s - times->elapsed_s) > tolerance * times->elapsed_s)
    return;
  for (uint32_t i = 1; i <= MAX(cores, threads); i++)
    shortest_s = fmin(shortest_s, region_threads_forecast(times, i));
  while (region_threads_forecast(times, best) > shortest_s * (1 + close_to_best))
    best++;
  if (best >= threads && may_gain_with_more(times, best, cores))
    return;
  result->best = best;
  result->gain_s = fmax(here_s - region_threads_forecast(times, best), 0);
}

/* ---- what is measured ---- */

/* Sums over the entries of a region. */
struct region_sum {
  double executions, total_s;
  double events; /* executions of constructs by threads, in the region */
  bool nested;
};

/* A thread's part in a region. */
struct part {
  double count, start_s;
};

/* What is found in the tree first. */
struct survey {
  const struct construct_tree *tree;
  uint32_t *next;       /* [entry of a region] the next entry of the same one, 0: none; [0] has no meaning */
  uint32_t *last;       /* [number of a region] its last entry so far, 0: none */
  bool *first, *inside; /* [entry] the first one of a region; it is in a region */
  double *before;       /* [entry, or count] executions of constructs by threads in the entries before it */
  double *work_s, *span_s, *instances; /* [directive] of all copies of it; 0: not known */
  struct part *parts;                  /* [thread] of the region in turn */
  double tool_s;                       /* this tool's time for each execution of a construct in a region */
};

/* The cores on which the process could run; 1 at least. */
static uint32_t cores_of(const struct profile_process *process)
{
  uint32_t cores = MIN(profile_within_quota(process, process->cpus), CORES_MAX);
  return MAX(cores, 1);
}

static void find_places(struct survey *survey, const struct profile_process *process)
{
  const struct construct_tree *tree = survey->tree;
  double events = 0, tool_s = 0;
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    bool region = construct_is_region(entry->kind);
    survey->inside[i] = i && (survey->inside[entry->parent] || construct_is_region(tree->entries[entry->parent].kind));
    events += survey->inside[i] || region ? (double)entry->sum.count : 0;
    survey->before[i + 1] = survey->before[i] + (double)entry->sum.count;
    if (!region)
      continue;
    uint32_t *last = &survey->last[entry->region];
    survey->first[i] = !*last;
    survey->next[*last] = i;
    *last = i;
  }
  for (uint32_t i = 0; i < process->threads_count; i++)
    tool_s += seconds(process->threads[i].tool_ns);
  survey->tool_s = tool_s / fmax(events, 1);
}

/* ---- runs with one thread ---- */

static bool same_module(const struct catalog_module *x, const struct catalog_module *y)
{
  if (x->build_id_size || y->build_id_size)
    return x->build_id_size == y->build_id_size && !memcmp(x->build_id, y->build_id, x->build_id_size);
  return !x->generated && !y->generated && !strcmp(x->path, y->path);
}

/* Returns the region of the other run that has the same place; NULL if there is none. */
static const struct profile_directive *find_same(const struct profile *profile, const struct profile_directive *region,
                                                 const struct profile *other)
{
  const struct catalog *own = &profile->catalog, *others = &other->catalog;
  for (uint32_t i = 1; i < other->workspan.directives_count; i++) {
    const struct profile_directive *same = &other->workspan.directives[i];
    if (same->kind == region->kind && same->offset == region->offset && same->counted &&
        same->module < others->modules_count &&
        same_module(&own->modules[region->module], &others->modules[same->module]))
      return same;
  }
  return NULL;
}

void region_threads_add_alone(const struct profile *profile, const struct names *names, const struct profile *one,
                              struct region_threads_alone *alone)
{
  size_t count = profile->workspan.directives_count;
  if (!alone->work_s) {
    alone->work_s = xcalloc(count, sizeof *alone->work_s);
    alone->instances = xcalloc(count, sizeof *alone->instances);
  }
  alone->runs++;
  for (uint32_t i = 1; i < count; i++) {
    const struct profile_directive *region = &profile->workspan.directives[i];
    if (!construct_is_region(region->kind) || !region->counted || region->module >= profile->catalog.modules_count)
      continue;
    uint32_t first = names->directives[i].first;
    const struct profile_directive *same = find_same(profile, region, one);
    if (!same || !one->workspan.known || !one->workspan.is_time)
      continue;
    alone->work_s[first] += seconds(same->work);
    model_add(&alone->instances[first], same->instances);
  }
}

void region_threads_release_alone(struct region_threads_alone *alone)
{
  free(alone->work_s);
  free(alone->instances);
  *alone = (struct region_threads_alone){0};
}

/* By how much each further thread makes the work of a region longer.  Runs that executed it another number of times
 * say nothing. */
static double inflation(const struct region_threads_alone *alone, uint32_t directive, double instances,
                        const struct region_threads_times *times)
{
  assert(times->threads > 1);
  if (!alone->runs || alone->work_s[directive] <= 0 ||
      fabs((double)alone->instances[directive] - instances * alone->runs) > 0)
    return 0;
  return (times->work_s * alone->runs / alone->work_s[directive] - 1) / (times->threads - 1);
}

/* ---- all regions ---- */

static void find_work(struct survey *survey, const struct profile *profile, const struct names *names)
{
  for (uint32_t i = 1; i < profile->workspan.directives_count; i++) {
    const struct profile_directive *directive = &profile->workspan.directives[i];
    uint32_t first = names->directives[i].first;
    survey->work_s[first] += directive->counted ? seconds(directive->work) : 0;
    survey->span_s[first] += directive->counted ? seconds(directive->span) : 0;
    survey->instances[first] += directive->counted ? (double)directive->instances : 0;
  }
}

/* Adds an entry of a region, and its threads' parts. */
static void add_entry(struct survey *survey, uint32_t number, struct region_sum *sum)
{
  assert(number < survey->tree->count);
  const struct construct_entry *entry = &survey->tree->entries[number];
  sum->executions += (double)entry->sum.executions;
  sum->total_s += seconds(construct_exec(&entry->sum));
  sum->events += survey->before[entry->end] - survey->before[number];
  sum->nested |= survey->inside[number];
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    const struct construct_figures *figures = &entry->lines[i].figures;
    struct part *part = &survey->parts[entry->lines[i].thread];
    part->count += (double)figures->count;
    part->start_s += seconds(model_sum(model_sum(figures->enter, figures->exit), figures->wait_own));
  }
}

/* Sets the times of a region, but for work and span; false if its teams are not always of the same threads. */
static bool set_times(const struct survey *survey, const struct region_sum *sum, struct region_threads_times *times)
{
  double least_s = INFINITY, most_s = 0;
  uint32_t threads = 0;
  for (uint32_t i = 0; i < survey->tree->threads_count; i++) {
    const struct part *part = &survey->parts[i];
    if (part->count <= 0)
      continue;
    if (fabs(part->count - sum->executions) > 0)
      return false;
    threads++;
    least_s = fmin(least_s, part->start_s / part->count);
    most_s = fmax(most_s, part->start_s / part->count);
  }
  if (threads < 2 || sum->nested || sum->total_s <= 0)
    return false;
  double own = 1 - fmin(survey->tool_s * sum->events / sum->total_s, tool_most);
  *times = (struct region_threads_times){.executions = sum->executions,
                                         .threads = threads,
                                         .elapsed_s = own * sum->total_s / threads,
                                         .first_s = own * least_s,
                                         .further_s = own * (most_s - least_s) / (threads - 1)};
  return true;
}

/* Chooses for the region whose first entry that is. */
static void choose(struct survey *survey, const struct region_threads_alone *alone, uint32_t first, uint32_t cores,
                   struct region_threads *result)
{
  const struct construct_entry *region = &survey->tree->entries[first];
  struct region_sum sum = {0};
  struct region_threads_times times;
  memset(survey->parts, 0, survey->tree->threads_count * sizeof *survey->parts);
  for (uint32_t i = first; i; i = survey->next[i])
    add_entry(survey, i, &sum);
  double work_s = survey->work_s[region->directive], span_s = survey->span_s[region->directive];
  if (!region->directive || span_s <= 0 || !set_times(survey, &sum, &times))
    return;
  times.work_s = fmax(work_s, span_s);
  times.span_s = span_s;
  times.inflation = inflation(alone, region->directive, survey->instances[region->directive], &times);
  region_threads_choose(&times, cores, result);
}

void region_threads_compute(const struct profile *profile, const struct names *names, const struct construct_tree *tree,
                            const struct region_threads_alone *alone, struct region_threads_list *result)
{
  *result = (struct region_threads_list){0};
  if (!tree->threads_count || tree->several || !profile->workspan.known || !profile->workspan.is_time ||
      profile->range.limited)
    return;
  const struct profile_process *process = &profile->processes[tree->threads[0].process];
  size_t entries = tree->count, directives = profile->workspan.directives_count;
  struct survey survey = {.tree = tree,
                          .next = xcalloc(entries, sizeof *survey.next),
                          .last = xcalloc(entries, sizeof *survey.last),
                          .first = xcalloc(entries, sizeof *survey.first),
                          .inside = xcalloc(entries, sizeof *survey.inside),
                          .before = xcalloc(entries + 1, sizeof *survey.before),
                          .work_s = xcalloc(directives, sizeof *survey.work_s),
                          .span_s = xcalloc(directives, sizeof *survey.span_s),
                          .instances = xcalloc(directives, sizeof *survey.instances),
                          .parts = xcalloc(tree->threads_count, sizeof *survey.parts)};
  find_places(&survey, process);
  find_work(&survey, profile, names);
  result->regions = xcalloc(entries, sizeof *result->regions);
  result->count = tree->count; /* numbers of constructs are smaller */
  for (uint32_t i = 1; i < tree->count; i++)
    if (survey.first[i])
      choose(&survey, alone, i, cores_of(process), &result->regions[tree->entries[i].region]);
  free(survey.next);
  free(survey.last);
  free(survey.first);
  free(survey.inside);
  free(survey.before);
  free(survey.work_s);
  free(survey.span_s);
  free(survey.instances);
  free(survey.parts);
}

const struct region_threads *region_threads_of(const struct region_threads_list *list, uint32_t construct)
{
  return construct < list->count && list->regions[construct].best ? &list->regions[construct] : NULL;
}

void region_threads_release(struct region_threads_list *list)
{
  free(list->regions);
  *list = (struct region_threads_list){0};
}
