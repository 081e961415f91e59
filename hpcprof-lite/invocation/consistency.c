#include "hpcprof-lite/invocation/consistency.h"

#include <stdio.h>
#include <string.h>

static int fail(char *message, size_t size, const char *text, const char *value)
{
  snprintf(message, size, text, value);
  return ERR_INPUT;
}

static int parse_root(const char *text, struct options *options, char *message, size_t size)
{
  const char *wrong = selector_parse(text, &options->root);
  options->has_root = true;
  if (!wrong)
    return 0;
  snprintf(message, size, "cannot use '--root %s': %s", text, wrong);
  return ERR_INPUT;
}

/* What only the graph of grains has. */
static int check_graph(struct options *options, char *message, size_t size)
{
  bool graph = options->view == OPTIONS_GRAIN_GRAPH;
  bool format = options->format == OPTIONS_GRAPHML || options->format == OPTIONS_DOT;
  if (!graph && (options->max_nodes || options->unreduced || options->has_colour || format))
    return fail(message, size,
                "view '%s' is not drawn: --max-nodes, --unreduced, --colour, graphml and dot need grain-graph",
                options->view_name);
  if (graph && !format && options->format != OPTIONS_JSON)
    return fail(message, size, "%s", "view 'grain-graph' is a drawing: it needs -f graphml, dot or json");
  if (options->unreduced && options->max_nodes)
    return fail(message, size, "%s", "--unreduced folds nothing: --max-nodes has no effect");
  if (!options->max_nodes)
    options->max_nodes = 2000;
  return 0;
}

/* What only views have that show trees, or whose rows can be omitted. */
static int check_rows(const struct options *options, bool constructs, char *message, size_t size)
{
  bool tree = options->view == OPTIONS_TOPDOWN || options->view == OPTIONS_BOTTOMUP || options->view == OPTIONS_FLAT ||
              options->view == OPTIONS_CRITICAL_PATH;
  bool source = options->view == OPTIONS_SOURCE;
  if (source && options->lines)
    return fail(message, size, "%s", "view 'source' always shows lines: --lines has no effect on it");
  if (!tree && ((options->has_root && !source) || options->lines))
    return fail(message, size,
                "view '%s' shows no functions: --root needs topdown, bottomup, flat, critical-path or source, and "
                "--lines one of the first four",
                options->view_name);
  if (!tree && options->depth && options->view != OPTIONS_REGION_TREE)
    return fail(message, size,
                "view '%s' has no levels: --depth needs topdown, bottomup, flat, critical-path or region-tree",
                options->view_name);
  if (!tree && options->percent_limit >= 0 && !constructs)
    return fail(message, size,
                "view '%s' omits no light rows: --percent-limit needs topdown, bottomup, flat, critical-path, "
                "regions, region-tree, overheads or tasks",
                options->view_name);
  return 0;
}

static int check_times(const struct options *options, char *message, size_t size)
{
  if (!options->limited)
    return 0;
  if (options->from_ns >= options->to_ns) {
    snprintf(message, size, "--from %.9g is not before --to %.9g", (double)options->from_ns / 1e9,
             (double)options->to_ns / 1e9);
    return ERR_INPUT;
  }
  if (options->reference)
    return fail(message, size, "%s", "--reference compares whole runs: it cannot be used with --from and --to");
  return 0;
}

/* What the view of source lines can do. */
static int check_source(const struct options *options, char *message, size_t size)
{
  bool source = options->view == OPTIONS_SOURCE;
  if (options->sources && options->format != OPTIONS_HTML)
    return fail(message, size, "%s", "--sources embeds source lines in a page: it needs -f html");
  if (options->source_paths_count && options->format == OPTIONS_HTML && !options->sources)
    return fail(message, size, "%s", "the page holds no source text: --source-path needs --sources");
  if (options->source_paths_count && !source && !options->sources)
    return fail(message, size, "view '%s' shows no source text: --source-path needs source", options->view_name);
  if (source && options->sort)
    return fail(message, size, "%s", "view 'source' is in the order of lines: it cannot be sorted");
  if (source && options->max_rows && options->format != OPTIONS_TEXT)
    return fail(message, size, "%s", "csv and json of source lines are always complete: --max-rows needs text");
  if (source && options->has_root && (options->root.is_id || options->root.is_region))
    return fail(message, size, "view 'source' shows functions, files and lines, not '--root %s': give the name of one",
                options->root.text);
  return 0;
}

