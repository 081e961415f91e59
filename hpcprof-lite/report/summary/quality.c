#include "hpcprof-lite/report/summary/quality.h"

#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/summary/verdict.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { CELL = 16, SHARE = CELL + 8, LINE = 4096, BLOCKED_LEAST_NS = 1000000 };

struct quality {
  const struct report *report;
  const struct terminal *terminal;
  unsigned lines; /* printed below the title */
};

static void __attribute__((format(printf, 2, 3))) print_hint(struct quality *quality, const char *format, ...)
{
  const struct terminal *terminal = quality->terminal;
  FILE *stream = quality->report->stream;
  va_list arguments;
  if (!quality->lines++)
    fprintf(stream, "%sMeasurement quality%s\n", terminal_bold(terminal), terminal_plain(terminal));
  va_start(arguments, format);
  terminal_vwrapf(terminal, stream, "  ", "    ", format, arguments);
  va_end(arguments);
}

static void seconds_text(uint64_t ns, char out[CELL])
{
  terminal_seconds(ns, terminal_decimals(ns), out);
}

/* Whether one amount exceeds another, one of them timed and the other sampled, by more than sampling explains.  The
 * limit is two standard errors of the n = time / period samples that it should have had: 2 sqrt(time period) of time.
 */
static bool differs(const struct report *report, uint64_t more, uint64_t less)
{
  uint64_t ns[TIMELINE_CATEGORIES];
  double gap = more > less ? (double)(more - less) : 0;
  return gap > (double)category_times(report, ns) / 50 &&
         gap * gap > 4.0 * (double)more * (double)report_period_ns(report);
}

/* Whether a loss is a number of samples. */
static bool is_of_samples(unsigned loss)
{
  return loss == LOSS_PARTIAL || loss == LOSS_UNRESOLVED || loss == LOSS_MEMORY || loss == LOSS_IN_TOOL ||
         loss == LOSS_BLAME || loss == LOSS_TASKS || loss == LOSS_GUESSED;
}

/* Whether a loss is below 1 % of the samples, so that its name and number are enough. */
static bool is_small(const struct report *report, unsigned loss)
{
  assert(loss < LOSS_MAX);
  const struct totals *run = report->totals;
  return is_of_samples(loss) && !report->profile->range.traced && run->lost[loss] < (run->samples + 99) / 100;
}

static const char *name_of(const struct totals *run, unsigned loss)
{
  assert(loss < LOSS_MAX);
  const char *name = format_loss_text(loss, run->lost[loss]);
  if (name)
    return name;
  return run->lost[loss] == 1 ? "loss of an unknown kind" : "losses of an unknown kind";
}

/* Writes which share of the samples is lost, if that is known. */
static void share_text(const struct report *report, unsigned loss, char out[SHARE])
{
  assert(loss < LOSS_MAX);
  const struct totals *run = report->totals;
  bool dropped = loss == LOSS_MEMORY || loss == LOSS_IN_TOOL; /* not among the samples */
  char percent[CELL];
  *out = 0;
  terminal_percent(run->lost[loss], model_sum(run->samples, dropped ? run->lost[loss] : 0), percent);
  if (report->profile->range.traced)
    snprintf(out, SHARE, " (in all of the run)");
  else if (run->samples && is_of_samples(loss) &&
           (dropped || run->lost[loss] <= run->samples)) /* not only of samples */
    snprintf(out, SHARE, " (%s %%)", percent);
}

/* Whether each frame outside all modules that is shown has a name in the program's map of generated code. */
static bool is_named(const struct report *report)
{
  const struct contexts *contexts = &report->profile->contexts;
  bool named = false;
  for (uint32_t i = 0; i < contexts->count; i++) {
    if (!contexts_has_address(&contexts->nodes[i]))
      continue;
    const struct catalog_module *module = &report->profile->catalog.modules[contexts->nodes[i].module];
    if (module->flags & MODULE_ANON && !module->generated)
      return false;
    named |= module->generated != NULL;
  }
  return named;
}

