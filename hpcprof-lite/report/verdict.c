#include "hpcprof-lite/report/verdict.h"

#include <inttypes.h>

/* Serial code, with the threads or cores that wait for it. */
static void serial_text(const struct report *report, char out[VERDICT_TEXT_MAX])
{
  uint32_t all = report->totals->baseline;
  if (report->baseline == BASELINE_CORE && all > 1)
    snprintf(out, VERDICT_TEXT_MAX, "serial: %" PRIu32 " core%s idle; parallelise it, or overlap it with other work",
             all - 1, all == 2 ? " is" : "s are");
  else if (all > 1)
    snprintf(out, VERDICT_TEXT_MAX, "serial: %" PRIu32 " other thread%s; parallelise it, or overlap it with other work",
             all - 1, all == 2 ? " waits" : "s wait");
  else
    snprintf(out, VERDICT_TEXT_MAX, "serial: the other threads wait; parallelise it, or overlap it with other work");
}

void verdict_text(const struct report *report, const struct causes_finding *finding, char out[VERDICT_TEXT_MAX])
{
  static const char *const texts[] = {
      [CAUSES_UNKNOWN] = "its callers are not known, because the stack could not be unwound",
      [CAUSES_RUNTIME] = "the OpenMP runtime's own work: use fewer and larger regions",
      [CAUSES_RETHINK] = "overhead is high, too: another chunk size will not help, rework the algorithm",
      [CAUSES_INSUFFICIENT] = "the region has more idleness than work: too little of it runs in parallel",
      [CAUSES_IMBALANCE] = "imbalance, or chunks too large: try smaller chunks or schedule(dynamic)",
      [CAUSES_COARSER] = "high overhead, low idleness: use larger chunks or tasks",
      [CAUSES_MODERATE] = "below a tenth of its region's time: fairly balanced already",
      [CAUSES_CONTENTION] = "contention: shorten or split the section that the lock protects",
      [CAUSES_LOCKED] = "contention, more waiting than work: find a way without this lock",
  };
  if (finding->verdict == CAUSES_SERIAL)
    serial_text(report, out);
  else
    snprintf(out, VERDICT_TEXT_MAX, "%s", texts[finding->verdict]);
}
