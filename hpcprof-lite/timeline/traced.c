#include "hpcprof-lite/timeline/traced.h"

#include "common/xalloc.h"
#include "hpcprof-lite/merge/stitch.h"

#include <stdlib.h>

/* ---- what the numbers of a process mean ---- */

/* Lists all nodes of all threads. */
static struct stitch_node *list_nodes(struct traced *traced, const struct profile_process *process, uint32_t *count)
{
  struct problems ignored = {0};
  struct stitch_node *nodes = NULL;
  size_t room = 0;
  *count = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    free(read_table(traced->lanes.file, process->threads[i].index, FORMAT_NODES, &ignored, &traced->counts[i]));
    xarray_reserve(&nodes, &room, (size_t)*count + traced->counts[i], sizeof *nodes);
    for (uint32_t j = 0; j < traced->counts[i]; j++)
      nodes[(*count)++] = (struct stitch_node){.thread = process->threads[i].index, .node = j};
  }
  problems_release(&ignored);
  return nodes;
}

/* Finds the rows of all contexts of a process. */
static void map_rows(const struct timeline_input *input, struct traced *traced, struct profile_process *process)
{
  uint32_t count, at = 0;
  traced->rows = xcalloc(process->threads_count, sizeof *traced->rows);
  traced->counts = xcalloc(process->threads_count, sizeof *traced->counts);
  struct stitch_node *nodes = list_nodes(traced, process, &count);
  uint32_t *found = xmalloc(count * sizeof *found);
  stitch_find(traced->lanes.file, process, &input->profile->catalog, &input->profile->contexts, nodes, count, found);
  for (uint32_t i = 0; i < process->threads_count; i++) {
    traced->rows[i] = xmalloc(traced->counts[i] * sizeof **traced->rows);
    for (uint32_t j = 0; j < traced->counts[i]; j++, at++)
      traced->rows[i][j] = found[at] == MODEL_NONE ? MODEL_NONE : input->row_of[found[at]];
  }
  free(nodes);
  free(found);
}

uint32_t traced_row(const struct traced *traced, uint32_t position, uint32_t node)
{
  bool known = traced->rows && position < traced->lanes.process->threads_count;
  if (!known || !node || node >= traced->counts[position])
    return MODEL_NONE;
  return traced->rows[position][node];
}

uint32_t traced_construct(const struct timeline_input *input, const struct traced *traced, uint32_t position,
                          uint32_t record)
{
  const struct construct_record_map *records = &traced->records;
  bool known = records->nodes && records->nodes[position] && record < records->counts[position];
  uint32_t node = known ? records->nodes[position][record] : MODEL_NONE;
  if (records->nodes && !record)
    node = 0; /* outside all; the thread may have no records */
  return node == MODEL_NONE || !input->constructs->entry_of ? MODEL_NONE : input->constructs->entry_of[node];
}

/* ---- what intervals need, and the index does not ---- */

void traced_collect(const struct timeline_input *input, struct traced *traced, uint32_t position)
{
  uint32_t thread = traced->lanes.process->threads[position].index;
  struct trace_cursor cursor;
  struct trace_event event;
  trace_cursor_open(&traced->lanes.trace, thread, NULL, &cursor);
  if (input->from_ns)
    trace_cursor_seek(&cursor, lane_ticks(&traced->lanes, input->from_ns));
  while (trace_cursor_next(&cursor, &event)) {
    if (lane_ns(&traced->lanes, event.begin_ticks) > input->to_ns)
      break;
    bool works = event.sample == TRACELOG_WORKS || event.sample == TRACELOG_OVERHEAD;
    if (event.kind != TRACE_EVENT_SAMPLE || !works)
      continue;
    blame_at_add(&traced->parts[position], (struct blame_sample){.ns = lane_ns(&traced->lanes, event.end_ticks),
                                                                 .thread = thread,
                                                                 .row = traced_row(traced, position, event.node)});
  }
  trace_cursor_close(&cursor);
}

void traced_prepare(const struct timeline_input *input, struct traced *traced, uint32_t process)
{
  struct profile_process *of = &input->profile->processes[process];
  blame_at_join(&traced->blame, traced->parts, of->threads_count);
  blame_at_sort(&traced->blame, input->contexts);
  critical_chain_find(of, &traced->problems, &traced->chain);
  traced->prepared = true;
}

struct timeline_index_key traced_key(const struct traced *traced)
{
  const struct profile_process *process = traced->lanes.process;
  uint64_t digest = hash_map_key(hash_map_key(traced->lanes.trace.file.digest, process->start_ns), process->pid);
  digest = hash_map_key(digest, TIMELINE_INDEX_RULES);
  if (process->clock_rate > 0)
    digest = hash_map_key_bytes(digest, &process->clock_rate, sizeof process->clock_rate);
  return (struct timeline_index_key){
      .measurement = process->path, .digest = digest, .offset_ns = traced->lanes.offset_ns};
}

void traced_open(const struct timeline_input *input, uint32_t number, uint64_t run_start_ns, struct traced *traced)
{
  struct profile_process *process = &input->profile->processes[number];
  if (lane_process_open(process, run_start_ns, &traced->problems, &traced->lanes) || !traced->lanes.trace.file.count)
    return;
  traced->parts = xcalloc(process->threads_count, sizeof *traced->parts);
  blame_at_divide(traced->parts, process->threads_count);
  map_rows(input, traced, process);
  if (traced->lanes.with_constructs)
    construct_records_map(traced->lanes.file, process, &input->profile->constructs, &traced->records);
  const struct timeline_index_key key = traced_key(traced);
  traced->index = timeline_index_open(&key);
  if (input->later && traced->index && !timeline_index_check(traced->index)) { /* it is to be replaced */
    timeline_index_close(traced->index);
    traced->index = NULL;
  }
  traced->content = trace_reader_content(&traced->lanes.trace);
}

void traced_forget(struct traced *traced, const struct profile_process *process)
{
  for (uint32_t i = 0; traced->parts && i < process->threads_count; i++)
    blame_at_release(&traced->parts[i]);
  free(traced->parts);
  traced->parts = NULL;
  blame_at_release(&traced->blame);
  critical_chain_release(&traced->chain);
  traced->prepared = false;
}

void traced_close(struct traced *traced, const struct profile_process *process)
{
  for (uint32_t i = 0; traced->rows && i < process->threads_count; i++)
    free(traced->rows[i]);
  free(traced->rows);
  free(traced->counts);
  construct_record_map_release(&traced->records);
  traced_forget(traced, process);
  problems_release(&traced->problems);
  timeline_index_close(traced->index);
  lane_process_close(&traced->lanes);
}
