/* hpcrun-lite-inspect: the launcher's helper, run once for each launch.
 *
 *   hpcrun-lite-inspect plan KEY=VALUE... -- [COMMAND ARG...]   print the settings as lines for the shell to evaluate
 *   hpcrun-lite-inspect diagnose KEY=VALUE... -- COMMAND ...    print what stands in the way of measuring, run nothing
 *   hpcrun-lite-inspect exec NAME=VALUE... -- COMMAND ...       run COMMAND with settings that a shell cannot make
 *   hpcrun-lite-inspect probe LIBRARY                           start that OpenMP runtime, so that it looks for tools
 *
 * Keys: output, overwrite, events, tasks, parallelism, work, paused, runtime,
 * log, env, launcher (its process id), preload (the user's LD_PRELOAD).
 * Everything on standard output is meant for the launcher or the user of --env and --diagnose; failures are one line on
 * standard error, and the exit status is the launcher's.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "hpcrun-lite/launch/directory.h"
#include "hpcrun-lite/launch/perf_check.h"
#include "hpcrun-lite/launch/plan.h"

#ifndef LIBRARY_FROM_HELPER
#error "LIBRARY_FROM_HELPER: where the library's directory is, seen from the helper's"
#endif
#ifndef PRIVATE_LIBOMP_VERSION
#define PRIVATE_LIBOMP_VERSION ""
#endif

#define SETTING_BYTES 65536
#define ENVIRONMENT_BYTES_MAX (8u << 20)

static int fail(enum launch_status status, const char *message)
{
  fprintf(stderr, "hpcrun-lite: %s\n", message);
  return status;
}

/* ---- where things are ---- */

/* Where the helper stands, in PATH_MAX bytes.  Not by /proc/self/exe: a container may lack /proc. */
static void own_path(char *path)
{
  if (!realpath((const char *)getauxval(AT_EXECFN), path))
    path[0] = '\0';
}

/* The library and the private libomp, found from the helper's own place, so that an installation may be moved. */
static enum launch_status find_installation(struct plan *plan, char *message, size_t message_size)
{
  char self[PATH_MAX], path[2 * PATH_MAX];
  own_path(self);
  char *slash = strrchr(self, '/');
  if (slash)
    *slash = '\0';
  snprintf(path, sizeof path, "%s/%s/libhpcrun-lite.so", self, LIBRARY_FROM_HELPER);
  if (!realpath(path, plan->library)) {
    snprintf(message, message_size, "incomplete installation: %.400s is missing; install it again", path);
    return LAUNCH_FAILED;
  }
  if (strpbrk(plan->library, " :$;\t\n")) {
    snprintf(message, message_size,
             "installed in '%.400s': LD_PRELOAD cannot name a path with spaces, ':' or '$'; move it", plan->library);
    return LAUNCH_FAILED;
  }
  snprintf(path, sizeof path, "%s/%s/omp/libomp.so.5", self, LIBRARY_FROM_HELPER);
  if (!realpath(path, plan->private_libomp))
    plan->private_libomp[0] = '\0';
  return LAUNCH_OK;
}

/* ---- list variables ---- */

/* Appends "SEPARATOR item", unless item is empty. */
static void append_item(char *value, size_t size, const char *item, size_t item_length)
{
  size_t length = strlen(value);
  if (item_length > 0 && length + item_length + 2 <= size)
    snprintf(value + length, size - length, "%s%.*s", length ? ":" : "", (int)item_length, item);
}

static bool equals(const char *item, size_t length, const char *path)
{
  return path && strlen(path) == length && strncmp(item, path, length) == 0;
}

/* Appends the items of a list that an outer launch has not put there. */
static void append_foreign_items(char *value, size_t size, const char *list, const char *separators,
                                 const char *library)
{
  const char *outer_runtime = getenv("HPCRUN_LITE_RUNTIME");
  while (list && *list) {
    size_t length = strcspn(list, separators);
    if (!equals(list, length, library) && !equals(list, length, outer_runtime))
      append_item(value, size, list, length);
    list += length;
    list += strspn(list, separators);
  }
}

void plan_preload_value(const struct plan *plan, char *value, size_t size)
{
  value[0] = '\0';
  append_item(value, size, plan->library, strlen(plan->library));
  append_item(value, size, plan->choice.preload, strlen(plan->choice.preload));
  append_foreign_items(value, size, plan->user_preload, ": ", plan->library);
}

void plan_tools_value(const struct plan *plan, char *value, size_t size)
{
  value[0] = '\0';
  append_item(value, size, plan->library, strlen(plan->library));
  append_foreign_items(value, size, getenv("OMP_TOOL_LIBRARIES"), ":", plan->library);
}

