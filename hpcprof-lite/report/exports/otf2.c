/* The timeline as an archive of the Open Trace Format 2, which Vampir and the tools of OTF2 read.
 *
 * Context: BATCH.  Constructs are regions; what a thread does in them but work is a region of its category inside.  So
 * the work is what remains.
 */
#include "hpcprof-lite/report/exports/exports.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/exports/lane_marks.h"
#include "hpcprof-lite/report/exports/loaded_module.h"
#include "hpcprof-lite/report/exports/otf2_library.h"
#include "hpcprof-lite/report/exports/string_table.h"
#include "hpcprof-lite/report/exports/timeline_lanes.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Regions: the categories but work, then the constructs, of which the first one is the program. */
enum { FIRST_CATEGORY = TIMELINE_WORK + 1, FIRST_CONSTRUCT = TIMELINE_CATEGORIES - FIRST_CATEGORY };

struct writer {
  const struct report *report;
  const struct otf2_library *otf2;
  struct timeline_lanes lanes;
  uint64_t *events;     /* [place of a lane] */
  uint64_t written;     /* events of the present lane */
  uint32_t *string_of;  /* [row] number of its name + 1 where something waits for it, 0 for others */
  uint32_t *waited_for; /* those rows, by the numbers of their names: the first strings */
  uint32_t waited_for_count;
  struct lane_marks marks;      /* of the present lane */
  struct string_table counters; /* names of counters, by their numbers */
  uint32_t strings;             /* defined so far */
};

static const struct loaded_module module = {OTF2_MODULE, OTF2_LIBRARY_SYMBOL, "OTF2", "libotf2-trace-dev", "otf2"};

/* ---- events ---- */

/* The string that names a row. */
static uint32_t name_of(struct writer *writer, uint32_t row)
{
  if (row >= writer->report->tree->count)
    return OTF2_NO_STRING;
  if (!writer->string_of[row]) {
    writer->waited_for[writer->waited_for_count++] = row;
    writer->string_of[row] = writer->waited_for_count;
  }
  return writer->string_of[row] - 1;
}

/* A construct is one region, wherever it stands in the tree. */
static uint32_t region_of(const struct writer *writer, uint32_t entry)
{
  assert(!writer->lanes.entries || entry < writer->lanes.entries);
  return FIRST_CONSTRUCT + (writer->lanes.entries ? writer->report->constructs->entries[entry].region : 0);
}

/* The values that the lane has counted until a time. */
static void write_values(struct writer *writer, uint64_t until_ns)
{
  const struct lane_mark *mark;
  while ((mark = lane_marks_until(&writer->marks, until_ns)))
    if (mark->kind == LANE_COUNT) {
      writer->written++;
      writer->otf2->value(mark->start_ns, string_table_add(&writer->counters, mark->name), mark->value);
    }
}

static void enter_region(struct writer *writer, uint32_t region, uint64_t time_ns, uint32_t wait_for)
{
  write_values(writer, time_ns);
  writer->written++;
  writer->otf2->enter(time_ns, region, wait_for);
}

static void leave_region(struct writer *writer, uint32_t region, uint64_t time_ns)
{
  write_values(writer, time_ns);
  writer->written++;
  writer->otf2->leave(time_ns, region);
}

static void enter(void *context, uint32_t entry, uint64_t time_ns)
{
  enter_region(context, region_of(context, entry), time_ns, OTF2_NO_STRING);
}

static void leave(void *context, uint32_t entry, uint64_t time_ns)
{
  leave_region(context, region_of(context, entry), time_ns);
}

static void interval(void *context, const struct timeline_interval *interval)
{
  struct writer *writer = context;
  if (interval->category == TIMELINE_WORK)
    return;
  bool waits = interval->category == TIMELINE_IDLE || interval->category == TIMELINE_LOCK_WAIT;
  uint32_t wait_for = OTF2_NO_STRING;
  if (waits)
    wait_for = name_of(writer, interval->wait_for);
  enter_region(writer, interval->category - FIRST_CATEGORY, interval->start_ns, wait_for);
  leave_region(writer, interval->category - FIRST_CATEGORY, interval->end_ns);
}

static int write_lane(struct writer *writer, uint32_t place)
{
  assert(place < writer->report->time.timeline->lanes_count);
  static const struct timeline_events events = {enter, leave, interval};
  uint32_t lane = writer->lanes.order[place];
  const struct timeline_lane *life = &writer->report->time.timeline->lanes[lane];
  if (writer->otf2->open_location(place))
    return ERR_INPUT;
  writer->written = 0;
  lane_marks_read(writer->report, lane, &writer->marks);
  enter(writer, 0, life->start_ns);
  timeline_walk(&writer->lanes, lane, &events, writer);
  leave(writer, 0, life->end_ns);
  writer->events[place] = writer->written;
  lane_marks_release(&writer->marks);
  return writer->otf2->close_location();
}

/* ---- definitions ---- */

/* The format wants UTF-8; control characters would reach the terminal on which it is printed. */
static uint32_t define_string(struct writer *writer, const char *text)
{
  assert(text);
  size_t size;
  char *clean = row_writer_escaped(text, &size);
  writer->otf2->string(writer->strings, clean);
  free(clean);
  return writer->strings++;
}

static void write_mark(struct writer *writer, uint32_t place, const struct lane_mark *mark)
{
  size_t size;
  char *clean = row_writer_escaped(mark->name, &size);
  writer->otf2->mark(mark->start_ns, mark->end_ns - mark->start_ns, place, clean);
  free(clean);
}

