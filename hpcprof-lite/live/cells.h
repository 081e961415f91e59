/* Rows of the live view: functions, contexts and threads, each a line that fits the terminal.
 *
 * Context: BATCH. */
#ifndef HPCPROF_LITE_LIVE_CELLS_H
#define HPCPROF_LITE_LIVE_CELLS_H

#include "hpcprof-lite/live/reading.h"
#include "hpcprof-lite/report/terminal.h"

enum { CELLS_TEXT = 16 };

struct cells {
  const struct reading *reading;
  const struct terminal *terminal;
  FILE *stream;
  bool of_interval; /* which figures are shown where both do not fit, and those of waiting and of threads */
  uint64_t longest; /* cells_longest(), for rows of threads */
};

/* Seconds with three decimals, in 8 columns. */
void cells_seconds(uint64_t ns, char out[CELLS_TEXT]);

/* The longest time of a thread, which fills the width of its bar. */
uint64_t cells_longest(const struct cells *cells);

/* Each prints a line: headings, and the row with that number in the reading's list. */
void cells_functions_heading(const struct cells *cells);
void cells_function(const struct cells *cells, uint32_t number);
void cells_contexts_heading(const struct cells *cells);
void cells_context(const struct cells *cells, uint32_t number);
void cells_hot_heading(const struct cells *cells);
void cells_hot(const struct cells *cells, uint32_t number);
void cells_threads_heading(const struct cells *cells);
void cells_thread(const struct cells *cells, uint32_t number);

#endif
