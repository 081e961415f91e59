/* Grains of the same construct that were created in the same construct, as one row.
 *
 * Context: BATCH.  Rows are added one by one; memory grows with the number of groups.  The structure owns its memory.
 * Quantiles come from a histogram with sixteen buckets for each factor of two: they are the middle of a bucket, at most
 * 3 % off; least and longest are exact.
 */
#ifndef HPCPROF_LITE_ANALYSIS_GRAIN_GROUPS_H
#define HPCPROF_LITE_ANALYSIS_GRAIN_GROUPS_H

#include "hpcprof-lite/model/construct_figures.h"
#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/hash_map.h"

#include <stddef.h>

enum { GRAIN_GROUPS_QUANTILES = 3, GRAIN_GROUPS_BUCKETS = 1024 };

struct grain_group {
  enum grain_kind kind;
  uint32_t directive, creator, context; /* as in struct grain_row */
  uint64_t count, exec, least, longest;
  uint64_t quantiles[GRAIN_GROUPS_QUANTILES]; /* of exec: 25, 50 and 75 % of the grains are not longer */
  uint64_t problems[GRAIN_METRICS];           /* grains that have the problem */
  uint64_t problem_count, problem_exec;       /* grains that have any problem */
  uint64_t critical_count, critical_exec;
  struct grain_counts {
    uint64_t grains, sum, least, most; /* grains: whose count is known */
  } counts[COUNTERS_MAX];
  struct counters_present present; /* in its grains */
  uint64_t *histogram;
};

struct grain_groups {
  struct grain_group *groups;
  uint32_t count;
  size_t room;
  struct hash_map map;
};

/* Adds a row to its group.  groups of zeros are empty. */
void grain_groups_add(struct grain_groups *groups, const struct grain_row *row);

/* Computes the quantiles, and sorts the groups by the time that grains with problems hold, then by all their time. */
void grain_groups_finish(struct grain_groups *groups);

/* Which counts of a grain are known. */
struct counters_present grain_groups_present(const uint64_t counts[COUNTERS_MAX]);

void grain_groups_release(struct grain_groups *groups);

#endif