/* What the exports of the top-down tree can do. */
static int check_profile(struct options *options, char *message, size_t size)
{
  if (!options_of_profile(options))
    return 0;
  if (options->has_view && options->view != OPTIONS_TOPDOWN)
    return fail(
        message, size,
        "formats folded, speedscope, pprof, callgrind, hatchet and sqlite show calling contexts: leave out view "
        "'%s'",
        options_view_name(options->view));
  options->view = OPTIONS_TOPDOWN;
  if (options->sort)
    return fail(message, size, "%s", "exports are in the order of the tree, and their viewers sort: leave out --sort");
  if (options->compare)
    return fail(message, size, "%s", "exports show one run: --compare needs text, csv, json or html");
  if (options->metric && options->format != OPTIONS_FOLDED)
    return fail(message, size, "%s", "only format folded has one metric: other exports have all, without --metric");
  if (options->format == OPTIONS_SQLITE && !options->output)
    return fail(message, size, "%s", "format sqlite is a database: it needs --output");
  if (options->format == OPTIONS_SQLITE &&
      (options->root_text || options->depth || options->max_rows || options->percent_limit >= 0))
    return fail(message, size, "%s",
                "format sqlite has all contexts: leave out --root, --depth, --max-rows and --percent-limit, and "
                "restrict queries");
  if (options->format == OPTIONS_SQLITE && options->conditions_count)
    return fail(message, size, "%s", "format sqlite has no conditions: check --fail-if by a call of its own");
  options->lines |= options_lines_are_places(options);
  return 0;
}

/* Some formats imply the view. */
static int check_export(struct options *options, char *message, size_t size)
{
  if (!options->has_view && (options->format == OPTIONS_GRAPHML || options->format == OPTIONS_DOT))
    options->view = OPTIONS_GRAIN_GRAPH;
  if (options->format < OPTIONS_PERFETTO || options->format > OPTIONS_OTF2)
    return 0;
  if (options->has_view && options->view != OPTIONS_TIMELINE)
    return fail(message, size, "view '%s' is no timeline, which the formats perfetto, firefox and otf2 show",
                options_view_name(options->view));
  options->view = OPTIONS_TIMELINE;
  if (options->sort || options->max_rows)
    return fail(message, size, "%s", "formats perfetto, firefox and otf2 cannot be sorted or shortened");
  if (options->format == OPTIONS_OTF2 && !options->output)
    return fail(message, size, "%s", "format otf2 is a directory: it needs --output");
  return 0;
}

/* What the page of all views can do. */
static int check_page(const struct options *options, char *message, size_t size)
{
  if (options->format != OPTIONS_HTML)
    return 0;
  if (options->has_view && options->view != OPTIONS_SUMMARY)
    return fail(message, size, "format html shows all views: leave out view '%s'", options_view_name(options->view));
  if (options->limited)
    return fail(message, size, "%s", "format html shows whole runs: it cannot be used with --from and --to");
  if (options->conditions_count)
    return fail(message, size, "%s", "format html shows no conditions: check --fail-if by a call of its own");
  return 0;
}

