/* The summary, on one screen: what limits the run, where its time went, what to change first, how well it was measured.
 *
 * Context: BATCH.  What has no room on the screen is left out, counted in the last line, and shown with --legend.
 */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "hpcprof-lite/analysis/advice/advice_outside.h"
#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/summary/quality.h"
#include "hpcprof-lite/report/summary/summary_screen.h"
#include "hpcprof-lite/report/summary/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum {
  CELL = 16,
  LINE = 4096,
  NOTES_MAX = 4,
  FINDINGS_MAX = 3,
  HOT_MAX = 3,
  FIRST_HOT_NAME = 44,
  HOT_NAME = 32,
  MPI_IDLE_SHOWN = 100
}; /* idleness because of MPI is shown from this part of the time on */

struct summary {
  const struct report *report; /* its stream is the screen's */
  FILE *stream;
  struct terminal terminal;
  struct screen screen;
};

/* Prints a line, shortened to the terminal's width. */
static void __attribute__((format(printf, 2, 3))) print_line(const struct summary *summary, const char *format, ...)
{
  char text[LINE], fitted[TERMINAL_TEXT_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  terminal_fit(&summary->terminal, text, summary->terminal.width, fitted);
  fprintf(summary->stream, "%s\n", fitted);
}

/* Prints a text of any length. */
static void __attribute__((format(printf, 2, 3))) print_wrapped(const struct summary *summary, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  terminal_vwrapf(&summary->terminal, summary->stream, "", "  ", format, arguments);
  va_end(arguments);
}

/* ---- the run ---- */

/* How many processes have that line among their notes. */
static uint32_t count_noted(const struct profile *profile, const char *line, size_t length)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const char *note = profile->processes[i].usable ? profile->processes[i].notes : "";
    while (*note && (strcspn(note, "\n") != length || memcmp(note, line, length) != 0)) {
      note += strcspn(note, "\n");
      note += *note == '\n';
    }
    count += *note != 0;
  }
  return count;
}

/* Prints each note of the processes about how they were measured once.  The `threads` view shows the events. */
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
      bool known = length == 0 || !strncmp(note, "event: ", strlen("event: ")) ||
                   !strncmp(note, PROFILE_NOTE_FILTERED, strlen(PROFILE_NOTE_FILTERED)) ||
                   !strncmp(note, PROFILE_NOTE_MISSING, strlen(PROFILE_NOTE_MISSING));
      for (unsigned k = 0; k < count && !known; k++)
        known = lengths[k] == length && !memcmp(printed[k], note, length);
      if (known)
        continue;
      char some[64] = "";
      uint32_t noted = count_noted(profile, note, length);
      if (noted < profile->processes_usable)
        snprintf(some, sizeof some, "In %" PRIu32 " of %" PRIu32 " processes: ", noted, profile->processes_usable);
      print_wrapped(summary, "%s%.*s", some, (int)MIN(length, LINE - 1), note);
      printed[count] = note;
      lengths[count++] = length;
    }
  }
}

/* Whether the notes of a process tell that its runtime was replaced, and by which. */
static bool tells_replacement(const struct profile_process *process)
{
  return process->flags & PROCESS_EXCHANGED && strstr(process->notes, "OpenMP runtime replaced: ");
}

static void print_runtime(const struct summary *summary)
{
  const struct profile *profile = summary->report->profile;
  const struct profile_process *process = profile_with_runtime(profile);
  if (process && !tells_replacement(process))
    print_line(summary, "OpenMP runtime%s: %s", process->flags & PROCESS_EXCHANGED ? " (replaced)" : "",
               process->runtime);
  if (!process && profile->processes_usable)
    print_line(summary, "OpenMP: not seen; not used, or its runtime was not measured");
}

