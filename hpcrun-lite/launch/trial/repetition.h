/* A run of COMMAND for --try: without measurement, in a process group of its own, with a limit of time.
 *
 * Context: BATCH (the launcher), one thread, after the first child_fork().  What the run prints is read and kept as
 * lines.
 */
#ifndef HPCRUN_LITE_LAUNCH_TRIAL_REPETITION_H
#define HPCRUN_LITE_LAUNCH_TRIAL_REPETITION_H

#include "common/trial.h"
#include "hpcrun-lite/launch/trial/printed_lines.h"

enum { REPETITION_STREAMS = 2 }; /* standard output, standard error */

struct repetition {
  struct trial_run run; /* without what depends on other runs */
  struct printed_lines printed[REPETITION_STREAMS];
  bool stopped; /* it was stopped meanwhile, as by ^Z: its time tells nothing */
};

/* Runs the command with a setting ("": unchanged).  Signals that come meanwhile are passed on to its group; one that
 * ends the launcher (child_ending_signal()) also ends the group, after a grace period.  The caller releases the
 * repetition.  Returns false, with errno, if no process can be started. */
bool repetition_run(char *const *command, const char *setting, uint64_t limit_ns, struct repetition *repetition);

void repetition_release(struct repetition *repetition);

#endif
