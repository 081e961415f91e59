/* The control groups that limit the CPU time of this process: its own and those around it, of both versions.
 *
 * Context: CTL (the library's start) and the launcher.  No state; the structure is the caller's.  What cannot be read,
 * or is not as the kernel writes it, is left out.
 */
#ifndef COMMON_CGROUP_H
#define COMMON_CGROUP_H

#include <stdint.h>

enum { CGROUP_GROUPS = 16, CGROUP_PATH_BYTES = 512 };

/* A group; of deeper hierarchies the innermost ones. */
struct cgroup {
  char directory[CGROUP_PATH_BYTES]; /* of its files */
  const char *name;                  /* in `directory`: the group as /proc/self/cgroup names it; "" for the root */
  uint32_t quota_milli;              /* CPUs that it may use at once on average, times 1000; 0: no limit */
};

struct cgroups {
  struct cgroup groups[CGROUP_GROUPS];
  unsigned count;
};

/* Finds the groups.  root: of the file systems /proc and /sys; "" but in tests. */
void cgroups_find(const char *root, struct cgroups *groups);

/* The group with the smallest quota; NULL: there is none. */
const struct cgroup *cgroups_limit(const struct cgroups *groups);

#endif
