/* The timeline as JSON tiles: what each lane did in parts of time of equal length.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TILES_H
#define HPCPROF_LITE_REPORT_TIMELINE_TIMELINE_TILES_H

#include "hpcprof-lite/report/report.h"

/* As many parts as the text view has columns.  Returns 0, ERR_INPUT or ERR_NOMEM. */
int timeline_tiles(const struct report *report);

#endif
