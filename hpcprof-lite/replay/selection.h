/* What scenarios select of the fragments of a recorded graph, and how much of each is left.
 *
 * Context: BATCH.  Within a construct that is selected all is: fragments carry the number of a choice, which stands for
 * all constructs around them that some scenario selects.  Choice 0: none is.  There are as many choices as ways in
 * which selected constructs nest, which are few.
 */
#ifndef HPCPROF_LITE_REPLAY_SELECTION_H
#define HPCPROF_LITE_REPLAY_SELECTION_H

#include "hpcprof-lite/replay/attribution.h"

#include "hpcprof-lite/model/index.h"

enum { SELECTION_MAX = 64 }; /* scenarios */

struct selection {
  uint32_t scenarios, rows;
  const double *const *attribution; /* factors [scenario][part] */
  double *mixes;                    /* [row][scenario]: what is left of a fragment of which no sample tells */
  uint32_t *choice_of;              /* [row] */
  double *left;                     /* [choice][scenario]: what is left by the word of constructs */
  uint32_t choices;
  struct index within; /* choice, row → choice + 1 */
};

/* Factors of directives and of parts, for each scenario; the arrays of numbers belong to the caller.  0, or ERR_NOMEM;
 * selection_release() in any case. */
int selection_init(struct selection *selection, uint32_t scenarios, uint32_t rows, const double *const *row_factors,
                   const double *const *part_factors, const struct attribution *attribution);
void selection_release(struct selection *selection);

/* The choice of a construct of a row, within that of what is around it. */
uint32_t selection_within(struct selection *selection, uint32_t around, uint32_t row);

/* What is left of work in a choice: by the constructs alone; of a part of samples; of a directive's mix. */
static inline double selection_exact(const struct selection *selection, uint32_t choice, uint32_t scenario)
{
  return selection->left[(size_t)choice * selection->scenarios + scenario];
}

static inline double selection_part(const struct selection *selection, uint32_t choice, uint32_t scenario,
                                    uint32_t entry)
{
  double exact = selection_exact(selection, choice, scenario), left = 1 / selection->attribution[scenario][entry];
  return left < exact ? left : exact;
}

static inline double selection_mix(const struct selection *selection, uint32_t choice, uint32_t scenario, uint32_t row)
{
  double exact = selection_exact(selection, choice, scenario);
  return exact < 1 ? exact : selection->mixes[(size_t)row * selection->scenarios + scenario];
}

#endif
