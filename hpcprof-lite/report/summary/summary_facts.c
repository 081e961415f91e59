/* The facts of the summary, as a table.
 *
 * Context: BATCH.  A row is one fact, with a value of its own type.
 */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/job_efficiency.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/summary/verdict.h"

#include <math.h>

struct fact {
  const char *section, *item, *unit, *note;
  struct cell value;
};

/* What takes the facts, until it returns an error. */
struct facts {
  const struct report *report;
  table_take *take;
  void *to;
  int status;
};

static void fill(const void *context, const void *row, struct cell *cell)
{
  const struct fact *fact = row;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/summary/summary_facts.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/summary/summary_facts.def"
};
#undef COLUMN
static const struct schema summary_facts_schema = SCHEMA(columns, fill);

static void fact(struct facts *facts, const char *section, const char *item, struct cell value, const char *unit,
                 const char *note)
{
  if (!facts->status)
    facts->status = facts->take(facts->to, &(struct fact){section, item, unit, note, value});
}

static void fact_text(struct facts *facts, const char *section, const char *item, const char *value, const char *note)
{
  fact(facts, section, item, cell_text(value), NULL, note);
}

static void fact_uint(struct facts *facts, const char *section, const char *item, uint64_t value, const char *note)
{
  fact(facts, section, item, cell_count(value), NULL, note);
}

static void fact_ns(struct facts *facts, const char *section, const char *item, uint64_t ns, const char *note)
{
  fact(facts, section, item, cell_ns(ns), "s", note);
}

/* What was not measured. */
static void add_limits(struct facts *facts)
{
  const struct report *report = facts->report;
  char pauses[PROFILE_PAUSES_MAX];
  if (profile_pauses(report->profile, true, pauses, sizeof pauses)) {
    fact_text(facts, "run", "paused", pauses, "times and shares are those of the measured time");
    fact_ns(facts, "run", "measured", report->totals->measured_ns, "elapsed, without pauses");
  }
  if (profile_pauses(report->profile, false, pauses, sizeof pauses))
    fact_text(facts, "run", "not sampled", pauses, "the level was summary");
  if (report->filtered && *report->filtered)
    fact_text(facts, "run", "filtered", report->filtered, "left out by a filter of the measurement");
}

/* What limited the cores of the processes. */
static void add_cores(struct facts *facts)
{
  const struct totals *run = facts->report->totals;
  char text[MISSING_CORES_TEXT];
  for (unsigned part = 0; part < MISSING_CORES_PARTS; part++)
    if (missing_cores_of_report(facts->report, part, text))
      fact_text(facts, "cores", "unreliable", text, "times of waiting say little about the program");
  if (run->delay_ns)
    fact(facts, "cores", "without core", cell_real(totals_without_core(run), 6), "ratio",
         "of the time in which threads wanted to run, by the kernel's totals");
  if (run->delay_estimated)
    fact_uint(facts, "cores", "threads with estimates", run->delay_estimated,
              "records of switches are missing: how much of their waits they had no core is an estimate");
  if (run->steal_ns)
    fact(facts, "cores", "stolen", cell_real(totals_stolen(run), 6), "ratio", "of the time of the machine's CPUs");
  if (facts->report->efficiency.known && run->delay_ns)
    fact(facts, "cores", "efficiency with cores", cell_real(facts->report->efficiency.with_cores, 6), "ratio",
         "parallel efficiency, without the time in which threads had no core");
  if (run->with_cores_ns && run->delay_ns)
    fact_ns(facts, "cores", "elapsed_with_cores", run->with_cores_ns,
            "forecast of the elapsed time, had each thread always had a core");
  if (run->quota_ns)
    fact(facts, "cores", "quota used", cell_real((double)run->in_quota_ns / (double)run->quota_ns, 6), "ratio",
         "CPU time of processes whose quota is less than their cores, of quota x elapsed time");
  const struct core_findings *cores = &facts->report->summary.cores;
  for (uint32_t i = 0; i < cores->count; i++)
    fact_text(facts, "cores", core_finding_name(cores->found[i].kind), cores->found[i].text, cores->found[i].settings);
}

