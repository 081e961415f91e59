#define _GNU_SOURCE
#include "hpcprof-lite/page/database_pipeline.h"

#include "hpcprof-lite/report/exports/profile/sqlite_database.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/tree_pipeline.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct database_table {
  const char *name;
  enum options_view view;
} tables[] = {{"run", OPTIONS_SUMMARY},     {"threads", OPTIONS_THREADS},         {"efficiency", OPTIONS_EFFICIENCY},
              {"regions", OPTIONS_REGIONS}, {"overheads", OPTIONS_OVERHEADS},     {"tasks", OPTIONS_TASKS},
              {"advice", OPTIONS_ADVICE},   {"parallelism", OPTIONS_PARALLELISM}, /* of whole runs only */};

/* In the child: writes a view as CSV. */
static int write_csv(struct job *job, const struct database_table *table, page_view_writer *write_view, int output)
{
  job->report.stream = fdopen(output, "w");
  row_writer_quote_text();
  if (!job->report.stream)
    return job_no_memory();
  if (write_view(job, table->view, PAGE_CSV))
    return EXIT_INPUT;
  if (!fclose(job->report.stream))
    return 0;
  job_print_error("cannot write table '%s': %s", table->name, strerror(errno));
  return EXIT_INPUT;
}

/* Waits until the child has written the view. */
static int wait_for_child(pid_t pid, const struct database_table *table, struct sqlite_database *database)
{
  int ended = 0;
  while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(ended))
    snprintf(database->message, sizeof database->message, "the process for table '%s' was ended by signal %d",
             table->name, WTERMSIG(ended));
  return WIFEXITED(ended) && !WEXITSTATUS(ended) ? 0 : ERR_INPUT;
}

/* Starts the child and waits until it has written the view. */
static int write_in_child(struct job *job, const struct database_table *table, page_view_writer *write_view, int output,
                          struct sqlite_database *database)
{
  fflush(NULL); /* the child would write what is left in buffers */
  pid_t pid = fork();
  if (pid < 0) {
    snprintf(database->message, sizeof database->message, "no process could be started: %s", strerror(errno));
    return ERR_INPUT;
  }
  if (!pid)
    _exit(write_csv(job, table, write_view, output));
  return wait_for_child(pid, table, database);
}

/* A file in memory, because it is read twice. */
static int add_table(struct job *job, const struct database_table *table, page_view_writer *write_view,
                     struct sqlite_database *database)
{
  int file = memfd_create(table->name, MFD_CLOEXEC);
  if (file < 0)
    return ERR_NOMEM;
  int status = write_in_child(job, table, write_view, file, database);
  FILE *csv = fdopen(file, "r");
  if (csv) {
    rewind(csv);
    status = status ? status : sqlite_database_add_csv(database, table->name, csv);
    fclose(csv);
  } else {
    close(file);
  }
  return csv ? status : ERR_NOMEM;
}

static int add_contexts(struct job *job, struct sqlite_database *database)
{
  if (tree_pipeline(job))
    return ERR_INPUT;
  job->report.stream = NULL; /* nothing is written to one */
  return sqlite_database_add_contexts(database, &job->report);
}

int database_write(struct job *job, page_view_writer *write_view, const char *path, char *message, size_t size)
{
  struct sqlite_database database;
  int status = sqlite_database_open(&database, path);
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !status; i++)
    if (!job->options.limited || tables[i].view != OPTIONS_PARALLELISM)
      status = add_table(job, &tables[i], write_view, &database);
  status = status ? status : add_contexts(job, &database);
  int closed = sqlite_database_close(&database);
  snprintf(message, size, "%s", database.message);
  return status ? status : closed;
}