/* Prints the losses with their remedies, and small ones in a line. */
static void print_losses(struct quality *quality)
{
  const struct report *report = quality->report;
  const struct totals *run = report->totals;
  char share[SHARE], small[LINE] = "";
  size_t length = 0;
  for (unsigned i = 0; i < LOSS_MAX; i++) {
    if (!run->lost[i] || (i == LOSS_MODULES && is_named(report)))
      continue;
    const char *remedy = format_loss_remedy(i);
    share_text(report, i, share);
    if (is_small(report, i))
      length += (size_t)snprintf(small + length, sizeof small - length, "%s%" PRIu64 " %.200s%s", length ? ", " : "",
                                 run->lost[i], name_of(run, i), share);
    else if (remedy)
      print_hint(quality, "%" PRIu64 " %s%s: %s", run->lost[i], name_of(run, i), share, remedy);
    else
      print_hint(quality, "%" PRIu64 " %s%s", run->lost[i], name_of(run, i), share);
  }
  if (length)
    print_hint(quality, "%s", small);
}

static const char *remedy_of(const struct report *report, uint32_t module, enum unnamed_what what)
{
  if (what == UNNAMED_PYTHON)
    return " (Python 3.12 or later names them with python3 -X perf)";
  const struct catalog_module *file = &report->profile->catalog.modules[module];
  bool system = !strncmp(file->path, "/usr/", 5) || !strncmp(file->path, "/lib", 4);
  if (file->flags & (MODULE_ANON | MODULE_VDSO))
    return "";
  if (!report->names->modules[module].file) /* it is missing, or another one */
    return " (give the file: --symbols DIR)";
  return system ? " (install the -dbgsym package)" : " (build with -g)";
}

/* Prints the modules that lack something, in one sentence. */
static void print_modules(struct quality *quality, enum unnamed_what what)
{
  static const char *const missing[] = {"No source lines: ", "No symbols: ", "No names of Python's functions: "};
  const struct report *report = quality->report;
  const struct catalog_module *files = report->profile->catalog.modules;
  const char *last = NULL;
  uint64_t whole = tree_spent(report->tree, report->columns, 0, true);
  char text[LINE];
  size_t length = 0;
  for (uint32_t i = 0; i < report->summary.unnamed_count; i++) {
    const struct unnamed_module *module = &report->summary.unnamed[i];
    const struct catalog_module *file = &files[module->module];
    char percent[CELL], name[TERMINAL_TEXT_MAX];
    if (module->what != what)
      continue;
    terminal_percent(module->weight, whole, percent);
    terminal_fit(quality->terminal, file->flags & MODULE_VDSO ? "code of the kernel (vdso)" : file->name, 28, name);
    const char *now = remedy_of(report, module->module, what), *remedy = last && last != now ? last : "";
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%.100s %s %%", remedy, last ? ", " : "", name,
                               percent);
    last = now;
  }
  if (last)
    print_hint(quality, "%s%s%s", missing[what], text, last);
}

/* Prints what limited the cores of the processes. */
static void print_cores(struct quality *quality)
{
  const struct totals *run = quality->report->totals;
  const struct core_findings *cores = &quality->report->summary.cores;
  for (uint32_t i = 0; i < cores->count; i++) {
    const struct core_finding *found = &cores->found[i];
    char process[32] = "";
    if (run->processes > 1)
      snprintf(process, sizeof process, "process %" PRIu32 ": ", found->pid);
    print_hint(quality, "Cores (%s): %s%s%s%s%s", core_finding_name(found->kind), process, found->text,
               *found->settings ? " (" : "", found->settings, *found->settings ? ")" : "");
  }
  if (cores->left_out)
    print_hint(quality, "Cores: %" PRIu32 " more such lines were omitted", cores->left_out);
}

/* Prints how many processes have a runtime that lacks callbacks which every measurement needs. */
static void print_runtimes(struct quality *quality)
{
  const struct profile *profile = quality->report->profile;
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    count += profile->processes[i].usable && profile->processes[i].workspan.unseen & UNSEEN_NEEDED;
  if (count)
    print_hint(quality,
               "The OpenMP runtime of %" PRIu32
               " process%s does not report all events: regions, tasks, waits, locks and "
               "idleness are incomplete (use another release of it)",
               count, count == 1 ? "" : "es");
}

