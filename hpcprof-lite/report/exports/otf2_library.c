#include "hpcprof-lite/report/exports/otf2_library.h"

#include "hpcprof-lite/model/construct_figures.h"
#include "hpcprof-lite/model/timeline.h"

#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The operation of a collective function, also of its forms that take large counts, or do not block. */
#define COLLECTIVE(A, a, name, op)                                                                                     \
  [MPI_FUNCTION_##A##name] = OTF2_COLLECTIVE_OP_##op, [MPI_FUNCTION_##A##name##_c] = OTF2_COLLECTIVE_OP_##op,          \
  [MPI_FUNCTION_I##a##name] = OTF2_COLLECTIVE_OP_##op, [MPI_FUNCTION_I##a##name##_c] = OTF2_COLLECTIVE_OP_##op

#define CREATION(name, op) [MPI_FUNCTION_##name] = OTF2_COLLECTIVE_OP_##op

static const uint8_t operations[MPI_FUNCTIONS] = {[MPI_FUNCTION_Barrier] = OTF2_COLLECTIVE_OP_BARRIER,
                                                  [MPI_FUNCTION_Ibarrier] = OTF2_COLLECTIVE_OP_BARRIER,
                                                  COLLECTIVE(B, b, cast, BCAST),
                                                  COLLECTIVE(G, g, ather, GATHER),
                                                  COLLECTIVE(G, g, atherv, GATHERV),
                                                  COLLECTIVE(S, s, catter, SCATTER),
                                                  COLLECTIVE(S, s, catterv, SCATTERV),
                                                  COLLECTIVE(A, a, llgather, ALLGATHER),
                                                  COLLECTIVE(A, a, llgatherv, ALLGATHERV),
                                                  COLLECTIVE(A, a, lltoall, ALLTOALL),
                                                  COLLECTIVE(A, a, lltoallv, ALLTOALLV),
                                                  COLLECTIVE(A, a, lltoallw, ALLTOALLW),
                                                  COLLECTIVE(A, a, llreduce, ALLREDUCE),
                                                  COLLECTIVE(R, r, educe, REDUCE),
                                                  COLLECTIVE(R, r, educe_scatter, REDUCE_SCATTER),
                                                  COLLECTIVE(R, r, educe_scatter_block, REDUCE_SCATTER_BLOCK),
                                                  COLLECTIVE(S, s, can, SCAN),
                                                  COLLECTIVE(E, e, xscan, EXSCAN),
                                                  CREATION(Comm_dup, CREATE_HANDLE),
                                                  CREATION(Comm_dup_with_info, CREATE_HANDLE),
                                                  CREATION(Comm_idup, CREATE_HANDLE),
                                                  CREATION(Comm_idup_with_info, CREATE_HANDLE),
                                                  CREATION(Comm_create, CREATE_HANDLE),
                                                  CREATION(Comm_create_group, CREATE_HANDLE),
                                                  CREATION(Comm_split, CREATE_HANDLE),
                                                  CREATION(Comm_split_type, CREATE_HANDLE),
                                                  CREATION(Cart_create, CREATE_HANDLE),
                                                  CREATION(Cart_sub, CREATE_HANDLE),
                                                  CREATION(Graph_create, CREATE_HANDLE),
                                                  CREATION(Dist_graph_create, CREATE_HANDLE),
                                                  CREATION(Dist_graph_create_adjacent, CREATE_HANDLE),
                                                  CREATION(Intercomm_create, CREATE_HANDLE),
                                                  CREATION(Intercomm_merge, CREATE_HANDLE),
                                                  CREATION(Win_create, CREATE_HANDLE),
                                                  CREATION(Win_create_c, CREATE_HANDLE),
                                                  CREATION(Win_create_dynamic, CREATE_HANDLE),
                                                  CREATION(Win_allocate, CREATE_HANDLE_AND_ALLOCATE),
                                                  CREATION(Win_allocate_c, CREATE_HANDLE_AND_ALLOCATE),
                                                  CREATION(Win_allocate_shared, CREATE_HANDLE_AND_ALLOCATE),
                                                  CREATION(Win_allocate_shared_c, CREATE_HANDLE_AND_ALLOCATE),
                                                  CREATION(Win_free, DESTROY_HANDLE),
                                                  CREATION(File_open, CREATE_HANDLE),
                                                  CREATION(File_close, DESTROY_HANDLE)};

/* Of a persistent operation only the kind is known, and formats have none on files: a function of that kind stands for
 * them. */
static OTF2_CollectiveOp operation_of(const struct mpi_event *event)
{
  static const uint8_t of_kind[] = {
      [GRAPHLOG_MPI_BARRIER] = OTF2_COLLECTIVE_OP_BARRIER, [GRAPHLOG_MPI_ALL_TO_ALL] = OTF2_COLLECTIVE_OP_ALLTOALL,
      [GRAPHLOG_MPI_FROM_ROOT] = OTF2_COLLECTIVE_OP_BCAST, [GRAPHLOG_MPI_TO_ROOT] = OTF2_COLLECTIVE_OP_REDUCE,
      [GRAPHLOG_MPI_PREFIX] = OTF2_COLLECTIVE_OP_SCAN,     [GRAPHLOG_MPI_FILE] = OTF2_COLLECTIVE_OP_ALLTOALL};
  bool persistent = event->function == MPI_FUNCTION_Start || event->function == MPI_FUNCTION_Startall;
  if ((persistent || !operations[event->function]) && event->collective < sizeof of_kind)
    return of_kind[event->collective];
  return operations[event->function];
}

static OTF2_ErrorCode collective(const struct mpi_event *event)
{
  uint32_t communicator = event->communicator - 1, root = event->peer;
  if (root == MODEL_NONE)
    root = OTF2_UNDEFINED_UINT32;
  if (event->kind == MPI_EVENT_COLLECTIVE_END)
    return OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, event->time_ns, operation_of(event), communicator, root,
                                           event->bytes, 0);
  return OTF2_EvtWriter_NonBlockingCollectiveComplete(events, NULL, event->time_ns, operation_of(event), communicator,
                                                      root, event->bytes, 0, event->request);
}

static OTF2_ErrorCode received(const struct mpi_event *event)
{
  if (event->request)
    return OTF2_EvtWriter_MpiIrecv(events, NULL, event->time_ns, event->peer, event->communicator - 1, event->tag,
                                   event->bytes, event->request);
  return OTF2_EvtWriter_MpiRecv(events, NULL, event->time_ns, event->peer, event->communicator - 1, event->tag,
                                event->bytes);
}

static OTF2_ErrorCode write_mpi(const struct mpi_event *event)
{
  uint64_t time = event->time_ns;
  switch (event->kind) {
  case MPI_EVENT_SEND:
    return OTF2_EvtWriter_MpiSend(events, NULL, time, event->peer, event->communicator - 1, event->tag, event->bytes);
  case MPI_EVENT_START_SEND:
    return OTF2_EvtWriter_MpiIsend(events, NULL, time, event->peer, event->communicator - 1, event->tag, event->bytes,
                                   event->request);
  case MPI_EVENT_SENT:
    return OTF2_EvtWriter_MpiIsendComplete(events, NULL, time, event->request);
  case MPI_EVENT_START_RECEIVE:
    return OTF2_EvtWriter_MpiIrecvRequest(events, NULL, time, event->request);
  case MPI_EVENT_RECEIVED:
    return received(event);
  case MPI_EVENT_CANCELLED:
    return OTF2_EvtWriter_MpiRequestCancelled(events, NULL, time, event->request);
  case MPI_EVENT_COLLECTIVE_BEGIN:
    return OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, time);
  case MPI_EVENT_START_COLLECTIVE:
    return OTF2_EvtWriter_NonBlockingCollectiveRequest(events, NULL, time, event->request);
  default:
    return collective(event);
  }
}

