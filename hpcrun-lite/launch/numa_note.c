#include "hpcrun-lite/launch/numa_note.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 64, LINE_BYTES = 512 };

/* Reads the line of a node's file.  Returns whether it has one. */
static bool read_line(int node, const char *name, char line[LINE_BYTES])
{
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/%s", node, name);
  FILE *file = fopen(path, "re");
  bool read = file && fgets(line, LINE_BYTES, file);
  if (file)
    fclose(file);
  if (read)
    line[strcspn(line, "\n")] = '\0';
  return read;
}

/* The files of distances have an entry for each node, also for those without CPUs: then nothing is told. */
void numa_note(char *note, size_t size)
{
  char cpus[LINE_BYTES], distances[LINE_BYTES];
  int node = 0, length = snprintf(note, size, "NUMA: ");
  for (; node < NODES_MAX && read_line(node, "cpulist", cpus) && read_line(node, "distance", distances); node++) {
    for (char *at = distances; (at = strchr(at, ' '));)
      *at = ',';
    length += snprintf(note + length, size - (size_t)length, "%s%s %s", node ? "; " : "", cpus, distances);
    if (!*cpus || (size_t)length >= size)
      node = NODES_MAX;
  }
  if (node < 2 || node >= NODES_MAX)
    *note = '\0';
}