/* ---- what the shell is to do ---- */

static void print_quoted(const char *text)
{
  putchar('\'');
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*text);
  }
  putchar('\'');
}

static bool is_shell_name(const char *assignment)
{
  size_t length = strcspn(assignment, "=");
  if (length == 0 || isdigit((unsigned char)assignment[0]))
    return false;
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)assignment[i]) && assignment[i] != '_')
      return false;
  return true;
}

/* The environment that the launcher was started with: NUL-separated assignments.  NULL where it cannot be read. */
static char *read_environment(long pid, size_t *size)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/environ", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  char *text = malloc(ENVIRONMENT_BYTES_MAX + 1);
  ssize_t got;
  *size = 0;
  if (fd < 0 || !text) {
    free(text);
    text = NULL;
  }
  while (text && *size < ENVIRONMENT_BYTES_MAX && (got = read(fd, text + *size, ENVIRONMENT_BYTES_MAX - *size)) > 0)
    *size += (size_t)got;
  if (text)
    text[*size] = '\0';
  if (fd >= 0)
    close(fd);
  return text;
}

/* The variables whose names are none for a shell (such as exported functions of bash): some shells drop them. */
struct unusual_variables {
  const char **list;
  size_t count, capacity;
};

static void add_unusual(struct unusual_variables *unusual, const char *assignment)
{
  if (unusual->count == unusual->capacity) {
    size_t capacity = unusual->capacity ? 2 * unusual->capacity : 16;
    const char **grown = realloc(unusual->list, capacity * sizeof *grown);
    if (!grown)
      return;
    unusual->list = grown;
    unusual->capacity = capacity;
  }
  unusual->list[unusual->count++] = assignment;
}

/* The launcher runs the helper with another LD_PRELOAD, and '_' changes with every command. */
static bool is_passing(const char *assignment)
{
  return strncmp(assignment, "LD_PRELOAD=", 11) == 0 || strncmp(assignment, "_=", 2) == 0;
}

/* One setting: a line for the shell, or a word of the command that replaces it. */
static void print_setting(bool as_word, const char *name, const char *value)
{
  if (as_word) {
    printf(" %s=", name);
    print_quoted(value);
  } else {
    printf("export %s=", name);
    print_quoted(value);
    putchar('\n');
  }
}

static void print_optional(bool as_word, const char *name, const char *value)
{
  if (value[0] != '\0')
    print_setting(as_word, name, value);
}

static void print_settings(const struct plan *plan, bool as_words)
{
  static char value[SETTING_BYTES];
  char number[32];
  plan_preload_value(plan, value, sizeof value);
  print_setting(as_words, "LD_PRELOAD", value);
  plan_tools_value(plan, value, sizeof value);
  print_setting(as_words, "OMP_TOOL_LIBRARIES", value);
  print_setting(as_words, "HPCRUN_LITE_DIR", plan->directory);
  print_setting(as_words, "HPCRUN_LITE_EVENTS", plan->event_list);
  print_setting(as_words, "HPCRUN_LITE_TASKS", plan->task_context);
  print_setting(as_words, "HPCRUN_LITE_PARALLELISM", plan->parallelism);
  print_setting(as_words, "HPCRUN_LITE_WORK", plan->work);
  print_setting(as_words, "HPCRUN_LITE_PAUSED", plan->paused ? "1" : "0");
  snprintf(number, sizeof number, "%d", plan->log_level);
  print_setting(as_words, "HPCRUN_LITE_LOG", number);
  if (!plan->for_script) {
    snprintf(number, sizeof number, "%ld", plan->launcher_pid);
    print_setting(as_words, "HPCRUN_LITE_PID", number);
  }
  print_optional(as_words, "HPCRUN_LITE_RUNTIME", plan->choice.preload);
  if (plan->choice.own == RUNTIME_GOMP && plan->choice.preload[0] != '\0' && !getenv("KMP_WARNINGS"))
    print_setting(as_words, "KMP_WARNINGS", "0"); /* libomp says of deprecated routines what libgomp does not */
  print_optional(as_words, "HPCRUN_LITE_NOTE", plan->choice.note);
}

/* What an outer launch has set and this one does not set. */
static void print_unset(const struct plan *plan)
{
  if (getenv("HPCRUN_LITE_PID") && plan->for_script)
    puts("unset HPCRUN_LITE_PID");
  if (getenv("HPCRUN_LITE_RUNTIME") && plan->choice.preload[0] == '\0')
    puts("unset HPCRUN_LITE_RUNTIME");
  if (getenv("HPCRUN_LITE_NOTE") && plan->choice.note[0] == '\0')
    puts("unset HPCRUN_LITE_NOTE");
}

