#include "hpcprof-lite/report/html/interval_tables.h"

#include "common/array.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/report/html/counter_tables.h"
#include "hpcprof-lite/report/html/html_page.h"
#include "hpcprof-lite/report/html/html_table.h"
#include "hpcprof-lite/report/row_writer.h"

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
  struct html_table intervals;
  struct state *states;
  size_t states_room;
  uint32_t states_count;
  struct index index;      /* of the states, by their hash */
  uint32_t *counts;        /* [lane]: intervals that were added */
  uint64_t from_ns, to_ns; /* the life of all lanes */
  uint64_t until_ns;       /* intervals that begin there or later are left out */
  uint64_t *begun;         /* [bucket of time]: intervals that begin there */
  uint64_t found;
};

/* ---- what fits ---- */

/* When a bucket of time begins. */
static uint64_t bucket_ns(const struct tables *tables, uint32_t bucket)
{
  return timeline_cell_start(tables->from_ns, tables->to_ns, BUCKETS, bucket);
}

static int count_interval(void *context, const struct timeline_interval *interval)
{
  struct tables *tables = context;
  tables->begun[timeline_cell_at(tables->from_ns, tables->to_ns, BUCKETS, interval->start_ns)]++;
  tables->found++;
  return 0;
}

/* Finds until when all intervals fit into the page. */
static int find_end(struct tables *tables)
{
  const struct timeline *timeline = tables->report->timeline;
  tables->begun = calloc(BUCKETS, sizeof *tables->begun);
  int status = tables->begun ? 0 : ERR_NOMEM;
  for (uint32_t lane = 0; lane < timeline->lanes_count && !status; lane++)
    status = timeline->each(timeline->source, lane, count_interval, tables);
  uint64_t sum = 0;
  uint32_t bucket = 0;
  while (!status && bucket < BUCKETS && sum + tables->begun[bucket] <= INTERVAL_TABLES_ROOM)
    sum += tables->begun[bucket++];
  tables->until_ns = bucket < BUCKETS ? bucket_ns(tables, bucket) : UINT64_MAX;
  return status;
}

/* ---- intervals ---- */

/* Returns the number of a state + 1, after adding it if it is new; 0 without memory. */
static uint32_t state_number(struct tables *tables, const struct state *state)
{
  uint64_t key = index_hash_bytes(1, state, sizeof *state);
  uint32_t slot, found = index_first(&tables->index, key, &slot);
  while (found && memcmp(&tables->states[found - 1], state, sizeof *state))
    found = index_next(&tables->index, key, &slot);
  if (found)
    return found;
  if (!array_reserve(&tables->states, &tables->states_room, (size_t)tables->states_count + 1, sizeof *state) ||
      !index_add(&tables->index, key, tables->states_count + 1))
    return 0;
  tables->states[tables->states_count++] = *state;
  return tables->states_count;
}

/* Ends the walk with 1 where there are too many. */
static int add_interval(void *context, const struct timeline_interval *interval)
{
  struct tables *tables = context;
  bool known = tables->report->timeline->lanes[interval->lane].critical_known;
  struct state state = {.category = interval->category,
                        .context = interval->context,
                        .construct = interval->construct,
                        .wait_for = interval->wait_for,
                        .critical = known ? interval->critical : MODEL_NONE};
  if (interval->start_ns >= tables->until_ns)
    return 0;
  if (tables->intervals.rows == INTERVAL_TABLES_ROOM)
    return 1;
  uint32_t number = state_number(tables, &state);
  if (!number)
    return ERR_NOMEM;
  int64_t row[] = {(int64_t)(interval->end_ns - interval->start_ns), number - 1};
  html_table_add_row(&tables->intervals, row);
  tables->counts[interval->lane]++;
  return tables->intervals.no_memory ? ERR_NOMEM : 0;
}

/* Returns 0, an error, or 1 if there are too many. */
static int add_intervals(struct tables *tables)
{
  const struct timeline *timeline = tables->report->timeline;
  html_table_release(&tables->intervals);
  html_table_add_column(&tables->intervals, "duration_ns");
  html_table_add_column(&tables->intervals, "state");
  memset(tables->counts, 0, (size_t)timeline->lanes_count * sizeof *tables->counts);
  int status = 0;
  for (uint32_t lane = 0; lane < timeline->lanes_count && !status; lane++)
    status = timeline->each(timeline->source, lane, add_interval, tables);
  return status;
}

/* ---- the tables that explain them ---- */

static void write_lanes(const struct tables *tables, struct row_writer *writer)
{
  const struct timeline *timeline = tables->report->timeline;
  for (uint32_t i = 0; i < timeline->lanes_count; i++) {
    const struct timeline_lane *lane = &timeline->lanes[i];
    const struct profile_process *process = &tables->report->profile->processes[lane->process];
    row_writer_uint(writer, process->pid);
    row_writer_optional(writer, process->rank >= 0, (uint64_t)process->rank);
    row_writer_uint(writer, process->threads[lane->thread].index);
    row_writer_text(writer, process->host);
    row_writer_uint(writer, lane->start_ns);
    row_writer_uint(writer, tables->counts[i]);
  }
}

