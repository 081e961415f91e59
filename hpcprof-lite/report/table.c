#include "hpcprof-lite/report/table.h"

#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/comparison/compare_cells.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/row_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Columns of every tree view; two for each further event follow. */
static const char *const tree_headers[] = {"id",
                                           "parent_id",
                                           "depth",
                                           "kind",
                                           "name",
                                           "module",
                                           "file",
                                           "line",
                                           "samples",
                                           "work_incl_s",
                                           "work_excl_s",
                                           "overhead_incl_s",
                                           "overhead_excl_s",
                                           "lockwait_incl_s",
                                           "lockwait_excl_s",
                                           "idleness_incl_s",
                                           "idleness_excl_s",
                                           "abs_idleness_pct",
                                           "rel_idleness_pct",
                                           "critical_path_incl",
                                           "critical_path_excl"};
/* The last columns. */
static const char *const statistics_headers[] = {
    "thread_work_min_s",       "thread_work_mean_s",      "thread_work_max_s",      "thread_work_stddev_s",
    "thread_work_min_rank",    "thread_work_min_process", "thread_work_min_thread", "thread_work_max_rank",
    "thread_work_max_process", "thread_work_max_thread",  "rank_work_min_s",        "rank_work_mean_s",
    "rank_work_max_s",         "rank_work_stddev_s",      "rank_work_min_rank",     "rank_work_max_rank"};
enum {
  TREE_HEADERS = sizeof tree_headers / sizeof *tree_headers,
  STATISTICS_THREAD = 10, /* of them, about threads */
  STATISTICS_HEADERS = sizeof statistics_headers / sizeof *statistics_headers
};

/* Frees what headers() returned for that many events. */
static void free_headers(char **all, size_t events)
{
  for (size_t i = 0; all && i < 2 * events; i++)
    free(all[TREE_HEADERS + i]);
  free(all);
}

/* Headers of a tree view: the fixed ones, two for each event, the statistics'.  free_headers() frees it.  NULL if
 * memory runs out. */
static char **headers(const struct report *report, size_t *count)
{
  const struct tree_columns *columns = report->columns;
  char **all =
      calloc(TREE_HEADERS + 2 * (size_t)columns->events_count + STATISTICS_HEADERS + COMPARE_CELLS, sizeof *all);
  if (!all)
    return NULL;
  memcpy(all, tree_headers, sizeof tree_headers);
  *count = TREE_HEADERS;
  for (uint32_t i = 0; i < columns->events_count; i++) {
    static const char *const suffixes[] = {"incl", "excl"};
    for (size_t j = 0; j < 2; j++) {
      if (asprintf(&all[*count], "%s_%s", columns->columns[columns->events[i]].name, suffixes[j]) < 0) {
        all[*count] = NULL;
        free_headers(all, columns->events_count);
        return NULL;
      }
      ++*count;
    }
  }
  if (!report->no_statistics) {
    memcpy(all + *count, statistics_headers, sizeof statistics_headers);
    *count += STATISTICS_HEADERS;
  }
  if (report->comparison && report->comparison->has_base)
    *count += compare_cells_headers((const char **)all + *count);
  return all;
}

static void time_cell(struct row_writer *writer, uint32_t column, uint64_t ns)
{
  if (column == MODEL_NONE)
    row_writer_empty(writer);
  else
    row_writer_ns(writer, ns);
}

static void event_cell(struct row_writer *writer, const struct catalog_column *column, uint64_t value)
{
  if (!strcmp(column->unit, "ns"))
    row_writer_ns(writer, value);
  else
    row_writer_uint(writer, value);
}

/* The inclusive and exclusive cell of a column. */
static void time_cells(const struct report *report, struct row_writer *writer, uint32_t row, uint32_t column)
{
  time_cell(writer, column, tree_incl(report->tree, row, column));
  time_cell(writer, column, tree_excl(report->tree, row, column));
}