/* What the kernel did. */
static void add_kernel(struct facts *facts)
{
  const struct totals *run = facts->report->totals;
  const struct kernel_findings *kernel = &facts->report->summary.kernel;
  if (kernel->in_part)
    fact_text(facts, "kernel", "known of", "the whole run",
              "system time, page faults, context switches and created threads are not known for a part of it");
  if (!run->usage)
    return;
  fact_ns(facts, "kernel", "user", run->user_cpu_ns,
          "CPU time of threads outside the kernel, without the tool's samples");
  fact_ns(facts, "kernel", "system", run->system_cpu_ns, "CPU time of threads in the kernel, the kernel's estimate");
  fact_ns(facts, "kernel", "system error", run->system_error_ns, "standard error of that estimate");
  fact_uint(facts, "kernel", "page faults", run->page_faults, NULL);
  fact_uint(facts, "kernel", "context switches", run->switches, NULL);
  fact_uint(facts, "kernel", "threads created", run->created, NULL);
  fact_ns(facts, "kernel", "creation of threads", run->creating_ns, "in the threads that created them");
  for (uint32_t i = 0; i < kernel->count; i++) {
    const struct kernel_finding *found = &kernel->found[i];
    const char *name = kernel_finding_name(found->kind);
    char note[2 * KERNEL_FINDING_TEXT];
    snprintf(note, sizeof note, "in %s: %s", found->place, found->text);
    if (found->kind == KERNEL_TIME)
      fact_ns(facts, "evidence", name, found->size, note);
    else
      fact(facts, "evidence", name, cell_count(found->size), "threads", note);
  }
}

static void add_run(struct facts *facts)
{
  const struct report *report = facts->report;
  static const char *const against[] = {[BASELINE_THREAD] =
                                            "exact, distributed by samples, against the most threads ever in use",
                                        [BASELINE_CORE] = "exact, distributed by samples, against the cores",
                                        [BASELINE_SHARED] = "exact, distributed by samples, within regions"};
  const struct totals *run = report->totals;
  const struct profile_process *with_runtime = profile_with_runtime(report->profile);
  char verdict[VERDICT_MAX];
  fact_text(facts, "run", "verdict", verdict_sentence(report, NULL, verdict), NULL);
  fact_text(facts, "run", "command", run->command, NULL);
  fact_text(facts, "run", "hosts", run->hosts, NULL);
  if (with_runtime)
    fact_text(facts, "run", "runtime", with_runtime->runtime, "of the first process that has one");
  fact_uint(facts, "run", "processes", run->processes, NULL);
  fact_uint(facts, "run", "threads", run->threads, NULL);
  fact_uint(facts, "run", "threads_max", run->threads_max, "most OpenMP threads in use at once in a process");
  fact_ns(facts, "run", "elapsed", run->elapsed_ns, NULL);
  fact_ns(facts, "run", "cpu", run->cpu_ns, NULL);
  if (!report->profile->range.traced || report->profile->constructs.nodes_count) /* else they are not known */
    fact_uint(facts, "run", "regions", run->regions, "parallel regions begun");
  fact_uint(facts, "run", "samples", run->samples, NULL);
  if (run->events)
    fact_uint(facts, "run", "OpenMP events", run->events, NULL);
  if (run->events_ns)
    fact_ns(facts, "run", "cost of OpenMP events", run->events_ns, "estimate, of all threads");
  add_limits(facts);
  add_cores(facts);
  fact_ns(facts, "categories", "work", run->work_ns, "sampled");
  fact_ns(facts, "categories", "overhead", run->overhead_ns, "sampled, and exact during waits");
  fact_ns(facts, "categories", "lock wait", run->lockwait_ns, "exact");
  fact_ns(facts, "categories", "idle", run->idle_ns, "exact");
  if (report->columns->lockwait != MODEL_NONE)
    fact_ns(facts, "categories", "lock wait charged", run->caused_lock_ns,
            "exact, distributed by samples to the code that released the lock");
  if (report->columns->idleness != MODEL_NONE)
    fact_ns(facts, "categories", "idleness", run->caused_idle_ns, against[report->baseline]);
  if (report->mpi)
    fact_ns(facts, "categories", "mpi", run->mpi_ns, "in calls of MPI, exact");
  if (report->mpi && report->columns->idleness != MODEL_NONE)
    fact_ns(facts, "categories", "idleness because of MPI", report->summary.mpi_idle_ns,
            "the part of idleness that is charged to calls of MPI");
  if (run->device_ns)
    fact_ns(facts, "categories", "device", run->device_ns, "waiting for devices in target constructs, exact");
  fact_ns(facts, "categories", "blocked", run->blocked_ns, "in calls outside OpenMP");
  fact_ns(facts, "categories", "no core", run->core_wait_ns, "ready to run, without a processor");
  fact_ns(facts, "categories", "waiting for a thread without a core", run->no_core_ns,
          "at barriers, for tasks, locks and regions");
  fact_ns(facts, "categories", "tool", run->tool_ns, "time of this tool");
  const char *whole = "most threads of each OpenMP process x its elapsed time";
  if (run->measured_ns < run->elapsed_ns)
    whole = "cores or most threads of each OpenMP process x measured time";
  else if (report->baseline == BASELINE_CORE)
    whole = "cores of each OpenMP process x its elapsed time";
  if (run->openmp_processes)
    fact_ns(facts, "categories", "threads x elapsed", run->baseline_ns, whole);
  if (run->openmp_processes && run->others_ns)
    fact_ns(facts, "categories", "threads outside OpenMP", run->others_ns, "their life time, which is in the sum, too");
  if (run->openmp_processes && run->beyond_ns)
    fact_ns(facts, "categories", "further threads", run->beyond_ns,
            "by how much OpenMP threads lived longer than threads x elapsed, which is in the sum, too");
  uint64_t unexplained_ns = category_unexplained(report);
  if (unexplained_ns)
    fact_ns(facts, "categories", "unexplained", unexplained_ns,
            "the part of threads x elapsed, and of other threads, that is in no category");
  add_kernel(facts);
  for (unsigned i = 0; i < EFFICIENCY_COUNT && report->efficiency.known; i++)
    fact(facts, "efficiency", efficiency_name(i), cell_real(report->efficiency.value[i], 6), "ratio", NULL);
  for (unsigned i = 0; i < JOB_METRICS && report->efficiency.job.known; i++)
    if (!isnan(report->efficiency.job.value[i]))
      fact(facts, "job", efficiency_job_name(i), cell_real(report->efficiency.job.value[i], 6), "ratio",
           job_efficiency_meaning(i));
}

