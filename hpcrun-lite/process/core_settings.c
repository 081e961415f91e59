#include "hpcrun-lite/process/core_settings.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/cgroup.h"
#include "common/topology.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/sampling/core_limits.h"

/* Adds a line.  The text of a line that does not fit is left out as a whole. */
static void add_line(const char *name, const char *value)
{
  size_t length = strlen(process.limits), room = sizeof process.limits - length;
  int needed = snprintf(process.limits + length, room, "%s%s=%s", length ? "\n" : "", name, value);
  if (needed < 0 || (size_t)needed >= room)
    process.limits[length] = '\0';
}

void core_settings_find(void)
{
  static struct cgroups groups; /* large */
  cgroups_find("", &groups);
  const struct cgroup *limit = cgroups_limit(&groups);
  process_note_mask();
  process.cores = topology_cores("", process.launch_mask, FORMAT_MASK_WORDS);
  process.limits[0] = '\0';
  process.quota_milli = limit ? limit->quota_milli : 0;
  if (limit)
    add_line("cgroup", limit->name[0] ? limit->name : "/");
  for (unsigned i = 0; i < CONFIG_BINDING; i++)
    if (config.binding[i])
      add_line(config_binding_names[i], config.binding[i]);
  core_limits_start();
  for (unsigned i = 0; i < groups.count; i++) {
    char path[CGROUP_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/cpu.stat", groups.groups[i].directory);
    core_limits_watch(path);
  }
}
