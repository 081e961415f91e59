/* hpcrun-lite --try: runs COMMAND without measurement, unchanged and with each setting: three rounds, and with
 * --try-time more, until each gain is known or that time is spent.
 *
 * Rounds contain COMMAND unchanged and with each setting once, in random order, so that what changes slowly on the
 * machine meets all alike.  A setting with which a run did not end well is left out of later rounds.  The record
 * (common/trial.h) is written again after each run, so that a killed launcher leaves what is known.
 *
 * Context: BATCH (the launcher), one thread.
 */
#ifndef HPCRUN_LITE_LAUNCH_TRIAL_TRIALS_H
#define HPCRUN_LITE_LAUNCH_TRIAL_TRIALS_H

#include <stddef.h>
#include <sys/types.h>

#include "common/trial.h"
#include "hpcrun-lite/launch/program/program.h"

/* What is tried.  Texts are the caller's. */
struct trials {
  bool wanted;                      /* --try is given */
  double time_s;                    /* of --try-time; 0: not given */
  struct trial record;              /* the settings of --try, or those that are suggested; then the runs */
  char *const *command;             /* COMMAND and its arguments */
  const char *reporter, *directory; /* hpcprof-lite; the measurement */
  uint64_t first_ns;                /* elapsed time of the measured run */
  off_t input_begin;                /* a file that is standard input is read by each run from here on; -1: it is none */
  bool quiet;                       /* nothing is printed */
};

/* Returns LAUNCH_OK, or LAUNCH_FAILED with a message: COMMAND cannot be run several times. */
enum launch_status trials_check(char *const *command, char *message, size_t message_size);

/* Reads the seconds of --try-time. */
enum launch_status trials_parse_time(const char *text, double *seconds, char *message, size_t message_size);

/* Adds the settings that the findings of the measurement suggest, if none are listed; sets the forecasts of all.
 * Returns false with a message if there is nothing to try. */
bool trials_choose(struct trials *trials, char *message, size_t message_size);

/* Prints what will be run, tries the settings, and leaves the record in the measurement directory.  Returns false with
 * a message if no process can be started, or the record cannot be written. */
bool trials_run(struct trials *trials, char *message, size_t message_size);

#endif
