/* What calls of MPI send, receive and complete.  Compiled once with the mpi.h of each ABI; calls functions of the
 * library only by find(), and only those that are local.  The operations are logged as common/graphlog.h states. */
#include "hpcrun-lite/mpi/mpi_decode.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "common/graphlog.h"
#include "hpcrun-lite/mpi/mpi_handles.h"

/* ---- the library ---- */

/* LOCAL(name, parameters): functions that communicate with no other process. */
#define LOCAL_LIST(LOCAL)                                                                                              \
  LOCAL(Initialized, (int *))                                                                                          \
  LOCAL(Comm_group, (MPI_Comm, MPI_Group *))                                                                           \
  LOCAL(Comm_remote_group, (MPI_Comm, MPI_Group *))                                                                    \
  LOCAL(Comm_test_inter, (MPI_Comm, int *))                                                                            \
  LOCAL(Comm_rank, (MPI_Comm, int *))                                                                                  \
  LOCAL(Comm_size, (MPI_Comm, int *))                                                                                  \
  LOCAL(Comm_remote_size, (MPI_Comm, int *))                                                                           \
  LOCAL(Topo_test, (MPI_Comm, int *))                                                                                  \
  LOCAL(Cartdim_get, (MPI_Comm, int *))                                                                                \
  LOCAL(Cart_shift, (MPI_Comm, int, int, int *, int *))                                                                \
  LOCAL(Graph_neighbors_count, (MPI_Comm, int, int *))                                                                 \
  LOCAL(Graph_neighbors, (MPI_Comm, int, int, int *))                                                                  \
  LOCAL(Dist_graph_neighbors_count, (MPI_Comm, int *, int *, int *))                                                   \
  LOCAL(Dist_graph_neighbors, (MPI_Comm, int, int *, int *, int, int *, int *))                                        \
  LOCAL(Group_rank, (MPI_Group, int *))                                                                                \
  LOCAL(Group_size, (MPI_Group, int *))                                                                                \
  LOCAL(Group_free, (MPI_Group *))                                                                                     \
  LOCAL(Group_translate_ranks, (MPI_Group, int, const int *, MPI_Group, int *))                                        \
  LOCAL(Type_size_x, (MPI_Datatype, MPI_Count *))                                                                      \
  LOCAL(Get_elements_x, (const MPI_Status *, MPI_Datatype, MPI_Count *))                                               \
  LOCAL(Test_cancelled, (const MPI_Status *, int *))                                                                   \
  LOCAL(Status_set_elements_x, (MPI_Status *, MPI_Datatype, MPI_Count))                                                \
  LOCAL(Status_set_cancelled, (MPI_Status *, int))

static struct {
  /* what each call needs, on one cache line */
  _Alignas(64) void (*log)(uint32_t op, unsigned count, const uint64_t *operands); /* NULL: nothing is logged */
  MPI_Comm null;
  MPI_Datatype no_type;
  bool status_known; /* its fields are those of the functions below */

  MPI_Comm world, self;
  MPI_Datatype byte;
  MPI_Request no_request;
  MPI_Message no_process;
  MPI_Group world_group, no_group;
#define LOCAL(name, parameters) int(*name) parameters;
  LOCAL_LIST(LOCAL)
#undef LOCAL
} mpi;

/* A handle as a number, and back. */
#define NUMBER(handle) ((uint64_t)(intptr_t)(handle))
#define HANDLE(type, number) ((type)(intptr_t)(number))

/* Constants of Open MPI are addresses of variables. */
#ifdef OPEN_MPI
#define CONSTANT(type, constant, variable) ((type)find(variable))
#else
#define CONSTANT(type, constant, variable) (constant)
#endif

static void log_operation(enum graphlog_op op, unsigned count, const uint64_t *operands)
{
  if (mpi.log)
    mpi.log(op, count, operands);
}

#define LOG(op, ...)                                                                                                   \
  log_operation(op, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[]){__VA_ARGS__})

/* ---- arguments ---- */

enum action {
  NONE,
  MESSAGE,
  COUNTED_MESSAGE, /* one that ends with its call, and whose bytes are all that is to be known of it */
  MATCH,
  MATCHED,
  PERSISTENT,
  START,
  COMPLETION,
  CANCEL,
  REQUEST_FREE,
  CREATE,
  CREATE_GROUP,
  JOIN,
  NAME,
  FREE,
  BARRIER,
  FROM_ROOT,
  TO_ROOT,
  ALL_TO_ALL,
  PREFIX,
  NEIGHBOURS,
  ON_FILE
};

enum { LETTERS = 'z' - 'A' + 1 };

static struct arguments {
  _Alignas(64) uint8_t action; /* enum action */
  bool large;                  /* numbers are of type MPI_Count */
  bool synchronous;            /* a send that is complete only once its receive has begun */
  uint8_t position[LETTERS];   /* of the argument with that letter, from 1; 0: there is none */
} functions[MPI_FUNCTIONS];

static void describe(enum mpi_function function, enum action action, bool large, const char *letters)
{
  struct arguments *arguments = &functions[function];
  arguments->large = large;
  for (uint8_t i = 0; letters[i]; i++)
    if (letters[i] != '.')
      arguments->position[letters[i] - 'A'] = (uint8_t)(i + 1);
  bool counted = action == MESSAGE && !mpi.log && mpi.status_known && !arguments->position['q' - 'A'];
  arguments->action = counted ? COUNTED_MESSAGE : (uint8_t)action;
}