static void print_run(struct summary *summary)
{
  const struct totals *run = summary->report->totals;
  const struct tree_columns *columns = summary->report->columns;
  char elapsed[CELL], cpu[CELL], event[64] = "";
  const struct efficiency_job *job = &summary->report->efficiency.job;
  bool ranks = job->known && job->ranks == run->processes;
  const char *kind = ranks ? "rank" : "process", *plural = ranks ? "s" : "es";
  terminal_seconds(run->elapsed_ns, terminal_decimals(run->elapsed_ns), elapsed);
  terminal_seconds(run->cpu_ns, terminal_decimals(run->cpu_ns), cpu);
  if (!tree_has_time(columns) && columns->events_count)
    snprintf(event, sizeof event, " of %.40s", columns->columns[columns->events[0]].name);
  screen_part(&summary->screen, SCREEN_SOME);
  if (!verdict_names_command(summary->report))
    print_line(summary, "%s", run->command);
  screen_part(&summary->screen, SCREEN_ALWAYS);
  print_wrapped(summary,
                "%" PRIu32 " %s%s on %.200s, %" PRIu32 " thread%s, %s s elapsed, %s s CPU, %" PRIu64 " sample%s%s",
                run->processes, kind, run->processes == 1 ? "" : plural, run->hosts, run->threads,
                terminal_plural(run->threads), elapsed, cpu, run->samples, terminal_plural(run->samples), event);
  screen_part(&summary->screen, SCREEN_LITTLE);
  print_runtime(summary);
  screen_part(&summary->screen, SCREEN_ALWAYS);
  const char *chunks = profile_chunks_note(summary->report->profile);
  if (chunks)
    print_wrapped(summary, "%s", chunks);
  uint32_t timers = 0;
  for (uint32_t i = 0; i < summary->report->profile->processes_count; i++)
    timers += (summary->report->profile->processes[i].flags & PROCESS_TIMERS) != 0;
  if (timers)
    print_wrapped(summary, "CPU time was sampled by timers, because perf_event was not permitted; hpcrun-lite "
                           "--diagnose COMMAND tells how to permit it, for finer rates");
  legend_pauses(summary->report);
  legend_filtered(summary->report);
}

/* ---- where the time went ---- */

/* Parallel efficiency and its losses. */
static void print_efficiency(const struct summary *summary)
{
  const struct efficiency *efficiency = &summary->report->efficiency;
  if (efficiency->known)
    print_wrapped(summary, "%s %.1f %%; lost in regions %.1f, outside %.1f, locks %.1f, runtime %.1f %%",
                  summary->report->mpi ? "Outside MPI: efficiency" : "Efficiency",
                  100 * efficiency->value[EFFICIENCY_PARALLEL], 100 * (1 - efficiency->value[EFFICIENCY_BALANCE]),
                  100 * (1 - efficiency->value[EFFICIENCY_SERIAL]), 100 * (1 - efficiency->value[EFFICIENCY_LOCK]),
                  100 * (1 - efficiency->value[EFFICIENCY_RUNTIME]));
}

/* What the time in MPI means for the job and for threads that wait meanwhile. */
static void print_mpi(const struct summary *summary)
{
  const struct report *report = summary->report;
  const struct efficiency_job *job = &report->efficiency.job;
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns), idle_ns = report->summary.mpi_idle_ns;
  if (job->known && !isnan(job->value[JOB_OPENMP]))
    print_wrapped(summary, "Job: %.1f %% = MPI %.1f %% (balance %.1f, communication %.1f) x OpenMP %.1f %%",
                  100 * job->value[JOB_GLOBAL], 100 * job->value[JOB_MPI], 100 * job->value[JOB_MPI_BALANCE],
                  100 * job->value[JOB_MPI_COMMUNICATION], 100 * job->value[JOB_OPENMP]);
  else if (job->known)
    print_wrapped(summary, "Job: %.1f %% = balance %.1f %% x communication %.1f %%", 100 * job->value[JOB_MPI],
                  100 * job->value[JOB_MPI_BALANCE], 100 * job->value[JOB_MPI_COMMUNICATION]);
  if (idle_ns > all / MPI_IDLE_SHOWN)
    print_wrapped(summary, "Idle because of MPI: %.1f %% of the time, most of it in %.200s",
                  100 * (double)idle_ns / (double)all, report->tree->rows[report->summary.mpi_idle].name);
}

