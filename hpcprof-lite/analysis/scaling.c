#include "hpcprof-lite/analysis/scaling.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const unsigned scaling_later_factors[SCALING_LATER] = {2, 4, 16};

/* ---- numbers of threads ---- */

ORDER(by_value, double, COMPARE(*x, *y))

static void fill_elapsed(const struct scaling_run *runs, struct scaling_point *point)
{
  assert(point->runs);
  double *sorted = xmalloc(point->runs * sizeof *sorted);
  for (uint32_t i = 0; i < point->runs; i++)
    sorted[i] = runs[point->first + i].elapsed_s;
  qsort(sorted, point->runs, sizeof *sorted, by_value);
  point->least_s = sorted[0];
  point->most_s = sorted[point->runs - 1];
  point->elapsed_s = (sorted[(point->runs - 1) / 2] + sorted[point->runs / 2]) / 2;
  free(sorted);
}

/* Groups the runs by their numbers of threads; figures that are means of runs are NAN if one run lacks them. */
static void find_points(const struct scaling_run *runs, uint32_t count, struct scaling *scaling)
{
  assert(!scaling->points_count && scaling->points);
  for (uint32_t i = 0; i < count; i++) {
    const struct scaling_run *run = &runs[i];
    bool new = !i || run->threads != runs[i - 1].threads;
    struct scaling_point *point = &scaling->points[scaling->points_count - !new];
    if (new) {
      *point = (struct scaling_point){.threads = run->threads, .used_least = run->used, .first = i};
      scaling->points_count++;
    }
    point->runs++;
    point->used_least = MIN(point->used_least, run->used);
    point->used_most = MAX(point->used_most, run->used);
  }
  for (uint32_t i = 0; i < scaling->points_count; i++)
    fill_elapsed(runs, &scaling->points[i]);
}

/* Whether each number of threads that was asked for made the program use more than the one before. */
static bool threads_grow(const struct scaling *scaling)
{
  bool grow = true;
  for (uint32_t i = 1; i < scaling->points_count; i++)
    grow = grow && (!scaling->points[i].used_least || scaling->points[i].used_least > scaling->points[i - 1].used_most);
  return grow;
}

static void fill_means(const struct scaling_run *runs, bool forecast, struct scaling_point *point, double *work_s)
{
  assert(point->runs);
  *work_s = 0;
  for (uint32_t i = 0; i < point->runs; i++) {
    const struct scaling_run *run = &runs[point->first + i];
    *work_s += run->work_s / point->runs;
    point->without_core = fmax(point->without_core, run->without_core);
    point->stolen = fmax(point->stolen, run->stolen);
    point->forecast_base += forecast ? run->forecast_base / point->runs : NAN;
    point->forecast += forecast ? run->forecast / point->runs : NAN;
    for (int factor = 0; factor < SCALING_FACTORS; factor++)
      point->factors[factor] += run->factors[factor] / point->runs;
  }
}

/* The serial fraction, NAN if p is 1 or the speedup is not known. */
static double serial_fraction(double speedup, double p)
{
  return p > 1 && speedup > 0 ? (1 / speedup - 1 / p) / (1 - 1 / p) : NAN;
}

static void fill_points(const struct scaling_run *runs, struct scaling *scaling)
{
  assert(scaling->points_count);
  double base_work_s = 0;
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *base = &scaling->points[0];
    struct scaling_point *point = &scaling->points[i];
    double p = (double)point->threads / base->threads, more = scaling->weak ? p : 1, work_s;
    fill_means(runs, scaling->forecast, point, &work_s);
    if (!i)
      base_work_s = work_s;
    point->speedup = point->elapsed_s > 0 ? more * base->elapsed_s / point->elapsed_s : NAN;
    point->efficiency = point->speedup / p;
    point->serial_fraction = scaling->weak || !scaling->forecast ? NAN : serial_fraction(point->speedup, p);
    point->work_scaling = work_s > 0 && base_work_s > 0 ? more * base_work_s / work_s : NAN;
    point->whole_s = (scaling->weak ? 1 : point->threads) * point->elapsed_s;
  }
}

/* ---- lost time ---- */