static void describe_all(void)
{
#define FUNCTION(name, action, letters) describe(MPI_FUNCTION_##name, action, false, letters);
#define COUNTED(name, action, letters)                                                                                 \
  describe(MPI_FUNCTION_##name, action, false, letters);                                                               \
  describe(MPI_FUNCTION_##name##_c, action, true, letters);
#include "hpcrun-lite/mpi/mpi_arguments.def"
#undef COUNTED
#undef FUNCTION
  static const enum mpi_function synchronous[] = {MPI_FUNCTION_Ssend,      MPI_FUNCTION_Ssend_c,
                                                  MPI_FUNCTION_Issend,     MPI_FUNCTION_Issend_c,
                                                  MPI_FUNCTION_Ssend_init, MPI_FUNCTION_Ssend_init_c};
  for (unsigned i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
    functions[synchronous[i]].synchronous = true;
}

/* A call while it is decoded. */
struct call {
  const struct arguments *arguments;
  uint64_t *values;
  struct mpi_call *result;
};

static bool has(const struct call *call, char letter)
{
  return call->arguments->position[letter - 'A'];
}

static uint64_t value(const struct call *call, char letter)
{
  return call->values[call->arguments->position[letter - 'A'] - 1];
}

static int number(const struct call *call, char letter)
{
  return (int)value(call, letter);
}

static void *address(const struct call *call, char letter)
{
  return (void *)value(call, letter);
}

static MPI_Datatype type(const struct call *call, char letter)
{
  return HANDLE(MPI_Datatype, value(call, letter));
}

/* ---- bytes ---- */

/* Sizes of the library's own types, which it never frees: a call of it takes as long as all other decoding. */
enum { SIZES_LOG = 8 };
static struct type_size {
  MPI_Datatype type;
  uint64_t size; /* bytes */
} sizes[1 << SIZES_LOG];

static struct type_size *size_of(MPI_Datatype type)
{
  return &sizes[NUMBER(type) * 0x9e3779b97f4a7c15ULL >> (64 - SIZES_LOG)];
}

/* One with the same hash replaces another one, which is then asked for. */
static void learn_sizes(void *(*find)(const char *name))
{
#ifndef OPEN_MPI
  (void)find;
#endif
  const MPI_Datatype own[] = {
      CONSTANT(MPI_Datatype, MPI_COMPLEX, "ompi_mpi_cplex"),
      CONSTANT(MPI_Datatype, MPI_DOUBLE_COMPLEX, "ompi_mpi_dblcplex"),
      CONSTANT(MPI_Datatype, MPI_C_DOUBLE_COMPLEX, "ompi_mpi_c_double_complex"),
      CONSTANT(MPI_Datatype, MPI_REAL, "ompi_mpi_real"),
      CONSTANT(MPI_Datatype, MPI_INTEGER, "ompi_mpi_integer"),
      CONSTANT(MPI_Datatype, MPI_DOUBLE_PRECISION, "ompi_mpi_dblprec"),
      CONSTANT(MPI_Datatype, MPI_SHORT, "ompi_mpi_short"),
      CONSTANT(MPI_Datatype, MPI_UNSIGNED_CHAR, "ompi_mpi_unsigned_char"),
      CONSTANT(MPI_Datatype, MPI_UNSIGNED, "ompi_mpi_unsigned"),
      CONSTANT(MPI_Datatype, MPI_UNSIGNED_LONG, "ompi_mpi_unsigned_long"),
      CONSTANT(MPI_Datatype, MPI_LONG_LONG, "ompi_mpi_long_long_int"),
      CONSTANT(MPI_Datatype, MPI_INT64_T, "ompi_mpi_int64_t"),
      CONSTANT(MPI_Datatype, MPI_UINT64_T, "ompi_mpi_uint64_t"),
      CONSTANT(MPI_Datatype, MPI_LONG, "ompi_mpi_long"),
      CONSTANT(MPI_Datatype, MPI_FLOAT, "ompi_mpi_float"),
      CONSTANT(MPI_Datatype, MPI_CHAR, "ompi_mpi_char"),
      CONSTANT(MPI_Datatype, MPI_BYTE, "ompi_mpi_byte"),
      CONSTANT(MPI_Datatype, MPI_INT, "ompi_mpi_int"),
      CONSTANT(MPI_Datatype, MPI_DOUBLE, "ompi_mpi_double"),
  };
  for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
    MPI_Count size = 0;
    if (own[i] && own[i] != mpi.no_type && mpi.Type_size_x(own[i], &size) == MPI_SUCCESS && size >= 0)
      *size_of(own[i]) = (struct type_size){own[i], (uint64_t)size};
  }
}

static __attribute__((noinline)) uint64_t ask_size(MPI_Datatype type)
{
  MPI_Count size;
  return mpi.Type_size_x(type, &size) == MPI_SUCCESS && size > 0 ? (uint64_t)size : 0;
}

static inline uint64_t bytes(uint64_t elements, MPI_Datatype of)
{
  const struct type_size *known = size_of(of);
  if (!elements || of == mpi.no_type)
    return 0;
  return elements * (known->type == of ? known->size : ask_size(of));
}

/* A number of elements, which is never negative in a valid program. */
static uint64_t elements(const struct call *call, char letter)
{
  if (call->arguments->large)
    return value(call, letter);
  return number(call, letter) > 0 ? (uint64_t)number(call, letter) : 0;
}

static uint64_t element_of(const struct call *call, char letter, int i)
{
  if (call->arguments->large)
    return (uint64_t)((const MPI_Count *)address(call, letter))[i];
  int of_rank = ((const int *)address(call, letter))[i];
  return of_rank > 0 ? (uint64_t)of_rank : 0;
}

/* Of arrays with an element for each rank; types: the letter of an array of types, or of the type of all. */
static uint64_t bytes_of_all(const struct call *call, char counts, char types, int ranks)
{
  uint64_t sum = 0;
  bool one_type = types == 't' || types == 'y';
  for (int i = 0; i < ranks; i++) {
    uint64_t count = element_of(call, counts, i);
    sum += one_type ? count : bytes(count, ((const MPI_Datatype *)address(call, types))[i]);
  }
  return one_type ? bytes(sum, type(call, types)) : sum;
}

static uint64_t bytes_sent(const struct call *call, int ranks)
{
  if (has(call, 'S'))
    return bytes_of_all(call, 'S', has(call, 'T') ? 'T' : 't', ranks);
  if (has(call, 'w'))
    return bytes_of_all(call, 'w', 't', ranks);
  if (has(call, 'z'))
    return bytes(elements(call, 'z'), type(call, 't')) * (uint64_t)ranks;
  return has(call, 's') ? bytes(elements(call, 's'), type(call, 't')) : 0;
}

static uint64_t bytes_received(const struct call *call, const struct mpi_communicator *in, int ranks)
{
  if (has(call, 'R'))
    return bytes_of_all(call, 'R', has(call, 'Y') ? 'Y' : 'y', ranks);
  if (has(call, 'x'))
    return bytes(elements(call, 'x'), type(call, 'y')) * (uint64_t)ranks;
  if (has(call, 'r'))
    return bytes(elements(call, 'r'), type(call, 'y'));
  if (has(call, 'w')) /* reductions receive what they send, or their part of it */
    return bytes(element_of(call, 'w', in->rank), type(call, 't'));
  return has(call, 'z') ? bytes(elements(call, 'z'), type(call, 't')) : bytes_sent(call, ranks);
}

/* ---- statuses ---- */

/* What the fields of a status say, where that is what the library says (learn_statuses()). */
static MPI_Count field_bytes(const MPI_Status *status)
{
#ifdef OPEN_MPI
  return (MPI_Count)status->_ucount;
#else
  return (MPI_Count)((uint64_t)((unsigned)status->count_hi_and_cancelled >> 1) << 32 | (unsigned)status->count_lo);
#endif
}

static bool field_cancelled(const MPI_Status *status)
{
#ifdef OPEN_MPI
  return status->_cancelled;
#else
  return status->count_hi_and_cancelled & 1;
#endif
}

/* Compares the fields with two statuses that the library has filled in. */
static void learn_statuses(void)
{
  static const MPI_Count counts[] = {((MPI_Count)1 << 31) + 5, ((MPI_Count)3 << 33) + 7};
  mpi.status_known = true;
  for (int i = 0; i < 2; i++) {
    MPI_Status status = {0};
    mpi.status_known &= mpi.Status_set_elements_x(&status, mpi.byte, counts[i]) == MPI_SUCCESS &&
                        mpi.Status_set_cancelled(&status, i) == MPI_SUCCESS && field_bytes(&status) == counts[i] &&
                        field_cancelled(&status) == i;
  }
}

static uint64_t status_bytes(const MPI_Status *status)
{
  MPI_Count size = field_bytes(status);
  if (!mpi.status_known && mpi.Get_elements_x(status, mpi.byte, &size) != MPI_SUCCESS)
    return 0;
  return size < 0 ? 0 : (uint64_t)size;
}

static bool status_cancelled(const MPI_Status *status)
{
  int cancelled = 0;
  if (mpi.status_known)
    return field_cancelled(status);
  return mpi.Test_cancelled(status, &cancelled) == MPI_SUCCESS && cancelled;
}

/* ---- requests ---- */

static uint64_t request_handle(const struct call *call)
{
  return NUMBER(*(MPI_Request *)address(call, 'q'));
}

/* Puts a request into its table.  One there with the same handle is complete. */
static void put_request(struct mpi_request *request)
{
  uint32_t complete = mpi_handles_put_request(request);
  if (complete)
    LOG(GRAPHLOG_MPI_COMPLETE, complete);
}

static void add_request(const struct mpi_request *request, uint64_t handle)
{
  struct mpi_request *added = malloc(sizeof *added);
  if (!added)
    return;
  *added = *request;
  added->entry.handle = handle;
  put_request(added);
}

static struct mpi_request *take_request(MPI_Request handle)
{
  return mpi_handles_take_request(NUMBER(handle));
}

/* ---- communicators ---- */

/* Logs ranks as ranges; remote: of the other group. */
static void log_ranges(enum graphlog_op op, uint32_t communicator, const int *ranks, int count, bool remote)
{
  for (int first = 0, end; first < count; first = end) {
    int step = first + 1 < count ? ranks[first + 1] - ranks[first] : 1;
    for (end = first + 1; end < count && ranks[end] - ranks[end - 1] == step; end++)
      ;
    LOG(op, communicator, (uint64_t)ranks[first] << 1 | remote, (uint64_t)(end - first),
        step < 0 ? (uint64_t)-step << 1 | 1 : (uint64_t)step << 1);
  }
}

/* Logs the ranks of a group in MPI_COMM_WORLD, unless some are not in it. */
static void log_ranks(uint32_t communicator, MPI_Group group, int size, bool remote)
{
  int *own = calloc(2 * (size_t)size, sizeof *own), *world = own + size;
  bool known = own != NULL;
  for (int i = 0; i < size && known; i++)
    own[i] = i;
  known = known && mpi.Group_translate_ranks(group, size, own, mpi.world_group, world) == MPI_SUCCESS;
  for (int i = 0; i < size && known; i++)
    known = world[i] != MPI_UNDEFINED;
  if (known)
    log_ranges(GRAPHLOG_MPI_RANKS, communicator, world, size, remote);
  free(own);
}

static void log_group(const struct mpi_communicator *added, MPI_Comm comm, bool remote)
{
  MPI_Group group;
  int size = remote ? added->remote_size : added->size;
  if ((remote ? mpi.Comm_remote_group(comm, &group) : mpi.Comm_group(comm, &group)) != MPI_SUCCESS)
    return;
  log_ranks(added->number, group, size, remote);
  mpi.Group_free(&group);
}

/* ---- neighbours: the ranks of which a rank receives in an operation on them ---- */

static int *grid_sources(MPI_Comm comm, int *count)
{
  int dimensions = 0, found = 0;
  if (mpi.Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions <= 0)
    return NULL;
  int *sources = malloc(2 * (size_t)dimensions * sizeof *sources);
  for (int i = 0; i < dimensions && sources; i++) {
    int both[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
    mpi.Cart_shift(comm, i, 1, &both[0], &both[1]);
    for (unsigned k = 0; k < 2; k++)
      if (both[k] != MPI_PROC_NULL)
        sources[found++] = both[k];
  }
  *count = found;
  return sources;
}

static int *graph_sources(MPI_Comm comm, int rank, int *count)
{
  if (mpi.Graph_neighbors_count(comm, rank, count) != MPI_SUCCESS || *count <= 0)
    return NULL;
  int *sources = malloc((size_t)*count * sizeof *sources);
  if (sources && mpi.Graph_neighbors(comm, rank, *count, sources) != MPI_SUCCESS)
    *count = 0;
  return sources;
}

static int *distributed_sources(MPI_Comm comm, int *count)
{
  int sends = 0, weighted = 0;
  if (mpi.Dist_graph_neighbors_count(comm, count, &sends, &weighted) != MPI_SUCCESS || *count <= 0)
    return NULL;
  int *sources = calloc(2 * ((size_t)*count + (size_t)sends), sizeof *sources);
  int *weights = sources + *count, *destinations = weights + *count;
  if (sources && mpi.Dist_graph_neighbors(comm, *count, sources, weights, sends, destinations, destinations + sends) !=
                     MPI_SUCCESS)
    *count = 0;
  return sources;
}

static void log_sources(const struct mpi_communicator *added, MPI_Comm comm)
{
  int topology = MPI_UNDEFINED, count = 0, *sources = NULL;
  if (mpi.Topo_test(comm, &topology) != MPI_SUCCESS)
    return;
  if (topology == MPI_CART)
    sources = grid_sources(comm, &count);
  else if (topology == MPI_GRAPH)
    sources = graph_sources(comm, added->rank, &count);
  else if (topology == MPI_DIST_GRAPH)
    sources = distributed_sources(comm, &count);
  if (sources)
    log_ranges(GRAPHLOG_MPI_SOURCES, added->number, sources, count, false);
  free(sources);
}

/* ---- what a thread keeps from before a call until after it ---- */

enum { FEW = 16 };

struct kept {
  const struct mpi_communicator *communicator;
  struct mpi_communicator *freed; /* what the call frees, or NULL; taken out of its table */
  struct mpi_communicator *made;  /* what it creates, where that is known before, or NULL */
  struct mpi_request single;      /* what the call begins, or a message that was matched */
  MPI_Status status;              /* where the program ignores it */
  struct mpi_request **requests;  /* [count] that the call may complete, taken out of their table; NULL: none */
  MPI_Status *statuses;           /* [count] */
  int count;
  void *many;      /* memory of these, for more than a few */
  uint64_t latest; /* handle of a communicator, looked up when so many had been freed */
  uint32_t latest_freed;
  struct mpi_communicator *latest_known;
  struct mpi_request *few_requests[FEW];
  MPI_Status few_statuses[FEW];
};
_Static_assert(sizeof(struct kept) <= 8 * MPI_DECODER_THREAD_WORDS, "there is room for it");
#define kept ((struct kept *)hpcrun_lite_mpi_thread)

/* ---- new communicators ---- */

/* Windows and files are known as communicators of their own.  Their handles are other ones than those of these. */
static uint64_t object_handle(uint64_t number)
{
  return number ^ MPI_HANDLES_OBJECT;
}

/* The one with that handle, whose ranks are those of `comm`, was created from one with the number `parent` (0: none).
 */
static struct mpi_communicator *add_communicator(uint64_t handle, MPI_Comm comm, enum graphlog_mpi_origin origin,
                                                 uint32_t parent, uint64_t ordinal)
{
  struct mpi_communicator fresh = {.entry.handle = handle};
  int inter = 0;
  mpi.Comm_test_inter(comm, &inter);
  mpi.Comm_rank(comm, &fresh.rank);
  mpi.Comm_size(comm, &fresh.size);
  if (inter)
    mpi.Comm_remote_size(comm, &fresh.remote_size);
  struct mpi_communicator *added = mpi_handles_new_communicator(&fresh);
  if (added)
    mpi_handles_put_communicator(added);
  if (!added || !mpi.log)
    return added;
  LOG(GRAPHLOG_MPI_COMMUNICATOR, added->number, origin, parent, ordinal, (uint64_t)fresh.rank);
  log_group(added, comm, false);
  if (inter)
    log_group(added, comm, true);
  else if (handle == NUMBER(comm))
    log_sources(added, comm);
  return added;
}

/* One whose creation was not seen is met here. */
static __attribute__((noinline)) struct mpi_communicator *look_up(uint64_t handle)
{
  uint32_t freed = mpi_handles_communicators_freed();
  struct mpi_communicator *known = mpi_handles_communicator(handle);
  if (!known && HANDLE(MPI_Comm, handle) != mpi.null)
    known = add_communicator(handle, HANDLE(MPI_Comm, handle), GRAPHLOG_MPI_UNKNOWN, 0, 0);
  kept->latest = handle;
  kept->latest_freed = freed;
  kept->latest_known = known;
  return known;
}

/* The one that the thread has used last is known as long as none was freed. */
static struct mpi_communicator *communicator_of(MPI_Comm comm)
{
  uint64_t handle = NUMBER(comm);
  bool same = kept->latest_known && kept->latest == handle;
  return same && kept->latest_freed == mpi_handles_communicators_freed() ? kept->latest_known : look_up(handle);
}

static struct mpi_communicator *communicator(const struct call *call)
{
  return communicator_of(HANDLE(MPI_Comm, value(call, 'c')));
}

/* A name is logged in parts of eight bytes. */
static void log_name(const struct call *call, const struct mpi_communicator *named)
{
  const char *name = address(call, 'l');
  size_t length = strnlen(name, MPI_MAX_OBJECT_NAME);
  for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
    uint64_t part = 0;
    memcpy(&part, name + i, length - i < sizeof part ? length - i : sizeof part);
    LOG(GRAPHLOG_MPI_NAME, named->number, i, part);
  }
}

/* ---- creation ---- */

static MPI_Comm created(const void *pointer)
{
  return *(const MPI_Comm *)pointer;
}

/* The handle of the window or file that the call creates or frees. */
static uint64_t created_object(const struct call *call)
{
  if (has(call, 'W'))
    return object_handle(NUMBER(*(const MPI_Win *)address(call, 'W')));
  return object_handle(NUMBER(*(const MPI_File *)address(call, 'F')));
}

/* The call has created a communicator, window or file, or, with a request, will have when that is complete. */
static void created_from(const struct call *call, struct mpi_communicator *parent)
{
  uint32_t ordinal = __atomic_add_fetch(&parent->created, 1, __ATOMIC_RELAXED);
  if (has(call, 'q')) {
    struct mpi_request request = kept->single;
    request.kind = MPI_REQUEST_COMMUNICATOR;
    request.created = address(call, 'N');
    request.ordinal = ordinal;
    add_request(&request, request_handle(call));
  } else if (!has(call, 'N')) {
    add_communicator(created_object(call), HANDLE(MPI_Comm, value(call, 'c')), GRAPHLOG_MPI_CREATED, parent->number,
                     ordinal);
  } else if (created(address(call, 'N')) != mpi.null) {
    add_communicator(NUMBER(created(address(call, 'N'))), created(address(call, 'N')), GRAPHLOG_MPI_CREATED,
                     parent->number, ordinal);
  }
}

/* ---- requests of a call ---- */

/* Stands for a request that is not followed. */
static struct mpi_request not_followed;

/* Makes room for the requests of a call.  Returns false without memory. */
static bool make_room(int count)
{
  kept->requests = kept->few_requests;
  kept->statuses = kept->few_statuses;
  if (count <= FEW)
    return true;
  kept->many = malloc((size_t)count * (sizeof *kept->requests + sizeof *kept->statuses));
  if (!kept->many)
    return false;
  kept->requests = kept->many;
  kept->statuses = (MPI_Status *)(kept->requests + count);
  return true;
}

static void replace(struct call *call, char letter, const void *pointer)
{
  call->values[call->arguments->position[letter - 'A'] - 1] = (uint64_t)pointer;
}

static void keep_status(struct call *call)
{
  if (has(call, 'u') && address(call, 'u') == MPI_STATUS_IGNORE)
    replace(call, 'u', &kept->status);
}

/* ---- operations ---- */

/* A rank or tag as it is logged: 0 is any. */
static uint64_t or_any(int number, int any)
{
  return number == any ? 0 : (uint64_t)number + 1;
}

/* Logs the beginning of an operation; request: its number, 0 if the call completes it. */
static void log_begin(const struct mpi_request *operation, uint32_t request)
{
  if (operation->kind == MPI_REQUEST_SEND)
    LOG(operation->synchronous ? GRAPHLOG_MPI_SYNCHRONOUS_SEND : GRAPHLOG_MPI_SEND, operation->communicator,
        (uint64_t)operation->peer, (uint64_t)operation->tag, operation->sent, request);
  else if (operation->kind == MPI_REQUEST_COLLECTIVE)
    LOG(GRAPHLOG_MPI_COLLECTIVE, operation->communicator, operation->collective, operation->root, operation->sent,
        request);
  else
    LOG(GRAPHLOG_MPI_RECEIVE, operation->communicator, or_any(operation->peer, MPI_ANY_SOURCE),
        or_any(operation->tag, MPI_ANY_TAG), request);
}

static void set_send(struct mpi_request *send, const struct call *call, const struct mpi_communicator *in)
{
  send->kind = MPI_REQUEST_SEND;
  send->communicator = in->number;
  send->peer = number(call, 'd');
  send->tag = number(call, 'g');
  send->synchronous = call->arguments->synchronous;
  send->sent = bytes_sent(call, 1);
}

static void set_receive(struct mpi_request *receive, const struct call *call, const struct mpi_communicator *in)
{
  receive->kind = MPI_REQUEST_RECEIVE;
  receive->communicator = in->number;
  receive->peer = number(call, 'D');
  receive->tag = number(call, 'G');
  receive->synchronous = false;
  receive->sent = 0;
}

/* The operations of a request, or those of the call, have failed, or were cancelled. */
static void drop(const struct mpi_request *operation, bool of_request)
{
  if (operation->sending)
    LOG(GRAPHLOG_MPI_DROPPED, operation->sending);
  LOG(GRAPHLOG_MPI_DROPPED, of_request ? operation->number : 0);
}

/* What a request's completion, or a blocking receive, has received. */
static void log_received(const struct mpi_request *operation, uint32_t request, const MPI_Status *status,
                         struct mpi_call *result)
{
  uint64_t size = status_bytes(status);
  result->received += size;
  LOG(GRAPHLOG_MPI_RECEIVED, request,
      or_any(operation->peer == MPI_ANY_SOURCE ? status->MPI_SOURCE : operation->peer, MPI_ANY_SOURCE),
      or_any(operation->tag == MPI_ANY_TAG ? status->MPI_TAG : operation->tag, MPI_ANY_TAG), size);
}

/* ---- messages ---- */

/* Of an operation that ends with its call, only those fields are set that message_after() reads. */
static void message_before(struct call *call)
{
  const struct mpi_communicator *in = kept->communicator = communicator(call);
  struct mpi_request *operation = &kept->single;
  bool starts = has(call, 'q');
  call->result->known = in;
  if (!in)
    return;
  if (starts)
    *operation = (struct mpi_request){.kind = MPI_REQUEST_SEND};
  operation->number = operation->sending = 0;
  if (has(call, 'd') && number(call, 'd') != MPI_PROC_NULL) {
    set_send(operation, call, in);
    operation->number = starts ? mpi_handles_operation() : 0;
    call->result->sent += operation->sent;
    log_begin(operation, operation->number);
  }
  if (has(call, 'D') && number(call, 'D') != MPI_PROC_NULL) {
    operation->sending = operation->number; /* with the same request, or 0 */
    set_receive(operation, call, in);
    operation->number = starts ? mpi_handles_operation() : 1; /* not 0 */
    log_begin(operation, starts ? operation->number : 0);
    keep_status(call);
  }
}

static void message_after(struct call *call, bool succeeded)
{
  const struct mpi_request *operation = &kept->single;
  if (!kept->communicator)
    return;
  bool starts = has(call, 'q');
  if (succeeded && starts)
    add_request(operation, request_handle(call)); /* one of MPI_PROC_NULL has no number */
  else if (!succeeded && operation->number)
    drop(operation, starts);
  else if (operation->number && ((MPI_Status *)address(call, 'u'))->MPI_SOURCE != MPI_PROC_NULL)
    log_received(operation, 0, address(call, 'u'), call->result);
}

static inline void counted_before(struct call *call)
{
  call->result->known = HANDLE(MPI_Comm, value(call, 'c')) != mpi.null;
  if (has(call, 'd') && number(call, 'd') != MPI_PROC_NULL)
    call->result->sent = bytes(elements(call, 's'), type(call, 't'));
  keep_status(call);
}

/* Calls nothing, so that errno stays as it is. */
static inline void counted_after(struct call *call, bool succeeded)
{
  if (!succeeded || !has(call, 'D') || number(call, 'D') == MPI_PROC_NULL)
    return;
  const MPI_Status *status = address(call, 'u');
  if (status->MPI_SOURCE != MPI_PROC_NULL && field_bytes(status) > 0)
    call->result->received = (uint64_t)field_bytes(status);
}

/* ---- matched probes: the message is received where it was matched ---- */

static void match_before(struct call *call)
{
  kept->communicator = communicator(call);
  keep_status(call);
}

static uint64_t message_handle(const struct call *call)
{
  return NUMBER(*(MPI_Message *)address(call, 'm')) | MPI_HANDLES_MESSAGE;
}

static void match_after(struct call *call, bool succeeded)
{
  const MPI_Status *status = address(call, 'u');
  if (!succeeded || !kept->communicator || (has(call, 'f') && !*(int *)address(call, 'f')) ||
      status->MPI_SOURCE == MPI_PROC_NULL)
    return;
  struct mpi_request match = {.kind = MPI_REQUEST_RECEIVE,
                              .communicator = kept->communicator->number,
                              .peer = status->MPI_SOURCE,
                              .tag = status->MPI_TAG,
                              .number = mpi_handles_operation()};
  log_begin(&match, match.number);
  add_request(&match, message_handle(call));
}

static void matched_before(struct call *call)
{
  struct mpi_request *match = mpi_handles_take_request(message_handle(call));
  call->result->known = match || *(MPI_Message *)address(call, 'm') == mpi.no_process;
  kept->single = match ? *match : (struct mpi_request){.kind = MPI_REQUEST_SEND};
  free(match);
  if (kept->single.number)
    keep_status(call);
}

static void matched_after(struct call *call, bool succeeded)
{
  bool starts = has(call, 'q');
  if (succeeded && starts && call->result->known)
    add_request(&kept->single, request_handle(call)); /* one of MPI_PROC_NULL has no number */
  else if (!succeeded && kept->single.number)
    LOG(GRAPHLOG_MPI_DROPPED, kept->single.number);
  else if (kept->single.number)
    log_received(&kept->single, kept->single.number, address(call, 'u'), call->result);
}

/* ---- persistent requests ---- */

static void persistent_after(const struct call *call)
{
  struct mpi_communicator *in = communicator(call);
  bool sends = has(call, 'd');
  if (!in)
    return;
  struct mpi_request request = {.persistent = true};
  if (sends)
    set_send(&request, call, in);
  else
    set_receive(&request, call, in);
  add_request(&request, request_handle(call));
}

static void start_before(struct call *call)
{
  int count = has(call, 'n') ? number(call, 'n') : 1;
  const MPI_Request *requests = address(call, has(call, 'n') ? 'Q' : 'q');
  for (int i = 0; i < count; i++) {
    struct mpi_request *request = take_request(requests[i]);
    if (!request) {
      call->result->known = false;
      continue;
    }
    if (request->persistent && !request->number &&
        (request->kind == MPI_REQUEST_COLLECTIVE || request->peer != MPI_PROC_NULL)) {
      request->number = mpi_handles_operation();
      call->result->sent += request->sent;
      call->result->received += request->received;
      call->result->known &= !request->uncounted;
      log_begin(request, request->number);
    }
    put_request(request);
  }
}

/* ---- completion ---- */

/* The operation of a request has ended. */
static void end_request(int i)
{
  struct mpi_request *request = kept->requests[i];
  kept->requests[i] = NULL;
  if (request->persistent) {
    request->number = 0;
    request->cancelled = false;
    put_request(request);
  } else {
    free(request);
  }
}

/* Another thread may have cancelled a receive during the call. */
static bool was_cancelled(const struct mpi_request *request, const MPI_Status *status)
{
  return (request->cancelled || request->kind == MPI_REQUEST_RECEIVE) && status_cancelled(status);
}

static void log_completion(struct call *call, const struct mpi_request *request, const MPI_Status *status)
{
  if (was_cancelled(request, status)) {
    drop(request, true);
    return;
  }
  if (request->sending)
    LOG(GRAPHLOG_MPI_COMPLETE, request->sending);
  if (request->kind == MPI_REQUEST_RECEIVE)
    log_received(request, request->number, status, call->result);
  else
    LOG(GRAPHLOG_MPI_COMPLETE, request->number);
  if (request->kind == MPI_REQUEST_COMMUNICATOR && created(request->created) != mpi.null)
    add_communicator(NUMBER(created(request->created)), created(request->created), GRAPHLOG_MPI_CREATED,
                     request->communicator, request->ordinal);
}

static void complete(struct call *call, int i, const MPI_Status *status)
{
  const struct mpi_request *request = kept->requests[i];
  if (request == &not_followed)
    call->result->known = false;
  else if (request) {
    if (request->number)
      log_completion(call, request, status);
    end_request(i);
  }
}

/* Puts back what a call has not completed; also after one that was left by a jump. */
static void put_back(void)
{
  for (int i = 0; i < kept->count; i++)
    if (kept->requests[i] && kept->requests[i] != &not_followed)
      put_request(kept->requests[i]);
  kept->count = 0;
  free(kept->many);
  kept->many = NULL;
}

/* Keeps the requests, whose handles the call overwrites, and provides statuses. */
static void completion_before(struct call *call)
{
  bool several = has(call, 'n');
  int count = several ? number(call, 'n') : 1;
  const MPI_Request *requests = address(call, several ? 'Q' : 'q');
  put_back();
  call->result->known = count >= 0 && make_room(count);
  if (!call->result->known)
    return;
  for (kept->count = 0; kept->count < count; kept->count++) {
    MPI_Request handle = requests[kept->count];
    struct mpi_request *request = handle == mpi.no_request ? NULL : take_request(handle);
    kept->requests[kept->count] = request || handle == mpi.no_request ? request : &not_followed;
  }
  keep_status(call);
  if (has(call, 'U') && address(call, 'U') == MPI_STATUSES_IGNORE)
    replace(call, 'U', kept->statuses);
}

/* Those that an array of indices names, in MPI_Waitsome and MPI_Testsome. */
static void complete_some(struct call *call)
{
  int some = *(int *)address(call, 'k');
  const int *indices = address(call, 'I');
  const MPI_Status *statuses = address(call, 'U');
  for (int i = 0; some != MPI_UNDEFINED && i < some; i++)
    if (indices[i] >= 0 && indices[i] < kept->count)
      complete(call, indices[i], &statuses[i]);
}

/* After an error it is not known which requests are complete. */
static void drop_all(struct call *call)
{
  call->result->known = false;
  for (int i = 0; i < kept->count; i++) {
    const struct mpi_request *request = kept->requests[i];
    if (!request || request == &not_followed)
      continue;
    if (request->number)
      drop(request, true);
    end_request(i);
  }
}

static void complete_all(struct call *call)
{
  const MPI_Status *statuses = address(call, has(call, 'n') ? 'U' : 'u');
  for (int i = 0; i < kept->count; i++)
    complete(call, i, &statuses[i]);
}

static void completion_after(struct call *call, bool succeeded)
{
  int index = has(call, 'i') && kept->count && succeeded ? *(int *)address(call, 'i') : MPI_UNDEFINED;
  if (!succeeded)
    drop_all(call);
  else if (has(call, 'k'))
    complete_some(call);
  else if (has(call, 'f') && !*(int *)address(call, 'f'))
    index = MPI_UNDEFINED;
  else if (!has(call, 'i'))
    complete_all(call);
  else if (index != MPI_UNDEFINED && index >= 0 && index < kept->count)
    complete(call, index, address(call, 'u'));
  put_back();
}

static void cancel_before(struct call *call)
{
  struct mpi_request *request = take_request(*(MPI_Request *)address(call, 'q'));
  if (!request)
    return;
  request->cancelled = true;
  put_request(request);
}

/* Whether and when it will be complete is not known any more. */
static void request_free_before(struct call *call)
{
  struct mpi_request *request = take_request(*(MPI_Request *)address(call, 'q'));
  if (request && request->sending)
    LOG(GRAPHLOG_MPI_FREED, request->sending);
  if (request && request->number)
    LOG(GRAPHLOG_MPI_FREED, request->number);
  free(request);
}

/* Another thread may have one with the same handle when the call returns. */
static void free_after(const struct call *call, bool succeeded)
{
  if (!succeeded && kept->freed && !has(call, 'N'))
    LOG(GRAPHLOG_MPI_DROPPED, 0);
  if (succeeded)
    free(kept->freed);
  else if (kept->freed)
    mpi_handles_put_communicator(kept->freed);
}

/* ---- collective operations ---- */

static enum graphlog_mpi_collective collective_of(enum action action)
{
  switch (action) {
  case BARRIER:
  case FREE:
    return GRAPHLOG_MPI_BARRIER;
  case FROM_ROOT:
    return GRAPHLOG_MPI_FROM_ROOT;
  case TO_ROOT:
    return GRAPHLOG_MPI_TO_ROOT;
  case PREFIX:
    return GRAPHLOG_MPI_PREFIX;
  case NEIGHBOURS:
    return GRAPHLOG_MPI_NEIGHBOURS;
  case ON_FILE:
    return GRAPHLOG_MPI_FILE;
  case JOIN:
    return GRAPHLOG_MPI_JOIN;
  default:
    return GRAPHLOG_MPI_ALL_TO_ALL;
  }
}

static bool in_place(const struct call *call, char letter)
{
  return has(call, letter) && address(call, letter) == MPI_IN_PLACE;
}

/* Sets which bytes the call sends and receives, by its arguments.  Those that mean something at the root only are read
 * only there. */
static void collective_bytes(struct call *call, const struct mpi_communicator *in)
{
  struct mpi_call *result = call->result;
  enum action action = call->arguments->action;
  bool scatters = has(call, 'w') || (has(call, 'z') && !has(call, 'y')); /* a reduction, to the own group */
  int ranks = in->remote_size && !scatters ? in->remote_size : in->size;
  int root = has(call, 'o') ? number(call, 'o') : 0;
  bool is_root = in->remote_size ? root == MPI_ROOT : root == in->rank;
  bool both = action == ALL_TO_ALL || action == PREFIX;
  if (action == BARRIER || (has(call, 'o') && in->remote_size && root == MPI_PROC_NULL))
    return;
  bool sends = both || (action == FROM_ROOT ? is_root : !in->remote_size || !is_root);
  bool receives = both || (action == TO_ROOT ? is_root : !in->remote_size || !is_root);
  if (action == FROM_ROOT && is_root && !has(call, 'v')) /* MPI_Bcast has one buffer */
    receives = false;
  if (sends && !in_place(call, 'b'))
    result->sent = bytes_sent(call, ranks);
  else if (both && in_place(call, 'b'))
    result->sent = has(call, 'y') || has(call, 'Y') ? bytes_received(call, in, ranks) : bytes_sent(call, ranks);
  if (receives && !in_place(call, 'v'))
    result->received = bytes_received(call, in, ranks);
}

/* The root as it is logged. */
static uint32_t root_of(const struct call *call, const struct mpi_communicator *in)
{
  if (!has(call, 'o'))
    return 0;
  if (in->remote_size && number(call, 'o') == MPI_ROOT)
    return GRAPHLOG_MPI_ROOT_SELF;
  if (in->remote_size && number(call, 'o') == MPI_PROC_NULL)
    return GRAPHLOG_MPI_ROOT_THIS_GROUP;
  return (uint32_t)number(call, 'o') + 1;
}

static struct mpi_request operation_of(const struct call *call, const struct mpi_communicator *in)
{
  return (struct mpi_request){.kind = MPI_REQUEST_COLLECTIVE,
                              .communicator = in->number,
                              .collective = collective_of(call->arguments->action),
                              .root = root_of(call, in),
                              .sent = call->result->sent};
}

/* An operation on a communicator, window or file begins, which transfers the call's bytes. */
static void begin_collective(const struct call *call, const struct mpi_communicator *in)
{
  kept->communicator = in;
  if (!in)
    return;
  kept->single = operation_of(call, in);
  kept->single.number = has(call, 'q') ? mpi_handles_operation() : 0;
  log_begin(&kept->single, kept->single.number);
}

/* A persistent operation is prepared: it begins in MPI_Start. */
static void prepare_collective(const struct call *call, const struct mpi_communicator *in)
{
  struct mpi_call *result = call->result;
  kept->single = operation_of(call, in);
  kept->single.persistent = true;
  kept->single.received = result->received;
  kept->single.uncounted = !result->known;
  *result = (struct mpi_call){.known = true};
}

/* The window or file on which the call operates, or the communicator. */
static const struct mpi_communicator *operated_on(const struct call *call)
{
  if (has(call, 'X'))
    return mpi_handles_communicator(object_handle(NUMBER(HANDLE(MPI_Win, value(call, 'X')))));
  if (has(call, 'H'))
    return mpi_handles_communicator(object_handle(NUMBER(HANDLE(MPI_File, value(call, 'H')))));
  return communicator(call);
}

static void collective_before(struct call *call)
{
  const struct mpi_communicator *in = kept->communicator = operated_on(call);
  call->result->known =
      in && call->arguments->action != NEIGHBOURS && !has(call, 'H'); /* their bytes are not counted */
  if (!in)
    return;
  if (call->result->known)
    collective_bytes(call, in);
  if (has(call, 'P'))
    prepare_collective(call, in);
  else
    begin_collective(call, in);
}

static void collective_after(struct call *call, bool succeeded)
{
  if (!kept->communicator)
    return;
  if (!succeeded && !kept->single.persistent)
    LOG(GRAPHLOG_MPI_DROPPED, kept->single.number);
  else if (succeeded && has(call, 'q'))
    add_request(&kept->single, request_handle(call));
}

/* All ranks take part in the creation of a communicator, window or file. */
static void create_before(struct call *call)
{
  begin_collective(call, communicator(call));
}

static void create_after(struct call *call, bool succeeded)
{
  struct mpi_communicator *parent = kept->communicator ? communicator(call) : NULL;
  if (parent && succeeded)
    created_from(call, parent);
  else if (parent)
    LOG(GRAPHLOG_MPI_DROPPED, kept->single.number);
}

/* Only the members of the new communicator call, which is known before: they wait for each other.  Those of several
 * such calls on one parent have different tags. */
static void create_group_before(struct call *call)
{
  const struct mpi_communicator *parent = communicator(call);
  MPI_Group group = HANDLE(MPI_Group, value(call, 'p'));
  struct mpi_communicator fresh = {.rank = MPI_UNDEFINED};
  kept->communicator = kept->made = NULL;
  if (group != mpi.no_group) { /* for which Open MPI creates nothing, but its functions on groups end the program */
    mpi.Group_rank(group, &fresh.rank);
    mpi.Group_size(group, &fresh.size);
  }
  if (!parent || fresh.rank == MPI_UNDEFINED)
    return;
  kept->made = mpi_handles_new_communicator(&fresh);
  if (!kept->made)
    return;
  LOG(GRAPHLOG_MPI_COMMUNICATOR, kept->made->number, GRAPHLOG_MPI_OF_GROUP, parent->number, (uint32_t)number(call, 'e'),
      (uint64_t)fresh.rank);
  if (mpi.log)
    log_ranks(kept->made->number, group, fresh.size, false);
  begin_collective(call, kept->made);
}

static void create_group_after(const struct call *call, bool succeeded)
{
  if (!kept->made)
    return;
  if (succeeded) {
    kept->made->entry.handle = NUMBER(created(address(call, 'N')));
    mpi_handles_put_communicator(kept->made);
  } else {
    LOG(GRAPHLOG_MPI_DROPPED, 0);
    free(kept->made);
  }
}

/* Ranks of the own group wait for each other, and the leaders, for whose group they stand, for each other; which ranks
 * the other group has is known afterwards. */
static void join_before(struct call *call)
{
  const struct mpi_communicator *in = communicator(call);
  begin_collective(call, in);
  if (!in || in->rank != number(call, 'o'))
    return;
  const struct mpi_communicator *peers = communicator_of(HANDLE(MPI_Comm, value(call, 'C')));
  if (peers)
    LOG(GRAPHLOG_MPI_LEADER, peers->number, (uint64_t)number(call, 'h'), (uint32_t)number(call, 'e'));
}

static void join_after(const struct call *call, bool succeeded)
{
  if (!kept->communicator)
    return;
  if (succeeded)
    add_communicator(NUMBER(created(address(call, 'N'))), created(address(call, 'N')), GRAPHLOG_MPI_JOINED, 0,
                     (uint32_t)number(call, 'e'));
  else
    LOG(GRAPHLOG_MPI_DROPPED, 0);
}

/* All ranks take part in it for windows and files. */
static void free_before(struct call *call)
{
  bool object = !has(call, 'N');
  kept->freed = mpi_handles_take_communicator(object ? created_object(call) : NUMBER(created(address(call, 'N'))));
  if (object)
    begin_collective(call, kept->freed);
}

/* ---- the module ---- */

static bool start(void *(*find)(const char *name), void (*log)(uint32_t, unsigned, const uint64_t *))
{
  int initialized = 0;
  mpi.log = log;
#define LOCAL(name, parameters)                                                                                        \
  mpi.name = (int(*) parameters)find("PMPI_" #name);                                                                   \
  if (!mpi.name)                                                                                                       \
    return false;
  LOCAL_LIST(LOCAL)
#undef LOCAL
  mpi.world = CONSTANT(MPI_Comm, MPI_COMM_WORLD, "ompi_mpi_comm_world");
  mpi.self = CONSTANT(MPI_Comm, MPI_COMM_SELF, "ompi_mpi_comm_self");
  mpi.null = CONSTANT(MPI_Comm, MPI_COMM_NULL, "ompi_mpi_comm_null");
  mpi.byte = CONSTANT(MPI_Datatype, MPI_BYTE, "ompi_mpi_byte");
  mpi.no_type = CONSTANT(MPI_Datatype, MPI_DATATYPE_NULL, "ompi_mpi_datatype_null");
  mpi.no_request = CONSTANT(MPI_Request, MPI_REQUEST_NULL, "ompi_request_null");
  mpi.no_group = CONSTANT(MPI_Group, MPI_GROUP_NULL, "ompi_mpi_group_null");
  mpi.no_process = CONSTANT(MPI_Message, MPI_MESSAGE_NO_PROC, "ompi_message_no_proc");
  learn_sizes(find);
  learn_statuses();
  describe_all();
  if (!mpi.byte || mpi.Initialized(&initialized) != MPI_SUCCESS)
    return false;
  if (!initialized) { /* a session: there is no MPI_COMM_WORLD whose ranks could be named */
    mpi.log = NULL;
    return true;
  }
  return mpi.Comm_group(mpi.world, &mpi.world_group) == MPI_SUCCESS &&
         add_communicator(NUMBER(mpi.world), mpi.world, GRAPHLOG_MPI_WORLD, 0, 0) &&
         add_communicator(NUMBER(mpi.self), mpi.self, GRAPHLOG_MPI_SELF, 0, 0);
}

static __attribute__((noinline)) void followed_before(enum mpi_function function, uint64_t *values,
                                                      struct mpi_call *result)
{
  struct call call = {&functions[function], values, result};
  result->known = call.arguments->action != NONE;
  switch (call.arguments->action) {
  case MESSAGE:
    message_before(&call);
    break;
  case MATCH:
    match_before(&call);
    break;
  case MATCHED:
    matched_before(&call);
    break;
  case START:
    start_before(&call);
    break;
  case COMPLETION:
    completion_before(&call);
    break;
  case CANCEL:
    cancel_before(&call);
    break;
  case REQUEST_FREE:
    request_free_before(&call);
    break;
  case CREATE:
    create_before(&call);
    break;
  case CREATE_GROUP:
    create_group_before(&call);
    break;
  case JOIN:
    join_before(&call);
    break;
  case FREE:
    free_before(&call);
    break;
  case BARRIER:
  case FROM_ROOT:
  case TO_ROOT:
  case ALL_TO_ALL:
  case PREFIX:
  case NEIGHBOURS:
  case ON_FILE:
    collective_before(&call);
    break;
  default:
    break;
  }
}

static __attribute__((noinline)) void followed_after(enum mpi_function function, const uint64_t *values, bool succeeded,
                                                     struct mpi_call *result)
{
  struct call call = {&functions[function], (uint64_t *)values, result};
  switch (call.arguments->action) {
  case MESSAGE:
    message_after(&call, succeeded);
    break;
  case MATCH:
    match_after(&call, succeeded);
    break;
  case MATCHED:
    matched_after(&call, succeeded);
    break;
  case PERSISTENT:
    if (succeeded)
      persistent_after(&call);
    break;
  case COMPLETION:
    completion_after(&call, succeeded);
    break;
  case CREATE:
    create_after(&call, succeeded);
    break;
  case CREATE_GROUP:
    create_group_after(&call, succeeded);
    break;
  case JOIN:
    join_after(&call, succeeded);
    break;
  case NAME:
    if (succeeded && communicator(&call))
      log_name(&call, communicator(&call));
    break;
  case FREE:
    free_after(&call, succeeded);
    break;
  case BARRIER:
  case FROM_ROOT:
  case TO_ROOT:
  case ALL_TO_ALL:
  case PREFIX:
  case NEIGHBOURS:
  case ON_FILE:
    collective_after(&call, succeeded);
    break;
  default:
    break;
  }
}

static void before(enum mpi_function function, uint64_t *values, struct mpi_call *result)
{
  struct call call = {&functions[function], values, result};
  if (call.arguments->action == COUNTED_MESSAGE)
    counted_before(&call);
  else
    followed_before(function, values, result);
}

static void after(enum mpi_function function, const uint64_t *values, int result_code, struct mpi_call *result)
{
  struct call call = {&functions[function], (uint64_t *)values, result};
  if (call.arguments->action == COUNTED_MESSAGE) {
    counted_after(&call, result_code == MPI_SUCCESS);
    return;
  }
  int saved_errno = errno;
  followed_after(function, values, result_code == MPI_SUCCESS, result);
  errno = saved_errno;
}

__attribute__((visibility("default"))) const struct mpi_decoder hpcrun_lite_mpi_decoder = {
    .version = MPI_DECODER_VERSION, .start = start, .before = before, .after = after};
