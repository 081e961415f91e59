/* What the entry points of mpi_entries.S do before and after a call.
 *
 * This object is preloaded where the program may use MPI, after libhpcrun-lite.so and before the MPI library and tools
 * that use its profiling interface: so it sees all calls through the dynamic linker, those of MPI_NAME and those of
 * PMPI_NAME.  The recorder counts the outermost one of each thread only.
 *
 * Context: CTL, in calls of the program.  State: addresses, written by any thread with the same values; the decoder and
 * the state of MPI, written where MPI is initialized and finalized, which the program does in one thread at a time. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/format.h"
#include "hpcrun-lite/mpi/mpi_library.h"

/* Seen: what follows the call; 0: nothing, and it is passed on as if this object were not there. */
enum { SEEN_RECORDED = 1, SEEN_INIT = 2, SEEN_FINALIZE = 4, SEEN_DECODED = 8 };

/* A call; the same in mpi_entries.S. */
struct mpi_frame {
  uint64_t arguments[MPI_ARGUMENTS];
  uint64_t entry; /* 2 * enum mpi_function, + 1: PMPI_NAME */
  uint64_t code;  /* the address to which it returns, and the stack pointer then */
  uint64_t sp;
  uint64_t seen;
  uint64_t stacked; /* number of arguments on the stack */
  struct mpi_call call;
};
_Static_assert(sizeof(struct mpi_frame) <= 240 && offsetof(struct mpi_frame, entry) == 8 * MPI_ARGUMENTS,
               "as mpi_entries.S has them");

void *mpi_enter(struct mpi_frame *frame) __attribute__((visibility("hidden")));
uint64_t mpi_leave(struct mpi_frame *frame, uint64_t result) __attribute__((visibility("hidden")));

/* Those that initialize or finalize MPI have the first numbers. */
#define MPI_FUNCTION(name, kind, arguments) +(MPI_KIND_##kind == MPI_KIND_INIT || MPI_KIND_##kind == MPI_KIND_FINALIZE)
enum {
  SPECIAL = 0
#include "common/mpi_functions.def"
};
#undef MPI_FUNCTION
_Static_assert((int)SPECIAL == (int)MPI_FUNCTION_Session_finalize, "the others follow");

static const struct {
  const char *name; /* of PMPI */
  enum mpi_kind kind;
} functions[MPI_FUNCTIONS] = {
#define MPI_FUNCTION(name, kind, arguments) [MPI_FUNCTION_##name] = {"PMPI_" #name, MPI_KIND_##kind},
#include "common/mpi_functions.def"
#undef MPI_FUNCTION
};

__thread uint64_t hpcrun_lite_mpi_thread[MPI_DECODER_THREAD_WORDS];
static void *_Atomic targets[2 * MPI_FUNCTIONS];
static const struct mpi_decoder *_Atomic decoder; /* NULL: not between initialization and finalization */
static atomic_uint state;                         /* enum format_mpi_state */
static atomic_bool world;                         /* between MPI_Init and MPI_Finalize */
static atomic_int uses;                           /* open sessions, and 1 for the world */

/* Takes the place of a function that no loaded library has, which the program has found here by its name. */
static int missing(void)
{
  static const char text[] =
      "hpcrun-lite: the program calls a function of MPI that no library has: it returns an error\n";
  static atomic_flag told = ATOMIC_FLAG_INIT;
  int saved_errno = errno;
  int error = mpi_library_error();
  if (!atomic_flag_test_and_set(&told)) {
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
  }
  errno = saved_errno;
  return error;
}

/* NULL: no library has the function. */
static __attribute__((noinline, cold)) void *find_target(uint64_t entry, const void *caller)
{
  int saved_errno = errno;
  const char *name = functions[entry / 2].name + (entry % 2 ? 0 : 1);
  void *found = mpi_library_next(name, caller);
  if (found)
    atomic_store_explicit(&targets[entry], found, memory_order_relaxed);
  errno = saved_errno;
  return found;
}

/* Is that the last use of MPI, which a call is going to finalize? */
static bool is_last(void)
{
  return atomic_load(&uses) <= 1;
}

