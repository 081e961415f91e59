#include "hpcprof-lite/messages/line_fit.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1000, HALVINGS = 50, SHARPER = 50, VARIABLES = 5, ROWS = 8 };

/* Variables are the offsets and slopes of all lines but the first, and by how much bounds may be violated.  What is
 * made least is weight * that - the sum of the logarithms of all distances. */
struct fit {
  const struct line *lines;
  const struct line_bound *bounds;
  size_t bounds_count, distances; /* to the bounds, and to both limits of each slope */
  uint32_t count;                 /* of variables; the last one is the violation */
  uint32_t *first;                /* [row] the first column that is not 0 */
  double *at, *step;              /* [variable] */
  double *matrix, **rows;         /* [row][column - first[row]] of second derivatives, then of their Cholesky factor */
  double weight;
};

/* A distance: constant + the sum of factors * variables. */
struct distance {
  double constant;
  uint32_t count, variables[VARIABLES];
  double factors[VARIABLES];
};

static void add_term(struct distance *distance, uint32_t variable, double factor)
{
  distance->variables[distance->count] = variable;
  distance->factors[distance->count++] = factor;
}

static void add_line(struct distance *distance, uint32_t line, double factor, double x)
{
  if (!line)
    return;
  add_term(distance, 2 * line - 2, factor);
  add_term(distance, 2 * line - 1, factor * x);
}

static struct distance distance_of(const struct fit *fit, size_t number)
{
  struct distance distance = {0};
  if (number < fit->bounds_count) {
    const struct line_bound *bound = &fit->bounds[number];
    distance.constant = bound->more;
    add_line(&distance, bound->from, -1, bound->x_from);
    add_line(&distance, bound->to, 1, bound->x_to);
    add_term(&distance, fit->count - 1, 1);
  } else {
    uint32_t limit = (uint32_t)(number - fit->bounds_count), line = limit / 2 + 1;
    distance.constant = fit->lines[line].slope_most;
    add_term(&distance, 2 * line - 1, limit % 2 ? 1 : -1);
  }
  return distance;
}

static double sum_of(const struct distance *distance, const double *variables)
{
  double sum = 0;
  for (uint32_t i = 0; i < distance->count; i++)
    sum += distance->factors[i] * variables[distance->variables[i]];
  return sum;
}

/* ---- the matrix ---- */

static double *entry(const struct fit *fit, uint32_t row, uint32_t column)
{
  return &fit->rows[row][column - fit->first[row]];
}

/* Makes room for the entries of each row from the first one that can differ from 0. */
static void make_rows(struct fit *fit)
{
  size_t size = 0;
  for (uint32_t i = 0; i < fit->count; i++)
    fit->first[i] = i + 1 == fit->count ? 0 : i / 2 * 2;
  for (size_t k = 0; k < fit->bounds_count; k++) {
    uint32_t low = MIN(fit->bounds[k].from, fit->bounds[k].to), high = MAX(fit->bounds[k].from, fit->bounds[k].to);
    for (uint32_t i = 2 * high - 2; low && i < 2 * high; i++)
      fit->first[i] = MIN(fit->first[i], 2 * low - 2);
  }
  for (uint32_t i = 0; i < fit->count; i++)
    size += i + 1 - fit->first[i];
  fit->matrix = xcalloc(size, sizeof *fit->matrix);
  double *row = fit->matrix;
  for (uint32_t i = 0; i < fit->count; row += i + 1 - fit->first[i], i++)
    fit->rows[i] = row;
}

/* Adds what a distance contributes to the gradient, in `step`, and to the matrix. */
static void add_derivatives(const struct fit *fit, const struct distance *distance)
{
  double length = distance->constant + sum_of(distance, fit->at);
  for (uint32_t i = 0; i < distance->count; i++) {
    double part = distance->factors[i] / length;
    fit->step[distance->variables[i]] -= part;
    for (uint32_t k = 0; k < distance->count; k++)
      if (distance->variables[k] <= distance->variables[i])
        *entry(fit, distance->variables[i], distance->variables[k]) += part * distance->factors[k] / length;
  }
}

/* Four sums, so that additions need not wait for each other. */
static double dot(const double *a, const double *b, uint32_t count)
{
  double first = 0, second = 0, third = 0, fourth = 0;
  uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    first += a[i] * b[i];
    second += a[i + 1] * b[i + 1];
    third += a[i + 2] * b[i + 2];
    fourth += a[i + 3] * b[i + 3];
  }
  for (; i < count; i++)
    first += a[i] * b[i];
  return first + second + third + fourth;
}

/* Replaces an entry left of the diagonal, after those before it in its row, and after row `column`. */
static void factor_entry(const struct fit *fit, uint32_t row, uint32_t column)
{
  uint32_t first = MAX(fit->first[row], fit->first[column]);
  if (column < fit->first[row])
    return;
  double *value = entry(fit, row, column);
  *value -= dot(entry(fit, row, first), entry(fit, column, first), column - first);
  *value /= *entry(fit, column, column);
}

