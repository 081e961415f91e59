#define _GNU_SOURCE
#include "common/glibc_names.h"
#include "hpcrun-lite/process/config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/filter_text.h"
#include "hpcrun-lite/process/message.h"

struct config config;
struct preloaded preloaded;

/* ---- the environment ---- */

/* The section of HPCRUN_LITE_PROGRAMS for this executable: VARIABLE=VALUE, each with a NUL at its end, and one more. */
static char own_section[4096 + 2];

static const char *executable(void)
{
  const char *path = (const char *)getauxval(AT_EXECFN), *slash = path ? strrchr(path, '/') : NULL;
  if (slash)
    return slash + 1;
  return path ? path : "";
}

/* Copies the section of the executable with that name; hpcrun-lite/launch/configuration/program_settings.h describes
 * the text. */
static void find_own_section(const char *name)
{
  static const char mark[] = "program ";
  const char *line = getenv("HPCRUN_LITE_PROGRAMS"), *end;
  bool own = false;
  size_t used = 0;
  memset(own_section, 0, sizeof own_section);
  for (; line && *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    size_t length = (size_t)(end - line), skip = sizeof mark - 1;
    if (length >= skip && !strncmp(line, mark, skip)) {
      own = strlen(name) == length - skip && !strncmp(line + skip, name, length - skip);
    } else if (own && used + length + 2 < sizeof own_section) {
      if (used && (*line < 'A' || *line > 'Z')) /* goes on with the filter */
        own_section[used - 1] = '\n';
      memcpy(own_section + used, line, length);
      used += length + 1;
    }
  }
}

/* The value of a variable; that of the executable's own section first, if the tool has set it. */
static const char *text(const char *name, const char *otherwise)
{
  static const char prefix[] = "HPCRUN_LITE_";
  size_t skip = strncmp(name, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1, length = strlen(name) - skip;
  for (const char *at = own_section; skip && *at; at += strlen(at) + 1)
    if (!strncmp(at, name + skip, length) && at[length] == '=')
      return at[length + 1] ? at + length + 1 : otherwise;
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

const char *const config_binding_names[CONFIG_BINDING] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                                          "KMP_AFFINITY", "OMP_NUM_THREADS"};

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
  const char *list = text("OMP_TOOL_LIBRARIES", NULL);
  size_t length = strlen(preloaded.library);
  return list && length &&
         (strncmp(list, preloaded.library, length) != 0 || (list[length] != ':' && list[length] != '\0'));
}

static void find_preloaded(void)
{
  Dl_info own;
  const char *runtime = getenv("HPCRUN_LITE_RUNTIME");
  if (dladdr(&config, &own) && own.dli_fname && strlen(own.dli_fname) < sizeof preloaded.library)
    strcpy(preloaded.library, own.dli_fname);
  const char *slash = strrchr(preloaded.library, '/');
  snprintf(preloaded.mpi, sizeof preloaded.mpi, "%.*slibhpcrun-lite-mpi.so",
           slash ? (int)(slash + 1 - preloaded.library) : 0, preloaded.library);
  if (runtime && strlen(runtime) < sizeof preloaded.runtime)
    strcpy(preloaded.runtime, runtime);
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
  const char *name = executable();
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

/* Does the filter of ranks let this process be measured?  One without a rank always is. */
static bool rank_wanted(void)
{
  const char *at = config.filter;
  struct filter_line line;
  bool wanted = true;
  while (config.rank >= 0 && filter_text_next(&at, &line))
    if (line.key == FILTER_KEY_RANKS)
      wanted = filter_list_has(line.value, (uint64_t)config.rank);
  return wanted;
}

void config_read(void)
{
  char message[256];
  config = (struct config){.rank = -1, .note = "", .scaling = "", .numa = "", .filter = "", .launcher = ""};
  const char *directory = text("HPCRUN_LITE_DIR", NULL);
  find_preloaded();
  if (!directory || getauxval(AT_SECURE)) /* not in a setuid program */
    return;
  config.directory_inode = strtoull(text("HPCRUN_LITE_DIR_INODE", "0"), NULL, 10);
  config.verbosity = atoi(text("HPCRUN_LITE_LOG", "1"));
  config.first_pid = atoi(text("HPCRUN_LITE_PID", "0"));
  if (is_mpi_daemon() && config.first_pid != getpid())
    return;
  config.program = executable();
  find_own_section(config.program);
  config.note = text("HPCRUN_LITE_NOTE", "");
  config.scaling = text("HPCRUN_LITE_SCALING", "");
  config.numa = text("HPCRUN_LITE_NUMA", "");
  for (unsigned i = 0; i < CONFIG_BINDING; i++)
    config.binding[i] = text(config_binding_names[i], NULL);
  config.task_creation = strcmp(text("HPCRUN_LITE_TASKS", "region"), "creation") == 0;
  const char *parallelism = text("HPCRUN_LITE_PARALLELISM", "online");
  config.graph_log = strcmp(parallelism, "log") == 0;
  config.online = config.graph_log || strcmp(parallelism, "online") == 0;
  config.work_unit = work_unit(text("HPCRUN_LITE_WORK", "cpu-time"));
  config.overhead_limit = (unsigned)strtoul(text("HPCRUN_LITE_OVERHEAD_LIMIT", "100"), NULL, 10);
  const char *trace = text("HPCRUN_LITE_TRACE", "off");
  if (strcmp(trace, "states") == 0)
    config.trace = RT_TRACE_STATES;
  else if (strcmp(trace, "samples") == 0)
    config.trace = RT_TRACE_SAMPLES;
  config.memory_limit = strtoull(text("HPCRUN_LITE_MEMORY_LIMIT", "0"), NULL, 10);
  config.trace_limit = strtoull(text("HPCRUN_LITE_TRACE_LIMIT", "1073741824"), NULL, 10);
  config.trace_keep_last = strcmp(text("HPCRUN_LITE_TRACE_KEEP", "first"), "last") == 0;
  const char *level = text("HPCRUN_LITE_LEVEL", "samples");
  config.paused = atoi(text("HPCRUN_LITE_PAUSED", "0")) != 0 || strcmp(level, "off") == 0;
  config.unsampled = strcmp(level, "summary") == 0;
  config.no_arguments = strcmp(text("HPCRUN_LITE_ARGUMENTS", "yes"), "no") == 0;
  config.keep_symbols = strcmp(text("HPCRUN_LITE_KEEP_SYMBOLS", "no"), "yes") == 0;
  const char *gomp = text("HPCRUN_LITE_GOMP", "on");
  config.gomp = strcmp(gomp, "off") != 0;
  config.gomp_static = strcmp(gomp, "static") == 0;
  config.exchanged = text("HPCRUN_LITE_RUNTIME", NULL) != NULL;
  config.tool_disabled = strcasecmp(text("OMP_TOOL", "enabled"), "disabled") == 0;
  config.other_tools = other_tools();
  config.rank = rank();
  config.filter = text("HPCRUN_LITE_FILTER", "");
  config.launcher = text("HPCRUN_LITE_LAUNCHER", "");
  if (!filter_text_check(config.filter, message, sizeof message)) {
    message_print("%s: nothing is measured", message);
    return;
  }
  if (!rank_wanted())
    return;
  int count = events_parse_list(text("HPCRUN_LITE_EVENTS", "task-clock@f200"), config.events, message, sizeof message);
  if (count <= 0) {
    message_print("%s: nothing is measured", message);
    return;
  }
  config.counter_count = counters_parse(text("HPCRUN_LITE_COUNT", ""), config.counters, &config.count_locks);
  config.event_count = (unsigned)count;
  config.directory = directory;
}
