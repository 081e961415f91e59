#include "hpcprof-lite/timeline/timeline_source.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/heap.h"
#include "hpcprof-lite/model/workers.h"
#include "hpcprof-lite/timeline/timeline_cells.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct timeline_source {
  struct timeline_input input;
  struct timeline timeline;
  struct traced *traced; /* [position of the process] */
  uint32_t count;
  uint64_t start_ns; /* of the run: CLOCK_REALTIME */
  struct timeline_counter {
    const char *name;
    bool event;
  } counters[TIMELINE_COUNTERS_MAX]; /* those that the tables of the files have */
  uint32_t counters_count;
  bool *reported;            /* [lane] what is damaged in it */
  pthread_mutex_t lock;      /* of problems */
  pthread_mutex_t preparing; /* of what is prepared when a lane is read */
};

void timeline_source_close(struct timeline_source *source)
{
  if (!source)
    return;
  for (uint32_t i = 0; i < source->count; i++)
    traced_close(&source->traced[i], &source->input.profile->processes[i]);
  pthread_mutex_destroy(&source->lock);
  pthread_mutex_destroy(&source->preparing);
  free(source->traced);
  free(source->timeline.lanes);
  free(source->reported);
  free(source);
}

/* Prepares a process, unless that was done. */
static void prepare(struct timeline_source *source, uint32_t process)
{
  assert(process < source->count);
  struct traced *traced = &source->traced[process];
  uint32_t threads = source->input.profile->processes[process].threads_count;
  pthread_mutex_lock(&source->preparing);
  if (!traced->prepared) {
    for (uint32_t i = 0; i < threads; i++)
      traced_collect(&source->input, traced, i);
    traced_prepare(&source->input, traced, process);
    pthread_mutex_lock(&source->lock);
    problems_append_new(source->input.problems, &traced->problems);
    pthread_mutex_unlock(&source->lock);
  }
  pthread_mutex_unlock(&source->preparing);
}

/* ---- intervals ---- */

/* An interval of the thread at a position, in the terms of the report; without lane, wait_for and critical path. */
static struct timeline_interval mapped(const struct timeline_source *source, const struct traced *traced,
                                       uint32_t position, const struct lane_interval *from)
{
  assert(from->category < TIMELINE_CATEGORIES);
  uint32_t construct = MODEL_NONE;
  if (from->category != TIMELINE_GAP)
    construct = traced_construct(&source->input, traced, position, from->record);
  return (struct timeline_interval){.start_ns = from->start_ns,
                                    .end_ns = from->end_ns,
                                    .lane = MODEL_NONE,
                                    .category = from->category,
                                    .construct = construct,
                                    .context = traced_row(traced, position, from->node),
                                    .wait_for = MODEL_NONE,
                                    .node = from->node,
                                    .record = from->record,
                                    .begins = from->begins};
}

/* A lane that is read, and what its intervals refer to. */
struct reading {
  struct timeline_source *source;
  const struct traced *traced;
  struct blame_at_counts *counts; /* shared with others that the same thread reads */
  struct lane *lane;
  uint32_t number, position; /* of the lane; of its thread in the process */
  struct timeline_interval next;
  struct timeline_interval remaining; /* what follows `next` and differs only in being on the critical path */
  size_t link;                        /* the next interval of the critical path */
  bool has_remaining;
  struct problems problems;
};

static void map_interval(struct reading *reading, const struct lane_interval *from)
{
  assert(!reading->has_remaining);
  const struct traced *traced = reading->traced;
  uint32_t thread = traced->lanes.process->threads[reading->position].index;
  reading->remaining = mapped(reading->source, traced, reading->position, from);
  reading->remaining.lane = reading->number;
  if (from->category == TIMELINE_IDLE || from->category == TIMELINE_LOCK_WAIT)
    reading->remaining.wait_for =
        blame_at_worst(&traced->blame, reading->counts, from->start_ns, from->end_ns, thread, from->holder);
  reading->has_remaining = true;
}