/* What is charged to a context in a run, in seconds of all threads or of one. */
static double charged(const struct scaling *scaling, uint32_t row, const struct scaling_point *point, uint32_t run,
                      int part)
{
  assert(row < scaling->tree->count && run < point->runs && part < SCALING_COLUMNS);
  uint64_t ns = tree_excl(scaling->tree, row, (point->first + run) * SCALING_COLUMNS + (uint32_t)part);
  return (double)ns / 1e9 / (scaling->weak ? point->threads : 1);
}

static double mean_part(const struct scaling *scaling, uint32_t row, const struct scaling_point *point, int part)
{
  double sum = 0;
  for (uint32_t i = 0; i < point->runs; i++)
    sum += charged(scaling, row, point, i, part);
  return sum / point->runs;
}

/* Fills values[] with what each run charges to a context. */
static struct compare_values values_of(const struct scaling *scaling, uint32_t row, const struct scaling_point *point,
                                       double *values)
{
  struct compare_values result = {.values = values, .runs = point->runs};
  for (uint32_t i = 0; i < point->runs; i++) {
    values[i] = 0;
    for (int part = 0; part < SCALING_PARTS; part++)
      values[i] += charged(scaling, row, point, i, part);
    model_add(&result.samples, tree_excl(scaling->tree, row, (point->first + i) * SCALING_COLUMNS + SCALING_SAMPLES));
  }
  return result;
}

/* Fills what a context loses, and adds it to the program's lost time.  both: room for the values of all runs. */
static void fill_row(struct scaling *scaling, uint32_t row, double *both)
{
  assert(row && row < scaling->rows);
  const struct scaling_point *base = &scaling->points[0];
  struct compare_values before = values_of(scaling, row, base, both);
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *point = &scaling->points[i];
    struct scaling_lost *lost = scaling_lost_of(scaling, row, i), *program = scaling_lost_of(scaling, 0, i);
    struct compare_values now = values_of(scaling, row, point, both + base->runs);
    lost->figure = compare_values(&before, &now, COMPARE_DISTRIBUTED);
    if (!i)
      lost->figure.probability = NAN;
    for (int part = 0; part < SCALING_PARTS; part++) {
      double mean_s = mean_part(scaling, row, point, part);
      lost->part_s[part] = mean_s - mean_part(scaling, row, base, part);
      lost->whole_s += mean_s;
      lost->lost_s += lost->part_s[part];
      program->part_s[part] += lost->part_s[part];
    }
  }
}

static void fill_program(const struct scaling_run *runs, struct scaling *scaling, double *both)
{
  for (uint32_t i = 0; i < scaling->points_count; i++) {
    const struct scaling_point *base = &scaling->points[0], *point = &scaling->points[i];
    struct scaling_lost *program = scaling_lost_of(scaling, 0, i);
    struct compare_values sides[] = {{.values = both, .runs = base->runs},
                                     {.values = both + base->runs, .runs = point->runs}};
    for (uint32_t j = 0; j < base->runs; j++)
      both[j] = (scaling->weak ? 1 : base->threads) * runs[base->first + j].elapsed_s;
    for (uint32_t j = 0; j < point->runs; j++)
      both[base->runs + j] = (scaling->weak ? 1 : point->threads) * runs[point->first + j].elapsed_s;
    program->figure = compare_values(&sides[0], &sides[1], COMPARE_EXACT);
    if (!i)
      program->figure.probability = NAN;
    program->whole_s = point->whole_s;
    program->lost_s = program->other_s = point->whole_s - base->whole_s;
    for (int part = 0; part < SCALING_PARTS; part++)
      program->other_s -= program->part_s[part];
  }
}

/* ---- more threads ---- */

/* The lost time at `threads` on the line through two others. */
static double line(double threads, double smaller, double smaller_lost, double larger, double larger_lost)
{
  assert(smaller < larger);
  double slope = (larger_lost - smaller_lost) / (larger - smaller);
  return larger_lost + slope * (threads - larger);
}

