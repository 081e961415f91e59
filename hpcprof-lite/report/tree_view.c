#include "hpcprof-lite/report/tree_view.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/report/compare_cells.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_SHOWN = 2, CELL = TEXT_TABLE_FIGURE };

/* ---- columns of all trees ---- */

static struct cell incl_s(const struct tree *tree, uint32_t row, uint32_t column)
{
  return cell_optional_ns(column != MODEL_NONE, tree_incl(tree, row, column));
}

static struct cell excl_s(const struct tree *tree, uint32_t row, uint32_t column)
{
  return cell_optional_ns(column != MODEL_NONE, tree_excl(tree, row, column));
}

static struct cell incl_count(const struct tree *tree, uint32_t row, uint32_t column)
{
  return cell_optional(column != MODEL_NONE, tree_incl(tree, row, column));
}

static struct cell excl_count(const struct tree *tree, uint32_t row, uint32_t column)
{
  return cell_optional(column != MODEL_NONE, tree_excl(tree, row, column));
}

/* Page faults, by the counter of -c if there is one. */
static struct cell page_faults(const struct report *report, uint32_t row, bool inclusive)
{
  const struct tree_columns *columns = report->columns;
  uint32_t column = columns->counted_faults == MODEL_NONE ? columns->page_faults : columns->counted_faults;
  return inclusive ? incl_count(report->tree, row, column) : excl_count(report->tree, row, column);
}

/* Idleness as a share of the time of a row. */
static struct cell idleness_share(const struct report *report, uint32_t row, uint32_t of)
{
  const struct tree_columns *columns = report->columns;
  if (columns->idleness == MODEL_NONE)
    return cell_empty();
  return cell_percent(tree_incl(report->tree, row, columns->idleness), tree_weight(report->tree, columns, of, true));
}

/* A part of the critical path. */
static struct cell on_path(const struct report *report, uint64_t amount)
{
  if (report->columns->critical == MODEL_NONE)
    return cell_empty();
  return cell_amount(amount, report->profile->workspan.is_time);
}

