#include "hpcprof-lite/report/summary/verdict.h"

#include "common/order.h"
#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/missing_cores.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { CELL = 16, PART = 512, MUCH = 10 }; /* a part of the time is much from 1 / MUCH on */

const struct advice_finding *verdict_first(const struct report *report)
{
  for (uint32_t i = 0; i < report->advice.count; i++)
    if (report->advice.found[i].class < ADVICE_REMARKS)
      return &report->advice.found[i];
  return NULL;
}

bool verdict_blocked(const struct report *report)
{
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  return ns[TIMELINE_BLOCKED] > all / 2;
}

static bool is_part(const struct profile *profile)
{
  bool part = false;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    part = part || profile->processes[i].in_part;
  return part;
}

const char *verdict_blocked_places(const struct report *report, char *text, size_t size)
{
  const struct call_places *blocked = &report->summary.blocked;
  double all_ns = (double)report->totals->blocked_ns; /* places also contain the latency of waking */
  double scale = (double)blocked->all_ns > all_ns ? all_ns / (double)blocked->all_ns : 1;
  size_t length = 0;
  text[0] = '\0';
  if (report->totals->by_wall)
    return text;
  if (!blocked->ns[0]) {
    snprintf(text, size,
             is_part(report->profile) ? ", place known only for the whole run" : ", place unknown (-e wall shows it)");
    return text;
  }
  for (unsigned i = 0; i < CALL_PLACES_MOST && length < size; i++) {
    if (i && blocked->ns[i] <= blocked->all_ns / MUCH)
      break;
    const struct call_place *place = &blocked->most[i];
    char seconds[16];
    terminal_seconds(model_rounded(scale * (double)blocked->ns[i]), 3, seconds);
    int added = snprintf(text + length, size - length, ", %s s%s %s %s", seconds, i ? "" : " of it",
                         place->near ? "near" : "in", *place->function ? place->function : "code that is not known");
    length += added > 0 ? (size_t)added : 0;
    if (*place->file && place->line && length < size)
      length +=
          (size_t)snprintf(text + length, size - length, " (%s:%" PRIu32 ")", names_base(place->file), place->line);
  }
  return text;
}

/* ---- what makes the measurement unfit ---- */

static void __attribute__((format(printf, 3, 4)))
print_reason(const struct report *report, const struct terminal *terminal, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs(terminal_bold(terminal), report->stream);
  terminal_vwrapf(terminal, report->stream, "Unreliable: ", "  ", format, arguments);
  va_end(arguments);
  fputs(terminal_plain(terminal), report->stream);
}

/* Whether the CPU time would have been enough for samples. */
static bool has_time_for_samples(const struct report *report)
{
  uint64_t period_ns = report_period_ns(report);
  return period_ns && report->totals->cpu_ns / MODEL_FEW_SAMPLES > period_ns;
}

static bool was_killed(const struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->usable && process->unfinished && !process->running && !process->write_error)
      return true;
  }
  return false;
}

/* Why there are none although the program used CPU time; that samples were lost is reported after this. */
static void print_no_samples(const struct report *report, const struct terminal *terminal)
{
  if (report->filtered && *report->filtered)
    print_reason(report, terminal,
                 "nothing was sampled, although the program used CPU time: a filter leaves out all threads "
                 "or the whole time");
  else if (!report->totals->lost[LOSS_MEMORY])
    print_reason(report, terminal,
                 "nothing was sampled, although the program used CPU time, perhaps because measuring was paused most "
                 "of the time (--paused, level = off, --control DIR stop, hpcrun_lite_stop()): measure more of it");
}

