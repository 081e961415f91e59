/* Efficiencies, and how the time of all threads is divided.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/job_efficiency.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

enum { CELL = 16 };

/* ---- the table ---- */

struct fact {
  const char *metric, *unit, *note;
  struct cell value, gain;
  bool of_job;
};

static void fill(const void *context, const void *row, struct cell *cell)
{
  const struct fact *fact = row;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/efficiency_view.def"
#undef COLUMN
}

#define KINDS(COLUMN)                                                                                                  \
  COLUMN(                                                                                                              \
      "kind", TEXT, cell_text(fact->of_job ? "job" : "program"),                                                       \
      "job: efficiencies of all ranks together, which multiply; program: of the threads, outside MPI. Only in runs "   \
      "with calls of MPI",                                                                                             \
      .shown = 1)

static void fill_kind(const void *context, const void *row, struct cell *cell)
{
  const struct fact *fact = row;
  (void)context;
  KINDS(COLUMN_CELL)
}

static const struct table_column kind_columns[] = {KINDS(COLUMN_ENTRY)};
#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/efficiency_view.def"
};
#undef COLUMN
static const struct schema kind_schema = SCHEMA(kind_columns, fill_kind);
static const struct schema efficiency_view_schema = SCHEMA(columns, fill);

/* Whether a part is known only if a run with one thread is. */
static bool needs_comparison(int part)
{
  return part == EFFICIENCY_WORK_ONE || part == EFFICIENCY_INFLATION;
}

static struct fact part_fact(const struct efficiency_split *split, int part)
{
  assert(part < EFFICIENCY_PARTS);
  bool known = split->compared || !needs_comparison(part);
  struct fact fact = {efficiency_part_name(part),
                      "s",
                      known ? NULL : split->note,
                      cell_optional_real(known, split->part_s[part], 9),
                      cell_optional_real(known && part >= EFFICIENCY_INFLATION, split->gain_s[part], 9),
                      false};
  if (known && part == EFFICIENCY_LOCKWAIT)
    fact.note = "of idleness_time";
  return fact;
}

/* An efficiency of the job, which may not be known. */
static struct fact job_fact(const struct efficiency_job *job, enum efficiency_job_metric metric)
{
  bool known = !isnan(job->value[metric]);
  struct fact fact = {efficiency_job_name(metric),
                      "ratio",
                      job_efficiency_meaning(metric),
                      cell_optional_real(known, job->value[metric], 6),
                      cell_optional_real(known, job->gain_s[metric], 9),
                      true};
  if (!known)
    fact.note = metric == JOB_OPENMP ? "no rank has OpenMP threads"
                                     : "not known: it needs an undamaged graph log of each "
                                       "rank, with all operations followed and matched, calls of MPI by "
                                       "initial threads only, and a core for each of them in these calls";
  return fact;
}

static int each_fact(const void *source, table_take *take, void *to)
{
  const struct efficiency *efficiency = source;
  int status = 0;
  for (unsigned i = 0; i < JOB_METRICS && efficiency->job.known && !status; i++) {
    struct fact fact = job_fact(&efficiency->job, i);
    status = take(to, &fact);
  }
  for (unsigned i = 0; i < EFFICIENCY_COUNT && efficiency->known && !status; i++)
    status = take(to, &(struct fact){efficiency_name(i), "ratio", NULL, cell_real(efficiency->value[i], 6),
                                     cell_real(efficiency->gain_s[i], 9), false});
  for (int i = 0; i < EFFICIENCY_PARTS && efficiency->split.known && !status; i++) {
    struct fact fact = part_fact(&efficiency->split, i);
    status = take(to, &fact);
  }
  return status;
}

void efficiency_view_table(const struct report *report, struct table *table)
{
  table->each = each_fact;
  table->source = &report->efficiency;
  table_add(table, &efficiency_view_schema, NULL);
  if (report->mpi)
    table_add(table, &kind_schema, NULL);
}

/* ---- text ---- */

/* Seconds of any size in 9 columns. */
static void real_seconds(double seconds, char out[CELL])
{
  snprintf(out, CELL, seconds < 99999 ? "%.3f" : "%.3g", seconds);
}

/* Prints how the time of all threads is divided. */
static void print_split(const struct report *report, const struct terminal *terminal)
{
  const char *const meaning[EFFICIENCY_PARTS] = {
      [EFFICIENCY_WHOLE] = report->mpi ? "threads x elapsed time - tool - MPI" : "threads x elapsed time - tool",
      [EFFICIENCY_WORK] = "work of this run (sampled)",
      [EFFICIENCY_WORK_ONE] = "work of the run with one thread",
      [EFFICIENCY_INFLATION] = "additional work beyond that",
      [EFFICIENCY_OVERHEAD] = "time in the OpenMP runtime (sampled)",
      [EFFICIENCY_IDLENESS] = "the remainder: waiting of any kind",
      [EFFICIENCY_LOCKWAIT] = "of that, for locks (exact)"};
  const struct efficiency_split *split = &report->efficiency.split;
  if (!split->known)
    return;
  fprintf(report->stream, "\n%s%-21s %10s %9s  %s%s\n", terminal_bold(terminal), "Time of all threads", "Seconds",
          "Gain s", "Meaning", terminal_plain(terminal));
  for (int i = 0; i < EFFICIENCY_PARTS; i++) {
    char part[CELL], gain[CELL] = "";
    int indent = needs_comparison(i) || i == EFFICIENCY_LOCKWAIT ? 4 : 2;
    if (i == EFFICIENCY_WHOLE)
      indent = 0;
    if (needs_comparison(i) && !split->compared)
      continue;
    real_seconds(split->part_s[i], part);
    if (i >= EFFICIENCY_INFLATION)
      real_seconds(split->gain_s[i], gain);
    fprintf(report->stream, "%*s%-*s %10s %9s  %s\n", indent, "", 21 - indent, efficiency_part_name(i), part, gain,
            meaning[i]);
  }
  fprintf(report->stream, "thread_time = work + overhead_time + idleness_time\n%s",
          split->compared ? "work = work_one_thread + work_inflation\n" : "");
  if (!split->compared && report->totals->threads_max > 1)
    fprintf(report->stream, "Work with one thread is not known; to compare, also give the directory of a\n"
                            "run of the same command with OMP_NUM_THREADS=1.\n");
}

