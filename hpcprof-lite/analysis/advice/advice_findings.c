#include "hpcprof-lite/analysis/advice/advice_findings.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const double least = 0.01; /* of the elapsed time: smaller gains are not listed */

const struct advice_class_row advice_classes[ADVICE_CLASSES] = {
    [ADVICE_SERIAL] = {"serial",
                       "serial code",
                       {"Run it in parallel (parallel for, tasks), or beside other work.",
                        "Run it in parallel (parallel for, tasks), or beside other work"},
                       "topdown --sort idleness_incl_s",
                       "high",
                       0.8,
                       1.05,
                       ADVICE_SPREAD_SERIAL},
    [ADVICE_IMBALANCE] = {"imbalance",
                          "threads with unequal work",
                          {"Give work to the threads as they become free: schedule(dynamic, N) or schedule(guided), "
                           "smaller tasks; the largest pieces first.",
                           "schedule(dynamic, N) or schedule(guided); smaller tasks, the largest first"},
                          "regions --per-thread",
                          "high",
                          0.8,
                          1.05,
                          ADVICE_SPREAD},
    [ADVICE_CHUNK_OVERHEAD] = {"chunk-overhead",
                               "chunks too small",
                               {"Use larger chunks, schedule(dynamic, N) with a larger N, or schedule(static).",
                                "schedule(dynamic, N) with a larger N, or schedule(static)"},
                               "bottomup --sort overhead_excl_s",
                               "medium",
                               0.7,
                               1.2},
    [ADVICE_TASK_OVERHEAD] = {"task-overhead",
                              "tasks too small",
                              {"Create fewer and larger tasks: stop creating them below a size (if or final clause, a "
                               "serial function), taskloop with a larger grainsize.",
                               "Fewer and larger tasks: if or final clause, taskloop with grainsize"},
                              "tasks",
                              "medium",
                              0.8,
                              1.25},
    [ADVICE_FEW_CHUNKS] = {"few-chunks",
                           "too few pieces of work for the threads",
                           {"Divide the work into more pieces: smaller chunks, more sections or tasks, collapse(2).",
                            "More pieces: smaller chunks, more sections or tasks, collapse(2)"},
                           "regions --per-thread",
                           "high",
                           0.7,
                           1.05,
                           ADVICE_SPREAD},
    [ADVICE_REGION_OVERHEAD] = {"region-overhead",
                                "parallel regions too small",
                                {"Put one region around the loop that opens it so often, or merge neighbouring "
                                 "regions; if(N > LIMIT) where there is little work.",
                                 "One region around the loop that opens it; if(N > LIMIT) for little work"},
                                "regions",
                                "medium",
                                0.7,
                                1.2},
    [ADVICE_BARRIER] =
        {"barrier",
         "barriers whose waits cancel out",
         {"If what follows does not need the other threads' results, leave the barrier out, or add nowait to the loop.",
          "nowait, if what follows does not need the other threads' results"},
         "regions --per-thread",
         "medium",
         0.7,
         1.05,
         ADVICE_WITHOUT_BARRIERS},
    [ADVICE_CONTENTION] = {"contention",
                           "threads that wait for a lock",
                           {"Do less while holding it, use a reduction, copies of the data for each thread, or atomic; "
                            "several locks for parts of the data.",
                            "Hold it for a shorter time; reduction, atomic, or several locks"},
                           "bottomup --sort lockwait_excl_s",
                           "high",
                           0.7,
                           1.1},
    [ADVICE_DEPENDENCES] = {"dependences",
                            "tasks or iterations that wait for each other",
                            {"Only work that does not depend on other work can run at once: shorten the chain, make "
                             "dependences finer (parts of the data), or compute independent parts beside it.",
                             "Shorten the chain, or make dependences finer (parts of the data)"},
                            "critical-path",
                            "medium",
                            0.5,
                            1.05,
                            ADVICE_WITHOUT_DEPENDENCES},
    [ADVICE_CREATION] = {"creation",
                         "tasks created by one thread",
                         {"Create tasks in several threads (taskloop, tasks that create tasks), or larger ones.",
                          "Create tasks in several threads (taskloop, nested tasks), or larger ones"},
                         "tasks",
                         "medium",
                         0.7,
                         1.05,
                         ADVICE_SPREAD},
    [ADVICE_OVERSUBSCRIPTION] = {"oversubscription",
                                 "more threads than cores",
                                 {"Use as many threads as cores (OMP_NUM_THREADS, OMP_DYNAMIC=true); while there are "
                                  "more, OMP_WAIT_POLICY=passive.",
                                  "As many threads as cores (OMP_NUM_THREADS); OMP_WAIT_POLICY=passive"},
                                 "threads",
                                 "medium",
                                 0.5,
                                 1.1},
    [ADVICE_INFLATION] = {"inflation",
                          "work that takes longer with more threads",
                          {"Threads compete for memory, caches, or lines that they share (false sharing): count cache "
                           "misses with -e cache-misses, keep each thread's data apart and in the order of its loops.",
                           "Keep each thread's data apart; count cache misses (-e cache-misses)"},
                          "efficiency",
                          "medium",
                          0,
                          1},
    [ADVICE_NESTING] =
        {"nesting",
         "inner regions that run with one thread",
         {"Allow them to have more: OMP_MAX_ACTIVE_LEVELS=2 with enough threads, or collapse both loops into one.",
          "OMP_MAX_ACTIVE_LEVELS=2 with enough threads, or collapse both loops"},
         "region-tree",
         "medium",
         0.5,
         1.05,
         ADVICE_SPREAD},
    [ADVICE_BLOCKING] = {"blocking",
                         "blocked outside OpenMP while threads wait",
                         {"Do it beside the computation (a task, a thread of its own, asynchronous I/O).",
                          "Do it beside the computation: a task, a thread, asynchronous I/O"},
                         "topdown",
                         "medium",
                         0.5,
                         1.05},
    [ADVICE_LOCALITY] = {"locality",
                         "tasks far from their data",
                         {"Keep tasks near their data: OMP_PLACES with OMP_PROC_BIND, the affinity clause, and data "
                          "that is first written by the threads that use it.",
                          "Keep tasks near their data: OMP_PLACES, OMP_PROC_BIND, affinity"},
                         "tasks",
                         "low",
                         0,
                         1},
    [ADVICE_MUTEX] = {"mutex",
                      "waiting until a mutex is released",
                      {"Hold it for less time: move out what needs no protection, keep results per thread, or use "
                       "several locks for parts of the data.",
                       "Hold it for less time; keep results per thread; use several locks"},
                      "locks",
                      "high",
                      0.7,
                      1.1},
    [ADVICE_SPINNING] = {"spinning",
                         "idle threads that spin while others have no core",
                         {"Let idle threads sleep: OMP_WAIT_POLICY=passive (with GCC also GOMP_SPINCOUNT=0, with LLVM "
                          "KMP_BLOCKTIME=0); or use fewer threads.",
                          "OMP_WAIT_POLICY=passive: idle threads sleep; or fewer threads"},
                         "threads",
                         "medium",
                         0.5,
                         2},
    [ADVICE_POOL] = {"pool",
                     "idle pool during code",
                     {"Let the pool do a part of what runs meanwhile, hand work to it earlier or in smaller pieces, or "
                      "use fewer threads.",
                      "Let the pool do a part of it; hand work over earlier; or fewer threads"},
                     "topdown --sort idleness_incl_s",
                     "medium",
                     0,
                     1.05},
    [ADVICE_UNFIT] = {"unfit", "the measurement itself", {"", ""}, "summary", "", 0, 0},
    [ADVICE_NONE] = {"none", "nothing found", {"", ""}, "topdown", "", 0, 0},
};

