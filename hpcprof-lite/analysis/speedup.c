#include "hpcprof-lite/analysis/speedup.h"

#include "common/order.h"

#include <assert.h>

enum { CORES_MAX = 128 };

/* What the rows are computed from. */
struct amounts {
  double work, span, burdened;
  double device_time; /* of the span, at most */
  double lock_bound;  /* the largest of all locks */
  double chain;       /* the longest chain in which each holder of a lock waits for the one before */
};

/* Without device time, work is at least the span and the lock bound, also in damaged measurements. */
static struct amounts amounts_of(const struct profile *profile, double burdened)
{
  const struct profile_workspan *workspan = &profile->workspan;
  struct amounts amounts = {.span = (double)workspan->span};
  double waits = workspan->directives_count ? (double)workspan->directives[0].device_time : 0;
  amounts.device_time = MIN(waits, amounts.span);
  amounts.work = MAX((double)workspan->work, amounts.span - amounts.device_time);
  amounts.burdened = MAX(burdened, amounts.span);
  for (uint32_t i = 0; i < workspan->directives_count; i++)
    amounts.lock_bound = MAX(amounts.lock_bound, (double)workspan->directives[i].lock_bound);
  amounts.lock_bound = MIN(amounts.lock_bound, amounts.work + waits);
  amounts.chain = MAX(amounts.span, amounts.lock_bound);
  return amounts;
}

static void fill_row(struct speedup_row *row, uint64_t cores, const struct amounts *amounts)
{
  assert(cores);
  double work = amounts->work, share = work / (double)cores;
  double serial = MIN(amounts->burdened - amounts->device_time, work);
  double estimate = (work - (amounts->span - amounts->device_time)) / (double)cores + amounts->span;
  double burdened = (work - serial) / (double)cores + amounts->burdened;
  row->cores = cores;
  row->lower = work / (share + amounts->chain);
  row->upper = work / MAX(share, MAX(amounts->span, amounts->lock_bound));
  row->estimate = work / MAX(estimate, amounts->lock_bound);
  row->burdened = work / MAX(burdened, amounts->lock_bound);
}

double speedup_estimate(const struct profile *profile, uint64_t cores)
{
  struct amounts amounts = amounts_of(profile, (double)profile->workspan.burdened);
  struct speedup_row row = {0};
  if (profile->workspan.known && profile->workspan.span && cores)
    fill_row(&row, cores, &amounts);
  return row.estimate;
}

void speedup_enter(const struct profile *profile, double burdened, double chain, const double *makespans,
                   struct speedup *speedup)
{
  assert(makespans || !speedup->count);
  struct amounts amounts = amounts_of(profile, burdened);
  amounts.chain = MAX(chain, amounts.chain);
  for (uint32_t i = 0; i < speedup->count; i++) {
    struct speedup_row *row = &speedup->rows[i];
    fill_row(row, row->cores, &amounts);
    row->simulated = makespans[i] > 0 ? (double)profile->workspan.work / makespans[i] : 0;
  }
}

void speedup_compute(const struct profile *profile, struct speedup *speedup)
{
  const struct profile_workspan *workspan = &profile->workspan;
  struct amounts amounts = amounts_of(profile, (double)workspan->burdened);
  uint64_t own = MAX(profile->span_threads, 1);
  *speedup = (struct speedup){0};
  if (!workspan->known || !workspan->span)
    return;
  bool own_added = false;
  for (uint64_t cores = 1; cores <= CORES_MAX || !own_added; cores *= 2) {
    bool here = !own_added && own <= cores, beyond = !own_added && cores > CORES_MAX;
    if (here || beyond) {
      struct speedup_row *row = &speedup->rows[speedup->count++];
      fill_row(row, own, &amounts);
      if (workspan->is_time && profile->span_elapsed_ns)
        row->measured = (double)workspan->work / (double)profile->span_elapsed_ns;
      own_added = true;
    }
    if (cores <= CORES_MAX && cores != own)
      fill_row(&speedup->rows[speedup->count++], cores, &amounts);
  }
}