/* Too few samples, or too many that were lost. */
static void print_samples(const struct report *report, const struct terminal *terminal)
{
  const struct totals *run = report->totals;
  uint64_t lost = run->lost[LOSS_MEMORY], all = model_sum(run->samples, lost);
  const char *event = run->by_wall ? "wall" : "task-clock";
  char percent[CELL];
  if (run->unsampled)
    terminal_wrap(
        terminal, report->stream, "", "  ",
        "No samples were taken, because the level is summary: times of constructs and waiting are exact, work "
        "is the rest, and no time is shown for single functions");
  else if (!run->samples && run->paused)
    print_reason(report, terminal,
                 "nothing was sampled, because measuring was paused from the start to the end. Start it: "
                 "hpcrun-lite --control DIR start, or hpcrun_lite_start() in the program; or measure again without "
                 "level = off or --paused");
  else if (!run->samples && has_time_for_samples(report))
    print_no_samples(report, terminal);
  else if (!run->samples && was_killed(report->profile))
    print_reason(report, terminal,
                 "nothing was sampled, because the program was killed before its first sample. Measure again: "
                 "hpcrun-lite -e %s@f1000 COMMAND",
                 event);
  else if (!run->samples && run->by_wall)
    print_reason(report, terminal,
                 "nothing was sampled, because the program ran too briefly. Measure again: hpcrun-lite -e wall@f1000 "
                 "COMMAND");
  else if (!run->samples)
    print_reason(report, terminal,
                 "nothing was sampled, because the program used too little CPU time. Measure again: hpcrun-lite -e "
                 "task-clock@f1000 COMMAND, or -e wall if it sleeps");
  else if (run->samples < MODEL_FEW_SAMPLES)
    print_reason(report, terminal,
                 "%" PRIu64 " sample%s: too few for conclusions about code. Measure for longer, or more often: "
                 "hpcrun-lite -e %s@f1000 COMMAND",
                 run->samples, terminal_plural(run->samples), event);
  if (lost > all / MUCH) {
    terminal_percent(lost, all, percent);
    print_reason(report, terminal, "%s %% of the samples were lost; see 'Measurement quality'", percent);
  }
}

/* Whether samples are so rare that their handling takes no noticeable time. */
static bool rarely_sampled(const struct report *report)
{
  enum { RARE_NS = 1000000 };
  return report_period_ns(report) >= RARE_NS;
}

void verdict_unfit(const struct report *report, const struct terminal *terminal)
{
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  char percent[CELL];
  print_samples(report, terminal);
  if (!report->totals->samples) /* no share is known without them */
    return;
  if (ns[TIMELINE_TOOL] > all / MUCH) {
    terminal_percent(ns[TIMELINE_TOOL], all, percent);
    print_reason(report, terminal,
                 "this tool took %s %% of the time, with so many %s: times of short ones are too long; -p off reduces "
                 "this",
                 percent, rarely_sampled(report) ? "constructs" : "samples or constructs");
  }
  if (verdict_blocked(report)) {
    terminal_percent(ns[TIMELINE_BLOCKED], all, percent);
    char places[PART];
    terminal_wrapf(terminal, report->stream, "", "  ",
                   "Threads were blocked in calls outside OpenMP for %s %% of the time%s", percent,
                   verdict_blocked_places(report, places, sizeof places));
  }
}

/* ---- the verdict ---- */

enum { COMMAND_MAX = 32 };

bool verdict_names_command(const struct report *report)
{
  return strlen(report->totals->command) <= COMMAND_MAX;
}

/* Whether the processes had different commands. */
static bool has_others(const struct profile *profile)
{
  const char *first = NULL;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->usable && first && strcmp(first, process->command) != 0)
      return true;
    if (process->usable)
      first = process->command;
  }
  return false;
}

/* The command, or its program alone: "fasttreeMP". */
static void program_text(const struct report *report, char out[PART])
{
  assert(report->totals->command);
  const char *first = report->totals->command;
  size_t length = strlen(first);
  if (!verdict_names_command(report)) {
    length = strcspn(first, " ;");
    for (size_t i = 0; i + 1 < length; i++)
      if (first[i] == '/') {
        first += i + 1;
        length -= i + 1;
        i = 0;
      }
    length = MIN(length, COMMAND_MAX);
  }
  bool others = !verdict_names_command(report) && has_others(report->profile);
  snprintf(out, PART, "%.*s%s", (int)length, first, others ? " and others" : "");
}

/* " with 2 threads" */
static void threads_text(const struct report *report, char out[PART])
{
  const struct totals *run = report->totals;
  uint32_t threads = run->openmp_processes ? run->threads_max : run->threads;
  const char *plural = terminal_plural(threads), *kind = threads == run->threads ? "" : "OpenMP ";
  const struct efficiency_job *job = &report->efficiency.job;
  const char *processes = job->known && job->ranks == run->openmp_processes ? "ranks" : "processes";
  if (run->openmp_processes > 1)
    snprintf(out, PART, " in %" PRIu32 " %s with %s%" PRIu32 " OpenMP thread%s each", run->openmp_processes, processes,
             threads == 1 ? "" : "up to ", threads, plural);
  else
    snprintf(out, PART, " with %" PRIu32 " %sthread%s", threads, kind, plural);
}