bool advice_lists(const struct advice *advice, enum advice_class class, double gain_s)
{
  assert(class < ADVICE_CLASSES);
  return class == ADVICE_UNFIT || class == ADVICE_NONE || (gain_s > 0 && gain_s >= least * advice->elapsed_s);
}

struct advice_finding *advice_add(struct advice *advice, enum advice_class class, double gain_s, const char *format,
                                  ...)
{
  if (!advice_lists(advice, class, gain_s)) {
    advice->omitted[class].count += gain_s > 0;
    advice->omitted[class].gain_s += gain_s > 0 ? gain_s : 0;
    return &advice->unlisted;
  }
  gain_s = fmin(gain_s, advice->elapsed_s);
  struct advice_finding *found = XAPPEND(advice->found, advice->count, advice->room);
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

void advice_add_omitted(struct advice *advice)
{
  for (enum advice_class class = 0; class < ADVICE_UNFIT; class ++) {
    struct advice_omitted omitted = advice->omitted[class];
    if (omitted.count < 2 || !advice_lists(advice, class, omitted.gain_s))
      continue;
    struct advice_finding *found =
        advice_add(advice, class, omitted.gain_s, "In %" PRIu32 " places, each of which gains less than %.0f %%",
                   omitted.count, 100 * least);
    found->places = omitted.count;
    found->change = ADVICE_NO_CHANGE;
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
}

const char *advice_basis(const struct advice_finding *found)
{
  if (!*found->confidence)
    return "";
  if (found->recorded)
    return "graph";
  return found->class == ADVICE_CHUNK_OVERHEAD || found->class == ADVICE_TASK_OVERHEAD ? "samples" : "times";
}

double advice_percent(const struct advice *advice, const struct advice_finding *found)
{
  return advice->elapsed_s > 0 ? 100 * found->gain_s / advice->elapsed_s : 0;
}

void advice_release(struct advice *advice)
{
  free(advice->found);
  *advice = (struct advice){0};
}
