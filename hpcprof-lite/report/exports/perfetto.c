/* The timeline as Chrome's trace events in JSON, which ui.perfetto.dev and chrome://tracing read.
 *
 * Context: BATCH.  Constructs are nested slices, and each interval is a slice of its category in them.  Times are in
 * microseconds since the start of the run.
 */
#include "hpcprof-lite/report/exports/exports.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/exports/lane_marks.h"
#include "hpcprof-lite/report/exports/timeline_lanes.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* The names that chrome://tracing has for its colours; Perfetto colours slices by their names. */
static const char *const colours[TIMELINE_CATEGORIES] = {[TIMELINE_WORK] = "thread_state_running",
                                                         [TIMELINE_OVERHEAD] = "thread_state_iowait",
                                                         [TIMELINE_LOCK_WAIT] = "terrible",
                                                         [TIMELINE_IDLE] = "yellow",
                                                         [TIMELINE_MPI] = "thread_state_uninterruptible",
                                                         [TIMELINE_DEVICE] = "rail_load",
                                                         [TIMELINE_BLOCKED] = "thread_state_sleeping",
                                                         [TIMELINE_CORE_WAIT] = "thread_state_runnable",
                                                         [TIMELINE_NO_CORE] = "bad",
                                                         [TIMELINE_TOOL] = "generic_work",
                                                         [TIMELINE_GAP] = "grey"};

struct writer {
  const struct report *report;
  FILE *stream;
  struct timeline_lanes lanes;
  uint64_t pid, tid; /* of the lane that is being written */
  bool begun;        /* an event has been written */
};

/* Threads have smaller numbers: a stream's threads are below 2^20. */
enum { FIRST_DEVICE = 1 << 30 };

/* Devices whose tracks have a name. */
struct devices {
  struct writer *writer;
  struct device_use *named;
  uint32_t count;
  size_t room;
};

/* Viewers take thread 0 for the idle task of the kernel. */
static uint64_t tid_of(const struct profile_thread *thread)
{
  return (uint64_t)thread->index + 1;
}

/* ---- events ---- */

static void text_field(FILE *stream, const char *name, const char *text)
{
  fprintf(stream, ",\"%s\":", name);
  row_writer_json_string(stream, text);
}

static void number_field(FILE *stream, const char *name, uint64_t value, unsigned decimals)
{
  fprintf(stream, ",\"%s\":", name);
  row_writer_number(stream, value, decimals);
}

/* Opens an event of that type. */
static void open_event(struct writer *writer, char type)
{
  fprintf(writer->stream, "%s\n{\"ph\":\"%c\"", writer->begun ? "," : "", type);
  number_field(writer->stream, "pid", writer->pid, 0);
  number_field(writer->stream, "tid", writer->tid, 0);
  writer->begun = true;
}

static void name_lane(struct writer *writer, const char *what, const char *name)
{
  open_event(writer, 'M');
  fprintf(writer->stream, ",\"name\":\"%s\",\"args\":{\"name\":", what);
  row_writer_json_string(writer->stream, name);
  fputs("}}", writer->stream);
}

static void sort_lane(struct writer *writer, const char *what, uint32_t index)
{
  open_event(writer, 'M');
  fprintf(writer->stream, ",\"name\":\"%s\",\"args\":{\"sort_index\":%" PRIu32 "}}", what, index);
}

static void describe_lanes(struct writer *writer)
{
  const struct report *report = writer->report;
  char name[TIMELINE_TEXT_MAX];
  for (uint32_t i = 0; i < report->time.timeline->lanes_count; i++) {
    uint32_t lane = writer->lanes.order[i];
    const struct profile_thread *thread = timeline_thread(report, lane);
    writer->pid = writer->lanes.pids[report->time.timeline->lanes[lane].process];
    writer->tid = tid_of(thread);
    if (timeline_first_of_process(&writer->lanes, i)) {
      timeline_process_name(report_lane_process(report, lane), name);
      name_lane(writer, "process_name", name);
      sort_lane(writer, "process_sort_index", i);
    }
    timeline_thread_name(thread, name);
    name_lane(writer, "thread_name", name);
    sort_lane(writer, "thread_sort_index", i + 1);
  }
}

