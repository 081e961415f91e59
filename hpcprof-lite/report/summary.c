#include "hpcprof-lite/report/summary.h"

#include "hpcprof-lite/read.h"
#include "hpcprof-lite/report/screen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 16, LINE_MAX = 4096, PATH_TEXT_MAX = LINE_MAX + 16, BAR_MAX = 30, NOTES_MAX = 4 };

struct summary {
  const struct report *report;
  FILE *stream;
  struct screen screen;
};

/* Prints a line, shortened to the screen's width. */
static void print_line(const struct summary *summary, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_line(const struct summary *summary, const char *format, ...)
{
  char text[LINE_MAX], fitted[SCREEN_TEXT_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  size_t length = strlen(text);
  while (length && text[length - 1] == ' ')
    text[--length] = 0;
  screen_fit(&summary->screen, text, summary->screen.width, fitted);
  fprintf(summary->stream, "%s\n", fitted);
}

static void print_title(const struct summary *summary, const char *title)
{
  fprintf(summary->stream, "\n%s%s%s\n", screen_bold(&summary->screen), title, screen_plain(&summary->screen));
}

static const char *plural(uint64_t count)
{
  return count == 1 ? "" : "s";
}

static void seconds_text(uint64_t ns, char out[CELL])
{
  screen_seconds(ns, screen_decimals(ns), out);
}

/* What drove the samples, as far as it is known: time by its period. */
static void print_sampling(const struct summary *summary)
{
  const struct report_run *run = summary->report->run;
  const struct tree_columns *columns = summary->report->columns;
  char how[128] = "";
  uint64_t period = columns->work == PROFILE_NONE ? 0 : columns->columns[columns->work].period;
  if (period)
    snprintf(how, sizeof how, ", one for each %.3f ms of a thread's time", (double)period / 1e6);
  else if (columns->events_count)
    snprintf(how, sizeof how, " of %.40s", columns->columns[columns->events[0]].name);
  print_line(summary, "%" PRIu64 " sample%s%s%s", run->samples, plural(run->samples), how,
             run->samples && run->samples < PROFILE_FEW_SAMPLES ? ": too few to conclude much" : "");
}

/* Prints a text of any length, broken at spaces, what follows indented. */
static void print_wrapped(const struct summary *summary, const char *text, size_t length)
{
  static const char indent[] = "  ";
  size_t room = summary->screen.width;
  for (bool first = true; length > 0; first = false) {
    size_t take = length, width = room - (first ? 0 : strlen(indent));
    if (take > width) {
      for (take = width; take > 0 && text[take] != ' ';)
        take--;
      if (take == 0)
        take = width;
    }
    print_line(summary, "%s%.*s", first ? "" : indent, (int)take, text);
    for (text += take, length -= take; length > 0 && *text == ' '; length--)
      text++;
  }
}

/* The lines that the processes left about how they were measured, each once. */
static void print_notes(const struct summary *summary)
{
  const struct profile *profile = summary->report->profile;
  const char *printed[NOTES_MAX];
  size_t lengths[NOTES_MAX];
  unsigned count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const char *note = profile->processes[i].usable ? profile->processes[i].notes : "";
    for (size_t length; *note && count < NOTES_MAX; note += length + (note[length] == '\n')) {
      length = strcspn(note, "\n");
      bool known = length == 0;
      for (unsigned k = 0; k < count && !known; k++)
        known = lengths[k] == length && !memcmp(printed[k], note, length);
      if (known)
        continue;
      print_wrapped(summary, note, length);
      printed[count] = note;
      lengths[count++] = length;
    }
  }
}

static void print_runtime(const struct summary *summary)
{
  const struct profile *profile = summary->report->profile;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable || !*process->runtime)
      continue;
    print_line(summary, "OpenMP%s: %s", process->flags & PROCESS_EXCHANGED ? " (exchanged)" : "", process->runtime);
    return;
  }
  if (!profile->processes_usable)
    return;
  print_line(summary, "OpenMP: not seen: the program has none, or its runtime offers no OMPT");
}

static void print_run(const struct summary *summary)
{
  const struct report_run *run = summary->report->run;
  char elapsed[CELL], cpu[CELL], fitted[SCREEN_TEXT_MAX];
  seconds_text(run->elapsed_ns, elapsed);
  seconds_text(run->cpu_ns, cpu);
  screen_fit(&summary->screen, run->command, summary->screen.width, fitted);
  fprintf(summary->stream, "%s%s%s\n", screen_bold(&summary->screen), fitted, screen_plain(&summary->screen));
  print_line(summary, "%" PRIu32 " process%s on %s, %" PRIu32 " thread%s, %s s elapsed, %s s CPU", run->processes,
             run->processes == 1 ? "" : "es", run->hosts, run->threads, plural(run->threads), elapsed, cpu);
  print_sampling(summary);
  print_runtime(summary);
  uint32_t timers = 0;
  for (uint32_t i = 0; i < summary->report->profile->processes_count; i++)
    timers += (summary->report->profile->processes[i].flags & PROCESS_TIMERS) != 0;
  if (timers)
    print_line(summary, "CPU time sampled by timers: perf_event may not sample the kernel here;\n  "
                        "sysctl kernel.perf_event_paranoid=1 allows it, and finer rates");
  print_notes(summary);
}

