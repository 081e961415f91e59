/* The pages of the live view: what they show of a reading, as lines of a screen.
 *
 * Context: BATCH.  Pages compute nothing but widths and percentages. */
#ifndef HPCPROF_LITE_LIVE_PAGES_H
#define HPCPROF_LITE_LIVE_PAGES_H

#include "hpcprof-lite/live/reading.h"
#include "hpcprof-lite/live/screen.h"

enum pages_view { PAGES_SUMMARY, PAGES_FUNCTIONS, PAGES_CONTEXTS, PAGES_THREADS, PAGES_VIEWS };

struct picture {
  const struct reading *reading; /* NULL: nothing was measured so far */
  const char *directory;
  enum pages_view view;
  bool help, frozen, of_interval; /* of_interval: sorted by the interval, and only its figures where both do not fit */
  double every_s;                 /* the time between two readings */
  unsigned top;                   /* the first row that is shown; see pages_draw() */
  const char *note;               /* what went wrong, in one line, or "" */
};

/* Sets all lines of the screen.  Limits picture->top to the rows that there are.  Returns the number of rows that fit
 * on a page. */
unsigned pages_draw(struct picture *picture, struct screen *screen);

#endif
