/* The live view: follows a measurement in the terminal while it grows.
 *
 * Only the files are read that the measured processes write in any case: nothing happens in the program.
 *
 * Context: BATCH, the main thread. */
#ifndef HPCPROF_LITE_LIVE_LIVE_H
#define HPCPROF_LITE_LIVE_LIVE_H

#include "hpcprof-lite/live/pages.h"

struct live_request {
  char *const *directories;
  size_t directories_count;
  enum profile_baseline baseline;
  struct symbols_search where; /* files of modules are looked for */
  enum pages_view view;        /* the first page */
};

/* Shows the measurement until a key ends the view.  Returns 0, or ERR_INPUT with one line in message if it cannot be
 * shown; in any case the terminal is as it was. */
int live_run(const struct live_request *request, char *message, size_t size);

#endif