/* Gives one variable back the value that the launcher was started with, where its shell has changed it. */
static void print_restored(const char *assignment)
{
  char name[256];
  const char *equal = strchr(assignment, '=');
  if ((size_t)(equal - assignment) >= sizeof name || is_passing(assignment))
    return;
  snprintf(name, sizeof name, "%.*s", (int)(equal - assignment), assignment);
  const char *now = getenv(name);
  if (!now || strcmp(now, equal + 1) != 0)
    print_setting(false, name, equal + 1);
}

static bool is_in(const char *text, size_t size, const char *assignment)
{
  size_t length = strcspn(assignment, "=") + 1;
  for (const char *at = text; at < text + size; at += strlen(at) + 1)
    if (strncmp(at, assignment, length) == 0)
      return true;
  return false;
}

/* A shell makes up variables (PWD) and changes some: undoes that, and collects those that it may have dropped. */
static void print_environment_repairs(const char *text, size_t size, struct unusual_variables *unusual)
{
  for (const char *at = text; at < text + size; at += strlen(at) + 1) {
    if (is_shell_name(at) && strchr(at, '='))
      print_restored(at);
    else if (strchr(at, '='))
      add_unusual(unusual, at);
  }
  for (char **variable = environ; *variable; variable++)
    if (is_shell_name(*variable) && !is_passing(*variable) && !is_in(text, size, *variable))
      printf("unset %.*s\n", (int)strcspn(*variable, "="), *variable);
}

/* Settings and strange variables as a command of ours that makes them and then runs COMMAND. */
static void print_as_command(const struct plan *plan, const struct unusual_variables *unusual)
{
  char self[PATH_MAX];
  own_path(self);
  printf("set -- ");
  print_quoted(self);
  printf(" exec");
  print_settings(plan, true);
  for (size_t i = 0; i < unusual->count; i++) {
    putchar(' ');
    print_quoted(unusual->list[i]);
  }
  printf(" -- \"$@\"\n");
}

static void print_plan(const struct plan *plan)
{
  struct unusual_variables unusual = {0};
  size_t size = 0;
  char *text = plan->for_script ? NULL : read_environment(plan->launcher_pid, &size);
  if (text)
    print_environment_repairs(text, size, &unusual);
  print_unset(plan);
  /* Some shells' exec takes a leading '-' for an option. */
  if (unusual.count > 0 || (plan->command[0] && plan->command[0][0] == '-'))
    print_as_command(plan, &unusual);
  else
    print_settings(plan, false);
  free(text);
  free(unusual.list);
}

/* ---- working the plan out ---- */

static enum launch_status check_events(struct plan *plan, char *message, size_t message_size)
{
  plan->event_count = events_parse_list(plan->event_list, plan->events, message, message_size);
  if (plan->event_count < 0)
    return LAUNCH_FAILED;
  for (int i = 0; i < plan->event_count; i++)
    if (perf_check_event(&plan->events[i], message, message_size) != 0)
      return LAUNCH_FAILED;
  return perf_check_work(plan->work, message, message_size) == 0 ? LAUNCH_OK : LAUNCH_FAILED;
}

/* Everything but the directory. */
static enum launch_status work_out(struct plan *plan, char *message, size_t message_size)
{
  static char user_preload[SETTING_BYTES];
  enum launch_status status = find_installation(plan, message, message_size);
  if (status == LAUNCH_OK)
    status = check_events(plan, message, message_size);
  if (status != LAUNCH_OK)
    return status;
  if (plan->command[0]) {
    status = program_find(plan->command[0], &plan->program, message, message_size);
    if (status == LAUNCH_OK)
      status = program_check_preload(&plan->program, message, message_size);
    if (status != LAUNCH_OK)
      return status;
    append_foreign_items(user_preload, sizeof user_preload, plan->user_preload, ": ", plan->library);
    program_list_modules(&plan->program, user_preload);
  }
  return runtime_choose(&plan->program, plan->runtime, plan->private_libomp, PRIVATE_LIBOMP_VERSION, &plan->choice,
                        message, message_size);
}