static __attribute__((noinline, cold)) void note_kind(struct mpi_frame *frame)
{
  enum mpi_kind kind = functions[frame->entry / 2].kind;
  frame->seen |= kind == MPI_KIND_INIT ? SEEN_INIT : SEEN_FINALIZE;
  if (kind == MPI_KIND_FINALIZE && is_last() && hpcrun_lite_mpi_finalizes)
    hpcrun_lite_mpi_finalizes();
}

/* Returns the function to call. */
void *mpi_enter(struct mpi_frame *frame)
{
  void *target = atomic_load_explicit(&targets[frame->entry], memory_order_relaxed);
  enum mpi_function function = (enum mpi_function)(frame->entry / 2);
  if (__builtin_expect(!target, 0))
    target = find_target(frame->entry, (const void *)frame->code);
  frame->seen = 0;
  if (__builtin_expect(!target, 0))
    return (void *)(uintptr_t)missing;
  frame->seen = hpcrun_lite_mpi_begin && hpcrun_lite_mpi_begin(function, frame->code, frame->sp) ? SEEN_RECORDED : 0;
  if (__builtin_expect((int)function <= SPECIAL, 0))
    note_kind(frame);
  frame->call = (struct mpi_call){0};
  const struct mpi_decoder *decodes = atomic_load_explicit(&decoder, memory_order_acquire);
  if (decodes && frame->seen & SEEN_RECORDED) {
    decodes->before(function, frame->arguments, &frame->call);
    frame->seen |= SEEN_DECODED;
    if (__builtin_expect(frame->seen & SEEN_FINALIZE, 0) && is_last())
      atomic_store(&decoder, NULL);
  }
  return target;
}

/* ---- initialization and finalization ---- */

/* Describes the library and begins to decode calls: at the first session, and at MPI_Init. */
static void begin(unsigned now)
{
  struct mpi_facts facts;
  atomic_store(&state, now);
  mpi_library_describe(&facts, now);
  const struct mpi_decoder *found = mpi_library_decoder();
  facts.decoded = found;
  atomic_store_explicit(&decoder, found, memory_order_release);
  if (hpcrun_lite_mpi_initialized)
    hpcrun_lite_mpi_initialized(&facts);
}

static void initialized(enum mpi_function function)
{
  bool session = function == MPI_FUNCTION_Session_init;
  if (!session && atomic_exchange(&world, true))
    return; /* by a call within this one */
  bool first = !atomic_fetch_add(&uses, 1);
  unsigned before = atomic_load(&state);
  bool world_ended = before & FORMAT_MPI_FINALIZED && !(before & FORMAT_MPI_SESSIONS);
  if (!session || (first && !world_ended)) /* the library may not be asked for a world that has ended */
    begin(FORMAT_MPI_INITIALIZED | (session ? FORMAT_MPI_SESSIONS : 0));
}

static void finalized(enum mpi_function function)
{
  if (function == MPI_FUNCTION_Finalize && !atomic_exchange(&world, false))
    return; /* by a call within this one */
  if (atomic_fetch_sub(&uses, 1) > 1)
    return;
  unsigned now = atomic_fetch_or(&state, FORMAT_MPI_FINALIZED) | FORMAT_MPI_FINALIZED;
  atomic_store(&decoder, NULL);
  if (hpcrun_lite_mpi_finalized)
    hpcrun_lite_mpi_finalized(now);
}

static __attribute__((noinline, cold)) void follow_kind(const struct mpi_frame *frame)
{
  int saved_errno = errno;
  enum mpi_function function = (enum mpi_function)(frame->entry / 2);
  if (frame->seen & SEEN_INIT)
    initialized(function);
  else
    finalized(function);
  errno = saved_errno;
}

/* Returns the result of the call. */
uint64_t mpi_leave(struct mpi_frame *frame, uint64_t result)
{
  const struct mpi_decoder *decodes = atomic_load_explicit(&decoder, memory_order_acquire);
  if (frame->seen & SEEN_RECORDED) {
    if (decodes && frame->seen & SEEN_DECODED)
      decodes->after((enum mpi_function)(frame->entry / 2), frame->arguments, (int)result, &frame->call);
    hpcrun_lite_mpi_end(frame->call.known, frame->call.sent, frame->call.received);
  }
  if (__builtin_expect(frame->seen & (SEEN_INIT | SEEN_FINALIZE) && !(int)result, 0))
    follow_kind(frame);
  return result;
}
