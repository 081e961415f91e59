#include "hpcprof-lite/report/html/interval_tables.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/report/device_uses.h"
#include "hpcprof-lite/report/html/counter_tables.h"
#include "hpcprof-lite/report/html/html_page.h"
#include "hpcprof-lite/report/html/html_table.h"
#include "hpcprof-lite/report/html/message_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 16 };

/* What a thread does in an interval. */
struct state {
  uint32_t category, context, construct, wait_for; /* as in struct timeline_interval */
  uint32_t critical;                               /* 0, 1; MODEL_NONE: not known */
};

struct tables {
  const struct report *report;
  struct html_table intervals, messages;
  uint64_t messages_left_out;
  struct state *states;
  size_t states_room;
  uint32_t states_count;
  struct hash_map map;     /* of the states, by their hash */
  uint32_t *counts;        /* [lane]: intervals that were added */
  uint64_t from_ns, to_ns; /* the life of all lanes */
  uint64_t until_ns;       /* intervals that begin there or later are left out */
  uint64_t *begun;         /* [bucket of time]: intervals that begin there */
  uint64_t found;
};

/* ---- what fits ---- */

static int count_interval(void *context, const struct timeline_interval *interval)
{
  struct tables *tables = context;
  tables->begun[timeline_cell_at(tables->from_ns, tables->to_ns, BUCKETS, interval->start_ns)]++;
  tables->found++;
  return 0;
}

/* Finds until when all intervals fit into the page. */
static void find_end(struct tables *tables)
{
  assert(!tables->begun);
  const struct timeline *timeline = tables->report->time.timeline;
  tables->begun = xcalloc(BUCKETS, sizeof *tables->begun);
  for (uint32_t lane = 0; lane < timeline->lanes_count; lane++)
    timeline->each(timeline->source, lane, count_interval, tables);
  uint64_t sum = 0;
  uint32_t bucket = 0;
  while (bucket < BUCKETS && sum + tables->begun[bucket] <= INTERVAL_TABLES_ROOM)
    sum += tables->begun[bucket++];
  tables->until_ns =
      bucket < BUCKETS ? timeline_cell_start(tables->from_ns, tables->to_ns, BUCKETS, bucket) : UINT64_MAX;
}

/* ---- intervals ---- */

/* Returns the number of a state + 1, after adding it if it is new. */
static uint32_t state_number(struct tables *tables, const struct state *state)
{
  uint64_t key = hash_map_key_bytes(1, state, sizeof *state);
  uint32_t found = HASH_MAP_FIND(&tables->map, key, i, !memcmp(&tables->states[i - 1], state, sizeof *state));
  if (found)
    return found;
  *XAPPEND(tables->states, tables->states_count, tables->states_room) = *state;
  hash_map_add(&tables->map, key, tables->states_count);
  return tables->states_count;
}

/* Ends the walk with 1 where there are too many. */
static int add_interval(void *context, const struct timeline_interval *interval)
{
  struct tables *tables = context;
  bool known = tables->report->time.timeline->lanes[interval->lane].critical_known;
  struct state state = {.category = interval->category,
                        .context = interval->context,
                        .construct = interval->construct,
                        .wait_for = interval->wait_for,
                        .critical = known ? interval->critical : MODEL_NONE};
  if (interval->start_ns >= tables->until_ns)
    return 0;
  if (tables->intervals.rows == INTERVAL_TABLES_ROOM)
    return 1;
  int64_t row[] = {(int64_t)(interval->end_ns - interval->start_ns), state_number(tables, &state) - 1};
  html_table_add_row(&tables->intervals, row);
  tables->counts[interval->lane]++;
  return 0;
}

/* Returns whether there are too many. */
static bool add_intervals(struct tables *tables)
{
  assert(tables->counts);
  const struct timeline *timeline = tables->report->time.timeline;
  html_table_release(&tables->intervals);
  html_table_add_column(&tables->intervals, "duration_ns");
  html_table_add_column(&tables->intervals, "state");
  memset(tables->counts, 0, (size_t)timeline->lanes_count * sizeof *tables->counts);
  bool too_many = false;
  for (uint32_t lane = 0; lane < timeline->lanes_count && !too_many; lane++)
    too_many = timeline->each(timeline->source, lane, add_interval, tables);
  return too_many;
}

