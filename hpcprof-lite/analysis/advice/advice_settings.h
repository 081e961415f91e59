/* Settings that may help against findings: what hpcrun-lite --try tries unless settings are listed.
 *
 * Context: BATCH.  Pure.  A setting has the finding's forecast only where that is about the same change.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_SETTINGS_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_SETTINGS_H

#include "common/trial.h"
#include "hpcprof-lite/analysis/advice/advice_findings.h"
#include "hpcprof-lite/analysis/region_threads.h"
#include "hpcprof-lite/model/construct_tree.h"

/* What the settings follow from, beside the profile. */
struct advice_settings_input {
  const struct profile *profile;
  const struct construct_tree *constructs; /* as they nest */
  const struct advice *advice;
  const struct region_threads_list *region_threads;
  const char *binding; /* the variables with which OpenMP's own binding leaves cores unused; NULL: it does not */
};

/* Fills settings[], each once: those of the largest gains first.  Returns how many these are. */
uint32_t advice_settings(const struct advice_settings_input *input, struct trial_setting settings[TRIAL_SETTINGS_MAX]);

#endif
