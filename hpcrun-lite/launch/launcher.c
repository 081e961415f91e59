/* hpcrun-lite: launches a program and measures it; see hpcrun-lite(1).
 *
 * Works out the plan, changes its own environment to what follows from that, and replaces itself by COMMAND, which so
 * keeps the process id.  It is not a shell script, because shells need descriptors and a working directory.  With
 * --report, --live, --scaling and --try, COMMAND is a child instead, and the launcher keeps its own environment.
 *
 * Processes of a measurement start it as "hpcrun-lite --find-code EXECUTABLE FILE", which writes the addresses that
 * HPCRUN_LITE_FILTER names.  For --diagnose it starts itself as "hpcrun-lite --probe LIBRARY", in the environment of a
 * launch, which starts that OpenMP runtime.
 *
 * Context: BATCH.  A failure prints one line on standard error.
 */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/safe_file.h"
#include "common/version.h"
#include "common/xalloc.h"
#include "hpcrun-lite/launch/arguments.h"
#include "hpcrun-lite/launch/program/child.h"
#include "hpcrun-lite/launch/program/code_filter.h"
#include "hpcrun-lite/launch/configuration/print_settings.h"
#include "hpcrun-lite/launch/control/control_command.h"
#include "hpcrun-lite/launch/diagnose.h"
#include "hpcrun-lite/launch/directory.h"
#include "hpcrun-lite/launch/viewer.h"
#include "hpcrun-lite/launch/plan.h"
#include "hpcrun-lite/launch/settings.h"

/* Prints one line; characters that are unsafe on a terminal are escaped. */
static void print_line(const char *text)
{
  char line[4096];
  escape_text(text, line, sizeof line);
  fprintf(stderr, "hpcrun-lite: %s\n", line);
}

static int fail(enum launch_status status, const char *message)
{
  print_line(message);
  return status;
}

/* Whether COMMAND may start other programs: a script, or such as mpirun, which has the name of one as an argument and
 * does not use OpenMP itself. */
static bool starts_others(const struct plan *plan)
{
  static struct program other;
  char message[1024];
  bool starts = plan->program.is_script || !plan->command[0], computes = plan->choice.own != RUNTIME_NONE;
  for (char **argument = plan->command; !starts && !computes && argument[0] && argument[1]; argument++)
    starts = argument[1][0] != '-' && program_find(argument[1], &other, message, sizeof message) == LAUNCH_OK;
  return starts;
}

/* Works out all that can be refused, before a directory is taken or replaced.  warning: of the filter. */
static enum launch_status work_out(struct plan *plan, struct code_filter *found, char *warning, char *message,
                                   size_t message_size)
{
  enum launch_status status = plan_work_out(plan, message, message_size);
  if (status == LAUNCH_OK)
    status = plan_make_preloadable(plan, message, message_size);
  if (status == LAUNCH_OK)
    status = plan_check_auditors(plan, message, message_size);
  if (status == LAUNCH_OK && plan->filter[0] && plan->command[0]) /* of --env: processes find it */
    status = code_filter_find(&plan->program, plan->filter, found, message, message_size);
  snprintf(warning, message_size, "%s", status == LAUNCH_OK && found->settings ? message : "");
  return status;
}

/* Takes the directory: of the measurement, or of a series of them. */
static enum launch_status take_directory(struct plan *plan, const struct code_filter *found,
                                         struct directory_origin *origin, char *message, size_t message_size)
{
  struct directory_request request = plan_directory(plan);
  enum launch_status status =
      directory_take(&request, plan->directory, sizeof plan->directory, origin, message, message_size);
  if (status != LAUNCH_OK || !found->settings)
    return status;
  plan->filter = code_filter_text(found, plan->directory, message, message_size); /* until the launcher ends */
  if (plan->filter)
    return LAUNCH_OK;
  directory_give_back(plan->directory, origin);
  return LAUNCH_FAILED;
}

/* Prints what the user should know before COMMAND runs. */
static void print_notes(const struct plan *plan, const char *warning, bool joined)
{
  char message[1024];
  bool prints = plan->log_level > (joined ? 1 : 0); /* one rank of a job prints it */
  if (plan->configuration.path[0] != '\0' && plan->log_level > 1) {
    snprintf(message, sizeof message, "settings from %.900s", plan->configuration.path);
    print_line(message);
  }
  if (warning[0] != '\0' && prints && !starts_others(plan))
    print_line(warning);
  if (plan->choice.say_note && prints)
    print_line(plan->choice.note);
  if (plan->choice.warning[0] != '\0' && prints)
    print_line(plan->choice.warning);
}

