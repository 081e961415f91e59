#include "common/trial.h"

#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const trial_ends[TRIAL_ENDS] = {
    [TRIAL_EXITED] = "exited", [TRIAL_KILLED] = "killed", [TRIAL_TIMED_OUT] = "timed-out", [TRIAL_FAILED] = "not-run"};
static const char *const trial_stops[TRIAL_STOPS] = {[TRIAL_RUNS_ON] = "",
                                                     [TRIAL_KNOWN] = "known",
                                                     [TRIAL_SPENT] = "spent",
                                                     [TRIAL_INTERRUPTED] = "interrupted",
                                                     [TRIAL_BASELINE] = "baseline"};

static const double ns_per_s = 1e9;

/* ---- writing ---- */

static void write_setting(const struct trial_setting *setting, FILE *stream)
{
  assert(*setting->text && !strchr(setting->text, '\n'));
  fprintf(stream, "setting %s", *setting->class ? setting->class : "-");
  if (setting->forecast)
    fprintf(stream, " %.0f %.0f %.0f", setting->low_s * ns_per_s, setting->gain_s * ns_per_s,
            setting->high_s * ns_per_s);
  else
    fputs(" - - -", stream);
  fprintf(stream, " %s\n", setting->text);
}

static void write_run(const struct trial_run *run, FILE *stream)
{
  assert(run->end < TRIAL_ENDS);
  fprintf(stream, "run %" PRIu32 " %" PRIu32 " %" PRIu64, run->round, run->setting, run->elapsed_ns);
  if (run->others_ns == TRIAL_UNKNOWN)
    fputs(" -", stream);
  else
    fprintf(stream, " %" PRIu64, run->others_ns);
  fprintf(stream, " %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", trial_ends[run->end], run->code, run->other_lines,
          run->number_lines);
}

void trial_write(const struct trial *trial, FILE *stream)
{
  assert(trial->settings_count <= TRIAL_SETTINGS_MAX && trial->stop < TRIAL_STOPS);
  fprintf(stream, TRIAL_TITLE "measured %" PRIu64 "\nlimit %" PRIu64 "\n", trial->measured_ns, trial->limit_ns);
  for (uint32_t i = 0; i < trial->settings_count; i++)
    write_setting(&trial->settings[i], stream);
  for (uint32_t i = 0; i < trial->runs_count; i++)
    write_run(&trial->runs[i], stream);
  if (trial->stop != TRIAL_RUNS_ON)
    fprintf(stream, "stop %s\n", trial_stops[trial->stop]);
}

/* ---- reading ---- */

/* Takes the next word of a line, which ends before *end; false if there is none. */
static bool take_word(const char **at, const char *end, const char **word, size_t *length)
{
  assert(*at <= end);
  *word = *at;
  *length = strcspn(*at, " \n");
  if (*length > (size_t)(end - *at))
    *length = (size_t)(end - *at);
  *at += *length;
  if (*at < end)
    ++*at;
  return *length > 0;
}

/* Takes a number of at most `most`. */
static bool take_number(const char **at, const char *end, uint64_t most, uint64_t *number)
{
  enum { DIGITS_MAX = 18 };
  const char *word;
  size_t length;
  if (!take_word(at, end, &word, &length) || length > DIGITS_MAX)
    return false;
  *number = 0;
  for (size_t i = 0; i < length; i++) {
    if (word[i] < '0' || word[i] > '9')
      return false;
    *number = 10 * *number + (uint64_t)(word[i] - '0');
  }
  return *number <= most;
}

static bool take_count(const char **at, const char *end, uint32_t *number)
{
  uint64_t value;
  bool taken = take_number(at, end, UINT32_MAX, &value);
  *number = taken ? (uint32_t)value : 0;
  return taken;
}

static bool is_unknown(const char *at, const char *end)
{
  return end - at >= 2 && at[0] == '-' && at[1] == ' ';
}

/* Takes seconds, which may be negative. */
static bool take_seconds(const char **at, const char *end, double *seconds)
{
  uint64_t ns;
  bool negative = *at < end && **at == '-';
  *at += negative;
  bool taken = take_number(at, end, UINT64_MAX, &ns);
  *seconds = taken ? (double)ns / ns_per_s : 0;
  if (negative)
    *seconds = -*seconds;
  return taken;
}

/* Takes one of several words. */
static bool take_choice(const char **at, const char *end, const char *const *words, unsigned count, unsigned *choice)
{
  const char *word;
  size_t length;
  bool taken = take_word(at, end, &word, &length);
  for (*choice = 0; taken && *choice < count; ++*choice)
    if (strlen(words[*choice]) == length && !memcmp(words[*choice], word, length))
      return true;
  return false;
}

