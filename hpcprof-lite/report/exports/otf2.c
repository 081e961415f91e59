/* The timeline as an archive of the Open Trace Format 2, which Vampir and the tools of OTF2 read.
 *
 * Context: BATCH.  Constructs are regions; what a thread does in them but work is a region of its category inside.  So
 * the work is what remains.  A device's location has a region for each of its uses.
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
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Regions: the categories but work, then the constructs, of which the first one is the program, then the functions of
 * MPI. */
enum { FIRST_CATEGORY = TIMELINE_WORK + 1, FIRST_CONSTRUCT = TIMELINE_CATEGORIES - FIRST_CATEGORY };

/* What the lanes belong to.  Location groups of ranks have the numbers of the ranks, as readers want; the others
 * follow. */
struct places {
  uint32_t lanes, ranks, groups; /* ranks: of MPI_COMM_WORLD, 0 without messages; groups: of ranks and others */
  uint32_t missing;              /* ranks without a trace: they have locations without events, behind the lanes */
  uint32_t *group;               /* [place] */
  uint32_t *first, *node;        /* [group] its first place, MODEL_NONE: a rank without a trace; its node */
};

struct writer {
  const struct report *report;
  const struct otf2_library *otf2;
  struct timeline_lanes lanes;
  struct places places;
  struct device_lanes devices; /* their locations follow those of the lanes and the missing ranks */
  uint64_t *events;            /* [place of a lane] */
  uint64_t written;            /* events of the present lane */
  uint32_t *string_of;         /* [row] number of its name + 1 where something waits for it, 0 for others */
  uint32_t *waited_for;        /* those rows, by the numbers of their names: the first strings */
  uint32_t waited_for_count;
  struct lane_marks marks;      /* of the present lane */
  struct string_table counters; /* names of counters, by their numbers */
  uint32_t strings;             /* defined so far */
  uint32_t first_function;      /* region of the first function of MPI */
  uint32_t functions_count;
  uint16_t functions[MPI_FUNCTIONS]; /* in the order of their regions */
  uint32_t region_of[MPI_FUNCTIONS]; /* [function] position there + 1; 0: it has not been called */
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

/* The region of a function of MPI, with a number of its own once it is called. */
static uint32_t function_region(struct writer *writer, uint32_t function)
{
  assert(function && function < MPI_FUNCTIONS);
  if (!writer->region_of[function]) {
    writer->functions[writer->functions_count++] = (uint16_t)function;
    writer->region_of[function] = writer->functions_count;
  }
  return writer->first_function + writer->region_of[function] - 1;
}

static void mpi(void *context, const struct mpi_event *event)
{
  struct writer *writer = context;
  if (event->kind == MPI_EVENT_RETURN) {
    leave_region(writer, function_region(writer, event->function), event->time_ns);
  } else if (event->kind == MPI_EVENT_CALL) {
    enter_region(writer, function_region(writer, event->function), event->time_ns, OTF2_NO_STRING);
  } else {
    write_values(writer, event->time_ns);
    writer->written++;
    writer->otf2->mpi(event);
  }
}

static int write_lane(struct writer *writer, uint32_t place)
{
  assert(place < writer->report->time.timeline->lanes_count);
  static const struct timeline_events events = {enter, leave, interval, mpi, false};
  uint32_t lane = writer->lanes.order[place];
  const struct timeline_lane *life = &writer->report->time.timeline->lanes[lane];
  if (writer->otf2->open_location(place))
    return ERR_INPUT;
  writer->written = 0;
  lane_marks_read(writer->report, lane, &writer->marks);
  enter(writer, 0, life->start_ns);
  int status = timeline_walk(&writer->lanes, lane, &events, writer);
  leave(writer, 0, life->end_ns);
  writer->events[place] = writer->written;
  lane_marks_release(&writer->marks);
  return writer->otf2->close_location() ?: status;
}

static uint64_t device_location(const struct writer *writer, uint32_t number)
{
  return (uint64_t)writer->places.lanes + writer->places.missing + number;
}

static int write_device(struct writer *writer, uint32_t number)
{
  assert(number < writer->devices.count);
  const struct device_lane *lane = &writer->devices.lanes[number];
  if (writer->otf2->open_location(device_location(writer, number)))
    return ERR_INPUT;
  for (uint32_t i = lane->first; i < lane->end; i++) {
    const struct device_use *use = &writer->devices.uses[i];
    enter(writer, use->construct, use->start_ns);
    leave(writer, use->construct, use->end_ns);
  }
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

/* Regions of functions follow those of constructs. */
static void number_functions(struct writer *writer)
{
  writer->first_function = FIRST_CONSTRUCT + 1;
  for (uint32_t i = 0; i < writer->lanes.entries; i++)
    writer->first_function =
        MAX(writer->first_function, FIRST_CONSTRUCT + writer->report->constructs->entries[i].region + 1);
}

static void define_functions(struct writer *writer)
{
  for (uint32_t i = 0; i < writer->functions_count; i++) {
    enum mpi_function function = (enum mpi_function)writer->functions[i];
    const struct otf2_region region = {.number = writer->first_function + i,
                                       .name = define_string(writer, mpi_function_name(function)),
                                       .category = MODEL_NONE,
                                       .mpi = mpi_function_kind(function) + 1,
                                       .file = OTF2_NO_STRING};
    writer->otf2->region(&region);
  }
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

static uint32_t group_of(const struct writer *writer, struct places *places, uint32_t place)
{
  const struct profile_process *process = report_lane_process(writer->report, writer->lanes.order[place]);
  uint32_t rank = (uint32_t)process->mpi_rank;
  bool is_rank = process->mpi_size && rank < places->ranks && places->first[rank] == MODEL_NONE;
  return is_rank ? rank : places->groups++;
}

static void find_places(const struct writer *writer, struct places *places)
{
  const struct report *report = writer->report;
  uint32_t lanes = report->time.timeline->lanes_count,
           ranks = report->time.mpi ? mpi_events_ranks(report->time.mpi) : 0;
  *places = (struct places){.lanes = lanes, .ranks = ranks, .groups = ranks};
  places->group = xcalloc(lanes, sizeof *places->group);
  places->first = model_nones(lanes + ranks);
  places->node = xcalloc((size_t)lanes + ranks, sizeof *places->node);
  for (uint32_t place = 0, nodes = 0; place < lanes; place++) {
    nodes += timeline_first_of_host(&writer->lanes, place);
    if (!timeline_first_of_process(&writer->lanes, place)) {
      places->group[place] = places->group[place - 1];
      continue;
    }
    uint32_t group = places->group[place] = group_of(writer, places, place);
    places->first[group] = place;
    places->node[group] = nodes - 1;
  }
  for (uint32_t rank = 0; rank < ranks; rank++)
    places->missing += places->first[rank] == MODEL_NONE;
}

static void release_places(struct places *places)
{
  free(places->group);
  free(places->first);
  free(places->node);
}

static void define_process(struct writer *writer, const struct places *places, uint32_t group, uint32_t missing_node)
{
  char name[TIMELINE_TEXT_MAX];
  uint32_t place = places->first[group], node = missing_node;
  snprintf(name, sizeof name, "rank %" PRIu32 ": without a trace", group);
  if (place != MODEL_NONE) {
    timeline_process_name(report_lane_process(writer->report, writer->lanes.order[place]), name);
    node = places->node[group];
  }
  writer->otf2->process(group, define_string(writer, name), node);
}

/* The ranks of MPI, in one location each: that of the first thread.  Those without a trace get one without events. */
static void define_ranks(struct writer *writer, const struct places *places)
{
  uint64_t *locations = xcalloc(places->ranks, sizeof *locations), next = places->lanes;
  for (uint32_t rank = 0; rank < places->ranks; rank++) {
    locations[rank] = places->first[rank];
    if (locations[rank] == MODEL_NONE) {
      locations[rank] = next++;
      writer->otf2->location(locations[rank], define_string(writer, "without a trace"), 0, rank, false);
    }
  }
  writer->otf2->ranks(define_string(writer, "ranks of MPI"), places->ranks, locations);
  free(locations);
}

/* A system tree node for each host, a location group for each process, a location for each thread. */
static void define_lanes(struct writer *writer, const struct places *places)
{
  uint32_t class_name = define_string(writer, "node"), nodes = 0;
  char name[TIMELINE_TEXT_MAX];
  for (uint32_t place = 0; place < places->lanes; place++)
    if (timeline_first_of_host(&writer->lanes, place)) {
      const struct profile_process *process = report_lane_process(writer->report, writer->lanes.order[place]);
      writer->otf2->node(nodes++, define_string(writer, report_known(process->host)), class_name);
    }
  if (places->missing)
    writer->otf2->node(nodes, define_string(writer, "without a trace"), class_name);
  for (uint32_t group = 0; group < places->groups; group++)
    define_process(writer, places, group, nodes);
  for (uint32_t place = 0; place < places->lanes; place++) {
    timeline_thread_name(timeline_thread(writer->report, writer->lanes.order[place]), name);
    writer->otf2->location(place, define_string(writer, name), writer->events[place], places->group[place], false);
  }
}

/* In the location groups of their processes. */
static void define_devices(struct writer *writer)
{
  const struct places *places = &writer->places;
  const struct timeline_lane *lanes = writer->report->time.timeline->lanes;
  char name[TIMELINE_TEXT_MAX];
  for (uint32_t i = 0; i < writer->devices.count; i++) {
    const struct device_lane *device = &writer->devices.lanes[i];
    uint32_t place = 0;
    while (lanes[writer->lanes.order[place]].process != device->process)
      place++;
    timeline_device_name(writer->report, &writer->devices.uses[device->first], name);
    writer->otf2->location(device_location(writer, i), define_string(writer, name),
                           2 * (uint64_t)(device->end - device->first), places->group[place], true);
  }
}

/* ---- communicators ---- */

static uint32_t world_of(struct mpi_events *mpi)
{
  const struct job_communicators *communicators = mpi_events_communicators(mpi);
  uint32_t number = communicators->count;
  while (number && !(communicators->all[number].origin == GRAPHLOG_MPI_WORLD && mpi_events_usable(mpi, number)))
    number--;
  return number;
}

static void communicator_name(struct mpi_events *mpi, uint32_t number, char name[TIMELINE_TEXT_MAX])
{
  const char *given = mpi_events_name(mpi, number);
  enum graphlog_mpi_origin origin = mpi_events_communicators(mpi)->all[number].origin;
  if (*given)
    snprintf(name, TIMELINE_TEXT_MAX, "%s", given);
  else if (origin == GRAPHLOG_MPI_WORLD || origin == GRAPHLOG_MPI_SELF)
    snprintf(name, TIMELINE_TEXT_MAX, "MPI_COMM_%s", origin == GRAPHLOG_MPI_WORLD ? "WORLD" : "SELF");
  else
    snprintf(name, TIMELINE_TEXT_MAX, "communicator %" PRIu32, number);
}

/* All of them, because readers want them in the order of their numbers; those whose ranks do not exist are empty. */
static void define_communicators(struct writer *writer)
{
  struct mpi_events *mpi = writer->report->time.mpi;
  const struct job_communicators *communicators = mpi_events_communicators(mpi);
  uint32_t world = world_of(mpi);
  char name[TIMELINE_TEXT_MAX];
  for (uint32_t i = 1; i <= communicators->count; i++) {
    static const struct job_group none[2];
    const struct job_communicator *communicator = &communicators->all[i];
    communicator_name(mpi, i, name);
    const struct otf2_communicator defined = {.number = i,
                                              .name = define_string(writer, name),
                                              .parent = communicator->parent,
                                              .world = world,
                                              .groups = mpi_events_usable(mpi, i) ? communicator->groups : none};
    writer->otf2->communicator(&defined);
  }
}

/* Processes, threads, devices and communicators. */
static void define_job(struct writer *writer)
{
  define_lanes(writer, &writer->places);
  if (writer->report->time.mpi)
    define_ranks(writer, &writer->places);
  define_devices(writer);
  if (writer->report->time.mpi)
    define_communicators(writer);
}

/* Readers want a file of events of each location. */
static int write_missing(struct writer *writer)
{
  int status = 0;
  for (uint32_t i = 0; i < writer->places.missing && !status; i++)
    status = writer->otf2->open_location(writer->places.lanes + i) ?: writer->otf2->close_location();
  return status;
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
  if (!status)
    status = write_missing(writer);
  for (uint32_t i = 0; i < writer->devices.count && !status; i++)
    status = write_device(writer, i);
  if (status)
    return;
  if (writer->otf2->clock(timeline->from_ns, end_ns - timeline->from_ns, timeline->origin_ns + timeline->from_ns))
    return;
  define_waited_for(writer);
  define_categories(writer);
  define_constructs(writer);
  define_functions(writer);
  define_counters(writer);
  define_job(writer);
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
  number_functions(&writer);
  find_places(&writer, &writer.places);
  device_lanes_read(report, &writer.devices);
  write_archive(&writer, directory);
  const char *failure = writer.otf2->finish();
  if (failure)
    snprintf(message, size, "%s", failure);
  timeline_lanes_release(&writer.lanes);
  release_places(&writer.places);
  device_lanes_release(&writer.devices);
  string_table_release(&writer.counters);
  free(writer.events);
  free(writer.string_of);
  free(writer.waited_for);
  return failure ? ERR_INPUT : 0;
}
