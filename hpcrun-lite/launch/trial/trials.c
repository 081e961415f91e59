#include "hpcrun-lite/launch/trial/trials.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/order.h"
#include "common/pairs.h"
#include "common/safe_file.h"
#include "common/xalloc.h"
#include "hpcrun-lite/launch/program/child.h"
#include "hpcrun-lite/launch/program/refusal.h"
#include "hpcrun-lite/launch/trial/repetition.h"
#include "hpcrun-lite/launch/trial/trial_settings.h"

enum { LIMIT_FACTOR = 3 /* times the measured run */ };

static const uint64_t limit_least_ns = 100000000;
static const double ns_per_s = 1e9;

/* ---- what is refused ---- */

/* Returns the variable that tells that this process is a rank of an MPI job, or NULL. */
static const char *rank_variable(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                      "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i]))
      return names[i];
  return NULL;
}

/* Whether a program starts ranks. */
static bool starts_ranks(const char *program)
{
  static const char *const names[] = {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun",
                                      "prun",   "srun",    "aprun",         "jsrun",   "ibrun"};
  const char *slash = strrchr(program, '/');
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(slash ? slash + 1 : program, names[i]))
      return true;
  return false;
}

/* Returns what standard input is if it cannot be read again from its place, or NULL. */
static const char *unrepeatable_input(void)
{
  struct stat input;
  if (fstat(STDIN_FILENO, &input) || S_ISREG(input.st_mode))
    return NULL;
  if (isatty(STDIN_FILENO))
    return "a terminal";
  if (S_ISFIFO(input.st_mode))
    return "a pipe";
  return S_ISCHR(input.st_mode) ? NULL : "neither a file nor a device";
}

enum launch_status trials_check(char *const *command, char *message, size_t message_size)
{
  assert(command[0]);
  const char *rank = rank_variable(), *input = unrepeatable_input();
  if (rank)
    refuse(message, message_size,
           "option --try runs COMMAND several times, which a rank of an MPI job cannot (%s is set): use it outside of "
           "mpirun and srun; if this is no rank, unset %s",
           rank, rank);
  else if (starts_ranks(command[0]))
    refuse(message, message_size,
           "option --try cannot be used with '%.200s', since settings may not reach all ranks: try the program alone",
           command[0]);
  else if (input)
    refuse(
        message, message_size,
        "option --try runs COMMAND several times, but standard input is %s, which cannot be read again: add < FILE, or "
        "< /dev/null if COMMAND reads nothing",
        input);
  else
    return LAUNCH_OK;
  return LAUNCH_FAILED;
}

enum launch_status trials_parse_time(const char *text, double *seconds, char *message, size_t message_size)
{
  static const double most = 1e7;
  char *end;
  *seconds = strtod(text, &end);
  if (*text >= '0' && *text <= '9' && !*end && *seconds > 0 && *seconds <= most)
    return LAUNCH_OK;
  refuse(message, message_size, "option --try-time needs a number of seconds above 0 and at most %.0f, not '%.100s'",
         most, text);
  return LAUNCH_FAILED;
}

/* ---- what hpcprof-lite suggests ---- */

/* Reads what a program prints; NULL if it cannot be run or fails, and then *status is as of waitpid(), -1: it cannot be
 * run.  The caller frees it. */
static char *read_program(const char *const *arguments, int *status)
{
  char *text, block[4096];
  size_t size;
  int output;
  pid_t pid = child_start((char **)arguments, environ, &output);
  *status = -1;
  if (pid < 0)
    return NULL;
  FILE *stream = xopen_memstream(&text, &size);
  for (ssize_t length; (length = read(output, block, sizeof block)) > 0 || (length < 0 && errno == EINTR);)
    if (length > 0)
      fwrite(block, 1, (size_t)length, stream);
  xclose(stream, &text);
  close(output);
  while (waitpid(pid, status, 0) < 0 && errno == EINTR)
    ;
  if (*status) {
    free(text);
    return NULL;
  }
  return text;
}

/* Takes the next number of a line of CSV; false if the cell is empty. */
static bool take_number(char **at, double *number)
{
  char *cell = strsep(at, ","), *end;
  *number = cell ? strtod(cell, &end) : 0;
  return cell && *cell && !*end;
}