/* Works the plan out and takes the directory. */
static int prepare(struct plan *plan)
{
  char message[1024] = "", warning[sizeof message];
  struct directory_origin origin;
  struct code_filter found = {0};
  enum launch_status status = work_out(plan, &found, warning, message, sizeof message);
  if (status == LAUNCH_OK)
    status = take_directory(plan, &found, &origin, message, sizeof message);
  code_filter_release(&found);
  if (status != LAUNCH_OK)
    return fail(status, message);
  print_notes(plan, warning, origin.joined);
  return 0;
}

static int apply_settings(const struct plan *plan)
{
  if (!settings_apply(plan))
    return fail(LAUNCH_FAILED, "not enough memory for the environment");
  return 0;
}

static int run_command(char **command)
{
  execvp(command[0], command);
  int error = errno;
  char message[1024];
  snprintf(message, sizeof message, "cannot run '%.500s': %s", command[0], strerror(error));
  return fail(error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE, message);
}

/* Returns the directory's name, without the path if it is in the current one. */
static const char *short_name(const char *directory)
{
  static char current[PATH_MAX];
  size_t length = getcwd(current, sizeof current) ? strlen(current) : 0;
  bool below = length && !strncmp(directory, current, length) && directory[length] == '/';
  return below ? directory + length + 1 : directory;
}

/* The option that makes hpcprof-lite take a directory with the name of a view for a directory. */
#define VIEW "--view=summary"

/* Runs hpcprof-lite, whose standard output is standard error.  Returns its exit status, or -1 if it cannot be run. */
static int run_reporter(const char *const *arguments)
{
  assert(arguments[0] && arguments[0][0]);
  struct child child;
  bool executed = false;
  int status = 0, role = child_fork(&child);
  if (role == 0) {
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
      execv(arguments[0], (char *const *)arguments);
    child_fail(&child, LAUNCH_FAILED);
  }
  if (role > 0)
    status = child_wait(&child, &executed);
  return executed ? status : -1;
}

/* Whether the name of the page is free, or that of an earlier page of this user.  Otherwise sets errno. */
static bool may_replace_page(const char *page)
{
  static const char begin[] = "<!DOCTYPE html>", name[] = "content=\"hpcprof-lite\"";
  char head[4096];
  int fd = safe_file_open(AT_FDCWD, page, O_RDONLY, geteuid());
  if (fd < 0) {
    errno = errno == EPERM ? EEXIST : errno;
    return errno == ENOENT;
  }
  ssize_t size = read(fd, head, sizeof head);
  close(fd);
  errno = EEXIST;
  return size > 0 && !memcmp(head, begin, sizeof begin - 1) && memmem(head, (size_t)size, name, sizeof name - 1);
}

/* Writes the HTML report, first to a file of a new name.  Nobody has asked for the page by its name: another file of
 * that name stays as it is. */
static bool write_page(const struct plan *plan, const char *what, const char *directory, const char *page)
{
  assert(strlen(directory) < PATH_MAX);
  static const char suffix[] = ".html";
  char part[PATH_MAX + 64], line[2 * PATH_MAX];
  snprintf(part, sizeof part, "%s.XXXXXX%s", directory, suffix);
  int fd = may_replace_page(page) ? mkstemps(part, sizeof suffix - 1) : -1;
  if (fd >= 0) {
    close(fd);
    const char *const html[] = {plan->reporter, VIEW, what, "-q", "-f", "html", "-o", part, "--", directory, NULL};
    int status = run_reporter(html);
    if (!status && rename(part, page) == 0)
      return true;
    int error = errno;
    unlink(part);
    if (status)
      return false;
    errno = error;
  }
  snprintf(line, sizeof line, "cannot write %s: %s; use hpcprof-lite -f html -o FILE %s", page, strerror(errno),
           directory);
  print_line(line);
  return false;
}

/* Prints the summary of the run or series on standard error, and writes the HTML report beside the measurement. */
static void show_report(const struct plan *plan)
{
  assert(plan->reporter[0] && plan->directory[0]);
  const char *quiet = plan->log_level ? "--no-pager" : "-q"; /* the former may be given more than once */
  const char *directory = short_name(plan->directory);
  char page[PATH_MAX + 64], line[PATH_MAX + 128];
  const char *what = plan->series.count > 0 ? "--scaling" : "--no-pager";
  const char *const summary[] = {plan->reporter, VIEW, what, "--no-pager", quiet, "--", directory, NULL};
  if (!plan->series.count && !directory_holds_profiles(plan->directory)) {
    print_line("there is nothing to report: COMMAND ended before its first sample was taken");
    return;
  }
  snprintf(page, sizeof page, "%s.html", directory);
  int status = run_reporter(summary);
  if (status < 0)
    print_line("cannot show the report: no process can be started for it; use hpcprof-lite DIR");
  if (status || !write_page(plan, what, directory, page) || !plan->log_level)
    return;
  snprintf(line, sizeof line, "the whole report for a browser: %s", page);
  print_line(line);
}

