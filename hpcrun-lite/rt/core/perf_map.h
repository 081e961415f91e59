/* Names of generated code: what a just-in-time compiler writes to /tmp/perf-PID.map is copied into the measurement.
 *
 * The copy is made when the first sample is in generated code, again after 50 ms, and each time after twice as long up
 * to a minute, if the map has changed and there are such samples; and at the end of the process.  A sample copies
 * 256 KiB at most, and the next ones go on, so that no handler takes long; the copy has its name once it is complete,
 * the one at the end at once.  So the names are there if the process is killed or removes its map.  The map is used
 * only if it is a regular file of the user of at most 16 MiB that is newer than the process.
 *
 * Context: RT; perf_map_start() and perf_map_finish() CTL.  One thread at a time copies; the others do not wait.  All
 * memory is static.  A map that cannot be copied is tried again the next time. */
#ifndef HPCRUN_LITE_RT_CORE_PERF_MAP_H
#define HPCRUN_LITE_RT_CORE_PERF_MAP_H

#include <stdint.h>

/* Begins a process, new or forked.  path: of the copy; part: of the copy until it is complete. */
void perf_map_start(const char *path, const char *part, int pid, uint64_t start_realtime_ns);

/* A sample is in generated code. */
void perf_map_sampled(void);

/* Copies the map once more, if samples were in generated code. */
void perf_map_finish(void);

#endif