/* Cuts what remains where the thread enters or leaves the critical path: its first part becomes the next interval. */
static void cut_remaining(struct reading *reading)
{
  assert(reading->has_remaining && reading->remaining.start_ns < reading->remaining.end_ns);
  const struct critical_chain *chain = &reading->traced->chain;
  const struct lane_process *lanes = &reading->traced->lanes;
  struct timeline_interval *remaining = &reading->remaining;
  uint32_t thread = lanes->process->threads[reading->position].index;
  uint64_t until = remaining->end_ns;
  bool critical = false;
  for (; reading->link < chain->count; reading->link++) {
    const struct critical_interval *link = &chain->intervals[reading->link];
    uint64_t begin = lane_ns(lanes, link->begin_ticks), end = lane_ns(lanes, link->end_ticks);
    if (link->thread != thread || end <= remaining->start_ns)
      continue;
    critical = begin <= remaining->start_ns;
    if (critical)
      until = MIN(end, until);
    else
      until = MIN(begin, until);
    break;
  }
  reading->next = *remaining;
  reading->next.end_ns = until;
  reading->next.critical = critical;
  reading->has_remaining = until < remaining->end_ns;
  remaining->start_ns = until;
  remaining->begins = false;
}

/* Moves to the next interval.  Returns false at the end. */
static bool reading_next(struct reading *reading)
{
  struct lane_interval interval;
  if (!reading->has_remaining) {
    if (!lane_next(reading->lane, &interval))
      return false;
    map_interval(reading, &interval);
  }
  cut_remaining(reading);
  return true;
}

/* counts: of zeros for the first lane. */
static void reading_open(struct timeline_source *source, uint32_t number, struct blame_at_counts *counts,
                         struct reading *reading)
{
  assert(number < source->timeline.lanes_count);
  const struct timeline_lane *lane = &source->timeline.lanes[number];
  const struct traced *traced = &source->traced[lane->process];
  *reading = (struct reading){
      .source = source, .traced = traced, .counts = counts, .number = number, .position = lane->thread};
  prepare(source, lane->process);
  if (!counts->counts)
    blame_at_counts_init(&traced->blame, counts);
  reading->lane = lane_open(&traced->lanes, lane->thread, source->timeline.from_ns, source->timeline.to_ns,
                            source->reported[number] ? NULL : &reading->problems);
}

static void reading_close(struct reading *reading)
{
  struct timeline_source *source = reading->source;
  lane_close(reading->lane);
  pthread_mutex_lock(&source->lock);
  if (source->input.later && reading->problems.count)
    source->traced[source->timeline.lanes[reading->number].process].damaged = true;
  if (source->input.later)
    problems_release(&reading->problems);
  else
    problems_append(source->input.problems, &reading->problems);
  pthread_mutex_unlock(&source->lock);
  source->reported[reading->number] = true;
}

static int each_of_lane(struct timeline_source *source, uint32_t number, timeline_visit *visit, void *context)
{
  struct blame_at_counts counts = {0};
  struct reading reading;
  int status = 0;
  reading_open(source, number, &counts, &reading);
  while (!status && reading_next(&reading))
    status = visit(context, &reading.next);
  reading_close(&reading);
  blame_at_counts_release(&counts);
  return status;
}

/* ---- all lanes by time ---- */

static bool before(const void *readings, uint32_t a, uint32_t b)
{
  const struct reading *x = (const struct reading *)readings + a, *y = (const struct reading *)readings + b;
  return x->next.start_ns != y->next.start_ns ? x->next.start_ns < y->next.start_ns : a < b;
}

static int each_by_time(struct timeline_source *source, timeline_visit *visit, void *context)
{
  uint32_t lanes = source->timeline.lanes_count;
  struct reading *readings = xcalloc(lanes, sizeof *readings);
  struct heap heap = {.items = xcalloc(lanes, sizeof *heap.items)};
  struct blame_at_counts counts = {0};
  int status = 0;
  for (uint32_t i = 0; i < lanes; i++) {
    reading_open(source, i, &counts, &readings[i]);
    if (reading_next(&readings[i]))
      heap.items[heap.count++] = i;
  }
  heap_make(&heap, before, readings);
  while (heap.count && !status) {
    struct reading *first = &readings[heap.items[0]];
    status = visit(context, &first->next);
    heap_next(&heap, reading_next(first), before, readings);
  }
  for (uint32_t i = 0; i < lanes; i++)
    reading_close(&readings[i]);
  blame_at_counts_release(&counts);
  free(readings);
  free(heap.items);
  return status;
}

