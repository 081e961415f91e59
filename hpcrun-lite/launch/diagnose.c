#include "hpcrun-lite/launch/diagnose.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/launch/program/child.h"
#include "hpcrun-lite/launch/finding.h"
#include "hpcrun-lite/launch/events/perf_check.h"
#include "hpcrun-lite/launch/safety/safe_directory.h"
#include "hpcrun-lite/launch/surroundings.h"

#define ATTACHED "using the OMPT interface" /* libomp prints it with OMP_TOOL_VERBOSE_INIT if a tool is active */
#define NAMED_MAX 3                         /* modules that are named before an ellipsis */
#define DEBUG_ROOT "/usr/lib/debug"
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* ---- events ---- */

/* Ticks a second of the kernel: the coarse clocks advance at each tick. */
static long kernel_hz(void)
{
  struct timespec tick;
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec > 0 || tick.tv_nsec <= 0)
    return 100;
  return 1000000000L / tick.tv_nsec;
}

/* Returns whether timers replace perf_event. */
static bool diagnose_cpu_time(const struct event *event)
{
  int error = perf_check_open(event, false), paranoid = perf_check_paranoid();
  bool denied = perf_check_obstacle(error) == PERF_DENIED;
  if (error == 0)
    finding(true, "events", "%s: perf_event, time in the kernel included", event->name);
  else if (denied && (paranoid <= 1 || geteuid() == 0))
    finding(false, "events",
            "%s: CPU-time timers, at most %ld samples a second (perf_event is denied by a container's seccomp or "
            "capabilities): start the container with --cap-add PERFMON, and a seccomp profile that allows it",
            event->name, kernel_hz());
  else if (denied)
    finding(false, "events",
            "%s: CPU-time timers, at most %ld samples a second (kernel.perf_event_paranoid is %d): "
            "sysctl kernel.perf_event_paranoid=1",
            event->name, kernel_hz(), paranoid);
  else
    finding(false, "events", "%s: CPU-time timers, at most %ld samples a second (no perf_event here: %s)", event->name,
            kernel_hz(), strerror(error));
  return error != 0;
}

/* Returns whether samples come from timers. */
static bool diagnose_events(const struct plan *plan)
{
  bool timers = false;
  for (int i = 0; i < plan->event_count; i++) {
    const struct event *event = &plan->events[i];
    char message[512];
    timers |= event->clock == EVENT_WALL_TIME;
    if (event->clock == EVENT_CPU_TIME)
      timers |= diagnose_cpu_time(event);
    else if (perf_check_event(event, message, sizeof message) == 0)
      finding(true, "events", "%s: available", event->name);
    else
      finding(false, "events", "%s", message);
  }
  return timers;
}

static void diagnose_counters(const struct plan *plan)
{
  char names[COUNTERS_TEXT_MAX] = "";
  for (unsigned i = 0; i < plan->counted.count; i++) {
    const struct counter *counter = &plan->counted.counters[i];
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s%s", i ? ", " : "", counter->name, counters_how(counter));
  }
  if (names[0])
    finding(true, "counters", "counted: %s", names);
  else if (count_events_hardware())
    finding(true, "counters",
            "no hardware counters that can be used (virtual machines often have none): -c counts software events, such "
            "as page-faults; see --list-events");
  else
    finding(true, "counters", "-c can count events of the hardware and of the kernel: see --list-events");
}

static void diagnose_work(const struct plan *plan)
{
  char message[512];
  if (perf_check_work(plan->work, message, sizeof message) != 0)
    finding(false, "work", "%s", message);
  else if (strcmp(plan->work, "cpu-time") != 0 && strcmp(plan->work, "user") != 0)
    finding(true, "work", "%s: counted by the hardware, in user mode", plan->work);
}

/* ---- the OpenMP runtime ---- */

/* Is it libgomp that will be measured, through the adapter? */
static bool measures_libgomp(const struct runtime_choice *choice)
{
  return choice->own == RUNTIME_GOMP && choice->preload[0] == '\0' && choice->adapter != GOMP_OFF;
}

