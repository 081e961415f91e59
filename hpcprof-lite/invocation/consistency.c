#include "hpcprof-lite/invocation/consistency.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { LIST_BYTES = 320 };

/* Something that is refused: whether it is asked for, and the words, with places for what write_words() knows. */
struct refusal {
  bool asked;
  const char *words;
};

/* Writes the words of a refusal. */
static void write_words(const struct options *options, const char *words, char *message, size_t size)
{
  const struct {
    const char *place, *text;
    enum options_trait trait; /* of the views that are listed */
  } places[] = {{"{view}", options_views[options->view].name, 0},
                {"{root}", options->root.text, 0},
                {"{base}", options->comparison.base, 0},
                {"{views with --scaling}", NULL, HAS_SCALING},
                {"{views with --compare}", NULL, HAS_COMPARE},
                {"{views with --root}", NULL, HAS_ROOT},
                {"{views with --depth}", NULL, HAS_DEPTH},
                {"{views with --percent-limit}", NULL, HAS_PERCENT},
                {"{formats}", NULL, 0}}; /* those that show the same */
  char list[LIST_BYTES];
  *message = '\0';
  for (size_t used = 0; *words && used + 1 < size;) {
    size_t i = 0, length = strcspn(words, "{");
    used += (size_t)snprintf(message + used, size - used, "%.*s", (int)length, words);
    words += length;
    if (!*words || used + 1 >= size)
      return;
    while (i < sizeof places / sizeof *places && strncmp(words, places[i].place, strlen(places[i].place)) != 0)
      i++;
    assert(i < sizeof places / sizeof *places);
    words += strlen(places[i].place);
    if (places[i].trait)
      options_list_views(places[i].trait, " or ", list, sizeof list);
    else
      options_list_formats(options_formats[options->format].shows, " and ", list, sizeof list);
    used += (size_t)snprintf(message + used, size - used, "%s", places[i].text ? places[i].text : list);
  }
}

static int refuse(const struct options *options, const struct refusal *refusals, size_t count, char *message,
                  size_t size)
{
  assert(message && size);
  for (size_t i = 0; i < count; i++)
    if (refusals[i].asked) {
      write_words(options, refusals[i].words, message, size);
      return ERR_INPUT;
    }
  return 0;
}

/* Refuses what is asked for among an array of refusals. */
#define REFUSE(refusals) refuse(options, refusals, sizeof(refusals) / sizeof *(refusals), message, size)

/* What cannot be used with an option, and why. */
struct conflict {
  bool given;
  const char *name, *why;
};

static int refuse_conflicts(const char *option, const struct conflict *conflicts, size_t count, char *message,
                            size_t size)
{
  for (size_t i = 0; i < count; i++)
    if (conflicts[i].given) {
      snprintf(message, size, "%s cannot be used with %s: %s", option, conflicts[i].name, conflicts[i].why);
      return ERR_INPUT;
    }
  return 0;
}

static int parse_root(struct options *options, char *message, size_t size)
{
  const char *wrong = selector_parse(options->root.text, &options->root.selector);
  options->root.given = true;
  if (!wrong)
    return 0;
  snprintf(message, size, "cannot use '--root %s': %s", options->root.text, wrong);
  return ERR_INPUT;
}

