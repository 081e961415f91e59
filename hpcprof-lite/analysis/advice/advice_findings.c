#include "hpcprof-lite/analysis/advice/advice_findings.h"

#include "common/words.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/timeline.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double least = 0.01; /* of the elapsed time: smaller gains are not listed */

const struct advice_class_row advice_classes[ADVICE_CLASSES] = {
    [ADVICE_SERIAL] =
        {
            .name = "serial",
            .title = "serial code",
            .remedy = {"Run it in parallel (parallel for, tasks), or beside other work.",
                       "Run it in parallel (parallel for, tasks), or beside other work"},
            .view = "topdown --sort idleness_incl_s",
            .confidence = "high",
            .low = 0.8,
            .high = 1.05,
            .change = ADVICE_SPREAD_SERIAL,
            .categories = 1u << TIMELINE_IDLE,
        },
    [ADVICE_IMBALANCE] =
        {
            .name = "imbalance",
            .title = "threads with unequal work",
            .remedy = {"Give work to the threads as they become free: schedule(dynamic, N) or schedule(guided), "
                       "smaller tasks; the largest pieces first.",
                       "schedule(dynamic, N) or schedule(guided); smaller tasks, the largest first"},
            .view = "regions --per-thread",
            .confidence = "high",
            .low = 0.8,
            .high = 1.05,
            .change = ADVICE_SPREAD,
            .categories = 1u << TIMELINE_IDLE,
        },
    [ADVICE_CHUNK_OVERHEAD] =
        {
            .name = "chunk-overhead",
            .title = "chunks too small",
            .remedy = {"Use larger chunks, schedule(dynamic, N) with a larger N, or schedule(static).",
                       "schedule(dynamic, N) with a larger N, or schedule(static)"},
            .view = "bottomup --sort overhead_excl_s",
            .confidence = "medium",
            .low = 0.7,
            .high = 1.2,
            .categories = 1u << TIMELINE_OVERHEAD | 1u << TIMELINE_IDLE,
        },
    [ADVICE_TASK_OVERHEAD] =
        {
            .name = "task-overhead",
            .title = "tasks too small",
            .remedy = {"Create fewer and larger tasks: stop creating them below a size (if or final clause, a serial "
                       "function), taskloop with a larger grainsize.",
                       "Fewer and larger tasks: if or final clause, taskloop with grainsize"},
            .view = "tasks",
            .confidence = "medium",
            .low = 0.8,
            .high = 1.25,
            .categories = 1u << TIMELINE_OVERHEAD | 1u << TIMELINE_IDLE,
        },
    [ADVICE_FEW_CHUNKS] =
        {
            .name = "few-chunks",
            .title = "too few pieces of work for the threads",
            .remedy = {"Divide the work into more pieces: smaller chunks, more sections or tasks, collapse(2).",
                       "More pieces: smaller chunks, more sections or tasks, collapse(2)"},
            .view = "regions --per-thread",
            .confidence = "high",
            .low = 0.7,
            .high = 1.05,
            .change = ADVICE_SPREAD,
            .categories = 1u << TIMELINE_IDLE,
        },
    [ADVICE_LAST_PIECE] =
        {
            .name = "last-piece",
            .title = "one long piece of work",
            .remedy = {"Start the longest piece first: sort the pieces by their expected time, or run the loop "
                       "backwards.  Or divide it.",
                       "Start the longest piece first, or divide it"},
            .view = "regions --per-thread",
            .confidence = "high",
            .low = 0.8,
            .high = 1.05,
            .change = ADVICE_SPREAD,
            .categories = 1u << TIMELINE_IDLE,
        },
    [ADVICE_REGION_OVERHEAD] =
        {
            .name = "region-overhead",
            .title = "parallel regions too small",
            .remedy = {"Put one region around the loop that opens it so often, or merge neighbouring regions; if(N > "
                       "LIMIT) where there is little work.",
                       "One region around the loop that opens it; if(N > LIMIT) for little work"},
            .view = "regions",
            .confidence = "medium",
            .low = 0.7,
            .high = 1.2,
            .categories = 1u << TIMELINE_OVERHEAD | 1u << TIMELINE_IDLE,
        },
    [ADVICE_REGION_THREADS] =
        {
            .name = "region-threads",
            .title = "a region with too many threads",
            .remedy = {"Give this region fewer threads (num_threads), or one where there is little work (if(N > "
                       "LIMIT)); OMP_NUM_THREADS where no clause sets them and it suits all regions.",
                       "num_threads(N) with fewer; if(N > LIMIT) for little work"},
            .view = "regions",
            .confidence = "medium",
            .low = 0.7,
            .high = 1.2,
            .categories = 1u << TIMELINE_OVERHEAD | 1u << TIMELINE_IDLE,
        },
    [ADVICE_BARRIER] =
        {
            .name = "barrier",
            .title = "barriers between phases of unequal work",
            .remedy = {"If what follows does not need the other threads' results, leave the barrier out, or add nowait "
                       "to the loop.",
                       "nowait, if what follows does not need the other threads' results"},
            .view = "regions --per-thread",
            .confidence = "medium",
            .low = 0.7,
            .high = 1.05,
            .change = ADVICE_WITHOUT_BARRIERS,
            .categories = 1u << TIMELINE_IDLE,
        },
    [ADVICE_CONTENTION] =
        {
            .name = "contention",
            .title = "threads that wait for a lock",
            .remedy = {"Do less while holding it, use a reduction, copies of the data for each thread, or atomic; "
                       "several locks for parts of the data.",
                       "Hold it for a shorter time; reduction, atomic, or several locks"},
            .view = "bottomup --sort lockwait_excl_s",
            .confidence = "high",
            .low = 0.7,
            .high = 1.1,
            .categories = 1u << TIMELINE_LOCK_WAIT,
        },
    [ADVICE_REDUCTION] =
        {
            .name = "reduction",
            .title = "combining the copies of a reduction",
            .remedy = {"Combine fewer elements, and less often: one reduction around several loops, or give each "
                       "thread its own part of the array; or use fewer threads, since each has a copy.",
                       "Fewer elements, one reduction around several loops, or fewer threads"},
            .view = "regions",
            .confidence = "medium",
            .low = 0.5,
            .high = 1.1,
            .categories = 1u << TIMELINE_WORK | 1u << TIMELINE_LOCK_WAIT,
        },
    [ADVICE_DEPENDENCES] =
        {
            .name = "dependences",
            .title = "tasks or iterations that wait for each other",
            .remedy = {"Only work that does not depend on other work can run at once: shorten the chain, make "
                       "dependences finer (parts of the data), or compute independent parts beside it.",
                       "Shorten the chain, or make dependences finer (parts of the data)"},
            .view = "critical-path",
            .confidence = "medium",
            .low = 0.5,
            .high = 1.05,
            .change = ADVICE_WITHOUT_DEPENDENCES,
            .categories = 1u << TIMELINE_IDLE | 1u << TIMELINE_LOCK_WAIT,
        },
    [ADVICE_CREATION] =
        {
            .name = "creation",
            .title = "tasks created by one thread",
            .remedy = {"Create tasks in several threads (taskloop, tasks that create tasks), or larger ones.",
                       "Create tasks in several threads (taskloop, nested tasks), or larger ones"},
            .view = "tasks",
            .confidence = "medium",
            .low = 0.7,
            .high = 1.05,
            .change = ADVICE_SPREAD,
            .categories = 1u << TIMELINE_IDLE | 1u << TIMELINE_OVERHEAD,
        },
    [ADVICE_OVERSUBSCRIPTION] =
        {
            .name = "oversubscription",
            .title = "more threads than cores",
            .remedy = {"Use as many threads as cores (OMP_NUM_THREADS, OMP_DYNAMIC=true); while there are more, "
                       "OMP_WAIT_POLICY=passive.",
                       "As many threads as cores (OMP_NUM_THREADS); OMP_WAIT_POLICY=passive"},
            .view = "threads",
            .confidence = "medium",
            .low = 0.5,
            .high = 1.1,
            .about_cores = true,
            .categories = 1u << TIMELINE_CORE_WAIT | 1u << TIMELINE_NO_CORE | 1u << TIMELINE_IDLE,
        },
    [ADVICE_INFLATION] =
        {
            .name = "inflation",
            .title = "work that takes longer with more threads",
            .remedy = {"Threads compete for memory, caches, or lines that they share (false sharing): count cache "
                       "misses with -e cache-misses, keep each thread's data apart and in the order of its loops.",
                       "Keep each thread's data apart; count cache misses (-e cache-misses)"},
            .view = "efficiency",
            .confidence = "medium",
            .low = 0,
            .high = 1,
        },
    [ADVICE_NESTING] =
        {
            .name = "nesting",
            .title = "inner regions that run with one thread",
            .remedy = {"Allow them to have more: OMP_MAX_ACTIVE_LEVELS=2 with enough threads, or collapse both loops "
                       "into one.",
                       "OMP_MAX_ACTIVE_LEVELS=2 with enough threads, or collapse both loops",
                       "OMP_MAX_ACTIVE_LEVELS=2"},
            .view = "region-tree",
            .confidence = "medium",
            .low = 0.5,
            .high = 1.05,
            .change = ADVICE_SPREAD,
            .categories = 1u << TIMELINE_IDLE,
        },
    [ADVICE_BLOCKING] =
        {
            .name = "blocking",
            .title = "blocked outside OpenMP while threads wait",
            .remedy = {"Do it beside the computation (a task, a thread of its own, asynchronous I/O).",
                       "Do it beside the computation: a task, a thread, asynchronous I/O"},
            .view = "topdown",
            .confidence = "medium",
            .low = 0.5,
            .high = 1.05,
            .categories = 1u << TIMELINE_BLOCKED | 1u << TIMELINE_IDLE,
        },
    [ADVICE_LOCALITY] =
        {
            .name = "locality",
            .title = "tasks far from their data",
            .remedy = {"Keep tasks near their data: OMP_PLACES with OMP_PROC_BIND, the affinity clause, and data that "
                       "is first written by the threads that use it.",
                       "Keep tasks near their data: OMP_PLACES, OMP_PROC_BIND, affinity"},
            .view = "tasks",
            .confidence = "low",
            .low = 0,
            .high = 1,
        },
    [ADVICE_MUTEX] =
        {
            .name = "mutex",
            .title = "waiting until a mutex is released",
            .remedy = {"Hold it for less time: move out what needs no protection, keep results per thread, or use "
                       "several locks for parts of the data.",
                       "Hold it for less time; keep results per thread; use several locks"},
            .view = "locks",
            .confidence = "high",
            .low = 0.7,
            .high = 1.1,
            .categories = 1u << TIMELINE_LOCK_WAIT,
        },
    [ADVICE_SPINNING] =
        {
            .name = "spinning",
            .title = "idle threads that spin while others have no core",
            .remedy = {"Let idle threads sleep: OMP_WAIT_POLICY=passive (with GCC also GOMP_SPINCOUNT=0, with LLVM "
                       "KMP_BLOCKTIME=0); or use fewer threads.",
                       "OMP_WAIT_POLICY=passive: idle threads sleep; or fewer threads", "OMP_WAIT_POLICY=passive"},
            .view = "threads",
            .confidence = "medium",
            .low = 0.5,
            .high = 2,
            .about_cores = true,
            .categories = 1u << TIMELINE_CORE_WAIT | 1u << TIMELINE_NO_CORE,
        },
    [ADVICE_POOL] =
        {
            .name = "pool",
            .title = "threads of a pool idle while other code runs",
            .remedy = {"Let the pool do a part of what runs meanwhile, hand work to it earlier or in smaller pieces, "
                       "or use fewer threads.",
                       "Let the pool do a part of it; hand work over earlier; or fewer threads"},
            .view = "topdown --sort idleness_incl_s",
            .confidence = "medium",
            .low = 0,
            .high = 1.05,
            .categories = 1u << TIMELINE_IDLE,
        },
    [ADVICE_BINDING] =
        {
            .name = "binding",
            .title = "threads bound to too few cores",
            .remedy = {"Let them run on all CPUs: change or remove OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY and "
                       "KMP_AFFINITY; OMP_PROC_BIND=spread with OMP_PLACES=cores gives each thread a core of its own.",
                       "OMP_PROC_BIND=spread, OMP_PLACES=cores; or remove the binding"},
            .view = "threads",
            .confidence = "high",
            .low = 0.7,
            .high = 1.2,
            .categories = 1u << TIMELINE_CORE_WAIT | 1u << TIMELINE_NO_CORE | 1u << TIMELINE_IDLE,
            .about_cores = true,
        },
    [ADVICE_QUOTA] =
        {
            .name = "quota",
            .title = "threads stopped by a CPU quota",
            .remedy = {"Ask for more CPUs (cpu.max of the control group, docker --cpus, limits of Kubernetes), or run "
                       "no more threads than the quota has CPUs: a thread that is stopped holds up its whole team.",
                       "More CPUs for the control group, or as many threads as its quota allows"},
            .view = "threads",
            .confidence = "medium",
            .low = 0.3,
            .high = 1.5,
            .categories = 1u << TIMELINE_CORE_WAIT | 1u << TIMELINE_NO_CORE,
            .about_cores = true,
        },
    [ADVICE_KERNEL] =
        {
            .name = "kernel",
            .title = "time in the kernel",
            .remedy = {"See which system calls these are (strace -c -f, perf trace): make fewer and larger ones, or "
                       "make them outside the loop.",
                       "Fewer and larger system calls: strace -c -f shows which they are"},
            .view = "topdown --sort system_incl_s",
            .confidence = "medium",
            .low = 0.7,
            .high = 1.2,
            .categories = 1u << TIMELINE_IDLE,
            .about_cores = true,
        },
    [ADVICE_CHURN] =
        {
            .name = "thread-churn",
            .title = "threads that are created again and again",
            .remedy = {"Give all regions the same number of threads: GCC's runtime ends threads when a team is smaller "
                       "than the one before, and creates them again for a larger one (num_threads clauses, "
                       "omp_set_num_threads(), nested regions).",
                       "The same number of threads in all regions (num_threads)"},
            .view = "regions",
            .confidence = "medium",
            .low = 0.5,
            .high = 1.1,
            .categories = 1u << TIMELINE_OVERHEAD | 1u << TIMELINE_IDLE | 1u << TIMELINE_NO_CORE |
                          1u << TIMELINE_CORE_WAIT | 1u << TIMELINE_BLOCKED,
        },
    [ADVICE_ATOMICS] =
        {
            .name = "atomics",
            .title = "atomic instructions",
            .remedy = {"Update data that threads share less often: a reduction, copies of the data for each thread "
                       "that are added at the end, or counters in different cache lines.",
                       "A reduction, or copies of the data for each thread"},
            .view = "source",
            .confidence = "low",
            .low = 0,
            .high = 2,
            .about_cores = true,
        },
    [ADVICE_MPI] =
        {
            .name = "mpi",
            .title = "time in MPI calls",
            .remedy = {"Another rank may be late: compare the work of the ranks and divide it equally; or let threads "
                       "work on something else meanwhile (non-blocking calls).",
                       "Equal work for all ranks, or non-blocking calls beside other work"},
            .view = "ranks",
            .confidence = "low",
            .low = 0,
            .high = 1.05,
            .categories = 1u << TIMELINE_MPI | 1u << TIMELINE_IDLE | 1u << TIMELINE_BLOCKED,
        },
    [ADVICE_OFFLOAD] =
        {
            .name = "offload",
            .title = "target constructs",
            .remedy = {"", ""},
            .view = "devices",
            .confidence = "low",
            .low = 0,
            .high = 1,
            .categories = 1u << TIMELINE_DEVICE | 1u << TIMELINE_OVERHEAD | 1u << TIMELINE_IDLE,
        },
    [ADVICE_NO_DEVICE] =
        {
            .name = "no-device",
            .title = "target regions without a device",
            .remedy = {"If a device is there, check that the program is built for it and that the runtime finds its "
                       "plug-in: with OMP_TARGET_OFFLOAD=MANDATORY the program ends where it would run on the host.",
                       "OMP_TARGET_OFFLOAD=MANDATORY ends the program instead of running on the host"},
            .view = "regions",
            .confidence = "low",
            .low = 0,
            .high = 1,
        },
    [ADVICE_UNEXPLAINED] =
        {
            .name = "unexplained",
            .title = "lost for unknown reasons",
            .remedy = {"", ""},
            .view = "timeline",
            .confidence = "",
        },
    [ADVICE_OTHER] =
        {
            .name = "other",
            .title = "other losses",
            .remedy = {"", ""},
            .view = "efficiency",
            .confidence = "",
        },
    [ADVICE_UNFIT] =
        {
            .name = "unfit",
            .title = "the measurement itself",
            .remedy = {"", ""},
            .view = "summary",
            .confidence = "",
        },
    [ADVICE_NONE] =
        {
            .name = "none",
            .title = "nothing found",
            .remedy = {"", ""},
            .view = "topdown",
            .confidence = "",
        },
};

