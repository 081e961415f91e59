#include "hpcprof-lite/analysis/grain_groups.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <stdlib.h>

enum { FINE_BITS = 4, FINE = 1 << FINE_BITS };

/* Small amounts have buckets of their own. */
static uint32_t bucket_of(uint64_t amount)
{
  if (amount < FINE)
    return (uint32_t)amount;
  unsigned top = 63 - (unsigned)__builtin_clzll(amount);
  return (top - FINE_BITS + 1) << FINE_BITS | (uint32_t)(amount >> (top - FINE_BITS) & (FINE - 1));
}

static uint64_t middle_of(uint32_t bucket)
{
  assert(bucket < GRAIN_GROUPS_BUCKETS);
  if (bucket < 2 * FINE)
    return bucket;
  unsigned shift = (bucket >> FINE_BITS) - 1;
  return ((uint64_t)(FINE | (bucket & (FINE - 1))) << shift) + (1ull << shift >> 1);
}

static bool is_group_of(const struct grain_group *group, const struct grain_row *row)
{
  return group->kind == row->grain->kind && group->directive == row->directive && group->creator == row->creator &&
         group->context == row->context;
}

static struct grain_group *find(struct grain_groups *groups, const struct grain_row *row)
{
  uint64_t key = hash_map_key(hash_map_key(hash_map_key(row->grain->kind, row->directive), row->creator), row->context);
  uint32_t known = HASH_MAP_FIND(&groups->map, key, i, is_group_of(&groups->groups[i - 1], row));
  if (known)
    return &groups->groups[known - 1];
  struct grain_group *group = XAPPEND(groups->groups, groups->count, groups->room);
  hash_map_add(&groups->map, key, groups->count);
  *group = (struct grain_group){.kind = row->grain->kind,
                                .directive = row->directive,
                                .creator = row->creator,
                                .context = row->context,
                                .least = UINT64_MAX,
                                .histogram = xcalloc(GRAIN_GROUPS_BUCKETS, sizeof *group->histogram)};
  return group;
}

struct counters_present grain_groups_present(const uint64_t counts[COUNTERS_MAX])
{
  uint64_t known = 0;
  for (uint32_t i = 0; i < COUNTERS_MAX; i++)
    known |= (uint64_t)(counts[i] != GRAIN_UNKNOWN) << i;
  return counters_present_of(known);
}

static void add_counts(struct grain_group *group, const struct grain_row *row)
{
  struct counters_present present = grain_groups_present(row->counts);
  counters_present_add(&group->present, &present);
  for (uint32_t i = 0; i < COUNTERS_MAX; i++) {
    struct grain_counts *counts = &group->counts[i];
    uint64_t count = row->counts[i];
    if (count == GRAIN_UNKNOWN)
      continue;
    counts->least = counts->grains ? MIN(counts->least, count) : count;
    counts->most = MAX(counts->most, count);
    model_add(&counts->sum, count);
    counts->grains++;
  }
}

void grain_groups_add(struct grain_groups *groups, const struct grain_row *row)
{
  assert(row->grain && row->grain->kind < GRAIN_KINDS);
  struct grain_group *group = find(groups, row);
  group->count++;
  group->exec += row->exec;
  group->least = MIN(group->least, row->exec);
  group->longest = MAX(group->longest, row->exec);
  group->histogram[bucket_of(row->exec)]++;
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    group->problems[i] += row->problems >> i & 1;
  group->problem_count += row->problems != 0;
  group->problem_exec += row->problems ? row->exec : 0;
  group->critical_count += row->grain->critical;
  group->critical_exec += row->grain->critical ? row->exec : 0;
  add_counts(group, row);
}

static void find_quantiles(struct grain_group *group)
{
  assert(group->count && group->least <= group->longest);
  uint64_t passed = 0;
  unsigned next = 0;
  for (uint32_t bucket = 0; bucket < GRAIN_GROUPS_BUCKETS; bucket++) {
    passed += group->histogram[bucket];
    for (; next < GRAIN_GROUPS_QUANTILES && passed * (GRAIN_GROUPS_QUANTILES + 1) >= group->count * (next + 1);
         next++) {
      uint64_t middle = MAX(middle_of(bucket), group->least);
      group->quantiles[next] = MIN(middle, group->longest);
    }
  }
}

ORDER(by_problems, struct grain_group,
      COMPARE(y->problem_exec, x->problem_exec) ?: COMPARE(y->exec, x->exec) ?: COMPARE(x->kind, y->kind)
      ?: COMPARE(x->directive, y->directive) ?: COMPARE(x->creator, y->creator))

void grain_groups_finish(struct grain_groups *groups)
{
  for (uint32_t i = 0; i < groups->count; i++)
    find_quantiles(&groups->groups[i]);
  if (groups->count)
    qsort(groups->groups, groups->count, sizeof *groups->groups, by_problems);
}

void grain_groups_release(struct grain_groups *groups)
{
  for (uint32_t i = 0; i < groups->count; i++)
    free(groups->groups[i].histogram);
  free(groups->groups);
  hash_map_release(&groups->map);
  *groups = (struct grain_groups){0};
}
