#include "hpcprof-lite/report/summary.h"

#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 16, LINE_MAX = 4096, BAR_MAX = 30, NOTES_MAX = 4, SHOWN = 1000 };

struct summary {
  const struct report *report;
  FILE *stream;
  struct terminal terminal;
};

/* Prints a line, shortened to the terminal's width. */
static void print_line(const struct summary *summary, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_line(const struct summary *summary, const char *format, ...)
{
  char text[LINE_MAX], fitted[TERMINAL_TEXT_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  size_t length = strlen(text);
  while (length && text[length - 1] == ' ')
    text[--length] = 0;
  terminal_fit(&summary->terminal, text, summary->terminal.width, fitted);
  fprintf(summary->stream, "%s\n", fitted);
}

static void print_title(const struct summary *summary, const char *title)
{
  fprintf(summary->stream, "\n%s%s%s\n", terminal_bold(&summary->terminal), title, terminal_plain(&summary->terminal));
}

static const char *plural(uint64_t count)
{
  return count == 1 ? "" : "s";
}

static void seconds_text(uint64_t ns, char out[CELL])
{
  terminal_seconds(ns, terminal_decimals(ns), out);
}

/* Prints a text of any length below a title. */
static void print_wrapped(const struct summary *summary, const char *text)
{
  terminal_wrap(&summary->terminal, summary->stream, "  ", "    ", text);
}

static void print_hint(const struct summary *summary, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_hint(const struct summary *summary, const char *format, ...)
{
  char text[LINE_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  print_wrapped(summary, text);
}

/* What triggers samples, and their period where it is a time. */
static void print_sampling(const struct summary *summary)
{
  const struct totals *run = summary->report->totals;
  const struct tree_columns *columns = summary->report->columns;
  char how[128] = "";
  uint64_t period = columns->work == MODEL_NONE ? 0 : columns->columns[columns->work].period;
  if (period)
    snprintf(how, sizeof how, ", one for every %.3f ms of a thread's time", (double)period / 1e6);
  else if (columns->events_count)
    snprintf(how, sizeof how, " of %.40s", columns->columns[columns->events[0]].name);
  print_line(summary, "%" PRIu64 " sample%s%s%s", run->samples, plural(run->samples), how,
             run->samples && run->samples < MODEL_FEW_SAMPLES ? ": too few for conclusions" : "");
}

/* Prints each note of the processes about how they were measured once. */
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
      char text[LINE_MAX];
      snprintf(text, sizeof text, "%.*s", (int)length, note);
      terminal_wrap(&summary->terminal, summary->stream, "", "  ", text);
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
    print_line(summary, "OpenMP runtime%s: %s", process->flags & PROCESS_EXCHANGED ? " (replaced)" : "",
               process->runtime);
    return;
  }
  if (!profile->processes_usable)
    return;
  print_line(summary, "OpenMP: not seen; not used, or its runtime was not measured");
}

static void print_run(const struct summary *summary)
{
  const struct totals *run = summary->report->totals;
  char elapsed[CELL], cpu[CELL], fitted[TERMINAL_TEXT_MAX];
  seconds_text(run->elapsed_ns, elapsed);
  seconds_text(run->cpu_ns, cpu);
  terminal_fit(&summary->terminal, run->command, summary->terminal.width, fitted);
  fprintf(summary->stream, "%s%s%s\n", terminal_bold(&summary->terminal), fitted, terminal_plain(&summary->terminal));
  print_line(summary, "%" PRIu32 " process%s on %s, %" PRIu32 " thread%s, %s s elapsed, %s s CPU", run->processes,
             run->processes == 1 ? "" : "es", run->hosts, run->threads, plural(run->threads), elapsed, cpu);
  print_sampling(summary);
  print_runtime(summary);
  uint32_t timers = 0;
  for (uint32_t i = 0; i < summary->report->profile->processes_count; i++)
    timers += (summary->report->profile->processes[i].flags & PROCESS_TIMERS) != 0;
  if (timers)
    print_line(summary, "CPU time was sampled by timers, because perf_event is not permitted here;\n  "
                        "sysctl kernel.perf_event_paranoid=1 permits it, and finer rates");
  print_notes(summary);
}

/* Prints one of the four categories; exact: as timed by the runtime's callbacks, or NULL if it
 * was not. */
static void print_category(const struct summary *summary, const char *name, uint64_t ns, uint64_t all,
                           const uint64_t *exact)
{
  char seconds[CELL], percent[CELL], callbacks[CELL] = "", bar[BAR_MAX + 1];
  terminal_seconds(ns, terminal_decimals(all), seconds);
  terminal_percent(ns, all, percent);
  if (exact)
    terminal_seconds(*exact, terminal_decimals(*exact), callbacks);
  size_t length = all ? (size_t)((double)ns / (double)all * BAR_MAX + 0.5) : 0;
  memset(bar, '#', sizeof bar);
  bar[length < BAR_MAX ? length : BAR_MAX] = 0;
  print_line(summary, "  %-10s %10s %6s %9s  %s", name, seconds, percent, callbacks, bar);
}

/* Prints the sum of the four categories beside the time that they should add up to. */
static void print_sum(const struct summary *summary, uint64_t all)
{
  const struct totals *run = summary->report->totals;
  char seconds[CELL], percent[CELL], elapsed[CELL], whole[CELL], of[LINE_MAX];
  if (!run->openmp_processes || !all || summary->report->columns->idleness == MODEL_NONE)
    return;
  const char *what = summary->report->baseline == BASELINE_CORE ? "core" : "thread";
  seconds_text(run->elapsed_ns, elapsed);
  seconds_text(run->baseline_ns, whole);
  if (run->openmp_processes == 1 && run->processes == 1)
    snprintf(of, sizeof of, "%" PRIu32 " %s%s x %s s", run->baseline, what, plural(run->baseline), elapsed);
  else
    snprintf(of, sizeof of, "%s s (%ss x elapsed)", whole, what);
  terminal_seconds(all, terminal_decimals(all), seconds);
  terminal_percent(all, run->baseline_ns, percent);
  print_line(summary, "  %-10s %10s  100.0  = %s %% of %s", "sum", seconds, percent, of);
}

/* Time in a category as charged to contexts, or else as timed. */
static uint64_t lock_ns(const struct report *report)
{
  return report->columns->lockwait == MODEL_NONE ? report->totals->lockwait_ns : report->totals->caused_lock_ns;
}

static uint64_t idle_ns(const struct report *report)
{
  return report->columns->idleness == MODEL_NONE ? report->totals->idle_ns : report->totals->caused_idle_ns;
}

static uint64_t all_ns(const struct report *report)
{
  const struct totals *run = report->totals;
  uint64_t spent = model_sum(run->work_ns, run->overhead_ns);
  uint64_t beside = model_sum(run->tool_ns, model_sum(run->core_wait_ns, run->blocked_ns));
  return model_sum(model_sum(spent, beside), model_sum(lock_ns(report), idle_ns(report)));
}

static bool mostly_blocked(const struct report *report)
{
  return report->totals->blocked_ns > all_ns(report) / 2;
}

/* Prints, before the figures, what makes them less reliable. */
static void print_fitness(const struct summary *summary)
{
  enum { MUCH = 10 };
  const struct totals *run = summary->report->totals;
  uint64_t all = all_ns(summary->report);
  char percent[CELL];
  if (run->tool_ns > all / MUCH) {
    terminal_percent(run->tool_ns, all, percent);
    print_hint(summary,
               "This tool took %s %% of the time, because the program's tasks or regions are very short: times of "
               "short constructs are too long here; -p off reduces this",
               percent);
  }
  if (run->core_wait_ns > all / MUCH) {
    terminal_percent(run->core_wait_ns, all, percent);
    print_hint(summary,
               "Threads were ready to run but had no core for %s %% of the time: more threads than cores, or other "
               "programs; threads were idle longer than on a free machine",
               percent);
  }
  if (mostly_blocked(summary->report)) {
    terminal_percent(run->blocked_ns, all, percent);
    print_hint(summary, "Threads were blocked in calls outside OpenMP for %s %% of the time%s", percent,
               run->by_wall ? "" : "; measure with -e wall to see where");
  }
}

static void print_categories(const struct summary *summary)
{
  static const char *const against[] = {[BASELINE_THREAD] = "the most threads ever in use",
                                        [BASELINE_CORE] = "the cores",
                                        [BASELINE_SHARED] = "the threads in use"};
  const struct report *report = summary->report;
  const struct totals *run = report->totals;
  bool charged = report->columns->idleness != MODEL_NONE && run->openmp_processes;
  uint64_t all = all_ns(report);
  char title[LINE_MAX];
  snprintf(title, sizeof title, "Where the time went%s%s%s", charged ? " (idleness counts against " : "",
           charged ? against[report->baseline] : "", charged ? ")" : "");
  print_title(summary, title);
  print_line(summary, "  %-10s %10s %6s %9s  %s", "", "Thread s", "%", "Exact s",
             report->legend ? "" : "(--legend explains the columns)");
  print_category(summary, "work", run->work_ns, all, NULL);
  print_category(summary, "overhead", run->overhead_ns, all, NULL);
  print_category(summary, "lock wait", lock_ns(report), all, &run->lockwait_ns);
  print_category(summary, charged ? "idleness" : "idle", idle_ns(report), all, &run->idle_ns);
  if (run->blocked_ns > all / SHOWN)
    print_category(summary, "blocked", run->blocked_ns, all, NULL);
  if (run->core_wait_ns > all / SHOWN)
    print_category(summary, "no core", run->core_wait_ns, all, NULL);
  if (run->tool_ns > all / SHOWN)
    print_category(summary, "this tool", run->tool_ns, all, NULL);
  print_sum(summary, all);
}

/* Prints the command that shows a view, with the directory's name if it fits. */
static void print_command(const struct summary *summary, const char *view, const char *option)
{
  const char *directory = summary->report->directory;
  char command[LINE_MAX];
  int length = snprintf(command, sizeof command, "  hpcprof-lite --view %s%s %s", view, option, directory);
  bool fits = length > 0 && (unsigned)length <= summary->terminal.width;
  print_line(summary, "  hpcprof-lite --view %s%s %s", view, option, fits ? directory : "DIR");
}

/* Parallel efficiency and its losses, in the order of the efficiency view. */
static void print_efficiency(const struct summary *summary)
{
  static const char *const lost[EFFICIENCY_COUNT] = {[EFFICIENCY_BALANCE] = "idle threads in regions",
                                                     [EFFICIENCY_SERIAL] = "serial code",
                                                     [EFFICIENCY_LOCK] = "lock waiting",
                                                     [EFFICIENCY_RUNTIME] = "the OpenMP runtime"};
  const struct efficiency *efficiency = &summary->report->efficiency;
  char text[LINE_MAX];
  if (!efficiency->known)
    return;
  int length = snprintf(text, sizeof text, "Parallel efficiency %.1f %%; lost to", 100 * efficiency->value[0]);
  for (int i = EFFICIENCY_PARALLEL + 1; i < EFFICIENCY_COUNT; i++)
    length += snprintf(text + length, sizeof text - (size_t)length, "%s %s %.1f %%",
                       i == EFFICIENCY_PARALLEL + 1 ? "" : ",", lost[i], 100 * (1 - efficiency->value[i]));
  print_wrapped(summary, text);
}

/* Does one amount exceed another, one of them timed and the other sampled, by more than sampling explains?  The limit
 * is two standard errors of the n = time / period samples that it should have had: 2 sqrt(time period) of time. */
static bool differs(const struct report *report, uint64_t more, uint64_t less)
{
  uint64_t period = report->columns->work == MODEL_NONE ? 0 : report->columns->columns[report->columns->work].period;
  double gap = more > less ? (double)(more - less) : 0;
  return gap > (double)all_ns(report) / 50 && gap * gap > 4.0 * (double)more * (double)period;
}

/* Work, span, and the functions with most of the critical path, if they were measured. */
static void print_parallelism(const struct summary *summary)
{
  const struct report *report = summary->report;
  const struct profile_workspan *workspan = &report->profile->workspan;
  char work[CELL], span[CELL], text[LINE_MAX];
  if (!report->workspan.span)
    return;
  print_title(summary, "Parallelism");
  if (workspan->is_time) {
    seconds_text(workspan->work, work);
    seconds_text(workspan->span, span);
  } else {
    terminal_count(workspan->work, work);
    terminal_count(workspan->span, span);
  }
  uint64_t runtime = parallelism_runtime_ns(report);
  char of_which[96] = "", seconds[CELL];
  seconds_text(runtime, seconds);
  if (runtime)
    snprintf(of_which, sizeof of_which, " (%s s of it in the OpenMP runtime and this tool)", seconds);
  int length = snprintf(text, sizeof text, "Work %s %.20s%s, span %s, parallelism %.1f%s", work, workspan->unit,
                        of_which, span, workspan_parallelism(workspan->work, workspan->span),
                        report->critical_rows_count ? ". Critical path:" : "");
  for (uint32_t i = 0; i < report->critical_rows_count && i < 2; i++) {
    char name[TERMINAL_TEXT_MAX];
    terminal_fit(&summary->terminal, report->flat->rows[report->critical_rows[i]].name, 24, name);
    length += snprintf(text + length, sizeof text - (size_t)length, "%s %.200s %.0f %%", i ? "," : "", name,
                       100 * (double)tree_excl(report->flat, report->critical_rows[i], report->columns->critical) /
                           (double)workspan->span);
  }
  print_wrapped(summary, text);
}

/* The contexts that cause most waiting. */
static void print_worst(const struct summary *summary, const char *title, const struct causes_finding *findings,
                        uint32_t count)
{
  const struct report *report = summary->report;
  uint64_t whole = tree_weight(report->flat, report->columns, 0, true);
  if (!count)
    return;
  print_title(summary, title);
  print_line(summary, "  %8s %6s %6s   %s", "Time s", "%", "Rel%", "Caused by");
  for (uint32_t i = 0; i < count; i++) {
    const struct causes_finding *found = &findings[i];
    uint64_t samples = tree_excl(report->flat, found->flat, report->columns->samples);
    bool few = report->columns->samples != MODEL_NONE && samples < MODEL_FEW_SAMPLES;
    char cost[CELL], absolute[CELL], relative[CELL], path[CALL_PATH_TEXT_MAX];
    terminal_seconds(found->cost_ns, terminal_decimals(whole), cost);
    terminal_percent(found->cost_ns, whole, absolute);
    terminal_percent(found->cost_ns, tree_weight(report->flat, report->columns, found->flat, false), relative);
    call_path_text(&summary->terminal, report->tree, found->context, summary->terminal.width - 27, path);
    fprintf(summary->stream, "  %8s%c%6s %6s   %s\n", cost, few ? '*' : ' ', absolute, relative, path);
  }
}

static void print_hot(const struct summary *summary)
{
  const struct report *report = summary->report;
  uint64_t whole = tree_spent(report->flat, report->columns, 0, true);
  bool time = tree_has_time(report->columns);
  uint32_t found = report->idle_count + report->locks_count, most = found > 4 ? 2 : found ? 3 : report->hot_count;
  if (!report->hot_count)
    return;
  print_title(summary, "Functions with the most work and overhead, and their heaviest calling context");
  print_line(summary, "  %8s %6s  %s", time ? "Self s" : "Self", "%", "Function");
  for (uint32_t i = 0; i < report->hot_count && i < most; i++) {
    const struct hotspot *hot = &report->hot[i];
    uint64_t weight = tree_spent(report->flat, report->columns, hot->flat, false);
    uint64_t samples = tree_excl(report->flat, hot->flat, report->columns->samples);
    bool few = report->columns->samples != MODEL_NONE && samples < MODEL_FEW_SAMPLES;
    char figure[CELL], percent[CELL], name[TERMINAL_TEXT_MAX], path[CALL_PATH_TEXT_MAX];
    if (time)
      terminal_seconds(weight, terminal_decimals(whole), figure);
    else
      terminal_count(weight, figure);
    terminal_percent(weight, whole, percent);
    terminal_fit(&summary->terminal, report->flat->rows[hot->flat].name, summary->terminal.width - 20, name);
    fprintf(summary->stream, "  %8s%c%6s  %s\n", figure, few ? '*' : ' ', percent, name);
    call_path_text(&summary->terminal, report->tree, report->tree->rows[hot->context].parent,
                   summary->terminal.width - 21, path);
    if (*path)
      fprintf(summary->stream, "%21s%s%s%s\n", "", terminal_dim(&summary->terminal), path,
              terminal_plain(&summary->terminal));
  }
}

/* Prints the losses with their remedies; returns the number of lines. */
static unsigned print_losses(const struct summary *summary)
{
  const struct totals *run = summary->report->totals;
  unsigned lines = 0;
  for (unsigned i = 0; i < LOSS_MAX; i++) {
    if (!run->lost[i])
      continue;
    const char *name = loss_text(i, run->lost[i]), *remedy = loss_remedy(i);
    char share[CELL] = "", text[CELL + 8] = "";
    bool dropped = i == LOSS_MEMORY || i == LOSS_REFUSED; /* not among the samples */
    terminal_percent(run->lost[i], model_sum(run->samples, dropped ? run->lost[i] : 0), share);
    if (summary->report->profile->range.traced)
      snprintf(text, sizeof text, " (in all of the run)");
    else if (run->samples && (i == LOSS_PARTIAL || i == LOSS_UNRESOLVED || i == LOSS_MEMORY || i == LOSS_REFUSED ||
                              i == LOSS_BLAME || i == LOSS_TASKS))
      snprintf(text, sizeof text, " (%s %%)", share);
    print_hint(summary, "%" PRIu64 " %s%s%s%s", run->lost[i],
               name                ? name
               : run->lost[i] == 1 ? "loss of an unknown kind"
                                   : "losses of an unknown kind",
               text, remedy ? ": " : "", remedy ? remedy : "");
    lines++;
  }
  return lines;
}

static unsigned print_modules(const struct summary *summary)
{
  const struct report *report = summary->report;
  uint64_t whole = tree_spent(report->tree, report->columns, 0, true);
  for (uint32_t i = 0; i < report->modules_count; i++) {
    const struct unnamed_module *module = &report->modules[i];
    const struct catalog_module *file = &report->profile->catalog.modules[module->module];
    char percent[CELL];
    terminal_percent(module->weight, whole, percent);
    bool made = file->flags & (MODULE_ANON | MODULE_VDSO);
    bool system = !strncmp(file->path, "/usr/", 5) || !strncmp(file->path, "/lib", 4);
    const char *remedy = made ? "" : system ? " (install its -dbgsym package)" : " (build it with -g)";
    char name[TERMINAL_TEXT_MAX];
    terminal_fit(&summary->terminal, file->name, 24, name);
    print_hint(summary, "No %s for %s %% of the time: %s%s", module->unnamed ? "symbols" : "source lines", percent,
               name, remedy);
  }
  return report->modules_count;
}

/* Prints time that samples of CPU time do not show; returns the number of lines. */
static unsigned print_unsampled(const struct summary *summary)
{
  const struct totals *run = summary->report->totals;
  const char *where = run->by_wall ? "" : "; -e wall shows where";
  char one[CELL], other[CELL];
  unsigned hints = 0;
  seconds_text(run->lockwait_ns, one);
  seconds_text(run->lockwait_sampled_ns, other);
  if (differs(summary->report, run->lockwait_sampled_ns, run->lockwait_ns)) {
    print_hint(summary, "%s s of lock waiting were sampled but only %s s timed: the runtime does not report all waits",
               other, one);
    hints++;
  }
  if (differs(summary->report, run->lockwait_ns, run->lockwait_sampled_ns)) {
    print_hint(summary,
               "%s s of lock waiting were timed but only %s s sampled: in the remaining time the threads slept%s", one,
               other, where);
    hints++;
  }
  if (run->blocked_ns > run->openmp_wall_ns / 50 && !mostly_blocked(summary->report)) {
    seconds_text(run->blocked_ns, one);
    print_hint(summary, "OpenMP threads were blocked for %s s in I/O or waiting calls outside OpenMP%s", one,
               run->by_wall ? "" : " (-e wall shows where)");
    hints++;
  }
  if (hints && run->by_wall)
    print_hint(summary, "With -e wall, time in blocking calls that cannot be interrupted is charged when they return");
  return hints;
}

/* Processes that were killed or still run: they are known up to their last samples. */
static unsigned print_unfinished(const struct summary *summary)
{
  const struct report *report = summary->report;
  uint32_t killed = report->totals->unfinished, running = report->totals->running;
  if (killed)
    print_hint(summary, "%" PRIu32 " process%s killed, or could not write %s: reported up to %s last sample", killed,
               killed == 1 ? " was" : "es were", killed == 1 ? "its file" : "their files",
               killed == 1 ? "its" : "their");
  if (running)
    print_hint(summary, "%" PRIu32 " process%s still running: reported up to %s last sample", running,
               running == 1 ? " is" : "es are", running == 1 ? "its" : "their");
  if (!killed && !running)
    return 0;
  if (parallelism_cut(report))
    print_hint(summary,
               running ? "Work and span are known only when a process has ended"
                       : "Work and span are not known, because the process was killed or could not write its file");
  return 1;
}

static void print_health(const struct summary *summary)
{
  print_title(summary, "Measurement quality");
  unsigned lines = print_unfinished(summary);
  lines += print_losses(summary);
  lines += print_modules(summary);
  lines += print_unsampled(summary);
  if (!lines)
    print_line(summary, "  Nothing was lost; every function has a name");
}

/* The view that shows most about the largest problem. */
static const char *next_view(const struct report *report, const char **why)
{
  const struct totals *run = report->totals;
  uint64_t all = all_ns(report), locks = report->locks_count ? report->locks[0].cost_ns : 0;
  uint64_t idle = report->idle_count ? report->idle[0].cost_ns : 0;
  if (locks > idle) {
    *why = "the code that releases the locks that threads wait for";
    return "bottomup --sort lockwait_excl_s";
  }
  if (idle > all / 20) {
    *why = "all calling contexts, sorted by the idleness that they cause";
    return "topdown --sort idleness_incl_s";
  }
  if (run->idle_ns > all / 4) {
    *why = "which threads are idle";
    return "threads";
  }
  if (run->overhead_ns > all / 10) {
    *why = "the callers of the runtime that cause the overhead";
    return "bottomup --sort overhead_excl_s";
  }
  *why = "all calling contexts";
  return "topdown";
}

static void print_next(const struct summary *summary)
{
  const char *why, *view = next_view(summary->report, &why);
  static const char *const baselines[] = {
      [BASELINE_THREAD] = "", [BASELINE_CORE] = " --idleness core", [BASELINE_SHARED] = " --idleness shared"};
  if (!summary->report->totals->samples) {
    bool by_wall = summary->report->totals->by_wall;
    print_title(summary, by_wall ? "Nothing was sampled: the program ran too briefly"
                                 : "Nothing was sampled: the program used too little CPU time");
    print_line(summary, by_wall ? "  Measure again with more samples: hpcrun-lite -e wall@f1000 COMMAND"
                                : "  Measure again: hpcrun-lite -e task-clock@f1000 COMMAND, or -e wall if it sleeps");
    return;
  }
  fprintf(summary->stream, "\n%sLook next:%s %s\n", terminal_bold(&summary->terminal),
          terminal_plain(&summary->terminal), why);
  print_command(summary, view, baselines[summary->report->baseline]);
  if (!summary->report->traced)
    return;
  print_line(summary, "What each thread did when%s:", summary->report->phased ? ", and the phases of the run" : "");
  print_command(summary, "timeline", "");
  if (summary->report->phased)
    print_command(summary, "phases", "");
}

void summary_text(const struct report *report)
{
  struct summary summary = {.report = report, .stream = report->stream};
  terminal_init(&summary.terminal, report->stream);
  print_run(&summary);
  print_fitness(&summary);
  advice_view_first(report, &summary.terminal, 3);
  print_categories(&summary);
  print_efficiency(&summary);
  print_parallelism(&summary);
  print_worst(&summary, "Causes of idle threads", report->idle, report->idle_count);
  print_worst(&summary, "Causes of lock waiting", report->locks, report->locks_count);
  print_hot(&summary);
  print_health(&summary);
  print_next(&summary);
  if (report->legend)
    fputs("\n"
          "Thread s: time of all threads together; Exact s: timed by the runtime's\n"
          "  callbacks instead of sampled.\n"
          "%: share of the time of all threads; under functions, of work and overhead.\n"
          "Rel%: that waiting, in percent of the function's own work, overhead and that\n"
          "  waiting together.\n"
          "* fewer than 20 samples: relative error above 22 %.\n",
          report->stream);
}