/* What formats can show that imply a view, or all views; takes that view. */
static int check_content(struct options *options, char *message, size_t size)
{
  assert(options->format < OPTIONS_FORMATS);
  static const enum options_view implied[] = {
      [SHOWS_CONTEXTS] = OPTIONS_TOPDOWN, [SHOWS_GRAPH] = OPTIONS_GRAIN_GRAPH, [SHOWS_TIMELINE] = OPTIONS_TIMELINE};
  enum options_content content = options_formats[options->format].shows;
  bool contexts = content == SHOWS_CONTEXTS, timeline = content == SHOWS_TIMELINE, page = content == SHOWS_PAGE;
  bool database = options_format_is(options, IS_DATABASE), omits = options->limits.percent >= 0;
  bool other_view = options->given[GIVEN_VIEW] && (page || contexts || timeline) && options->view != implied[content];
  if (database) /* which has these where they are asked for */
    other_view = options->views_given &
                 ~(1u << OPTIONS_TOPDOWN | 1u << OPTIONS_BOTTOMUP | 1u << OPTIONS_GRAINS | 1u << OPTIONS_TIMELINE);
  const struct refusal refusals[] = {
      {timeline && other_view, "view '{view}' is no timeline, which the formats {formats} show"},
      {timeline && (options->sort || options->limits.rows), "formats {formats} cannot be sorted or shortened"},
      {database && other_view,
       "format sqlite has all views: --view adds rows of bottomup, grains or timeline only; leave out view '{view}'"},
      {contexts && other_view, "formats {formats} show calling contexts: leave out view '{view}'"},
      {contexts && options->sort, "exports are in the order of the tree, and their viewers sort: leave out --sort"},
      {contexts && options->comparison.base, "exports show one run: --compare needs text, csv, json or html"},
      {contexts && options->comparison.metric && options->format != OPTIONS_FOLDED,
       "only format folded has one metric: other exports have all, without --metric"},
      {options_format_is(options, IS_DIRECTORY) && !options->output, "format otf2 is a directory: it needs --output"},
      {database && !options->output, "format sqlite is a database: it needs --output"},
      {database && (options->root.text || options->limits.depth || options->limits.rows || omits),
       "format sqlite has all contexts: leave out --root, --depth, --max-rows and --percent-limit, and restrict "
       "queries"},
      {database && options->comparison.conditions_count,
       "format sqlite has no conditions: check --fail-if by a call of its own"},
      {page && other_view, "format html shows all views: leave out view '{view}'"},
      {page && options->range.given, "format html shows whole runs: it cannot be used with --from and --to"},
      {page && options->comparison.conditions_count,
       "format html shows no conditions: check --fail-if by a call of its own"},
  };
  if (REFUSE(refusals))
    return ERR_INPUT;
  if (contexts || timeline || (content == SHOWS_GRAPH && !options->given[GIVEN_VIEW]))
    options->view = implied[content];
  options->lines |= options_format_is(options, IS_LINES) && contexts;
  return 0;
}

/* What --live can show, and what has no effect on it. */
static int check_live(const struct options *options, char *message, size_t size)
{
  const struct conflict conflicts[] = {
      {options->format != OPTIONS_TEXT, "--format", "the live view is a picture in the terminal"},
      {options->output, "--output", "the live view is a picture in the terminal"},
      {options->comparison.base, "--compare", "it shows one run"},
      {options->comparison.scaling, "--scaling", "it shows one run"},
      {options->input.merge, "--merge", "it shows one run"},
      {options->comparison.conditions_count, "--fail-if", "check conditions in a report, when the run has ended"},
      {options->scenarios.count, "--what-if", "scenarios need a run that has ended"},
      {options->range.given, "--from and --to", "it shows the run up to now"},
      {options->root.text, "--root", "it shows the whole program"},
      {options->lines, "--lines", "it shows functions and contexts"},
      {options->sort, "--sort", "key r sorts"},
      {options->columns, "--columns", "its pages have columns of their own"},
      {options->limits.rows, "--max-rows", "it scrolls"},
      {options->limits.depth, "--depth", "it scrolls"},
      {options->limits.percent >= 0, "--percent-limit", "it scrolls"},
      {options->per_thread, "--per-thread", "key 4 shows the threads"},
      {options->legend, "--legend", "key ? explains"},
      {options->index, "--index", "an index needs a run that has ended"},
      {options->given[GIVEN_THREADS], "-j", "files that change are read one after another"},
  };
  const struct refusal refusals[] = {{!options_view_has(options, HAS_LIVE),
                                      "view '{view}' has no --live: it needs summary, flat, topdown or threads"}};
  if (!options->live)
    return 0;
  if (refuse_conflicts("--live", conflicts, sizeof conflicts / sizeof *conflicts, message, size))
    return ERR_INPUT;
  return REFUSE(refusals);
}

