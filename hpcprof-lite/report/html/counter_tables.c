#include "hpcprof-lite/report/html/counter_tables.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/html/html_page.h"
#include "hpcprof-lite/report/html/html_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct drawn_counter {
  const char *name;
  bool event;
  uint32_t number; /* in the table of names */
  uint64_t *cells; /* [part of the time]; NULL while each count has a row */
};

struct counts {
  uint64_t from_ns, to_ns;
  struct drawn_counter counters[TIMELINE_COUNTERS_MAX]; /* [counter] */
  uint32_t order[TIMELINE_COUNTERS_MAX];                /* [number in the table of names] */
  uint32_t count;
  bool summed;
  struct html_table table;
};

static struct drawn_counter *counter_of(struct counts *counts, const struct timeline_count *of)
{
  assert(of->counter < TIMELINE_COUNTERS_MAX);
  struct drawn_counter *counter = &counts->counters[of->counter];
  if (!counter->name) {
    *counter = (struct drawn_counter){.name = of->name, .event = of->event, .number = counts->count};
    counts->order[counts->count++] = of->counter;
  }
  return counter;
}

static void add_row(struct counts *counts, uint32_t counter, uint64_t start_ns, uint64_t end_ns, uint64_t value)
{
  int64_t row[] = {counter, (int64_t)start_ns, (int64_t)end_ns, (int64_t)MIN(value, (uint64_t)INT64_MAX)};
  html_table_add_row(&counts->table, row);
}

static uint64_t cell_start(const struct counts *counts, uint32_t cell)
{
  assert(cell <= COUNTER_TABLES_CELLS);
  return timeline_cell_start(counts->from_ns, counts->to_ns, COUNTER_TABLES_CELLS, cell);
}

static void add_to_cells(struct counts *counts, struct drawn_counter *counter, const struct timeline_count *count)
{
  assert(count->start_ns <= count->end_ns);
  if (!counter->cells)
    counter->cells = xcalloc(COUNTER_TABLES_CELLS, sizeof *counter->cells);
  uint32_t cell = timeline_cell_at(counts->from_ns, counts->to_ns, COUNTER_TABLES_CELLS, count->start_ns);
  for (; cell < COUNTER_TABLES_CELLS && cell_start(counts, cell) <= count->end_ns; cell++) {
    uint64_t part = model_part(count->value, count->start_ns, count->end_ns, cell_start(counts, cell),
                               cell_start(counts, cell + 1));
    model_add(&counter->cells[cell], part);
  }
}

/* Ends the walk with 1 where there are too many for rows. */
static int add_count(void *context, const struct timeline_count *count)
{
  struct counts *counts = context;
  struct drawn_counter *counter = counter_of(counts, count);
  if (counts->summed)
    add_to_cells(counts, counter, count);
  else if (counts->table.rows == COUNTER_TABLES_ROOM)
    return 1;
  else
    add_row(counts, counter->number, count->start_ns, count->end_ns, count->value);
  return 0;
}

/* Returns whether there were too many for rows. */
static bool add_counts(struct counts *counts, const struct timeline *timeline)
{
  static const char *const columns[] = {"counter", "start_ns", "end_ns", "value"};
  bool too_many = false;
  html_table_release(&counts->table);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    html_table_add_column(&counts->table, columns[i]);
  for (uint32_t lane = 0; timeline->counts && lane < timeline->lanes_count && !too_many; lane++)
    too_many = timeline->counts(timeline->source, lane, add_count, counts);
  for (uint32_t i = 0; i < counts->count && counts->summed; i++) {
    const uint64_t *cells = counts->counters[counts->order[i]].cells;
    for (uint32_t cell = 0; cell < COUNTER_TABLES_CELLS && cells; cell++)
      if (cells[cell])
        add_row(counts, i, cell_start(counts, cell), cell_start(counts, cell + 1), cells[cell]);
  }
  return too_many;
}

#define NAMES(COLUMN)                                                                                                  \
  COLUMN("name", TEXT, cell_text(counter->name), "name of the counter")                                                \
  COLUMN("event", COUNT, cell_count(counter->event), "1 of an event of -c; 0 of a counter of the program")

static void fill_name(const void *context, const void *row, struct cell *cell)
{
  const struct counts *counts = context;
  const struct drawn_counter *counter = &counts->counters[*(const uint32_t *)row];
  NAMES(COLUMN_CELL)
}

static const struct table_column name_columns[] = {NAMES(COLUMN_ENTRY)};
static const struct schema names_schema = SCHEMA(name_columns, fill_name);

void counter_tables_write(const struct report *report, uint64_t from_ns, uint64_t to_ns, FILE *output)
{
  struct counts counts = {.from_ns = from_ns, .to_ns = to_ns};
  counts.summed = add_counts(&counts, report->time.timeline);
  if (counts.summed)
    add_counts(&counts, report->time.timeline);
  const struct html_part names = {"timeline-counter-names", &names_schema, counts.order, counts.count,
                                  sizeof *counts.order};
  html_page_next_table(output, &names, &counts);
  html_page_close_table(output);
  html_page_open_table(output, "timeline-counters");
  html_table_write(&counts.table, output);
  html_table_release(&counts.table);
  for (uint32_t i = 0; i < TIMELINE_COUNTERS_MAX; i++)
    free(counts.counters[i].cells);
}