static int each(void *context, uint32_t lane, timeline_visit *visit, void *visit_context)
{
  struct timeline_source *source = context;
  if (lane == MODEL_NONE)
    return each_by_time(source, visit, visit_context);
  return each_of_lane(source, lane, visit, visit_context);
}

/* ---- counters ---- */

/* Returns MODEL_NONE if there is no such counter.  The table is short, whatever the files contain. */
static uint32_t counter_find(const struct timeline_source *source, const char *name, bool event)
{
  assert(name);
  for (uint32_t i = 0; i < source->counters_count; i++)
    if (source->counters[i].event == event && !strcmp(source->counters[i].name, name))
      return i;
  return MODEL_NONE;
}

static void counter_add(struct timeline_source *source, const char *name, bool event)
{
  if (source->counters_count < TIMELINE_COUNTERS_MAX && counter_find(source, name, event) == MODEL_NONE)
    source->counters[source->counters_count++] = (struct timeline_counter){.name = name, .event = event};
}

/* Numbers the counters of a process. */
static void number_counters(struct timeline_source *source, const struct lane_process *lanes)
{
  const char *names[COUNTERS_MAX];
  const struct profile_marks *marks = lanes->process ? &lanes->process->marks : NULL;
  unsigned events = lanes->file ? read_counters(lanes->file, names) : 0;
  for (unsigned i = 0; i < events; i++)
    counter_add(source, names[i], true);
  for (uint32_t i = 0; marks && i < marks->counts_count; i++)
    counter_add(source, marks->text + marks->counts[i].name, false);
}

/* The same, within a thread's life: clocks are rounded, and what was counted last is written after the end. */
static uint64_t within(uint64_t ns, uint64_t start_ns, uint64_t end_ns)
{
  assert(start_ns <= end_ns);
  return MIN(MAX(ns, start_ns), end_ns);
}

/* Sets *count to the part of what an event tells that lies in the lane.  Returns whether there is one. */
static bool count_of(const struct timeline_source *source, const struct timeline_lane *lane,
                     const struct trace_event *event, struct timeline_count *count)
{
  const struct lane_process *lanes = &source->traced[lane->process].lanes;
  const char *names[COUNTERS_MAX];
  bool events = event->kind == TRACE_EVENT_EVENT_COUNT;
  uint64_t life_start, life_end;
  if (!events && event->kind != TRACE_EVENT_USER_COUNT)
    return false;
  if (events && event->counter >= read_counters(lanes->file, names))
    return false; /* damaged */
  const char *name = events ? names[event->counter] : read_string(lanes->file, event->counter);
  uint32_t counter = counter_find(source, name, events);
  if (counter == MODEL_NONE)
    return false; /* damaged */
  lane_life(lanes, lane->thread, &life_start, &life_end);
  uint64_t end_ns = within(lane_ns(lanes, event->end_ticks), life_start, life_end);
  uint64_t start_ns = within(lane_ns(lanes, event->begin_ticks), life_start, life_end - 1);
  *count = (struct timeline_count){.start_ns = within(start_ns, lane->start_ns, lane->end_ns),
                                   .end_ns = within(events ? end_ns : start_ns, lane->start_ns, lane->end_ns),
                                   .name = name,
                                   .event = events,
                                   .counter = counter};
  count->value = model_part(event->value, start_ns, events ? end_ns : start_ns, lane->start_ns, lane->end_ns);
  return count->value || (!events && start_ns >= lane->start_ns && start_ns < lane->end_ns);
}

