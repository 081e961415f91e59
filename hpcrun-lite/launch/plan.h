/* A launch as it is planned: what was requested, and what follows from that.
 *
 * Context: BATCH (the launcher).  arguments.c fills in the request, plan_work_out() the rest; settings.c and
 * diagnose.c read it.  The caller owns it; program_release() frees the modules of `program`.
 */
#ifndef HPCRUN_LITE_LAUNCH_PLAN_H
#define HPCRUN_LITE_LAUNCH_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/events.h"
#include "hpcrun-lite/launch/configuration/configuration.h"
#include "hpcrun-lite/launch/events/count_events.h"
#include "hpcrun-lite/launch/directory.h"
#include "hpcrun-lite/launch/program/program.h"
#include "hpcrun-lite/launch/program/runtime.h"
#include "hpcrun-lite/launch/series.h"
#include "hpcrun-lite/launch/trial/trials.h"

struct plan {
  /* requested: the layers of settings, and what they amount to for the program that is not named in any section */
  struct setting_layer options;
  struct configuration configuration;
  const char *output, *event_list, *task_context, *parallelism, *work, *overhead_limit, *runtime, *user_preload;
  const char *trace, *trace_keep;     /* NULL: no trace */
  uint64_t trace_limit, memory_limit; /* bytes; memory_limit 0: none */
  const char *filter;                 /* what is left out: see common/filter_text.h; "": nothing */
  bool overwrite, paused, for_script; /* for_script: --env */
  bool keep_symbols;                  /* files of modules are copied to the measurement */
  bool no_arguments;                  /* COMMAND's are not stored */
  bool report, live, trust_directory;
  const char *level;         /* "summary": no samples are taken */
  const char *programs;      /* HPCRUN_LITE_PROGRAMS; NULL: no program has settings of its own */
  const char *control;       /* DIR or PID of --control */
  struct count_list counted; /* of --count */
  struct series series;      /* of --scaling */
  struct trials trials;      /* of --try */
  int log_level;             /* 0 quiet, 1, 2 verbose */
  char **command;            /* COMMAND and its arguments; command[0] is NULL if --env has none */

  /* found */
  struct event events[EVENTS_MAX];
  int event_count;
  char library[PATH_MAX];     /* the preloaded library */
  char mpi_library[PATH_MAX]; /* the wrappers of MPI's functions, beside it; preloaded if `mpi` is set */
  bool mpi;
  char launcher[PATH_MAX];       /* this program: processes run it to find what a filter names */
  char reporter[PATH_MAX];       /* hpcprof-lite */
  char private_libomp[PATH_MAX]; /* "": none is installed */
  struct program program;
  struct runtime_choice choice;
  char directory[PATH_MAX];
  const char *series_note; /* of the run of a series; NULL: it is none */
};

enum { PLAN_VALUE_BYTES = 65536 }; /* room for the value of a list variable */

/* Reads the configuration file that is in force (asked_for: the argument of --config, or NULL), and takes the settings
 * over from it and from the options.  Returns LAUNCH_OK, or LAUNCH_FAILED with a message. */
enum launch_status plan_take_settings(struct plan *plan, const char *asked_for, char *message, size_t message_size);

/* Works out everything but the directory.  Returns LAUNCH_OK, or the exit status of the launch with a message. */
enum launch_status plan_work_out(struct plan *plan, char *message, size_t message_size);

/* Whether LD_PRELOAD can name what is preloaded.  Where it cannot name the path of the installation, finds or makes a
 * link to it (installation_link.h), and plans with that.  Returns LAUNCH_OK, or LAUNCH_FAILED with a message. */
enum launch_status plan_make_preloadable(struct plan *plan, char *message, size_t message_size);

/* Can the command's auditors be loaded with what is preloaded (program_check_auditors())?  After the installation was
 * linked. */
enum launch_status plan_check_auditors(const struct plan *plan, char *message, size_t message_size);

/* The measurement directory that is asked for; the strings stay the plan's. */
struct directory_request plan_directory(const struct plan *plan);

/* Writes the values of LD_PRELOAD and OMP_TOOL_LIBRARIES. */
void plan_preload_value(const struct plan *plan, char *value, size_t size);
void plan_tools_value(const struct plan *plan, char *value, size_t size);

#endif
