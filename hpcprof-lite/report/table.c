#include "hpcprof-lite/report/table.h"

#include "hpcprof-lite/report/comparison/compare_cells.h"
#include "hpcprof-lite/report/document.h"
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