static void diagnose_runtime(const struct plan *plan)
{
  const struct runtime_choice *choice = &plan->choice;
  if (choice->note[0] != '\0')
    finding(choice->preload[0] != '\0', "runtime", "%s", choice->note);
  else if (measures_libgomp(choice))
    finding(true, "runtime", "%s: measured at the program's calls", choice->own_path);
  else if (choice->own != RUNTIME_NONE && !choice->own_has_chunks)
    finding(true, "runtime",
            "%s is kept: it does not report chunks of loops, which are measured at the program's calls",
            choice->own_path);
  else if (choice->own != RUNTIME_NONE)
    finding(true, "runtime", "%s is kept: it supports what is measured", choice->own_path);
  else if (choice->adapter != GOMP_STATIC)
    finding(true, "runtime", "no OpenMP runtime among its libraries; if the program loads one later, %s is measured",
            choice->adapter == GOMP_ON ? "it" : "only LLVM's or Intel's");
  if (choice->warning[0] != '\0')
    finding(false, "runtime", "%s", choice->warning);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
  (void)status, (void)type, (void)walk;
  return remove(path);
}

/* The launcher's environment with the settings of a launch into directory. */
static char **probe_environment(const struct plan *plan, const char *directory)
{
  static char preload[PLAN_VALUE_BYTES + 16], tools[PLAN_VALUE_BYTES + 32], place[PATH_MAX + 64];
  static const char *const without[] = {"LD_PRELOAD=", "OMP_TOOL_LIBRARIES=", "HPCRUN_LITE_", "OMP_TOOL_VERBOSE_INIT="};
  char *const settings[] = {preload,
                            tools,
                            place,
                            (char *)"OMP_TOOL_VERBOSE_INIT=stdout",
                            (char *)"HPCRUN_LITE_LOG=0",
                            (char *)"HPCRUN_LITE_EVENTS=task-clock"};
  size_t count;
  char **list = child_environment(without, LENGTH(without), LENGTH(settings), &count);
  if (!list)
    return NULL;
  strcpy(preload, "LD_PRELOAD=");
  plan_preload_value(plan, preload + strlen(preload), sizeof preload - strlen(preload));
  strcpy(tools, "OMP_TOOL_LIBRARIES=");
  plan_tools_value(plan, tools + strlen(tools), sizeof tools - strlen(tools));
  snprintf(place, sizeof place, "HPCRUN_LITE_DIR=%s", directory);
  memcpy(list + count, settings, sizeof settings);
  return list;
}

/* Runs "hpcrun-lite --probe RUNTIME" as a launch would run a program, and reads what the runtime prints about tools,
 * and where a call to libgomp leads. */
static bool probe_attaches(const struct plan *plan, const char *runtime, const char *directory)
{
  static char output[65536], entry[PATH_MAX + 32];
  char *arguments[] = {(char *)"/proc/self/exe", (char *)"--probe", (char *)runtime, NULL};
  char **environment = probe_environment(plan, directory);
  size_t used = 0;
  ssize_t got;
  int fd;
  pid_t pid = environment ? child_start(arguments, environment, &fd) : -1;
  free(environment);
  if (pid < 0)
    return false;
  while (used < sizeof output - 1 && (got = read(fd, output + used, sizeof output - 1 - used)) > 0)
    used += (size_t)got;
  output[used] = '\0';
  close(fd);
  waitpid(pid, NULL, 0);
  snprintf(entry, sizeof entry, "first entry: %s\n", plan->library);
  if (measures_libgomp(&plan->choice))
    return strstr(output, entry) != NULL;
  return strstr(output, ATTACHED) && strstr(output, plan->library);
}

/* What is known beforehand to keep the tool from the runtime's events; NULL: nothing. */
static const char *known_obstacle(const struct runtime_choice *choice)
{
  if (runtime_tool_disabled())
    return "unset OMP_TOOL (it is disabled)";
  if (choice->tool[0] != '\0' && (choice->own != RUNTIME_GOMP || choice->preload[0] != '\0'))
    return "the program's own tool takes its place, if that starts";
  if (choice->own == RUNTIME_GOMP && choice->preload[0] == '\0' && choice->adapter == GOMP_OFF)
    return "--omp-runtime auto measures it";
  return NULL;
}