bool advice_lists(const struct advice *advice, enum advice_class class, double gain_s)
{
  assert(class < ADVICE_CLASSES);
  return class >= ADVICE_REMARKS || (gain_s > 0 && gain_s >= least * advice->elapsed_s);
}

/* Counts the finding that was added last, if it is too small: its place has been set meanwhile. */
static void omit(struct advice *advice)
{
  const struct advice_finding *found = &advice->unlisted;
  struct advice_omitted *omitted = &advice->omitted[found->class];
  if (found->gain_s <= 0)
    return;
  omitted->count++;
  omitted->gain_s += found->gain_s;
  uint32_t i = ADVICE_PLACES;
  for (; i > 0 && found->gain_s > omitted->most[i - 1].gain_s; i--)
    if (i < ADVICE_PLACES)
      omitted->most[i] = omitted->most[i - 1];
  if (i < ADVICE_PLACES)
    omitted->most[i] = *found;
  advice->unlisted.gain_s = 0;
}

struct advice_finding *advice_add(struct advice *advice, enum advice_class class, double gain_s, const char *format,
                                  ...)
{
  omit(advice);
  bool listed = advice_lists(advice, class, gain_s);
  struct advice_finding *found = listed ? XAPPEND(advice->found, advice->count, advice->room) : &advice->unlisted;
  gain_s = fmax(0, fmin(gain_s, advice->elapsed_s));
  *found = (struct advice_finding){.class = class,
                                   .name = "",
                                   .file = "",
                                   .context = MODEL_NONE,
                                   .low_s = gain_s * advice_classes[class].low,
                                   .gain_s = gain_s,
                                   .high_s = fmin(gain_s * advice_classes[class].high, advice->elapsed_s),
                                   .more_s = -1,
                                   .change = advice_classes[class].change,
                                   .remedy = &advice_classes[class].remedy,
                                   .confidence = advice_classes[class].confidence,
                                   .reason = ""};
  va_list args;
  va_start(args, format);
  vsnprintf(found->evidence, sizeof found->evidence, format, args);
  va_end(args);
  return found;
}