static void mpi(const struct mpi_event *event)
{
  if (!*failure)
    check(write_mpi(event));
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
                                                         [CONSTRUCT_ATOMIC] = OTF2_REGION_ROLE_ATOMIC,
                                                         [DIRECTIVE_TARGET] = OTF2_REGION_ROLE_CODE,
                                                         [DIRECTIVE_TARGET_DATA] = OTF2_REGION_ROLE_CODE,
                                                         [DIRECTIVE_TARGET_ENTER_DATA] = OTF2_REGION_ROLE_DATA_TRANSFER,
                                                         [DIRECTIVE_TARGET_EXIT_DATA] = OTF2_REGION_ROLE_DATA_TRANSFER,
                                                         [DIRECTIVE_TARGET_UPDATE] = OTF2_REGION_ROLE_DATA_TRANSFER};
  static const OTF2_RegionRole of_functions[] = {[MPI_KIND_SEND] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_RECEIVE] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_SENDRECV] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_START_SEND] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_START_RECEIVE] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_START_SENDRECV] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_START] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_WAIT] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_TEST] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_PROBE] = OTF2_REGION_ROLE_POINT2POINT,
                                                 [MPI_KIND_COLLECTIVE] = OTF2_REGION_ROLE_COLL_OTHER,
                                                 [MPI_KIND_START_COLLECTIVE] = OTF2_REGION_ROLE_COLL_OTHER,
                                                 [MPI_KIND_ONE_SIDED] = OTF2_REGION_ROLE_RMA,
                                                 [MPI_KIND_ONE_SIDED_SYNC] = OTF2_REGION_ROLE_RMA,
                                                 [MPI_KIND_FILE] = OTF2_REGION_ROLE_FILE_IO};
  if (region->mpi) /* 0 is a role that none of these has */
    return of_functions[region->mpi - 1] ?: OTF2_REGION_ROLE_FUNCTION;
  return region->category == MODEL_NONE ? roles[region->kind] : OTF2_REGION_ROLE_ARTIFICIAL;
}

