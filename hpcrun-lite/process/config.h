/* The launcher's settings, from the environment.
 *
 * Context: CTL.  Written once by config_read(), before the program has threads; read by all of CTL.  The texts belong
 * to the environment.  In the preloaded library only config.c calls getenv.
 */
#ifndef HPCRUN_LITE_PROCESS_CONFIG_H
#define HPCRUN_LITE_PROCESS_CONFIG_H

#include <stdbool.h>

#include "common/counters.h"
#include "common/events.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/span/span_process.h"

enum { CONFIG_BINDING = 5 }; /* variables with which users bind threads */

struct config {
  const char *directory;    /* NULL: not launched by hpcrun-lite, do nothing */
  uint64_t directory_inode; /* as the launcher has found it; 0: not known */
  struct event events[EVENTS_MAX];
  unsigned event_count;
  struct counter counters[COUNTERS_MAX]; /* -c */
  unsigned counter_count;
  bool count_locks;         /* -c locks */
  int verbosity;            /* 0 quiet, 1 normal, 2 verbose */
  int first_pid;            /* the process that the launcher became */
  const char *program;      /* the name that was executed, without folders */
  int rank;                 /* MPI rank; -1 if there is none */
  bool online;              /* -p online, -p log */
  bool graph_log;           /* -p log */
  enum work_unit work_unit; /* --work */
  unsigned overhead_limit;  /* --overhead-limit, percent; 100: none */
  enum rt_trace trace;      /* -t */
  uint64_t memory_limit;    /* --memory-limit, bytes; 0: none */
  uint64_t trace_limit;     /* --trace-limit, bytes */
  bool trace_keep_last;     /* --trace-keep last */
  bool paused;              /* --paused, or level = off */
  bool no_arguments;        /* --no-arguments */
  bool keep_symbols;        /* --keep-symbols */
  bool unsampled;           /* level = summary */
  bool task_creation;       /* --task-context creation */
  const char *note;         /* the launcher's note on the OpenMP runtime, or "" */
  const char *scaling;      /* its number of threads in a series of runs, for the notes; "" if it is in none */
  const char *numa;         /* its NUMA nodes, for the notes; "" if there is one */
  const char *binding[CONFIG_BINDING]; /* the values of these variables; NULL: not set */
  const char *filter;                  /* what is left out: see common/filter_text.h; "" if nothing is */
  const char *launcher;                /* its path; "" if it is not known */
  bool gomp;                           /* the adapter measures libgomp */
  bool gomp_static;   /* the program that was launched contains a libgomp, which the adapter cannot see */
  bool exchanged;     /* the launcher preloaded another OpenMP runtime */
  bool tool_disabled; /* OMP_TOOL=disabled */
  bool other_tools;   /* OMP_TOOL_LIBRARIES names others before this library */
};

extern struct config config;
extern const char *const config_binding_names[CONFIG_BINDING];

/* What the launcher has put into LD_PRELOAD: the path of this library, as it stands there; maybe that of the wrappers
 * of MPI beside it; and that of an OpenMP runtime or "".  Known also where nothing is measured. */
extern struct preloaded {
  char library[4096], mpi[4096], runtime[4096];
} preloaded;

/* Reads the settings.  An error is reported on standard error and leaves directory NULL. */
void config_read(void);

#endif
