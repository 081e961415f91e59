#define _GNU_SOURCE
#include "hpcprof-lite/page/page_pipeline.h"

#include "hpcprof-lite/analysis/advice/advice_findings.h"
#include "hpcprof-lite/report/html/html_page.h"
#include "hpcprof-lite/report/html/html_table.h"
#include "hpcprof-lite/report/html/interval_tables.h"
#include "hpcprof-lite/report/row_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
} tables[] = {{.name = "summary", .view = OPTIONS_SUMMARY},
              {.name = "advice", .view = OPTIONS_ADVICE},
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
              {.name = "phases", .view = OPTIONS_PHASES, .optional = true},
              {.name = "marks", .view = OPTIONS_MARKS, .optional = true},
              {.name = "timeline", .view = OPTIONS_TIMELINE, .optional = true, .content = PAGE_INTERVALS},
              {.name = "grains", .view = OPTIONS_GRAINS, .optional = true, .rows_max = 200000},
              {.name = "grain-groups",
               .view = OPTIONS_GRAINS,
               .optional = true,
               .content = PAGE_JSON,
               .grain_groups = true},
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
  MESSAGE_MAX = 4096,
  STATISTICS_CONTEXTS_MAX = 100000 /* statistics of more contexts would be almost half of the page */
};

/* The process that makes a table. */
struct page_child {
  pid_t pid;
  int output;   /* the table, in base64 */
  int messages; /* a file in memory with what it printed on standard error */
  bool failed;
  char reason[MESSAGE_MAX]; /* its last message, without the program's name */
};

/* In the child: writes the CSV of a view as a table. */
static int write_csv(struct job *job, const struct page_table *wanted, page_view_writer *write_view, FILE *output)
{
  struct html_table table = {0};
  FILE *csv = html_table_stream(&table);
  if (!csv)
    return job_no_memory();
  job->report.stream = csv;
  int status = write_view(job, wanted->view, wanted->content);
  if (fclose(csv) && !status)
    status = EXIT_INPUT;
  if (!status && wanted->rows_max && table.rows > wanted->rows_max) {
    fprintf(stderr, "hpcprof-lite: %u rows are too many for a page: see hpcprof-lite --view %s -f csv\n", table.rows,
            wanted->name);
    status = EXIT_INPUT;
  }
  if (!status && html_table_write(&table, output))
    status = job_no_memory();
  html_table_release(&table);
  return status;
}

/* In the child: writes the JSON of a view. */
static int write_json(struct job *job, const struct page_table *wanted, page_view_writer *write_view, FILE *output)
{
  char *text = NULL;
  size_t size;
  FILE *json = open_memstream(&text, &size);
  if (!json)
    return job_no_memory();
  job->report.stream = json;
  int status = write_view(job, wanted->view, PAGE_JSON);
  if (fclose(json) || !text || (!status && html_table_write_bytes(text, size, output)))
    status = job_no_memory();
  free(text);
  return status;
}

/* In the child: writes the tables of the timeline, which are not made from its CSV. */
static int write_intervals(struct job *job, const struct page_table *wanted, page_view_writer *write_view, FILE *output)
{
  int status = write_view(job, wanted->view, PAGE_INTERVALS);
  if (status)
    return status;
  status = interval_tables_write(&job->report, output);
  return status == ERR_NOMEM ? job_no_memory() : status ? EXIT_INPUT : 0;
}

static int write_table(struct job *job, const struct page_table *wanted, page_view_writer *write_view, FILE *output)
{
  job->options.percent_limit = wanted->percent_limit;
  job->options.grain_groups = wanted->grain_groups;
  int status = (wanted->content == PAGE_JSON        ? write_json
                : wanted->content == PAGE_INTERVALS ? write_intervals
                                                    : write_csv)(job, wanted, write_view, output);
  return status || !fflush(output) ? status : EXIT_INPUT;
}

/* Starts the child of a table.  Where none can be started, `pid` is not positive and `reason` tells why. */
static void start(struct job *job, const struct page_table *wanted, page_view_writer *write_view,
                  struct page_child *child)
{
  int ends[2];
  child->messages = memfd_create("messages", MFD_CLOEXEC);
  bool piped = child->messages >= 0 && !pipe2(ends, O_CLOEXEC);
  child->pid = piped ? fork() : -1;
  if (child->pid < 0)
    snprintf(child->reason, sizeof child->reason, "no process could be started for it: %s", strerror(errno));
  child->output = piped ? ends[0] : -1;
  if (child->pid) {
    if (piped)
      close(ends[1]);
    return;
  }
  close(ends[0]);
  FILE *output = dup2(child->messages, STDERR_FILENO) < 0 ? NULL : fdopen(ends[1], "w");
  _exit(output ? write_table(job, wanted, write_view, output) : EXIT_INPUT);
}

/* Copies the child's table into the page.  Returns whether there was one. */
static bool copy_output(const struct page_child *child, FILE *page)
{
  char buffer[1 << 16];
  ssize_t size;
  bool any = false;
  while ((size = read(child->output, buffer, sizeof buffer)) > 0 || (size < 0 && errno == EINTR))
    if (size > 0) {
      fwrite(buffer, 1, (size_t)size, page);
      any = true;
    }
  return any;
}