/* Prints for how many threads there were no records of switches, as far as that matters. */
static void print_delays(struct quality *quality)
{
  const struct totals *run = quality->report->totals;
  if (run->delay_estimated)
    print_hint(quality,
               "How much of each wait %" PRIu32 " thread%s had no core is an estimate, because records of switches are "
               "missing; the sum is the kernel's",
               run->delay_estimated, terminal_plural(run->delay_estimated));
}

/* Waiting for locks that is charged by samples: not that for locks of POSIX, as far as locks are known. */
static uint64_t charged_by_samples(const struct report *report)
{
  const struct contexts *contexts = &report->profile->contexts;
  uint64_t posix_ns = 0, all_ns = 0;
  for (uint32_t i = 0; i < contexts->locks_count; i++) {
    if (profile_lock_of_pool(contexts->locks[i].kind))
      continue;
    model_add(&all_ns, contexts->locks[i].wait_ns);
    if (profile_lock_of_posix(contexts->locks[i].kind))
      model_add(&posix_ns, contexts->locks[i].wait_ns);
  }
  double part = all_ns ? 1 - (double)posix_ns / (double)all_ns : 1;
  return model_rounded(part * (double)report->totals->lockwait_ns);
}

/* Prints time that samples of CPU time do not show. */
static void print_unsampled(struct quality *quality)
{
  const struct totals *run = quality->report->totals;
  const char *where = run->by_wall ? "" : " (see -e wall)";
  enum { PLACES_MAX = 512 };
  char one[CELL], other[CELL], places[PLACES_MAX];
  unsigned hints = 0;
  uint64_t timed_ns = charged_by_samples(quality->report);
  seconds_text(run->lockwait_ns, one);
  seconds_text(run->lockwait_sampled_ns, other);
  if (differs(quality->report, run->lockwait_sampled_ns, run->lockwait_ns)) {
    print_hint(quality, "%s s of lock waiting were sampled but only %s s timed: the runtime does not report all waits",
               other, one);
    hints++;
  }
  seconds_text(timed_ns, one);
  if (differs(quality->report, timed_ns, run->lockwait_sampled_ns)) {
    print_hint(quality, "%s s of lock waits timed, %s s sampled: threads slept%s", one, other, where);
    hints++;
  }
  uint64_t lived_ns = run->openmp_wall_ns ? run->openmp_wall_ns : run->lived_ns;
  if (run->blocked_ns >= BLOCKED_LEAST_NS && run->blocked_ns > lived_ns / 50 && !verdict_blocked(quality->report)) {
    seconds_text(run->blocked_ns, one);
    print_hint(quality, "Threads were blocked for %s s in calls outside OpenMP%s", one,
               verdict_blocked_places(quality->report, places, sizeof places));
    hints++;
  }
  if (hints && run->by_wall)
    print_hint(quality, "With -e wall, time in blocking calls that cannot be interrupted is charged when they return");
}

/* Prints how many processes are known only up to their last samples, and why, in the singular and in the plural. */
static void print_cut(struct quality *quality, uint32_t count, const char *one, const char *several)
{
  bool sampled = quality->report->totals->samples || quality->report->totals->unsampled;
  if (count == 1)
    print_hint(quality, "1 process %s%s", one,
               sampled ? ": reported up to its last sample" : ", before its first sample");
  else if (count)
    print_hint(quality, "%" PRIu32 " processes %s%s", count, several,
               sampled ? ": reported up to their last sample" : ", before their first sample");
}

/* Prints how many processes could not write their files, and for the first one why, with the remedy.  Returns their
 * number. */
static uint32_t print_unwritten(struct quality *quality)
{
  const struct profile *profile = quality->report->profile;
  uint32_t count = 0, first = 0;
  for (uint32_t i = profile->processes_count; i-- > 0;)
    if (profile->processes[i].usable && profile->processes[i].unfinished && !profile->processes[i].running &&
        profile->processes[i].write_error) {
      count++;
      first = i;
    }
  if (!count)
    return 0;
  int error = (int)profile->processes[first].write_error;
  print_hint(quality, "%" PRIu32 " process%s could not write %s (%s) and kept the data in a live file: %s", count,
             count == 1 ? "" : "es", count == 1 ? "its file" : "their files", strerror(error),
             format_write_remedy(error));
  return count;
}

