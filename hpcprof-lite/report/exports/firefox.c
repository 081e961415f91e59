/* The timeline as a processed profile of the Firefox Profiler (profiler.firefox.com), version 60 of that format.
 *
 * Context: BATCH.  Each interval is a sample whose weight is its duration; its stack is a path of the top-down tree.
 * Constructs, and waiting with what it is for, are markers.  The format has columns: the intervals of a lane are read
 * once for each, so that memory does not grow with their number.  A device is a thread without samples, whose uses are
 * markers.
 */
#include "hpcprof-lite/report/exports/exports.h"

#include "hpcprof-lite/report/exports/firefox_tables.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>

/* The profiler's own colours.  Its first grey category, which it gives everything that has none, precedes these. */
static const char *const colours[TIMELINE_CATEGORIES] = {
    [TIMELINE_WORK] = "green",     [TIMELINE_OVERHEAD] = "orange",   [TIMELINE_LOCK_WAIT] = "red",
    [TIMELINE_IDLE] = "yellow",    [TIMELINE_MPI] = "blue",          [TIMELINE_DEVICE] = "lightblue",
    [TIMELINE_BLOCKED] = "purple", [TIMELINE_CORE_WAIT] = "magenta", [TIMELINE_NO_CORE] = "brown",
    [TIMELINE_TOOL] = "lightblue", [TIMELINE_GAP] = "transparent",
};

/* The columns of a thread's samples and markers. */
enum column {
  SAMPLE_STACK,
  SAMPLE_TIME,
  SAMPLE_WEIGHT,
  MARKER_NAME,
  MARKER_START,
  MARKER_END,
  MARKER_PHASE,
  MARKER_CATEGORY,
  MARKER_DATA
};

static const char *const columns[] = {
    [SAMPLE_STACK] = "stack", [SAMPLE_TIME] = "time",         [SAMPLE_WEIGHT] = "weight",
    [MARKER_NAME] = "name",   [MARKER_START] = "startTime",   [MARKER_END] = "endTime",
    [MARKER_PHASE] = "phase", [MARKER_CATEGORY] = "category", [MARKER_DATA] = "data"};

enum marker_phase { PHASE_INTERVAL = 1, PHASE_BEGIN, PHASE_END };

/* ---- threads ---- */

static void sample_cell(void *context, const struct timeline_interval *interval)
{
  struct firefox_writer *writer = context;
  if (writer->column == SAMPLE_STACK)
    firefox_number(writer, firefox_stack(writer, timeline_row(&writer->lanes, interval), interval->category));
  else
    firefox_time(writer, writer->column == SAMPLE_TIME ? interval->start_ns : interval->end_ns - interval->start_ns);
}

static void construct_data(struct firefox_writer *writer, uint32_t number, enum marker_phase phase)
{
  assert(number < writer->lanes.entries);
  const struct construct_entry *entry = &writer->report->constructs->entries[number];
  const struct firefox_construct *strings = &writer->constructs[number];
  fputs_unlocked("{\"type\":\"construct\"", firefox_cell(writer));
  if (phase == PHASE_BEGIN) {
    fprintf(writer->stream, ",\"kind\":%" PRIu32, strings->kind);
    if (*entry->name)
      fprintf(writer->stream, ",\"function\":%" PRIu32, strings->function);
    if (*entry->file)
      fprintf(writer->stream, ",\"file\":%" PRIu32, strings->file);
    if (entry->line)
      fprintf(writer->stream, ",\"line\":%" PRIu32, entry->line);
  }
  putc_unlocked('}', writer->stream);
}

/* The number of a name.  A name that no counter has, which a damaged trace may hold, becomes the first string. */
static uint32_t mark_name(struct firefox_writer *writer, const char *name)
{
  uint32_t number = string_table_add(&writer->strings, name);
  return number < writer->strings_written ? number : 0;
}