/* Idleness as a percentage of all time in the tree, and of the row's own time. */
static void idleness_cells(const struct report *report, struct row_writer *writer, uint32_t row)
{
  const struct tree_columns *columns = report->columns;
  for (int i = 0; i < 2; i++) {
    uint64_t whole = tree_weight(report->tree, columns, i ? row : 0, true);
    if (columns->idleness == MODEL_NONE)
      row_writer_empty(writer);
    else
      row_writer_percent(writer, tree_incl(report->tree, row, columns->idleness), whole);
  }
}

static void critical_cell(const struct report *report, struct row_writer *writer, uint64_t amount)
{
  if (report->columns->critical == MODEL_NONE)
    row_writer_empty(writer);
  else
    row_writer_work(writer, amount, report->profile->workspan.is_time);
}

static void rank_cell(const struct report *report, struct row_writer *writer, const struct statistics_owner *owner)
{
  int32_t rank = report->profile->processes[owner->process].rank;
  row_writer_optional(writer, rank >= 0, (uint64_t)rank);
}

static void owner_cells(const struct report *report, struct row_writer *writer, const struct statistics_owner *owner)
{
  const struct profile_process *process = &report->profile->processes[owner->process];
  rank_cell(report, writer, owner);
  row_writer_uint(writer, process->pid);
  row_writer_uint(writer, process->threads[owner->thread].index);
}

/* The distribution of the row's work over threads or ranks. */
static void statistics_cells(const struct report *report, struct row_writer *writer, uint32_t row, bool of_ranks)
{
  struct statistics_figures figures;
  if (!report->statistics || !statistics_row(report->statistics, row, of_ranks, &figures)) {
    for (int i = of_ranks ? STATISTICS_THREAD : 0; i < (of_ranks ? STATISTICS_HEADERS : STATISTICS_THREAD); i++)
      row_writer_empty(writer);
    return;
  }
  row_writer_ns(writer, figures.least);
  row_writer_ns(writer, figures.mean);
  row_writer_ns(writer, figures.most);
  row_writer_ns(writer, figures.deviation);
  void (*cells)(const struct report *, struct row_writer *, const struct statistics_owner *) =
      of_ranks ? rank_cell : owner_cells;
  cells(report, writer, &figures.least_owner);
  cells(report, writer, &figures.most_owner);
}

static void tree_cells(const struct report *report, struct row_writer *writer, uint32_t number)
{
  const struct tree *tree = report->tree;
  const struct tree_columns *columns = report->columns;
  const struct tree_row *row = &tree->rows[number];
  row_writer_uint(writer, row->id);
  if (number)
    row_writer_uint(writer, tree->rows[row->parent].id);
  else
    row_writer_empty(writer);
  row_writer_uint(writer, row->depth);
  row_writer_text(writer, tree_kind_name(row->kind));
  row_writer_text(writer, row->name);
  row_writer_text(writer, row->module == MODEL_NONE ? NULL : report->profile->catalog.modules[row->module].path);
  row_writer_text(writer, row->file);
  if (row->line)
    row_writer_uint(writer, row->line);
  else
    row_writer_empty(writer);
  if (columns->samples == MODEL_NONE)
    row_writer_empty(writer);
  else
    row_writer_uint(writer, tree_incl(tree, number, columns->samples));
  time_cells(report, writer, number, columns->work);
  time_cells(report, writer, number, columns->overhead);
  time_cells(report, writer, number, columns->lockwait);
  time_cells(report, writer, number, columns->idleness);
  idleness_cells(report, writer, number);
  critical_cell(report, writer, tree_incl(tree, number, columns->critical));
  critical_cell(report, writer, tree_excl(tree, number, columns->critical));
  for (uint32_t i = 0; i < columns->events_count; i++) {
    uint32_t event = columns->events[i];
    event_cell(writer, &columns->columns[event], tree_incl(tree, number, event));
    event_cell(writer, &columns->columns[event], tree_excl(tree, number, event));
  }
  if (!report->no_statistics) {
    statistics_cells(report, writer, number, false);
    statistics_cells(report, writer, number, true);
  }
  if (report->comparison && report->comparison->has_base)
    compare_cells(writer, &report->comparison->figures[number]);
}

