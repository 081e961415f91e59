/* Builds the index of a trace in one pass over each lane, and stores it.
 *
 * Context: BATCH.  Memory, for each thread that adds a lane: on each level a block of cells, and the
 * contexts and constructs of the open cell.
 */
#ifndef HPCPROF_LITE_TIMELINE_INDEX_BUILDER_H
#define HPCPROF_LITE_TIMELINE_INDEX_BUILDER_H

#include "hpcprof-lite/model/problems.h"
#include "hpcprof-lite/timeline/timeline_index.h"

struct index_builder_input {
  const struct timeline *timeline; /* without limits */
  struct timeline_index_key key;
  const struct timeline_index_lane *lanes;  /* of the process, which follow each other in the timeline; are copied */
  uint32_t first, count;                    /* the first of them there */
  uint64_t bytes;                           /* of the trace */
  const struct timeline_index_guest *guest; /* NULL: none */
};

struct index_builder;

/* Begins an index, of which any number can be built at once.  Returns NULL if it cannot be stored, which is reported.
 */
struct index_builder *index_builder_open(const struct index_builder_input *input, struct problems *problems);

/* Adds a lane of the process, 0 to count - 1.  Several threads may add lanes. */
void index_builder_add(struct index_builder *builder, uint32_t lane, unsigned worker);

/* Ends the index, which is stored if it is wanted; that it cannot be stored is reported. */
void index_builder_close(struct index_builder *builder, bool wanted, struct problems *problems);

#endif
