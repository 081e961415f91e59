#include "hpcprof-lite/report/exports/profile/tree_walk.h"

#include "common/order.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct tree_row tree_walk_omitted = {.parent = MODEL_NONE,
                                           .first_child = MODEL_NONE,
                                           .next = MODEL_NONE,
                                           .kind = ROW_FILTERED,
                                           .function = MODEL_NONE,
                                           .module = MODEL_NONE,
                                           .name = "[omitted]",
                                           .file = ""};

const char *tree_walk_name(const struct tree_row *row)
{
  return report_known(row->name);
}

const char *tree_walk_module(const struct report *report, const struct tree_row *row)
{
  return row->module == MODEL_NONE ? "" : report->profile->catalog.modules[row->module].path;
}

/* ---- metrics ---- */

static bool is_taken(const struct tree_metrics *metrics, const char *name)
{
  for (uint32_t i = 0; i < metrics->count; i++)
    if (!strcasecmp(metrics->list[i].name, name))
      return true;
  return false;
}

/* Returns the length of a name, which is valid UTF-8, cut between characters. */
static size_t cut_length(const char *name, size_t size)
{
  size_t length = 0;
  while (name[length] && length + utf8_length(name + length) < size)
    length += utf8_length(name + length);
  return length;
}

/* Adds a metric.  Names differ here without regard to case, as those of columns in SQLite must: one that is taken, or
 * after it was cut, gets a number. */
static void add(struct tree_metrics *metrics, const char *name, const char *unit, uint32_t column)
{
  assert(column == MODEL_NONE || name);
  struct tree_metric metric = {.unit = unit, .is_time = !strcmp(unit, "ns"), .column = column};
  enum { NAME_SIZE = 100 };
  if (column == MODEL_NONE)
    return;
  int length = (int)cut_length(name, NAME_SIZE);
  snprintf(metric.name, sizeof metric.name, "%.*s", length, name);
  for (unsigned i = 2; is_taken(metrics, metric.name); i++)
    snprintf(metric.name, sizeof metric.name, "%.*s (%u)", length, name, i);
  metrics->list[metrics->count++] = metric;
}

void tree_metrics_init(const struct report *report, struct tree_metrics *metrics)
{
  const struct tree_columns *columns = report->columns;
  const struct profile_workspan *workspan = &report->profile->workspan;
  metrics->count = 0;
  add(metrics, "work", "ns", columns->work);
  add(metrics, "overhead", "ns", columns->overhead);
  add(metrics, "lockwait", "ns", columns->lockwait);
  add(metrics, "idleness", "ns", columns->idleness);
  add(metrics, "mpi", "ns", columns->mpi);
  for (uint32_t i = 0; i < metrics->count; i++)
    metrics->list[i].is_category = true;
  const char *count = workspan->unit ? workspan->unit : "";
  add(metrics, "critical_path", workspan->is_time ? "ns" : count, columns->critical);
  add(metrics, "samples", "", columns->samples);
  for (uint32_t i = 0; i < columns->events_count; i++) {
    const struct catalog_column *event = &columns->columns[columns->events[i]];
    add(metrics, event->name, event->unit, columns->events[i]);
  }
  add(metrics, "user", "ns", columns->user_cpu);
  add(metrics, "system", "ns", columns->system_cpu);
  add(metrics, "page_faults", "", columns->counted_faults == MODEL_NONE ? columns->page_faults : MODEL_NONE);
  add(metrics, "switches", "", columns->switches);
  add(metrics, "threads_created", "", columns->created);
  add(metrics, "create", "ns", columns->creating);
  add(metrics, "blocked", "ns", columns->blocked);
  add(metrics, "blocked_near", "ns", columns->blocked_near);
  add(metrics, "blocked_bytes", "", columns->blocked_bytes);
  if (!metrics->count) /* nothing was sampled */
    metrics->list[metrics->count++] = (struct tree_metric){.name = "samples", .unit = "", .column = MODEL_NONE};
}

