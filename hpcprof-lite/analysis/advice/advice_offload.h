/* Finds what target constructs cost: copies that are repeated, many small regions, threads that wait for a device which
 * could work beside them, and regions that ran on the host because there was no device.
 *
 * Context: BATCH.  Pure.  All figures are the host's: how long a region takes on a device is only known as a part of
 * the time of its construct. */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_OFFLOAD_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_OFFLOAD_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

void advice_offload_find(struct advice_run *run);

#endif
