#include "hpcprof-lite/analysis/speedup.h"

enum { CORES_MAX = 128 };

static double larger(double a, double b)
{
  return a > b ? a : b;
}

static double smaller(double a, double b)
{
  return a < b ? a : b;
}

/* Requires work >= span, which callers ensure for damaged measurements as well. */
static void fill_row(struct speedup_row *row, uint64_t cores, double work, double span, double burdened)
{
  double share = work / (double)cores;
  double serial = smaller(burdened, work);
  row->cores = cores;
  row->lower = work / (share + span);
  row->upper = work / larger(share, span);
  row->estimate = work / ((work - span) / (double)cores + span);
  row->burdened = work / ((work - serial) / (double)cores + burdened);
}

void speedup_enter(const struct profile *profile, double burdened, const double *makespans, struct speedup *speedup)
{
  double span = (double)profile->workspan.span, work = larger((double)profile->workspan.work, span);
  for (uint32_t i = 0; i < speedup->count; i++) {
    struct speedup_row *row = &speedup->rows[i];
    fill_row(row, row->cores, work, span, larger(burdened, span));
    row->simulated = makespans[i] > 0 ? (double)profile->workspan.work / makespans[i] : 0;
  }
}

void speedup_compute(const struct profile *profile, struct speedup *speedup)
{
  const struct profile_workspan *workspan = &profile->workspan;
  double span = (double)workspan->span, work = larger((double)workspan->work, span);
  uint64_t own = profile->span_threads ? profile->span_threads : 1;
  *speedup = (struct speedup){0};
  if (!workspan->known || !workspan->span)
    return;
  bool own_added = false;
  for (uint64_t cores = 1; cores <= CORES_MAX || !own_added; cores *= 2) {
    bool here = !own_added && own <= cores, beyond = !own_added && cores > CORES_MAX;
    if (here || beyond) {
      struct speedup_row *row = &speedup->rows[speedup->count++];
      fill_row(row, own, work, span, larger((double)workspan->burdened, span));
      if (workspan->is_time && profile->span_elapsed_ns)
        row->measured = (double)workspan->work / (double)profile->span_elapsed_ns;
      own_added = true;
    }
    if (cores <= CORES_MAX && cores != own)
      fill_row(&speedup->rows[speedup->count++], cores, work, span, larger((double)workspan->burdened, span));
  }
}