static int counts(void *context, uint32_t number, timeline_visit_count *visit, void *visit_context)
{
  struct timeline_source *source = context;
  assert(number < source->timeline.lanes_count);
  const struct timeline_lane *lane = &source->timeline.lanes[number];
  const struct lane_process *lanes = &source->traced[lane->process].lanes;
  const char *names[COUNTERS_MAX];
  struct trace_cursor cursor;
  struct trace_event event;
  struct timeline_count count;
  int status = 0;
  if (!lanes->process->marks.counts_count && !read_counters(lanes->file, names))
    return 0; /* without reading the trace */
  trace_cursor_open(&lanes->trace, lanes->process->threads[lane->thread].index, NULL, &cursor);
  trace_cursor_seek(&cursor, lane_ticks(lanes, lane->start_ns));
  cursor.counts = true;
  while (!status && trace_cursor_next(&cursor, &event))
    if (count_of(source, lane, &event, &count))
      status = visit(visit_context, &count);
  trace_cursor_close(&cursor);
  return status;
}

/* ---- operations of devices ---- */

/* Sets the part of an operation that lies in the range.  Returns whether there is one. */
static bool operation_of(const struct timeline_source *source, uint32_t process, const struct trace_event *event,
                         struct timeline_operation *operation)
{
  const struct traced *traced = &source->traced[process];
  const struct profile_process *of = traced->lanes.process;
  uint32_t position = event->kind == TRACE_EVENT_OPERATION ? profile_thread_position(of, event->thread) : MODEL_NONE;
  if (position == MODEL_NONE)
    return false;
  *operation = (struct timeline_operation){
      .start_ns = MAX(lane_ns(&traced->lanes, event->begin_ticks), source->timeline.from_ns),
      .end_ns = MIN(lane_ns(&traced->lanes, event->end_ticks), source->timeline.to_ns),
      .process = process,
      .construct = traced_construct(&source->input, traced, position, event->record)};
  return operation->construct != MODEL_NONE && operation->start_ns < operation->end_ns;
}

static int operations(void *context, timeline_visit_operation *visit, void *visit_context)
{
  struct timeline_source *source = context;
  struct problems problems = {0};
  int status = 0;
  for (uint32_t i = 0; i < source->count && !status; i++) {
    struct trace_cursor cursor;
    struct trace_event event;
    struct timeline_operation operation;
    if (!source->traced[i].has_lanes)
      continue;
    trace_cursor_open(&source->traced[i].lanes.trace, 0, &problems, &cursor);
    cursor.devices = true;
    while (!status && trace_cursor_next(&cursor, &event))
      if (operation_of(source, i, &event, &operation))
        status = visit(visit_context, &operation);
    trace_cursor_close(&cursor);
  }
  pthread_mutex_lock(&source->lock);
  problems_append_new(source->input.problems, &problems);
  pthread_mutex_unlock(&source->lock);
  return status;
}

/* ---- cells ---- */

/* The life of a thread, also outside the range. */
static struct timeline_index_lane index_lane(const struct timeline_source *source, uint32_t number)
{
  assert(number < source->timeline.lanes_count);
  const struct timeline_lane *lane = &source->timeline.lanes[number];
  const struct lane_process *lanes = &source->traced[lane->process].lanes;
  struct timeline_index_lane found = {.thread = lanes->process->threads[lane->thread].index};
  lane_life(lanes, lane->thread, &found.start_ns, &found.end_ns);
  return found;
}

/* The cells that are read. */
struct cells_reading {
  struct timeline_source *source;
  uint64_t from_ns, to_ns;
  uint32_t count;
  struct timeline_cell *cells;
};

/* Adds the categories of a part of the lane to the cells, from its intervals: what whole cells of the index do not
 * cover. */
static void add_border(const struct cells_reading *reading, uint32_t number, uint64_t from_ns, uint64_t to_ns,
                       struct timeline_cell *cells)
{
  assert(number < reading->source->timeline.lanes_count);
  const struct timeline_lane *of = &reading->source->timeline.lanes[number];
  struct lane *lane = lane_open(&reading->source->traced[of->process].lanes, of->thread, from_ns, to_ns, NULL);
  struct lane_interval interval;
  uint32_t i = 0;
  while (lane_next(lane, &interval))
    for (uint64_t at_ns = interval.start_ns; at_ns < interval.end_ns && i < reading->count;) {
      uint64_t until_ns = timeline_cell_start(reading->from_ns, reading->to_ns, reading->count, i + 1);
      until_ns = MIN(until_ns, interval.end_ns);
      if (until_ns > at_ns) {
        model_add(&cells[i].ns[interval.category], until_ns - at_ns);
        at_ns = until_ns;
      }
      i += at_ns < interval.end_ns;
    }
  lane_close(lane);
}