static bool read_setting(const char *at, const char *end, struct trial *trial)
{
  struct trial_setting setting = {0};
  const char *word;
  size_t length;
  if (trial->settings_count == TRIAL_SETTINGS_MAX || !take_word(&at, end, &word, &length) ||
      length >= sizeof setting.class)
    return false;
  if (length != 1 || *word != '-')
    memcpy(setting.class, word, length);
  setting.forecast = !is_unknown(at, end);
  if (setting.forecast) {
    if (!take_seconds(&at, end, &setting.low_s) || !take_seconds(&at, end, &setting.gain_s) ||
        !take_seconds(&at, end, &setting.high_s))
      return false;
  } else {
    for (int i = 0; i < 3; i++, at += 2)
      if (!is_unknown(at, end))
        return false;
  }
  if (at >= end || (size_t)(end - at) >= sizeof setting.text)
    return false;
  memcpy(setting.text, at, (size_t)(end - at));
  trial->settings[trial->settings_count++] = setting;
  return true;
}

static bool read_run(const char *at, const char *end, struct trial *trial)
{
  struct trial_run run = {.others_ns = TRIAL_UNKNOWN};
  unsigned choice;
  if (trial->runs_count == TRIAL_RUNS_MAX || !take_count(&at, end, &run.round) || !take_count(&at, end, &run.setting) ||
      !run.round || run.setting > trial->settings_count || !take_number(&at, end, UINT64_MAX, &run.elapsed_ns))
    return false;
  if (is_unknown(at, end))
    at += 2;
  else if (!take_number(&at, end, UINT64_MAX, &run.others_ns))
    return false;
  if (!take_choice(&at, end, trial_ends, TRIAL_ENDS, &choice) || !take_count(&at, end, &run.code) ||
      !take_count(&at, end, &run.other_lines) || !take_count(&at, end, &run.number_lines) || at != end)
    return false;
  run.end = (enum trial_end)choice;
  *XAPPEND(trial->runs, trial->runs_count, trial->runs_room) = run;
  return true;
}

static bool read_stop(const char *at, const char *end, struct trial *trial)
{
  unsigned choice;
  bool taken = take_choice(&at, end, trial_stops, TRIAL_STOPS, &choice);
  if (taken)
    trial->stop = (enum trial_stop)choice;
  return taken;
}

static bool read_line(const char *at, const char *end, struct trial *trial)
{
  enum { MEASURED, LIMIT, SETTING, RUN, STOP, LINES };
  static const char *const lines[LINES] = {"measured", "limit", "setting", "run", "stop"};
  unsigned line;
  if (trial->stop != TRIAL_RUNS_ON || !take_choice(&at, end, lines, LINES, &line))
    return false;
  switch (line) {
  case MEASURED:
    return take_number(&at, end, UINT64_MAX, &trial->measured_ns);
  case LIMIT:
    return take_number(&at, end, UINT64_MAX, &trial->limit_ns);
  case SETTING:
    return !trial->runs_count && read_setting(at, end, trial);
  case RUN:
    return read_run(at, end, trial);
  default:
    return read_stop(at, end, trial);
  }
}

unsigned trial_read(const char *text, struct trial *trial)
{
  *trial = (struct trial){0};
  unsigned number = 1;
  if (strncmp(text, TRIAL_TITLE, strlen(TRIAL_TITLE)) != 0)
    return number;
  for (const char *at = text + strlen(TRIAL_TITLE), *end; *at; at = end + 1) {
    number++;
    end = strchr(at, '\n');
    if (!end || !read_line(at, end, trial))
      return number;
  }
  return 0;
}

/* ---- figures ---- */

size_t trial_differences(const struct trial *trial, uint32_t setting, double *differences, double *base_s)
{
  assert(setting && setting <= trial->settings_count);
  size_t count = 0;
  double sum_s = 0;
  for (uint32_t first = 0, next; first < trial->runs_count; first = next) { /* a round at a time */
    const struct trial_run *base = NULL, *tried = NULL;
    for (next = first; next < trial->runs_count && trial->runs[next].round == trial->runs[first].round; next++) {
      const struct trial_run *run = &trial->runs[next];
      if (!run->setting && trial_ended_well(run))
        base = run;
      else if (run->setting == setting && trial_ended_well(run))
        tried = run;
    }
    if (!base || !tried)
      continue;
    differences[count++] = ((double)base->elapsed_ns - (double)tried->elapsed_ns) / ns_per_s;
    sum_s += (double)base->elapsed_ns / ns_per_s;
  }
  *base_s = count ? sum_s / (double)count : 0;
  return count;
}

void trial_release(struct trial *trial)
{
  free(trial->runs);
  *trial = (struct trial){0};
}
