/* The command line of hpcprof-lite.
 *
 * Context: BATCH.  Strings are those of argv.  An option or view that is not built yet is refused, never ignored.
 */
#ifndef HPCPROF_LITE_OPTIONS_H
#define HPCPROF_LITE_OPTIONS_H

#include "hpcprof-lite/algorithms/condition.h"
#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/scenario.h"
#include "hpcprof-lite/model/timeline.h"

#include <stddef.h>

enum options_view {
  OPTIONS_SUMMARY,
  OPTIONS_TOPDOWN,
  OPTIONS_BOTTOMUP,
  OPTIONS_FLAT,
  OPTIONS_THREADS,
  OPTIONS_EFFICIENCY,
  OPTIONS_PARALLELISM,
  OPTIONS_CRITICAL_PATH,
  OPTIONS_WHATIF,
  OPTIONS_SPEEDUP,
  OPTIONS_REGIONS,
  OPTIONS_REGION_TREE,
  OPTIONS_OVERHEADS,
  OPTIONS_TASKS,
  OPTIONS_TIMELINE,
  OPTIONS_PHASES,
  OPTIONS_ADVICE,
  OPTIONS_GRAINS,
  OPTIONS_GRAIN_GRAPH,
  OPTIONS_MARKS,
  OPTIONS_USER_COUNTERS,
  OPTIONS_SOURCE
};
enum options_format {
  OPTIONS_TEXT,
  OPTIONS_CSV,
  OPTIONS_JSON,
  OPTIONS_GRAPHML,
  OPTIONS_DOT,
  OPTIONS_HTML,   /* many views at once */
  OPTIONS_FOLDED, /* from here on of the top-down tree */
  OPTIONS_SPEEDSCOPE,
  OPTIONS_PPROF,
  OPTIONS_CALLGRIND,
  OPTIONS_HATCHET,
  OPTIONS_SQLITE,   /* with other views */
  OPTIONS_PERFETTO, /* from here on of the timeline */
  OPTIONS_FIREFOX,
  OPTIONS_OTF2,
  OPTIONS_MARKDOWN, /* from here on of the summary, with conditions or a comparison */
  OPTIONS_JUNIT
};

struct options {
  enum options_view view;
  bool has_view;
  const char *view_name;
  enum options_format format;
  const char *output;
  bool lines, per_thread, legend, raw_names, quiet, verbose, help, version;
  bool has_baseline;
  enum profile_baseline baseline;
  bool has_root;
  const char *root_text; /* of --root; in the graph of grains a path */
  struct selector root;
  uint32_t max_nodes; /* of the graph of grains; 0: not given */
  bool unreduced, has_colour;
  enum grain_metric colour;
  struct scenario *scenarios; /* of --what-if, in order */
  uint32_t scenarios_count;
  size_t scenarios_room;
  const char *sort;      /* column, NULL = the view's own order       */
  const char *columns;   /* that are shown, separated by commas; NULL: the view's own */
  const char *reference; /* measurement directory of the run that grains are compared to */
  struct grain_limits grain_limits;
  bool limits_given, grain_groups;
  bool merge, no_pager, scaling, live;
  bool sources; /* embed source lines in the page */
  bool limited; /* --from or --to is given */
  bool has_lanes, index;
  enum timeline_grouping lanes;
  uint64_t from_ns, to_ns;      /* since the run's begin */
  const char *compare;          /* the base's directories, separated by commas; NULL: nothing is compared */
  const char *metric;           /* column that is compared or folded, NULL = the view's or the format's own */
  struct condition *conditions; /* of --fail-if, in order */
  uint32_t conditions_count;
  size_t conditions_room;
  double percent_limit;     /* below 0: the default of view and format   */
  uint32_t max_rows, depth; /* 0 = no limit                          */
  bool has_threads;
  unsigned threads;
  const char **source_paths; /* of --source-path, in order */
  uint32_t source_paths_count;
  size_t source_paths_room;
  char **directories;
  size_t directories_count;
  char **references; /* of runs with one thread, that advice is compared to; after the directories */
  size_t references_count;
  char *newest; /* the directory that is reported if none is given; owned */
};

/* Fills options from argv; invocation/consistency.h checks whether they go together.  0, or ERR_INPUT with one line in
 * message; options_release() in any case. */
int options_parse(int argc, char **argv, struct options *options, char *message, size_t size);

void options_release(struct options *options);

const char *options_view_name(enum options_view view);

const char *options_help(void);

/* Whether the format is an export of the top-down tree. */
bool options_of_profile(const struct options *options);

/* Whether the format has source lines as places in functions, with --lines or not, instead of rows. */
bool options_lines_are_places(const struct options *options);

/* What --from and --to restrict in this view: figures of the graph log, or those of samples and constructs. */
bool options_of_log(const struct options *options);
bool options_of_samples(const struct options *options);

#endif