uint32_t tree_metrics_find(const struct tree_metrics *metrics, const char *name)
{
  for (uint32_t i = 0; i < metrics->count; i++) {
    size_t length = strlen(metrics->list[i].name);
    if (strncmp(name, metrics->list[i].name, length) != 0)
      continue;
    const char *rest = name + length;
    if (!*rest || !strcmp(rest, "_excl") || !strcmp(rest, "_excl_s"))
      return i;
  }
  return MODEL_NONE;
}

/* ---- the walk ---- */

/* The rows from the root to the present one, each with three figures of every metric: exclusive, inclusive, and what
 * of the inclusive one is not in a visited row yet. */
struct path {
  const struct report *report;
  const struct tree_metrics *metrics;
  const struct walk_visitor *visitor;
  void *context;
  struct walk_row *rows;
  uint64_t *figures;
  uint32_t open; /* number of rows */
};

static uint64_t *figures_at(const struct path *path, uint32_t level)
{
  return path->figures + (size_t)level * 3 * path->metrics->count;
}

static void leave(struct path *path, const struct walk_row *here)
{
  if (path->visitor->leave)
    path->visitor->leave(path->context, here);
}

/* Visits what is left of the innermost row as a row of its own. */
static void visit_omitted(struct path *path)
{
  assert(path->open);
  uint32_t count = path->metrics->count;
  const uint64_t *rest = figures_at(path, path->open - 1) + 2 * (size_t)count;
  if (!tree_metrics_any(path->metrics, rest))
    return;
  const struct walk_row here = {
      .row = &tree_walk_omitted, .number = path->report->tree->count, .depth = path->open, .excl = rest, .incl = rest};
  path->visitor->enter(path->context, &here);
  leave(path, &here);
}

static void close_row(struct path *path)
{
  assert(path->open);
  visit_omitted(path);
  path->open--;
  leave(path, &path->rows[path->open]);
}

static void open_row(struct path *path, uint32_t number)
{
  assert(number < path->report->tree->count);
  const struct tree *tree = path->report->tree;
  uint32_t count = path->metrics->count;
  uint64_t *excl = figures_at(path, path->open), *incl = excl + count, *rest = incl + count;
  uint64_t *above = path->open ? figures_at(path, path->open - 1) + 2 * (size_t)count : NULL;
  for (uint32_t i = 0; i < count; i++) {
    excl[i] = tree_excl(tree, number, path->metrics->list[i].column);
    incl[i] = tree_incl(tree, number, path->metrics->list[i].column);
    rest[i] = model_difference(incl[i], excl[i]);
    if (above)
      above[i] = model_difference(above[i], incl[i]);
  }
  struct walk_row *here = &path->rows[path->open];
  *here =
      (struct walk_row){.row = &tree->rows[number], .number = number, .depth = path->open, .excl = excl, .incl = incl};
  path->open++;
  path->visitor->enter(path->context, here);
}

static int walk(struct path *path)
{
  const struct tree *tree = path->report->tree;
  FILE *stream = path->report->stream;
  for (uint32_t i = 0; i < tree->count; i++) {
    uint32_t number = tree->order[i];
    if (!path->report->shown[number])
      continue;
    while (path->open > tree->rows[number].depth)
      close_row(path);
    open_row(path, number);
    if (stream && ferror(stream))
      return ERR_INPUT;
  }
  while (path->open)
    close_row(path);
  return 0;
}

int tree_walk(const struct report *report, const struct tree_metrics *metrics, const struct walk_visitor *visitor,
              void *context)
{
  assert(report->shown && report->tree->order && metrics->count);
  struct path path = {.report = report, .metrics = metrics, .visitor = visitor, .context = context};
  size_t levels = 1;
  for (uint32_t i = 0; i < report->tree->count; i++)
    levels = MAX(levels, (size_t)report->tree->rows[i].depth + 1);
  path.rows = xcalloc(levels, sizeof *path.rows);
  path.figures = xcalloc(levels * 3 * metrics->count, sizeof *path.figures);
  int status = walk(&path);
  free(path.rows);
  free(path.figures);
  return status;
}