/* "; 63 % of their time was work" */
static void share_text(const struct report *report, char out[PART])
{
  const struct totals *run = report->totals;
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  *out = 0;
  bool pools = !run->openmp_processes && run->pool_idle_ns;
  if (!run->openmp_processes && !pools && run->elapsed_ns && run->samples)
    snprintf(out, PART, ", which used %.2f cores on average", (double)run->cpu_ns / (double)run->elapsed_ns);
  if ((!run->openmp_processes && !pools) || !all || !tree_has_time(report->columns) || run->samples < MODEL_FEW_SAMPLES)
    return;
  bool others = run->openmp_processes > 1 || (!pools && run->threads != run->threads_max);
  const char *whose = run->threads == 1 ? "its" : "their";
  if (report->baseline == BASELINE_CORE && !pools)
    whose = "the cores'";
  else if (report->baseline == BASELINE_SHARED && !pools)
    whose = "the used threads'";
  else if (others)
    whose = "all threads'";
  int length = snprintf(out, PART, "; %.0f %% of %s %stime was work", 100 * (double)ns[TIMELINE_WORK] / (double)all,
                        whose, run->measured_ns < run->elapsed_ns ? "measured " : "");
  for (unsigned i = TIMELINE_MPI; i <= TIMELINE_NO_CORE; i++)
    if (ns[i] > all / MUCH)
      length += snprintf(out + length, PART - (size_t)length, ", %.0f %% %s", 100 * (double)ns[i] / (double)all,
                         category_looks[i].name);
}

/* The largest loss of the efficiencies. */
static enum efficiency_metric largest_lost(const struct efficiency *efficiency)
{
  enum efficiency_metric most = EFFICIENCY_BALANCE;
  for (enum efficiency_metric i = EFFICIENCY_BALANCE; i < EFFICIENCY_COUNT; i++)
    if (efficiency->value[i] < efficiency->value[most])
      most = i;
  return most;
}

/* The state in which threads lost most time, and *lost_s of elapsed time; TIMELINE_CORE_WAIT is both of those without a
 * core.  Sleep of threads outside OpenMP is none. */
static enum timeline_category most_lost(const struct report *report, double *lost_s)
{
  const struct advice *advice = &report->advice;
  uint64_t ns[TIMELINE_CATEGORIES];
  double per = advice->elapsed_s / fmax((double)category_times(report, ns), 1);
  enum timeline_category most = TIMELINE_CORE_WAIT;
  *lost_s = ((double)ns[TIMELINE_CORE_WAIT] + (double)ns[TIMELINE_NO_CORE]) * per;
  for (enum timeline_category i = TIMELINE_OVERHEAD; i < TIMELINE_CORE_WAIT; i++) {
    double state_s = (double)ns[i] * per - (i == TIMELINE_BLOCKED ? advice->outside_s : 0);
    if (state_s > *lost_s) {
      most = i;
      *lost_s = state_s;
    }
  }
  return most;
}

/* Whether threads lost more to missing cores than a finding would gain, which is not about these. */
static bool cores_first(const struct report *report, const struct advice_finding *finding)
{
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  double missing = (double)ns[TIMELINE_CORE_WAIT] + (double)ns[TIMELINE_NO_CORE];
  bool about = finding && advice_classes[finding->class].categories & 1u << TIMELINE_CORE_WAIT;
  bool explains = about && finding->loss_s * (double)all > report->advice.elapsed_s * missing / 2;
  bool always = about && advice_classes[finding->class].about_cores && finding->class != ADVICE_SPINNING;
  if (explains || always) /* what spins may be a small part of it: other programs also take cores */
    return false;
  double gain = finding ? advice_percent(&report->advice, finding) / 100 : 0, lost_s;
  return report->totals->openmp_processes && missing_cores(report) &&
         most_lost(report, &lost_s) == TIMELINE_CORE_WAIT && missing > (double)all * fmax(gain, TOTALS_UNRELIABLE);
}

/* What is lost for unknown reasons, if that is more than any finding gains, and than all that is lost for known ones
 * without a finding; NULL: it is not. */
static const struct advice_finding *unknown_first(const struct report *report, const struct advice_finding *first)
{
  const struct advice_finding *rest = advice_much_unexplained(&report->advice);
  bool most = rest && (!first || rest->loss_s > first->gain_s);
  for (uint32_t i = 0; i < report->advice.count && most; i++) {
    const struct advice_finding *found = &report->advice.found[i];
    most = found->class != ADVICE_OTHER || found->loss_s - report->advice.outside_s <= rest->loss_s;
  }
  return most ? rest : NULL;
}

