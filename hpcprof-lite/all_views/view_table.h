/* The views with their functions: those that views.def names.
 *
 * Context: BATCH, the main thread.
 */
#ifndef HPCPROF_LITE_ALL_VIEWS_VIEW_TABLE_H
#define HPCPROF_LITE_ALL_VIEWS_VIEW_TABLE_H

#include "hpcprof-lite/live/pages.h"
#include "hpcprof-lite/pipelines/pipelines.h"
#include "hpcprof-lite/report/views.h"

struct view {
  view_pipeline *pipeline;                  /* fills the report; NULL: every report has what it shows */
  view_text *text;                          /* prints it as text, */
  int (*json)(const struct report *report); /* as JSON, where that is not a table, */
  view_text *compared_text;
  table_maker *compared_make;
  table_maker *make;    /* describes its table */
  view_maker *maker;    /* the same, where that depends on options */
  enum pages_view live; /* its page in --live */
  bool optional;        /* without data its table in the database has no rows; of others, a table always can be made */
};

extern const struct view views[OPTIONS_VIEWS];

/* Returns what describes the table of the view that the options show; NULL if that is not a table. */
table_maker *view_made_by(const struct options *options);

struct comparison;

/* Fills a report about several runs, that of the options' view.  Returns 0, or the exit status after it has printed the
 * reason. */
int view_fill_compared(struct job *job, struct comparison *comparison);

/* Where a table comes from, after the pipeline of its view has filled the report. */
struct view_source {
  const struct report *report;
  table_maker *make;
  int (*json)(const struct report *report); /* instead of a table: a drawing */
};

/* What is wanted of a view: its report, that of its comparison with the runs of --compare or in the series of
 * --scaling, or only the columns of its table. */
enum view_part { VIEW_ROWS, VIEW_COMPARED, VIEW_COLUMNS };

/* Fills the report, and tells where the table comes from.  Returns 0, or the exit status after it has printed the
 * reason. */
int view_fill(struct job *job, enum options_view number, enum view_part part, struct view_source *source);

#endif