static int run_plan(struct plan *plan)
{
  char message[1024] = "";
  bool joined;
  struct directory_request request = {
      .output = plan->output, .overwrite = plan->overwrite, .launcher_pid = plan->launcher_pid};
  enum launch_status status = work_out(plan, message, sizeof message);
  if (status != LAUNCH_OK)
    return fail(status, message);
  request.command = plan->command[0] ? path_base(plan->command[0]) : "";
  status = directory_take(&request, plan->directory, sizeof plan->directory, &joined, message, sizeof message);
  if (status != LAUNCH_OK)
    return fail(status, message);
  bool speaks = plan->log_level > (joined ? 1 : 0); /* once for all ranks of a job */
  if (plan->choice.say_note && speaks)
    fprintf(stderr, "hpcrun-lite: %s\n", plan->choice.note);
  print_plan(plan);
  return fflush(stdout) == 0 ? 0 : fail(LAUNCH_FAILED, "cannot write the settings");
}

static int run_diagnose(struct plan *plan)
{
  char message[1024] = "";
  if (!plan->command[0])
    return fail(LAUNCH_FAILED, "--diagnose needs a COMMAND");
  enum launch_status status = work_out(plan, message, sizeof message);
  return diagnose(plan, status, message);
}

/* ---- the other modes ---- */

/* Runs COMMAND with the assignments before "--" in its environment. */
static int run_exec(char **arguments)
{
  for (; arguments[0] && strcmp(arguments[0], "--") != 0; arguments++)
    if (putenv(arguments[0]) != 0)
      return fail(LAUNCH_FAILED, "no memory for the environment");
  if (!arguments[0] || !arguments[1])
    return fail(LAUNCH_FAILED, "no COMMAND");
  execvp(arguments[1], arguments + 1);
  int error = errno;
  fprintf(stderr, "hpcrun-lite: cannot run '%s': %s\n", arguments[1], strerror(error));
  return error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

/* Prints which tool comes first, then starts the OpenMP runtime (by any call), which makes it look for one. */
static int run_probe(const char *path)
{
  void *runtime = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
  void *tool = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  int (*start)(void) = NULL;
  Dl_info found;
  if (tool && dladdr(tool, &found) && found.dli_fname)
    printf("first tool: %s\n", found.dli_fname);
  fflush(stdout);
  if (runtime)
    *(void **)&start = dlsym(runtime, "omp_get_max_threads");
  return start && start() > 0 ? 0 : 1;
}

static bool take_key(struct plan *plan, const char *argument)
{
  const char *value = strchr(argument, '=');
  if (!value)
    return false;
  size_t length = (size_t)(value++ - argument);
  if (equals(argument, length, "output"))
    plan->output = value;
  else if (equals(argument, length, "events"))
    plan->event_list = value;
  else if (equals(argument, length, "tasks"))
    plan->task_context = value;
  else if (equals(argument, length, "parallelism"))
    plan->parallelism = value;
  else if (equals(argument, length, "work"))
    plan->work = value;
  else if (equals(argument, length, "paused"))
    plan->paused = atoi(value) != 0;
  else if (equals(argument, length, "runtime"))
    plan->runtime = value;
  else if (equals(argument, length, "preload"))
    plan->user_preload = value;
  else if (equals(argument, length, "overwrite"))
    plan->overwrite = atoi(value) != 0;
  else if (equals(argument, length, "env"))
    plan->for_script = atoi(value) != 0;
  else if (equals(argument, length, "log"))
    plan->log_level = atoi(value);
  else if (equals(argument, length, "launcher"))
    plan->launcher_pid = atol(value);
  else
    return false;
  return true;
}

int main(int argc, char **argv)
{
  static struct plan plan;
  const char *mode = argc > 1 ? argv[1] : "";
  char **arguments = argv + (argc > 1 ? 2 : 1);
  if (strcmp(mode, "exec") == 0)
    return run_exec(arguments);
  if (strcmp(mode, "probe") == 0)
    return run_probe(arguments[0]);
  plan.output = plan.user_preload = "";
  plan.event_list = "task-clock@f200";
  plan.task_context = "region";
  plan.parallelism = "off";
  plan.work = "cpu-time";
  plan.runtime = "auto";
  plan.log_level = 1;
  plan.launcher_pid = (long)getppid();
  while (arguments[0] && take_key(&plan, arguments[0]))
    arguments++;
  if (!arguments[0] || strcmp(arguments[0], "--") != 0)
    return fail(LAUNCH_FAILED, "hpcrun-lite-inspect is run by hpcrun-lite, not by hand");
  plan.command = arguments + 1;
  int status = strcmp(mode, "plan") == 0       ? run_plan(&plan)
               : strcmp(mode, "diagnose") == 0 ? run_diagnose(&plan)
                                               : fail(LAUNCH_FAILED, "hpcrun-lite-inspect: unknown mode");
  program_release(&plan.program);
  return status;
}
