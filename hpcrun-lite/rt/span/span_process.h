/* What this layer keeps of the process: whether work and span are computed, and in which unit.
 *
 * Context: RT and CTL.  CTL writes the plain fields before the first sample, and all threads read them.  log: written
 * by CTL, relaxed; it takes effect at the next event. */
#ifndef HPCRUN_LITE_RT_SPAN_SPAN_PROCESS_H
#define HPCRUN_LITE_RT_SPAN_SPAN_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The unit in which work is counted. */
enum work_unit { WORK_CPU_TIME, WORK_USER, WORK_INSTRUCTIONS, WORK_CYCLES };

extern struct span_process {
  _Alignas(64) bool online; /* work and span are computed */
  atomic_bool log;          /* the operations that compute them are also logged to a file */
  enum work_unit work_unit;
  uint32_t overhead_limit; /* percent of a thread's time that following its events may cost: see span/governor.h */
} span_process __attribute__((visibility("hidden")));

#endif
