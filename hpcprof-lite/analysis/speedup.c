#include "hpcprof-lite/analysis/speedup.h"

enum { CORES_MAX = 128 };

static double most(double a, double b)
{
  return a > b ? a : b;
}

static double least(double a, double b)
{
  return a < b ? a : b;
}

/* work: at least the span, which holds in sound measurements. */
static void fill(struct speedup_row *row, uint64_t cores, double work, double span, double burdened)
{
  double share = work / (double)cores;
  double hidden = least(burdened, work);
  row->cores = cores;
  row->lower = work / (share + span);
  row->upper = work / most(share, span);
  row->estimate = work / ((work - span) / (double)cores + span);
  row->burdened = work / ((work - hidden) / (double)cores + burdened);
}

void speedup_enter(const struct profile *profile, double burdened, const double *makespans, struct speedup *speedup)
{
  double span = (double)profile->workspan.span, work = most((double)profile->workspan.work, span);
  for (uint32_t i = 0; i < speedup->count; i++) {
    struct speedup_row *row = &speedup->rows[i];
    fill(row, row->cores, work, span, most(burdened, span));
    row->simulated = makespans[i] > 0 ? (double)profile->workspan.work / makespans[i] : 0;
  }
}

void speedup_compute(const struct profile *profile, struct speedup *speedup)
{
  const struct profile_workspan *workspan = &profile->workspan;
  double span = (double)workspan->span, work = most((double)workspan->work, span);
  uint64_t own = profile->span_threads ? profile->span_threads : 1;
  *speedup = (struct speedup){0};
  if (!workspan->known || !workspan->span)
    return;
  bool placed = false;
  for (uint64_t cores = 1; cores <= CORES_MAX || !placed; cores *= 2) {
    bool here = !placed && own <= cores, beyond = !placed && cores > CORES_MAX;
    if (here || beyond) {
      struct speedup_row *row = &speedup->rows[speedup->count++];
      fill(row, own, work, span, most((double)workspan->burdened, span));
      if (workspan->is_time && profile->span_elapsed_ns)
        row->measured = (double)workspan->work / (double)profile->span_elapsed_ns;
      placed = true;
    }
    if (cores <= CORES_MAX && cores != own)
      fill(&speedup->rows[speedup->count++], cores, work, span, most((double)workspan->burdened, span));
  }
}