/* Runs COMMAND as a child: of a series, or beside the live view, unless these are NULL.  Returns 0 and its status as
 * waitpid() does, or the exit status of a failure. */
static int run_child(const struct plan *plan, char **command, const struct series_run *run, const struct viewer *viewer,
                     int *status, bool *executed)
{
  assert(command[0]);
  struct child child;
  int role = child_fork(&child);
  if (role < 0)
    return fail(LAUNCH_FAILED, "cannot start a process, which --report, --live, --scaling and --try need");
  if (role == 0) {
    if (viewer)
      viewer_redirect(viewer);
    int failed;
    if (run && !series_set_threads(run))
      failed = fail(LAUNCH_FAILED, "not enough memory for the environment");
    else
      failed = apply_settings(plan);
    if (!failed)
      failed = run_command(command);
    child_fail(&child, failed);
  }
  *status = child_wait(&child, executed);
  return 0;
}

/* Runs COMMAND as a child beside the live view, then waits until that is quit.  Where there is nothing to show, and
 * where a signal has ended the run, the view ends, too. */
static int run_beside_view(const struct plan *plan, int *status, bool *executed)
{
  assert(plan->live && plan->directory[0]);
  struct viewer viewer;
  char message[1024];
  if (!viewer_start(&viewer, plan->reporter, short_name(plan->directory), message, sizeof message))
    return fail(LAUNCH_FAILED, message);
  int failure = run_child(plan, plan->command, NULL, &viewer, status, executed);
  bool measured = !failure && *executed && directory_holds_profiles(plan->directory);
  viewer_finish(&viewer, !measured || child_ending_signal());
  if (!failure && *executed && !measured && !plan->report)
    print_line("there was nothing to show: COMMAND ended before its first sample was taken");
  return failure;
}

/* Runs COMMAND as a child, with the live view or with the report at its end.  Returns the exit status, or ends as
 * COMMAND did. */
static int run_and_report(const struct plan *plan)
{
  assert(plan->live || plan->report);
  bool executed = false;
  int status = 0, failure;
  if (plan->live)
    failure = run_beside_view(plan, &status, &executed);
  else
    failure = run_child(plan, plan->command, NULL, NULL, &status, &executed);
  if (failure)
    return failure;
  if (executed && plan->report)
    show_report(plan);
  return child_end_alike(status);
}

/* Returns how a run with that status, as of waitpid(), counts as ended: by the signal that ends the launcher, if one
 * came and the run itself was not ended by one. */
static int end_of(int status)
{
  return WIFSIGNALED(status) || !child_ending_signal() ? status : child_ending_signal();
}

/* ---- --try ---- */

static uint64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* The place from which standard input is read again by each run; -1: it is no file. */
static off_t input_begin(void)
{
  struct stat input;
  bool file = !fstat(STDIN_FILENO, &input) && S_ISREG(input.st_mode);
  return file ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
}

/* Runs a measured command with other settings; its measurement is in the plan's directory, which gets the record. */
static void try_settings(const struct plan *plan, struct trials *trials)
{
  assert(trials->wanted && trials->first_ns && trials->command);
  char message[1024];
  if (!directory_holds_profiles(plan->directory)) {
    print_line("--try: COMMAND ended before its first sample was taken: nothing is tried");
    return;
  }
  trials->reporter = plan->reporter;
  trials->directory = plan->directory;
  trials->quiet = !plan->log_level;
  if (!trials_choose(trials, message, sizeof message) || !trials_run(trials, message, sizeof message))
    print_line(message);
}

/* Prints what settings have gained. */
static void show_tried(const struct plan *plan, const struct trials *trials)
{
  const char *const result[] = {plan->reporter, "--view=try", "--no-pager", "--", short_name(plan->directory), NULL};
  if (trials->record.runs_count && !trials->quiet && run_reporter(result) < 0)
    print_line("cannot show the result: no process can be started for it; use hpcprof-lite --view try DIR");
}

/* Prints that the measured run failed. */
static void print_untried(const struct plan *plan, int status)
{
  char line[1024], how[64];
  child_describe_end(end_of(status), how, sizeof how);
  snprintf(line, sizeof line, "--try: '%.400s' %s in the measured run: nothing is tried%s", plan->command[0], how,
           WIFEXITED(end_of(status)) ? "; make it end with 0" : "");
  print_line(line);
}

