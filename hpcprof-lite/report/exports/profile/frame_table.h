/* The different functions, constructs and lines of the rows that are shown, numbered from 0.
 *
 * Context: BATCH.  Rows of one function are one frame, inlined or not; so are rows of one construct.  The table refers
 * to the report's tree.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PROFILE_FRAME_TABLE_H
#define HPCPROF_LITE_REPORT_EXPORTS_PROFILE_FRAME_TABLE_H

#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/report/exports/profile/tree_walk.h"

struct frame_table {
  uint32_t *frame_of; /* [row] frame; [number of rows] that of omitted rows */
  uint32_t *first;    /* [frame] a row; the last frame has none: it is that of omitted rows */
  uint32_t count;
  struct index index; /* frames + 1 */
};

void frame_table_init(const struct report *report, struct frame_table *table);
void frame_table_release(struct frame_table *table);

/* Returns the name of a frame; never "". */
const char *frame_table_name(const struct frame_table *table, const struct tree *tree, uint32_t frame);

/* Return where it is declared: "" and 0 if that is not known. */
const char *frame_table_file(const struct frame_table *table, const struct tree *tree, uint32_t frame);
uint32_t frame_table_line(const struct frame_table *table, const struct tree *tree, uint32_t frame);

/* Returns its module, MODEL_NONE if it has none. */
uint32_t frame_table_module(const struct frame_table *table, const struct tree *tree, uint32_t frame);

#endif
