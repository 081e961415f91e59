#include "hpcprof-lite/timeline/blame_at.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum {
  ASKED_MAX = 4096,         /* of more samples in an interval, every n-th one is looked at */
  SAMPLES_MAX = 4096 << 10, /* of more samples in all, every second, fourth, ... one is kept */
  PART_LEAST = 1 << 10      /* samples of one thread */
};

static void halve(struct blame_at *blame)
{
  blame->count /= 2;
  for (size_t i = 0; i < blame->count; i++)
    blame->samples[i] = blame->samples[2 * i];
  blame->halved++;
}

void blame_at_add(struct blame_at *blame, struct blame_sample sample)
{
  if (blame->count == (blame->most ? blame->most : SAMPLES_MAX))
    halve(blame);
  if (blame->offered++ & ((1ull << blame->halved) - 1))
    return;
  *XAPPEND(blame->samples, blame->count, blame->room) = sample;
}

void blame_at_divide(struct blame_at *parts, uint32_t count)
{
  size_t most = SAMPLES_MAX;
  while (count && most > PART_LEAST && most > SAMPLES_MAX / count) /* even, so that its half is what is kept */
    most /= 2;
  for (uint32_t i = 0; i < count; i++)
    parts[i].most = most;
}

void blame_at_join(struct blame_at *blame, struct blame_at *parts, uint32_t count)
{
  assert(parts || !count);
  unsigned most = blame->halved;
  size_t all = 0;
  for (uint32_t i = 0; i < count; i++) {
    most = MAX(parts[i].halved, most);
    all += parts[i].count;
  }
  xarray_reserve(&blame->samples, &blame->room, MIN(all, SAMPLES_MAX), sizeof *blame->samples);
  for (uint32_t i = 0; i < count; i++) {
    struct blame_at *part = &parts[i];
    while (part->halved < most)
      halve(part);
    for (size_t j = 0; j < part->count; j++)
      blame_at_add(blame, part->samples[j]);
    blame_at_release(part);
  }
}

ORDER(by_time, struct blame_sample, COMPARE(x->ns, y->ns) ?: COMPARE(x->thread, y->thread))

void blame_at_sort(struct blame_at *blame, const struct tree *tree)
{
  blame->tree = tree;
  if (blame->count)
    qsort(blame->samples, blame->count, sizeof *blame->samples, by_time);
}

void blame_at_counts_init(const struct blame_at *blame, struct blame_at_counts *counts)
{
  assert(blame->tree);
  counts->counts = xcalloc(blame->tree->count, sizeof *counts->counts);
  counts->seen = xcalloc(blame->tree->count, sizeof *counts->seen);
}

void blame_at_counts_release(struct blame_at_counts *counts)
{
  free(counts->counts);
  free(counts->seen);
  *counts = (struct blame_at_counts){0};
}

/* The first sample at that time or later. */
static size_t first_at(const struct blame_at *blame, uint64_t ns)
{
  return FIRST_WHERE(i, blame->count, blame->samples[i].ns >= ns);
}

uint32_t blame_at_worst(const struct blame_at *blame, struct blame_at_counts *counts, uint64_t from_ns, uint64_t to_ns,
                        uint32_t waiter, uint32_t holder)
{
  assert(blame->tree && from_ns <= to_ns && counts->counts);
  const struct tree_row *rows = blame->tree->rows;
  size_t first = first_at(blame, from_ns), end = first_at(blame, to_ns), step = (end - first) / ASKED_MAX + 1;
  uint32_t seen = 0, all = 0, worst = MODEL_NONE;
  for (size_t i = first; i < end; i += step) {
    const struct blame_sample *sample = &blame->samples[i];
    if (sample->row >= blame->tree->count || (holder ? sample->thread != holder : sample->thread == waiter))
      continue;
    all++;
    for (uint32_t row = sample->row; row != MODEL_NONE; row = rows[row].parent)
      if (!counts->counts[row]++)
        counts->seen[seen++] = row;
  }
  for (uint32_t i = 0; i < seen; i++) {
    uint32_t row = counts->seen[i];
    bool most = counts->counts[row] > all / 2;
    if (most && (worst == MODEL_NONE || rows[row].depth > rows[worst].depth))
      worst = row;
    counts->counts[row] = 0;
  }
  return worst;
}

void blame_at_release(struct blame_at *blame)
{
  free(blame->samples);
  *blame = (struct blame_at){0};
}