static void enter(void *context, uint32_t number, uint64_t time_ns)
{
  struct writer *writer = context;
  const struct construct_entry *entry = &writer->report->constructs->entries[number];
  char name[TIMELINE_TEXT_MAX];
  timeline_construct_name(entry, name);
  open_event(writer, 'B');
  number_field(writer->stream, "ts", time_ns, 3);
  fputs(",\"cat\":\"construct\"", writer->stream);
  text_field(writer->stream, "name", name);
  fprintf(writer->stream, ",\"args\":{\"kind\":\"%s\"", profile_directive_name(entry->kind));
  text_field(writer->stream, "function", entry->name);
  text_field(writer->stream, "file", entry->file);
  fprintf(writer->stream, ",\"line\":%" PRIu32 "}}", entry->line);
}

static void leave(void *context, uint32_t number, uint64_t time_ns)
{
  struct writer *writer = context;
  (void)number;
  open_event(writer, 'E');
  number_field(writer->stream, "ts", time_ns, 3);
  putc_unlocked('}', writer->stream);
}

/* A row of the top-down tree, as two arguments; returns what stands before the next one. */
static const char *row_arguments(struct writer *writer, const char *before, const char *name, uint32_t row)
{
  const struct tree *tree = writer->report->tree;
  char text[TIMELINE_TEXT_MAX];
  if (row >= tree->count)
    return before;
  timeline_row_name(tree, row, text);
  fprintf(writer->stream, "%s\"%s_id\":%" PRIu32, before, name, tree->rows[row].id);
  text_field(writer->stream, name, text);
  return ",";
}

static void slice(void *context, const struct timeline_interval *interval)
{
  struct writer *writer = context;
  const char *name = timeline_category_name((enum timeline_category)interval->category), *before = ",\"args\":{";
  open_event(writer, 'X');
  number_field(writer->stream, "ts", interval->start_ns, 3);
  number_field(writer->stream, "dur", interval->end_ns - interval->start_ns, 3);
  fprintf(writer->stream, ",\"cat\":\"state\",\"name\":\"%s\",\"cname\":\"%s\"", name, colours[interval->category]);
  before = row_arguments(writer, before, "context", interval->context);
  before = row_arguments(writer, before, "wait_for", interval->wait_for);
  if (writer->report->time.timeline->lanes[interval->lane].critical_known) {
    fprintf(writer->stream, "%s\"critical\":%s", before, interval->critical ? "true" : "false");
    before = ",";
  }
  fputs(*before == ',' && !before[1] ? "}}" : "}", writer->stream);
}

/* ---- MPI ---- */

/* Calls are slices. */
static void mpi(void *context, const struct mpi_event *event)
{
  struct writer *writer = context;
  open_event(writer, event->kind == MPI_EVENT_CALL ? 'B' : 'E');
  number_field(writer->stream, "ts", event->time_ns, 3);
  if (event->kind == MPI_EVENT_CALL)
    fprintf(writer->stream, ",\"cat\":\"mpi\",\"name\":\"%s\"", mpi_function_name((enum mpi_function)event->function));
  putc_unlocked('}', writer->stream);
}

/* One end of a message: in the slice of the call that lasts then. */
static void write_end(struct writer *writer, char type, uint32_t lane, uint64_t time_ns, uint64_t number)
{
  writer->pid = writer->lanes.pids[writer->report->time.timeline->lanes[lane].process];
  writer->tid = tid_of(timeline_thread(writer->report, lane));
  open_event(writer, type);
  number_field(writer->stream, "ts", time_ns, 3);
  fprintf(writer->stream, ",\"cat\":\"mpi\",\"name\":\"message\",\"id\":%" PRIu64 "%s}", number,
          type == 'f' ? ",\"bp\":\"e\"" : "");
}

