#include "hpcprof-lite/report/verdict.h"

#include <inttypes.h>

/* Serial code: who waits for it. */
static void serial_text(const struct report *report, char out[VERDICT_TEXT_MAX])
{
  uint32_t all = report->totals->baseline;
  if (report->baseline == BASELINE_CORE && all > 1)
    snprintf(out, VERDICT_TEXT_MAX, "serial: %" PRIu32 " core%s idle; parallelise it or overlap it with other work",
             all - 1, all == 2 ? "" : "s");
  else if (all > 1)
    snprintf(out, VERDICT_TEXT_MAX, "serial: %" PRIu32 " other thread%s; parallelise it or overlap it", all - 1,
             all == 2 ? " waits" : "s wait");
  else
    snprintf(out, VERDICT_TEXT_MAX, "serial: the other threads wait; parallelise it or overlap it");
}

void verdict_text(const struct report *report, const struct causes_finding *finding, char out[VERDICT_TEXT_MAX])
{
  static const char *const texts[] = {
      [CAUSES_UNKNOWN] = "where it was called is not known (unwind cut short)",
      [CAUSES_RUNTIME] = "the runtime itself at work: fewer and larger regions leave less of it",
      [CAUSES_RETHINK] = "overhead is high too: other pieces will not help, review the parallelisation",
      [CAUSES_INSUFFICIENT] = "more idleness than work in this region: too little of it runs in parallel",
      [CAUSES_IMBALANCE] = "imbalance, or pieces too coarse: try smaller ones or schedule(dynamic)",
      [CAUSES_COARSER] = "overhead high, idleness low: larger pieces of work (chunks, tasks) cost less",
      [CAUSES_MODERATE] = "less than a tenth of its region's time: fairly balanced already",
      [CAUSES_CONTENTION] = "contention: review, shorten or split what the lock released here protects",
      [CAUSES_LOCKED] = "contention, more waiting than work: review whether it needs this lock at all",
  };
  if (finding->verdict == CAUSES_SERIAL)
    serial_text(report, out);
  else
    snprintf(out, VERDICT_TEXT_MAX, "%s", texts[finding->verdict]);
}