/* Prints a line unless it was printed before. */
static void print_once(struct problems *printed, const char *line)
{
  for (uint32_t i = 0; i < printed->count; i++)
    if (!strcmp(printed->lines[i], line))
      return;
  problems_add(printed, "%s", line);
  fprintf(stderr, "%s\n", line);
}

/* Passes the child's messages on, each once for all children; keeps the last one. */
static void pass_messages(struct page_child *child, bool silent, struct problems *printed)
{
  static const char prefix[] = "hpcprof-lite: ";
  FILE *stream = fdopen(child->messages, "r");
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  if (!stream)
    return;
  rewind(stream);
  while ((length = getline(&line, &room, stream)) > 0) {
    line[length - (line[length - 1] == '\n')] = '\0';
    bool prefixed = !strncmp(line, prefix, sizeof prefix - 1);
    snprintf(child->reason, sizeof child->reason, "%s", line + (prefixed ? sizeof prefix - 1 : 0));
    if (!silent)
      print_once(printed, line);
  }
  free(line);
  fclose(stream);
}

/* Waits for a child; writes its table. */
static void finish(const struct page_table *wanted, struct page_child *child, FILE *page, struct problems *printed)
{
  int status = 0;
  html_page_open_table(page, wanted->name);
  bool any = copy_output(child, page);
  close(child->output);
  while (child->pid > 0 && waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
    ;
  child->failed = child->pid < 0 || !any || !WIFEXITED(status) || WEXITSTATUS(status);
  if (child->failed && any) /* of a table that is only begun, the page takes nothing */
    html_page_spoil_table(page);
  html_page_close_table(page);
  pass_messages(child, child->failed && wanted->optional, printed);
  if (child->failed && !*child->reason && WIFSIGNALED(status))
    snprintf(child->reason, sizeof child->reason, "the process that computed it was ended by signal %d",
             WTERMSIG(status));
  else if (child->failed && !*child->reason)
    snprintf(child->reason, sizeof child->reason, "the process that computed it ended without a reason");
  if (child->failed && !wanted->optional) {
    char line[MESSAGE_MAX + 128];
    snprintf(line, sizeof line, "hpcprof-lite: the page lacks the table of view '%s': %s", wanted->name, child->reason);
    print_once(printed, line);
  }
}

/* Writes the table about the page itself: what a command line needs, names of findings, and why tables are missing. */
static int write_about(struct job *job, const struct page_child *children)
{
  static const char *const columns[] = {"item", "name", "value"};
  FILE *page = job->report.stream;
  struct html_table table = {0};
  struct row_writer writer;
  FILE *csv = html_table_stream(&table);
  if (!csv)
    return ERR_NOMEM;
  row_writer_begin(&writer, csv, false, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < job->options.directories_count; i++) {
    row_writer_text(&writer, "directory");
    row_writer_empty(&writer);
    row_writer_text(&writer, job->options.directories[i]);
  }
  if (job->options.compare) {
    row_writer_text(&writer, "base");
    row_writer_empty(&writer);
    row_writer_text(&writer, job->options.compare);
  }
  for (enum advice_class class = 0; class < ADVICE_CLASSES; class ++) {
    row_writer_text(&writer, "finding");
    row_writer_text(&writer, advice_name(class));
    row_writer_text(&writer, advice_title(class));
  }
  for (uint32_t i = 0; i < TABLES; i++) {
    if (!children[i].failed)
      continue;
    row_writer_text(&writer, "missing");
    row_writer_text(&writer, tables[i].name);
    row_writer_text(&writer, children[i].reason);
  }
  if (job->report.no_statistics) {
    char reason[128];
    snprintf(reason, sizeof reason, "left out, as there are more than %u contexts; see hpcprof-lite --view topdown -f csv",
             STATISTICS_CONTEXTS_MAX);
    row_writer_text(&writer, "missing");
    row_writer_text(&writer, "statistics of threads and ranks (columns thread_work_* and rank_work_*)");
    row_writer_text(&writer, reason);
  }
  row_writer_end(&writer);
  fclose(csv);
  html_page_open_table(page, "about");
  int status = html_table_write(&table, page);
  html_page_close_table(page);
  html_table_release(&table);
  return status;
}

/* Whether this page has a table. */
static bool has_table(const struct options *options, const struct page_table *table)
{
  if (table->sources)
    return options->sources;
  if (table->content != PAGE_COMPARED)
    return true;
  return strcmp(table->name, "scaling") ? options->compare != NULL : options->scaling;
}

int page_write(struct job *job, page_view_writer *write_view)
{
  static struct page_child children[TABLES];
  struct problems printed = {0};
  FILE *page = job->report.stream;
  int status = 0;
  job->report.no_statistics = job->tree.count > STATISTICS_CONTEXTS_MAX;
  html_page_open(&job->report);
  fflush(NULL); /* children would write what is left in buffers */
  for (uint32_t i = 0, next = 0; i < TABLES; i++) {
    for (; next < TABLES && next <= i + job->options.threads; next++) /* a few at a time */
      if (has_table(&job->options, &tables[next]))
        start(job, &tables[next], write_view, &children[next]);
    if (!has_table(&job->options, &tables[i]))
      continue;
    finish(&tables[i], &children[i], page, &printed);
    if (children[i].failed && !tables[i].optional)
      status = ERR_INPUT;
  }
  if (write_about(job, children))
    status = ERR_NOMEM;
  html_page_close(page);
  problems_release(&printed);
  return status;
}