/* Prints how much of the time the efficiencies leave out, if it is much. */
static void print_excluded(const struct report *report, const struct terminal *terminal)
{
  enum { MUCH = 10 };
  uint64_t ns[TIMELINE_CATEGORIES], all = category_times(report, ns);
  uint64_t excluded = model_sum(model_sum(ns[TIMELINE_BLOCKED], ns[TIMELINE_CORE_WAIT]),
                                model_sum(ns[TIMELINE_NO_CORE], ns[TIMELINE_DEVICE]));
  char percent[CELL];
  if (excluded <= all / MUCH)
    return;
  terminal_percent(excluded, all, percent);
  terminal_wrapf(terminal, report->stream, "", "",
                 "For %s %% of their time, threads were blocked in calls outside OpenMP, ready to run without a core, "
                 "or waited for such a thread%s.  This does not count as a loss.",
                 percent, report->awaits ? " or a device" : "");
}

static const char job_legend[] = "Efficiencies of the job: those of POP's hybrid model (doc/mpi.md).\n"
                                 "Longest rank: the one that is outside MPI longest.  mpi_communication is the\n"
                                 "product of mpi_serialisation and mpi_transfer, where these are known.  Gains of\n"
                                 "the job are parts of the longest elapsed time of a rank, those of threads parts\n"
                                 "of the whole run's.\n";

void efficiency_view_text(const struct report *report)
{
  static const char *const meaning[EFFICIENCY_COUNT] = {[EFFICIENCY_PARALLEL] = "all losses below",
                                                        [EFFICIENCY_BALANCE] = "idle threads in parallel regions",
                                                        [EFFICIENCY_SERIAL] = "idle threads outside of all regions",
                                                        [EFFICIENCY_LOCK] = "locks, critical, atomic, ordered",
                                                        [EFFICIENCY_RUNTIME] = "time in the OpenMP runtime (sampled)"};
  const struct efficiency *efficiency = &report->efficiency;
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  missing_cores_print(report, &terminal);
  job_efficiency_print(report, &terminal);
  if (efficiency->job.known)
    fputs("\nThreads, outside MPI\n", report->stream);
  if (!efficiency->known) {
    fprintf(report->stream, "Efficiencies are not known: OpenMP threads and regions were not timed, because\n"
                            "the program has none, its runtime was not measured, or no region ended.\n");
    category_table(report, &terminal);
    return;
  }
  char whole[CELL];
  real_seconds(efficiency->thread_s, whole);
  if (efficiency->threads)
    fprintf(report->stream, "%" PRIu32 " process%s of %" PRIu32 " thread%s: ", efficiency->processes,
            efficiency->processes == 1 ? "" : "es", efficiency->threads, terminal_plural(efficiency->threads));
  fprintf(report->stream, "%s thread-seconds\n", whole);
  fprintf(report->stream, "%s%-21s %10s %9s  %s%s\n", terminal_bold(&terminal), "", "Efficiency", "Gain s", "Lost to",
          terminal_plain(&terminal));
  for (int i = 0; i < EFFICIENCY_COUNT; i++) {
    char gain[CELL];
    real_seconds(efficiency->gain_s[i], gain);
    int indent = i ? 2 : 0;
    fprintf(report->stream, "%*s%-*s %8.1f %% %9s  %s\n", indent, "", 21 - indent, efficiency_name(i),
            100 * efficiency->value[i], gain, meaning[i]);
  }
  legend_print(report, "Gain s: how much shorter the run would be at most without it; see --legend\n",
               "Thread-seconds: threads x elapsed time, without the time in this tool;\n"
               "Efficiency: the share of it that is not lost.\n"
               "Gain s: how much shorter the run would be without that loss, at most.\n"
               "The four losses (100 % - efficiency) add up to the loss of parallel_efficiency.\n"
               "The metrics are those of the POP centre of excellence.\n"
               "Thread s: time of all threads together; Exact s: timed by the runtime's\n"
               "callbacks instead of sampled.\n");
  if (report->legend && efficiency->job.known)
    fputs(job_legend, report->stream);
  print_excluded(report, &terminal);
  print_split(report, &terminal);
  category_table(report, &terminal);
}