/* What can be compared, and what only a comparison or a condition has. */
static int check_comparison(const struct options *options, char *message, size_t size)
{
  bool tree = options->view == OPTIONS_TOPDOWN || options->view == OPTIONS_BOTTOMUP || options->view == OPTIONS_FLAT;
  bool summary = options->view == OPTIONS_SUMMARY, threads = options->view == OPTIONS_THREADS;
  if (options->format == OPTIONS_JUNIT && !options->conditions_count)
    return fail(message, size, "%s", "format junit has a test for each --fail-if: give at least one");
  if (options->format == OPTIONS_MARKDOWN && !options->conditions_count && !options->compare)
    return fail(message, size, "%s", "format markdown shows a comparison: give --compare or --fail-if");
  if (options->format >= OPTIONS_MARKDOWN && !summary)
    return fail(message, size, "formats markdown and junit show the summary, not view '%s'", options->view_name);
  for (uint32_t i = 0; i < options->conditions_count; i++)
    if (condition_misuse(&options->conditions[i], options->compare, message, size))
      return ERR_INPUT;
  if (options->metric && options->format != OPTIONS_FOLDED && (!options->compare || summary))
    return fail(message, size, "%s",
                "--metric is the column to compare or fold: it needs --compare and topdown, bottomup, "
                "flat, regions, parallelism or threads; or -f folded");
  if (!options->compare)
    return 0;
  if (!options->directories_count)
    return fail(message, size, "--compare '%s' needs the runs to compare to it: --compare BASE DIR", options->compare);
  if (options->merge)
    return fail(message, size, "%s", "--compare keeps runs apart: it cannot be used with --merge");
  if (!summary && !tree && !threads && options->view != OPTIONS_REGIONS && options->view != OPTIONS_PARALLELISM)
    return fail(message, size,
                "view '%s' cannot be compared: use summary, topdown, bottomup, flat, regions, "
                "parallelism or threads",
                options->view_name);
  if (options->limited)
    return fail(message, size, "%s", "--compare compares whole runs: it cannot be used with --from and --to");
  if (options->scenarios_count)
    return fail(message, size, "%s", "--compare compares what was measured: it cannot be used with --what-if");
  if (options->per_thread)
    return fail(message, size, "%s", "--compare compares sums over threads: it cannot be used with --per-thread");
  if (options->root_text && options->root.is_id)
    return fail(message, size, "cannot use '--root %s' with --compare: the same context has another id in each run",
                options->root_text);
  return 0;
}

/* What --scaling can show, and what has no effect on it. */
static int check_scaling(const struct options *options, char *message, size_t size)
{
  const struct {
    bool given;
    const char *name, *why;
  } refused[] = {
      {options->compare, "--compare", "--scaling compares runs with each other"},
      {options->conditions_count, "--fail-if", "check conditions with --compare, or in a report of one run"},
      {options->merge, "--merge", "--scaling keeps runs apart"},
      {options->limited, "--from and --to", "--scaling compares whole runs"},
      {options->scenarios_count, "--what-if", "--scaling shows what was measured"},
      {options->per_thread, "--per-thread", "--scaling shows sums over threads"},
      {options->has_baseline, "--idleness", "--scaling counts idleness against the threads of each run"},
      {options->root_text, "--root", "--scaling shows the contexts of the whole program"},
      {options->lines, "--lines", "--scaling shows functions and constructs"},
      {options->sort, "--sort", "contexts are in the order of what they lose on more threads"},
      {options->depth, "--depth", "contexts are in the order of what they lose; use --max-rows"},
      {options->percent_limit >= 0, "--percent-limit", "contexts are in the order of what they lose; use --max-rows"},
  };
  if (!options->scaling)
    return 0;
  if (!options->directories_count)
    return fail(message, size, "%s",
                "--scaling needs the runs: the directory of hpcrun-lite --scaling, or several measurements");
  if (options->view != OPTIONS_SUMMARY && options->view != OPTIONS_TOPDOWN && options->view != OPTIONS_FLAT)
    return fail(message, size, "view '%s' has no --scaling: it needs summary, topdown or flat", options->view_name);
  if (options->format > OPTIONS_JSON && options->format != OPTIONS_HTML)
    return fail(message, size, "%s", "--scaling needs format text, csv, json or html");
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (refused[i].given) {
      snprintf(message, size, "--scaling cannot be used with %s: %s", refused[i].name, refused[i].why);
      return ERR_INPUT;
    }
  return 0;
}

