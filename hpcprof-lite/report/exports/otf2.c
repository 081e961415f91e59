#include "hpcprof-lite/report/exports/otf2.h"

#include "common/xalloc.h"
#include "hpcprof-lite/report/exports/lane_marks.h"
#include "hpcprof-lite/report/exports/loaded_module.h"
#include "hpcprof-lite/report/exports/otf2_library.h"
#include "hpcprof-lite/report/exports/string_table.h"
#include "hpcprof-lite/report/exports/timeline_lanes.h"
#include "hpcprof-lite/report/row_writer.h"

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
  bool no_memory;
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
  return FIRST_CONSTRUCT + (writer->lanes.entries ? writer->report->constructs->entries[entry].region : 0);
}

/* The values that the lane has counted until a time. */
static int write_values(struct writer *writer, uint64_t until_ns)
{
  const struct lane_mark *mark;
  int status = 0;
  while (!status && (mark = lane_marks_until(&writer->marks, until_ns)))
    if (mark->kind == LANE_COUNT) {
      writer->written++;
      status = writer->otf2->value(mark->start_ns, string_table_add(&writer->counters, mark->name), mark->value);
    }
  return status;
}

static int enter(void *context, uint32_t entry, uint64_t time_ns)
{
  struct writer *writer = context;
  if (write_values(writer, time_ns))
    return ERR_INPUT;
  writer->written++;
  return writer->otf2->enter(time_ns, region_of(writer, entry), OTF2_NO_STRING);
}

static int leave(void *context, uint32_t entry, uint64_t time_ns)
{
  struct writer *writer = context;
  if (write_values(writer, time_ns))
    return ERR_INPUT;
  writer->written++;
  return writer->otf2->leave(time_ns, region_of(writer, entry));
}

static int interval(void *context, const struct timeline_interval *interval)
{
  struct writer *writer = context;
  if (interval->category == TIMELINE_WORK)
    return 0;
  bool waits = interval->category == TIMELINE_IDLE || interval->category == TIMELINE_LOCK_WAIT;
  uint32_t wait_for = waits ? name_of(writer, interval->wait_for) : OTF2_NO_STRING;
  writer->written += 2;
  int status = write_values(writer, interval->start_ns);
  status = status ? status : writer->otf2->enter(interval->start_ns, interval->category - FIRST_CATEGORY, wait_for);
  status = status ? status : write_values(writer, interval->end_ns);
  return status ? status : writer->otf2->leave(interval->end_ns, interval->category - FIRST_CATEGORY);
}

static int write_lane(struct writer *writer, uint32_t place)
{
  static const struct timeline_events events = {enter, leave, interval};
  uint32_t lane = writer->lanes.order[place];
  const struct timeline_lane *life = &writer->report->timeline->lanes[lane];
  writer->written = 0;
  int status = lane_marks_read(writer->report, lane, &writer->marks);
  status = status ? status : writer->otf2->open_location(place);
  status = status ? status : enter(writer, 0, life->start_ns);
  status = status ? status : timeline_walk(&writer->lanes, lane, &events, writer);
  status = status ? status : leave(writer, 0, life->end_ns);
  writer->events[place] = writer->written;
  lane_marks_release(&writer->marks);
  return status ? status : writer->otf2->close_location();
}

/* ---- definitions ---- */

/* The format wants UTF-8; control characters would reach the terminal of who prints it.  Returns a copy for free(), or
 * NULL without memory. */
static char *clean_text(const char *text)
{
  char *clean = NULL;
  size_t size;
  FILE *stream = xopen_memstream(&clean, &size);
  while (stream && *text)
    text = row_writer_character(stream, text);
  if (stream && !fclose(stream) && clean)
    return clean;
  free(clean);
  return NULL;
}

static uint32_t define_string(struct writer *writer, const char *text)
{
  char *clean = clean_text(text);
  if (clean)
    writer->otf2->string(writer->strings, clean);
  else
    writer->no_memory = true;
  free(clean);
  return writer->strings++;
}

static int write_mark(struct writer *writer, uint32_t place, const struct lane_mark *mark)
{
  char *clean = clean_text(mark->name);
  if (clean)
    writer->otf2->mark(mark->start_ns, mark->end_ns - mark->start_ns, place, clean);
  free(clean);
  return clean ? 0 : ERR_NOMEM;
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
static int define_constructs(struct writer *writer)
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
  return 0;
}