/* From the index.  Returns false if they must be read from the lane. */
static bool read_indexed(const struct cells_reading *reading, uint32_t number, struct timeline_cell *cells)
{
  const struct timeline_source *source = reading->source;
  uint32_t position = source->timeline.lanes[number].thread;
  const struct traced *traced = &source->traced[source->timeline.lanes[number].process];
  if (!traced->index)
    return false;
  const struct timeline_index_lane lane = index_lane(source, number);
  struct timeline_index_cell *found = xmalloc(reading->count * sizeof *found);
  struct timeline_index_reach reach;
  bool whole =
      timeline_index_read(traced->index, &lane, reading->from_ns, reading->to_ns, reading->count, found, &reach);
  for (uint32_t i = 0; i < reading->count && whole; i++) {
    memcpy(cells[i].ns, found[i].ns, sizeof cells[i].ns);
    cells[i].critical_ns = found[i].critical_ns;
    cells[i].context = traced_row(traced, position, found[i].node);
    cells[i].construct =
        found[i].record ? traced_construct(&source->input, traced, position, found[i].record - 1) : MODEL_NONE;
  }
  free(found);
  if (!whole)
    return false;
  add_border(reading, number, reading->from_ns, reach.from_ns, cells);
  add_border(reading, number, reach.to_ns, reading->to_ns, cells);
  return true;
}

static void read_cells(void *argument, uint32_t number, unsigned worker)
{
  struct cells_reading *reading = argument;
  struct timeline_cell *cells = reading->cells + (size_t)number * reading->count;
  (void)worker;
  if (!read_indexed(reading, number, cells))
    timeline_cells_read(&reading->source->timeline, number, reading->from_ns, reading->to_ns, reading->count, cells);
}

static void cells(void *context, uint64_t from_ns, uint64_t to_ns, uint32_t count, struct timeline_cell *out)
{
  assert(count && out && from_ns <= to_ns);
  struct timeline_source *source = context;
  struct cells_reading reading = {.source = source, .from_ns = from_ns, .to_ns = to_ns, .count = count, .cells = out};
  workers_run(source->input.threads, source->timeline.lanes_count, read_cells, &reading);
}

void timeline_source_collect(struct timeline_source *source, uint32_t lane)
{
  assert(lane < source->timeline.lanes_count);
  const struct timeline_lane *of = &source->timeline.lanes[lane];
  traced_collect(&source->input, &source->traced[of->process], of->thread);
}

void timeline_source_prepare(struct timeline_source *source, uint32_t first)
{
  assert(first < source->timeline.lanes_count);
  uint32_t process = source->timeline.lanes[first].process;
  struct traced *traced = &source->traced[process];
  problems_release(&traced->problems);
  traced_prepare(&source->input, traced, process);
  traced->damaged = traced->problems.count;
  for (uint32_t i = first, end = timeline_process_end(&source->timeline, first); i < end; i++)
    source->timeline.lanes[i].critical_known = traced->chain.known;
}

struct index_builder *timeline_source_index(struct timeline_source *source, uint32_t first,
                                            const struct timeline_index_guest *guest, struct problems *problems)
{
  assert(first < source->timeline.lanes_count);
  const struct timeline_lane *of = source->timeline.lanes;
  struct traced *traced = &source->traced[of[first].process];
  uint32_t end = timeline_process_end(&source->timeline, first);
  const struct timeline_index_key key = traced_key(traced);
  struct timeline_index_lane *lanes = xcalloc(end - first, sizeof *lanes);
  for (uint32_t i = first; i < end; i++)
    lanes[i - first] = index_lane(source, i);
  const struct index_builder_input input = {.timeline = &source->timeline,
                                            .key = key,
                                            .first = first,
                                            .lanes = lanes,
                                            .count = end - first,
                                            .bytes = traced->lanes.trace.file.size,
                                            .guest = guest};
  struct index_builder *builder = index_builder_open(&input, problems);
  free(lanes);
  return builder;
}