/* What --live can show, and what has no effect on it. */
static int check_live(const struct options *options, char *message, size_t size)
{
  const struct {
    bool given;
    const char *name, *why;
  } refused[] = {
      {options->format != OPTIONS_TEXT, "--format", "the live view is a picture in the terminal"},
      {options->output, "--output", "the live view is a picture in the terminal"},
      {options->compare, "--compare", "it shows one run"},
      {options->scaling, "--scaling", "it shows one run"},
      {options->merge, "--merge", "it shows one run"},
      {options->conditions_count, "--fail-if", "check conditions in a report, when the run has ended"},
      {options->scenarios_count, "--what-if", "scenarios need a run that has ended"},
      {options->limited, "--from and --to", "it shows the run up to now"},
      {options->root_text, "--root", "it shows the whole program"},
      {options->lines, "--lines", "it shows functions and contexts"},
      {options->sort, "--sort", "key r sorts"},
      {options->max_rows, "--max-rows", "it scrolls"},
      {options->depth, "--depth", "it scrolls"},
      {options->percent_limit >= 0, "--percent-limit", "it scrolls"},
      {options->per_thread, "--per-thread", "key 4 shows the threads"},
      {options->legend, "--legend", "key ? explains"},
      {options->index, "--index", "an index needs a run that has ended"},
      {options->has_threads, "-j", "files that change are read one after another"},
  };
  if (!options->live)
    return 0;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (refused[i].given) {
      snprintf(message, size, "--live cannot be used with %s: %s", refused[i].name, refused[i].why);
      return ERR_INPUT;
    }
  if (options->view != OPTIONS_SUMMARY && options->view != OPTIONS_FLAT && options->view != OPTIONS_TOPDOWN &&
      options->view != OPTIONS_THREADS)
    return fail(message, size, "view '%s' has no --live: it needs summary, flat, topdown or threads",
                options->view_name);
  return 0;
}

/* Whether a timeline is shown as cells. */
static bool drawn(const struct options *options)
{
  return options->format == OPTIONS_TEXT || options->format == OPTIONS_JSON;
}

/* What the views on the axis of time can do. */
static int check_timeline(const struct options *options, char *message, size_t size)
{
  bool timeline = options->view == OPTIONS_TIMELINE, text = options->format == OPTIONS_TEXT;
  if (options->has_lanes && !timeline)
    return fail(message, size, "view '%s' has no lines for threads: --lanes needs timeline", options->view_name);
  if (options->has_lanes && !drawn(options))
    return fail(message, size, "%s", "--lanes joins lines of text or json: other formats have each thread");
  if (options->index && !timeline)
    return fail(message, size, "view '%s' stores no index: use --view timeline --index", options->view_name);
  if (!timeline && options->view != OPTIONS_PHASES)
    return 0;
  if (options->directories_count > 1)
    return fail(message, size, "view '%s' shows one run: give one measurement directory", options->view_name);
  if (options->sort)
    return fail(message, size, "view '%s' is in the order of time: it cannot be sorted", options->view_name);
  if (options->has_baseline)
    return fail(message, size, "view '%s' has exact times of idle threads: --idleness has no effect on it",
                options->view_name);
  if (options->max_rows && !timeline)
    return fail(message, size, "view '%s' cannot be shortened", options->view_name);
  if (options->max_rows && !text)
    return fail(message, size, "%s", "csv and json of the timeline are always complete: --max-rows needs text");
  return 0;
}

