/* The index of a process's trace: what each lane did, at many resolutions.
 *
 * Context: BATCH.  doc/format.md defines the file X.index.  Time since the start of the process is divided into cells
 * of a power of two ns; each further level has cells twice as long, up to one that holds the whole life of a lane.  All
 * levels are built in one pass over the lane.  An index is valid only for the trace from which it was made.  All input
 * is hostile: a damaged index is as good as none.
 *
 * index_builder.h builds it.  Memory: a list of its extents, and for each thread that reads one block.  The length of
 * cells is chosen so that all lanes have TIMELINE_INDEX_CELLS at most together, unless a lane has few.
 */
#ifndef HPCPROF_LITE_TIMELINE_TIMELINE_INDEX_H
#define HPCPROF_LITE_TIMELINE_TIMELINE_INDEX_H

#include "hpcprof-lite/model/timeline.h"

enum {
  TIMELINE_INDEX_RULES = 3,       /* version of what intervals are made of a trace: another one makes other cells */
  TIMELINE_INDEX_CELLS = 2 << 20, /* of the first level, all lanes together */
  TIMELINE_INDEX_LANE_CELLS = 256 << 10,
  TIMELINE_INDEX_LEAST = 1 << 13,  /* cells that the longest lane has at least */
  TIMELINE_INDEX_FEWEST = 1 << 10, /* the same if there are many lanes */
  TIMELINE_INDEX_BLOCK = 1 << 10,  /* of an extent */
  TIMELINE_INDEX_LEVEL_SHIFT = 26  /* an extent's number: level << 26 | number of its first cell / 1024 */
};

/* A cell in the file, little-endian.  Numbers of context and construct are the thread's own, 0: not known; a
 * construct's is one more. */
struct timeline_index_cell {
  uint64_t ns[TIMELINE_CATEGORIES], critical_ns, node_ns, record_ns;
  uint32_t node, record;
};

/* What the index is about, and for which trace it is valid. */
struct timeline_index_key {
  const char *measurement;
  uint64_t digest;    /* of the trace */
  uint64_t offset_ns; /* from the start of the run to that of the process */
};

/* What is computed from the same pass over the lanes, and stored with the index. */
struct timeline_index_guest {
  void *self;
  void *(*begin_lane)(void *self, uint32_t lane, unsigned worker); /* lane: of the timeline.  Returns what visit gets */
  timeline_visit *visit;                                           /* returns 0 */
  /* After all lanes, with part 0, 1, ...: returns what is stored, which is freed; NULL after the last part. */
  uint8_t *(*end)(void *self, uint32_t part, size_t *size);
};

/* A lane: its life since the start of the run, and the index of its thread. */
struct timeline_index_lane {
  uint64_t start_ns, end_ns;
  uint32_t thread;
};

struct timeline_index;

/* Opens a valid index; NULL: there is none. */
struct timeline_index *timeline_index_open(const struct timeline_index_key *key);
void timeline_index_close(struct timeline_index *index); /* NULL is allowed */

/* Returns a part of what is stored with the index, which the caller frees; NULL if there is none, it is damaged, or
 * index is NULL. */
uint8_t *timeline_index_more(const struct timeline_index *index, uint32_t part, size_t *size);

/* Reads all of it.  Returns whether nothing is damaged. */
bool timeline_index_check(const struct timeline_index *index);

/* Whether the critical path was known to it. */
bool timeline_index_critical(const struct timeline_index *index);

/* The part of a range that whole cells of the index cover. */
struct timeline_index_reach {
  uint64_t from_ns, to_ns;
};

/* Fills in cells as timeline.cells does for one lane; but the times of categories are those in *reach only: what lies
 * before and behind it is to be read from the lane.  A cell of the index at the border of two cells belongs to both in
 * proportion.  Returns false if the index has no cells as short as those, or is damaged.  Several threads may read. */
bool timeline_index_read(const struct timeline_index *index, const struct timeline_index_lane *lane, uint64_t from_ns,
                         uint64_t to_ns, uint32_t count, struct timeline_index_cell *cells,
                         struct timeline_index_reach *reach);

/* The same of one cell, which is right but for the shortest cells of the index at its ends: the sums of parts that
 * follow each other add up.  Returns false if the index is damaged. */
bool timeline_index_sum(const struct timeline_index *index, const struct timeline_index_lane *lane, uint64_t from_ns,
                        uint64_t to_ns, struct timeline_index_cell *cell);

#endif