int table_tree(const struct report *report, bool json)
{
  struct row_writer writer;
  size_t count = 0;
  char **all = headers(report, &count);
  if (!all)
    return ERR_NOMEM;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, (const char *const *)all, count);
  for (uint32_t i = 0; i < report->tree->count; i++)
    if (report->shown[report->tree->order[i]])
      tree_cells(report, &writer, report->tree->order[i]);
  row_writer_end(&writer);
  document_close(report, json);
  free_headers(all, report->columns->events_count);
  return 0;
}

static bool needs_comparison(int part)
{
  return part == EFFICIENCY_WORK_ONE || part == EFFICIENCY_INFLATION;
}

static void split_cells(struct row_writer *writer, const struct efficiency_split *split, int part)
{
  bool known = split->compared || !needs_comparison(part);
  row_writer_text(writer, efficiency_part_name(part));
  if (known)
    row_writer_real(writer, split->part_s[part], 9);
  else
    row_writer_empty(writer);
  row_writer_text(writer, "s");
  if (known && part >= EFFICIENCY_INFLATION)
    row_writer_real(writer, split->gain_s[part], 9);
  else
    row_writer_empty(writer);
  row_writer_text(writer, known ? part == EFFICIENCY_LOCKWAIT ? "of idleness_time" : NULL : split->note);
}

