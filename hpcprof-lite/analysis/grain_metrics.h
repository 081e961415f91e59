/* What is derived from the properties of a grain, and which of its figures are a problem.
 *
 * Context: BATCH.  Pure.  Source: Muddukrishna et al., "Grain Graphs" (PPoPP 2016); doc/grains.md defines the metrics.
 */
#ifndef HPCPROF_LITE_ANALYSIS_GRAIN_METRICS_H
#define HPCPROF_LITE_ANALYSIS_GRAIN_METRICS_H

#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/profile.h"

/* Replaces the defaults by those of a process. */
struct grain_limits grain_limits_of(const struct grain_limits *limits, const struct profile_process *process);

/* Fills in the metrics and problems of a row whose other fields are known.  reference: execution of the same grain in
 * the reference run, in the unit of row->exec, or NAN.  counters: of the run. */
void grain_metrics_compute(const struct grain_limits *limits, double reference, const struct counter_names *counters,
                           struct grain_row *row);

#endif
