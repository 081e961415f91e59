#define _GNU_SOURCE
#include "hpcrun-lite/process/config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "hpcrun-lite/process/message.h"

struct config config;

static const char *text(const char *name, const char *otherwise)
{
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

static int rank(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                      "SLURM_PROCID"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = text(names[i], NULL);
    if (value)
      return atoi(value);
  }
  return -1;
}

/* The launcher puts this library last, so that the user's tools come first. */
static bool other_tools(void)
{
  Dl_info own;
  const char *list = text("OMP_TOOL_LIBRARIES", NULL);
  if (!list || !dladdr(&config, &own) || !own.dli_fname)
    return false;
  size_t length = strlen(own.dli_fname);
  return strncmp(list, own.dli_fname, length) != 0 || (list[length] != ':' && list[length] != '\0');
}

static enum work_unit work_unit(const char *name)
{
  if (strcmp(name, "user") == 0)
    return WORK_USER;
  if (strcmp(name, "instructions") == 0)
    return WORK_INSTRUCTIONS;
  return strcmp(name, "cycles") == 0 ? WORK_CYCLES : WORK_CPU_TIME;
}

/* Is the process a daemon of an MPI library, which starts the ranks?  A program that runs without mpirun may start one.
 * The ranks that it starts are measured. */
static bool is_mpi_daemon(void)
{
  static const char *const names[] = {"orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy"};
  const char *path = (const char *)getauxval(AT_EXECFN), *slash = path ? strrchr(path, '/') : NULL;
  const char *name = slash ? slash + 1 : path;
  for (unsigned i = 0; name && i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

void config_read(void)
{
  char message[256];
  config = (struct config){.rank = -1, .note = "", .scaling = "", .numa = ""};
  const char *directory = text("HPCRUN_LITE_DIR", NULL);
  if (!directory || getauxval(AT_SECURE)) /* not in a setuid program */
    return;
  config.verbosity = atoi(text("HPCRUN_LITE_LOG", "1"));
  config.first_pid = atoi(text("HPCRUN_LITE_PID", "0"));
  if (is_mpi_daemon() && config.first_pid != getpid())
    return;
  config.note = text("HPCRUN_LITE_NOTE", "");
  config.scaling = text("HPCRUN_LITE_SCALING", "");
  config.numa = text("HPCRUN_LITE_NUMA", "");
  config.task_creation = strcmp(text("HPCRUN_LITE_TASKS", "region"), "creation") == 0;
  const char *parallelism = text("HPCRUN_LITE_PARALLELISM", "online");
  config.graph_log = strcmp(parallelism, "log") == 0;
  config.online = config.graph_log || strcmp(parallelism, "online") == 0;
  config.work_unit = work_unit(text("HPCRUN_LITE_WORK", "cpu-time"));
  const char *trace = text("HPCRUN_LITE_TRACE", "off");
  config.trace = strcmp(trace, "states") == 0    ? RT_TRACE_STATES
                 : strcmp(trace, "samples") == 0 ? RT_TRACE_SAMPLES
                                                 : RT_TRACE_OFF;
  config.trace_limit = strtoull(text("HPCRUN_LITE_TRACE_LIMIT", "1073741824"), NULL, 10);
  config.trace_keep_last = strcmp(text("HPCRUN_LITE_TRACE_KEEP", "first"), "last") == 0;
  config.paused = atoi(text("HPCRUN_LITE_PAUSED", "0")) != 0;
  const char *gomp = text("HPCRUN_LITE_GOMP", "on");
  config.gomp = strcmp(gomp, "off") != 0;
  config.gomp_static = strcmp(gomp, "static") == 0;
  config.exchanged = text("HPCRUN_LITE_RUNTIME", NULL) != NULL;
  config.tool_disabled = strcasecmp(text("OMP_TOOL", "enabled"), "disabled") == 0;
  config.other_tools = other_tools();
  config.rank = rank();
  int count = events_parse_list(text("HPCRUN_LITE_EVENTS", "task-clock@f200"), config.events, message, sizeof message);
  if (count <= 0) {
    message_print("%s: nothing is measured", message);
    return;
  }
  config.counter_count = counters_parse(text("HPCRUN_LITE_COUNT", ""), config.counters);
  config.event_count = (unsigned)count;
  config.directory = directory;
}