static void fill(const void *context, const void *from, struct cell *cell)
{
  const struct report *report = context;
  const struct tree *tree = report->tree;
  const struct tree_columns *columns = report->columns;
  const struct tree_row *row = from;
  uint32_t number = (uint32_t)(row - tree->rows);
  const char *module = row->module == MODEL_NONE ? NULL : report->profile->catalog.modules[row->module].path;
  assert(row >= tree->rows && number < tree->count);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/tree_view.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns_all[] = {
#include "hpcprof-lite/report/tree_view.def"
};
#undef COLUMN
const struct schema tree_view_schema = SCHEMA(columns_all, fill);

static void fill_mpi(const void *context, const void *from, struct cell *cell)
{
  const struct report *report = context;
  const struct tree *tree = report->tree;
  const struct tree_columns *columns = report->columns;
  uint32_t number = (uint32_t)((const struct tree_row *)from - tree->rows);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/tree_mpi.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns_mpi[] = {
#include "hpcprof-lite/report/tree_mpi.def"
};
#undef COLUMN
const struct schema tree_view_mpi_schema = SCHEMA(columns_mpi, fill_mpi);

/* ---- events ---- */

static struct cell event_share(const struct tree *tree, uint32_t row, uint32_t column)
{
  return cell_percent(tree_incl(tree, row, column), tree_incl(tree, 0, column));
}

/* Further events whose shares text shows. */
static uint32_t events_shown(const struct tree_columns *columns)
{
  return tree_has_time(columns) ? MIN(columns->events_count, EVENTS_SHOWN) : 0;
}

static void fill_events(const void *context, const void *from, struct cell *cell)
{
  const struct report *report = context;
  const struct tree_columns *columns = report->columns;
  uint32_t row = (uint32_t)((const struct tree_row *)from - report->tree->rows);
  for (uint32_t i = 0; i < columns->events_count; i++) {
    bool time = !strcmp(columns->columns[columns->events[i]].unit, "ns");
    *cell++ = cell_amount(tree_incl(report->tree, row, columns->events[i]), time);
    *cell++ = cell_amount(tree_excl(report->tree, row, columns->events[i]), time);
  }
  for (uint32_t i = 0; i < events_shown(columns); i++)
    *cell++ = event_share(report->tree, row, columns->events[i]);
}

/* Two columns for each further event, then the shares that text shows. */
static void add_events(const struct report *report, struct table *table)
{
  static const char *const shares[EVENTS_SHOWN] = {"event1_pct", "event2_pct"};
  const struct tree_columns *columns = report->columns;
  uint32_t shown = events_shown(columns), count = 2 * columns->events_count + shown;
  struct table_column *events = table_memory(table, count * sizeof *events);
  for (uint32_t i = 0; i < columns->events_count; i++) {
    const struct catalog_column *event = &columns->columns[columns->events[i]];
    enum column_type type = strcmp(event->unit, "ns") ? COLUMN_COUNT : COLUMN_SECONDS;
    struct table_column *pair = &events[(size_t)2 * i];
    pair[0] = (struct table_column){table_name(table, "%s_incl", event->name), .type = type, .form = FORM_SECONDS,
                                    .help = "the event in the row and the rows below it"};
    pair[1] = (struct table_column){table_name(table, "%s_excl", event->name), .type = type, .form = FORM_SECONDS,
                                    .help = "the event in the row itself"};
  }
  for (uint32_t i = 0; i < shown; i++)
    events[2 * columns->events_count + i] =
        (struct table_column){shares[i],         columns->columns[columns->events[i]].name,
                              COLUMN_PERCENT,    FORM_SIGNED_SHARE,
                              .width = 8,        .shown = 4,
                              .text_only = true, .help = "share of the event"};
  table_add(table, &(struct schema){events, count, fill_events}, report);
}

/* ---- statistics ---- */

/* The owner's rank, process and thread; of: the profile, NULL if the owner is not known. */
static struct cell rank_of(const struct profile *of, const struct statistics_owner *owner)
{
  return cell_optional(of && of->processes[owner->process].rank >= 0,
                       of ? (uint64_t)of->processes[owner->process].rank : 0);
}

static struct cell process_of(const struct profile *of, const struct statistics_owner *owner)
{
  return cell_optional(of, of ? of->processes[owner->process].pid : 0);
}

static struct cell thread_of(const struct profile *of, const struct statistics_owner *owner)
{
  return cell_optional(of, of ? of->processes[owner->process].threads[owner->thread].index : 0);
}

static void fill_statistics(const void *context, const void *from, struct cell *cell)
{
  const struct report *report = context;
  const struct statistics *statistics = report->trees.statistics;
  const struct profile *of_threads = NULL, *of_ranks = NULL;
  struct statistics_figures threads = {0}, ranks = {0};
  uint32_t row = (uint32_t)((const struct tree_row *)from - report->tree->rows);
  if (statistics && statistics_row(statistics, row, false, &threads))
    of_threads = report->profile;
  if (statistics && statistics_row(statistics, row, true, &ranks))
    of_ranks = report->profile;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/tree_statistics.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns_statistics[] = {
#include "hpcprof-lite/report/tree_statistics.def"
};
#undef COLUMN
static const struct schema statistics_schema = SCHEMA(columns_statistics, fill_statistics);

bool tree_view_is_statistic(const struct table *table, uint32_t number)
{
  const struct table_column *column = table_column(table, number);
  return column >= columns_statistics && column < columns_statistics + statistics_schema.count;
}

/* ---- figures of text ---- */

/* What the columns that only text shows are made from. */
struct figures {
  const struct report *report;
  bool unsampled; /* times of processes without samples are in */
};

static struct cell marked(struct cell cell, char mark)
{
  cell.mark = mark;
  return cell;
}

/* The mark of a figure that is based on few samples; weight: what they stand for. */
static char few(const struct figures *figures, uint64_t weight, uint64_t samples)
{
  bool exact = !samples && figures->unsampled;
  if (figures->report->columns->samples == MODEL_NONE || !weight || exact || samples >= MODEL_FEW_SAMPLES)
    return 0;
  return '*';
}

/* The weight of a row without what is exact. */
static uint64_t sampled_weight(const struct tree *tree, const struct tree_columns *columns, uint32_t row,
                               bool inclusive)
{
  uint64_t mpi_ns = inclusive ? tree_incl(tree, row, columns->mpi) : tree_excl(tree, row, columns->mpi);
  return model_difference(tree_weight(tree, columns, row, inclusive), mpi_ns);
}

/* Time that threads spent in the row itself, and shares of the time of all threads: so the root's shares of spent time,
 * lock wait and idleness are 100 % together. */
static void fill_figures(const void *context, const void *from, struct cell *cell)
{
  const struct figures *figures = context;
  const struct tree *tree = figures->report->tree;
  const struct tree_columns *columns = figures->report->columns;
  uint32_t number = (uint32_t)((const struct tree_row *)from - tree->rows);
  bool time = tree_has_time(columns);
  uint64_t whole = tree_weight(tree, columns, 0, true);
  uint64_t incl = tree_spent(tree, columns, number, true), incl_weight = sampled_weight(tree, columns, number, true);
  uint64_t self = tree_spent(tree, columns, number, false), self_weight = sampled_weight(tree, columns, number, false);
  uint64_t incl_samples = tree_incl(tree, number, columns->samples);
  uint64_t self_samples = tree_excl(tree, number, columns->samples);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/tree_figures.def"
#undef COLUMN
}

static void fill_path(const void *context, const void *from, struct cell *cell)
{
  const struct report *report = context;
  const struct tree *tree = report->tree;
  uint32_t number = (uint32_t)((const struct tree_row *)from - tree->rows), critical = report->columns->critical;
  bool is_time = report->profile->workspan.is_time;
  uint64_t whole = tree_incl(tree, 0, critical);
  uint64_t incl = tree_incl(tree, number, critical), self = tree_excl(tree, number, critical);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/tree_path.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns_figures[] = {
#include "hpcprof-lite/report/tree_figures.def"
};
static const struct table_column columns_path[] = {
#include "hpcprof-lite/report/tree_path.def"
};
#undef COLUMN
static const struct schema figures_schema = SCHEMA(columns_figures, fill_figures);
static const struct schema path_schema = SCHEMA(columns_path, fill_path);

struct tree_figures tree_view_figures(const struct tree *tree, const struct tree_columns *columns)
{
  return (struct tree_figures){.time = tree_has_time(columns),
                               .overhead = tree_incl(tree, 0, columns->overhead) != 0,
                               .lockwait = tree_incl(tree, 0, columns->lockwait) != 0,
                               .idleness = tree_incl(tree, 0, columns->idleness) != 0,
                               .critical = tree_incl(tree, 0, columns->critical) != 0,
                               .events = events_shown(columns),
                               .decimals = terminal_decimals(tree_weight(tree, columns, 0, true))};
}

const char *tree_view_counted(const struct tree_columns *columns)
{
  return columns->events_count ? columns->columns[columns->events[0]].name : "samples";
}

/* ---- tables ---- */

static int each_row(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  const struct tree *tree = report->tree;
  int status = 0;
  for (uint32_t i = 0; i < tree->count && !status; i++)
    if (report->shown[tree->order[i]])
      status = take(to, &tree->rows[tree->order[i]]);
  return status;
}

/* Adds a part whose amounts are not times.  names: the heading of the names; NULL: it stays. */
static void add_of_counts(struct table *table, const struct schema *schema, const void *context, const char *names)
{
  struct schema own = *schema;
  struct table_column *columns = table_memory(table, schema->count * sizeof *columns);
  memcpy(columns, schema->columns, schema->count * sizeof *columns);
  for (uint32_t i = 0; i < schema->count; i++) {
    if (!strcmp(columns[i].name, "incl_s"))
      columns[i].heading = "Incl";
    else if (!strcmp(columns[i].name, "self_s"))
      columns[i].heading = "Self";
    else if (!strcmp(columns[i].name, "name") && names)
      columns[i].heading = names;
  }
  own.columns = columns;
  table_add(table, &own, context);
}

static const struct compare_figure *compared_figure(const struct report *report, const void *row)
{
  return &report->comparison->figures[(const struct tree_row *)row - report->tree->rows];
}

/* Adds the parts behind those of text. */
static void add_rest(const struct report *report, struct table *table)
{
  table->each = each_row;
  table->source = report;
  add_events(report, table);
  if (!report->trees.no_statistics)
    table_add(table, &statistics_schema, report);
  if (report->mpi)
    table_add(table, &tree_view_mpi_schema, report);
  if (report->comparison && report->comparison->has_base)
    compare_cells_add(table, compared_figure, report);
}

/* The columns that are 0 in all rows, if there are rows. */
static const char *empty_columns(const struct report *report, struct table *table)
{
  if (!report->tree)
    return NULL;
  struct tree_figures any = tree_view_figures(report->tree, report->columns);
  return table_name(table, "%s%s%s%s", any.overhead ? "" : "ovhd_pct ", any.lockwait ? "" : "lock_pct ",
                    any.idleness ? "" : "abs_idleness_pct rel_idleness_pct ", any.critical ? "" : "crit_pct");
}

void tree_view_table(const struct report *report, struct table *table)
{
  enum { NAMES_LEAST = 30 };
  const struct tree_columns *columns = report->columns;
  struct figures *figures = table_memory(table, sizeof *figures);
  table->hidden = empty_columns(report, table);
  figures->report = report;
  for (uint32_t i = 0; i < report->profile->processes_usable; i++)
    figures->unsampled |= profile_unsampled(&report->profile->processes[i]);
  table->spare = "self_pct event2_pct event1_pct crit_pct ovhd_pct lock_pct mpi_pct rel_idleness_pct abs_idleness_pct";
  table->rest_least = NAMES_LEAST;
  if (tree_has_time(columns)) {
    table_add(table, &tree_view_schema, report);
    table_add(table, &figures_schema, figures);
  } else {
    const char *heading = table_name(table, "Name (figures: %.40s)", tree_view_counted(columns));
    add_of_counts(table, &tree_view_schema, report, heading);
    add_of_counts(table, &figures_schema, figures, NULL);
  }
  add_rest(report, table);
}

void tree_view_path_table(const struct report *report, struct table *table)
{
  enum { NAMES_LEAST = 16 };
  table->hidden = "abs_idleness_pct rel_idleness_pct mpi_pct event1_pct event2_pct";
  table->spare = "self_pct incl_pct";
  table->rest_least = NAMES_LEAST;
  table_add(table, &tree_view_schema, report);
  if (report->profile->workspan.is_time)
    table_add(table, &path_schema, report);
  else
    add_of_counts(table, &path_schema, report, NULL);
  add_rest(report, table);
}

/* ---- text ---- */

/* Columns of indentation for each level. */
static unsigned step_of(const struct report *report, const struct text_table *text)
{
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < report->tree->count; i++)
    if (report->shown[i] && report->tree->rows[i].depth > deepest)
      deepest = report->tree->rows[i].depth;
  return deepest * 4 > text_table_room(text, 0) ? 1 : 2;
}

/* Prints a row, or expects it, with its source line at the right edge; if indentation would leave too little room for
 * the name, the depth is printed as a number. */
static void print_row(struct text_table *text, const struct tree_row *row, unsigned step, bool expected)
{
  char place[4096] = "", number[CELL] = "";
  unsigned most = text_table_room(text, 0) / 2, indent = most;
  bool own_place = row->kind == ROW_FUNCTION || row->kind == ROW_INLINED;
  if (own_place && row->file[0] && row->line)
    snprintf(place, sizeof place, "%s:%" PRIu32, names_base(row->file), row->line);
  else if (own_place)
    snprintf(place, sizeof place, "%s", names_base(row->file));
  if (row->depth * (uint64_t)step <= most) {
    indent = row->depth * step;
  } else {
    unsigned length = (unsigned)snprintf(number, sizeof number, "%" PRIu32 "> ", row->depth);
    indent = most > length ? most - length : 0;
  }
  if (expected)
    text_table_expect(text, row, indent, number, place);
  else
    text_table_row_beside(text, row, indent, number, place);
}

/* A row of the top-down tree, and what has one row in the flat view. */
struct called {
  uint64_t key;
  uint32_t row;
};

/* The rows of the top-down tree that the flat view is made of, sorted. */
struct callers {
  const struct tree *calls;
  struct called *rows;
  uint32_t count;
};

/* The same for rows of which tree_same_function() holds. */
static uint64_t called_key(const struct tree_row *row)
{
  uint64_t key = hash_map_key(row->function, row->kind == ROW_INLINED ? ROW_FUNCTION : row->kind);
  return row->function == MODEL_NONE ? hash_map_key(key ^ row->line, (uint64_t)(uintptr_t)row->file) : key;
}

ORDER(by_called, struct called, COMPARE(x->key, y->key) ?: COMPARE(x->row, y->row))

static void find_callers(const struct tree *calls, struct callers *callers)
{
  *callers = (struct callers){.calls = calls, .rows = xcalloc(calls->count, sizeof *callers->rows)};
  for (uint32_t i = 1; i < calls->count; i++)
    if (calls->rows[i].parent)
      callers->rows[callers->count++] = (struct called){called_key(&calls->rows[i]), i};
  qsort(callers->rows, callers->count, sizeof *callers->rows, by_called);
}

/* Writes "called by alpha, beta and others": what calls the row of the flat view, if that tells it from rows that read
 * alike better than its name: a construct, or a function without parameters. */
static void write_callers(const void *details, const void *row, const char *shown, char out[TERMINAL_TEXT_MAX])
{
  enum { NAMED = 2 };
  const struct callers *callers = details;
  const struct tree *calls = callers->calls;
  const struct tree_row *flat = row;
  const char *names[NAMED] = {NULL};
  uint32_t count = 0;
  uint64_t key = called_key(flat);
  *out = '\0';
  if (flat->kind != ROW_PARALLEL && flat->kind != ROW_TASK && flat->kind != ROW_PARTIAL &&
      strcmp(flat->name, shown) != 0)
    return;
  for (size_t i = FIRST_WHERE(at, callers->count, callers->rows[at].key >= key);
       i < callers->count && callers->rows[i].key == key && count <= NAMED; i++) {
    const struct tree_row *called = &calls->rows[callers->rows[i].row], *caller = &calls->rows[called->parent];
    bool known = !tree_same_function(called, flat) || tree_same_function(caller, flat);
    for (uint32_t j = 0; j < MIN(count, NAMED) && !known; j++)
      known = !strcmp(names[j], tree_unmarked_name(caller));
    if (!known && count++ < NAMED)
      names[count - 1] = tree_unmarked_name(caller);
  }
  if (count)
    snprintf(out, TERMINAL_TEXT_MAX, "called by %s%s%s%s", names[0], count > 1 ? count > NAMED ? ", " : " and " : "",
             count > 1 ? names[1] : "", count > NAMED ? " and others" : "");
}

static int by_name(const void *a, const void *b)
{
  const struct tree_row *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

/* Whether two names differ in the lists of parameters only. */
static bool are_overloads(const char *a, const char *b)
{
  const char *open_a = strrchr(a, '('), *open_b = strrchr(b, '(');
  return open_a && open_b && open_a - a == open_b - b && !strncmp(a, b, (size_t)(open_a - a)) && strcmp(a, b) != 0;
}

/* Returns [row] whether a function that is shown has the name of another one with other parameters. */
static bool *find_overloads(const struct report *report)
{
  const struct tree *tree = report->tree;
  bool *found = xcalloc(tree->count, sizeof *found);
  const struct tree_row **rows = xcalloc(tree->count, sizeof *rows);
  uint32_t count = 0;
  for (uint32_t i = 0; i < tree->count; i++)
    if (report->shown[i] && tree->rows[i].function != MODEL_NONE)
      rows[count++] = &tree->rows[i];
  qsort(rows, count, sizeof *rows, by_name);
  for (unsigned backwards = 0; backwards < 2; backwards++) {
    const struct tree_row *last = NULL, *other = NULL; /* other: the last one with another name */
    for (uint32_t i = 0; i < count; i++) {
      const struct tree_row *row = rows[backwards ? count - 1 - i : i];
      if (last && strcmp(last->name, row->name) != 0)
        other = last;
      last = row;
      found[row - tree->rows] |= other && are_overloads(other->name, row->name);
    }
  }
  free(rows);
  return found;
}

static void print_rows(const struct report *report, struct text_table *text)
{
  unsigned step = step_of(report, text);
  bool *overloads = find_overloads(report);
  struct callers callers = {0};
  if (report->trees.calls) {
    find_callers(report->trees.calls, &callers);
    text->detail = write_callers;
    text->details = &callers;
  }
  text_table_heading(text);
  for (unsigned expected = text->detail ? 2 : 1; expected--;)
    for (uint32_t i = 0; i < report->tree->count; i++) {
      uint32_t row = report->tree->order[i];
      text->terminal.lists = overloads[row];
      if (report->shown[row])
        print_row(text, &report->tree->rows[row], step, expected);
    }
  text->terminal.lists = false;
  text->detail = NULL;
  free(overloads);
  free(callers.rows);
}

static void print_legend(const struct report *report, const struct text_table *text)
{
  static const char *const against[] = {[BASELINE_THREAD] = "the most threads ever in use at once (--idleness thread)",
                                        [BASELINE_CORE] = "the cores that the process may use (--idleness core)",
                                        [BASELINE_SHARED] = "the threads in use at the time (--idleness shared)"};
  const char *overhead = "", *lockwait = "", *mpi = "";
  char all[CELL], line[128], full[1024];
  bool idleness = text_table_shows(text, "rel_idleness_pct");
  if (!tree_has_time(report->columns))
    return;
  if (text_table_shows(text, "ovhd_pct"))
    overhead = "Ovhd%: time in the OpenMP runtime.\n";
  if (text_table_shows(text, "lock_pct"))
    lockwait = "Lock%: time that threads waited for a lock until it was released here.\n";
  if (text_table_shows(text, "mpi_pct"))
    mpi = "MPI%: time that threads were in calls of MPI; exact.\n";
  terminal_seconds(tree_weight(report->tree, report->columns, 0, true), text->decimals, all);
  snprintf(line, sizeof line, "Percentages are of the time of all threads, %s s%s; see --legend\n", all,
           idleness ? ";\nRel% is of the row's own time" : "");
  int length = snprintf(full, sizeof full,
                        "Incl s: time spent in the function and all that it calls; Self s: in itself.\n"
                        "%%: share of the time of all threads together, %s s.\n"
                        "%s%s%s",
                        all, overhead, lockwait, mpi);
  if (idleness)
    length += snprintf(full + length, sizeof full - (size_t)length,
                       "Idle%%: time that threads were idle while this code ran, counted against\n"
                       "       %s.\n"
                       "Rel%%: idleness as a share of the row's own work, overhead, lock waiting and\n"
                       "      idleness; look first where Idle%% and Rel%% are both high.\n",
                       against[report->baseline]);
  if (text_table_shows(text, "crit_pct"))
    snprintf(full + length, sizeof full - (size_t)length,
             "Crit%%: share of the critical path, the longest chain of dependent work.\n");
  legend_print(report, line, full);
}

static void print_narrow(const struct report *report, bool narrow)
{
  if (narrow)
    fputs("Some columns need more width than there is; -f csv has all of them.\n", report->stream);
}

/* Explains the marks of the rows that are shown. */
static void print_marks(const struct report *report)
{
  bool guessed = false, inferred = false, python = false, causes[PROFILE_UNSEEN_CAUSES] = {false};
  for (uint32_t i = 0; i < report->tree->count; i++) {
    guessed |= report->shown[i] && report->tree->rows[i].mark == tree_guessed;
    inferred |= report->shown[i] && report->tree->rows[i].mark == tree_inferred;
    python |= report->shown[i] && report->tree->rows[i].name == tree_interpreter;
    for (unsigned cause = 0; cause < PROFILE_UNSEEN_CAUSES; cause++)
      causes[cause] |= report->shown[i] && report->tree->rows[i].name == tree_unseen_causes[cause];
  }
  static const char *const of_causes[] = {
      "[before the team: asleep]: time of threads that did not exist yet, in which the initial thread slept.",
      "[before the team: no core]: time of threads that did not exist yet, in which the initial thread had no core.",
      "[between regions: asleep]: threads waited for the initial thread, which slept."};
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  if (guessed)
    terminal_wrap(&terminal, report->stream, "", "  ",
                  "[guessed]: may be wrong, since the code that it calls has no call frame information.");
  if (inferred)
    terminal_wrap(&terminal, report->stream, "", "  ",
                  "[inferred]: left no frame, since it ended in a jump; every possible way leads through it.");
  for (unsigned cause = 0; cause < PROFILE_UNSEEN_CAUSES; cause++)
    if (causes[cause])
      terminal_wrap(&terminal, report->stream, "", "  ", of_causes[cause]);
  if (python && !names_has_python(report->names))
    terminal_wrap(&terminal, report->stream, "", "  ",
                  "[Python interpreter]: executes functions of Python. Python 3.12 and later names them with "
                  "python3 -X perf (doc/python.md).");
}

void tree_view_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, tree_view_table);
  text.decimals = terminal_decimals(tree_weight(report->tree, report->columns, 0, true));
  print_rows(report, &text);
  print_legend(report, &text);
  print_narrow(report, text.omitted > !text_table_shows(&text, "self_pct")); /* which follows from the others */
  if (text.marked)
    fprintf(report->stream, "* fewer than %d samples: relative error above 22 %%.\n", MODEL_FEW_SAMPLES);
  print_marks(report);
  legend_omitted(report);
  text_table_release(&text);
}

/* Prints what the shares of the critical path refer to. */
static void print_path_legend(const struct report *report, const struct text_table *text, uint64_t whole)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  const char *unit = workspan->is_time ? "s" : workspan->unit;
  char span[CELL], line[128], full[256];
  terminal_amount(whole, workspan->is_time, text->decimals, span);
  snprintf(line, sizeof line, "%%: of the critical path, %s %.20s; see --legend\n", span, unit);
  snprintf(full, sizeof full,
           "The critical path is the longest chain of work of which each part waits for the\n"
           "one before.  Incl: of the function and all that it calls; Self: of itself.\n"
           "%%: share of the whole, %s %.20s.\n",
           span, unit);
  legend_print(report, line, full);
}

void tree_view_path_text(const struct report *report)
{
  struct text_table text;
  if (!report->profile->workspan.known) {
    notes_missing(report, "Work and span", "online");
    return;
  }
  text_table_init(&text, report, tree_view_path_table);
  uint64_t whole = tree_incl(report->tree, 0, report->columns->critical);
  text.decimals = terminal_decimals(whole);
  print_rows(report, &text);
  print_path_legend(report, &text, whole);
  print_narrow(report, text.omitted);
  if (report->limits.left_out)
    fprintf(report->stream, "Rows off the critical path or below %g %% of it are omitted.\n", report->limits.percent);
  notes_estimates(report);
  text_table_release(&text);
}
