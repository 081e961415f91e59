/* The pipeline of the SQLite database, which holds all views at once.
 *
 * Context: BATCH, the main thread.  Each view's table but that of contexts is added to the file by a child process
 * (view_child.h), one after another.  A view for which the run has no data has a table without rows, so that queries
 * are the same for all runs.  Rows of single grains and intervals are added where --view asks for them.
 */
#include "hpcprof-lite/all_views/page.h"

#include "hpcprof-lite/report/exports/profile/sqlite_database.h"
#include "hpcprof-lite/all_views/view_child.h"
#include "hpcprof-lite/all_views/view_table.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

/* The bottom-up tree has many more rows than there are contexts: light ones are left out. */
#define LIGHT_PERCENT 0.01

enum { NAME_BYTES = 32 };

/* The name of a view's table; NULL if it has none, or one that is written otherwise (contexts). */
static const char *name_of(enum options_view view, char name[NAME_BYTES])
{
  assert(view < OPTIONS_VIEWS);
  if (view == OPTIONS_SUMMARY)
    return "run";
  if (view == OPTIONS_TOPDOWN || views[view].json)
    return NULL;
  snprintf(name, NAME_BYTES, "%s", options_views[view].name);
  for (char *at = name; (at = strchr(at, '-'));)
    *at = '_';
  return name;
}

/* ---- the table of what is missing ---- */

struct missing {
  const char *names[OPTIONS_VIEWS]; /* NULL: no table was wanted */
  char text[OPTIONS_VIEWS][NAME_BYTES];
  struct view_child children[OPTIONS_VIEWS]; /* those that have failed have a reason */
};

static void fill_missing(const void *context, const void *row, struct cell *cell)
{
  const struct missing *missing = context;
  const uint32_t view = *(const uint32_t *)row;
  const struct view_child *child = &missing->children[view];
  *cell++ = cell_text(missing->names[view]);
  *cell = cell_text(child->failed ? child->reason : "rows below 0.01 % of the time; hpcprof-lite -f csv has all");
}

static const struct table_column missing_columns[] = {
    {.name = "name", .type = COLUMN_TEXT, .help = "table that lacks rows"},
    {.name = "reason", .type = COLUMN_TEXT, .help = "why it has none, or which ones it lacks"}};

static int each_missing(const void *source, table_take *take, void *to)
{
  const struct missing *missing = source;
  int status = 0;
  for (uint32_t i = 0; i < OPTIONS_VIEWS && !status; i++)
    if (missing->names[i] && (missing->children[i].failed || i == OPTIONS_BOTTOMUP))
      status = take(to, &i);
  return status;
}

/* ---- tables of views ---- */

/* What a child does. */
struct database_work {
  struct job *job;
  enum options_view view;
  const char *name, *path;
};

/* Adds a table to the file: without `rows`, only its columns.  Returns the exit status. */
static int add_table(const struct database_work *work, const struct view_source *source, bool rows)
{
  assert(source->make);
  struct table table = {0};
  struct sqlite_database database;
  source->make(source->report, &table);
  if (!rows)
    table.each = NULL;
  int status = sqlite_database_open(&database, work->path);
  if (!status)
    status = sqlite_database_add(&database, work->name, &table);
  int closed = sqlite_database_close(&database);
  table_release(&table);
  if (*database.message)
    job_print_error("cannot write table '%s': %s", work->name, database.message);
  return status || closed ? EXIT_INPUT : 0;
}

/* In the child: fills the report of the view and adds its table. */
static int add_view(void *context, FILE *output)
{
  const struct database_work *work = context;
  struct view_source source = {0};
  (void)output;
  work->job->options.format = OPTIONS_CSV;
  work->job->options.limits.percent = work->view == OPTIONS_BOTTOMUP ? LIGHT_PERCENT : 0;
  work->job->options.quiet = true; /* remarks on source text, which the database does not have */
  int status = view_fill(work->job, work->view, VIEW_ROWS, &source);
  if (status)
    return status;
  return add_table(work, &source, true);
}

/* In a child: adds the columns of a view that has no rows. */
static int add_columns(void *context, FILE *output)
{
  const struct database_work *work = context;
  struct view_source source = {0};
  (void)output;
  int status = view_fill(work->job, work->view, VIEW_COLUMNS, &source);
  if (status)
    return status;
  return add_table(work, &source, false);
}

/* Whether the database has the table of a view. */
static bool has_table(const struct options *options, enum options_view view)
{
  bool asked = options->views_given >> view & 1;
  if (view == OPTIONS_GRAINS || view == OPTIONS_TIMELINE)
    return asked;
  return !options->range.given || !options_view_has(&(struct options){.view = view}, HAS_LOG);
}

/* Whether a bottom-up tree would have too many rows for a database in which nobody has asked for it. */
static bool is_too_large(const struct job *job, enum options_view view, struct view_child *child)
{
  enum { CONTEXTS_MAX = 100000 };
  if (view != OPTIONS_BOTTOMUP || job->tree.count <= CONTEXTS_MAX || (job->options.views_given >> OPTIONS_BOTTOMUP & 1))
    return false;
  child->failed = true;
  snprintf(child->reason, sizeof child->reason, "there are more than %d contexts; --view bottomup adds it",
           CONTEXTS_MAX);
  return true;
}

/* Adds the tables of all views but contexts.  Returns 0, or ERR_INPUT after the reason has been printed. */
static int add_views(struct job *job, const char *path, struct missing *missing)
{
  struct problems printed = {0};
  int status = 0;
  ranks_dismiss(&job->ranks); /* children cannot talk to them */
  fflush(NULL);               /* children would write what is left in buffers */
  for (enum options_view i = 0; i < OPTIONS_VIEWS && !status; i++) {
    struct view_child *child = &missing->children[i];
    struct view_child columns;
    const struct view_child *failed;
    missing->names[i] = has_table(&job->options, i) ? name_of(i, missing->text[i]) : NULL;
    if (!missing->names[i])
      continue;
    struct database_work work = {job, i, missing->names[i], path};
    bool optional = views[i].optional;
    if (is_too_large(job, i, child)) {
      optional = true;
    } else {
      view_child_start(child, add_view, &work);
      view_child_finish(child, true, true, &printed);
    }
    failed = child->failed ? child : NULL;
    if (failed && optional) {
      view_child_start(&columns, add_columns, &work);
      view_child_finish(&columns, true, true, &printed);
      failed = columns.failed ? &columns : NULL;
    }
    if (!failed)
      continue;
    job_print_error("table '%s' cannot be made: %s", missing->names[i], failed->reason);
    status = ERR_INPUT;
  }
  problems_release(&printed);
  return status;
}

int database_write(struct job *job, const char *path, char *message, size_t size)
{
  assert(message && size);
  static struct missing missing;
  static const struct schema schema = SCHEMA(missing_columns, fill_missing);
  struct sqlite_database database;
  struct table table = {.each = each_missing, .source = &missing};
  int status = sqlite_database_open(&database, path);
  int closed = sqlite_database_close(&database);
  snprintf(message, size, "%s", database.message);
  if (status || closed)
    return ERR_INPUT;
  if (add_views(job, path, &missing) || tree_pipeline(job))
    return ERR_INPUT;
  job->report.stream = NULL; /* nothing is written to one */
  table_add(&table, &schema, &missing);
  status = sqlite_database_open(&database, path);
  if (!status)
    status = sqlite_database_add(&database, "missing", &table);
  if (!status)
    status = sqlite_database_add_contexts(&database, &job->report);
  closed = sqlite_database_close(&database);
  snprintf(message, size, "%s", database.message);
  table_release(&table);
  return status ? status : closed;
}
