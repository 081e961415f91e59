#include "common/glibc_names.h"
#include "common/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Version 2 has both numbers in one file, version 1 in two.  The first one may be "max" or -1: no limit. */
static uint32_t quota_of(const char *directory, bool second)
{
  static const char *const names[2][2] = {{"cpu.cfs_quota_us", "cpu.cfs_period_us"}, {"cpu.max", NULL}};
  double values[2] = {0, 0};
  int got = 0;
  for (int i = 0; i < 2 && names[second][i]; i++) {
    char path[CGROUP_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", directory, names[second][i]);
    FILE *file = fopen(path, "re");
    if (!file)
      return 0;
    got += second ? fscanf(file, "%lf %lf", &values[0], &values[1]) : fscanf(file, "%lf", &values[i]);
    fclose(file);
  }
  double milli = got == 2 && values[0] > 0 && values[1] > 0 ? 1000 * values[0] / values[1] : 0;
  return milli >= 1 && milli < UINT32_MAX ? (uint32_t)milli : 0;
}

static bool is_group(const char *directory)
{
  char path[CGROUP_PATH_BYTES + 32];
  snprintf(path, sizeof path, "%s/cpu.stat", directory);
  FILE *file = fopen(path, "re");
  if (file)
    fclose(file);
  return file != NULL;
}

/* Adds a group and those around it, up to the root. */
static void add_groups(struct cgroups *groups, const char *root, const char *mount, char *name, bool second)
{
  for (char *end = name; end && groups->count < CGROUP_GROUPS; *end = '\0') {
    struct cgroup *group = &groups->groups[groups->count];
    int start = snprintf(group->directory, sizeof group->directory, "%s%s", root, mount);
    int length = snprintf(group->directory, sizeof group->directory, "%s%s%s", root, mount, name);
    if (length < CGROUP_PATH_BYTES && is_group(group->directory)) {
      group->name = group->directory + start;
      group->quota_milli = quota_of(group->directory, second);
      groups->count++;
    }
    end = strrchr(name, '/');
    if (!end)
      return;
  }
}

/* Is "cpu" in a list such as "cpu,cpuacct"? */
static bool has_cpu(const char *list)
{
  for (size_t length; *list; list += length + (list[length] == ',')) {
    length = strcspn(list, ",");
    if (length == 3 && !memcmp(list, "cpu", 3))
      return true;
  }
  return false;
}

void cgroups_find(const char *root, struct cgroups *groups)
{
  char line[PATH_MAX], path[CGROUP_PATH_BYTES];
  groups->count = 0;
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *list = strchr(line, ':'), *name = list ? strchr(list + 1, ':') : NULL;
    if (!name)
      continue;
    *name++ = '\0';
    size_t length = strlen(name);
    if (length && name[length - 1] == '/')
      name[length - 1] = '\0';
    if (list[1] == '\0')
      add_groups(groups, root, "/sys/fs/cgroup", name, true);
    else if (has_cpu(list + 1))
      add_groups(groups, root, "/sys/fs/cgroup/cpu", name, false);
  }
  if (file)
    fclose(file);
}

const struct cgroup *cgroups_limit(const struct cgroups *groups)
{
  const struct cgroup *limit = NULL;
  for (unsigned i = 0; i < groups->count; i++) {
    const struct cgroup *group = &groups->groups[i];
    if (group->quota_milli && (!limit || group->quota_milli < limit->quota_milli))
      limit = group;
  }
  return limit;
}
