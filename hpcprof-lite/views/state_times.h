/* How long threads were in each category: sums over cells of the timeline, and what is least and most of them.
 *
 * Context: BATCH.  No state.
 */
#ifndef HPCPROF_LITE_VIEWS_STATE_TIMES_H
#define HPCPROF_LITE_VIEWS_STATE_TIMES_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/timeline.h"

struct state_times {
  uint64_t ns[TIMELINE_CATEGORIES];
};

/* A category in several rows: threads, processes or nodes. */
struct state_spread {
  enum timeline_category category;
  uint64_t total_ns, least_ns, most_ns;
  uint32_t least, most; /* the first rows with so much */
};

/* A node, a process on it, or a thread of that process. */
struct state_group {
  enum timeline_grouping level;
  uint32_t lane; /* its first one */
  struct state_times times;
};

void state_times_add(struct state_times *times, const struct timeline_cell *cells, uint32_t count);
void state_times_join(struct state_times *times, const struct state_times *more);

/* Lists the categories in which there is time, that with the most first.  Returns their number. */
unsigned state_times_spread(const struct state_times *rows, uint32_t count,
                            struct state_spread spreads[TIMELINE_CATEGORIES]);

static inline double state_spread_mean(const struct state_spread *spread, uint32_t rows)
{
  return (double)spread->total_ns / (rows + !rows);
}

/* Lists nodes, below each its processes, and below each of those its threads.  lanes: [lane] times.  The caller frees
 * *groups. */
void state_times_group(const struct profile *profile, const struct timeline *timeline, const struct state_times *lanes,
                       struct state_group **groups, uint32_t *count);

#endif
