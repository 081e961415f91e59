#include "hpcprof-lite/analysis/trial_figures.h"

#include "common/pairs.h"
#include "hpcprof-lite/algorithms/significance.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

const char *trial_verdict_name(enum trial_verdict verdict)
{
  static const char *const names[VERDICTS] = {[VERDICT_NOT_TRIED] = "",
                                              [VERDICT_UNKNOWN] = "not known",
                                              [VERDICT_TIMED_OUT] = "timed out",
                                              [VERDICT_FAILS] = "fails",
                                              [VERDICT_PRINTS] = "prints other lines",
                                              [VERDICT_GAINS] = "gains",
                                              [VERDICT_COSTS] = "costs",
                                              [VERDICT_PERHAPS_GAINS] = "perhaps gains",
                                              [VERDICT_PERHAPS_COSTS] = "perhaps costs",
                                              [VERDICT_NO_DIFFERENCE] = "no difference"};
  assert(verdict < VERDICTS);
  return names[verdict];
}

/* Sets what the runs of a setting say but its verdict.  Returns the probability that it makes no difference, NAN if
 * that is not known. */
static double measure(const struct trial *trial, uint32_t setting, double *differences, struct trial_row *row)
{
  assert(setting && setting <= trial->settings_count);
  *row = (struct trial_row){.setting = &trial->settings[setting - 1]};
  for (uint32_t i = 0; i < trial->runs_count; i++) {
    const struct trial_run *run = &trial->runs[i];
    if (run->setting != setting)
      continue;
    if (!trial_ended_well(run))
      row->ended = run;
    row->other_lines = MAX(run->other_lines, row->other_lines);
    row->number_lines = MAX(run->number_lines, row->number_lines);
  }
  row->pairs = (uint32_t)trial_differences(trial, setting, differences, &row->base_s);
  if (!trial_row_measured(row))
    return NAN;
  struct pairs pairs = pairs_compute(differences, row->pairs);
  row->gain_s = pairs.mean;
  row->low_s = pairs.mean - pairs.half;
  row->high_s = pairs.mean + pairs.half;
  return significance_of_t(pairs.t, row->pairs - 1.0);
}

/* The verdict by the figures alone. */
static enum trial_verdict judge_gain(const struct trial_row *row, double probability)
{
  bool significant = probability < SIGNIFICANCE_LEVEL; /* NAN is not */
  if (!trial_row_measured(row))
    return VERDICT_UNKNOWN;
  if (row->low_s > 0)
    return significant ? VERDICT_GAINS : VERDICT_PERHAPS_GAINS;
  if (row->high_s < 0)
    return significant ? VERDICT_COSTS : VERDICT_PERHAPS_COSTS;
  double most_s = fmax(-row->low_s, row->high_s);
  return most_s <= TRIAL_SMALL * row->base_s ? VERDICT_NO_DIFFERENCE : VERDICT_UNKNOWN;
}

static enum trial_verdict judge(const struct trial_figures *figures, const struct trial_row *row, double probability)
{
  if (row->ended)
    return row->ended->end == TRIAL_TIMED_OUT ? VERDICT_TIMED_OUT : VERDICT_FAILS;
  if (row->other_lines && !figures->other_lines)
    return VERDICT_PRINTS;
  return judge_gain(row, probability);
}

/* Sets what the runs of the unchanged program say, and what all say of other programs. */
static void measure_base(const struct trial *trial, struct trial_figures *figures)
{
  double base_ns = 0, all_ns = 0, others_ns = 0;
  for (uint32_t i = 0; i < trial->runs_count; i++) {
    const struct trial_run *run = &trial->runs[i];
    if (run->others_ns != TRIAL_UNKNOWN) {
      all_ns += (double)run->elapsed_ns;
      others_ns += (double)run->others_ns;
    }
    if (run->setting || !trial_ended_well(run))
      continue;
    figures->runs++;
    base_ns += (double)run->elapsed_ns;
    figures->other_lines = MAX(run->other_lines, figures->other_lines);
  }
  figures->base_s = figures->runs ? base_ns / figures->runs / 1e9 : 0;
  figures->others = all_ns > 0 ? others_ns / all_ns : -1;
}

void trial_figures_compute(const struct trial *trial, struct trial_figures *figures)
{
  *figures = (struct trial_figures){.count = trial->settings_count};
  double *differences = xcalloc(trial->runs_count, sizeof *differences), probabilities[TRIAL_SETTINGS_MAX];
  measure_base(trial, figures);
  for (uint32_t i = 0; i < figures->count; i++)
    probabilities[i] = measure(trial, i + 1, differences, &figures->rows[i]);
  significance_correct(probabilities, figures->count);
  for (uint32_t i = 0; i < figures->count && trial->runs_count; i++)
    figures->rows[i].verdict = judge(figures, &figures->rows[i], probabilities[i]);
  free(differences);
}