/* A mark, user phase or counter's value of the program in the present column. */
static void mark_cell(struct firefox_writer *writer, const struct lane_mark *mark)
{
  static const char *const types[] = {[LANE_MARK] = "mark", [LANE_USER_PHASE] = "phase", [LANE_COUNT] = "counter"};
  bool phase = mark->kind == LANE_USER_PHASE;
  switch (writer->column) {
  case MARKER_NAME:
    firefox_number(writer, mark_name(writer, mark->name));
    break;
  case MARKER_START:
    firefox_time(writer, mark->start_ns);
    break;
  case MARKER_END:
    if (phase)
      firefox_time(writer, mark->end_ns);
    else
      firefox_optional(writer, MODEL_NONE);
    break;
  case MARKER_DATA:
    fprintf(firefox_cell(writer), "{\"type\":\"%s\"", types[mark->kind]);
    if (mark->kind == LANE_COUNT)
      fprintf(writer->stream, ",\"value\":%" PRIu64, mark->value);
    putc_unlocked('}', writer->stream);
    break;
  default:
    firefox_number(writer, writer->column == MARKER_PHASE && phase ? PHASE_INTERVAL : 0);
  }
}

/* Those that come until a time. */
static void mark_cells(struct firefox_writer *writer, uint64_t until_ns)
{
  const struct lane_mark *mark;
  while ((mark = lane_marks_until(&writer->marks, until_ns)))
    mark_cell(writer, mark);
}

/* The start or end of what has that name, in the present column, which is not that of its data. */
static void marker_cell(struct firefox_writer *writer, uint32_t name, uint64_t time_ns, enum marker_phase phase)
{
  assert(writer->column != MARKER_DATA);
  switch (writer->column) {
  case MARKER_NAME:
    firefox_number(writer, name);
    break;
  case MARKER_START:
  case MARKER_END:
    if ((phase == PHASE_BEGIN) == (writer->column == MARKER_START))
      firefox_time(writer, time_ns);
    else
      firefox_optional(writer, MODEL_NONE);
    break;
  default:
    firefox_number(writer, writer->column == MARKER_PHASE ? phase : 0);
  }
}

static void construct_marker(struct firefox_writer *writer, uint32_t number, uint64_t time_ns, enum marker_phase phase)
{
  assert(number < writer->lanes.entries);
  mark_cells(writer, time_ns);
  if (writer->column == MARKER_DATA)
    construct_data(writer, number, phase);
  else
    marker_cell(writer, writer->constructs[number].name, time_ns, phase);
}

/* The start or end of a call of MPI. */
static void mpi_marker(void *context, const struct mpi_event *event)
{
  struct firefox_writer *writer = context;
  mark_cells(writer, event->time_ns);
  if (writer->column == MARKER_DATA)
    fputs_unlocked("{\"type\":\"mpi\"}", firefox_cell(writer));
  else
    marker_cell(writer, writer->mpi_names[event->function], event->time_ns,
                event->kind == MPI_EVENT_CALL ? PHASE_BEGIN : PHASE_END);
}

static void construct_begin(void *context, uint32_t number, uint64_t time_ns)
{
  construct_marker(context, number, time_ns, PHASE_BEGIN);
}

static void construct_end(void *context, uint32_t number, uint64_t time_ns)
{
  construct_marker(context, number, time_ns, PHASE_END);
}

static void wait_data(struct firefox_writer *writer, uint32_t wait_for)
{
  const struct tree *tree = writer->report->tree;
  fputs_unlocked("{\"type\":\"wait\"", firefox_cell(writer));
  if (wait_for < tree->count)
    fprintf(writer->stream, ",\"wait_for\":%" PRIu32 ",\"wait_for_id\":%" PRIu32, writer->row_names[wait_for],
            tree->rows[wait_for].id);
  putc_unlocked('}', writer->stream);
}

/* Waiting in the present column; no other interval is a marker. */
static void wait_marker(void *context, const struct timeline_interval *interval)
{
  struct firefox_writer *writer = context;
  if (interval->category != TIMELINE_IDLE && interval->category != TIMELINE_LOCK_WAIT)
    return;
  mark_cells(writer, interval->start_ns);
  switch (writer->column) {
  case MARKER_NAME:
    firefox_number(writer, writer->category_names[interval->category]);
    break;
  case MARKER_START:
    firefox_time(writer, interval->start_ns);
    break;
  case MARKER_END:
    firefox_time(writer, interval->end_ns);
    break;
  case MARKER_DATA:
    wait_data(writer, interval->wait_for);
    break;
  default:
    firefox_number(writer, writer->column == MARKER_PHASE ? PHASE_INTERVAL : interval->category + 1);
  }
}