/* ---- devices ---- */

/* Their uses, as far as the page has the intervals of which they are made. */
static void write_devices(const struct tables *tables, FILE *output)
{
  static const char *const columns[] = {"lane", "device", "construct", "action", "start_ns", "duration_ns", "track"};
  const struct timeline *timeline = tables->report->time.timeline;
  struct html_table table = {0};
  struct device_lanes devices;
  device_lanes_read(tables->report, &devices);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    html_table_add_column(&table, columns[i]);
  for (uint32_t i = 0; i < devices.count; i++) {
    const struct device_lane *device = &devices.lanes[i];
    uint32_t lane = 0;
    while (timeline->lanes[lane].process != device->process)
      lane++;
    for (uint32_t k = device->first; k < device->end && devices.uses[k].start_ns < tables->until_ns; k++) {
      const struct device_use *use = &devices.uses[k];
      const int64_t row[] = {
          lane,        use->device - 1,        use->construct,
          use->action, (int64_t)use->start_ns, (int64_t)(MIN(use->end_ns, tables->until_ns) - use->start_ns),
          use->track};
      html_table_add_row(&table, row);
    }
  }
  html_page_close_table(output);
  html_page_open_table(output, "timeline-devices");
  html_table_write(&table, output);
  html_table_release(&table);
  device_lanes_release(&devices);
}

/* ---- the tables that explain them ---- */

#define LANES(COLUMN)                                                                                                  \
  COLUMN("process", ID, cell_count(process->pid), "process id")                                                        \
  COLUMN("rank", ID, cell_optional(process->rank >= 0, (uint64_t)process->rank), "rank in an MPI job")                 \
  COLUMN("thread", ID, cell_count(process->threads[lane->thread].index), "number of the thread in its process")        \
  COLUMN("host", TEXT, cell_text(process->host), "host of the process")                                                \
  COLUMN("start_ns", COUNT, cell_count(lane->start_ns), "begin of the thread's life")                                  \
  COLUMN("intervals", COUNT, cell_count(tables->counts[lane - timeline->lanes]), "its intervals in the page")

static void fill_lane(const void *context, const void *row, struct cell *cell)
{
  const struct tables *tables = context;
  const struct timeline *timeline = tables->report->time.timeline;
  const struct timeline_lane *lane = row;
  const struct profile_process *process = &tables->report->profile->processes[lane->process];
  LANES(COLUMN_CELL)
}

#define STATES(COLUMN)                                                                                                 \
  COLUMN("category", TEXT, cell_text(timeline_category_name((enum timeline_category)state->category)), "category")     \
  COLUMN("context_id", ID, report_context_cell(report, state->context), "row of topdown that a sample found")          \
  COLUMN("construct", ID, cell_optional(known, state->construct), "row of timeline-constructs")                        \
  COLUMN("wait_for", ID, report_context_cell(report, state->wait_for), "of waiting, the row of topdown to blame")      \
  COLUMN("on_critical_path", COUNT, cell_optional(state->critical != MODEL_NONE, state->critical),                     \
         "1 or 0; empty where it is not known")

static void fill_state(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = ((const struct tables *)context)->report;
  const struct state *state = row;
  bool known = state->construct < report->constructs->count;
  STATES(COLUMN_CELL)
}

#define CONSTRUCTS(COLUMN)                                                                                             \
  COLUMN("parent", ID, cell_optional(entry != constructs->entries, entry->parent), "row of the construct around it")   \
  COLUMN("number", ID, cell_count(entry->region), "number of the construct")                                           \
  COLUMN("kind", TEXT, cell_text(profile_directive_name(entry->kind)), "its kind")                                     \
  COLUMN("name", TEXT, cell_text(entry->name), "function that contains it")                                            \
  COLUMN("file", FILE, cell_text(entry->file), "its source file")                                                      \
  COLUMN("line", ID, cell_optional(entry->line, entry->line), "its line")                                              \
  COLUMN("executions", COUNT, cell_count(entry->sum.executions), "executions in the run")                              \
  COLUMN("bytes", COUNT, cell_optional(entry->sum.bytes > 0, entry->sum.bytes), "of operations for devices: bytes")