static void define_counters(struct writer *writer)
{
  for (uint32_t i = 0; i < writer->counters.count; i++)
    writer->otf2->counter(i, define_string(writer, writer->counters.texts[i]));
}

/* The marks and phases of all lanes. */
static int write_marks(struct writer *writer)
{
  int status = 0;
  for (uint32_t place = 0; place < writer->report->timeline->lanes_count && !status; place++) {
    const struct lane_mark *mark;
    struct report bare = *writer->report;
    struct timeline without = *bare.timeline; /* values are written already */
    without.counts = NULL;
    bare.timeline = &without;
    status = lane_marks_read(&bare, writer->lanes.order[place], &writer->marks);
    while (!status && (mark = lane_marks_until(&writer->marks, UINT64_MAX)))
      status = write_mark(writer, place, mark);
    lane_marks_release(&writer->marks);
  }
  return status;
}

/* A system tree node for each host, a location group for each process, a location for each thread. */
static void define_lanes(struct writer *writer)
{
  uint32_t class_name = define_string(writer, "node"), nodes = 0, processes = 0;
  char name[TIMELINE_TEXT_MAX];
  for (uint32_t place = 0; place < writer->report->timeline->lanes_count; place++) {
    const struct profile_process *process = timeline_process(writer->report, writer->lanes.order[place]);
    if (timeline_first_of_host(&writer->lanes, place))
      writer->otf2->node(nodes++, define_string(writer, *process->host ? process->host : "(unknown)"), class_name);
    if (timeline_first_of_process(&writer->lanes, place)) {
      timeline_process_name(process, name);
      writer->otf2->process(processes++, define_string(writer, name), nodes - 1);
    }
    timeline_thread_name(timeline_thread(writer->report, writer->lanes.order[place]), name);
    writer->otf2->location(place, define_string(writer, name), writer->events[place], processes - 1);
  }
}

static int write_archive(struct writer *writer, const char *directory)
{
  const struct timeline *timeline = writer->report->timeline;
  uint64_t end_ns = timeline->from_ns; /* of the last lane: the range may go on after that */
  char description[PROFILE_FILTERED_MAX + sizeof PROFILE_NOTE_FILTERED] = "";
  if (writer->report->filtered && *writer->report->filtered)
    snprintf(description, sizeof description, PROFILE_NOTE_FILTERED "%s", writer->report->filtered);
  int status = writer->otf2->start(directory, description);
  for (uint32_t i = 0; i < timeline->lanes_count && !status; i++) {
    status = write_lane(writer, i);
    end_ns = timeline->lanes[i].end_ns > end_ns ? timeline->lanes[i].end_ns : end_ns;
  }
  if (status)
    return status;
  writer->otf2->clock(timeline->from_ns, end_ns - timeline->from_ns, timeline->origin_ns + timeline->from_ns);
  define_waited_for(writer);
  define_categories(writer);
  status = define_constructs(writer);
  define_counters(writer);
  define_lanes(writer);
  status = status ? status : write_marks(writer);
  return writer->no_memory || writer->counters.failed ? ERR_NOMEM : status;
}

int otf2_write(const struct report *report, const char *directory, char *message, size_t size)
{
  struct writer writer = {.report = report, .otf2 = loaded_module_open(&module, message, size)};
  if (!writer.otf2)
    return ERR_INPUT;
  *message = '\0';
  uint32_t rows = report->tree->count;
  writer.events = xcalloc((size_t)report->timeline->lanes_count + 1, sizeof *writer.events);
  writer.string_of = xcalloc((size_t)rows + 1, sizeof *writer.string_of);
  writer.waited_for = xcalloc((size_t)rows + 1, sizeof *writer.waited_for);
  int status = timeline_lanes_init(report, &writer.lanes);
  status = writer.events && writer.string_of && writer.waited_for ? status : ERR_NOMEM;
  if (!status) {
    status = write_archive(&writer, directory);
    const char *failure = writer.otf2->finish();
    if (failure)
      snprintf(message, size, "%s", failure);
    status = failure && !status ? ERR_INPUT : status;
  }
  timeline_lanes_release(&writer.lanes);
  lane_marks_release(&writer.marks);
  string_table_release(&writer.counters);
  free(writer.events);
  free(writer.string_of);
  free(writer.waited_for);
  return status;
}