/* What explains a text, and what has no effect on a view. */
static int check_effects(const struct options *options, char *message, size_t size)
{
  static const bool by_baseline[OPTIONS_SOURCE + 1] = {
      [OPTIONS_SUMMARY] = true,       [OPTIONS_TOPDOWN] = true, [OPTIONS_BOTTOMUP] = true,  [OPTIONS_FLAT] = true,
      [OPTIONS_CRITICAL_PATH] = true, [OPTIONS_SOURCE] = true,  [OPTIONS_EFFICIENCY] = true};
  if (options->raw_names && options->format != OPTIONS_CSV)
    return fail(message, size, "%s", "--raw-names applies to CSV only: add -f csv, or leave it out");
  if (options->legend && options->format != OPTIONS_TEXT)
    return fail(message, size, "%s", "--legend explains the columns of a text report: other formats have no legend");
  if (options->legend && options->view == OPTIONS_ADVICE)
    return fail(message, size, "view '%s' has no columns: --legend has no effect on it", options->view_name);
  if (options->legend && (options->view == OPTIONS_MARKS || options->view == OPTIONS_USER_COUNTERS))
    return fail(message, size, "view '%s' has no legend: its columns are in hpcprof-lite(1)", options->view_name);
  if (options->has_baseline && !by_baseline[options->view])
    return fail(message, size,
                "view '%s' does not charge idleness to contexts: --idleness needs summary, topdown, bottomup, flat, "
                "critical-path, source or efficiency",
                options->view_name);
  return 0;
}

int consistency_check(struct options *options, char *message, size_t size)
{
  if (options->help || options->version)
    return 0;
  if (check_export(options, message, size) || check_profile(options, message, size) ||
      check_page(options, message, size))
    return ERR_INPUT;
  options->view_name = options_view_name(options->view);
  if (check_live(options, message, size))
    return ERR_INPUT;
  if (check_scaling(options, message, size))
    return ERR_INPUT;
  if (options->merge && options->directories_count < 2)
    return fail(message, size, "%s", "--merge adds up several runs: give two or more measurement directories");
  bool graph = options->view == OPTIONS_GRAIN_GRAPH;
  if (options->root_text && !graph && parse_root(options->root_text, options, message, size))
    return ERR_INPUT;
  if (check_graph(options, message, size) || check_comparison(options, message, size))
    return ERR_INPUT;
  bool regions = options->view == OPTIONS_REGIONS || options->view == OPTIONS_REGION_TREE;
  bool constructs = regions || options->view == OPTIONS_OVERHEADS || options->view == OPTIONS_TASKS;
  if (check_rows(options, constructs, message, size) || check_times(options, message, size) ||
      check_timeline(options, message, size) || check_source(options, message, size) ||
      check_effects(options, message, size))
    return ERR_INPUT;
  if (options->per_thread && !regions && !(options->view == OPTIONS_TIMELINE && options->format == OPTIONS_TEXT))
    return fail(message, size, "%s",
                "--per-thread has no effect on this report: it needs regions, region-tree, or the timeline as text");
  bool fixed = options->view == OPTIONS_SUMMARY || options->view == OPTIONS_EFFICIENCY ||
               options->view == OPTIONS_WHATIF || options->view == OPTIONS_SPEEDUP || options->view == OPTIONS_ADVICE ||
               options->view == OPTIONS_GRAINS || graph;
  fixed |= options->view == OPTIONS_MARKS || options->view == OPTIONS_USER_COUNTERS;
  bool scenarios = options->view == OPTIONS_WHATIF || options->view == OPTIONS_PARALLELISM;
  if (options->view != OPTIONS_GRAINS && !(graph && !options->grain_groups) &&
      (options->reference || options->grain_groups || options->limits_given))
    return fail(message, size, "view '%s' shows no grains: --reference, --grain-limit and --grain-groups need grains",
                options->view_name);
  if (options->scenarios_count && !scenarios)
    return fail(message, size, "view '%s' shows no scenarios: --what-if needs whatif or parallelism",
                options->view_name);
  if (options->scenarios_count > 1 && options->view == OPTIONS_PARALLELISM)
    return fail(message, size, "view '%s' shows one scenario: give --what-if once, or use whatif", options->view_name);
  if (fixed && (options->sort || options->max_rows) && !options->scaling)
    return fail(message, size, "view '%s' cannot be sorted or shortened", options->view_name);
  return 0;
}