static void fact_work(struct facts *facts, const char *item, uint64_t amount, const char *note)
{
  const struct profile_workspan *workspan = &facts->report->profile->workspan;
  fact(facts, "parallelism", item, cell_amount(amount, workspan->is_time), workspan->unit, note);
}

static void add_parallelism(struct facts *facts)
{
  const struct report *report = facts->report;
  const struct profile_workspan *workspan = &report->profile->workspan;
  if (!workspan->known)
    return;
  fact_work(facts, "work", workspan->work, NULL);
  fact_work(facts, "span", workspan->span, "longest chain of work");
  struct profile_untimed untimed = profile_untimed(report->profile);
  if (untimed.tasks)
    fact_work(facts, "span error", untimed.early, "the span may be too short by so much: see health");
  fact_work(facts, "burdened span", workspan->burdened, "with the cost of forks, tasks and joins");
  fact(facts, "parallelism", "parallelism", cell_real(workspan_parallelism(workspan->work, workspan->span), 4), "ratio",
       report->spans.workspan.count ? report->spans.workspan.rows[0].note : NULL);
  for (uint32_t i = 0; i < report->summary.critical_count; i++)
    fact_work(facts, report->summary.flat->rows[report->summary.critical[i]].name,
              tree_excl(report->summary.flat, report->summary.critical[i], report->columns->critical),
              "own part of the critical path");
}

/* The constructs without whose losses the run would be shortest. */
static void add_constructs(struct facts *facts)
{
  const struct report *report = facts->report;
  enum { CONSTRUCTS_MAX = 5 };
  for (uint32_t i = 1; i < report->constructs->count && i <= CONSTRUCTS_MAX; i++) {
    const struct construct_entry *entry = &report->constructs->entries[i];
    struct construct_lost lost = construct_lost(entry->kind, &entry->sum);
    char place[CONSTRUCT_TEXT_MAX];
    construct_text_place(profile_directive_name(entry->kind), entry->name, entry->file, entry->line, place);
    if (entry->gain_ns)
      fact_ns(facts, "constructs", place, entry->gain_ns, construct_text_lost(entry->kind, &lost));
  }
}

