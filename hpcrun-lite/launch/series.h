/* A series of runs with different numbers of threads (--scaling): its list, and what is different in each run.
 *
 * Context: BATCH (the launcher).  arguments.c parses the options, launcher.c runs the programs.  Texts are those of the
 * command line.  Functions that return false write the reason into message.
 */
#ifndef HPCRUN_LITE_LAUNCH_SERIES_H
#define HPCRUN_LITE_LAUNCH_SERIES_H

#include <stdbool.h>
#include <stddef.h>

enum { SERIES_SIZES_MAX = 64, SERIES_THREADS_MAX = 4096, SERIES_REPEAT_MAX = 1000 };

struct series {
  unsigned threads[SERIES_SIZES_MAX]; /* in the order of the list */
  unsigned count;                     /* 0: there is no series */
  unsigned repeat;                    /* 0: --repeat is not given */
  const char *values;                 /* of --scale-with: one for each number of threads; NULL: not given */
};

/* One run: all numbers of threads once, then all of them again. */
struct series_run {
  unsigned size, threads, repetition; /* size: position in the list; repetition: from 1 on */
  char directory[48];                 /* its name in that of the series */
  char note[96];                      /* of its measurement, as hpcprof-lite/comparison/scaling_pipeline.c reads it */
};

bool series_parse_threads(const char *list, struct series *series, char *message, size_t message_size);
bool series_parse_repeat(const char *text, struct series *series, char *message, size_t message_size);

/* Whether the options go together, with COMMAND and with the limit on threads in the environment. */
bool series_check(const struct series *series, char *const *command, char *message, size_t message_size);

unsigned series_runs(const struct series *series);

/* Fills in run number 0, 1, … series_runs() - 1. */
void series_run(const struct series *series, unsigned number, struct series_run *run);

/* Returns COMMAND for this run: in its arguments, {N} is the number of threads and {} the value of --scale-with.  NULL
 * without memory; the process ends with it. */
char **series_command(const struct series *series, const struct series_run *run, char *const *command);

/* Sets the number of threads in the environment of this process.  Returns false without memory. */
bool series_set_threads(const struct series_run *run);

#endif
