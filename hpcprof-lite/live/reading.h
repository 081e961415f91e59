/* One reading of a measurement that may still grow: its figures since the start of the run and since the reading
 * before it, as rows with names.
 *
 * Context: BATCH, one thread.  The caller owns a reading and calls reading_release() in any case.  Its names refer to
 * the symbols that the source keeps. */
#ifndef HPCPROF_LITE_LIVE_READING_H
#define HPCPROF_LITE_LIVE_READING_H

#include "hpcprof-lite/analysis/totals.h"
#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"
#include "common/symbols/kept_symbols.h"

/* What is read again and again. */
struct reading_source {
  char *const *directories;
  size_t directories_count;
  enum profile_baseline baseline;
  struct symbols_search where;
  struct kept_symbols kept;
  bool (*between)(uint32_t done, uint32_t all); /* called after each file; false ends the reading */
};

enum { READING_NOTE = 512, READING_HOT = 8 };

struct reading {
  uint32_t files;         /* measurement files that were found */
  struct profile profile; /* its contexts have the columns of both */
  struct profile part;    /* the same with the processes of the interval */
  struct names names;
  struct tree_columns columns, part_columns; /* of the run; of the interval */
  struct totals totals, part_totals;
  struct tree tree, flat;
  uint32_t *functions, functions_count; /* rows of flat, see reading_sort() */
  uint32_t *contexts, contexts_count;   /* rows of tree                     */
  uint32_t hot[READING_HOT], hot_count; /* contexts with the most time of their own */
  uint64_t *threads;                    /* see thread_order()               */
  uint32_t threads_count;
  bool has_interval;       /* there was a reading before, and processes have not ended */
  bool growing;            /* some process runs, or was sampled since the reading before */
  uint64_t at_ns;          /* CLOCK_MONOTONIC */
  uint64_t elapsed_ns;     /* since the start of the run, until now if a process runs on this machine */
  uint64_t lasted_ns;      /* since the reading before */
  uint64_t lookup_ns;      /* CPU time for symbols, if the debugging information of any module was read */
  char note[READING_NOTE]; /* what could not be read, in one line, or "" */
};

/* Reads the measurement.  before: the reading before, or NULL.  Returns 0; an error if source->between has ended it, or
 * if a process that was read before could not be read this time, which the note tells. */
int reading_take(struct reading_source *source, struct reading *before, struct reading *reading);
void reading_release(struct reading *reading);

/* Makes the lists of rows: functions by what was spent in them, contexts from half a percent of the weight on as a tree
 * with the heaviest first, both of the interval, if there is one, or of the run. */
void reading_sort(struct reading *reading, bool of_interval);

/* A text that changes when a file of the source appears, vanishes or changes, for free().  A process
 * writes its live file without system calls: that does not change the text. */
char *reading_signature(const struct reading_source *source);

/* CLOCK_MONOTONIC; the CPU time of this process and of its children, which read symbols. */
uint64_t reading_now_ns(void);
uint64_t reading_cpu_ns(void);

#endif