static void fill_construct(const void *context, const void *row, struct cell *cell)
{
  const struct construct_tree *constructs = ((const struct tables *)context)->report->constructs;
  const struct construct_entry *entry = row;
  CONSTRUCTS(COLUMN_CELL)
}

#define EXTENT(COLUMN)                                                                                                 \
  COLUMN("from_ns", COUNT, cell_count(tables->from_ns), "begin of the life of all threads")                            \
  COLUMN("to_ns", COUNT, cell_count(tables->to_ns), "end of the life of all threads")                                  \
  COLUMN("until_ns", COUNT, cell_count(until_ns), "intervals that begin there or later are left out")                  \
  COLUMN("intervals", COUNT, cell_count(shown), "intervals in the page")                                               \
  COLUMN("left_out", COUNT, cell_count(model_difference(tables->found, shown)), "intervals left out")                  \
  COLUMN("messages_left_out", COUNT, cell_count(tables->messages_left_out), "messages left out")

static void fill_extent(const void *context, const void *row, struct cell *cell)
{
  const struct tables *tables = context;
  uint64_t until_ns = MIN(tables->until_ns, tables->to_ns);
  uint64_t shown = tables->intervals.rows;
  (void)row;
  EXTENT(COLUMN_CELL)
}

static const struct table_column lane_columns[] = {LANES(COLUMN_ENTRY)}, state_columns[] = {STATES(COLUMN_ENTRY)},
                                 construct_columns[] = {CONSTRUCTS(COLUMN_ENTRY)},
                                 extent_columns[] = {EXTENT(COLUMN_ENTRY)};
static const struct schema lanes_schema = SCHEMA(lane_columns, fill_lane),
                           states_schema = SCHEMA(state_columns, fill_state),
                           constructs_schema = SCHEMA(construct_columns, fill_construct),
                           extent_schema = SCHEMA(extent_columns, fill_extent);

/* Ends the element of the table before, and writes the next ones but for the end of the last element. */
static void write_explanations(const struct tables *tables, FILE *output)
{
  const struct timeline *timeline = tables->report->time.timeline;
  const struct construct_tree *constructs = tables->report->constructs;
  const struct html_part parts[] = {
      {"timeline-lanes", &lanes_schema, timeline->lanes, timeline->lanes_count, sizeof *timeline->lanes},
      {"timeline-states", &states_schema, tables->states, tables->states_count, sizeof *tables->states},
      {"timeline-constructs", &constructs_schema, constructs->entries, constructs->count, sizeof *constructs->entries},
      {"timeline-extent", &extent_schema, tables, 1, sizeof *tables}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    html_page_next_table(output, &parts[i], tables);
}

/* Sets the life of all lanes, of which there is one at least. */
static void find_extent(struct tables *tables)
{
  assert(tables->report->time.timeline->lanes_count);
  const struct timeline *timeline = tables->report->time.timeline;
  tables->from_ns = timeline->lanes[0].start_ns;
  for (uint32_t i = 0; i < timeline->lanes_count; i++) {
    const struct timeline_lane *lane = &timeline->lanes[i];
    tables->from_ns = MIN(tables->from_ns, lane->start_ns);
    tables->to_ns = MAX(tables->to_ns, lane->end_ns);
  }
}

void interval_tables_write(const struct report *report, FILE *output)
{
  struct tables tables = {.report = report, .until_ns = UINT64_MAX};
  find_extent(&tables);
  tables.counts = xcalloc(report->time.timeline->lanes_count, sizeof *tables.counts);
  if (add_intervals(&tables)) {
    find_end(&tables);
    add_intervals(&tables);
  }
  html_table_write(&tables.intervals, output);
  tables.messages_left_out = message_table_make(report, &tables.messages);
  html_page_close_table(output);
  html_page_open_table(output, "timeline-messages");
  html_table_write(&tables.messages, output);
  write_devices(&tables, output);
  write_explanations(&tables, output);
  counter_tables_write(report, tables.from_ns, tables.to_ns, output);
  html_table_release(&tables.intervals);
  html_table_release(&tables.messages);
  hash_map_release(&tables.map);
  free(tables.states);
  free(tables.counts);
  free(tables.begun);
}
