#include "hpcprof-lite/views/state_times.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void state_times_add(struct state_times *times, const struct timeline_cell *cells, uint32_t count)
{
  assert(cells || !count);
  for (uint32_t i = 0; i < count; i++)
    for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
      model_add(&times->ns[c], cells[i].ns[c]);
}

void state_times_join(struct state_times *times, const struct state_times *more)
{
  for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++)
    model_add(&times->ns[c], more->ns[c]);
}

ORDER(by_total, struct state_spread, COMPARE(y->total_ns, x->total_ns) ?: COMPARE(x->category, y->category))

unsigned state_times_spread(const struct state_times *rows, uint32_t count,
                            struct state_spread spreads[TIMELINE_CATEGORIES])
{
  assert(rows || !count);
  unsigned found = 0;
  for (unsigned c = 0; c < TIMELINE_CATEGORIES; c++) {
    struct state_spread spread = {.category = (enum timeline_category)c, .least_ns = UINT64_MAX};
    for (uint32_t i = 0; i < count; i++) {
      uint64_t ns = rows[i].ns[c];
      model_add(&spread.total_ns, ns);
      if (ns < spread.least_ns) {
        spread.least_ns = ns;
        spread.least = i;
      }
      if (ns > spread.most_ns) {
        spread.most_ns = ns;
        spread.most = i;
      }
    }
    if (spread.total_ns)
      spreads[found++] = spread;
  }
  qsort(spreads, found, sizeof *spreads, by_total);
  return found;
}

void state_times_group(const struct profile *profile, const struct timeline *timeline, const struct state_times *lanes,
                       struct state_group **groups, uint32_t *count)
{
  const struct profile_process *before = NULL;
  uint32_t node = 0, process = 0;
  *count = 0;
  *groups = xcalloc(3 * (size_t)timeline->lanes_count, sizeof **groups);
  for (uint32_t lane = 0; lane < timeline->lanes_count; lane++) { /* by host and process */
    const struct profile_process *here = &profile->processes[timeline->lanes[lane].process];
    if (!before || strcmp(before->host, here->host))
      (*groups)[node = (*count)++] = (struct state_group){.level = TIMELINE_NODES, .lane = lane};
    if (before != here)
      (*groups)[process = (*count)++] = (struct state_group){.level = TIMELINE_PROCESSES, .lane = lane};
    (*groups)[(*count)++] = (struct state_group){.level = TIMELINE_THREADS, .lane = lane, .times = lanes[lane]};
    state_times_join(&(*groups)[node].times, &lanes[lane]);
    state_times_join(&(*groups)[process].times, &lanes[lane]);
    before = here;
  }
}