/* A flow for each message. */
static int write_messages(struct writer *writer)
{
  struct mpi_events_reader reader;
  const struct mpi_arrow *arrow;
  if (!writer->report->time.mpi)
    return 0;
  mpi_arrows_open(writer->report->time.mpi, &reader);
  for (uint64_t number = 1; (arrow = mpi_arrows_peek(&reader)) && !ferror(writer->stream); number++) {
    write_end(writer, 's', arrow->from, arrow->from_ns, number);
    write_end(writer, 'f', arrow->to, arrow->to_ns, number);
    mpi_events_skip(&reader);
  }
  return mpi_events_failed(writer->report->time.mpi) || ferror(writer->stream) ? ERR_INPUT : 0;
}

/* ---- marks and counters of the program ---- */

static void write_value(struct writer *writer, const struct lane_mark *mark, uint32_t thread)
{
  char name[TIMELINE_TEXT_MAX];
  snprintf(name, sizeof name, "%.900s (thread %" PRIu32 ")", mark->name, thread);
  open_event(writer, 'C');
  number_field(writer->stream, "ts", mark->start_ns, 3);
  text_field(writer->stream, "name", name);
  fprintf(writer->stream, ",\"args\":{\"value\":%" PRIu64 "}}", mark->value);
}

/* Those of a lane. */
static void write_marks(struct writer *writer, uint32_t lane)
{
  struct lane_marks marks;
  const struct lane_mark *mark;
  lane_marks_read(writer->report, lane, &marks);
  while ((mark = lane_marks_until(&marks, UINT64_MAX))) {
    if (mark->kind == LANE_COUNT)
      write_value(writer, mark, timeline_thread(writer->report, lane)->index);
    if (mark->kind != LANE_MARK)
      continue;
    open_event(writer, 'i');
    number_field(writer->stream, "ts", mark->start_ns, 3);
    fputs(",\"cat\":\"mark\",\"s\":\"p\"", writer->stream);
    text_field(writer->stream, "name", mark->name);
    putc_unlocked('}', writer->stream);
  }
  lane_marks_release(&marks);
}

/* The user phases of processes that have lanes, each on a track of its process. */
static void write_phases(struct writer *writer)
{
  enum { TRACK = INT32_MAX - 1 };
  const struct report *report = writer->report;
  uint32_t named = MODEL_NONE;
  for (uint32_t i = 0; i < report->time.timeline->lanes_count; i++) {
    uint32_t process = report->time.timeline->lanes[writer->lanes.order[i]].process, count;
    const uint32_t *marks = run_marks_of(report->time.marks, process, &count);
    for (uint32_t k = 0; timeline_first_of_process(&writer->lanes, i) && k < count; k++) {
      const struct run_mark *phase = &report->time.marks->marks[marks[k]];
      if (!phase->user_phase || phase->end_ns == phase->start_ns)
        continue;
      writer->pid = writer->lanes.pids[process];
      writer->tid = TRACK;
      if (named != process) {
        name_lane(writer, "thread_name", "phases");
        sort_lane(writer, "thread_sort_index", 0);
        named = process;
      }
      open_event(writer, 'X');
      number_field(writer->stream, "ts", phase->start_ns, 3);
      number_field(writer->stream, "dur", phase->end_ns - phase->start_ns, 3);
      fputs(",\"cat\":\"phase\"", writer->stream);
      text_field(writer->stream, "name", phase->name);
      putc_unlocked('}', writer->stream);
    }
  }
}

/* ---- tracks of processes ---- */

/* Where the critical path of a process is, in one piece on a lane; it is written when another piece comes. */
struct piece {
  uint32_t lane;
  uint64_t start_ns, end_ns;
  bool named; /* its track has a name */
};

/* The number of threads of a process that work; a change is written when a later one comes. */
struct count {
  uint32_t now, written;
  uint64_t since_ns;
};

struct tracks {
  struct writer *writer;
  struct count *counts; /* [process] */
  struct piece *pieces; /* [process] */
  bool *works;          /* [lane] */
  uint32_t *ends;       /* lanes by their ends */
  uint32_t ended;       /* of them, so many have ended */
};

