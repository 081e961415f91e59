#include "hpcprof-lite/analysis/advice/advice.h"

#include "common/order.h"
#include "hpcprof-lite/analysis/advice/advice_cores.h"
#include "hpcprof-lite/analysis/advice/advice_loss.h"
#include "hpcprof-lite/analysis/advice/advice_mpi.h"
#include "hpcprof-lite/analysis/advice/advice_offload.h"
#include "hpcprof-lite/analysis/advice/advice_outside.h"
#include "hpcprof-lite/analysis/advice/advice_system.h"
#include "hpcprof-lite/analysis/advice/advice_waits.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What makes the measurement unfit; returns whether no forecast is possible. */
static bool find_unfit(const struct advice_input *input, struct advice *advice)
{
  bool known = input->constructs->count > 1 || advice->count;
  if (!known && input->threads)
    advice_add(advice, ADVICE_UNFIT, 0, "No OpenMP construct was timed: forecasts need -p online (the default)");
  else if (!known)
    advice_add(advice, ADVICE_UNFIT, 0,
               "No OpenMP construct was timed, and threads hardly waited for locks or in pools: nothing allows a "
               "forecast");
  const char *chunks = profile_chunks_note(input->profile);
  if (chunks)
    advice_add(advice, ADVICE_UNFIT, 0, "%s", chunks);
  if (input->ns[TIMELINE_TOOL] > input->all_ns / ADVICE_MUCH)
    advice_add(advice, ADVICE_UNFIT, 0,
               "This tool took %.0f %% of the threads' time: forecasts for short constructs are uncertain",
               100 * (double)input->ns[TIMELINE_TOOL] / (double)input->all_ns);
  if (input->without_core > 0)
    advice_add(advice, ADVICE_UNFIT, 0,
               "Threads had no core for %.0f %% of the time in which they wanted to run: measure without other "
               "programs, with no more threads than cores",
               100 * input->without_core);
  if (input->stolen > 0)
    advice_add(advice, ADVICE_UNFIT, 0,
               "The host of this virtual machine took %.0f %% of the time of its CPUs: measure on a quiet machine",
               100 * input->stolen);
  if (input->unsampled)
    advice_add(advice, ADVICE_UNFIT, 0,
               "No samples were taken, because the level is summary: which code takes the time is known only with "
               "level = samples");
  else if (input->samples < ADVICE_FEW_SAMPLES)
    advice_add(advice, ADVICE_UNFIT, 0,
               "%" PRIu64 " sample%s too few to say where time is spent: measure longer, or with -e %s@f1000",
               input->samples, input->samples == 1 ? " is" : "s are", input->by_wall ? "wall" : "task-clock");
  return !known;
}

/* Findings without a forecast come last. */
static int position(const struct advice_finding *found)
{
  return found->class < ADVICE_REMARKS ? 0 : (int)found->class;
}

ORDER(by_gain, struct advice_finding, COMPARE(position(x), position(y)) ?: COMPARE(y->gain_s, x->gain_s))

static void sort(struct advice *advice)
{
  if (advice->count)
    qsort(advice->found, advice->count, sizeof *advice->found, by_gain);
}

/* Adds that nothing gains enough, unless much is lost for reasons that are not known. */
static void find_none(const struct advice_input *input, struct advice *advice)
{
  char busy[64] = "";
  if ((advice->count && advice->found[0].class < ADVICE_REMARKS) || input->constructs->count <= 1)
    return;
  if (input->efficiency >= 0)
    snprintf(busy, sizeof busy, " for %.0f %% of their time%s", 100 * input->efficiency,
             input->ns[TIMELINE_TOOL] > input->all_ns / 100 ? ", without this tool's time" : "");
  if (input->threads <= 1)
    advice_add(advice, ADVICE_NONE, 0,
               "Only one thread used OpenMP, so that none could wait for another: measure with more, or both with "
               "'hpcrun-lite --scaling 1,N PROGRAM'");
  else if (advice->loss_s >= 0 && advice->loss_s < advice->elapsed_s / ADVICE_MUCH)
    advice_add(advice, ADVICE_NONE, 0,
               "The program uses its threads%s.  Its work itself can still be slow: memory, or threads that write to "
               "data close to each other (false sharing).  'hpcrun-lite --scaling 1,%" PRIu32 " PROGRAM' shows whether "
               "it takes longer with more threads, -e cache-misses counts where the memory is used",
               busy, input->threads);
}

/* Where threads had no core, waiting for them is no loss of the program: what its class has lost without that is the
 * most that a finding can gain, and nothing the least. */
