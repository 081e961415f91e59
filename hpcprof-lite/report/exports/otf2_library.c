#include "hpcprof-lite/report/exports/otf2_library.h"

#include "hpcprof-lite/model/construct_figures.h"
#include "hpcprof-lite/model/timeline.h"

#include <otf2/otf2.h>
#include <stdio.h>

enum { WAIT_FOR }; /* attributes */

static OTF2_Archive *archive;
static OTF2_EvtWriter *events;
static OTF2_AttributeList *attributes;
static OTF2_GlobalDefWriter *definitions;
static OTF2_MarkerWriter *markers;
static char failure[512]; /* the first one */

/* The library calls this instead of printing. */
static OTF2_ErrorCode on_error(void *unused, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
                               const char *format, va_list arguments)
{
  char text[256];
  (void)unused, (void)file, (void)line, (void)function;
  vsnprintf(text, sizeof text, format, arguments);
  if (!*failure)
    snprintf(failure, sizeof failure, "%s: %s", OTF2_Error_GetDescription(code), text);
  return code;
}

static int fail(const char *reason)
{
  if (!*failure)
    snprintf(failure, sizeof failure, "%s", reason);
  return ERR_INPUT;
}

static int check(OTF2_ErrorCode code)
{
  if (code != OTF2_SUCCESS)
    return fail(OTF2_Error_GetDescription(code));
  return 0;
}

/* Full buffers are written, however many there are. */
static OTF2_FlushType before_flush(void *unused, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool last)
{
  (void)unused, (void)type, (void)location, (void)caller, (void)last;
  return OTF2_FLUSH;
}

static int start(const char *directory, const char *description)
{
  static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
  OTF2_Error_RegisterCallback(on_error, NULL);
  archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                              OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  attributes = OTF2_AttributeList_New();
  if (!archive || !attributes)
    return fail("the archive cannot be opened");
  if (check(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL)))
    return ERR_INPUT;
  if (check(OTF2_Archive_SetSerialCollectiveCallbacks(archive)))
    return ERR_INPUT;
  if (check(OTF2_Archive_SetCreator(archive, "hpcprof-lite")))
    return ERR_INPUT;
  if (*description && check(OTF2_Archive_SetDescription(archive, description)))
    return ERR_INPUT;
  return check(OTF2_Archive_OpenEvtFiles(archive));
}

static int open_location(uint64_t location)
{
  events = OTF2_Archive_GetEvtWriter(archive, location);
  if (!events)
    return fail("a location cannot be opened");
  return 0;
}

/* Writing an event empties the list of its attributes. */
static void enter(uint64_t time, uint32_t region, uint32_t wait_for)
{
  if (wait_for != OTF2_NO_STRING)
    check(OTF2_AttributeList_AddStringRef(attributes, WAIT_FOR, wait_for));
  if (!*failure)
    check(OTF2_EvtWriter_Enter(events, attributes, time, region));
}

static void leave(uint64_t time, uint32_t region)
{
  if (!*failure)
    check(OTF2_EvtWriter_Leave(events, NULL, time, region));
}

/* Each counter has a class of its own, of the same number. */
static void value(uint64_t time, uint32_t counter, uint64_t number)
{
  static const OTF2_Type type = OTF2_TYPE_UINT64;
  OTF2_MetricValue metric = {.unsigned_int = number};
  if (!*failure)
    check(OTF2_EvtWriter_Metric(events, NULL, time, counter, 1, &type, &metric));
}

static int close_location(void)
{
  check(OTF2_Archive_CloseEvtWriter(archive, events));
  return *failure ? ERR_INPUT : 0;
}

static int clock_properties(uint64_t begin, uint64_t length, uint64_t realtime)
{
  check(OTF2_Archive_CloseEvtFiles(archive));
  check(OTF2_Archive_OpenDefFiles(archive));
  definitions = OTF2_Archive_GetGlobalDefWriter(archive);
  if (!definitions)
    return fail("definitions cannot be written");
  return check(OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000000000, begin, length, realtime));
}

static void string(uint32_t number, const char *text)
{
  check(OTF2_GlobalDefWriter_WriteString(definitions, number, text));
}

static void wait_for(uint32_t name, uint32_t description)
{
  check(OTF2_GlobalDefWriter_WriteAttribute(definitions, WAIT_FOR, name, description, OTF2_TYPE_STRING));
}