static void unknown_text(const struct report *report, const struct advice_finding *unknown, char out[2 * PART])
{
  snprintf(out, 2 * PART, "; largest loss: %.0f %%, for unknown reasons",
           advice_part(&report->advice, unknown->loss_s));
}

/* The state in which threads lost most, where nothing else is known of it; or that its reasons are not known either. */
static void lost_text(const struct report *report, char out[2 * PART])
{
  double lost_s;
  enum timeline_category state = most_lost(report, &lost_s);
  const struct advice_finding *unknown = advice_much_unexplained(&report->advice);
  if (unknown && unknown->loss_s > lost_s)
    unknown_text(report, unknown, out);
  else
    snprintf(out, 2 * PART, "; largest loss: %s",
             state == TIMELINE_CORE_WAIT ? "threads without a core" : category_looks[state].name);
}

/* What limits the run: the first finding, or what is known without any. */
static void limit_text(const struct report *report, const struct terminal *terminal, char out[2 * PART])
{
  static const char *const loss[EFFICIENCY_COUNT] = {[EFFICIENCY_BALANCE] = "idle threads in regions",
                                                     [EFFICIENCY_SERIAL] = "idle threads outside regions",
                                                     [EFFICIENCY_LOCK] = "lock waiting",
                                                     [EFFICIENCY_RUNTIME] = "the OpenMP runtime"};
  const struct advice_finding *first = verdict_first(report), *rest = unknown_first(report, first);
  const struct totals *run = report->totals;
  const struct efficiency *efficiency = &report->efficiency;
  enum efficiency_metric most = largest_lost(efficiency);
  *out = 0;
  if (cores_first(report, first)) {
    snprintf(out, 2 * PART, "; largest loss: threads without a core");
  } else if (rest) {
    unknown_text(report, rest, out);
  } else if (first) {
    char title[ADVICE_TITLE_MAX];
    advice_view_title(terminal, first, title);
    char *remark = *first->file ? strstr(title, " (") : NULL;
    if (remark)
      *remark = 0;
    snprintf(out, 2 * PART, "; largest gain found: %.900s (%.0f %%)", title, advice_percent(&report->advice, first));
  } else if (!run->openmp_processes) {
    snprintf(out, 2 * PART, "; no OpenMP was seen in it");
  } else if (run->threads_max == 1) {
    snprintf(out, 2 * PART, "; with one thread, no region can run in parallel");
  } else if (efficiency->known && efficiency->value[most] < 0.95) {
    snprintf(out, 2 * PART, "; the largest loss is %s (%.0f %%), %s", loss[most], 100 * (1 - efficiency->value[most]),
             run->unsampled ? "whose cause only samples can show" : "for which no cause was found");
  } else if (report->advice.loss_s - report->advice.outside_s > report->advice.elapsed_s / MUCH) {
    lost_text(report, out);
  } else if (!report->advice.unfit_first && report->advice.count) {
    snprintf(out, 2 * PART, "; no cause was found that costs 1 %%");
  }
}

const char *verdict_sentence(const struct report *report, const struct terminal *terminal, char out[VERDICT_MAX])
{
  const struct totals *run = report->totals;
  char program[PART], elapsed[CELL], threads[PART], share[PART], limit[2 * PART];
  bool whole = !run->unfinished && !run->running && !run->copied && !report->profile->range.run_ns;
  program_text(report, program);
  uint64_t time_ns = whole ? run->elapsed_ns : run->measured_ns;
  terminal_seconds(time_ns, terminal_decimals(time_ns), elapsed);
  threads_text(report, threads);
  share_text(report, share);
  limit_text(report, terminal, limit);
  snprintf(out, VERDICT_MAX, "%s %s %s s%s%s%s.", program, whole ? "ran for" : "was measured for", elapsed, threads,
           share, limit);
  return out;
}

void verdict_print(const struct report *report, const struct terminal *terminal)
{
  char text[VERDICT_MAX];
  verdict_sentence(report, terminal, text);
  fputs(terminal_bold(terminal), report->stream);
  terminal_wrap(terminal, report->stream, "", "  ", text);
  fputs(terminal_plain(terminal), report->stream);
}
