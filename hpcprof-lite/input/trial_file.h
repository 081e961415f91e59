/* Reads the record of hpcrun-lite --try in a measurement directory.
 *
 * Context: BATCH.  The record may be damaged, or that of somebody who wishes harm: what is sound is taken.
 */
#ifndef HPCPROF_LITE_INPUT_TRIAL_FILE_H
#define HPCPROF_LITE_INPUT_TRIAL_FILE_H

#include "common/trial.h"
#include "hpcprof-lite/model/problems.h"

/* Returns whether there is a record, which the caller releases.  What is wrong with it is reported in problems. */
bool trial_file_read(const char *directory, struct trial *trial, struct problems *problems);

#endif