static OTF2_Paradigm paradigm_of(const struct otf2_region *region)
{
  static const OTF2_Paradigm of_categories[TIMELINE_CATEGORIES] = {[TIMELINE_WORK] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_OVERHEAD] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_LOCK_WAIT] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_IDLE] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_MPI] = OTF2_PARADIGM_MPI,
                                                                   [TIMELINE_DEVICE] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_BLOCKED] = OTF2_PARADIGM_NONE,
                                                                   [TIMELINE_CORE_WAIT] = OTF2_PARADIGM_NONE,
                                                                   [TIMELINE_NO_CORE] = OTF2_PARADIGM_OPENMP,
                                                                   [TIMELINE_TOOL] = OTF2_PARADIGM_MEASUREMENT_SYSTEM,
                                                                   [TIMELINE_GAP] = OTF2_PARADIGM_MEASUREMENT_SYSTEM};
  if (region->mpi)
    return OTF2_PARADIGM_MPI;
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

static void location(uint64_t number, uint32_t name, uint64_t count, uint32_t in_process, bool device)
{
  OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive, number); /* readers want its file, though it is empty */
  if (local)
    check(OTF2_Archive_CloseDefWriter(archive, local));
  OTF2_LocationType type = device ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM : OTF2_LOCATION_TYPE_CPU_THREAD;
  check(OTF2_GlobalDefWriter_WriteLocation(definitions, number, name, type, count, in_process));
}

static uint32_t groups; /* defined so far */

static void define_ranks(uint32_t name, uint32_t count, const uint64_t *locations)
{
  check(OTF2_GlobalDefWriter_WriteGroup(definitions, groups++, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                        OTF2_GROUP_FLAG_NONE, count, locations));
}

/* Members are indices of the group with the locations of all ranks: those in MPI_COMM_WORLD. */
static uint32_t define_group(uint32_t name, const struct job_group *group)
{
  uint64_t *members = malloc((group->count + (size_t)1) * sizeof *members);
  if (!members)
    fail("no memory is left");
  for (uint32_t i = 0; members && i < group->count; i++)
    members[i] = group->ranks[i];
  if (members)
    check(OTF2_GlobalDefWriter_WriteGroup(definitions, groups, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, group->count, members));
  free(members);
  return groups++;
}

static OTF2_CommRef reference(uint32_t communicator)
{
  return communicator ? communicator - 1 : OTF2_UNDEFINED_COMM;
}

static void define_communicator(const struct otf2_communicator *communicator)
{
  uint32_t number = communicator->number - 1, name = communicator->name;
  uint32_t group = define_group(name, &communicator->groups[0]);
  if (!communicator->groups[1].count) {
    check(OTF2_GlobalDefWriter_WriteComm(definitions, number, name, group, reference(communicator->parent),
                                         OTF2_COMM_FLAG_NONE));
    return;
  }
  uint32_t other = define_group(name, &communicator->groups[1]);
  check(OTF2_GlobalDefWriter_WriteInterComm(definitions, number, name, group, other, reference(communicator->world),
                                            OTF2_COMM_FLAG_NONE));
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
                                          .mpi = mpi,
                                          .close_location = close_location,
                                          .clock = clock_properties,
                                          .string = string,
                                          .wait_for = wait_for,
                                          .region = define_region,
                                          .counter = define_counter,
                                          .node = node,
                                          .process = process,
                                          .location = location,
                                          .ranks = define_ranks,
                                          .communicator = define_communicator,
                                          .mark = mark,
                                          .finish = finish};
