#include "hpcprof-lite/report/verdict.h"

#include <inttypes.h>

/* Serial code, with the threads or cores that wait for it. */
static void serial_text(const struct report *report, char out[VERDICT_TEXT_MAX])
{
  uint32_t all = report->totals->baseline;
  if (report->baseline == BASELINE_CORE && all > 1)
    snprintf(out, VERDICT_TEXT_MAX, "serial: %" PRIu32 " core%s idle; parallelise it, or overlap other work", all - 1,
             all == 2 ? " is" : "s are");
  else if (all > 1)
    snprintf(out, VERDICT_TEXT_MAX, "serial: %" PRIu32 " other thread%s; parallelise it, or overlap other work",
             all - 1, all == 2 ? " waits" : "s wait");
  else
    snprintf(out, VERDICT_TEXT_MAX, "serial: other threads wait; parallelise it, or overlap other work");
}

void verdict_text(const struct report *report, const struct causes_finding *finding, char out[VERDICT_TEXT_MAX])
{
  static const char *const texts[] = {
      [CAUSES_UNKNOWN] = "its callers are not known, because the stack could not be unwound",
      [CAUSES_UNSEEN] = "timed, but no sample fell into it: short waits, or the other threads slept",
      [CAUSES_RUNTIME] = "time in the OpenMP runtime itself: use fewer and larger regions",
      [CAUSES_RETHINK] = "overhead is high, too: other sizes will not help; review the parallelisation",
      [CAUSES_INSUFFICIENT] = "the region has more idleness than work: too little of it runs in parallel",
      [CAUSES_IMBALANCE] = "imbalance, or chunks or tasks too large: try smaller ones, schedule(dynamic)",
      [CAUSES_COARSER] = "high overhead, low idleness: use larger chunks or tasks, or fewer regions",
      [CAUSES_MODERATE] = "idleness is below a tenth of the region's time: the region is balanced",
      [CAUSES_CONTENTION] = "contention: shorten or split what the lock protects",
      [CAUSES_LOCKED] = "contention, more waiting than work: use a reduction, copies or atomics",
  };
  if (finding->verdict == CAUSES_SERIAL)
    serial_text(report, out);
  else
    snprintf(out, VERDICT_TEXT_MAX, "%s", texts[finding->verdict]);
}