/* Makes a directory for trials, with a link to the installation if one is needed.  Returns false after reporting. */
static bool begin_trials(struct plan *plan, char directory[PATH_MAX])
{
  char place[PATH_MAX], message[1024];
  if (!safe_directory_temporary(false, place, sizeof place, message, sizeof message) ||
      plan_make_preloadable(plan, message, sizeof message) != LAUNCH_OK) {
    finding(false, "attach", "not tested: %s", message);
    return false;
  }
  snprintf(directory, PATH_MAX, "%.4000s/hpcrun-lite-diagnose-XXXXXX", place);
  if (!mkdtemp(directory)) {
    finding(false, "attach", "not tested: cannot create %s: %s", directory, strerror(errno));
    return false;
  }
  return true;
}

static void end_trials(const char *directory)
{
  nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns whether the dynamic loader can load the program's auditors and what is preloaded. */
static bool diagnose_auditors(const struct plan *plan)
{
  char message[1024];
  if (!program_has_auditors(&plan->program))
    return true;
  bool fits = plan_check_auditors(plan, message, sizeof message) == LAUNCH_OK;
  finding(fits, "auditors", "%s", fits ? "tested: they leave enough static thread-local storage" : message);
  return fits;
}

/* runtime: its path.  tested: what is tested, which may be a link to it. */
static void diagnose_attach(const struct plan *plan, const char *runtime, const char *tested, const char *directory)
{
  if (probe_attaches(plan, tested, directory))
    finding(true, "attach", "tested: the tool attaches to %s", runtime);
  else if (measures_libgomp(&plan->choice))
    finding(false, "attach", "tested: calls to %s do not reach the tool (another library defines its functions first)",
            runtime);
  else
    finding(false, "attach", "tested: %s does not start the tool (built without OMPT, or another tool comes first)",
            runtime);
}

/* What is tested by running something.  Returns false if the program would not start. */
static bool diagnose_trials(struct plan *plan)
{
  char directory[PATH_MAX], runtime[PATH_MAX];
  const char *tested = plan->choice.preload[0] ? plan->choice.preload : plan->choice.own_path;
  const char *obstacle = known_obstacle(&plan->choice);
  snprintf(runtime, sizeof runtime, "%s", tested); /* plan_make_preloadable() may replace it by a link */
  bool attaches = runtime[0] != '\0' && !obstacle, starts = true;
  if (runtime[0] == '\0')
    finding(true, "attach", "nothing to attach to: samples and call paths only");
  else if (obstacle)
    finding(false, "attach",
            "the tool does not attach to %s: workers' call paths lack the caller of their region, and work and span "
            "are not known; %s",
            runtime, obstacle);
  if ((!attaches && !program_has_auditors(&plan->program)) || !begin_trials(plan, directory))
    return true;
  starts = diagnose_auditors(plan);
  if (starts && attaches)
    diagnose_attach(plan, runtime, tested, directory);
  end_trials(directory);
  return starts;
}

/* ---- code: unwinding and names ---- */

/* Counts modules and keeps the first few names. */
struct tally {
  size_t count;
  char names[256];
};

static void tally_add(struct tally *tally, const char *path)
{
  size_t used = strlen(tally->names);
  if (tally->count < NAMED_MAX)
    snprintf(tally->names + used, sizeof tally->names - used, "%s%s", used ? ", " : "", path_base(path));
  if (tally->count == NAMED_MAX)
    snprintf(tally->names + used, sizeof tally->names - used, ", …");
  tally->count++;
}

/* Does a separate debug file exist: by build id, or by the link's name beside the module or in .debug/? */
static bool has_debug_file(const char *module, const struct elf_facts *facts)
{
  char path[2 * PATH_MAX];
  int directory_length = (int)(path_base(module) - module);
  if (facts->build_id_size > 1) {
    int length = snprintf(path, sizeof path, DEBUG_ROOT "/.build-id/%02x/", facts->build_id[0]);
    for (uint32_t i = 1; i < facts->build_id_size; i++)
      length += snprintf(path + length, sizeof path - (size_t)length, "%02x", facts->build_id[i]);
    snprintf(path + length, sizeof path - (size_t)length, ".debug");
    if (access(path, R_OK) == 0)
      return true;
  }
  if (facts->debug_link[0] == '\0')
    return false;
  static const char *const places[] = {"", ".debug/"};
  for (size_t i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%.*s%s%s", directory_length, module, places[i], facts->debug_link);
    if (access(path, R_OK) == 0 && strcmp(path, module) != 0)
      return true;
  }
  snprintf(path, sizeof path, DEBUG_ROOT "%.*s%s", directory_length, module, facts->debug_link);
  return access(path, R_OK) == 0;
}

static void diagnose_image(const struct program *program)
{
  const struct elf_facts *facts = &program->facts;
  const char *name = path_base(program->image);
  if (!program->is_readable)
    finding(false, "symbols", "%s cannot be read: no names; chmod +r", name);
  else if (facts->has_lines || has_debug_file(program->image, facts))
    finding(true, "symbols", "%s: functions, source lines, inlined calls", name);
  else if (facts->has_symbols)
    finding(false, "symbols", "%s: functions but no source lines: compile with -g", name);
  else
    finding(false, "symbols",
            "%s is stripped: exported names only; compile with -g and do not strip, or install its debug file", name);
}

static void diagnose_modules(const struct program *program)
{
  struct tally blind = {0}, nameless = {0};
  for (size_t i = 0; i < program->module_count; i++) {
    struct elf_facts facts;
    if (elf_facts_read(program->modules[i], &facts) != 0 || !facts.is_elf)
      continue;
    if (facts.has_code && !facts.has_unwind_index)
      tally_add(&blind, program->modules[i]);
    if (i > 0 && facts.has_code && !facts.has_symbols && !facts.has_lines &&
        !has_debug_file(program->modules[i], &facts))
      tally_add(&nameless, program->modules[i]);
  }
  if (blind.count > 0)
    finding(
        false, "unwinding",
        "%zu of %zu modules have no .eh_frame_hdr (%s): callers of their code are guessed, or call paths cut short; "
        "compile with -fasynchronous-unwind-tables",
        blind.count, program->module_count, blind.names);
  else if (program->module_count > 0)
    finding(true, "unwinding",
            "all %zu modules have call frame information; callers of assembler and generated code may be guessed",
            program->module_count);
  diagnose_image(program);
  if (nameless.count > 0)
    finding(true, "libraries",
            "%zu of %zu have exported names only (%s); debug files (-dbgsym packages) add the others", nameless.count,
            program->module_count - 1, nameless.names);
}

int diagnose(struct plan *plan, enum launch_status status, const char *message)
{
  const struct program *program = &plan->program;
  if (program->path[0] == '\0' || (status != LAUNCH_OK && !program->is_readable)) {
    finding(false, "program", "%s", message[0] ? message : "cannot be examined");
    return 1;
  }
  if (program->is_script)
    finding(true, "program",
            "%s, a script run by %s: the programs that it starts are measured too, but not examined here; diagnose "
            "them separately",
            program->path, program->image);
  else
    finding(true, "program", "%s", program->path);
  if (status != LAUNCH_OK)
    finding(false, "preload", "%s", message);
  else if (!program->is_complete && program->is_readable)
    finding(false, "preload", "possible, but the dynamic loader does not find all libraries: see ldd %s",
            program->image);
  else
    finding(true, "preload", "possible: dynamically linked for " MACHINE_NAME ", no change of privileges");
  bool timers = diagnose_events(plan);
  diagnose_work(plan);
  diagnose_counters(plan);
  surroundings_cores();
  surroundings_limits(timers);
  const struct directory_request directory = plan_directory(plan);
  bool accepted = surroundings_directory(&directory);
  surroundings_others(plan);
  bool measured = accepted && status == LAUNCH_OK && !program->has_thread_sanitizer;
  if (measured) {
    diagnose_runtime(plan);
    measured = diagnose_trials(plan);
  }
  diagnose_modules(program);
  finding(measured, "verdict", "%s", measured ? "will be measured" : "will not be measured");
  return measured ? 0 : 1;
}
