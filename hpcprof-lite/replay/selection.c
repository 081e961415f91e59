#include "hpcprof-lite/replay/selection.h"

#include "hpcprof-lite/model/profile.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES_MAX = 1024 };

/* The choice with that much left, made where it is new.  Where there are too many it is 0: nothing is selected. */
static uint32_t intern(struct selection *selection, const double *left)
{
  size_t bytes = selection->scenarios * sizeof *left;
  for (uint32_t i = 0; i < selection->choices; i++)
    if (!memcmp(selection->left + (size_t)i * selection->scenarios, left, bytes))
      return i;
  if (selection->choices == CHOICES_MAX)
    return 0;
  memcpy(selection->left + (size_t)selection->choices * selection->scenarios, left, bytes);
  return selection->choices++;
}

/* Each directive's mix: its parts' amounts by what is left of them.  Part 0, which is none, has the factor 1. */
static int mix(struct selection *selection, const struct attribution *attribution)
{
  uint32_t scenarios = selection->scenarios;
  double *sums = calloc((size_t)selection->rows + 1, sizeof *sums);
  selection->mixes = calloc((size_t)selection->rows * scenarios + 1, sizeof *selection->mixes);
  if (!sums || !selection->mixes) {
    free(sums);
    return ERR_NOMEM;
  }
  for (uint32_t i = 1; i < attribution->count; i++) {
    const struct attribution_entry *entry = &attribution->entries[i];
    sums[entry->row] += entry->amount;
    for (uint32_t j = 0; j < scenarios; j++)
      selection->mixes[(size_t)entry->row * scenarios + j] += entry->amount / selection->attribution[j][i];
  }
  for (uint32_t row = 0; row < selection->rows; row++)
    for (uint32_t j = 0; j < scenarios; j++) {
      double *left = &selection->mixes[(size_t)row * scenarios + j];
      if (sums[row] > 0)
        *left = *left < sums[row] ? *left / sums[row] : 1;
      else
        *left =
            1 /
            selection->attribution[j][attribution_find(attribution, row, 0, 0)]; /* no sample in any of its instances */
    }
  free(sums);
  return 0;
}

int selection_init(struct selection *selection, uint32_t scenarios, uint32_t rows, const double *const *row_factors,
                   const double *const *part_factors, const struct attribution *attribution)
{
  *selection = (struct selection){.scenarios = scenarios, .rows = rows};
  selection->choice_of = calloc((size_t)rows + 1, sizeof *selection->choice_of);
  selection->left = calloc((size_t)CHOICES_MAX * scenarios + 1, sizeof *selection->left);
  const double **factors = calloc((size_t)scenarios + 1, sizeof *factors);
  double *left = calloc((size_t)scenarios + 1, sizeof *left);
  int status = selection->choice_of && selection->left && factors && left ? 0 : ERR_NOMEM;
  selection->attribution = factors;
  for (uint32_t i = 0; i < scenarios && !status; i++) {
    factors[i] = part_factors[i];
    left[i] = 1;
  }
  if (!status)
    intern(selection, left);
  for (uint32_t row = 0; row < rows && !status; row++) {
    for (uint32_t i = 0; i < scenarios; i++)
      left[i] = 1 / row_factors[i][row];
    selection->choice_of[row] = scenarios ? intern(selection, left) : 0;
  }
  free(left);
  return status || !scenarios ? status : mix(selection, attribution);
}

void selection_release(struct selection *selection)
{
  free(selection->mixes);
  free(selection->choice_of);
  free(selection->left);
  free((void *)selection->attribution);
  index_release(&selection->within);
  *selection = (struct selection){0};
}

uint32_t selection_within(struct selection *selection, uint32_t around, uint32_t row)
{
  uint32_t own = selection->choice_of[row];
  if (!own || own == around || !around)
    return own ? own : around;
  uint64_t key = (uint64_t)around << 32 | own;
  uint32_t known = index_find(&selection->within, key);
  if (known)
    return known - 1;
  double left[SELECTION_MAX];
  for (uint32_t i = 0; i < selection->scenarios; i++) {
    double outer = selection_exact(selection, around, i), inner = selection_exact(selection, own, i);
    left[i] = inner < outer ? inner : outer;
  }
  uint32_t both = intern(selection, left);
  if (!both)
    both = around; /* too many ways to nest: the outer one holds */
  index_add(&selection->within, key, both + 1);
  return both;
}