static OTF2_RegionRole role_of(const struct otf2_region *region)
{
  static const OTF2_RegionRole roles[CONSTRUCT_KINDS] = {[DIRECTIVE_PROGRAM] = OTF2_REGION_ROLE_FUNCTION,
                                                         [DIRECTIVE_PARALLEL] = OTF2_REGION_ROLE_PARALLEL,
                                                         [DIRECTIVE_FOR] = OTF2_REGION_ROLE_LOOP,
                                                         [DIRECTIVE_SECTIONS] = OTF2_REGION_ROLE_SECTIONS,
                                                         [DIRECTIVE_SINGLE] = OTF2_REGION_ROLE_SINGLE,
                                                         [DIRECTIVE_MASKED] = OTF2_REGION_ROLE_MASTER,
                                                         [DIRECTIVE_TASK] = OTF2_REGION_ROLE_TASK_CREATE,
                                                         [DIRECTIVE_TASKLOOP] = OTF2_REGION_ROLE_LOOP,
                                                         [DIRECTIVE_TASKGROUP] = OTF2_REGION_ROLE_TASK_WAIT,
                                                         [DIRECTIVE_TASKWAIT] = OTF2_REGION_ROLE_TASK_WAIT,
                                                         [DIRECTIVE_BARRIER] = OTF2_REGION_ROLE_BARRIER,
                                                         [DIRECTIVE_CRITICAL] = OTF2_REGION_ROLE_CRITICAL,
                                                         [DIRECTIVE_LOCK] = OTF2_REGION_ROLE_CRITICAL,
                                                         [DIRECTIVE_ORDERED] = OTF2_REGION_ROLE_ORDERED,
                                                         [DIRECTIVE_TEAMS] = OTF2_REGION_ROLE_PARALLEL,
                                                         [DIRECTIVE_USER_REGION] = OTF2_REGION_ROLE_CODE,
                                                         [CONSTRUCT_TASK_EXEC] = OTF2_REGION_ROLE_TASK,
                                                         [CONSTRUCT_DISTRIBUTE] = OTF2_REGION_ROLE_LOOP,
                                                         [CONSTRUCT_ATOMIC] = OTF2_REGION_ROLE_ATOMIC};
  return region->category == MODEL_NONE ? roles[region->kind] : OTF2_REGION_ROLE_ARTIFICIAL;
}

static OTF2_Paradigm paradigm_of(const struct otf2_region *region)
{
  static const OTF2_Paradigm of_categories[TIMELINE_CATEGORIES] = {[TIMELINE_WORK] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_OVERHEAD] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_LOCK_WAIT] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_IDLE] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_MPI] = OTF2_PARADIGM_MPI,
                                                                   [TIMELINE_BLOCKED] = OTF2_PARADIGM_NONE,
                                                                   [TIMELINE_CORE_WAIT] = OTF2_PARADIGM_NONE,
                                                                   [TIMELINE_NO_CORE] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_TOOL] = OTF2_PARADIGM_MEASUREMENT_SYSTEM,
                                                                   [TIMELINE_GAP] = OTF2_PARADIGM_MEASUREMENT_SYSTEM};
  if (region->category != MODEL_NONE)
    return of_categories[region->category];
  bool user = region->kind == DIRECTIVE_PROGRAM || region->kind == DIRECTIVE_USER_REGION;
  return user ? OTF2_PARADIGM_USER : OTF2_PARADIGM_OPENMP;
}

static void define_region(const struct otf2_region *region)
{
  check(OTF2_GlobalDefWriter_WriteRegion(definitions, region->number, region->name, region->name, OTF2_UNDEFINED_STRING,
                                         role_of(region), paradigm_of(region), OTF2_REGION_FLAG_NONE, region->file,
                                         region->line, region->line));
}

static void define_counter(uint32_t number, uint32_t name)
{
  check(OTF2_GlobalDefWriter_WriteMetricMember(definitions, number, name, name, OTF2_METRIC_TYPE_USER,
                                               OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
                                               name));
  check(OTF2_GlobalDefWriter_WriteMetricClass(definitions, number, 1, &number, OTF2_METRIC_ASYNCHRONOUS,
                                              OTF2_RECORDER_KIND_CPU));
}

static void node(uint32_t number, uint32_t name, uint32_t class_name)
{
  check(
      OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, number, name, class_name, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(definitions, number, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
}

static void process(uint32_t number, uint32_t name, uint32_t in_node)
{
  check(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, number, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, in_node,
                                                OTF2_UNDEFINED_LOCATION_GROUP));
}

static void location(uint64_t number, uint32_t name, uint64_t count, uint32_t in_process)
{
  OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive, number); /* readers want its file, though it is empty */
  if (local)
    check(OTF2_Archive_CloseDefWriter(archive, local));
  check(
      OTF2_GlobalDefWriter_WriteLocation(definitions, number, name, OTF2_LOCATION_TYPE_CPU_THREAD, count, in_process));
}

enum { MARKS, PHASES }; /* groups of markers */

static void mark(uint64_t time, uint64_t length, uint64_t location, const char *text)
{
  if (!markers) {
    markers = OTF2_Archive_GetMarkerWriter(archive);
    if (!markers) {
      fail("marks cannot be written");
      return;
    }
    check(OTF2_MarkerWriter_WriteDefMarker(markers, MARKS, "hpcprof-lite", "mark", OTF2_SEVERITY_NONE));
    check(OTF2_MarkerWriter_WriteDefMarker(markers, PHASES, "hpcprof-lite", "phase", OTF2_SEVERITY_NONE));
  }
  check(OTF2_MarkerWriter_WriteMarker(markers, time, length, length ? PHASES : MARKS, OTF2_MARKER_SCOPE_LOCATION,
                                      location, text));
}

static const char *finish(void)
{
  if (markers)
    check(OTF2_Archive_CloseMarkerWriter(archive, markers));
  if (definitions)
    check(OTF2_Archive_CloseDefFiles(archive));
  if (archive)
    check(OTF2_Archive_Close(archive));
  if (attributes)
    OTF2_AttributeList_Delete(attributes);
  return *failure ? failure : NULL;
}

extern const struct otf2_library otf2_library;
const struct otf2_library otf2_library = {.start = start,
                                          .open_location = open_location,
                                          .enter = enter,
                                          .leave = leave,
                                          .value = value,
                                          .close_location = close_location,
                                          .clock = clock_properties,
                                          .string = string,
                                          .wait_for = wait_for,
                                          .region = define_region,
                                          .counter = define_counter,
                                          .node = node,
                                          .process = process,
                                          .location = location,
                                          .mark = mark,
                                          .finish = finish};