/* The functions with the most time of their own. */
static void print_hot(const struct summary *summary)
{
  const struct report *report = summary->report;
  if (!report->totals->samples)
    return;
  uint64_t whole = tree_spent(report->summary.flat, report->columns, 0, true);
  char text[LINE];
  unsigned width = summary->terminal.width;
  int length =
      snprintf(text, sizeof text, "Most %s in", tree_has_time(report->columns) ? "work and overhead" : "events");
  for (uint32_t i = 0; i < report->summary.hot_count && i < HOT_MAX; i++) {
    char name[TERMINAL_TEXT_MAX], percent[CELL], part[LINE];
    uint64_t weight = tree_spent(report->summary.flat, report->columns, report->summary.hot[i].flat, false);
    terminal_fit(&summary->terminal, report->summary.flat->rows[report->summary.hot[i].flat].name,
                 i ? HOT_NAME : FIRST_HOT_NAME, name);
    terminal_percent(weight, whole, percent);
    int more = snprintf(part, sizeof part, "%s %.1000s %s %%", i ? "," : "", name, percent);
    if (i && (unsigned)(length + more) > width)
      break;
    length += snprintf(text + length, sizeof text - (size_t)length, "%s", part);
  }
  if (report->summary.hot_count)
    print_line(summary, "%s", text);
}

/* The kernel's part of the CPU time, if that is large and enough ticks of the kernel's clock have seen it. */
static void print_kernel(const struct summary *summary)
{
  const struct totals *run = summary->report->totals;
  const struct kernel_findings *kernel = &summary->report->summary.kernel;
  double all_ns = (double)run->user_cpu_ns + (double)run->system_cpu_ns, percent = (double)run->system_cpu_ns * 100;
  if (kernel->in_part)
    print_wrapped(summary, "System time, page faults, context switches and created threads are known only for the "
                           "whole run");
  if (run->system_ticks < KERNEL_TICKS_LEAST || percent < KERNEL_PERCENT_LEAST * all_ns)
    return;
  char most[LINE] = "", created[LINE] = "";
  if (kernel->count && kernel->found[0].kind == KERNEL_TIME)
    snprintf(most, sizeof most, ", %.0f %% in %s", kernel->found[0].percent, kernel->found[0].place);
  if (run->created)
    snprintf(created, sizeof created, ", %" PRIu64 " thread%s created", run->created, terminal_plural(run->created));
  print_wrapped(summary,
                "In the kernel: %.0f %% (+- %.0f) of the CPU time%s; in all %" PRIu64 " page fault%s, %" PRIu64
                " context switch%s%s",
                percent / all_ns, (double)run->system_error_ns * 200 / all_ns, most, run->page_faults,
                terminal_plural(run->page_faults), run->switches, run->switches == 1 ? "" : "es", created);
}

/* Where threads come and go: the place with most of that. */
static void print_churn(const struct summary *summary)
{
  const struct kernel_findings *kernel = &summary->report->summary.kernel;
  uint32_t i = 0;
  while (i < kernel->count && kernel->found[i].kind != KERNEL_CHURN)
    i++;
  if (i < kernel->count)
    print_wrapped(summary, "Threads come and go in %s: %s", kernel->found[i].place, kernel->found[i].text);
}

/* Where threads of pools waited longest. */
static void print_pools(const struct summary *summary)
{
  const struct advice_pool *pool = &summary->report->summary.pool;
  char object[LINE] = "", seconds[CELL];
  if (!summary->report->totals->pool_idle_ns)
    return;
  terminal_seconds(summary->report->totals->pool_idle_ns, 3, seconds);
  advice_pool_text(pool, object, sizeof object);
  print_wrapped(summary, "Idle outside OpenMP: threads of pools waited %s s%s", seconds, object);
}

/* ---- what to change ---- */