/* What --scaling can show, and what has no effect on it. */
static int check_scaling(const struct options *options, char *message, size_t size)
{
  enum options_content content = options_formats[options->format].shows;
  const struct refusal refusals[] = {
      {!options->input.count,
       "--scaling needs the runs: the directory of hpcrun-lite --scaling, or several measurements"},
      {!options_view_has(options, HAS_SCALING), "view '{view}' has no --scaling: it needs {views with --scaling}"},
      {content != SHOWS_VIEWS && content != SHOWS_PAGE, "--scaling needs format text, csv, json or html"},
  };
  const struct conflict conflicts[] = {
      {options->comparison.base, "--compare", "--scaling compares runs with each other"},
      {options->comparison.conditions_count, "--fail-if", "check conditions with --compare, or in a report of one run"},
      {options->input.merge, "--merge", "--scaling keeps runs apart"},
      {options->range.given, "--from and --to", "--scaling compares whole runs"},
      {options->scenarios.count, "--what-if", "--scaling shows what was measured"},
      {options->per_thread, "--per-thread", "--scaling shows sums over threads"},
      {options->given[GIVEN_IDLENESS], "--idleness", "--scaling counts idleness against the threads of each run"},
      {options->root.text, "--root", "--scaling shows the contexts of the whole program"},
      {options->lines, "--lines", "--scaling shows functions and constructs"},
      {options->sort, "--sort", "contexts are in the order of what they lose on more threads"},
      {options->columns, "--columns", "its columns are those of the series"},
      {options->limits.depth, "--depth", "contexts are in the order of what they lose; use --max-rows"},
      {options->limits.percent >= 0, "--percent-limit", "contexts are in the order of what they lose; use --max-rows"},
  };
  if (!options->comparison.scaling)
    return 0;
  if (REFUSE(refusals))
    return ERR_INPUT;
  return refuse_conflicts("--scaling", conflicts, sizeof conflicts / sizeof *conflicts, message, size);
}

/* What only the graph of grains has, and what needs conditions or a comparison. */
static int check_graph(const struct options *options, char *message, size_t size)
{
  bool graph = options->view == OPTIONS_GRAIN_GRAPH, drawn = options_formats[options->format].shows == SHOWS_GRAPH;
  bool checks = options_formats[options->format].shows == SHOWS_CHECKS;
  const struct refusal refusals[] = {
      {!graph &&
           (options->given[GIVEN_MAX_NODES] || options->grains.unreduced || options->given[GIVEN_COLOUR] || drawn),
       "view '{view}' is not drawn: --max-nodes, --unreduced, --colour, graphml and dot need grain-graph"},
      {graph && !drawn && options->format != OPTIONS_JSON,
       "view '{view}' is a drawing: it needs -f graphml, dot or json"},
      {options->grains.unreduced && options->given[GIVEN_MAX_NODES],
       "--unreduced folds nothing: --max-nodes has no effect"},
      {options->format == OPTIONS_JUNIT && !options->comparison.conditions_count,
       "format junit has a test for each --fail-if: give at least one"},
      {options->format == OPTIONS_MARKDOWN && !options->comparison.conditions_count && !options->comparison.base,
       "format markdown shows a comparison: give --compare or --fail-if"},
      {checks && options->view != OPTIONS_SUMMARY, "formats {formats} show the summary, not view '{view}'"},
  };
  return REFUSE(refusals);
}

/* What can be compared, and what only a comparison has. */
static int check_comparison(const struct options *options, char *message, size_t size)
{
  bool compares = options->comparison.base, column = compares && options->view != OPTIONS_SUMMARY;
  const struct refusal metric[] = {{options->comparison.metric && options->format != OPTIONS_FOLDED && !column,
                                    "--metric is the column to compare or fold: it needs --compare and topdown, "
                                    "bottomup, flat, regions, overheads, tasks, parallelism or threads; or -f folded"}};
  const struct refusal refusals[] = {
      {!options->input.count, "--compare '{base}' needs the runs to compare to it: --compare BASE DIR"},
      {options->input.merge, "--compare keeps runs apart: it cannot be used with --merge"},
      {!options_view_has(options, HAS_COMPARE), "view '{view}' cannot be compared: use {views with --compare}"},
      {options->range.given, "--compare compares whole runs: it cannot be used with --from and --to"},
      {options->scenarios.count, "--compare compares what was measured: it cannot be used with --what-if"},
      {options->per_thread, "--compare compares sums over threads: it cannot be used with --per-thread"},
      {options->columns && options->format == OPTIONS_TEXT,
       "text of a comparison shows what --metric chooses: --columns needs -f csv or json"},
      {options->root.text && options->root.selector.is_id,
       "cannot use '--root {root}' with --compare: the same context has another id in each run"},
  };
  if (REFUSE(metric))
    return ERR_INPUT;
  if (!compares)
    return 0;
  return REFUSE(refusals);
}

