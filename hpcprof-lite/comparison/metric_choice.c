#include "hpcprof-lite/comparison/metric_choice.h"

#include "hpcprof-lite/invocation/column_choice.h"

#include <assert.h>
#include <stdlib.h>

static int unknown(const struct job *job)
{
  job_print_error("view '%s' cannot compare '%s': no such column, or it was not measured; -f csv shows the "
                  "columns, of which times and counts can be compared",
                  job->options.view_name, job->options.comparison.metric ? job->options.comparison.metric : "work");
  return EXIT_USAGE;
}

/* Finds the column that fits best among those that can be compared. */
static uint32_t find_fitting(const struct job *job, const struct metric_choice *choice, const char *word)
{
  assert(word && choice->is_figure);
  struct table figures = {0};
  struct column_choice found = {.column = MODEL_NONE};
  struct table_column *columns = table_memory(&figures, choice->table->columns_count * sizeof *columns);
  uint32_t count = 0;
  for (uint32_t i = 0; i < choice->table->columns_count; i++)
    if (choice->is_figure(choice->context, i))
      columns[count++] = *table_column(choice->table, i);
  table_add(&figures, &(struct schema){columns, count, NULL}, NULL);
  column_choice_find(&figures, word, choice->exclusive, &found);
  uint32_t column = found.column == MODEL_NONE ? MODEL_NONE : table_number(choice->table, columns[found.column].name);
  if (found.several && !job->options.quiet)
    job_print_error("--metric '%s' can mean %s: it is taken for %s", word, found.names, columns[found.column].name);
  free(found.names);
  table_release(&figures);
  return column;
}

int metric_choice_find(const struct job *job, const struct metric_choice *choice, uint32_t *column)
{
  const char *word = job->options.comparison.metric ? job->options.comparison.metric : choice->standard;
  *column = table_number(choice->table, word);
  if (*column == MODEL_NONE)
    *column = find_fitting(job, choice, word);
  else if (!choice->is_figure(choice->context, *column))
    return unknown(job);
  if (*column == MODEL_NONE)
    return unknown(job);
  return 0;
}