/* Writes the places of the largest ones that are known. */
static void places_text(const struct advice_omitted *omitted, char *out, size_t size)
{
  size_t length = 0;
  *out = '\0';
  for (int i = 0; i < ADVICE_PLACES && omitted->most[i].gain_s > 0 && length < size; i++) {
    const struct advice_finding *found = &omitted->most[i];
    const char *comma = length ? ", " : ": ";
    char symbol[WORDS_SYMBOL];
    if (*found->file && found->line)
      length +=
          (size_t)snprintf(out + length, size - length, "%s%s (%.40s:%" PRIu32 ", %.3f s)", comma,
                           words_symbol(found->name, symbol), names_base(found->file), found->line, found->gain_s);
    else if (*found->name)
      length += (size_t)snprintf(out + length, size - length, "%s%s (%.3f s)", comma, words_symbol(found->name, symbol),
                                 found->gain_s);
  }
}

void advice_add_omitted(struct advice *advice)
{
  omit(advice);
  for (enum advice_class class = 0; class < ADVICE_REMARKS; class ++) {
    const struct advice_omitted *omitted = &advice->omitted[class];
    char places[ADVICE_EVIDENCE_MAX / 2];
    if (omitted->count < 2 || !advice_lists(advice, class, omitted->gain_s))
      continue;
    const struct advice_finding *most = &omitted->most[0];
    double times = omitted->gain_s / most->gain_s;
    places_text(omitted, places, sizeof places);
    struct advice_finding *found =
        advice_add(advice, class, omitted->gain_s, "In %" PRIu32 " places, each of which gains less than %.0f %%%s",
                   omitted->count, 100 * least, places);
    found->places = omitted->count;
    found->change = ADVICE_NO_CHANGE;
    found->remedy = most->remedy;
    found->name = most->name;
    found->file = most->file;
    found->line = most->line;
    found->context = most->context;
    found->low_s = fmin(found->low_s, most->low_s * times);
    found->explained_s = most->explained_s * times;
    found->confidence = most->confidence;
    found->reason = most->reason;
  }
}