/* Measures COMMAND as a child, then tries settings.  Returns the exit status, or ends as COMMAND did. */
static int run_and_try(struct plan *plan)
{
  struct trials *trials = &plan->trials;
  bool executed = false;
  int status = 0;
  trials->command = plan->command;
  trials->input_begin = input_begin();
  uint64_t start_ns = now_ns();
  int failure = run_child(plan, plan->command, NULL, NULL, &status, &executed);
  trials->first_ns = now_ns() - start_ns;
  if (failure)
    return failure;
  if (executed && (status || child_ending_signal()))
    print_untried(plan, status);
  else if (executed)
    try_settings(plan, trials);
  show_tried(plan, trials);
  if (executed && plan->report)
    show_report(plan);
  return child_end_alike(status ? status : child_ending_signal());
}

/* ---- a series of runs ---- */

/* Prints which run has ended the series, and how. */
static void print_end(const struct plan *plan, const struct series_run *run, int status)
{
  assert(run->threads);
  char message[1024], how[64];
  child_describe_end(end_of(status), how, sizeof how);
  snprintf(message, sizeof message, "--scaling ends here: '%.400s' %s on %u thread%s (%s)", plan->command[0], how,
           run->threads, run->threads == 1 ? "" : "s", run->directory);
  print_line(message);
}

/* Measures one run in a directory of its own.  Returns 0, or the exit status of a failure. */
static int measure_run(struct plan *plan, const char *series_directory, const struct series_run *run, int *status,
                       bool *executed)
{
  char message[1024] = "", path[PATH_MAX + sizeof run->directory];
  struct directory_origin origin;
  struct directory_request request = {.output = path, .command = "", .trust = plan->trust_directory};
  snprintf(path, sizeof path, "%s/%s", series_directory, run->directory);
  enum launch_status taken =
      directory_take(&request, plan->directory, sizeof plan->directory, &origin, message, sizeof message);
  if (taken != LAUNCH_OK)
    return fail(taken, message);
  char **command = series_command(&plan->series, run, plan->command);
  plan->series_note = run->note;
  if (!command)
    return fail(LAUNCH_FAILED, "not enough memory");
  return run_child(plan, command, run, NULL, status, executed);
}

/* Tries settings with each number of threads: those that the findings of its first run suggest, if none are listed. */
static void try_series(struct plan *plan, const char *series_directory, const uint64_t *elapsed_ns, off_t input)
{
  struct series_run run;
  for (unsigned i = 0; i < plan->series.count && !child_ending_signal(); i++) {
    struct trials trials = plan->trials;
    char line[128];
    series_run(&plan->series, i, &run);
    snprintf(plan->directory, sizeof plan->directory, "%.4000s/%s", series_directory, run.directory);
    trials.command = series_command(&plan->series, &run, plan->command);
    trials.first_ns = elapsed_ns[i];
    trials.input_begin = input;
    if (!trials.command || !series_set_threads(&run)) { /* in the launcher's own environment, which the runs get */
      print_line("not enough memory");
      return;
    }
    snprintf(line, sizeof line, "--try: with %u thread%s", run.threads, run.threads == 1 ? "" : "s");
    if (plan->log_level)
      print_line(line);
    try_settings(plan, &trials);
    show_tried(plan, &trials);
    trial_release(&trials.record);
  }
}

/* Measures all runs, one after the other.  A file that is standard input is read by each from the same place on.
 * Returns the exit status, or ends as a run did that failed. */
static int run_series(struct plan *plan)
{
  assert(plan->series.count);
  char series_directory[PATH_MAX];
  uint64_t elapsed_ns[SERIES_SIZES_MAX];
  struct series_run run;
  off_t begin = input_begin();
  snprintf(series_directory, sizeof series_directory, "%s", plan->directory);
  for (unsigned i = 0; i < series_runs(&plan->series); i++) {
    bool executed = true;
    int status = 0;
    if (begin >= 0)
      lseek(STDIN_FILENO, begin, SEEK_SET);
    series_run(&plan->series, i, &run);
    uint64_t start_ns = now_ns();
    int failure = measure_run(plan, series_directory, &run, &status, &executed);
    if (run.repetition == 1)
      elapsed_ns[i] = now_ns() - start_ns;
    if (failure)
      return failure;
    if (executed && (status || child_ending_signal()))
      print_end(plan, &run, status);
    if (status || child_ending_signal())
      return child_end_alike(status ? status : child_ending_signal());
  }
  if (plan->trials.wanted)
    try_series(plan, series_directory, elapsed_ns, begin);
  snprintf(plan->directory, sizeof plan->directory, "%s", series_directory);
  if (child_ending_signal())
    return child_end_alike(child_ending_signal());
  if (plan->report)
    show_report(plan);
  else if (plan->log_level) {
    char message[PATH_MAX + 128];
    snprintf(message, sizeof message, "%u runs measured; read them with: hpcprof-lite --scaling %s",
             series_runs(&plan->series), short_name(series_directory));
    print_line(message);
  }
  return 0;
}