static void print_category(const struct summary *summary, const char *name, uint64_t ns, uint64_t all, const char *how)
{
  char seconds[CELL], percent[CELL], bar[BAR_MAX + 1];
  screen_seconds(ns, screen_decimals(all), seconds);
  screen_percent(ns, all, percent);
  size_t length = all ? (size_t)((double)ns / (double)all * BAR_MAX + 0.5) : 0;
  memset(bar, '#', sizeof bar);
  bar[length < BAR_MAX ? length : BAR_MAX] = 0;
  print_line(summary, "  %-10s %10s %6s  %-7s  %s", name, seconds, percent, how, bar);
}

static void print_categories(const struct summary *summary)
{
  const struct report_run *run = summary->report->run;
  uint64_t all = run->work_ns + run->overhead_ns + run->lockwait_ns + run->idle_ns;
  print_title(summary, "Where the time went");
  print_line(summary, "  %-10s %10s %6s", "", "thread-s", "%");
  print_category(summary, "work", run->work_ns, all, "sampled");
  print_category(summary, "overhead", run->overhead_ns, all, "sampled");
  print_category(summary, "lock wait", run->lockwait_ns, all, "exact");
  print_category(summary, "idle", run->idle_ns, all, "exact");
}

/* "main > solve > parallel @ solve.c:42": the callers of a context, as many of the inner ones as fit. */
static void path_text(const struct summary *summary, uint32_t row, unsigned width, char out[PATH_TEXT_MAX])
{
  const struct tree *tree = summary->report->tree;
  enum { STEPS = 24, STEP_LEAST = 14 };
  uint32_t path[STEPS];
  size_t count = 0;
  for (uint32_t up = tree->rows[row].parent; up && up != PROFILE_NONE && count < STEPS; up = tree->rows[up].parent)
    path[count++] = up;
  char text[LINE_MAX] = "";
  unsigned used = 0;
  size_t first = 0;
  for (; first < count; first++) { /* from the inside out */
    char name[SCREEN_TEXT_MAX];
    const char *whole_name = tree->rows[path[first]].name;
    unsigned length = screen_fit(&summary->screen, whole_name, width / 2, name);
    if (first && used + length + 3 + 5 > width)
      length = screen_fit(&summary->screen, whole_name, STEP_LEAST, name);
    if (first && used + length + 3 + 5 > width)
      break;
    char longer[LINE_MAX];
    int written = snprintf(longer, sizeof longer, "%s%s%s", name, *text ? " > " : "", text);
    if (written < 0 || (size_t)written >= sizeof longer)
      break;
    memcpy(text, longer, (size_t)written + 1);
    used += length + (first ? 3 : 0);
  }
  bool whole = first == count && (!count || tree->rows[path[count - 1]].parent == 0);
  snprintf(out, PATH_TEXT_MAX, "%s%s", whole ? "" : summary->screen.dots ? "\xe2\x80\xa6 > " : ".. > ", text);
}

static void print_hot(const struct summary *summary)
{
  const struct report *report = summary->report;
  uint64_t whole = tree_spent(report->flat, report->columns, 0, true);
  bool time = report->columns->work != PROFILE_NONE || report->columns->overhead != PROFILE_NONE;
  if (!report->hot_count)
    return;
  print_title(summary, "Hottest functions, and the path on which most of that was spent");
  print_line(summary, "  %8s %6s", time ? "own s" : "own", "%");
  for (uint32_t i = 0; i < report->hot_count; i++) {
    const struct report_hot *hot = &report->hot[i];
    uint64_t weight = tree_spent(report->flat, report->columns, hot->flat, false);
    uint64_t samples = tree_excl(report->flat, hot->flat, report->columns->samples);
    bool few = report->columns->samples != PROFILE_NONE && samples < PROFILE_FEW_SAMPLES;
    char figure[CELL], percent[CELL], name[SCREEN_TEXT_MAX], path[PATH_TEXT_MAX];
    if (time)
      screen_seconds(weight, screen_decimals(whole), figure);
    else
      screen_count(weight, figure);
    screen_percent(weight, whole, percent);
    screen_fit(&summary->screen, report->flat->rows[hot->flat].name, summary->screen.width - 20, name);
    fprintf(summary->stream, "  %8s%c%6s  %s\n", figure, few ? '*' : ' ', percent, name);
    path_text(summary, hot->context, summary->screen.width - 21, path);
    if (*path)
      fprintf(summary->stream, "%21s%s%s%s\n", "", screen_dim(&summary->screen), path, screen_plain(&summary->screen));
  }
}