int table_efficiency(const struct report *report, bool json)
{
  static const char *const columns[] = {"metric", "value", "unit", "gain_s", "note"};
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (unsigned i = 0; i < EFFICIENCY_COUNT && report->efficiency.known; i++) {
    row_writer_text(&writer, efficiency_name(i));
    row_writer_real(&writer, report->efficiency.value[i], 6);
    row_writer_text(&writer, "ratio");
    row_writer_real(&writer, report->efficiency.gain_s[i], 9);
    row_writer_empty(&writer);
  }
  for (int i = 0; i < EFFICIENCY_PARTS && report->efficiency.split.known; i++)
    split_cells(&writer, &report->efficiency.split, i);
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

static void fact_text(struct row_writer *writer, const char *section, const char *item, const char *value,
                      const char *note)
{
  row_writer_text(writer, section);
  row_writer_text(writer, item);
  row_writer_text(writer, value);
  row_writer_empty(writer);
  row_writer_text(writer, note);
}

static void fact_uint(struct row_writer *writer, const char *section, const char *item, uint64_t value,
                      const char *note)
{
  row_writer_text(writer, section);
  row_writer_text(writer, item);
  row_writer_uint(writer, value);
  row_writer_empty(writer);
  row_writer_text(writer, note);
}

static void fact_ns(struct row_writer *writer, const char *section, const char *item, uint64_t ns, const char *note)
{
  row_writer_text(writer, section);
  row_writer_text(writer, item);
  row_writer_ns(writer, ns);
  row_writer_text(writer, "s");
  row_writer_text(writer, note);
}

/* What was not measured. */
static void summary_limits(const struct report *report, struct row_writer *writer)
{
  char pauses[PROFILE_PAUSES_MAX];
  if (profile_pauses(report->profile, true, pauses, sizeof pauses)) {
    fact_text(writer, "run", "paused", pauses, "times and shares are those of the measured time");
    fact_ns(writer, "run", "measured", report->totals->measured_ns, "elapsed, without pauses");
  }
  if (profile_pauses(report->profile, false, pauses, sizeof pauses))
    fact_text(writer, "run", "not sampled", pauses, "the level was summary");
  if (report->filtered && *report->filtered)
    fact_text(writer, "run", "filtered", report->filtered, "left out by a filter of the measurement");
}

static void summary_run(const struct report *report, struct row_writer *writer)
{
  static const char *const against[] = {[BASELINE_THREAD] =
                                            "exact, distributed by samples, against the most threads ever in use",
                                        [BASELINE_CORE] = "exact, distributed by samples, against the cores",
                                        [BASELINE_SHARED] = "exact, distributed by samples, within regions"};
  const struct totals *run = report->totals;
  fact_text(writer, "run", "command", run->command, NULL);
  fact_text(writer, "run", "hosts", run->hosts, NULL);
  fact_uint(writer, "run", "processes", run->processes, NULL);
  fact_uint(writer, "run", "threads", run->threads, NULL);
  fact_uint(writer, "run", "threads_max", run->threads_max, "most OpenMP threads in use at once in a process");
  fact_ns(writer, "run", "elapsed", run->elapsed_ns, NULL);
  fact_ns(writer, "run", "cpu", run->cpu_ns, NULL);
  if (!report->profile->range.traced || report->profile->constructs.nodes_count) /* else they are not known */
    fact_uint(writer, "run", "regions", run->regions, "parallel regions begun");
  fact_uint(writer, "run", "samples", run->samples, NULL);
  summary_limits(report, writer);
  fact_ns(writer, "categories", "work", run->work_ns, "sampled");
  fact_ns(writer, "categories", "overhead", run->overhead_ns, "sampled, and exact during waits");
  fact_ns(writer, "categories", "lock wait", run->lockwait_ns, "exact");
  fact_ns(writer, "categories", "idle", run->idle_ns, "exact");
  if (report->columns->lockwait != MODEL_NONE)
    fact_ns(writer, "categories", "lock wait charged", run->caused_lock_ns,
            "exact, distributed by samples to the code that released the lock");
  if (report->columns->idleness != MODEL_NONE)
    fact_ns(writer, "categories", "idleness", run->caused_idle_ns, against[report->baseline]);
  fact_ns(writer, "categories", "blocked", run->blocked_ns, "in calls outside OpenMP");
  fact_ns(writer, "categories", "no core", run->core_wait_ns, "ready to run, without a processor");
  fact_ns(writer, "categories", "tool", run->tool_ns, "time of this tool");
  if (run->openmp_processes)
    fact_ns(writer, "categories", "threads x elapsed", run->baseline_ns,
            run->measured_ns < run->elapsed_ns  ? "cores or most threads of each OpenMP process x measured time"
            : report->baseline == BASELINE_CORE ? "cores of each OpenMP process x its elapsed time"
                                                : "most threads of each OpenMP process x its elapsed time");
  for (unsigned i = 0; i < EFFICIENCY_COUNT && report->efficiency.known; i++) {
    row_writer_text(writer, "efficiency");
    row_writer_text(writer, efficiency_name(i));
    row_writer_real(writer, report->efficiency.value[i], 6);
    row_writer_text(writer, "ratio");
    row_writer_empty(writer);
  }
}

static void fact_work(const struct report *report, struct row_writer *writer, const char *item, uint64_t amount,
                      const char *note)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  row_writer_text(writer, "parallelism");
  row_writer_text(writer, item);
  row_writer_work(writer, amount, workspan->is_time);
  row_writer_text(writer, workspan->unit);
  row_writer_text(writer, note);
}

static void summary_parallelism(const struct report *report, struct row_writer *writer)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  if (!workspan->known)
    return;
  fact_work(report, writer, "work", workspan->work, NULL);
  fact_work(report, writer, "span", workspan->span, "longest chain of work");
  fact_work(report, writer, "burdened span", workspan->burdened, "with the cost of forks, tasks and joins");
  row_writer_text(writer, "parallelism");
  row_writer_text(writer, "parallelism");
  row_writer_real(writer, workspan_parallelism(workspan->work, workspan->span), 4);
  row_writer_text(writer, "ratio");
  row_writer_text(writer, report->workspan.count ? report->workspan.rows[0].note : NULL);
  for (uint32_t i = 0; i < report->critical_rows_count; i++)
    fact_work(report, writer, report->flat->rows[report->critical_rows[i]].name,
              tree_excl(report->flat, report->critical_rows[i], report->columns->critical),
              "own part of the critical path");
}

