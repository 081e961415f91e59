#include "common/glibc_names.h"
#include "common/topology.h"

#include <stdbool.h>
#include <stdio.h>

enum { PATH_BYTES = 512, WORD_BITS = 64 };

/* The first number in a file; -1: there is none. */
static long first_number(const char *path)
{
  long number = -1;
  FILE *file = fopen(path, "re");
  if (!file)
    return -1;
  if (fscanf(file, "%ld", &number) != 1 || number < 0)
    number = -1;
  fclose(file);
  return number;
}

static bool contains(const uint64_t *set, unsigned words, long cpu)
{
  return cpu < (long)words * WORD_BITS && set[cpu / WORD_BITS] >> cpu % WORD_BITS & 1;
}

/* A core counts at the first of its CPUs that is in the set: the first one of all identifies it. */
uint32_t topology_cores(const char *root, const uint64_t *set, unsigned words)
{
  char path[PATH_BYTES];
  uint64_t seen[words];
  uint32_t cores = 0, cpus = 0;
  for (unsigned i = 0; i < words; i++) {
    seen[i] = 0;
    cpus += (uint32_t)__builtin_popcountll(set[i]);
  }
  snprintf(path, sizeof path, "%s/sys/devices/system/cpu/smt/active", root);
  if (first_number(path) == 0)
    return cpus;
  for (long cpu = 0; cpu < (long)words * WORD_BITS; cpu++) {
    if (!contains(set, words, cpu))
      continue;
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", root, cpu);
    long first = first_number(path);
    if (first < 0 || first >= (long)words * WORD_BITS)
      return 0;
    cores += !contains(seen, words, first);
    seen[first / WORD_BITS] |= 1ull << first % WORD_BITS;
  }
  return cores;
}