/* What only views of trees have, and views whose rows can be omitted. */
static int check_rows(const struct options *options, char *message, size_t size)
{
  bool lines = options->lines && !options_view_has(options, HAS_LINES);
  bool root = options->root.given && !options_view_has(options, HAS_ROOT);
  bool one_tree = (options->view == OPTIONS_TOPDOWN || options->view == OPTIONS_CRITICAL_PATH) &&
                  options->format != OPTIONS_HTML && !options->comparison.base && !options->comparison.scaling &&
                  !options->live;
  const struct refusal refusals[] = {
      {options->collapse_recursion && !one_tree,
       "--collapse-recursion joins contexts of one run: it needs view topdown or critical-path, without --compare, "
       "--scaling, --live and -f html"},
      {lines && options->view == OPTIONS_SOURCE, "view 'source' always shows lines: --lines has no effect on it"},
      {lines || root,
       "view '{view}' shows no functions: --root needs {views with --root}, and --lines one of the first four"},
      {options->limits.depth && !options_view_has(options, HAS_DEPTH),
       "view '{view}' has no levels: --depth needs {views with --depth}"},
      {options->limits.percent >= 0 && !options_view_has(options, HAS_PERCENT),
       "view '{view}' omits no light rows: --percent-limit needs {views with --percent-limit}"},
  };
  return REFUSE(refusals);
}

static int check_times(const struct options *options, char *message, size_t size)
{
  if (options->range.given && options->range.from_ns >= options->range.to_ns) {
    snprintf(message, size, "--from %.9g is not before --to %.9g", (double)options->range.from_ns / 1e9,
             (double)options->range.to_ns / 1e9);
    return ERR_INPUT;
  }
  return 0;
}

/* Whether the report reads symbols: conditions and comparisons do for each view. */
static bool reads_symbols(const struct options *options)
{
  return options_view_has(options, HAS_TREE) || options_formats[options->format].shows != SHOWS_VIEWS ||
         options->live || options->comparison.base || options->comparison.conditions_count;
}

/* What the views on the axis of time and that of source lines can do. */
static int check_order(const struct options *options, char *message, size_t size)
{
  bool timeline = options->view == OPTIONS_TIMELINE, text = options->format == OPTIONS_TEXT;
  bool time = options_view_has(options, HAS_TIME), lanes = options->given[GIVEN_LANES];
  bool source = options->view == OPTIONS_SOURCE, symbols = reads_symbols(options);
  const struct refusal refusals[] = {
      {options->range.given && options->grains.reference,
       "--reference compares whole runs: it cannot be used with --from and --to"},
      {lanes && !timeline, "view '{view}' has no lines for threads: --lanes needs timeline"},
      {lanes && !text && options->format != OPTIONS_JSON,
       "--lanes joins lines of text or json: other formats have each thread"},
      {options->index && !timeline, "view '{view}' stores no index: use --view timeline --index"},
      {time && options->input.count > 1, "view '{view}' shows one run: give one measurement directory"},
      {time && options->sort, "view '{view}' is in the order of time: it cannot be sorted"},
      {time && options->given[GIVEN_IDLENESS],
       "view '{view}' has exact times of idle threads: --idleness has no effect on it"},
      {time && options->limits.rows && !timeline, "view '{view}' cannot be shortened"},
      {time && options->limits.rows && !text,
       "csv and json of the timeline are always complete: --max-rows needs text"},
      {options->sources && options->format != OPTIONS_HTML,
       "--sources embeds source lines in a page: it needs -f html"},
      {options->source_paths.count && options->format == OPTIONS_HTML && !options->sources,
       "the page holds no source text: --source-path needs --sources"},
      {options->source_paths.count && !source && !options->sources,
       "view '{view}' shows no source text: --source-path needs source"},
      {options->debuginfod && !symbols, "view '{view}' shows no functions: --debuginfod has no effect on it"},
      {options->python_frames && options->live, "the live view shows no functions of the Python interpreter"},
      {options->python_frames && !symbols, "view '{view}' shows no functions: --python-frames has no effect on it"},
      {options->symbols.count && !symbols, "view '{view}' shows no functions: --symbols has no effect on it"},
      {source && options->sort, "view 'source' is in the order of lines: it cannot be sorted"},
      {source && options->limits.rows && !text,
       "csv and json of source lines are always complete: --max-rows needs text"},
      {source && options->root.given && (options->root.selector.is_id || options->root.selector.is_region),
       "view 'source' shows functions, files and lines, not '--root {root}': give the name of one"},
  };
  return REFUSE(refusals);
}

