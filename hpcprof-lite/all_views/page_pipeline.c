/* The pipeline of the HTML report, which shows many views at once.
 *
 * Context: BATCH, the main thread.  Each table is made by a child process (view_child.h); one that fails costs the page
 * a table, and the page tells why.
 */
#include "hpcprof-lite/all_views/page.h"

#include "common/xalloc.h"
#include "hpcprof-lite/analysis/advice/advice_findings.h"
#include "hpcprof-lite/report/html/html_page.h"
#include "hpcprof-lite/report/html/html_table.h"
#include "hpcprof-lite/report/html/interval_tables.h"
#include "hpcprof-lite/report/table_writer.h"
#include "hpcprof-lite/all_views/view_child.h"
#include "hpcprof-lite/all_views/view_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A table of rows or of JSON, of this run or of a comparison; or the tables of the timeline. */
enum page_content { PAGE_ROWS, PAGE_JSON, PAGE_COMPARED, PAGE_INTERVALS };

/* The tables.  One that is optional has its reason to be missing only in the page: the run did not record it. */
static const struct page_table {
  const char *name;
  enum options_view view;
  bool optional;
  enum page_content content;
  bool grain_groups;    /* as with --grain-groups */
  bool sources;         /* source text: only with --sources */
  double percent_limit; /* of a tree: rows below it are left out */
  uint32_t rows_max;    /* 0: any number of rows */
} tables[] = {
    {.name = "summary", .view = OPTIONS_SUMMARY},
    {.name = "advice", .view = OPTIONS_ADVICE},
    {.name = "try", .view = OPTIONS_TRY},
    {.name = "efficiency", .view = OPTIONS_EFFICIENCY},
    {.name = "threads", .view = OPTIONS_THREADS},
    {.name = "speedup", .view = OPTIONS_SPEEDUP},
    {.name = "topdown", .view = OPTIONS_TOPDOWN},
    {.name = "bottomup", .view = OPTIONS_BOTTOMUP, .percent_limit = 0.01},
    {.name = "flat", .view = OPTIONS_FLAT},
    {.name = "parallelism", .view = OPTIONS_PARALLELISM},
    {.name = "critical-path", .view = OPTIONS_CRITICAL_PATH},
    {.name = "whatif", .view = OPTIONS_WHATIF},
    {.name = "regions", .view = OPTIONS_REGIONS},
    {.name = "region-tree", .view = OPTIONS_REGION_TREE},
    {.name = "overheads", .view = OPTIONS_OVERHEADS},
    {.name = "tasks", .view = OPTIONS_TASKS},
    {.name = "locks", .view = OPTIONS_LOCKS, .optional = true},
    {.name = "devices", .view = OPTIONS_DEVICES, .optional = true},
    {.name = "ranks", .view = OPTIONS_RANKS, .optional = true},
    {.name = "mpi", .view = OPTIONS_MPI, .optional = true},
    {.name = "phases", .view = OPTIONS_PHASES, .optional = true},
    {.name = "marks", .view = OPTIONS_MARKS, .optional = true},
    {.name = "timeline", .view = OPTIONS_TIMELINE, .optional = true, .content = PAGE_INTERVALS},
    {.name = "grains", .view = OPTIONS_GRAINS, .optional = true, .rows_max = 200000},
    {.name = "grain-groups", .view = OPTIONS_GRAINS, .optional = true, .content = PAGE_JSON, .grain_groups = true},
    {.name = "grain-graph", .view = OPTIONS_GRAIN_GRAPH, .optional = true, .content = PAGE_JSON},
    {.name = "source", .view = OPTIONS_SOURCE, .sources = true},
    /* only with --compare */
    {.name = "compared-summary", .view = OPTIONS_SUMMARY, .content = PAGE_COMPARED},
    {.name = "compared-topdown", .view = OPTIONS_TOPDOWN, .content = PAGE_COMPARED},
    {.name = "compared-flat", .view = OPTIONS_FLAT, .content = PAGE_COMPARED},
    {.name = "compared-regions", .view = OPTIONS_REGIONS, .content = PAGE_COMPARED},
    {.name = "compared-parallelism", .view = OPTIONS_PARALLELISM, .content = PAGE_COMPARED},
    {.name = "compared-threads", .view = OPTIONS_THREADS, .content = PAGE_COMPARED},
    /* only with --scaling */
    {.name = "scaling", .view = OPTIONS_TOPDOWN, .content = PAGE_COMPARED}};