void advice_place(struct advice_finding *found, const struct construct_entry *region, const struct construct_entry *at)
{
  assert(!at || region);
  if (!at)
    return;
  found->name = at->name;
  found->file = at->file;
  found->line = at->line;
  found->context = at->context;
  found->construct = at->region;
  found->region = region->region;
}

void advice_more(const struct advice *advice, struct advice_finding *found, double gain_s, bool least)
{
  if (!advice->more_cores)
    return;
  found->more_s = fmax(gain_s, 0);
  found->more_least = least;
}

void advice_enter(const struct advice *advice, struct advice_finding *found, double gain_s)
{
  assert(found->class < ADVICE_CLASSES && found != &advice->unlisted);
  gain_s = fmin(fmax(gain_s, 0), found->gain_s);
  if (found->gain_s > 0 && found->more_s > 0)
    found->more_s *= gain_s / found->gain_s;
  if (!found->recorded)
    found->waited_s = found->gain_s;
  found->recorded = true;
  found->gain_s = gain_s;
  found->low_s = found->gain_s * advice_classes[found->class].low;
  found->high_s = fmin(found->gain_s * advice_classes[found->class].high, advice->elapsed_s);
  if (advice_differs(found) && strcmp(found->confidence, "low") != 0) {
    found->confidence = "low";
    found->reason = "the recorded graph and the waiting times differ";
  }
}