/* The constructs without whose losses the run would be shortest. */
static void summary_constructs(const struct report *report, struct row_writer *writer)
{
  enum { CONSTRUCTS_MAX = 5 };
  for (uint32_t i = 1; i < report->constructs->count && i <= CONSTRUCTS_MAX; i++) {
    const struct construct_entry *entry = &report->constructs->entries[i];
    struct construct_losses losses = construct_losses(entry->kind, &entry->sum);
    char place[CONSTRUCT_TEXT_MAX];
    construct_text_place(profile_directive_name(entry->kind), entry->name, entry->file, entry->line, place);
    if (entry->gain_ns)
      fact_ns(writer, "constructs", place, entry->gain_ns, construct_text_loss(entry->kind, &losses));
  }
}

/* What to change, with the gain. */
static void summary_advice(const struct report *report, struct row_writer *writer)
{
  for (uint32_t i = 0; i < report->advice.count; i++) {
    const struct advice_finding *found = &report->advice.found[i];
    char title[ADVICE_TITLE_MAX];
    advice_view_title(NULL, found, title);
    if (found->class < ADVICE_UNFIT)
      fact_ns(writer, "advice", title, (uint64_t)(found->gain_s * 1e9), advice_remedy(found->class));
    else
      fact_text(writer, "advice", title, "", found->evidence);
  }
}

/* The contexts that cause most waiting. */
static void summary_worst(const struct report *report, struct row_writer *writer, bool locks)
{
  const struct causes_finding *findings = locks ? report->locks : report->idle;
  uint32_t count = locks ? report->locks_count : report->idle_count;
  for (uint32_t i = 0; i < count; i++)
    fact_ns(writer, locks ? "lock wait" : "idleness", report->flat->rows[findings[i].flat].name, findings[i].cost_ns,
            "");
}

static void summary_health(const struct report *report, struct row_writer *writer)
{
  bool time = tree_has_time(report->columns);
  if (report->totals->unfinished)
    fact_uint(writer, "health", "processes that were killed or could not write their file", report->totals->unfinished,
              parallelism_cut(report) ? "work and span are not known" : "reported up to the last sample");
  if (report->totals->running)
    fact_uint(writer, "health", "processes that still run", report->totals->running, "reported up to the last sample");
  if (report->totals->copied)
    fact_uint(writer, "health", "processes that were running when the snapshot was taken", report->totals->copied,
              "reported up to the last sample");
  for (unsigned i = 0; i < LOSS_MAX; i++)
    if (loss_name(i))
      fact_uint(writer, "health", loss_name(i), report->totals->lost[i],
                report->totals->lost[i] ? loss_remedy(i) : NULL);
  for (uint32_t i = 0; i < report->modules_count; i++) {
    const struct unnamed_module *module = &report->modules[i];
    (time ? fact_ns : fact_uint)(writer, "modules", report->profile->catalog.modules[module->module].path,
                                 module->weight,
                                 module->unnamed ? "own work and overhead in code without symbols"
                                                 : "own work and overhead without source lines");
  }
}

int table_summary(const struct report *report, bool json)
{
  static const char *const columns[] = {"section", "item", "value", "unit", "note"};
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  summary_run(report, &writer);
  summary_advice(report, &writer);
  summary_constructs(report, &writer);
  summary_parallelism(report, &writer);
  summary_worst(report, &writer, false);
  summary_worst(report, &writer, true);
  summary_health(report, &writer);
  for (uint32_t i = 0; i < report->hot_count; i++) {
    const struct tree_row *row = &report->flat->rows[report->hot[i].flat];
    fact_ns(&writer, "hottest", row->name, tree_spent(report->flat, report->columns, report->hot[i].flat, false),
            row->file);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}
