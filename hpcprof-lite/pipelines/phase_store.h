/* Phases as bytes in the index of a trace.
 *
 * Context: BATCH, the main thread.  Constructs and contexts are stored by the numbers of a thread, since those of a
 * report depend on the files that are read together.  All input is hostile.
 */
#ifndef HPCPROF_LITE_PIPELINES_PHASE_STORE_H
#define HPCPROF_LITE_PIPELINES_PHASE_STORE_H

#include "hpcprof-lite/analysis/phases.h"
#include "hpcprof-lite/timeline/timeline_source.h"

/* Numbers of threads that stand for those of the report, as 1 << 63 | position << 32 | number; 0: none. */
struct phase_numbers {
  const uint64_t *constructs, *contexts; /* [construct], [row] */
  const struct tree *tree;
};

/* Returns the bytes, which the caller frees, and sets *size; NULL if there is too much to store. */
uint8_t *phase_store_pack(const struct phases *phases, const struct phase_numbers *numbers, uint64_t offset_ns,
                          size_t *size);

/* Returns the same for the regions with their steps, in blocks, of which the first one is 0; NULL after the last one.
 */
uint8_t *phase_store_pack_regions(const struct phases *phases, uint32_t block, uint64_t offset_ns, size_t *size);

/* Fills in phases from the index of a process.  Returns false if there are none or they are damaged; phases_release()
 * in any case. */
bool phase_store_read(const struct timeline_source *source, uint32_t process, const struct tree *tree,
                      struct phases *phases);

/* Adds those regions to phases that the index has stored which can begin or end in a part of time, in *regions, which
 * must live as long.  Returns false if they are damaged. */
bool phase_store_regions(const struct timeline_source *source, uint64_t from_ns, uint64_t to_ns,
                         struct phases_regions *regions, struct phases *phases);

#endif