/* What to do about a loss, by its place in enum profile_loss. */
static const char *remedy(unsigned loss)
{
  static const char *const remedies[LOSS_MAX] = {
      [LOSS_MEMORY] = "sample less often (-e task-clock@f100)",
      [LOSS_REFUSED] = "counted as the tool's own time",
      [LOSS_UNKNOWN] = "threads made before the tool was ready",
      [LOSS_PARTIAL] = "kept below '[unwind cut short]'",
      [LOSS_UNRESOLVED] = "kept below '[unwind cut short]'",
      [LOSS_MODULES] = "generated code, or too many libraries",
      [LOSS_EVENTS] = "see hpcrun-lite --diagnose",
      [LOSS_THREADS] = "too many threads at once",
      [LOSS_WRITES] = "make room on the disk",
  };
  return loss < LOSS_MAX && remedies[loss] ? remedies[loss] : "";
}

static unsigned print_losses(const struct summary *summary)
{
  const struct report_run *run = summary->report->run;
  unsigned lines = 0;
  for (unsigned i = 0; i < LOSS_MAX; i++) {
    if (!run->lost[i])
      continue;
    const char *name = read_loss_name(i), *what = remedy(i);
    char share[CELL] = "", text[CELL + 8] = "";
    screen_percent(run->lost[i], run->samples, share);
    if (run->samples && (i == LOSS_PARTIAL || i == LOSS_UNRESOLVED || i == LOSS_MEMORY || i == LOSS_REFUSED))
      snprintf(text, sizeof text, " (%s %%)", share);
    print_line(summary, "  %" PRIu64 " %s%s%s%s", run->lost[i], name ? name : "losses of another kind", text,
               *what ? ": " : "", what);
    lines++;
  }
  return lines;
}

static unsigned print_modules(const struct summary *summary)
{
  const struct report *report = summary->report;
  uint64_t whole = tree_spent(report->tree, report->columns, 0, true);
  for (uint32_t i = 0; i < report->modules_count; i++) {
    const struct report_module *module = &report->modules[i];
    const struct profile_module *file = &report->profile->catalog.modules[module->module];
    char percent[CELL];
    screen_percent(module->weight, whole, percent);
    const char *missing = module->unnamed ? "no symbols" : "no source lines";
    bool made = file->flags & (MODULE_ANON | MODULE_VDSO);
    bool system = !strncmp(file->path, "/usr/", 5) || !strncmp(file->path, "/lib", 4);
    const char *what = made ? "" : system ? " (-dbgsym package)" : " (build with -g)";
    char name[SCREEN_TEXT_MAX];
    screen_fit(&summary->screen, file->name, 24, name);
    print_line(summary, "  %s %% of the time in %s: %s%s", percent, name, missing, what);
  }
  return report->modules_count;
}

/* Waiting that was measured exactly but hardly sampled is sleeping: CPU time does not show where. */
static unsigned print_sleeping(const struct summary *summary)
{
  const struct report_run *run = summary->report->run;
  uint64_t exact = run->lockwait_ns, sampled = run->lockwait_sampled_ns;
  uint64_t all = run->work_ns + run->overhead_ns + run->lockwait_ns + run->idle_ns;
  if (exact < all / 50 || sampled >= exact / 2)
    return 0;
  print_line(summary, "  lock waits were mostly slept: measure with -e wall to see where");
  return 1;
}

static void print_health(const struct summary *summary)
{
  print_title(summary, "Health of the measurement");
  unsigned lines = print_losses(summary);
  lines += print_modules(summary);
  lines += print_sleeping(summary);
  if (!lines)
    print_line(summary, "  nothing lost; every function has a name");
}

/* The view that says most about what stands out, as a command to copy: with the directory's name if that fits. */
static void print_next(const struct summary *summary)
{
  const struct report_run *run = summary->report->run;
  uint64_t all = run->work_ns + run->overhead_ns + run->lockwait_ns + run->idle_ns;
  const char *why = "all calling paths", *view = "topdown", *directory = summary->report->directory;
  if (run->idle_ns > all / 4) {
    why = "which threads idle";
    view = "threads";
  } else if (run->overhead_ns > all / 10) {
    why = "who calls for the overhead";
    view = "bottomup";
  }
  char command[LINE_MAX], fitted[SCREEN_TEXT_MAX];
  int length = snprintf(command, sizeof command, "  hpcprof-lite --view %s %s", view, directory);
  if (length < 0 || (unsigned)length > summary->screen.width)
    snprintf(command, sizeof command, "  hpcprof-lite --view %s DIR", view);
  if (!run->samples) {
    print_title(summary, "Nothing was sampled: the program ran too briefly");
    print_line(summary, "  measure again with more samples: hpcrun-lite -e task-clock@f1000 COMMAND");
    return;
  }
  screen_fit(&summary->screen, command, summary->screen.width, fitted);
  fprintf(summary->stream, "\n%sLook next:%s %s\n%s\n", screen_bold(&summary->screen), screen_plain(&summary->screen),
          why, fitted);
}

void summary_text(const struct report *report)
{
  struct summary summary = {.report = report, .stream = report->stream};
  screen_init(&summary.screen, report->stream);
  print_run(&summary);
  print_categories(&summary);
  print_hot(&summary);
  print_health(&summary);
  print_next(&summary);
}
