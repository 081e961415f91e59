/* The different functions, constructs and lines of the rows that are shown, numbered from 0.
 *
 * Context: BATCH.  Rows of one function with the same mark are one frame, inlined or not; so are rows of one construct.
 * The table refers to the report's tree.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PROFILE_FRAME_TABLE_H
#define HPCPROF_LITE_REPORT_EXPORTS_PROFILE_FRAME_TABLE_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/report/exports/profile/tree_walk.h"

struct frame_table {
  uint32_t *frame_of;           /* [row] frame; [number of rows] that of omitted rows */
  const struct tree_row **rows; /* [frame] one of its rows, which tells where it is declared; tree_walk_omitted */
  uint32_t count;
  struct hash_map map; /* frames + 1 */
};

void frame_table_init(const struct report *report, struct frame_table *table);
void frame_table_release(struct frame_table *table);

#endif