enum {
  TABLES = sizeof tables / sizeof *tables,
  STATISTICS_CONTEXTS_MAX = 100000 /* statistics of more contexts would be almost half of the page */
};

/* What a child makes. */
struct page_work {
  struct job *job;
  const struct page_table *wanted;
};

/* Writes rows of a table.  Returns 0 or an error. */
static int write_rows(const struct page_table *wanted, const struct view_source *source, FILE *output)
{
  assert(source->make);
  struct table table = {0};
  struct html_table html = {0};
  source->make(source->report, &table);
  int status = html_table_add(&html, &table);
  if (!status && wanted->rows_max && html.rows > wanted->rows_max) {
    fprintf(stderr, "hpcprof-lite: %u rows are too many for a page: see hpcprof-lite --view %s -f csv\n", html.rows,
            wanted->name);
    status = ERR_INPUT;
  }
  if (!status)
    html_table_write(&html, output);
  html_table_release(&html);
  table_release(&table);
  return status;
}

static int write_json(struct report *report, const struct view_source *source, FILE *output)
{
  char *text = NULL;
  size_t size;
  FILE *json = xopen_memstream(&text, &size);
  report->stream = json;
  int status;
  if (source->json)
    status = source->json(report);
  else
    status = table_write(report, source->make, TABLE_JSON, true);
  xclose(json, &text);
  if (!status)
    html_table_write_bytes(text, size, output);
  free(text);
  return status;
}

/* In the child.  Returns the exit status. */
static int write_table(void *context, FILE *output)
{
  const struct page_work *work = context;
  struct job *job = work->job;
  const struct page_table *wanted = work->wanted;
  struct view_source source = {0};
  job->options.limits.percent = wanted->percent_limit;
  job->options.grains.groups = wanted->grain_groups;
  job->options.format = wanted->content == PAGE_JSON ? OPTIONS_JSON : OPTIONS_CSV;
  int status = view_fill(job, wanted->view, wanted->content == PAGE_COMPARED ? VIEW_COMPARED : VIEW_ROWS, &source);
  if (status)
    return status;
  if (wanted->content == PAGE_INTERVALS) {
    timeline_pipeline_messages(job);
    interval_tables_write(&job->report, output);
  } else if (wanted->content == PAGE_JSON)
    status = write_json(&job->report, &source, output);
  else
    status = write_rows(wanted, &source, output);
  return status ? EXIT_INPUT : 0;
}

/* Copies the child's table into the page.  Returns whether there was one. */
static bool copy_output(const struct view_child *child, FILE *page)
{
  char buffer[1 << 16];
  ssize_t size;
  bool any = false;
  while (child->output >= 0 &&
         ((size = read(child->output, buffer, sizeof buffer)) > 0 || (size < 0 && errno == EINTR)))
    if (size > 0) {
      fwrite(buffer, 1, (size_t)size, page);
      any = true;
    }
  return any;
}

/* Waits for a child; writes its table. */
static void finish(const struct page_table *wanted, struct view_child *child, FILE *page, struct problems *printed)
{
  html_page_open_table(page, wanted->name);
  bool any = copy_output(child, page);
  view_child_finish(child, any, wanted->optional, printed);
  if (child->failed && any) /* the page takes nothing of an incomplete table */
    html_page_spoil_table(page);
  html_page_close_table(page);
  if (child->failed && !wanted->optional) {
    char line[VIEW_CHILD_MESSAGE_MAX + 128];
    snprintf(line, sizeof line, "hpcprof-lite: the page lacks the table of view '%s': %s", wanted->name, child->reason);
    view_child_print_once(printed, line);
  }
}