static void extrapolate(struct scaling *scaling)
{
  assert(scaling->points_count > 1);
  uint32_t last = scaling->points_count - 1;
  const struct scaling_point *base = &scaling->points[0], *smaller = &scaling->points[last - 1];
  const struct scaling_point *larger = &scaling->points[last];
  for (int i = 0; i < SCALING_LATER; i++) {
    struct scaling_later *later = &scaling->later[i];
    later->threads = larger->threads * scaling_later_factors[i];
    for (uint32_t row = 0; row < scaling->rows; row++)
      scaling->later_s[(size_t)row * SCALING_LATER + (size_t)i] =
          line(later->threads, smaller->threads, scaling_lost_of(scaling, row, last - 1)->lost_s, larger->threads,
               scaling_lost_of(scaling, row, last)->lost_s);
    double whole_s = base->whole_s + scaling->later_s[i], p = (double)later->threads / base->threads;
    later->whole_s = whole_s > 0 ? whole_s : NAN;
    later->speedup = p * base->whole_s / later->whole_s;
  }
}

double scaling_share(const struct scaling *scaling, uint32_t row, int later)
{
  assert(row < scaling->rows && later < SCALING_LATER);
  uint32_t last = scaling->points_count - 1;
  if (later < 0)
    return scaling_lost_of(scaling, row, last)->lost_s / scaling->points[last].whole_s;
  return scaling->later_s[(size_t)row * SCALING_LATER + (size_t)later] / scaling->later[later].whole_s;
}

/* A row with what it is sorted by. */
struct key {
  double lost_s;
  uint32_t row;
};

ORDER(by_lost_time, struct key, COMPARE(y->lost_s, x->lost_s) ?: COMPARE(x->row, y->row))

/* Whether a context is charged with anything in any run. */
static bool is_charged(const struct scaling *scaling, uint32_t row)
{
  bool any = false;
  for (uint32_t i = 0; i < scaling->points_count; i++)
    any |= scaling_lost_of(scaling, row, i)->whole_s > 0;
  return any;
}

/* What a context loses with four times the threads where there is a forecast, otherwise with the most. */
static double sort_key(const struct scaling *scaling, uint32_t row)
{
  assert(scaling->points_count);
  enum { FOUR_TIMES = 1 };
  if (scaling->forecast)
    return scaling->later_s[(size_t)row * SCALING_LATER + FOUR_TIMES];
  return scaling_lost_of(scaling, row, scaling->points_count - 1)->lost_s;
}

static void sort_rows(struct scaling *scaling)
{
  struct key *keys = xmalloc(scaling->rows * sizeof *keys);
  for (uint32_t row = 1; row < scaling->rows; row++)
    if (is_charged(scaling, row))
      keys[scaling->contexts++] = (struct key){sort_key(scaling, row), row};
  qsort(keys, scaling->contexts, sizeof *keys, by_lost_time);
  for (uint32_t i = 0; i < scaling->contexts; i++)
    scaling->order[i] = keys[i].row;
  free(keys);
}

void scaling_compute(const struct scaling_run *runs, uint32_t count, bool weak, bool timed, const struct tree *tree,
                     struct scaling *scaling)
{
  assert(count && runs);
  *scaling = (struct scaling){.weak = weak, .timed = timed, .tree = tree, .rows = timed ? tree->count : 1};
  size_t rows = scaling->rows;
  double *both = xcalloc(2 * (size_t)count, sizeof *both);
  scaling->points = xcalloc(count, sizeof *scaling->points);
  find_points(runs, count, scaling);
  scaling->lost = xcalloc(rows * scaling->points_count, sizeof *scaling->lost);
  scaling->later_s = xcalloc(rows * SCALING_LATER, sizeof *scaling->later_s);
  scaling->order = xcalloc(rows, sizeof *scaling->order);
  scaling->forecast = threads_grow(scaling);
  fill_points(runs, scaling);
  for (uint32_t row = 1; row < rows; row++)
    fill_row(scaling, row, both);
  fill_program(runs, scaling, both);
  if (scaling->forecast)
    extrapolate(scaling);
  sort_rows(scaling);
  for (uint32_t i = 0; i < scaling->points_count; i++)
    scaling->compared = compare_correct(&scaling->lost[i].figure, rows, scaling->points_count * sizeof *scaling->lost);
  free(both);
}

void scaling_release(struct scaling *scaling)
{
  free(scaling->points);
  free(scaling->lost);
  free(scaling->later_s);
  free(scaling->order);
  *scaling = (struct scaling){0};
}
