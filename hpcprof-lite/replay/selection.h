/* How much of each fragment of a recorded graph remains in each scenario.
 *
 * Context: BATCH.  What remains of a fragment is 1/f of it, f being the factor of its construct or sample in the
 * scenario.  Everything within a selected construct is selected.  Therefore a scope carries the number of a choice,
 * which combines all constructs around it that a scenario selects; choice 0 selects none.  There are as many choices as
 * different nestings of selected constructs, which are few.
 *
 * The structure owns its memory; the arrays of factors belong to the caller and must live as long.
 */
#ifndef HPCPROF_LITE_REPLAY_SELECTION_H
#define HPCPROF_LITE_REPLAY_SELECTION_H

#include "hpcprof-lite/replay/attribution.h"

#include "hpcprof-lite/model/hash_map.h"

enum { SELECTION_MAX = 64 }; /* scenarios */

struct selection {
  uint32_t scenarios, directives;
  const double *entry_factors[SELECTION_MAX]; /* [scenario][entry of the attribution] */
  double *mean_remaining; /* [directive][scenario] fraction that remains, averaged over the directive's samples */
  uint32_t *choice_of;    /* [directive] */
  double *remaining;      /* [choice][scenario] fraction that remains because of constructs */
  uint32_t choices;
  struct hash_map nested; /* (outer choice, directive's choice) to number of the combined choice + 1 */
};

/* Prepares for scenarios with factors of directives, directive_factors[scenario][directive], and of the attribution's
 * entries, entry_factors[scenario][entry]; factors are 1 or more, those of entry 0 are 1. */
void selection_init(struct selection *selection, uint32_t scenarios, uint32_t directives,
                    const double *const *directive_factors, const double *const *entry_factors,
                    const struct attribution *attribution);
void selection_release(struct selection *selection);

/* Returns the choice of a construct of a directive inside a construct with the choice `outer`. */
uint32_t selection_within(struct selection *selection, uint32_t outer, uint32_t directive);

/* Returns the fraction of work that remains because of the constructs around it. */
static inline double selection_by_construct(const struct selection *selection, uint32_t choice, uint32_t scenario)
{
  return selection->remaining[(size_t)choice * selection->scenarios + scenario];
}

/* Returns the fraction that remains of work that a sample attributes to an entry. */
static inline double selection_by_sample(const struct selection *selection, uint32_t choice, uint32_t scenario,
                                         uint32_t entry)
{
  double construct = selection_by_construct(selection, choice, scenario);
  double sample = 1 / selection->entry_factors[scenario][entry];
  return sample < construct ? sample : construct;
}

/* Returns the fraction that remains of a fragment without samples: if no construct selects it, the mean of the
 * directive's samples. */
static inline double selection_without_samples(const struct selection *selection, uint32_t choice, uint32_t scenario,
                                               uint32_t directive)
{
  double construct = selection_by_construct(selection, choice, scenario);
  return construct < 1 ? construct : selection->mean_remaining[(size_t)directive * selection->scenarios + scenario];
}

#endif