/* Prints a finding in two lines, or more if its words are many: what and where, with the gain; the remedy. */
static void print_finding(const struct summary *summary, uint32_t rank, const struct advice_finding *found)
{
  char title[ADVICE_TITLE_MAX], gain[64], first[16];
  const struct terminal *terminal = &summary->terminal;
  advice_view_title(terminal, found, title);
  snprintf(gain, sizeof gain, "%.3f s (%.0f %%)", found->gain_s, advice_percent(&summary->report->advice, found));
  snprintf(first, sizeof first, "%3" PRIu32 ". ", rank);
  char *remark = *found->file ? strstr(title, " (") : NULL;
  if (remark && strlen(title) > terminal_room(terminal, 7 + (unsigned)strlen(gain))) /* the place alone is enough */
    *remark = 0;
  fputs(terminal_bold(terminal), summary->stream);
  terminal_wrapf(terminal, summary->stream, first, "     ", "%s: %s", title, gain);
  fputs(terminal_plain(terminal), summary->stream);
  terminal_wrap(terminal, summary->stream, "     ", "     ", found->remedy->brief);
}

static void print_findings(struct summary *summary)
{
  const struct report *report = summary->report;
  const struct advice_finding *rest = advice_much_unexplained(&report->advice);
  double gain_s = verdict_first(report) ? verdict_first(report)->gain_s : 0;
  uint32_t all = 0, shown = 0;
  char of[64] = "";
  for (uint32_t i = 0; i < report->advice.count; i++)
    all += report->advice.found[i].class < ADVICE_REMARKS;
  if (all > 1)
    snprintf(of, sizeof of, " (%" PRIu32 " findings)", all);
  fputs(terminal_bold(&summary->terminal), summary->stream);
  print_wrapped(summary, "What to change first%s%s%s", of, all ? ", and the time that it would gain" : "",
                report->legend ? "" : "; see --legend");
  fputs(terminal_plain(&summary->terminal), summary->stream);
  const char *cores = missing_cores_remedy(report);
  bool doubt = all && !advice_classes[report->advice.found[0].class].about_cores;
  if (cores)
    print_wrapped(summary, "  %s.%s", cores, doubt ? "  What follows rests on waiting, and can be wrong:" : "");
  for (uint32_t i = 0; i < report->advice.count && shown < FINDINGS_MAX && all; i++)
    if (report->advice.found[i].class < ADVICE_REMARKS) {
      screen_part(&summary->screen, shown ? SCREEN_SOME : SCREEN_ALWAYS);
      print_finding(summary, ++shown, &report->advice.found[i]);
    }
  screen_part(&summary->screen, SCREEN_ALWAYS);
  if (rest && gain_s + rest->loss_s <= report->advice.loss_s)
    print_wrapped(summary, "  Lost for unknown reasons: %.3f s (%.0f %%); the view advice has the parts", rest->loss_s,
                  advice_part(&report->advice, rest->loss_s));
  for (uint32_t i = 0; i < report->advice.count && !all && !shown; i++) { /* why there is none */
    const struct advice_finding *found = &report->advice.found[i];
    if (found->class != ADVICE_NONE && !(found->class == ADVICE_UNFIT && report->advice.unfit_first))
      continue;
    terminal_wrap(&summary->terminal, summary->stream, "  ", "  ", found->evidence);
    shown++;
  }
}

/* ---- where to look next ---- */

/* Prints a command for the first ones of `views`, a list that ends in NULL, that fit into a line. */
static void print_views(const struct summary *summary, const char *first, const char *const *views)
{
  static const char last[] = ": hpcprof-lite VIEW DIR";
  char text[LINE];
  size_t length = (size_t)snprintf(text, sizeof text, "%s", first);
  for (size_t i = 0; views[i]; i++) {
    if (i && length + 2 + strlen(views[i]) + sizeof last - 1 > summary->terminal.width)
      break;
    length += (size_t)snprintf(text + length, sizeof text - length, "%s %s", i ? "," : "", views[i]);
  }
  print_wrapped(summary, "%s%s", text, last);
}

static void print_next(const struct summary *summary)
{
  const struct report *report = summary->report;
  const struct advice_finding *first = verdict_first(report);
  if (first || report->totals->samples)
    advice_view_print_command(report, &summary->terminal, "next: ", first ? first->class : ADVICE_NONE);
  if (report->summary.traced)
    print_views(summary, "when:", (const char *[]){"timeline", report->summary.phased ? "phases" : NULL, NULL});
}