static void write_count(struct tracks *tracks, uint32_t process)
{
  assert(process < tracks->writer->report->profile->processes_count);
  struct writer *writer = tracks->writer;
  struct count *count = &tracks->counts[process];
  if (count->now == count->written)
    return;
  writer->pid = writer->lanes.pids[process];
  writer->tid = 0;
  open_event(writer, 'C');
  number_field(writer->stream, "ts", count->since_ns, 3);
  fprintf(writer->stream, ",\"name\":\"working threads\",\"args\":{\"threads\":%" PRIu32 "}}", count->now);
  count->written = count->now;
}

static void set_lane(struct tracks *tracks, uint32_t lane, bool works, uint64_t time_ns)
{
  assert(lane < tracks->writer->report->time.timeline->lanes_count);
  uint32_t process = tracks->writer->report->time.timeline->lanes[lane].process;
  struct count *count = &tracks->counts[process];
  if (tracks->works[lane] == works)
    return;
  if (count->since_ns != time_ns)
    write_count(tracks, process);
  tracks->works[lane] = works;
  count->now = works ? count->now + 1 : count->now - 1;
  count->since_ns = time_ns;
}

static void end_lanes(struct tracks *tracks, uint64_t time_ns)
{
  const struct timeline *timeline = tracks->writer->report->time.timeline;
  for (; tracks->ended < timeline->lanes_count; tracks->ended++) {
    uint32_t lane = tracks->ends[tracks->ended];
    if (timeline->lanes[lane].end_ns > time_ns)
      break;
    set_lane(tracks, lane, false, timeline->lanes[lane].end_ns);
  }
}

static void write_piece(struct tracks *tracks, uint32_t process)
{
  assert(process < tracks->writer->report->profile->processes_count);
  enum { TRACK = INT32_MAX };
  struct writer *writer = tracks->writer;
  struct piece *piece = &tracks->pieces[process];
  if (piece->start_ns == piece->end_ns)
    return;
  writer->pid = writer->lanes.pids[process];
  writer->tid = TRACK;
  if (!piece->named) {
    name_lane(writer, "thread_name", "critical path");
    sort_lane(writer, "thread_sort_index", 0);
    piece->named = true;
  }
  open_event(writer, 'X');
  number_field(writer->stream, "ts", piece->start_ns, 3);
  number_field(writer->stream, "dur", piece->end_ns - piece->start_ns, 3);
  fprintf(writer->stream, ",\"cat\":\"critical path\",\"name\":\"thread %" PRIu32 "\"}",
          timeline_thread(writer->report, piece->lane)->index);
  piece->start_ns = piece->end_ns;
}

/* The pieces of a path follow each other; slices of a track must do so, whatever the intervals say. */
static void add_piece(struct tracks *tracks, const struct timeline_interval *interval)
{
  assert(interval->start_ns < interval->end_ns);
  uint32_t process = tracks->writer->report->time.timeline->lanes[interval->lane].process;
  struct piece *piece = &tracks->pieces[process];
  uint64_t start = MAX(interval->start_ns, piece->end_ns);
  if (!interval->critical || interval->end_ns <= start)
    return;
  if (piece->lane != interval->lane || piece->end_ns != start) {
    write_piece(tracks, process);
    piece->lane = interval->lane;
    piece->start_ns = start;
  }
  piece->end_ns = interval->end_ns;
}

static int add_interval(void *context, const struct timeline_interval *interval)
{
  struct tracks *tracks = context;
  end_lanes(tracks, interval->start_ns);
  set_lane(tracks, interval->lane, interval->category == TIMELINE_WORK, interval->start_ns);
  if (tracks->writer->report->time.timeline->lanes[interval->lane].critical_known)
    add_piece(tracks, interval);
  return ferror(tracks->writer->stream) ? ERR_INPUT : 0;
}

static int by_end(const void *a, const void *b, void *context)
{
  const struct timeline_lane *lanes = context;
  return COMPARE(lanes[*(const uint32_t *)a].end_ns, lanes[*(const uint32_t *)b].end_ns);
}