void timeline_source_forget(struct timeline_source *source, uint32_t process)
{
  assert(process < source->count);
  traced_forget(&source->traced[process], &source->input.profile->processes[process]);
}

const struct traced *timeline_source_traced(const struct timeline_source *source, uint32_t process)
{
  assert(process < source->count);
  return &source->traced[process];
}

int timeline_source_each(struct timeline_source *source, uint32_t process, uint32_t position, timeline_visit *visit,
                         void *context)
{
  assert(process < source->count && visit);
  const struct traced *traced = &source->traced[process];
  struct lane *lane = lane_open(&traced->lanes, position, 0, UINT64_MAX, NULL);
  struct lane_interval from;
  int status = 0;
  while (!status && lane_next(lane, &from)) {
    const struct timeline_interval interval = mapped(source, traced, position, &from);
    status = visit(context, &interval);
  }
  lane_close(lane);
  return status;
}

uint64_t timeline_source_bytes(const struct timeline_source *source)
{
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < source->timeline.lanes_count; i++) {
    const struct timeline_lane *lane = &source->timeline.lanes[i];
    const struct lane_process *lanes = &source->traced[lane->process].lanes;
    bytes += trace_reader_bytes(&lanes->trace, lanes->process->threads[lane->thread].index,
                                lane_ticks(lanes, lane->start_ns), lane_ticks(lanes, lane->end_ns));
  }
  return bytes;
}

int timeline_source_sum(const struct timeline_source *source, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
                        uint64_t ns[TIMELINE_CATEGORIES])
{
  assert(lane < source->timeline.lanes_count && from_ns <= to_ns);
  const struct traced *traced = &source->traced[source->timeline.lanes[lane].process];
  const struct timeline_index_lane life = index_lane(source, lane);
  struct timeline_index_cell cell;
  if (!traced->index || !timeline_index_sum(traced->index, &life, from_ns, to_ns, &cell))
    return 1;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    model_add(&ns[i], cell.ns[i]);
  return 0;
}

uint32_t timeline_source_construct(const struct timeline_source *source, uint32_t process, uint32_t position,
                                   uint32_t record)
{
  assert(process < source->count);
  bool known = position < source->input.profile->processes[process].threads_count;
  return known ? traced_construct(&source->input, &source->traced[process], position, record) : MODEL_NONE;
}

/* ---- opening ---- */

static size_t count_threads(const struct timeline_source *source)
{
  size_t threads = 0;
  for (uint32_t i = 0; i < source->count; i++)
    threads += source->input.profile->processes[i].threads_count;
  return threads;
}

/* Whether a thread has run something that counts: one of the OpenMP runtime's or MPI's own may have run nothing. */
static bool has_run(const struct profile_thread *thread)
{
  return !(thread->flags & THREAD_HELPER) || thread->samples || thread->work;
}

/* Lists the lanes of processes that have a trace. */
static void list_lanes(struct timeline_source *source)
{
  const struct profile *profile = source->input.profile;
  struct timeline *timeline = &source->timeline;
  timeline->lanes = xcalloc(count_threads(source), sizeof *timeline->lanes);
  source->reported = xcalloc(count_threads(source), sizeof *source->reported);
  for (uint32_t i = 0; i < source->count; i++) {
    const struct profile_process *process = &profile->processes[i];
    const struct traced *traced = &source->traced[i];
    const struct lane_process *lanes = &traced->lanes;
    timeline->traced |= lanes->trace.file.count > 0;
    timeline->samples_only |= traced->content == TRACE_READER_SAMPLES;
    timeline->period_ns = MAX(lanes->period_ns, timeline->period_ns);
    for (uint32_t j = 0; j < process->threads_count && lanes->trace.file.count; j++) {
      struct timeline_lane lane = {.process = i,
                                   .thread = j,
                                   .critical_known =
                                       traced->index ? timeline_index_critical(traced->index) : traced->chain.known};
      lane_life(lanes, j, &lane.start_ns, &lane.end_ns);
      lane.start_ns = MAX(lane.start_ns, timeline->from_ns);
      lane.end_ns = MIN(lane.end_ns, timeline->to_ns);
      if (lane.start_ns >= lane.end_ns || !has_run(&process->threads[j]))
        continue;
      if (process->threads[j].flags & THREAD_OF_MPI) {
        timeline->mpi_threads++;
        model_add(&timeline->mpi_threads_ns, process->threads[j].work_ns);
        continue;
      }
      timeline->lanes[timeline->lanes_count++] = lane;
      source->traced[i].has_lanes = true;
    }
  }
}

