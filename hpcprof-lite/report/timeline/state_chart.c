#include "hpcprof-lite/report/timeline/state_chart.h"

#include "common/order.h"
#include "hpcprof-lite/report/category.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_WIDTH = 12, STATE_WIDTH_MAX = 40 }; /* "not recorded"; more than any name has */

/* How times are printed so that they can be compared: in one unit, in `width` columns with a blank before them. */
struct format {
  const char *unit;
  double unit_ns;
  int decimals, width;
};

static struct format times_up_to(uint64_t largest_ns)
{
  struct format format = {"Seconds", 1e9, 4, 7};
  if (largest_ns && largest_ns < 100000)
    format = (struct format){"us", 1e3, 3, 7};
  else if (largest_ns && largest_ns < 100000000)
    format = (struct format){"ms", 1e6, 4, 7};
  for (double most = (double)largest_ns / format.unit_ns; most >= 10 && format.decimals; most /= 10)
    format.decimals--;
  int length = snprintf(NULL, 0, "%.*f", format.decimals, (double)largest_ns / format.unit_ns);
  format.width = MAX(length, 6) + 1;
  return format;
}

static void print_time(const struct report *report, struct format format, double ns)
{
  fprintf(report->stream, "%*.*f", format.width, format.decimals, ns / format.unit_ns);
}

static void print_extreme(const struct report *report, const struct terminal *terminal, struct format format,
                          uint64_t ns, const struct timeline_row *row, unsigned width)
{
  assert(row->label[0]);
  char name[TERMINAL_TEXT_MAX];
  print_time(report, format, (double)ns);
  unsigned used = terminal_fit(terminal, row->label, width, name);
  fprintf(report->stream, "%*s%s", (int)(width - used) + 2, "", name);
}

static void print_spreads(const struct report *report, const struct terminal *terminal,
                          const struct timeline_rows *rows, const struct state_spread *spreads, unsigned count)
{
  const char *name = timeline_line_names[report->time.lanes];
  struct format format = times_up_to(count ? spreads[0].total_ns : 0);
  char heading[STATE_WIDTH + 1];
  unsigned states = STATE_WIDTH;
  for (unsigned i = 0; i < count; i++)
    states = MAX(states, (unsigned)strlen(category_looks[spreads[i].category].name));
  states = MIN(states, STATE_WIDTH_MAX);
  snprintf(heading, sizeof heading, "%s in", format.unit);
  unsigned width = MAX(rows->label_width, (unsigned)strlen(name));
  unsigned room = terminal_room(terminal, states + 4 * (unsigned)format.width + 4) / 2;
  width = MIN(width, room);
  fprintf(report->stream, "%s%-*s%*s%*s%*s  %*s%*s  %*s%s\n", terminal_bold(terminal), (int)states, heading,
          format.width, "Total", format.width, "Mean", format.width, "Min", (int)width, name, format.width, "Max",
          (int)width, name, terminal_plain(terminal));
  for (unsigned i = 0; i < count; i++) {
    const struct state_spread *spread = &spreads[i];
    fprintf(report->stream, "%-*s", (int)states, category_looks[spread->category].name);
    print_time(report, format, (double)spread->total_ns);
    print_time(report, format, state_spread_mean(spread, rows->count));
    print_extreme(report, terminal, format, spread->least_ns, &rows->rows[spread->least], width);
    print_extreme(report, terminal, format, spread->most_ns, &rows->rows[spread->most], width);
    fputc('\n', report->stream);
  }
}

static void write_group(const struct report *report, const struct state_group *group, char *out, size_t size)
{
  assert(group->lane < report->time.timeline->lanes_count);
  const struct timeline_lane *lane = &report->time.timeline->lanes[group->lane];
  const struct profile_process *process = &report->profile->processes[lane->process];
  char number[TIMELINE_PROCESS_MAX];
  timeline_rows_process(report->profile, lane->process, number);
  if (group->level == TIMELINE_NODES)
    snprintf(out, size, "%s", report_known(process->host));
  else if (group->level == TIMELINE_THREADS)
    snprintf(out, size, "    thread %" PRIu32, process->threads[lane->thread].index);
  else
    snprintf(out, size, "  %s %s", process->rank >= 0 ? "rank" : "process", number);
}

/* A column for each state that occurs. */
static void print_groups(const struct report *report, const struct terminal *terminal, const struct state_group *groups,
                         uint32_t count)
{
  char name[256], fitting[TERMINAL_TEXT_MAX];
  uint64_t largest[TIMELINE_CATEGORIES] = {0}, largest_ns = 0;
  unsigned columns = 0, width = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
      largest[c] = MAX(groups[i].times.ns[c], largest[c]);
    write_group(report, &groups[i], name, sizeof name);
    width = MAX((unsigned)strlen(name), width);
  }
  for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++) {
    largest_ns = MAX(largest[c], largest_ns);
    columns += largest[c] > 0;
  }
  struct format format = times_up_to(largest_ns);
  unsigned room = terminal_room(terminal, columns * (unsigned)format.width);
  width = MIN(width, room);
  fprintf(report->stream, "\n%s%-*s", terminal_bold(terminal), (int)width, format.unit);
  for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
    if (largest[c])
      fprintf(report->stream, "%*s", format.width, category_looks[c].title);
  fprintf(report->stream, "%s\n", terminal_plain(terminal));
  for (uint32_t i = 0; i < count; i++) {
    write_group(report, &groups[i], name, sizeof name);
    unsigned used = terminal_fit(terminal, name, width, fitting);
    fprintf(report->stream, "%s%*s", fitting, (int)(width - used), "");
    for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
      if (largest[c])
        print_time(report, format, (double)groups[i].times.ns[c]);
    fputc('\n', report->stream);
  }
}