static void context_cell(const struct tables *tables, struct row_writer *writer, uint32_t row)
{
  const struct tree *tree = tables->report->tree;
  row_writer_optional(writer, row < tree->count, row < tree->count ? tree->rows[row].id : 0);
}

static void write_states(const struct tables *tables, struct row_writer *writer)
{
  for (uint32_t i = 0; i < tables->states_count; i++) {
    const struct state *state = &tables->states[i];
    row_writer_text(writer, timeline_category_name((enum timeline_category)state->category));
    context_cell(tables, writer, state->context);
    row_writer_optional(writer, state->construct < tables->report->constructs->count, state->construct);
    context_cell(tables, writer, state->wait_for);
    row_writer_optional(writer, state->critical != MODEL_NONE, state->critical);
  }
}

static void write_constructs(const struct tables *tables, struct row_writer *writer)
{
  const struct construct_tree *constructs = tables->report->constructs;
  for (uint32_t i = 0; i < constructs->count; i++) {
    const struct construct_entry *entry = &constructs->entries[i];
    row_writer_optional(writer, i > 0, entry->parent);
    row_writer_uint(writer, entry->region);
    row_writer_text(writer, profile_directive_name(entry->kind));
    row_writer_text(writer, entry->name);
    row_writer_text(writer, entry->file);
    row_writer_optional(writer, entry->line > 0, entry->line);
  }
}

static void write_extent(const struct tables *tables, struct row_writer *writer)
{
  uint64_t shown = tables->intervals.rows;
  row_writer_uint(writer, tables->from_ns);
  row_writer_uint(writer, tables->to_ns);
  row_writer_uint(writer, tables->until_ns < tables->to_ns ? tables->until_ns : tables->to_ns);
  row_writer_uint(writer, shown);
  row_writer_uint(writer, tables->found > shown ? tables->found - shown : 0);
}

static const struct part {
  const char *name;
  const char *columns[6];
  uint32_t columns_count;
  void (*write)(const struct tables *tables, struct row_writer *writer);
} parts[] = {
    {"timeline-lanes", {"process", "rank", "thread", "host", "start_ns", "intervals"}, 6, write_lanes},
    {"timeline-states", {"category", "context_id", "construct", "wait_for", "on_critical_path"}, 5, write_states},
    {"timeline-constructs", {"parent", "number", "kind", "name", "file", "line"}, 6, write_constructs},
    {"timeline-extent", {"from_ns", "to_ns", "until_ns", "intervals", "left_out"}, 5, write_extent}};

/* Ends the element of the table before, and writes the next one but for the end of its element. */
static int write_part(const struct tables *tables, const struct part *part, FILE *output)
{
  struct html_table table = {0};
  struct row_writer writer;
  FILE *csv = html_table_stream(&table);
  if (!csv)
    return ERR_NOMEM;
  row_writer_begin(&writer, csv, false, part->columns, part->columns_count);
  part->write(tables, &writer);
  row_writer_end(&writer);
  html_page_close_table(output);
  html_page_open_table(output, part->name);
  int status = fclose(csv) || html_table_write(&table, output) ? ERR_NOMEM : 0;
  html_table_release(&table);
  return status;
}

/* Sets the life of all lanes, of which there is one at least. */
static void find_extent(struct tables *tables)
{
  const struct timeline *timeline = tables->report->timeline;
  tables->from_ns = timeline->lanes[0].start_ns;
  for (uint32_t i = 0; i < timeline->lanes_count; i++) {
    const struct timeline_lane *lane = &timeline->lanes[i];
    tables->from_ns = lane->start_ns < tables->from_ns ? lane->start_ns : tables->from_ns;
    tables->to_ns = lane->end_ns > tables->to_ns ? lane->end_ns : tables->to_ns;
  }
}

int interval_tables_write(const struct report *report, FILE *output)
{
  struct tables tables = {.report = report, .until_ns = UINT64_MAX};
  find_extent(&tables);
  tables.counts = calloc((size_t)report->timeline->lanes_count + 1, sizeof *tables.counts);
  int status = tables.counts ? add_intervals(&tables) : ERR_NOMEM;
  if (status == 1)
    status = find_end(&tables);
  if (!status && tables.found)
    status = add_intervals(&tables);
  if (!status)
    status = html_table_write(&tables.intervals, output);
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
    status = write_part(&tables, &parts[i], output);
  if (!status)
    status = counter_tables_write(report, tables.from_ns, tables.to_ns, output);
  html_table_release(&tables.intervals);
  index_release(&tables.index);
  free(tables.states);
  free(tables.counts);
  free(tables.begun);
  return status;
}
