/* The record of hpcrun-lite --try: the settings that were tried, and each run.
 *
 * It is the file TRIAL_FILE in the measurement directory: a title, then lines of words separated by one blank:
 *
 *   measured NS                                       elapsed time of the measured run
 *   limit NS                                          after which a run is ended
 *   setting CLASS LOW_NS GAIN_NS HIGH_NS TEXT         the settings, numbered from 1 on in this order
 *   run ROUND SETTING NS OTHERS_NS END CODE OTHER NUMBERS      see struct trial_run; setting 0: COMMAND unchanged
 *   stop WHY                                          the last line; without it, the launcher was killed
 *
 * "-" stands for what is not known.  Numbers are decimal, and below 10^18.  GAIN_NS may be negative.  END and WHY are
 * words of trial_ends[] and trial_stops[].
 *
 * Context: BATCH (the launcher writes it, hpcprof-lite reads it).  The functions keep no state.
 */
#ifndef COMMON_TRIAL_H
#define COMMON_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TRIAL_FILE "try"
#define TRIAL_TITLE "hpcrun-lite try 1\n"

enum {
  TRIAL_SETTINGS_MAX = 6,
  TRIAL_TEXT_MAX = 512, /* of a setting, with a NUL */
  TRIAL_CLASS_MAX = 32,
  TRIAL_ROUNDS_LEAST = 3,
  TRIAL_RUNS_MAX = 100000,
  TRIAL_LINE_MAX = TRIAL_TEXT_MAX + 128,
};

/* How well a gain must be known: half of its interval, as a part of the time of the unchanged COMMAND. */
#define TRIAL_PRECISION 0.03

struct trial_setting {
  char text[TRIAL_TEXT_MAX];    /* as on the command line */
  char class[TRIAL_CLASS_MAX];  /* of the finding that suggests it; "": none */
  bool forecast;                /* the finding says what it would gain: */
  double low_s, gain_s, high_s; /* of elapsed time */
};

enum trial_end { TRIAL_EXITED, TRIAL_KILLED, TRIAL_TIMED_OUT, TRIAL_FAILED, TRIAL_ENDS };

/* A run of the unmeasured COMMAND. */
struct trial_run {
  uint32_t round, setting; /* round: from 1 on; setting 0: unchanged */
  uint64_t elapsed_ns;     /* to its end, without the time in which it was stopped */
  uint64_t others_ns;      /* CPU time of other programs meanwhile, on all CPUs; TRIAL_UNKNOWN */
  enum trial_end end;
  uint32_t code;         /* exit status, or signal */
  uint32_t other_lines;  /* of what it printed: lines that differ from the first run of the unchanged COMMAND, */
  uint32_t number_lines; /* and those in which only numbers differ */
};

enum trial_stop { TRIAL_RUNS_ON, TRIAL_KNOWN, TRIAL_SPENT, TRIAL_INTERRUPTED, TRIAL_BASELINE, TRIAL_STOPS };

#define TRIAL_UNKNOWN UINT64_MAX

struct trial {
  struct trial_setting settings[TRIAL_SETTINGS_MAX];
  uint32_t settings_count;
  uint64_t measured_ns, limit_ns; /* 0: not known */
  struct trial_run *runs;
  uint32_t runs_count;
  size_t runs_room;
  enum trial_stop stop;
};

/* Whether a run ended as the program does if nothing is wrong. */
static inline bool trial_ended_well(const struct trial_run *run)
{
  return run->end == TRIAL_EXITED && !run->code;
}

/* Writes the whole record; the stream's error indicator tells whether that failed. */
void trial_write(const struct trial *trial, FILE *stream);

/* Reads a text that ends in a NUL, and takes as much as is sound.  Returns the number of the first line that is not, or
 * 0. */
unsigned trial_read(const char *text, struct trial *trial);

/* Fills differences[], with room for runs_count of them, in seconds: of each round, the time of the unchanged COMMAND
 * less that with the setting, if both runs ended well.  Returns how many these are; *base_s: the mean time of COMMAND
 * as it is in these rounds, 0 without one. */
size_t trial_differences(const struct trial *trial, uint32_t setting, double *differences, double *base_s);

void trial_release(struct trial *trial);

#endif
