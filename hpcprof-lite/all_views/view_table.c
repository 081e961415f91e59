#include "hpcprof-lite/all_views/view_table.h"

#include "hpcprof-lite/comparison/compare_pipeline.h"
#include "hpcprof-lite/comparison/scaling_pipeline.h"
#include "hpcprof-lite/report/exports/exports.h"
#include "hpcprof-lite/pipelines/gather.h"
#include "hpcprof-lite/pipelines/tree_pipeline.h"

#include <assert.h>

const struct view views[] = {
#define VIEW(id, name, phrase, traits, ...) {__VA_ARGS__},
#include "hpcprof-lite/invocation/views.def"
#undef VIEW
};

table_maker *view_made_by(const struct options *options)
{
  assert(options->view < OPTIONS_VIEWS);
  const struct view *view = &views[options->view];
  if (view->maker)
    return view->maker(options);
  return view->make;
}

int view_fill_compared(struct job *job, struct comparison *comparison)
{
  assert(job->options.view < OPTIONS_VIEWS);
  const struct view *view = &views[job->options.view];
  comparison->pipeline = view->pipeline;
  comparison->make = view->make;
  comparison->compared_make = view->compared_make;
  if (job->options.comparison.scaling)
    return scaling_pipeline(job, comparison);
  return compare_pipeline(job, comparison);
}

/* Fills the report of a comparison or of a series, in a job of its own. */
static int fill_comparison(struct job *job, enum options_view number, struct view_source *source)
{
  assert(number < OPTIONS_VIEWS);
  static struct job compared; /* both are kept until the process ends */
  static struct comparison comparison;
  compared = (struct job){.options = job->options, .ranks.size = 1};
  compared.options.view = number;
  compared.options.view_name = options_views[number].name;
  source->report = &compared.report;
  source->make = job->options.comparison.scaling ? scaling_view_table : views[number].compared_make;
  return view_fill_compared(&compared, &comparison);
}

/* Whether a view needs the whole run, of which the job has only a part: it restricts its rows itself. */
static bool needs_whole(const struct job *job, enum options_view number)
{
  const struct options options = {.view = number};
  return job->profile.range.traced && !options_view_has(&options, HAS_SAMPLES) && !options_view_has(&options, HAS_LOG);
}

/* Fills the report of such a view, in a job of its own. */
static int fill_from_whole(const struct job *job, enum options_view number, struct view_source *source)
{
  assert(views[number].pipeline);
  static struct job whole; /* kept until the process ends */
  whole = (struct job){.options = job->options, .ranks.size = 1};
  whole.options.view = number;
  whole.options.view_name = options_views[number].name;
  int status = gather(&whole);
  if (status)
    return status;
  tree_begin(&whole, options_view_has(&whole.options, HAS_TREE));
  *source = (struct view_source){&whole.report, view_made_by(&whole.options), views[number].json};
  return views[number].pipeline(&whole);
}

int view_fill(struct job *job, enum options_view number, enum view_part part, struct view_source *source)
{
  assert(number < OPTIONS_VIEWS);
  const struct view *view = &views[number];
  if (part == VIEW_COMPARED)
    return fill_comparison(job, number, source);
  if (part == VIEW_ROWS && needs_whole(job, number))
    return fill_from_whole(job, number, source);
  job->options.view = number;
  job->report.view = options_views[number].name;
  *source = (struct view_source){&job->report, view_made_by(&job->options), view->json};
  if (part == VIEW_COLUMNS)
    return 0;
  if (number == OPTIONS_SOURCE)
    tree_prepare_again(job);
  if (!view->pipeline)
    return 0;
  return view->pipeline(job);
}
