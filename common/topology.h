/* Cores of the machine, of which each can be several CPUs (hardware threads, SMT).
 *
 * Context: CTL (the library's start).  No state.  Reads a file for each CPU, but only where SMT is in use.
 */
#ifndef COMMON_TOPOLOGY_H
#define COMMON_TOPOLOGY_H

#include <stdint.h>

/* How many cores the CPUs of a set are; 0: not known.  root: of the file system /sys; "" but in tests. */
uint32_t topology_cores(const char *root, const uint64_t *set, unsigned words);

#endif