/* Reads a line "CLASS,LOW,GAIN,HIGH,TEXT" of CSV. */
static bool read_suggestion(char *line, struct trial_setting *setting)
{
  char *at = line, *class = strsep(&at, ",");
  *setting = (struct trial_setting){0};
  if (!at || strlen(class) >= sizeof setting->class)
    return false;
  strcpy(setting->class, class);
  bool low = take_number(&at, &setting->low_s), gain = take_number(&at, &setting->gain_s);
  setting->forecast = take_number(&at, &setting->high_s) && low && gain;
  size_t length = at ? strlen(at) : 0;
  if (length >= 2 && *at == '"' && at[length - 1] == '"') { /* it has a comma, but no quotes inside */
    at++;
    length -= 2;
  }
  if (!length || length >= sizeof setting->text)
    return false;
  memcpy(setting->text, at, length);
  return true;
}

/* Says why hpcprof-lite has told no settings; always false. */
static bool fail_to_choose(const struct trials *trials, int status, char *message, size_t message_size)
{
  char how[64];
  if (status == -1)
    snprintf(how, sizeof how, "cannot be run");
  else
    child_describe_end(status, how, sizeof how);
  return refuse(message, message_size,
                "--try: hpcprof-lite, which tells what to try, %s: nothing is tried; see why with hpcprof-lite try "
                "%.600s, or list settings",
                how, trials->directory);
}

bool trials_choose(struct trials *trials, char *message, size_t message_size)
{
  struct trial *trial = &trials->record;
  bool listed = trial->settings_count;
  const char *const arguments[] = {trials->reporter,
                                   "--view=try",
                                   "--no-pager",
                                   "-q",
                                   "-f",
                                   "csv",
                                   "--columns",
                                   "class,forecast_low_s,forecast_s,forecast_high_s,setting",
                                   "--",
                                   trials->directory,
                                   NULL};
  int status;
  char *text = read_program(arguments, &status), *rest = text, *line;
  for (bool heading = true; (line = strsep(&rest, "\n")); heading = false) {
    struct trial_setting found;
    if (heading || !read_suggestion(line, &found))
      continue;
    for (uint32_t i = 0; i < trial->settings_count; i++)
      if (!strcmp(trial->settings[i].text, found.text))
        trial->settings[i] = found;
    if (!listed && trial->settings_count < TRIAL_SETTINGS_MAX)
      trial->settings[trial->settings_count++] = found;
  }
  free(text);
  if (trial->settings_count)
    return true;
  if (status)
    return fail_to_choose(trials, status, message, message_size);
  return refuse(message, message_size,
                "--try: no finding of this run suggests a setting: nothing is tried; list settings, such as "
                "--try='OMP_NUM_THREADS=2; OMP_WAIT_POLICY=passive'");
}

/* ---- the record ---- */

static bool write_record(const struct trials *trials, char *message, size_t message_size)
{
  char name[] = TRIAL_FILE "-XXXXXX";
  int directory = safe_file_open_directory(trials->directory), fd = -1;
  bool written = false;
  if (directory >= 0)
    fd = safe_file_make(directory, name, 0);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (file) {
    trial_write(&trials->record, file);
    bool failed = ferror(file);
    written = fclose(file) == 0 && !failed && renameat(directory, name, directory, TRIAL_FILE) == 0;
  }
  int error = errno;
  if (fd >= 0 && !written)
    unlinkat(directory, name, 0);
  if (directory >= 0)
    close(directory);
  return written || refuse(message, message_size, "cannot write what was tried to '%.600s/" TRIAL_FILE "': %s",
                           trials->directory, strerror(error));
}

/* ---- the budget ---- */

/* Whether each setting that is still tried is known well enough. */
static bool known(const struct trial *trial, const bool *left_out)
{
  double *differences = xcalloc(trial->runs_count, sizeof *differences), base_s;
  bool all = true;
  for (uint32_t i = 1; i <= trial->settings_count && all; i++) {
    size_t count = trial_differences(trial, i, differences, &base_s);
    all = left_out[i] ||
          (count >= TRIAL_ROUNDS_LEAST && pairs_compute(differences, count).half <= TRIAL_PRECISION * base_s);
  }
  free(differences);
  return all;
}