static void print_more(const struct summary *summary, struct screen_left left)
{
  const struct report *report = summary->report;
  const char *more[8] = {"advice", "efficiency", "topdown"};
  size_t count = 3;
  if (report->constructs && report->constructs->count)
    more[count++] = "regions";
  if (report->profile->workspan.known)
    more[count++] = "parallelism";
  more[count++] = "flat";
  more[count++] = "threads";
  char notes[64] = "";
  bool narrow = summary->terminal.width < 80;
  if (left.notes)
    snprintf(notes, sizeof notes, ", %u note%s%s", left.notes, terminal_plural(left.notes),
             narrow ? "" : " on quality");
  if (left.lines)
    print_line(summary, "%u line%s%s left out: %s", left.lines, terminal_plural(left.lines), notes,
               narrow ? "see --legend" : "hpcprof-lite --legend DIR shows all");
  print_views(summary, "more:", more);
}

static const char legend[] = "\n"
                             "The bar and the shares below it: the time of all threads together.  Work and\n"
                             "  overhead (time in the OpenMP runtime) are sampled; lock wait and idle time are\n"
                             "  timed by the runtime's callbacks.\n"
                             "Efficiency: the share of threads x elapsed time that is not lost, without this\n"
                             "  tool's; lost to idle threads in parallel regions, and outside; to waiting for\n"
                             "  locks, critical, atomic and ordered; to the OpenMP runtime (sampled).\n"
                             "Gains: forecasts of how much shorter the run would be; they do not add up where\n"
                             "  two findings are about the same time.  --view advice has their ranges.\n"
                             "Most work and overhead: functions by their own time.\n";

static const char mpi_legend[] = "In runs with MPI, Efficiency is of the time outside MPI.  Job: the efficiency of\n"
                                 "  all ranks, MPI x OpenMP; balance: loses to unequal times outside MPI;\n"
                                 "  communication: to MPI in the rank that is outside MPI longest (--view ranks).\n"
                                 "Idle because of MPI: threads had no work while another one of their rank was in\n"
                                 "  the call.\n";

/* An empty line, before text that is always shown. */
static void print_space(struct summary *summary)
{
  screen_part(&summary->screen, SCREEN_MUCH);
  fputc('\n', summary->stream);
  screen_part(&summary->screen, SCREEN_ALWAYS);
}

static void print_parts(struct summary *summary)
{
  const struct report *report = summary->report;
  struct screen *screen = &summary->screen;
  screen_part(screen, SCREEN_ALWAYS);
  missing_cores_print(report, &summary->terminal);
  screen_part(screen, SCREEN_MUCH);
  verdict_unfit(report, &summary->terminal);
  screen_part(screen, SCREEN_ALWAYS);
  verdict_print(report, &summary->terminal);
  print_run(summary);
  screen_part(screen, SCREEN_LITTLE);
  print_notes(summary);
  if (report->totals->samples) {
    print_space(summary);
    category_bar(report, &summary->terminal);
  }
  screen_part(screen, SCREEN_MUCH);
  print_efficiency(summary);
  if (report->mpi)
    print_mpi(summary);
  screen_part(screen, SCREEN_SOME);
  print_hot(summary);
  screen_part(screen, SCREEN_LITTLE);
  print_kernel(summary);
  screen_part(screen, SCREEN_LITTLE);
  print_churn(summary);
  screen_part(screen, SCREEN_LITTLE);
  print_pools(summary);
  print_space(summary);
  print_findings(summary);
  screen_part(screen, SCREEN_MUCH);
  quality_print(report, &summary->terminal);
  screen_split(screen, SCREEN_MUCH);
  screen_part(screen, SCREEN_ALWAYS);
  print_next(summary);
}

void summary_text(const struct report *report)
{
  struct report on_screen = *report;
  struct summary summary = {.report = &on_screen};
  terminal_init(&summary.terminal, report->stream);
  screen_begin(&summary.screen);
  on_screen.stream = summary.stream = summary.screen.stream;
  print_parts(&summary);
  struct screen_left left = screen_end(&summary.screen, report->stream, 1, report->legend);
  on_screen.stream = summary.stream = report->stream;
  print_more(&summary, left);
  if (report->legend)
    fputs(legend, report->stream);
  if (report->legend && report->mpi)
    fputs(mpi_legend, report->stream);
}
