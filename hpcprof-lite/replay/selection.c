#include "hpcprof-lite/replay/selection.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHOICES_MAX = 1024 };

/* Finds or adds the choice with these remaining fractions.  Returns 0, which selects nothing, if there are too many. */
static uint32_t intern(struct selection *selection, const double *remaining)
{
  size_t bytes = selection->scenarios * sizeof *remaining;
  for (uint32_t i = 0; i < selection->choices; i++)
    if (!memcmp(selection->remaining + (size_t)i * selection->scenarios, remaining, bytes))
      return i;
  if (selection->choices == CHOICES_MAX)
    return 0;
  memcpy(selection->remaining + (size_t)selection->choices * selection->scenarios, remaining, bytes);
  return selection->choices++;
}

/* Computes mean_remaining.  A directive without samples in any of its instances takes the factor of its entry without
 * samples.
 */
static void average(struct selection *selection, const struct attribution *attribution)
{
  assert(selection->scenarios);
  uint32_t scenarios = selection->scenarios;
  double *sums = xcalloc(selection->directives, sizeof *sums);
  selection->mean_remaining = xcalloc((size_t)selection->directives * scenarios, sizeof *selection->mean_remaining);
  for (uint32_t i = 1; i < attribution->count; i++) {
    const struct attribution_entry *entry = &attribution->entries[i];
    sums[entry->row] += entry->amount;
    for (uint32_t j = 0; j < scenarios; j++)
      selection->mean_remaining[(size_t)entry->row * scenarios + j] += entry->amount / selection->entry_factors[j][i];
  }
  for (uint32_t directive = 0; directive < selection->directives; directive++) {
    uint32_t without_samples = attribution_find(attribution, directive, 0, 0);
    for (uint32_t j = 0; j < scenarios; j++) {
      double *mean = &selection->mean_remaining[(size_t)directive * scenarios + j];
      if (sums[directive] > 0)
        *mean = *mean < sums[directive] ? *mean / sums[directive] : 1;
      else
        *mean = 1 / selection->entry_factors[j][without_samples];
    }
  }
  free(sums);
}

void selection_init(struct selection *selection, uint32_t scenarios, uint32_t directives,
                    const double *const *directive_factors, const double *const *entry_factors,
                    const struct attribution *attribution)
{
  assert(scenarios <= SELECTION_MAX && directives);
  double remaining[SELECTION_MAX];
  *selection = (struct selection){.scenarios = scenarios,
                                  .directives = directives,
                                  .choice_of = xcalloc((size_t)directives + 1, sizeof *selection->choice_of),
                                  .remaining = xcalloc((size_t)CHOICES_MAX * scenarios, sizeof *selection->remaining)};
  for (uint32_t i = 0; i < scenarios; i++) {
    selection->entry_factors[i] = entry_factors[i];
    remaining[i] = 1;
  }
  intern(selection, remaining); /* choice 0 */
  if (!scenarios)
    return;
  for (uint32_t directive = 0; directive < directives; directive++) {
    for (uint32_t i = 0; i < scenarios; i++)
      remaining[i] = 1 / directive_factors[i][directive];
    selection->choice_of[directive] = intern(selection, remaining);
  }
  average(selection, attribution);
}

void selection_release(struct selection *selection)
{
  free(selection->mean_remaining);
  free(selection->choice_of);
  free(selection->remaining);
  hash_map_release(&selection->nested);
  *selection = (struct selection){0};
}

uint32_t selection_within(struct selection *selection, uint32_t outer, uint32_t directive)
{
  assert(directive < selection->directives && outer < selection->choices);
  uint32_t own = selection->choice_of[directive];
  if (!own || own == outer || !outer)
    return own ? own : outer;
  uint64_t key = (uint64_t)outer << 32 | own;
  uint32_t known = hash_map_find(&selection->nested, key);
  if (known)
    return known - 1;
  double remaining[SELECTION_MAX];
  for (uint32_t i = 0; i < selection->scenarios; i++) {
    double around = selection_by_construct(selection, outer, i), inner = selection_by_construct(selection, own, i);
    remaining[i] = MIN(inner, around);
  }
  uint32_t both = intern(selection, remaining);
  if (!both)
    both = outer; /* there are too many choices */
  hash_map_add(&selection->nested, key, both + 1);
  return both;
}