static bool all_left_out(const struct trial *trial, const bool *left_out)
{
  bool all = true;
  for (uint32_t i = 1; i <= trial->settings_count; i++)
    all &= left_out[i];
  return all;
}

/* Returns why there is no further round after that one, or TRIAL_RUNS_ON. */
static enum trial_stop stop_after(const struct trials *trials, uint32_t round, const bool *left_out, double spent_s)
{
  const struct trial *trial = &trials->record;
  bool room = trial->runs_count + trial->settings_count + 1 <= TRIAL_RUNS_MAX;
  if (all_left_out(trial, left_out))
    return TRIAL_KNOWN;
  if (round < TRIAL_ROUNDS_LEAST)
    return TRIAL_RUNS_ON;
  if (known(trial, left_out))
    return TRIAL_KNOWN;
  return trials->time_s > spent_s && room ? TRIAL_RUNS_ON : TRIAL_SPENT;
}

static double now_s(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / ns_per_s;
}

/* ---- rounds ---- */

enum { TRIED_MAX = TRIAL_SETTINGS_MAX + 1 }; /* the settings, and COMMAND unchanged */

/* Fills order[] with the numbers 0 to count - 1 in random order. */
static void shuffle(uint32_t *order, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
      random = (uint32_t)(now_s() * 1e6);
    uint32_t at = random % (i + 1);
    order[i] = order[at];
    order[at] = i;
  }
}

/* What the rounds share. */
struct rounds {
  struct trials *trials;
  struct printed_lines reference[REPETITION_STREAMS]; /* of the first unchanged run, in the first round */
  bool left_out[TRIED_MAX];
  char *message;
  size_t message_size;
};

static void compare_printed(const struct rounds *rounds, const struct repetition *repetition, struct trial_run *run)
{
  run->other_lines = run->number_lines = 0;
  for (int i = 0; i < REPETITION_STREAMS; i++) {
    uint32_t other, numbers;
    printed_lines_compare(&rounds->reference[i], &repetition->printed[i], &other, &numbers);
    run->other_lines += other;
    run->number_lines += numbers;
  }
}

/* Runs COMMAND with a setting; again if it was stopped meanwhile.  Returns false if no process can be started. */
static bool run_unstopped(const struct trials *trials, uint32_t setting, struct repetition *repetition)
{
  bool started;
  do {
    repetition_release(repetition);
    if (trials->input_begin >= 0)
      lseek(STDIN_FILENO, trials->input_begin, SEEK_SET);
    started = repetition_run(trials->command, setting ? trials->record.settings[setting - 1].text : "",
                             trials->record.limit_ns, repetition);
  } while (started && repetition->stopped && !child_ending_signal());
  return started;
}

/* Runs one repetition.  Returns whether the rounds go on; otherwise sets the record's `stop` or, without that, the
 * message. */
static bool run_one(struct rounds *rounds, uint32_t round, uint32_t setting, struct repetition *repetition)
{
  struct trials *trials = rounds->trials;
  struct trial *trial = &trials->record;
  if (!run_unstopped(trials, setting, repetition))
    return refuse(rounds->message, rounds->message_size, "--try: cannot start a process: %s", strerror(errno));
  if (child_ending_signal()) {
    trial->stop = TRIAL_INTERRUPTED;
    return false;
  }
  repetition->run.round = round;
  repetition->run.setting = setting;
  rounds->left_out[setting] = !trial_ended_well(&repetition->run);
  if (rounds->left_out[0])
    trial->stop = TRIAL_BASELINE;
  return true;
}

