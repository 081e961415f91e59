#include "hpcprof-lite/report/timeline/timeline_counters.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From nothing to the highest rate, in ninths. */
static const char levels[] = " .:-=+*#%@";

struct series {
  const char *name;
  bool event;
  uint64_t sum;
  double *cells; /* [column] how many; NULL: nothing was counted */
};

struct chart {
  const struct timeline_rows *rows;
  struct series series[TIMELINE_COUNTERS_MAX]; /* [counter] */
};

/* ---- reading ---- */

struct walk {
  timeline_counters_row *row;
  void *context;
  uint32_t lane;
};

static int visit(void *context, const struct timeline_count *count)
{
  struct walk *walk = context;
  return walk->row(walk->context, walk->lane, count);
}

int timeline_counters_each(const struct report *report, timeline_counters_row *row, void *context)
{
  assert(row);
  const struct timeline *timeline = report->time.timeline;
  struct walk walk = {.row = row, .context = context};
  int status = 0;
  for (; timeline->counts && walk.lane < timeline->lanes_count && !status; walk.lane++)
    status = timeline->counts(timeline->source, walk.lane, visit, &walk);
  return status;
}

static int found(void *context, uint32_t lane, const struct timeline_count *count)
{
  (void)context;
  (void)lane;
  (void)count;
  return 1;
}

bool timeline_counters_any(const struct report *report)
{
  return timeline_counters_each(report, found, NULL) != 0;
}

/* ---- the chart ---- */

static struct series *series_of(struct chart *chart, const struct timeline_count *count)
{
  assert(count->counter < TIMELINE_COUNTERS_MAX);
  struct series *series = &chart->series[count->counter];
  if (!series->cells)
    *series = (struct series){
        .name = count->name, .event = count->event, .cells = xcalloc(chart->rows->columns, sizeof *series->cells)};
  return series;
}

static uint64_t column_ns(const struct timeline_rows *rows, uint32_t column)
{
  assert(column <= rows->columns);
  return timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, column);
}

/* The part of a count that belongs to the time from one moment to before another one. */
static double share_within(const struct timeline_count *count, uint64_t from_ns, uint64_t to_ns)
{
  assert(count->start_ns <= count->end_ns && from_ns <= to_ns);
  if (count->start_ns == count->end_ns)
    return count->start_ns >= from_ns && count->start_ns < to_ns;
  uint64_t begin = MAX(count->start_ns, from_ns), end = MIN(count->end_ns, to_ns);
  return end > begin ? (double)(end - begin) / (double)(count->end_ns - count->start_ns) : 0;
}

static int add(void *context, uint32_t lane, const struct timeline_count *count)
{
  struct chart *chart = context;
  const struct timeline_rows *rows = chart->rows;
  struct series *series = series_of(chart, count);
  (void)lane;
  uint32_t column = timeline_cell_at(rows->from_ns, rows->to_ns, rows->columns, count->start_ns);
  for (; column < rows->columns && column_ns(rows, column) <= count->end_ns; column++)
    series->cells[column] +=
        (double)count->value * share_within(count, column_ns(rows, column), column_ns(rows, column + 1));
  model_add(&series->sum, count->value);
  return 0;
}

ORDER(by_name, struct series, COMPARE(y->event, x->event) ?: strcmp(x->name, y->name))

/* Per second. */
static double rate_of(const struct chart *chart, const struct series *series, uint32_t column)
{
  uint64_t length_ns = column_ns(chart->rows, column + 1) - column_ns(chart->rows, column);
  return length_ns ? series->cells[column] * 1e9 / (double)length_ns : 0;
}

static void number_text(uint64_t value, char text[16])
{
  char padded[16];
  terminal_whole_count(value, padded);
  snprintf(text, 16, "%s", padded + strspn(padded, " "));
}

static void print_series(const struct report *report, const struct terminal *terminal, const struct chart *chart,
                         const struct series *series)
{
  const struct timeline_rows *rows = chart->rows;
  char name[TERMINAL_TEXT_MAX], sum[16], rate[16], highest[48];
  double most = 0;
  uint32_t end = 0;
  for (uint32_t i = 0; i < rows->columns; i++)
    most = fmax(rate_of(chart, series, i), most);
  number_text(series->sum, sum);
  number_text(model_rounded(most), rate);
  unsigned width = (unsigned)snprintf(highest, sizeof highest, "at most %s/s", rate);
  unsigned used = (unsigned)strlen(sum) + 2 + width + 2;
  unsigned shown = terminal_cut(terminal, *series->name ? series->name : "(no name)",
                                rows->columns > used + 8 ? rows->columns - used : 8, name);
  unsigned gap = rows->columns > shown + used - 2 ? rows->columns - (shown + used - 2) : 2;
  fprintf(report->stream, "%*s %s%s%s: %s%*s%s\n", (int)rows->label_width, "", terminal_bold(terminal), name,
          terminal_plain(terminal), sum, (int)gap, "", highest);
  for (uint32_t i = 0; i < rows->columns; i++)
    if (series->cells[i] > 0)
      end = i + 1;
  fprintf(report->stream, "%*s ", (int)rows->label_width, "");
  for (uint32_t i = 0; i < end; i++) {
    double share = most > 0 ? rate_of(chart, series, i) / most : 0;
    unsigned level = (unsigned)(share * 9 + 0.999999);
    fputc(levels[MIN(level, 9)], report->stream);
  }
  fputc('\n', report->stream);
}

bool timeline_counters_print(const struct report *report, const struct terminal *terminal,
                             const struct timeline_rows *rows)
{
  struct chart chart = {.rows = rows};
  uint32_t count = 0;
  if (rows->to_ns > rows->from_ns && rows->columns)
    timeline_counters_each(report, add, &chart);
  for (uint32_t i = 0; i < TIMELINE_COUNTERS_MAX; i++)
    if (chart.series[i].cells)
      chart.series[count++] = chart.series[i];
  qsort(chart.series, count, sizeof *chart.series, by_name);
  for (uint32_t i = 0; i < count; i++) {
    print_series(report, terminal, &chart, &chart.series[i]);
    free(chart.series[i].cells);
  }
  return count > 0;
}