/* The columns from one to another one, each in a walk of its own. */
static int write_columns(struct firefox_writer *writer, uint32_t lane, enum column first, enum column last,
                         const struct timeline_events *events)
{
  assert(first <= last);
  int status = 0;
  for (writer->column = first; writer->column <= last && !status; writer->column++) {
    firefox_open_column(writer, columns[writer->column]);
    writer->marks.next = 0;
    status = timeline_walk(&writer->lanes, lane, events, writer);
    if (first == MARKER_NAME)
      mark_cells(writer, UINT64_MAX);
    firefox_close_column(writer);
  }
  fprintf(writer->stream, "\"length\":%" PRIu32 "}", writer->cells);
  return status;
}

/* What a thread has before its samples. */
static void write_head(struct firefox_writer *writer, uint32_t process, const char *name, const char *id, bool main,
                       uint64_t start_ns, uint64_t end_ns)
{
  static const char *const times[] = {"processStartupTime", "registerTime", "processShutdownTime", "unregisterTime"};
  char process_name[TIMELINE_TEXT_MAX];
  timeline_process_name(&writer->report->profile->processes[process], process_name);
  fputs("{\"processType\":\"default\",\"processName\":", writer->stream);
  row_writer_json_string(writer->stream, process_name);
  fprintf(writer->stream, ",\"name\":\"%s\",\"isMainThread\":%s,\"pid\":\"%" PRIu64 "\",\"tid\":\"%s\"", name,
          main ? "true" : "false", writer->lanes.pids[process], id);
  for (unsigned i = 0; i < 4; i++) {
    fprintf(writer->stream, ",\"%s\":", times[i]);
    row_writer_number(writer->stream, i < 2 ? start_ns : end_ns, 6);
  }
  fputs(",\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n\"samples\":{\"weightType\":\"tracing-ms\",\n",
        writer->stream);
}

static int write_thread(struct firefox_writer *writer, uint32_t lane)
{
  assert(lane < writer->report->time.timeline->lanes_count);
  static const struct timeline_events samples = {.interval = sample_cell};
  static const struct timeline_events markers = {
      .enter = construct_begin, .leave = construct_end, .interval = wait_marker, .mpi = mpi_marker, .calls_only = true};
  const struct timeline_lane *life = &writer->report->time.timeline->lanes[lane];
  const struct profile_thread *thread = timeline_thread(writer->report, lane);
  char name[TIMELINE_TEXT_MAX], id[32];
  timeline_thread_name(thread, name);
  /* the system may have given a number twice */
  snprintf(id, sizeof id, "%" PRIu32 ".%" PRIu32, thread->tid, thread->index);
  write_head(writer, life->process, name, id, !life->thread, life->start_ns, life->end_ns);
  int status = write_columns(writer, lane, SAMPLE_STACK, SAMPLE_WEIGHT, &samples);
  fputs(",\n\"markers\":{", writer->stream);
  lane_marks_read(writer->report, lane, &writer->marks);
  if (!status)
    status = write_columns(writer, lane, MARKER_NAME, MARKER_DATA, &markers);
  lane_marks_release(&writer->marks);
  fputs("}", writer->stream);
  return status;
}

/* ---- devices ---- */

/* A use in the present column. */
static void use_cell(struct firefox_writer *writer, const struct device_use *use)
{
  switch (writer->column) {
  case MARKER_NAME:
    firefox_number(writer, writer->constructs[use->construct].name);
    break;
  case MARKER_START:
    firefox_time(writer, use->start_ns);
    break;
  case MARKER_END:
    firefox_time(writer, use->end_ns);
    break;
  case MARKER_DATA:
    fputs_unlocked("{\"type\":\"device\"}", firefox_cell(writer));
    break;
  default:
    firefox_number(writer, writer->column == MARKER_PHASE ? PHASE_INTERVAL : TIMELINE_DEVICE + 1);
  }
}

static void write_device(struct firefox_writer *writer, const struct device_lanes *devices,
                         const struct device_lane *device)
{
  const struct device_use *uses = devices->uses;
  char name[TIMELINE_TEXT_MAX], id[32];
  timeline_device_name(writer->report, &uses[device->first], name);
  snprintf(id, sizeof id, "device.%" PRIu32 ".%" PRIu32, device->device - 1, device->track);
  write_head(writer, device->process, name, id, false, uses[device->first].start_ns, uses[device->end - 1].end_ns);
  for (writer->column = SAMPLE_STACK; writer->column <= MARKER_DATA; writer->column++) {
    if (writer->column == MARKER_NAME)
      fputs("\"length\":0},\n\"markers\":{", writer->stream);
    firefox_open_column(writer, columns[writer->column]);
    for (uint32_t i = device->first; writer->column >= MARKER_NAME && i < device->end; i++)
      use_cell(writer, &uses[i]);
    firefox_close_column(writer);
  }
  fprintf(writer->stream, "\"length\":%" PRIu32 "}}", device->end - device->first);
}