/* Runs COMMAND unchanged, and with each setting that is not left out.  Returns whether all went well. */
static bool run_round(struct rounds *rounds, uint32_t round)
{
  struct trial *trial = &rounds->trials->record;
  struct repetition repetitions[TRIED_MAX] = {0}; /* in the first round, what runs print is compared at its end */
  uint32_t order[TRIED_MAX], first = trial->runs_count, count = trial->settings_count + 1;
  bool goes_on = true, has_reference = false;
  shuffle(order, count);
  for (uint32_t i = 0; i < count && goes_on && trial->stop == TRIAL_RUNS_ON; i++) {
    struct repetition *repetition = &repetitions[order[i]];
    if (rounds->left_out[order[i]])
      continue;
    goes_on = run_one(rounds, round, order[i], repetition);
    if (!goes_on)
      break;
    if (round > 1)
      compare_printed(rounds, repetition, &repetition->run);
    *XAPPEND(trial->runs, trial->runs_count, trial->runs_room) = repetition->run;
    has_reference |= round == 1 && !order[i];
    goes_on = write_record(rounds->trials, rounds->message, rounds->message_size);
  }
  if (round == 1)
    memcpy(rounds->reference, repetitions[0].printed, sizeof rounds->reference);
  for (uint32_t i = first; i < trial->runs_count && has_reference; i++)
    compare_printed(rounds, &repetitions[trial->runs[i].setting], &trial->runs[i]);
  for (uint32_t i = round == 1; i < TRIED_MAX; i++)
    repetition_release(&repetitions[i]);
  return goes_on;
}

static void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print_line(const char *format, ...)
{
  char text[TRIAL_TEXT_MAX + 512], line[2 * sizeof text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  escape_text(text, line, sizeof line);
  fprintf(stderr, "hpcrun-lite: %s\n", line);
}

/* Returns how many decimals of a time are of interest. */
static int decimals(double seconds)
{
  return seconds < 10 ? 2 : 0;
}

/* Prints how often COMMAND runs, and for how long. */
static void announce_runs(const struct trials *trials)
{
  const struct trial *trial = &trials->record;
  uint32_t runs = TRIAL_ROUNDS_LEAST * (1 + trial->settings_count);
  double first_s = (double)trials->first_ns / ns_per_s, all_s = runs * first_s;
  double limit_s = (double)trial->limit_ns / ns_per_s;
  char settings[64] = "the setting", until[128] = "";
  if (trial->settings_count > 1)
    snprintf(settings, sizeof settings, "each of %" PRIu32 " settings", trial->settings_count);
  if (trials->time_s > 0)
    snprintf(until, sizeof until, ", then until gains are known to 3 %% or %.*f s have passed",
             decimals(trials->time_s), trials->time_s);
  print_line("--try: COMMAND now runs %s%" PRIu32 " times without measurement: %d times unchanged, %d times with %s%s; "
             "about %.*f s each, %.*f s in all%s; a run that takes longer than %.*f s is ended",
             *until ? "at least " : "", runs, TRIAL_ROUNDS_LEAST, TRIAL_ROUNDS_LEAST, settings, until,
             decimals(first_s), first_s, decimals(all_s), all_s, *until ? " for these" : "", decimals(limit_s),
             limit_s);
}

static void announce(const struct trials *trials)
{
  const struct trial *trial = &trials->record;
  if (trials->quiet)
    return;
  for (uint32_t i = 0; i < trial->settings_count; i++) {
    const struct trial_setting *setting = &trial->settings[i];
    print_line("--try: setting %" PRIu32 ": %s%s%s", i + 1, setting->text, *setting->class ? ", for the finding " : "",
               setting->class);
  }
  announce_runs(trials);
  print_line("--try: each run overwrites the files that COMMAND writes (^C stops); its output is compared, not shown");
}

bool trials_run(struct trials *trials, char *message, size_t message_size)
{
  struct trial *trial = &trials->record;
  assert(trial->settings_count && trials->directory[0] && trials->first_ns);
  struct rounds rounds = {.trials = trials, .message = message, .message_size = message_size};
  double start_s = now_s();
  bool goes_on = true;
  trial->measured_ns = trials->first_ns;
  trial->limit_ns = MAX(LIMIT_FACTOR * trials->first_ns, limit_least_ns);
  announce(trials);
  for (uint32_t round = 1; goes_on && trial->stop == TRIAL_RUNS_ON; round++) {
    goes_on = run_round(&rounds, round);
    if (goes_on && trial->stop == TRIAL_RUNS_ON)
      trial->stop = stop_after(trials, round, rounds.left_out, now_s() - start_s);
  }
  for (int i = 0; i < REPETITION_STREAMS; i++)
    printed_lines_release(&rounds.reference[i]);
  bool stopped = trial->stop != TRIAL_RUNS_ON;
  return stopped && write_record(trials, message, message_size);
}