void state_chart_text(const struct report *report, const struct terminal *terminal, const struct timeline_rows *rows)
{
  struct state_spread spreads[TIMELINE_CATEGORIES];
  struct state_group *groups = NULL;
  uint32_t count = 0;
  fputc('\n', report->stream);
  print_spreads(report, terminal, rows, spreads, state_times_spread(rows->times, rows->count, spreads));
  if (report->per_thread)
    state_times_group(report->profile, report->time.timeline, rows->lane_times, &groups, &count);
  if (count)
    print_groups(report, terminal, groups, count);
  free(groups);
}

/* ---- further arrays ---- */

#define STATES(COLUMN)                                                                                                 \
  COLUMN("category", TEXT, cell_text(timeline_category_name(spread->category)), "the category")                        \
  COLUMN("total_s", SECONDS, cell_ns(spread->total_ns), "time in it")                                                  \
  COLUMN("mean_s", SECONDS, cell_ns(model_rounded(state_spread_mean(spread, rows->count))), "the same of a line")      \
  COLUMN("min_s", SECONDS, cell_ns(spread->least_ns), "least of a line")                                               \
  COLUMN("min_lane", TEXT, cell_text(rows->rows[spread->least].label), "the first line with so little")                \
  COLUMN("max_s", SECONDS, cell_ns(spread->most_ns), "most of a line")                                                 \
  COLUMN("max_lane", TEXT, cell_text(rows->rows[spread->most].label), "the first line with so much")

static void fill_state(const void *context, const void *row, struct cell *cell)
{
  const struct timeline_rows *rows = context;
  const struct state_spread *spread = row;
  STATES(COLUMN_CELL)
}

static void fill_lane(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = ((const struct timeline_rows *)context)->report;
  const struct state_group *group = row;
  const struct timeline_lane *lane = &report->time.timeline->lanes[group->lane];
  const struct profile_process *process = &report->profile->processes[lane->process];
  enum timeline_grouping level = group->level;
  const uint64_t *ns = group->times.ns;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_who.def"
#include "hpcprof-lite/report/timeline/timeline_times.def"
#undef COLUMN
}

static void fill_mpi(const void *context, const void *row, struct cell *cell)
{
  const struct state_group *group = row;
  const uint64_t *ns = group->times.ns;
  bool timed = true;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_mpi.def"
#undef COLUMN
}

static void fill_device(const void *context, const void *row, struct cell *cell)
{
  const struct state_group *group = row;
  const uint64_t *ns = group->times.ns;
  bool timed = true;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_device.def"
#undef COLUMN
}

static const struct table_column state_columns[] = {STATES(COLUMN_ENTRY)};
#define COLUMN COLUMN_ENTRY
static const struct table_column lane_columns[] = {
#include "hpcprof-lite/report/timeline/timeline_who.def"
#include "hpcprof-lite/report/timeline/timeline_times.def"
};
static const struct table_column mpi_columns[] = {
#include "hpcprof-lite/report/timeline/timeline_mpi.def"
};
static const struct table_column device_columns[] = {
#include "hpcprof-lite/report/timeline/timeline_device.def"
};
#undef COLUMN
static const struct schema states_schema = SCHEMA(state_columns, fill_state);
static const struct schema lanes_schema = SCHEMA(lane_columns, fill_lane);
static const struct schema mpi_schema = SCHEMA(mpi_columns, fill_mpi);
static const struct schema device_schema = SCHEMA(device_columns, fill_device);

static int each_state(const void *source, table_take *take, void *to)
{
  const struct timeline_rows *rows = source;
  struct state_spread spreads[TIMELINE_CATEGORIES];
  unsigned count = state_times_spread(rows->times, rows->count, spreads);
  int status = 0;
  for (unsigned i = 0; i < count && !status; i++)
    status = take(to, &spreads[i]);
  return status;
}

static int each_lane(const void *source, table_take *take, void *to)
{
  const struct timeline_rows *rows = source;
  struct state_group *groups;
  uint32_t count;
  int status = 0;
  state_times_group(rows->report->profile, rows->report->time.timeline, rows->lane_times, &groups, &count);
  for (uint32_t i = 0; i < count && !status; i++)
    status = take(to, &groups[i]);
  free(groups);
  return status;
}

void state_chart_further(const struct timeline_rows *rows, struct table *table)
{
  struct table *states = table_further(table, "states"), *lanes = table_further(table, "lanes");
  states->each = each_state;
  lanes->each = each_lane;
  states->source = lanes->source = rows;
  table_add(states, &states_schema, rows);
  table_add(lanes, &lanes_schema, rows);
  if (rows->report->mpi)
    table_add(lanes, &mpi_schema, rows);
  if (rows->report->awaits)
    table_add(lanes, &device_schema, rows);
}
