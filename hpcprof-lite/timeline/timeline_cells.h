/* Cells of a lane: what it did in equal parts of time, read from its intervals.
 *
 * Context: BATCH.  Several threads may read different lanes.
 */
#ifndef HPCPROF_LITE_TIMELINE_TIMELINE_CELLS_H
#define HPCPROF_LITE_TIMELINE_TIMELINE_CELLS_H

#include "hpcprof-lite/model/timeline.h"

/* Sets cells[0 ... count - 1], as timeline.cells does for each lane. */
void timeline_cells_read(const struct timeline *timeline, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
                         uint32_t count, struct timeline_cell *cells);

#endif