/* What the workers share that open all processes. */
struct opening {
  struct timeline_source *source;
  struct {
    uint32_t process, position;
  } * threads; /* those whose samples are collected */
  uint32_t count;
};

static void open_job(void *argument, uint32_t process, unsigned worker)
{
  struct opening *opening = argument;
  const struct timeline_input *input = &opening->source->input;
  (void)worker;
  if (input->profile->processes[process].usable && (input->slices < 2 || process % input->slices == input->slice))
    traced_open(input, process, opening->source->start_ns, &opening->source->traced[process]);
}

static void collect_job(void *argument, uint32_t number, unsigned worker)
{
  struct opening *opening = argument;
  (void)worker;
  struct traced *traced = &opening->source->traced[opening->threads[number].process];
  traced_collect(&opening->source->input, traced, opening->threads[number].position);
}

static bool lacks_samples(const struct timeline_source *source, uint32_t process)
{
  const struct traced *traced = &source->traced[process];
  return traced->lanes.trace.file.count && (!traced->index || source->input.intervals);
}

static void finish_job(void *argument, uint32_t process, unsigned worker)
{
  struct opening *opening = argument;
  (void)worker;
  if (lacks_samples(opening->source, process))
    traced_prepare(&opening->source->input, &opening->source->traced[process], process);
}

/* Does for all processes what prepare() does for one, unless their index is enough. */
static void prepare_all(struct opening *opening)
{
  struct timeline_source *source = opening->source;
  opening->threads = xmalloc(count_threads(source) * sizeof *opening->threads);
  for (uint32_t i = 0; i < source->count; i++)
    for (uint32_t j = 0; j < source->input.profile->processes[i].threads_count && lacks_samples(source, i); j++) {
      opening->threads[opening->count].process = i;
      opening->threads[opening->count++].position = j;
    }
  workers_run(source->input.threads, opening->count, collect_job, opening);
  workers_run(source->input.threads, source->count, finish_job, opening);
  free(opening->threads);
}

static void open_all(struct timeline_source *source)
{
  const struct profile *profile = source->input.profile;
  struct opening opening = {.source = source};
  source->traced = xcalloc(profile->processes_count, sizeof *source->traced);
  source->start_ns = UINT64_MAX;
  source->count = profile->processes_count;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    source->traced[i].lanes.trace.file.fd = -1;
    if (profile->processes[i].usable && profile->processes[i].start_ns < source->start_ns)
      source->start_ns = profile->processes[i].start_ns;
  }
  workers_run(source->input.threads, source->count, open_job, &opening);
  if (!source->input.later)
    prepare_all(&opening);
  for (uint32_t i = 0; i < source->count && !source->input.later; i++)
    problems_append_new(source->input.problems, &source->traced[i].problems);
  for (uint32_t i = 0; i < source->count; i++) {
    const struct stream_extents *trace = &source->traced[i].lanes.trace.file;
    source->timeline.devices_recorded |= trace->count && !trace->extents[0].owner;
    number_counters(source, &source->traced[i].lanes);
  }
  list_lanes(source);
}

struct timeline_source *timeline_source_open(const struct timeline_input *input)
{
  struct timeline_source *source = xmalloc(sizeof *source);
  *source = (struct timeline_source){.input = *input,
                                     .timeline = {.from_ns = input->from_ns,
                                                  .to_ns = input->to_ns,
                                                  .each = each,
                                                  .cells = cells,
                                                  .counts = counts,
                                                  .operations = operations,
                                                  .source = source}};
  pthread_mutex_init(&source->lock, NULL);
  pthread_mutex_init(&source->preparing, NULL);
  open_all(source);
  source->timeline.origin_ns = source->start_ns;
  return source;
}

const struct timeline *timeline_source_timeline(const struct timeline_source *source)
{
  return &source->timeline;
}
