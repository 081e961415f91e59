/* The NUMA nodes of a process's machine, as its notes name them.
 *
 * Context: BATCH.  The launcher writes a line "NUMA: CPUS DISTANCES; …" with an entry for each node, such as
 * "NUMA: 0-3,8 10,21; 4-7 21,10", if there are several nodes.  Notes are hostile: what cannot be read is left out.
 */
#ifndef HPCPROF_LITE_GRAINS_NUMA_H
#define HPCPROF_LITE_GRAINS_NUMA_H

#include <stdint.h>

enum { NUMA_NODES_MAX = 64, NUMA_CPUS_MAX = 4096, NUMA_NO_NODE = UINT8_MAX };

struct numa {
  uint32_t nodes; /* 0: one node, or not known */
  uint8_t node_of[NUMA_CPUS_MAX];
  uint16_t distance[NUMA_NODES_MAX][NUMA_NODES_MAX];
};

void numa_parse(const char *notes, struct numa *numa);

/* Returns the node of a CPU, NUMA_NO_NODE if it is not known. */
uint32_t numa_node(const struct numa *numa, uint32_t cpu);

/* Returns the median of the distances between two of some CPUs, of which there are counts[node] on each node; 0 if
 * there are fewer than two. */
uint32_t numa_median(const struct numa *numa, const uint64_t *counts);

#endif
