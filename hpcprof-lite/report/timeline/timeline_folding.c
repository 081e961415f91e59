#include "hpcprof-lite/report/timeline/timeline_folding.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/category.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of a row's last thread in its process. */
static uint32_t last_index(const struct report *report, const struct timeline_row *row)
{
  const struct timeline_lane *lane = &report->time.timeline->lanes[row->lane + row->lanes - 1];
  return report->profile->processes[lane->process].threads[lane->thread].index;
}

unsigned timeline_folding_width(const struct report *report)
{
  int widest = 0;
  for (uint32_t i = 0; i < report->time.timeline->lanes_count; i++) {
    const struct timeline_row row = {.lane = i, .lanes = 1};
    int width = snprintf(NULL, 0, "-%" PRIu32, last_index(report, &row));
    widest = MAX(widest, width);
  }
  return (unsigned)widest;
}

/* How two rows differ: the mean over the columns of the part of the time that they spend in other categories. */
static double difference(const struct timeline_row *a, const struct timeline_row *b, uint32_t columns)
{
  double sum = 0;
  for (uint32_t i = 0; i < columns; i++) {
    double all_a = (double)category_sum(a->cells[i].ns), all_b = (double)category_sum(b->cells[i].ns), differ = 0;
    if (all_a > 0 && all_b > 0)
      for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
        differ += fabs((double)a->cells[i].ns[c] / all_a - (double)b->cells[i].ns[c] / all_b) / 2;
    else
      differ = (all_a > 0) != (all_b > 0);
    sum += differ;
  }
  return sum / columns;
}

/* The same for a row and the one behind it, infinite if they are of two processes. */
static double difference_behind(const struct timeline_rows *rows, uint32_t row)
{
  const struct timeline_row *a = &rows->rows[row];
  const struct timeline_lane *lanes = rows->report->time.timeline->lanes;
  if (row + 1 >= rows->count || lanes[a->lane].process != lanes[a[1].lane].process)
    return INFINITY;
  return difference(a, a + 1, rows->columns);
}

static void join_behind(struct timeline_rows *rows, double *differences, uint32_t row)
{
  struct timeline_row *a = &rows->rows[row], *b = a + 1;
  timeline_rows_join(a->cells, b->cells, rows->columns);
  a->lanes += b->lanes;
  a->critical_known &= b->critical_known;
  rows->count--;
  memmove(b, b + 1, (rows->count - row - 1) * sizeof *b);
  memmove(differences + row + 1, differences + row + 2, (rows->count - row - 1) * sizeof *differences);
  differences[row] = difference_behind(rows, row);
  if (row)
    differences[row - 1] = difference_behind(rows, row - 1);
}

/* The part of a row's time that is what most of a column is. */
static double agreement(const struct timeline_row *row, uint32_t columns)
{
  double agree = 0, all = 0;
  for (uint32_t i = 0; i < columns; i++) {
    uint64_t most = 0;
    for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
      most = MAX(most, row->cells[i].ns[c]);
    agree += (double)most;
    all += (double)category_sum(row->cells[i].ns);
  }
  return all > 0 ? agree / all : 1;
}

double timeline_folding_make(const struct timeline_rows *rows, uint32_t most, struct timeline_rows *folded)
{
  static const double alike = 0.15;
  size_t cells = (size_t)rows->count * rows->columns;
  *folded = *rows;
  folded->times = folded->lane_times = NULL;
  folded->rows = xmalloc(rows->count * sizeof *folded->rows);
  memcpy(folded->rows, rows->rows, rows->count * sizeof *folded->rows);
  folded->cells = xmalloc(cells * sizeof *folded->cells);
  memcpy(folded->cells, rows->cells, cells * sizeof *folded->cells);
  double *differences = xmalloc(rows->count * sizeof *differences), least = 1;
  for (uint32_t i = 0; i < rows->count; i++) {
    folded->rows[i].cells = folded->cells + (size_t)i * rows->columns;
    differences[i] = difference_behind(rows, i);
  }
  for (;;) {
    uint32_t nearest = 0;
    for (uint32_t i = 1; i < folded->count; i++)
      if (differences[i] < differences[nearest])
        nearest = i;
    if (isinf(differences[nearest]) || (folded->count <= most && differences[nearest] > alike))
      break;
    join_behind(folded, differences, nearest);
  }
  free(differences);
  for (uint32_t i = 0; i < folded->count; i++) {
    struct timeline_row *row = &folded->rows[i];
    size_t length = strlen(row->label);
    if (row->lanes == 1)
      continue;
    snprintf(row->label + length, sizeof row->label - length, "-%" PRIu32, last_index(rows->report, row));
    folded->label_width = MAX((unsigned)strlen(row->label), folded->label_width);
    least = fmin(least, agreement(row, rows->columns));
  }
  return least;
}