static void define_waited_for(struct writer *writer)
{
  char name[TIMELINE_TEXT_MAX];
  for (uint32_t i = 0; i < writer->waited_for_count; i++) {
    timeline_row_name(writer->report->tree, writer->waited_for[i], name);
    define_string(writer, name);
  }
  uint32_t attribute = define_string(writer, "wait_for");
  writer->otf2->wait_for(attribute, define_string(writer, "the context to blame for the waiting"));
}

static void define_categories(struct writer *writer)
{
  for (uint32_t i = FIRST_CATEGORY; i < TIMELINE_CATEGORIES; i++) {
    const char *name = timeline_category_name((enum timeline_category)i);
    const struct otf2_region region = {
        .number = i - FIRST_CATEGORY, .category = i, .name = define_string(writer, name), .file = OTF2_NO_STRING};
    writer->otf2->region(&region);
  }
}

static void define_construct(struct writer *writer, const struct construct_entry *entry)
{
  char name[TIMELINE_TEXT_MAX];
  timeline_construct_name(entry, name);
  struct otf2_region region = {.number = FIRST_CONSTRUCT + entry->region,
                               .name = define_string(writer, name),
                               .category = MODEL_NONE,
                               .kind = entry->kind,
                               .line = entry->line,
                               .file = OTF2_NO_STRING};
  if (*entry->file)
    region.file = define_string(writer, entry->file);
  writer->otf2->region(&region);
}

/* Readers want regions in the order of their numbers. */
static void define_constructs(struct writer *writer)
{
  static const struct construct_entry program = {.kind = DIRECTIVE_PROGRAM, .name = "", .file = ""};
  uint32_t count = writer->lanes.entries;
  const struct construct_entry *entries = count ? writer->report->constructs->entries : &program;
  const struct construct_entry **first = xcalloc((size_t)count + 1, sizeof *first); /* [region] */
  for (uint32_t i = count + !count; i-- > 0;)
    first[entries[i].region] = &entries[i];
  for (uint32_t i = 0; i < count + !count; i++)
    if (first[i])
      define_construct(writer, first[i]);
  free(first);
}

static void define_counters(struct writer *writer)
{
  for (uint32_t i = 0; i < writer->counters.count; i++)
    writer->otf2->counter(i, define_string(writer, writer->counters.texts[i]));
}

/* The marks and user phases of all lanes. */
static void write_marks(struct writer *writer)
{
  struct report bare = *writer->report;
  struct timeline without = *bare.time.timeline; /* values are written already */
  without.counts = NULL;
  bare.time.timeline = &without;
  for (uint32_t place = 0; place < without.lanes_count; place++) {
    const struct lane_mark *mark;
    lane_marks_read(&bare, writer->lanes.order[place], &writer->marks);
    while ((mark = lane_marks_until(&writer->marks, UINT64_MAX)))
      write_mark(writer, place, mark);
    lane_marks_release(&writer->marks);
  }
}

/* A system tree node for each host, a location group for each process, a location for each thread. */
static void define_lanes(struct writer *writer)
{
  uint32_t class_name = define_string(writer, "node"), nodes = 0, processes = 0;
  char name[TIMELINE_TEXT_MAX];
  for (uint32_t place = 0; place < writer->report->time.timeline->lanes_count; place++) {
    const struct profile_process *process = report_lane_process(writer->report, writer->lanes.order[place]);
    if (timeline_first_of_host(&writer->lanes, place))
      writer->otf2->node(nodes++, define_string(writer, report_known(process->host)), class_name);
    if (timeline_first_of_process(&writer->lanes, place)) {
      timeline_process_name(process, name);
      writer->otf2->process(processes++, define_string(writer, name), nodes - 1);
    }
    timeline_thread_name(timeline_thread(writer->report, writer->lanes.order[place]), name);
    writer->otf2->location(place, define_string(writer, name), writer->events[place], processes - 1);
  }
}

static void write_archive(struct writer *writer, const char *directory)
{
  const struct timeline *timeline = writer->report->time.timeline;
  uint64_t end_ns = timeline->from_ns; /* of the last lane: the range may go on after that */
  char description[PROFILE_FILTERED_MAX + sizeof PROFILE_NOTE_FILTERED] = "";
  if (writer->report->filtered && *writer->report->filtered)
    snprintf(description, sizeof description, PROFILE_NOTE_FILTERED "%s", writer->report->filtered);
  int status = writer->otf2->start(directory, description);
  for (uint32_t i = 0; i < timeline->lanes_count && !status; i++) {
    status = write_lane(writer, i);
    end_ns = MAX(end_ns, timeline->lanes[i].end_ns);
  }
  if (status)
    return;
  if (writer->otf2->clock(timeline->from_ns, end_ns - timeline->from_ns, timeline->origin_ns + timeline->from_ns))
    return;
  define_waited_for(writer);
  define_categories(writer);
  define_constructs(writer);
  define_counters(writer);
  define_lanes(writer);
  write_marks(writer);
}

int otf2_write(const struct report *report, const char *directory, char *message, size_t size)
{
  assert(directory && message && size);
  struct writer writer = {.report = report, .otf2 = loaded_module_open(&module, message, size)};
  if (!writer.otf2)
    return ERR_INPUT;
  *message = '\0';
  uint32_t rows = report->tree->count;
  writer.events = xcalloc(report->time.timeline->lanes_count, sizeof *writer.events);
  writer.string_of = xcalloc(rows, sizeof *writer.string_of);
  writer.waited_for = xcalloc(rows, sizeof *writer.waited_for);
  timeline_lanes_init(report, &writer.lanes);
  write_archive(&writer, directory);
  const char *failure = writer.otf2->finish();
  if (failure)
    snprintf(message, size, "%s", failure);
  timeline_lanes_release(&writer.lanes);
  string_table_release(&writer.counters);
  free(writer.events);
  free(writer.string_of);
  free(writer.waited_for);
  return failure ? ERR_INPUT : 0;
}