/* What to change, with the gain. */
static void add_advice(struct facts *facts)
{
  const struct report *report = facts->report;
  if (report->advice.loss_s >= 0)
    fact_ns(facts, "loss", "elapsed time lost", model_rounded(report->advice.loss_s * 1e9),
            "of all threads together, divided equally; the loss_s of the view advice add up to it");
  else
    fact_text(facts, "loss", "elapsed time lost", "", "not known: nothing was sampled");
  for (uint32_t i = 0; i < report->advice.count; i++) {
    const struct advice_finding *found = &report->advice.found[i];
    char title[ADVICE_TITLE_MAX];
    advice_view_title(NULL, found, title);
    if (found->class < ADVICE_REMARKS)
      fact_ns(facts, "advice", title, model_rounded(found->gain_s * 1e9), found->remedy->text);
    else
      fact_text(facts, "advice", title, "", found->evidence);
  }
}

/* The contexts that cause most waiting. */
static void add_worst(struct facts *facts, const char *section, const struct causes_finding *findings, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    fact_ns(facts, section, facts->report->summary.flat->rows[findings[i].flat].name, findings[i].cost_ns, "");
}

static void add_health(struct facts *facts)
{
  const struct report *report = facts->report;
  bool time = tree_has_time(report->columns);
  struct construct_figures light = profile_light(report->profile);
  if (light.light)
    fact_uint(facts, "health", "executions that were only counted", light.light,
              "spans and times of their constructs are estimates");
  struct construct_figures regions = profile_light_regions(report->profile);
  if (regions.light)
    fact_uint(facts, "health", "regions that were only counted", regions.light,
              "spans, and times of constructs in them, are estimates");
  uint64_t untimed = profile_untimed(report->profile).tasks;
  if (untimed)
    fact_uint(facts, "health", "tasks that were created without a reading of the clock", untimed,
              "spans may be too short");
  if (report->totals->unfinished)
    fact_uint(facts, "health", "processes that were killed or could not write their file", report->totals->unfinished,
              notes_cut(report) ? "work and span are not known" : "reported up to the last sample");
  if (report->totals->running)
    fact_uint(facts, "health", "processes that still run", report->totals->running, "reported up to the last sample");
  if (report->totals->copied)
    fact_uint(facts, "health", "processes that were running when the snapshot was taken", report->totals->copied,
              "reported up to the last sample");
  for (unsigned i = 0; i < LOSS_MAX; i++)
    if (format_loss_name(i))
      fact_uint(facts, "health", format_loss_name(i), report->totals->lost[i],
                report->totals->lost[i] ? format_loss_remedy(i) : NULL);
  for (uint32_t i = 0; i < report->summary.unnamed_count; i++) {
    const struct unnamed_module *module = &report->summary.unnamed[i];
    const char *path = report->profile->catalog.modules[module->module].path;
    const char *note = "own work and overhead without source lines";
    if (module->what == UNNAMED_FUNCTIONS)
      note = "own work and overhead in code without symbols";
    if (module->what == UNNAMED_PYTHON)
      note = "own work and overhead of the Python interpreter: functions of Python have no names";
    if (time)
      fact_ns(facts, "modules", path, module->weight, note);
    else
      fact_uint(facts, "modules", path, module->weight, note);
  }
}

static void add_hottest(struct facts *facts)
{
  const struct report *report = facts->report;
  for (uint32_t i = 0; i < report->summary.hot_count; i++) {
    uint32_t row = report->summary.hot[i].flat;
    fact_ns(facts, "hottest", report->summary.flat->rows[row].name,
            tree_spent(report->summary.flat, report->columns, row, false), report->summary.flat->rows[row].file);
  }
}

static int each_fact(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  struct facts facts = {.report = report, .take = take, .to = to};
  add_run(&facts);
  add_advice(&facts);
  add_constructs(&facts);
  add_parallelism(&facts);
  add_worst(&facts, "idleness", report->summary.idle, report->summary.idle_count);
  add_worst(&facts, "lock wait", report->summary.locks, report->summary.locks_count);
  add_health(&facts);
  add_hottest(&facts);
  return facts.status;
}

void summary_facts_table(const struct report *report, struct table *table)
{
  table->each = each_fact;
  table->source = report;
  table_add(table, &summary_facts_schema, report);
}
