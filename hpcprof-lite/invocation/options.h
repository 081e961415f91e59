/* The command line of hpcprof-lite.
 *
 * Context: BATCH.  Strings are those of argv.  Views, formats and options are described once, in
 * views.def, formats.def and options.def.
 */
#ifndef HPCPROF_LITE_INVOCATION_OPTIONS_H
#define HPCPROF_LITE_INVOCATION_OPTIONS_H

#include "common/command_line.h"
#include "hpcprof-lite/algorithms/condition.h"
#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/scenario.h"
#include "hpcprof-lite/model/timeline.h"

#include <stddef.h>
#include <stdio.h>

/* What a view has: which options have an effect on it. */
enum options_trait {
  HAS_TREE = 1 << 0,    /* needs symbols and the top-down tree */
  HAS_SAMPLES = 1 << 1, /* --from and --to restrict figures of samples and constructs */
  HAS_LOG = 1 << 2,     /* they restrict figures of the graph log */
  HAS_TIME = 1 << 3,    /* is one run on the axis of time */
  HAS_IDLENESS = 1 << 4,
  HAS_ROOT = 1 << 5,
  HAS_LINES = 1 << 6,
  HAS_DEPTH = 1 << 7,
  HAS_PERCENT = 1 << 8,
  HAS_SORT = 1 << 9,
  HAS_ROWS = 1 << 10,
  HAS_LEGEND = 1 << 11,
  HAS_PER_THREAD = 1 << 12,
  HAS_SCENARIOS = 1 << 13,
  HAS_COMPARE = 1 << 14,
  HAS_SCALING = 1 << 15,
  HAS_LIVE = 1 << 16,
  HAS_COLUMNS = 1 << 17,  /* its text is a table whose columns can be chosen */
  HAS_NO_SPAN = 1 << 18,  /* shows neither work nor span */
  HAS_MESSAGES = 1 << 19, /* reads the graph logs of an MPI job */
  HAS_TABLE = HAS_SORT | HAS_ROWS | HAS_LEGEND | HAS_COLUMNS,
  HAS_CONTEXTS = HAS_ROOT | HAS_LINES | HAS_DEPTH | HAS_PERCENT | HAS_TABLE
};
enum options_view {
#define VIEW(id, ...) OPTIONS_##id,
#include "hpcprof-lite/invocation/views.def"
#undef VIEW
  OPTIONS_VIEWS
};

/* What a format shows. */
enum options_content {
  SHOWS_VIEWS,    /* any view */
  SHOWS_PAGE,     /* all views at once */
  SHOWS_CONTEXTS, /* the top-down tree */
  SHOWS_GRAPH,
  SHOWS_TIMELINE,
  SHOWS_CHECKS /* the summary with conditions or a comparison */
};
enum options_format_trait {
  IS_LINES = 1 << 0, /* source lines are places in functions, with --lines or not, instead of rows */
  IS_FILE = 1 << 1,  /* not for a terminal */
  IS_DATABASE = 1 << 2,
  IS_DIRECTORY = 1 << 3
};
enum options_format {
#define FORMAT(id, ...) OPTIONS_##id,
#include "hpcprof-lite/invocation/formats.def"
#undef FORMAT
  OPTIONS_FORMATS
};

enum options_given {
#define OPTION(id, ...) GIVEN_##id,
#define FLAG OPTION
#include "hpcprof-lite/invocation/options.def"
#undef FLAG
#undef OPTION
  OPTIONS_GIVEN
};

/* Lists that repeatable options fill, in order. */
struct options_scenarios {
  struct scenario *list;
  uint32_t count;
  size_t room;
};
struct options_directories {
  const char **list;
  uint32_t count;
  size_t room;
};

/* --root */
struct options_root {
  bool given;
  const char *text; /* in the graph of grains a path */
  struct selector selector;
};

/* --from and --to */
struct options_range {
  bool given;
  uint64_t from_ns, to_ns; /* since the start of the run */
};

/* Which rows are shown. */
struct options_limits {
  double percent;       /* below 0: the default of view and format */
  uint32_t rows, depth; /* 0 = no limit */
};

/* Options of the views of grains. */
struct options_grains {
  uint32_t max_nodes; /* of the graph */
  bool unreduced, groups;
  enum grain_metric colour;
  const char *reference; /* measurement directory of the run to which grains are compared */
  struct grain_limits limits;
};

/* Several runs side by side. */
struct options_comparison {
  const char *base;             /* the base's directories, separated by commas; NULL: nothing is compared */
  const char *metric;           /* column that is compared or folded, NULL = the view's or the format's own */
  struct condition *conditions; /* of --fail-if, in order */
  uint32_t conditions_count;
  size_t conditions_room;
  bool scaling;
};

/* What is read. */
struct options_input {
  char **directories;
  size_t count;
  char **references; /* of runs with one thread, beside which advice and regions show this one; after the directories */
  size_t references_count;
  char *newest; /* the directory that is reported if none is given; owned */
  bool merge;
};

struct options {
  enum options_view view;
  uint32_t views_given; /* bits: all views that --view names; a database can have several */
  bool given[OPTIONS_GIVEN];
  const char *view_name;
  enum options_format format;
  const char *output;
  bool lines, per_thread, legend, no_header, raw_names, quiet, verbose, help, version, no_pager, live;
  bool sources; /* embed source lines in the page */
  bool collapse_recursion;
  bool python_frames; /* show functions of the Python interpreter */
  bool debuginfod; /* ask servers for debug files */
  bool index;      /* store the index of the trace */
  enum timeline_grouping lanes;
  enum profile_baseline baseline;
  const char *sort;    /* column, NULL = the view's own order */
  const char *columns; /* that are shown, separated by commas; NULL: the view's own */
  unsigned threads;
  struct options_input input;
  struct options_root root;
  struct options_range range;
  struct options_limits limits;
  struct options_scenarios scenarios; /* --what-if */
  struct options_directories source_paths, symbols;
  struct options_grains grains;
  struct options_comparison comparison;
};

/* Fills options from argv; invocation/consistency.h checks whether they go together.  0, or ERR_INPUT with one line in
 * message; options_release() in any case. */
int options_parse(int argc, char **argv, struct options *options, char *message, size_t size);

void options_release(struct options *options);

/* A view, or a format; the phrase is what a shell shows beside its name. */
struct options_view_row {
  const char *name, *phrase;
  unsigned traits;
};
struct options_format_row {
  const char *name, *phrase;
  enum options_content shows;
  unsigned traits;
};
extern const struct options_view_row options_views[OPTIONS_VIEWS];
extern const struct options_format_row options_formats[OPTIONS_FORMATS];

/* Whether the view, or the format, has all these traits. */
bool options_view_has(const struct options *options, unsigned traits);
bool options_format_is(const struct options *options, unsigned traits);

/* Lists the views that have a trait, and the formats that show something: "a, b or c" with `last` " or ". */
void options_list_views(unsigned trait, const char *last, char *text, size_t size);
void options_list_formats(enum options_content content, const char *last, char *text, size_t size);

/* The descriptions of the options. */
extern const struct command_option options_described[OPTIONS_GIVEN];

void options_print_help(FILE *stream);

/* Whether --from and --to restrict figures of samples and constructs in this report. */
bool options_of_samples(const struct options *options);

#endif