void advice_reduce(struct advice_finding *found, double gain_s)
{
  double part = found->gain_s > 0 ? fmax(0, gain_s) / found->gain_s : 1;
  assert(part <= 1);
  found->explained_s = fmax(found->explained_s, found->gain_s);
  found->low_s *= part;
  found->high_s *= part;
  found->gain_s *= part;
}

bool advice_differs(const struct advice_finding *found)
{
  static const double clearly = 1.5;
  return found->recorded && found->waited_s > clearly * found->gain_s;
}

const char *advice_basis(const struct advice_finding *found)
{
  if (!*found->confidence)
    return "";
  if (found->recorded)
    return "graph";
  return found->class == ADVICE_CHUNK_OVERHEAD || found->class == ADVICE_TASK_OVERHEAD ||
                 found->class == ADVICE_KERNEL || found->class == ADVICE_ATOMICS ||
                 (found->class == ADVICE_MPI && !found->title) /* calls were not recorded */
             ? "samples"
             : "times";
}

double advice_part(const struct advice *advice, double s)
{
  return advice->elapsed_s > 0 ? 100 * s / advice->elapsed_s : 0;
}

double advice_percent(const struct advice *advice, const struct advice_finding *found)
{
  return advice_part(advice, found->gain_s);
}

const struct advice_finding *advice_much_unexplained(const struct advice *advice)
{
  static const double much = 0.05;
  for (uint32_t i = 0; i < advice->count; i++)
    if (advice->found[i].class == ADVICE_UNEXPLAINED && advice->found[i].loss_s >= much * advice->elapsed_s)
      return &advice->found[i];
  return NULL;
}

void advice_release(struct advice *advice)
{
  free(advice->found);
  *advice = (struct advice){0};
}
