#include "hpcprof-lite/analysis/advice/advice.h"

#include "hpcprof-lite/analysis/advice/advice_outside.h"
#include "hpcprof-lite/analysis/advice/advice_waits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What makes the measurement unfit; returns whether no forecast is possible. */
static bool find_unfit(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  bool known = input->constructs->count > 1 || input->threads > 0;
  if (!known)
    advice_add(run->advice, ADVICE_UNFIT, 0,
               "No OpenMP construct was timed: forecasts need a program that uses OpenMP, and -p online (the default)");
  if (input->tool_ns > input->openmp_wall_ns / ADVICE_MUCH)
    advice_add(run->advice, ADVICE_UNFIT, 0,
               "This tool took %.0f %% of the threads' time: forecasts for short constructs are uncertain",
               100 * (double)input->tool_ns / (double)input->openmp_wall_ns);
  if (input->core_wait_ns > input->openmp_wall_ns / ADVICE_MUCH)
    advice_add(
        run->advice, ADVICE_UNFIT, 0,
        "Threads had no core for %.0f %% of their time: measure without other programs, with no more threads than "
        "cores",
        100 * (double)input->core_wait_ns / (double)input->openmp_wall_ns);
  if (input->samples < ADVICE_FEW_SAMPLES)
    advice_add(run->advice, ADVICE_UNFIT, 0,
               "%" PRIu64
               " samples are too few to say where time is spent: measure longer, or with -e task-clock@f1000",
               input->samples);
  return !known;
}

static int by_gain(const void *a, const void *b)
{
  const struct advice_finding *x = a, *y = b;
  bool last_x = x->class >= ADVICE_UNFIT, last_y = y->class >= ADVICE_UNFIT;
  if (last_x != last_y)
    return last_x - last_y;
  if (x->class != y->class && last_x)
    return (x->class < y->class) - (x->class > y->class);
  return (x->gain_s < y->gain_s) - (x->gain_s > y->gain_s);
}

static void find_none(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  for (uint32_t i = 0; i < run->advice->count; i++)
    if (run->advice->found[i].class < ADVICE_UNFIT)
      return;
  char busy[64] = "";
  if (input->efficiency >= 0)
    snprintf(busy, sizeof busy, " for %.0f %% of their time", 100 * input->efficiency);
  if (input->constructs->count > 1 || input->threads)
    advice_add(run->advice, ADVICE_NONE, 0,
               "The program uses its threads%s.  Whether memory slows their work down, a run with one thread tells "
               "(OMP_NUM_THREADS=1, then hpcprof-lite --view efficiency DIR DIR1)",
               busy);
}

int advice_compute(const struct advice_input *input, struct advice *advice)
{
  struct advice_run run = {.input = input, .advice = advice};
  *advice = (struct advice){.elapsed_s = advice_seconds(input->elapsed_ns)};
  int status = advice_regions_find(&run);
  if (!status) {
    advice->elapsed_s = fmax(advice->elapsed_s - run.lost_s, 0.1 * advice->elapsed_s);
    advice->unfit_first = find_unfit(&run);
    bool crowded = advice_oversubscription(&run);
    status = advice_outside_find(&run);
    advice_add(advice, ADVICE_INFLATION, input->inflation_s,
               "The same work takes %.3f s of elapsed time longer than in the run with one thread", input->inflation_s);
    int waits = advice_waits_find(&run, crowded);
    status = status ? status : waits;
    find_none(&run);
  }
  advice_regions_release(&run);
  status = advice->no_memory ? ERR_NOMEM : status;
  bool disturbed =
      input->core_wait_ns > input->openmp_wall_ns / ADVICE_MUCH || input->tool_ns > input->openmp_wall_ns / ADVICE_MUCH;
  for (uint32_t i = 0; i < advice->count && disturbed; i++)
    if (*advice->found[i].confidence)
      advice->found[i].confidence = "low";
  if (!status)
    qsort(advice->found, advice->count, sizeof *advice->found, by_gain);
  return status;
}