/* The same for a diagonal one.  A variable that the matrix does not determine any more will not change. */
static void factor_diagonal(const struct fit *fit, uint32_t row)
{
  static const double rounding = 1e-14, fixed = 1e100;
  double *value = entry(fit, row, row), left = *value - dot(fit->rows[row], fit->rows[row], row - fit->first[row]);
  *value = left > rounding * *value ? sqrt(left) : fixed;
}

/* Replaces the matrix by its Cholesky factor, so many rows at a time, as the rows before them are not in the cache. */
static void factor(const struct fit *fit)
{
  for (uint32_t begin = 0; begin < fit->count; begin += ROWS) {
    uint32_t end = MIN(begin + ROWS, fit->count);
    for (uint32_t column = 0; column < end; column++) {
      if (column >= begin)
        factor_diagonal(fit, column);
      for (uint32_t row = MAX(begin, column + 1); row < end; row++)
        factor_entry(fit, row, column);
    }
  }
}

/* Replaces the gradient in `step` by Newton's step.  Returns the square of Newton's decrement. */
static double solve(const struct fit *fit)
{
  double square = 0;
  for (uint32_t i = 0; i < fit->count; i++) {
    fit->step[i] = -fit->step[i] - dot(fit->rows[i], fit->step + fit->first[i], i - fit->first[i]);
    fit->step[i] /= *entry(fit, i, i);
    square += fit->step[i] * fit->step[i];
  }
  for (uint32_t i = fit->count; i-- > 0;) {
    fit->step[i] /= *entry(fit, i, i);
    for (uint32_t k = fit->first[i]; k < i; k++)
      fit->step[k] -= *entry(fit, i, k) * fit->step[i];
  }
  return square;
}

/* ---- steps ---- */

static double find_step(const struct fit *fit)
{
  uint32_t last = fit->count - 1;
  memset(fit->step, 0, fit->count * sizeof *fit->step);
  memset(fit->matrix, 0, (size_t)(entry(fit, last, last) + 1 - fit->matrix) * sizeof *fit->matrix);
  fit->step[last] = fit->weight;
  for (size_t i = 0; i < fit->distances; i++) {
    struct distance distance = distance_of(fit, i);
    add_derivatives(fit, &distance);
  }
  factor(fit);
  return solve(fit);
}

/* Returns the value that is made least, after a part of the step. */
static double value_after(const struct fit *fit, double part)
{
  double value = fit->weight * (fit->at[fit->count - 1] + part * fit->step[fit->count - 1]);
  for (size_t i = 0; i < fit->distances; i++) {
    struct distance distance = distance_of(fit, i);
    double length = distance.constant + sum_of(&distance, fit->at) + part * sum_of(&distance, fit->step);
    if (!(length > 0))
      return INFINITY;
    value -= log(length);
  }
  return value;
}

/* Goes as far as the value falls.  Returns whether it does. */
static bool go(const struct fit *fit, double square)
{
  static const double expected = 0.1;
  double before = value_after(fit, 0), part = 1;
  for (unsigned i = 0; i < HALVINGS; i++, part /= 2) {
    if (!(value_after(fit, part) <= before - expected * part * square))
      continue;
    for (uint32_t k = 0; k < fit->count; k++)
      fit->at[k] += part * fit->step[k];
    return true;
  }
  return false;
}

/* Whether the violation is known well enough: the least one is no less than it - open. */
static bool is_good(double violation, double open)
{
  static const double tiny = 0.01, part = 1e-3;
  return open <= tiny || open <= (violation < 0 ? -violation : part * violation);
}

static void minimise(struct fit *fit)
{
  static const double centred = 0.1; /* after such a step, the violation is about distances / weight above the least */
  double most = 1;
  for (size_t i = 0; i < fit->bounds_count; i++)
    most = fmax(most, -2 * fit->bounds[i].more);
  fit->at[fit->count - 1] = most;
  fit->weight = (double)fit->distances / most;
  for (unsigned i = 0; i < STEPS_MAX; i++) {
    double square = find_step(fit);
    if (go(fit, square) && square > centred)
      continue;
    if (is_good(fit->at[fit->count - 1], 2 * (double)fit->distances / fit->weight))
      break;
    fit->weight *= SHARPER;
  }
}

void line_fit(struct line *lines, uint32_t count, const struct line_bound *bounds, size_t bounds_count)
{
  uint32_t variables = 2 * count - 1;
  struct fit fit = {.lines = lines, .bounds = bounds, .bounds_count = bounds_count, .count = variables};
  fit.distances = bounds_count + 2 * (size_t)(count - 1);
  fit.first = xcalloc(variables, sizeof *fit.first);
  fit.rows = xcalloc(variables, sizeof *fit.rows);
  fit.at = xcalloc(variables, sizeof *fit.at);
  fit.step = xcalloc(variables, sizeof *fit.step);
  make_rows(&fit);
  minimise(&fit);
  for (uint32_t i = 1; i < count; i++) {
    lines[i].offset = fit.at[2 * i - 2];
    lines[i].slope = fit.at[2 * i - 1];
  }
  free(fit.first);
  free(fit.rows);
  free(fit.at);
  free(fit.step);
  free(fit.matrix);
}
