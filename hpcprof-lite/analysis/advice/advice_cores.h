/* Finds what keeps a process from the cores of the machine: its binding, the mask that it was started with, a quota.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_CORES_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_CORES_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

/* Adds threads that share fewer CPUs than they could use, and threads that a quota stopped.  Returns whether the former
 * was added: then waiting says nothing about the program, because a thread that waits leaves its CPU to another one. */
bool advice_cores_find(struct advice_run *run);

/* Sets the place and the remedy of too many threads in a process, at that position, as its teams are written. */
void advice_cores_place(const struct advice_run *run, uint32_t process, struct advice_finding *found);

#endif