/* Prints which tool would be found first, then starts the OpenMP runtime by a call: it looks for tools when it starts.
 */
static int run_probe(const char *path)
{
  void *runtime = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  void *tool = dlsym(RTLD_DEFAULT, "ompt_start_tool"), *entry = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  int (*start)(void) = NULL;
  Dl_info found;
  if (tool && dladdr(tool, &found) && found.dli_fname)
    printf("first tool: %s\n", found.dli_fname);
  if (entry && dladdr(entry, &found) && found.dli_fname)
    printf("first entry: %s\n", found.dli_fname);
  fflush(stdout);
  if (runtime)
    *(void **)&start = dlsym(runtime, "omp_get_max_threads");
  return start && start() > 0 ? 0 : 1;
}

/* The helper of hpcrun-lite/process/find_code.h: the program waits, for a minute at most. */
static int find_code(const char *executable, const char *path)
{
  enum { SECONDS = 60 };
  static struct program program;
  char message[1024];
  const char *filter = getenv("HPCRUN_LITE_FILTER");
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGALRM, SIG_DFL);
  alarm(SECONDS);
  if (!filter || program_find(executable, &program, message, sizeof message) != LAUNCH_OK)
    return LAUNCH_FAILED;
  program_list_modules(&program, "");
  bool written = code_filter_write(&program, filter, path, message, sizeof message);
  program_release(&program);
  return written ? 0 : fail(LAUNCH_FAILED, message);
}

static int diagnose_command(struct plan *plan)
{
  char message[1024] = "";
  enum launch_status status = plan_work_out(plan, message, sizeof message);
  return diagnose(plan, status, message);
}

static void fail_without_memory(void)
{
  _exit(fail(LAUNCH_FAILED, "not enough memory"));
}

int main(int argc, char **argv)
{
  static struct plan plan = {.log_level = 1};
  enum arguments_mode mode = MODE_RUN;
  char message[512];
  xalloc_on_failure(fail_without_memory);
  if (argc == 3 && strcmp(argv[1], "--probe") == 0)
    return run_probe(argv[2]);
  if (argc == 4 && strcmp(argv[1], "--find-code") == 0)
    return find_code(argv[2], argv[3]);
  enum launch_status parsed = arguments_parse(argc, argv, &plan, &mode, message, sizeof message);
  if (parsed != LAUNCH_OK)
    return fail(parsed, message);
  if (mode == MODE_HELP || mode == MODE_VERSION || mode == MODE_LIST_EVENTS) {
    if (mode == MODE_LIST_EVENTS)
      count_events_print();
    else if (mode == MODE_HELP)
      arguments_print_help(stdout);
    else
      puts("hpcrun-lite " VERSION_TEXT);
    return fflush(stdout) == 0 ? 0 : LAUNCH_FAILED;
  }
  if (mode == MODE_CONFIG) {
    print_settings(&plan.options, &plan.configuration, stdout);
    if (fflush(stdout) != 0)
      return fail(LAUNCH_FAILED, "cannot write to standard output");
    return 0;
  }
  if (mode == MODE_CONTROL)
    return control_command(plan.control, plan.command);
  const char *preload = getenv("LD_PRELOAD");
  plan.user_preload = preload ? preload : "";
  int status;
  if (mode == MODE_DIAGNOSE)
    status = diagnose_command(&plan);
  else
    status = prepare(&plan);
  program_release(&plan.program);
  if (status == 0 && plan.series.count)
    return run_series(&plan);
  if (status == 0 && mode == MODE_RUN && plan.trials.wanted)
    return run_and_try(&plan);
  if (status == 0 && mode == MODE_RUN && (plan.report || plan.live))
    return run_and_report(&plan);
  if (status == 0 && mode != MODE_DIAGNOSE)
    status = apply_settings(&plan);
  if (status == 0 && mode == MODE_RUN)
    return run_command(plan.command);
  return fflush(stdout) == 0 ? status : fail(LAUNCH_FAILED, "cannot write to standard output");
}