static void doubt_waits(const struct advice_input *input, struct advice *advice, struct advice_finding *found)
{
  double threads = fmax(input->threads, 1);
  double foreign_s = advice_seconds(input->ns[TIMELINE_CORE_WAIT]) * (1 - 1 / threads);
  double most_s = advice_loss_most(input, advice, found->class);
  if (advice_classes[found->class].categories && found->gain_s > most_s)
    advice_reduce(found, most_s);
  if (found->class != ADVICE_BLOCKING)
    found->low_s = fmax(0, found->low_s - foreign_s);
}

/* Where threads lacked cores or this tool took much time, forecasts are uncertain. */
static void doubt(const struct advice_input *input, struct advice *advice)
{
  assert(input->all_ns || !input->ns[TIMELINE_CORE_WAIT]);
  bool waited = input->without_core > 0 || input->stolen > 0;
  if (!waited && input->ns[TIMELINE_TOOL] <= input->all_ns / ADVICE_MUCH)
    return;
  for (uint32_t i = 0; i < advice->count; i++) {
    struct advice_finding *found = &advice->found[i];
    bool doubted = waited && !advice_classes[found->class].about_cores;
    if (found->class >= ADVICE_REMARKS)
      continue;
    if (strcmp(found->confidence, "low") != 0 && (doubted || !waited)) {
      found->confidence = "low";
      found->reason = waited ? "threads often had no core" : "this tool took much of the time";
    }
    if (doubted)
      doubt_waits(input, advice, found);
  }
}

void advice_compute(const struct advice_input *input, struct advice *advice)
{
  assert(input->constructs && input->profile && input->tree && input->columns && input->cores && input->kernel);
  struct advice_run run = {.input = input, .advice = advice};
  *advice = (struct advice){.elapsed_s = input->elapsed_s};
  if (input->threads > 0 && input->threads <= UINT32_MAX / ADVICE_MORE)
    advice->more_cores = ADVICE_MORE * input->threads;
  advice_regions_find(&run);
  advice->elapsed_s = fmax(advice->elapsed_s - run.lost_s, 0.1 * advice->elapsed_s);
  advice_mpi_find(&run);
  advice_offload_find(&run);
  advice_kernel_find(&run);
  advice_churn_find(&run);
  advice_atomics_find(&run);
  bool bound = advice_cores_find(&run), crowded = bound || advice_oversubscription(&run);
  advice_mutexes_find(&run);
  if (!bound)
    advice_spinning_find(&run);
  advice_pools_find(&run);
  advice->unfit_first = find_unfit(input, advice);
  advice_outside_find(&run);
  advice_add(advice, ADVICE_INFLATION, input->inflation_s,
             "The same work takes %.3f s of elapsed time longer than in the run with one thread", input->inflation_s);
  advice_waits_find(&run, crowded);
  advice_regions_release(&run);
  advice_add_omitted(advice);
  doubt(input, advice);
  advice_rank(input, advice);
}

/* Whether a finding stands whatever the others gain. */
static bool stays(const struct advice *advice, const struct advice_finding *found)
{
  return found->class == ADVICE_UNFIT ||
         (found->class < ADVICE_REMARKS && advice_lists(advice, found->class, found->gain_s));
}

void advice_rank(const struct advice_input *input, struct advice *advice)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < advice->count; i++)
    if (stays(advice, &advice->found[i]))
      advice->found[kept++] = advice->found[i];
  advice->count = kept;
  sort(advice);
  advice_loss_divide(input, advice);
  find_none(input, advice);
  sort(advice);
}

/* Whether the change that forecasts a finding applies to a construct of a kind in the region. */
static bool changes(const struct advice_finding *found, const struct construct_entry *entry)
{
  switch (found->change) {
  case ADVICE_SPREAD:
    if (entry->kind == DIRECTIVE_SINGLE || entry->kind == DIRECTIVE_MASKED)
      return found->class == ADVICE_CREATION;
    return construct_is_region(entry->kind) || entry->kind == DIRECTIVE_FOR || entry->kind == DIRECTIVE_SECTIONS ||
           entry->kind == DIRECTIVE_TASK || entry->kind == CONSTRUCT_TASK_EXEC || entry->kind == CONSTRUCT_DISTRIBUTE;
  case ADVICE_SPREAD_BLOCK:
    return entry->region == found->construct;
  case ADVICE_WITHOUT_BARRIERS:
  case ADVICE_WITHOUT_DEPENDENCES:
    return construct_is_region(entry->kind);
  default:
    return false;
  }
}

void advice_select(const struct construct_tree *tree, const struct advice_finding *found, bool *directives)
{
  assert(directives || !tree->count);
  uint32_t end = 0;
  bool inside = false;
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    if (i >= end && construct_is_region(entry->kind)) {
      end = entry->end;
      inside = entry->region == found->region;
    }
    if (i < end && inside && changes(found, entry))
      directives[entry->directive] = true;
  }
}