static int write_tracks(struct writer *writer)
{
  const struct timeline *timeline = writer->report->time.timeline;
  uint32_t processes = writer->report->profile->processes_count;
  struct tracks tracks = {.writer = writer,
                          .counts = xcalloc(processes, sizeof *tracks.counts),
                          .pieces = xcalloc(processes, sizeof *tracks.pieces),
                          .works = xcalloc(timeline->lanes_count, sizeof *tracks.works),
                          .ends = xcalloc(timeline->lanes_count, sizeof *tracks.ends)};
  for (uint32_t i = 0; i < timeline->lanes_count; i++)
    tracks.ends[i] = i;
  qsort_r(tracks.ends, timeline->lanes_count, sizeof *tracks.ends, by_end, timeline->lanes);
  int status = timeline->each(timeline->source, MODEL_NONE, add_interval, &tracks);
  end_lanes(&tracks, UINT64_MAX);
  for (uint32_t i = 0; i < processes; i++) {
    write_count(&tracks, i);
    write_piece(&tracks, i);
  }
  free(tracks.counts);
  free(tracks.pieces);
  free(tracks.works);
  free(tracks.ends);
  return status;
}

/* ---- devices ---- */

/* A slice on the track of the device. */
static void write_use(void *context, const struct device_use *use)
{
  static const char *const names[DEVICE_ACTIONS] = {
      [DEVICE_COPY_TO] = "copy to device", [DEVICE_COPY_FROM] = "copy from device", [DEVICE_OTHER] = "target"};
  bool region = use->track == DEVICE_RECORDED + DEVICE_OTHER;
  struct devices *devices = context;
  struct writer *writer = devices->writer;
  uint32_t i = 0;
  writer->pid = writer->lanes.pids[use->process];
  writer->tid = FIRST_DEVICE + use->device * DEVICE_TRACKS + use->track;
  while (i < devices->count && (devices->named[i].process != use->process || devices->named[i].device != use->device ||
                                devices->named[i].track != use->track))
    i++;
  if (i == devices->count) {
    char name[TIMELINE_TEXT_MAX];
    timeline_device_name(writer->report, use, name);
    name_lane(writer, "thread_name", name);
    *XAPPEND(devices->named, devices->count, devices->room) = *use;
  }
  open_event(writer, 'X');
  number_field(writer->stream, "ts", use->start_ns, 3);
  number_field(writer->stream, "dur", use->end_ns - use->start_ns, 3);
  fprintf(writer->stream,
          ",\"cat\":\"device\",\"name\":\"%s\",\"args\":{\"construct\":", region ? "region" : names[use->action]);
  char construct[TIMELINE_TEXT_MAX];
  timeline_construct_name(&writer->report->constructs->entries[use->construct], construct);
  row_writer_json_string(writer->stream, construct);
  fputs("}}", writer->stream);
}

static int write_devices(struct writer *writer)
{
  struct devices devices = {.writer = writer};
  int status = device_uses_each(writer->report, write_use, &devices);
  free(devices.named);
  return status;
}

int perfetto_write(const struct report *report)
{
  static const struct timeline_events events = {enter, leave, slice, mpi, true};
  const struct timeline *timeline = report->time.timeline;
  struct writer writer = {.report = report, .stream = report->stream};
  timeline_lanes_init(report, &writer.lanes);
  fputs("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"command\":", writer.stream);
  row_writer_json_string(writer.stream, report->totals->command);
  if (report->filtered && *report->filtered) {
    fputs(",\"filtered\":", writer.stream);
    row_writer_json_string(writer.stream, report->filtered);
  }
  fprintf(writer.stream, ",\"origin_realtime_ns\":\"%" PRIu64 "\"},\n\"traceEvents\":[", timeline->origin_ns);
  describe_lanes(&writer);
  int status = 0;
  for (uint32_t i = 0; i < timeline->lanes_count && !status; i++) {
    uint32_t lane = writer.lanes.order[i];
    writer.pid = writer.lanes.pids[timeline->lanes[lane].process];
    writer.tid = tid_of(timeline_thread(report, lane));
    status = timeline_walk(&writer.lanes, lane, &events, &writer);
    write_marks(&writer, lane);
  }
  write_phases(&writer);
  if (!status)
    status = write_tracks(&writer);
  if (!status)
    status = write_devices(&writer);
  if (!status)
    status = write_messages(&writer);
  fputs("\n]}\n", writer.stream);
  timeline_lanes_release(&writer.lanes);
  return status;
}