/* ---- the profile ---- */

static void write_meta(struct firefox_writer *writer, uint32_t threads)
{
  const struct timeline *timeline = writer->report->time.timeline;
  FILE *stream = writer->stream;
  fputs("\"meta\":{\"preprocessedProfileVersion\":60,\"version\":31,\"processType\":0,\"stackwalk\":1,\"interval\":1,\n"
        "\"startTime\":",
        stream);
  row_writer_number(stream, timeline->origin_ns, 6);
  fputs(",\"importedFrom\":\"hpcprof-lite\",\"product\":", stream);
  row_writer_json_string(stream, writer->report->totals->command);
  if (writer->report->filtered && *writer->report->filtered) {
    fputs(",\n\"extra\":[{\"label\":\"Measurement\",\"entries\":[{\"label\":\"Filtered\",\"format\":\"string\","
          "\"value\":",
          stream);
    row_writer_json_string(stream, writer->report->filtered);
    fputs("}]}]", stream);
  }
  fputs(",\n\"symbolicated\":true,\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
        "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,\n",
        stream);
  firefox_open_column(writer, "initialVisibleThreads");
  for (uint32_t i = 0; i < threads; i++)
    firefox_number(writer, i);
  firefox_close_column(writer);
  fputs("\"categories\":[{\"name\":\"other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}", stream);
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    fprintf(stream, ",\n{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
            timeline_category_name((enum timeline_category)i), colours[i]);
  fputs("],\n\"markerSchema\":[{\"name\":\"construct\",\"isStackBased\":true,"
        "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":["
        "{\"key\":\"kind\",\"format\":\"unique-string\"},{\"key\":\"function\",\"format\":\"unique-string\"},"
        "{\"key\":\"file\",\"format\":\"unique-string\"},{\"key\":\"line\",\"format\":\"integer\"}]},\n"
        "{\"name\":\"wait\",\"tableLabel\":\"{marker.data.wait_for}\",\"chartLabel\":\"{marker.data.wait_for}\","
        "\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":["
        "{\"key\":\"wait_for\",\"label\":\"waits for\",\"format\":\"unique-string\"},"
        "{\"key\":\"wait_for_id\",\"label\":\"context id\",\"format\":\"integer\"}]},\n"
        "{\"name\":\"mpi\",\"isStackBased\":true,\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[]},\n"
        "{\"name\":\"device\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":[]},\n"
        "{\"name\":\"mark\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":[]},\n"
        "{\"name\":\"phase\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":[]},\n"
        "{\"name\":\"counter\",\"display\":[\"marker-chart\",\"marker-table\"],"
        "\"graphs\":[{\"key\":\"value\",\"type\":\"line\"}],"
        "\"fields\":[{\"key\":\"value\",\"format\":\"integer\"}]}]},\n",
        stream);
}

int firefox_write(const struct report *report)
{
  const struct timeline *timeline = report->time.timeline;
  struct firefox_writer writer = {.report = report, .stream = report->stream};
  struct device_lanes devices;
  firefox_prepare(&writer);
  int status = device_lanes_read(report, &devices);
  fputs("{", writer.stream);
  write_meta(&writer, timeline->lanes_count + devices.count);
  fputs("\"libs\":[],\"pages\":[],\n", writer.stream);
  firefox_write_tables(&writer);
  writer.strings_written = writer.strings.count;
  fputs("\"threads\":[", writer.stream);
  for (uint32_t i = 0; i < timeline->lanes_count && !status; i++) {
    fputs(i ? ",\n" : "\n", writer.stream);
    status = write_thread(&writer, writer.lanes.order[i]);
  }
  for (uint32_t i = 0; i < devices.count && !status; i++) {
    fputs(",\n", writer.stream);
    write_device(&writer, &devices, &devices.lanes[i]);
  }
  fputs("\n]}\n", writer.stream);
  device_lanes_release(&devices);
  firefox_release(&writer);
  return status;
}
