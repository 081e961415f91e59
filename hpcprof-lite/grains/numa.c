#include "hpcprof-lite/grains/numa.h"

#include "common/order.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool number(const char **at, uint32_t *value)
{
  char *end;
  if (**at < '0' || **at > '9')
    return false;
  unsigned long read = strtoul(*at, &end, 10);
  *at = end;
  *value = (uint32_t)read;
  return read <= UINT16_MAX;
}

/* "0-3,8": the CPUs of a node. */
static bool read_cpus(const char **at, uint8_t node, struct numa *numa)
{
  assert(node < NUMA_NODES_MAX);
  do {
    uint32_t first, last;
    if (!number(at, &first))
      return false;
    last = first;
    if (**at == '-' && (++*at, !number(at, &last)))
      return false;
    for (uint32_t cpu = first; cpu <= last && cpu < NUMA_CPUS_MAX; cpu++)
      numa->node_of[cpu] = node;
  } while (**at == ',' && ++*at);
  return true;
}

/* Returns the number of distances of a node, 0 if the text does not describe one. */
static uint32_t read_node(const char **at, struct numa *numa)
{
  assert(numa->nodes < NUMA_NODES_MAX);
  uint32_t node = numa->nodes, distance, to = 0;
  if (!read_cpus(at, (uint8_t)node, numa) || **at != ' ')
    return 0;
  do {
    ++*at;
    if (to == NUMA_NODES_MAX || !number(at, &distance))
      return 0;
    numa->distance[node][to++] = (uint16_t)distance;
  } while (**at == ',');
  numa->nodes++;
  return to;
}

void numa_parse(const char *notes, struct numa *numa)
{
  static const char mark[] = "NUMA: ";
  memset(numa, 0, sizeof *numa);
  memset(numa->node_of, NUMA_NO_NODE, sizeof numa->node_of);
  const char *at = notes ? strstr(notes, mark) : NULL;
  if (!at || (at > notes && at[-1] != '\n'))
    return;
  at += sizeof mark - 1;
  uint32_t first = read_node(&at, numa), next = first;
  while (next && next == first && numa->nodes < NUMA_NODES_MAX && at[0] == ';' && at[1] == ' ') {
    at += 2;
    next = read_node(&at, numa);
  }
  if ((*at && *at != '\n') || next != first || numa->nodes != first || first < 2) /* it may have been cut off */
    numa->nodes = 0;
}

uint32_t numa_node(const struct numa *numa, uint32_t cpu)
{
  return numa->nodes && cpu < NUMA_CPUS_MAX ? numa->node_of[cpu] : NUMA_NO_NODE;
}

/* Returns how many pairs of CPUs have at most that distance. */
static double pairs_within(const struct numa *numa, const uint64_t *counts, uint32_t distance)
{
  assert(numa->nodes <= NUMA_NODES_MAX);
  double pairs = 0;
  for (uint32_t i = 0; i < numa->nodes; i++) {
    if (counts[i] && numa->distance[i][i] <= distance)
      pairs += (double)counts[i] * (double)(counts[i] - 1) / 2;
    for (uint32_t j = i + 1; j < numa->nodes; j++)
      if (numa->distance[i][j] <= distance)
        pairs += (double)counts[i] * (double)counts[j];
  }
  return pairs;
}

uint32_t numa_median(const struct numa *numa, const uint64_t *counts)
{
  double half = pairs_within(numa, counts, UINT16_MAX) / 2;
  return half > 0 ? (uint32_t)FIRST_WHERE(i, UINT16_MAX, pairs_within(numa, counts, (uint32_t)i) >= half) : 0;
}
