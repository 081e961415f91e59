/* hpcrun-lite-inspect: the launcher's helper, run once for each launch.
 *
 *   hpcrun-lite-inspect plan KEY=VALUE... -- [COMMAND ARG...]   print the settings as lines for the shell to evaluate
 *   hpcrun-lite-inspect diagnose KEY=VALUE... -- COMMAND ...    print what prevents measuring COMMAND well
 *   hpcrun-lite-inspect exec NAME=VALUE... -- COMMAND ...       run COMMAND with variables that a shell cannot set
 *   hpcrun-lite-inspect probe LIBRARY                           start that OpenMP runtime, which then looks for tools
 *
 * Keys: output, overwrite, events, tasks, parallelism, work, paused, runtime,
 * log, env, launcher (its process id), preload (the user's LD_PRELOAD).
 * Standard output is for the launcher or the user of --env and --diagnose; a failure prints one line on standard
 * error, and its exit status becomes the launcher's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/launch/diagnose.h"
#include "hpcrun-lite/launch/directory.h"
#include "hpcrun-lite/launch/plan.h"
#include "hpcrun-lite/launch/settings.h"

static int fail(enum launch_status status, const char *message)
{
  fprintf(stderr, "hpcrun-lite: %s\n", message);
  return status;
}

static int run_plan(struct plan *plan)
{
  char message[1024] = "";
  bool joined;
  struct directory_request request = {
      .output = plan->output, .overwrite = plan->overwrite, .launcher_pid = plan->launcher_pid};
  enum launch_status status = plan_work_out(plan, message, sizeof message);
  if (status != LAUNCH_OK)
    return fail(status, message);
  request.command = plan->command[0] ? path_base(plan->command[0]) : "";
  status = directory_take(&request, plan->directory, sizeof plan->directory, &joined, message, sizeof message);
  if (status != LAUNCH_OK)
    return fail(status, message);
  bool prints = plan->log_level > (joined ? 1 : 0); /* one rank of a job prints it */
  if (plan->choice.say_note && prints)
    fprintf(stderr, "hpcrun-lite: %s\n", plan->choice.note);
  settings_print(plan);
  return fflush(stdout) == 0 ? 0 : fail(LAUNCH_FAILED, "cannot write the settings");
}

static int run_diagnose(struct plan *plan)
{
  char message[1024] = "";
  if (!plan->command[0])
    return fail(LAUNCH_FAILED, "--diagnose needs a COMMAND");
  enum launch_status status = plan_work_out(plan, message, sizeof message);
  return diagnose(plan, status, message);
}

/* ---- the other modes ---- */

/* Runs COMMAND with the assignments before "--" in its environment. */
static int run_exec(char **arguments)
{
  for (; arguments[0] && strcmp(arguments[0], "--") != 0; arguments++)
    if (putenv(arguments[0]) != 0)
      return fail(LAUNCH_FAILED, "not enough memory for the environment");
  if (!arguments[0] || !arguments[1])
    return fail(LAUNCH_FAILED, "no COMMAND");
  execvp(arguments[1], arguments + 1);
  int error = errno;
  fprintf(stderr, "hpcrun-lite: cannot run '%s': %s\n", arguments[1], strerror(error));
  return error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

/* Prints which tool would be found first, then starts the OpenMP runtime by a call: it looks for tools when it starts.
 */
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

static bool equals(const char *key, size_t length, const char *name)
{
  return strlen(name) == length && strncmp(key, name, length) == 0;
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
    return fail(LAUNCH_FAILED, "hpcrun-lite-inspect is run by hpcrun-lite, not directly");
  plan.command = arguments + 1;
  int status = strcmp(mode, "plan") == 0       ? run_plan(&plan)
               : strcmp(mode, "diagnose") == 0 ? run_diagnose(&plan)
                                               : fail(LAUNCH_FAILED, "hpcrun-lite-inspect: unknown mode");
  program_release(&plan.program);
  return status;
}
