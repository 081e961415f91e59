#include "hpcprof-lite/timeline/traced.h"

#include "common/xalloc.h"
#include "hpcprof-lite/input/stitch.h"

#include <stdlib.h>

/* ---- what the numbers of a process mean ---- */

/* Lists all nodes of all threads. */
static int list_nodes(struct traced *traced, const struct profile_process *process, struct stitch_node **nodes,
                      uint32_t *count)
{
  struct problems ignored = {0};
  size_t room = 0;
  int status = 0;
  for (uint32_t i = 0; i < process->threads_count && !status; i++) {
    void *own = read_table(traced->lanes.file, process->threads[i].index, FORMAT_NODES, &ignored, &traced->counts[i]);
    free(own);
    if (!own || !xarray_reserve(nodes, &room, (size_t)*count + traced->counts[i] + 1, sizeof **nodes))
      status = ERR_NOMEM;
    for (uint32_t j = 0; j < traced->counts[i] && !status; j++)
      (*nodes)[(*count)++] = (struct stitch_node){.thread = process->threads[i].index, .node = j};
  }
  problems_release(&ignored);
  return status;
}

/* Finds the rows of all contexts of a process. */
static int map_rows(const struct timeline_input *input, struct traced *traced, struct profile_process *process)
{
  struct stitch_node *nodes = NULL;
  uint32_t count = 0, *found = NULL, at = 0;
  traced->rows = xcalloc((size_t)process->threads_count + 1, sizeof *traced->rows);
  traced->counts = xcalloc((size_t)process->threads_count + 1, sizeof *traced->counts);
  int status = traced->rows && traced->counts ? list_nodes(traced, process, &nodes, &count) : ERR_NOMEM;
  if (!status)
    found = xmalloc(((size_t)count + 1) * sizeof *found);
  if (!status)
    status = found ? stitch_find(traced->lanes.file, process, &input->profile->catalog, &input->profile->contexts,
                                 nodes, count, found)
                   : ERR_NOMEM;
  for (uint32_t i = 0; i < process->threads_count && !status; i++) {
    traced->rows[i] = xmalloc(((size_t)traced->counts[i] + 1) * sizeof **traced->rows);
    status = traced->rows[i] ? 0 : ERR_NOMEM;
    for (uint32_t j = 0; j < traced->counts[i] && !status; j++, at++)
      traced->rows[i][j] = found[at] == MODEL_NONE ? MODEL_NONE : input->row_of[found[at]];
  }
  free(nodes);
  free(found);
  return status;
}

uint32_t traced_row(const struct traced *traced, uint32_t position, uint32_t node)
{
  return node && node < traced->counts[position] ? traced->rows[position][node] : MODEL_NONE;
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

int traced_collect(const struct timeline_input *input, struct traced *traced, uint32_t position)
{
  uint32_t thread = traced->lanes.process->threads[position].index;
  struct trace_cursor cursor;
  struct trace_event event;
  int status = 0;
  trace_cursor_open(&traced->lanes.trace, thread, NULL, &cursor);
  if (input->from_ns)
    trace_cursor_seek(&cursor, lane_ticks(&traced->lanes, input->from_ns));
  while (!status && trace_cursor_next(&cursor, &event)) {
    if (lane_ns(&traced->lanes, event.begin_ticks) > input->to_ns)
      break;
    bool works = event.sample == TRACELOG_WORKS || event.sample == TRACELOG_OVERHEAD;
    if (event.kind != TRACE_EVENT_SAMPLE || !works)
      continue;
    status =
        blame_at_add(&traced->parts[position], (struct blame_sample){.ns = lane_ns(&traced->lanes, event.end_ticks),
                                                                     .thread = thread,
                                                                     .row = traced_row(traced, position, event.node)});
  }
  status = status || cursor.no_memory ? ERR_NOMEM : 0;
  trace_cursor_close(&cursor);
  return status;
}

int traced_prepare(const struct timeline_input *input, struct traced *traced, uint32_t process)
{
  struct profile_process *of = &input->profile->processes[process];
  int status = blame_at_join(&traced->blame, traced->parts, of->threads_count);
  blame_at_sort(&traced->blame, input->contexts);
  if (!status)
    status = critical_chain_find(of, &traced->problems, &traced->chain);
  traced->prepared = status != ERR_NOMEM;
  return status == ERR_NOMEM ? status : 0;
}

struct timeline_index_key traced_key(const struct traced *traced)
{
  const struct profile_process *process = traced->lanes.process;
  uint64_t digest = index_hash(index_hash(traced->lanes.trace.file.digest, process->start_ns), process->pid);
  digest = index_hash(digest, TIMELINE_INDEX_RULES);
  return (struct timeline_index_key){
      .measurement = process->path, .digest = digest, .offset_ns = traced->lanes.offset_ns};
}

int traced_open(const struct timeline_input *input, uint32_t number, uint64_t run_start_ns, struct traced *traced)
{
  struct profile_process *process = &input->profile->processes[number];
  int status = lane_process_open(process, run_start_ns, &traced->problems, &traced->lanes);
  if (status || !traced->lanes.trace.file.count)
    return status == ERR_NOMEM ? status : 0;
  traced->parts = xcalloc((size_t)process->threads_count + 1, sizeof *traced->parts);
  if (traced->parts)
    blame_at_divide(traced->parts, process->threads_count);
  status = traced->parts ? map_rows(input, traced, process) : ERR_NOMEM;
  if (!status && traced->lanes.with_constructs)
    status = construct_records_map(traced->lanes.file, process, &input->profile->constructs, &traced->records);
  const struct timeline_index_key key = traced_key(traced);
  if (!status)
    status = timeline_index_open(&key, &traced->index);
  int fault = input->later && traced->index ? timeline_index_check(traced->index) : 0;
  if (fault) { /* it is to be replaced */
    timeline_index_close(traced->index);
    traced->index = NULL;
    status = fault == ERR_NOMEM ? fault : status;
  }
  uint32_t first = process->threads_count ? process->threads[0].index : 0;
  traced->samples_only = trace_reader_content(&traced->lanes.trace, first) == TRACE_READER_SAMPLES;
  return status == ERR_NOMEM ? status : 0;
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
