/* The NUMA nodes of this machine, as a note for reports.  Context: BATCH (the launcher). */
#ifndef HPCRUN_LITE_LAUNCH_NUMA_NOTE_H
#define HPCRUN_LITE_LAUNCH_NUMA_NOTE_H

#include <stddef.h>

/* Writes "NUMA: CPUS DISTANCES; ..." with an entry for each node, as hpcprof-lite/model/numa.h reads it; "" if there
 * are fewer than two nodes with CPUs, or if they cannot be found out. */
void numa_note(char *note, size_t size);

#endif