/* Prints which processes were killed or still run. */
static void print_unfinished(struct quality *quality)
{
  const struct report *report = quality->report;
  uint32_t killed = report->totals->unfinished, running = report->totals->running, copied = report->totals->copied;
  killed = model_difference(killed, print_unwritten(quality));
  print_cut(quality, killed, "was killed, or could not write its file", "were killed, or could not write their files");
  print_cut(quality, running, "is still running", "are still running");
  print_cut(quality, copied, "was running when the snapshot was taken", "were running when the snapshot was taken");
  if (!report->totals->unfinished && !running && !copied)
    return;
  if (notes_cut(report) && running)
    print_hint(quality, "Work and span are known when a process has ended, or after: hpcrun-lite --control DIR flush");
  else if (notes_cut(report) && copied)
    print_hint(quality, "Work and span were not known when the snapshot was taken");
  else if (notes_cut(report))
    print_hint(quality, "Work and span are not known, because the process was killed or could not write its file");
  else if (report->profile->workspan.known)
    print_hint(quality, "Work and span are those of the last flush");
}

/* Prints of how many executions figures of constructs are estimates. */
static void print_estimates(struct quality *quality)
{
  struct construct_figures sum = profile_light(quality->report->profile);
  if (sum.light)
    print_hint(quality,
               "Spans and times of critical constructs and locks are estimates: %" PRIu64 " of %" PRIu64
               " executions were followed, as more would have cost too much (the views parallelism and regions state "
               "errors; --overhead-limit 100 follows all)",
               model_difference(sum.count, sum.light), sum.count);
  struct construct_figures regions = profile_light_regions(quality->report->profile);
  char text[CONSTRUCT_ERROR_MAX];
  construct_error_text(regions.error_squares, quality->report->profile->workspan.span, text);
  if (regions.light)
    print_hint(quality,
               "Spans of regions, and times of constructs in them, are estimates: %" PRIu64 " of %" PRIu64
               " regions were followed, as more would have cost too much (the run's span: %s; --overhead-limit 100 "
               "follows all)",
               model_difference(regions.count, regions.light), regions.count, text);
  char untimed[PROFILE_UNTIMED_MAX];
  if (profile_untimed_text(quality->report->profile, untimed))
    print_hint(quality, "Tasks: %s, as more would have cost too much (--overhead-limit 100 follows all)", untimed);
}

/* Prints what following OpenMP's events has cost, where that is more than the launcher's preset limit. */
static void print_cost(struct quality *quality)
{
  enum { PERCENT = 5 };
  const struct totals *run = quality->report->totals;
  char percent[CELL];
  uint64_t busy_ns = model_difference(run->openmp_wall_ns, model_sum(run->idle_ns, run->lockwait_ns));
  if (run->events_ns <= busy_ns / 100 * PERCENT)
    return;
  terminal_percent(run->events_ns, busy_ns, percent);
  print_hint(quality,
             "%" PRIu64 " OpenMP events have cost about %s %% of the time in which threads did not wait "
             "(default limit %d %%; -p off costs less)",
             run->events, percent, PERCENT);
}

void quality_print(const struct report *report, const struct terminal *terminal)
{
  struct quality quality = {.report = report, .terminal = terminal};
  print_unfinished(&quality);
  print_losses(&quality);
  print_runtimes(&quality);
  print_modules(&quality, UNNAMED_FUNCTIONS);
  print_modules(&quality, UNNAMED_LINES);
  print_modules(&quality, UNNAMED_PYTHON);
  print_cores(&quality);
  print_delays(&quality);
  print_unsampled(&quality);
  print_cost(&quality);
  print_estimates(&quality);
  if (!quality.lines)
    fprintf(report->stream, "%sMeasurement quality%s: nothing was lost\n", terminal_bold(terminal),
            terminal_plain(terminal));
}