/* What has no effect on a view. */
static int check_effects(const struct options *options, char *message, size_t size)
{
  bool grains = options->view == OPTIONS_GRAINS, graph = options->view == OPTIONS_GRAIN_GRAPH;
  bool grain_options = options->grains.reference || options->grains.groups || options->given[GIVEN_GRAIN_LIMIT];
  bool rows = (options->sort && !options_view_has(options, HAS_SORT)) ||
              (options->limits.rows && !options_view_has(options, HAS_ROWS));
  const struct refusal refusals[] = {
      {options->columns && (options_formats[options->format].shows != SHOWS_VIEWS || graph),
       "--columns chooses columns of a view: it needs format text, csv or json, and not grain-graph"},
      {options->columns && options->format == OPTIONS_TEXT && !options_view_has(options, HAS_COLUMNS),
       "view '{view}' is no table as text: --columns needs -f csv or json"},
      {options->no_header && options->format != OPTIONS_CSV,
       "--no-header applies to CSV only: add -f csv, or leave it out"},
      {options->raw_names && options->format != OPTIONS_CSV,
       "--raw-names applies to CSV only: add -f csv, or leave it out"},
      {options->legend && options->format != OPTIONS_TEXT,
       "--legend explains the columns of a text report: other formats have no legend"},
      {options->legend && options->view == OPTIONS_ADVICE,
       "view '{view}' has no columns: --legend has no effect on it"},
      {options->legend && !options_view_has(options, HAS_LEGEND),
       "view '{view}' has no legend: its columns are in hpcprof-lite(1)"},
      {options->given[GIVEN_IDLENESS] && !options_view_has(options, HAS_IDLENESS),
       "view '{view}' does not charge idleness to contexts: --idleness needs summary, topdown, bottomup, flat, "
       "critical-path, source or efficiency"},
      {options->per_thread && !options_view_has(options, HAS_PER_THREAD) &&
           !(options->view == OPTIONS_TIMELINE && options->format == OPTIONS_TEXT),
       "--per-thread has no effect on this report: it needs regions, region-tree, or the timeline as text"},
      {grain_options && !grains && !(graph && !options->grains.groups),
       "view '{view}' shows no grains: --reference, --grain-limit and --grain-groups need grains"},
      {options->scenarios.count && !options_view_has(options, HAS_SCENARIOS),
       "view '{view}' shows no scenarios: --what-if needs whatif or parallelism"},
      {options->scenarios.count > 1 && options->view == OPTIONS_PARALLELISM,
       "view '{view}' shows one scenario: give --what-if once, or use whatif"},
      {rows && !options->comparison.scaling, "view '{view}' cannot be sorted or shortened"},
  };
  return REFUSE(refusals);
}

int consistency_check(struct options *options, char *message, size_t size)
{
  assert(message && size);
  const struct refusal merge[] = {{options->input.merge && options->input.count < 2,
                                   "--merge adds up several runs: give two or more measurement directories"}};
  if (options->help || options->version)
    return 0;
  if (check_content(options, message, size) || check_live(options, message, size) ||
      check_scaling(options, message, size) || REFUSE(merge))
    return ERR_INPUT;
  options->view_name = options_views[options->view].name;
  if (options->root.text && options->view != OPTIONS_GRAIN_GRAPH && parse_root(options, message, size))
    return ERR_INPUT;
  if (check_graph(options, message, size))
    return ERR_INPUT;
  for (uint32_t i = 0; i < options->comparison.conditions_count; i++)
    if (condition_misuse(&options->comparison.conditions[i], options->comparison.base, message, size))
      return ERR_INPUT;
  if (check_comparison(options, message, size) || check_rows(options, message, size) ||
      check_times(options, message, size) || check_order(options, message, size))
    return ERR_INPUT;
  return check_effects(options, message, size);
}
