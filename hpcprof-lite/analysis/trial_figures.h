/* What settings gain: from the runs of hpcrun-lite --try.
 *
 * Context: BATCH.  Pure.  A gain is the mean over the rounds of the time of the unchanged program less that with the
 * setting, with its 95 % interval by Student's t distribution.  It is significant as differences in comparisons are:
 * SIGNIFICANCE_LEVEL, after the correction for the number of settings.
 */
#ifndef HPCPROF_LITE_ANALYSIS_TRIAL_FIGURES_H
#define HPCPROF_LITE_ANALYSIS_TRIAL_FIGURES_H

#include "common/trial.h"

/* The largest end of an interval with 0 in it that counts as no difference, as a part of the time of the unchanged
 * program. */
#define TRIAL_SMALL 0.05

enum trial_verdict {
  VERDICT_NOT_TRIED, /* it is only suggested */
  VERDICT_UNKNOWN,   /* too few runs, or the interval contains 0 and reaches beyond TRIAL_SMALL */
  VERDICT_TIMED_OUT, /* a run was ended at the limit of time */
  VERDICT_FAILS,     /* a run ended with an exit status other than 0, by a signal, or could not be started */
  VERDICT_PRINTS,    /* runs print other lines, which the unchanged program does not */
  VERDICT_GAINS,     /* significantly */
  VERDICT_COSTS,
  VERDICT_PERHAPS_GAINS, /* the interval is above 0, but chance is not ruled out at that level */
  VERDICT_PERHAPS_COSTS,
  VERDICT_NO_DIFFERENCE, /* the interval contains 0, and does not reach beyond TRIAL_SMALL */
  VERDICTS
};

/* A setting with what it gains. */
struct trial_row {
  const struct trial_setting *setting;
  enum trial_verdict verdict;
  uint32_t pairs;                       /* rounds in which it and the unchanged program ended well */
  double base_s, gain_s, low_s, high_s; /* over these; gains: from 2 pairs on */
  const struct trial_run *ended;        /* the run that did not end well, or NULL */
  uint32_t other_lines, number_lines;   /* most of any run */
};

struct trial_figures {
  struct trial_row rows[TRIAL_SETTINGS_MAX];
  uint32_t count;
  uint32_t runs;        /* of the unchanged program that ended well */
  double base_s;        /* their mean time */
  uint32_t other_lines; /* most that one of these printed otherwise than the first */
  double others;        /* CPUs that other programs used during all runs; below 0: not known */
};

/* trial must live as long as *figures. */
void trial_figures_compute(const struct trial *trial, struct trial_figures *figures);

/* "gains", ... as in CSV; "" of a setting that is only suggested. */
const char *trial_verdict_name(enum trial_verdict verdict);

/* Whether gain_s, low_s and high_s are known. */
static inline bool trial_row_measured(const struct trial_row *row)
{
  return row->pairs >= 2;
}

#endif