/* ---- the table about the page itself ---- */

struct about_row {
  const char *item, *name, *value;
};

#define ABOUT(COLUMN)                                                                                                  \
  COLUMN("item", TEXT, cell_text(about->item), "directory, base, finding or missing")                                  \
  COLUMN("name", TEXT, cell_text(about->name), "the finding, or the table that is missing")                            \
  COLUMN("value", TEXT, cell_text(about->value), "the directory, the title of the finding, or why the table is missing")

static void fill_about(const void *context, const void *row, struct cell *cell)
{
  const struct about_row *about = row;
  (void)context;
  ABOUT(COLUMN_CELL)
}

static const struct table_column about_columns[] = {ABOUT(COLUMN_ENTRY)};
static const struct schema about_schema = SCHEMA(about_columns, fill_about);

struct about {
  const struct job *job;
  const struct view_child *children;
};

/* Gives what a command line needs, names of findings, and why tables are missing. */
static int each_about(const void *source, table_take *take, void *to)
{
  const struct about *about = source;
  const struct options *options = &about->job->options;
  for (size_t i = 0; i < options->input.count; i++)
    take(to, &(struct about_row){"directory", NULL, options->input.directories[i]});
  if (options->comparison.base)
    take(to, &(struct about_row){"base", NULL, options->comparison.base});
  for (enum advice_class class = 0; class < ADVICE_CLASSES; class ++)
    take(to, &(struct about_row){"finding", advice_classes[class].name, advice_classes[class].title});
  for (uint32_t i = 0; i < TABLES; i++)
    if (about->children[i].failed)
      take(to, &(struct about_row){"missing", tables[i].name, about->children[i].reason});
  if (!about->job->report.trees.no_statistics)
    return 0;
  char reason[128];
  snprintf(reason, sizeof reason,
           "left out, as there are more than %u contexts; see hpcprof-lite --view topdown -f csv",
           STATISTICS_CONTEXTS_MAX);
  return take(to, &(struct about_row){
                      "missing", "statistics of threads and ranks (columns thread_work_* and rank_work_*)", reason});
}

static void write_about(const struct job *job, const struct view_child *children)
{
  const struct about about = {job, children};
  struct table table = {.each = each_about, .source = &about};
  table_add(&table, &about_schema, NULL);
  html_page_open_table(job->report.stream, "about");
  html_page_write_table(job->report.stream, &table);
  html_page_close_table(job->report.stream);
  table_release(&table);
}

/* ---- the page ---- */

/* Whether this page has a table. */
static bool has_table(const struct options *options, const struct page_table *table)
{
  if (table->sources)
    return options->sources;
  if (table->content != PAGE_COMPARED)
    return true;
  return strcmp(table->name, "scaling") ? options->comparison.base != NULL : options->comparison.scaling;
}

int page_write(struct job *job)
{
  assert(job->report.stream);
  static struct view_child children[TABLES];
  struct problems printed = {0};
  FILE *page = job->report.stream;
  int status = 0;
  job->report.trees.no_statistics = job->tree.count > STATISTICS_CONTEXTS_MAX;
  html_page_open(&job->report);
  ranks_dismiss(&job->ranks); /* children cannot talk to them */
  fflush(NULL);               /* children would write what is left in buffers */
  for (uint32_t i = 0, next = 0; i < TABLES; i++) {
    for (; next < TABLES && next <= i + job->options.threads; next++) /* a few at a time */
      if (has_table(&job->options, &tables[next]))
        view_child_start(&children[next], write_table, &(struct page_work){job, &tables[next]});
    if (!has_table(&job->options, &tables[i]))
      continue;
    finish(&tables[i], &children[i], page, &printed);
    if (children[i].failed && !tables[i].optional)
      status = ERR_INPUT;
  }
  write_about(job, children);
  html_page_close(page);
  problems_release(&printed);
  return status;
}
