#include "hpcprof-lite/options.h"

#include "common/array.h"
#include "common/escape.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

enum long_only {
  OPT_VIEW = 256,
  OPT_IDLENESS,
  OPT_WHAT_IF,
  OPT_LINES,
  OPT_ROOT,
  OPT_SORT,
  OPT_COLUMNS,
  OPT_PERCENT,
  OPT_ROWS,
  OPT_DEPTH,
  OPT_PER_THREAD,
  OPT_LEGEND,
  OPT_REFERENCE,
  OPT_GRAIN_LIMIT,
  OPT_GRAIN_GROUPS,
  OPT_MAX_NODES,
  OPT_UNREDUCED,
  OPT_COLOUR,
  OPT_FROM,
  OPT_LANES,
  OPT_INDEX,
  OPT_TO,
  OPT_VERSION,
  OPT_MERGE,
  OPT_NO_PAGER,
  OPT_COMPARE,
  OPT_FAIL_IF,
  OPT_METRIC,
  OPT_SCALING,
  OPT_SOURCES,
  OPT_LIVE,
  OPT_RAW_NAMES
};

static const struct option long_options[] = {
    {"view", required_argument, NULL, OPT_VIEW},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"idleness", required_argument, NULL, OPT_IDLENESS},
    {"what-if", required_argument, NULL, OPT_WHAT_IF},
    {"lines", no_argument, NULL, OPT_LINES},
    {"root", required_argument, NULL, OPT_ROOT},
    {"sort", required_argument, NULL, OPT_SORT},
    {"columns", required_argument, NULL, OPT_COLUMNS},
    {"percent-limit", required_argument, NULL, OPT_PERCENT},
    {"max-rows", required_argument, NULL, OPT_ROWS},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"per-thread", no_argument, NULL, OPT_PER_THREAD},
    {"legend", no_argument, NULL, OPT_LEGEND},
    {"reference", required_argument, NULL, OPT_REFERENCE},
    {"grain-limit", required_argument, NULL, OPT_GRAIN_LIMIT},
    {"grain-groups", no_argument, NULL, OPT_GRAIN_GROUPS},
    {"max-nodes", required_argument, NULL, OPT_MAX_NODES},
    {"unreduced", no_argument, NULL, OPT_UNREDUCED},
    {"colour", required_argument, NULL, OPT_COLOUR},
    {"index", no_argument, NULL, OPT_INDEX},
    {"lanes", required_argument, NULL, OPT_LANES},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"merge", no_argument, NULL, OPT_MERGE},
    {"no-pager", no_argument, NULL, OPT_NO_PAGER},
    {"compare", required_argument, NULL, OPT_COMPARE},
    {"fail-if", required_argument, NULL, OPT_FAIL_IF},
    {"metric", required_argument, NULL, OPT_METRIC},
    {"scaling", no_argument, NULL, OPT_SCALING},
    {"sources", no_argument, NULL, OPT_SOURCES},
    {"live", no_argument, NULL, OPT_LIVE},
    {"raw-names", no_argument, NULL, OPT_RAW_NAMES},
    {"source-path", required_argument, NULL, 'I'},
    {"threads", required_argument, NULL, 'j'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char *const view_names[] = {[OPTIONS_SUMMARY] = "summary",
                                         [OPTIONS_TOPDOWN] = "topdown",
                                         [OPTIONS_BOTTOMUP] = "bottomup",
                                         [OPTIONS_FLAT] = "flat",
                                         [OPTIONS_THREADS] = "threads",
                                         [OPTIONS_EFFICIENCY] = "efficiency",
                                         [OPTIONS_PARALLELISM] = "parallelism",
                                         [OPTIONS_CRITICAL_PATH] = "critical-path",
                                         [OPTIONS_WHATIF] = "whatif",
                                         [OPTIONS_SPEEDUP] = "speedup",
                                         [OPTIONS_REGIONS] = "regions",
                                         [OPTIONS_REGION_TREE] = "region-tree",
                                         [OPTIONS_OVERHEADS] = "overheads",
                                         [OPTIONS_TASKS] = "tasks",
                                         [OPTIONS_TIMELINE] = "timeline",
                                         [OPTIONS_PHASES] = "phases",
                                         [OPTIONS_ADVICE] = "advice",
                                         [OPTIONS_GRAINS] = "grains",
                                         [OPTIONS_GRAIN_GRAPH] = "grain-graph",
                                         [OPTIONS_MARKS] = "marks",
                                         [OPTIONS_USER_COUNTERS] = "user-counters",
                                         [OPTIONS_SOURCE] = "source"};

const char *options_view_name(enum options_view view)
{
  return view_names[view];
}

static const char help_text[] = "Usage: hpcprof-lite [OPTION]... [VIEW] [DIR]...\n"
                                "Report what hpcrun-lite has measured into DIR; without DIR, into the newest\n"
                                "measurement directory in the current one.\n"
                                "\n"
                                "      --view VIEW         summary (default), topdown, bottomup, flat, threads,\n"
                                "                          efficiency, parallelism, critical-path, whatif,\n"
                                "                          speedup, regions, region-tree, overheads, tasks,\n"
                                "                          grains, grain-graph, timeline, phases, marks,\n"
                                "                          user-counters, advice or source\n"
                                "  -f, --format FORMAT     text (default), csv or json; html: all views in one\n"
                                "                          page; for other tools folded, speedscope, pprof,\n"
                                "                          callgrind, hatchet (contexts) or sqlite (all views);\n"
                                "                          of grain-graph graphml, dot or json; of timeline\n"
                                "                          also perfetto, firefox or otf2; with --compare or\n"
                                "                          --fail-if also markdown or junit\n"
                                "  -o, --output FILE       write the report to FILE (otf2: to that new directory)\n"
                                "      --idleness WHICH    count idleness against the most threads ever in use\n"
                                "                          (thread, the default), the cores (core), or only the\n"
                                "                          threads inside parallel regions (shared)\n"
                                "      --what-if SELECTOR=FACTOR[,...]\n"
                                "                          scenario of the whatif or parallelism view: the code\n"
                                "                          that SELECTOR names (see --root; also @NAME) runs\n"
                                "                          FACTOR times as fast; repeatable in whatif\n"
                                "      --lines             show source lines as rows below their function\n"
                                "      --root SELECTOR     show only what is called from FUNCTION, FILE:LINE,\n"
                                "                          FILE:FROM-TO, or #ID (id of a topdown row); in\n"
                                "                          grain-graph what is below the grain with that path; in\n"
                                "                          source the lines of FUNCTION, FILE or FILE:LINES\n"
                                "      --sort COLUMN       sort by a column, named as in the CSV output, or by a\n"
                                "                          part of its name\n"
                                "      --percent-limit P   omit rows below P percent of all threads' time\n"
                                "                          (default: 0.5 in text of trees and regions, else 0)\n"
                                "      --max-rows N        show only the N heaviest rows\n"
                                "      --depth N           show only N levels below the root\n"
                                "      --from TIME         show only what happened from TIME (1.5, 1500ms, 20us)\n"
                                "                          of the run on (needs hpcrun-lite -t; -p log for\n"
                                "                          parallelism, critical-path, whatif, speedup, grains\n"
                                "                          and grain-graph)\n"
                                "      --to TIME           show only what happened before TIME\n"
                                "      --per-thread        rows for each thread in regions, region-tree (CSV and\n"
                                "                          JSON always have them) and in the timeline as text\n"
                                "      --index             store an index of the trace in DIR, with which the\n"
                                "                          timeline is drawn at once from then on\n"
                                "      --lanes WHICH       a line of the timeline for each thread (default),\n"
                                "                          process or node\n"
                                "      --grain-groups      show groups of grains in csv and json, as text does\n"
                                "      --grain-limit NAME=VALUE\n"
                                "                          what is a problem of a grain: parallel_benefit,\n"
                                "                          instantaneous_parallelism, scatter,\n"
                                "                          memory_utilisation, work_deviation, load_balance\n"
                                "      --reference DIR     compare each grain's work to the same one's in DIR\n"
                                "      --max-nodes N       fold the graph of grains to N nodes (default: 2000)\n"
                                "      --unreduced         show all fragments of grains, and fold nothing\n"
                                "      --colour METRIC     colour the grain graph by a metric of --grain-limit\n"
                                "      --sources           html: embed the source lines that cost time\n"
                                "  -I, --source-path DIR   where else to look for source files (repeatable)\n"
                                "      --compare BASE[,BASE...]\n"
                                "                          compare the runs in DIR... to those in BASE: summary,\n"
                                "                          topdown, bottomup, flat, regions, parallelism, threads\n"
                                "      --metric COLUMN     compare that column, named as in the CSV output; with\n"
                                "                          -f folded write that metric\n"
                                "      --fail-if 'METRIC [of SELECTOR] >|< LIMIT'\n"
                                "                          exit with status 3 if that holds; LIMIT: +5% (against\n"
                                "                          BASE), 70%, 2.5 s, 1000 and the like; repeatable\n"
                                "      --scaling           show how the program scales over the runs in DIR...,\n"
                                "                          which hpcrun-lite --scaling has measured; with view\n"
                                "                          flat, by function instead of calling context\n"
                                "      --live              follow the measurement in the terminal while it grows:\n"
                                "                          summary (the first page), flat, topdown or threads;\n"
                                "                          key ? explains, q quits\n"
                                "      --legend            explain the columns of a text report\n"
                                "      --raw-names         csv: put no ' before names that spreadsheets could\n"
                                "                          take for formulas\n"
                                "      --merge             add up several runs, if DIRs are different ones\n"
                                "      --no-pager          do not show text on a terminal with $PAGER (less)\n"
                                "  -j, --threads N         use N threads (default: one for each core)\n"
                                "  -q, --quiet             print only errors\n"
                                "  -v, --verbose           print how many files are read\n"
                                "      --version           print the version\n"
                                "  -h, --help              print this help\n"
                                "\n"
                                "Exit status: 0; 1 if some input was unusable; 2 for a wrong command line; 3 if\n"
                                "a --fail-if holds.\n";

const char *options_help(void)
{
  return help_text;
}

static int fail(char *message, size_t size, const char *text, const char *value)
{
  snprintf(message, size, text, value);
  return ERR_INPUT;
}

/* How many characters must be inserted, removed or replaced to make one word the other; of long words, many. */
static unsigned edits(const char *word, const char *other)
{
  enum { LONGEST = 24 };
  unsigned row[LONGEST + 1];
  size_t length = strlen(other);
  if (length > LONGEST)
    return LONGEST;
  for (size_t i = 0; i <= length; i++)
    row[i] = (unsigned)i;
  for (unsigned line = 1; *word; word++, line++) {
    unsigned corner = row[0];
    row[0] = line;
    for (size_t i = 1; i <= length; i++) {
      unsigned replaced = corner + (*word != other[i - 1]), least = row[i] < row[i - 1] ? row[i] : row[i - 1];
      corner = row[i];
      row[i] = replaced < least + 1 ? replaced : least + 1;
    }
  }
  return row[length];
}

/* A view whose name differs by at most two characters, and by less than half of it; NULL if there is none. */
static const char *similar_view(const char *name)
{
  const char *nearest = NULL;
  unsigned least = 3;
  for (size_t i = 0; i < sizeof view_names / sizeof *view_names; i++) {
    unsigned distance = edits(name, view_names[i]);
    if (distance >= least || 2 * distance >= strlen(view_names[i]))
      continue;
    least = distance;
    nearest = view_names[i];
  }
  return nearest;
}

static int parse_view(const char *name, struct options *options, char *message, size_t size)
{
  for (size_t i = 0; i < sizeof view_names / sizeof *view_names; i++) {
    if (strcmp(name, view_names[i]))
      continue;
    options->view = (enum options_view)i;
    options->has_view = true;
    return 0;
  }
  const char *similar = similar_view(name);
  if (similar) {
    snprintf(message, size, "there is no view '%s': did you mean '%s'?", name, similar);
    return ERR_INPUT;
  }
  return fail(message, size,
              "there is no view '%s': one of summary, topdown, bottomup, flat, threads, efficiency, "
              "parallelism, critical-path, whatif, speedup, regions, region-tree, overheads, tasks, grains, "
              "grain-graph, timeline, phases, marks, user-counters, advice, source",
              name);
}

static int parse_format(const char *name, struct options *options, char *message, size_t size)
{
  static const char *const formats[] = {[OPTIONS_TEXT] = "text",
                                        [OPTIONS_CSV] = "csv",
                                        [OPTIONS_JSON] = "json",
                                        [OPTIONS_GRAPHML] = "graphml",
                                        [OPTIONS_DOT] = "dot",
                                        [OPTIONS_PERFETTO] = "perfetto",
                                        [OPTIONS_FIREFOX] = "firefox",
                                        [OPTIONS_OTF2] = "otf2",
                                        [OPTIONS_MARKDOWN] = "markdown",
                                        [OPTIONS_JUNIT] = "junit",
                                        [OPTIONS_HTML] = "html",
                                        [OPTIONS_FOLDED] = "folded",
                                        [OPTIONS_SPEEDSCOPE] = "speedscope",
                                        [OPTIONS_PPROF] = "pprof",
                                        [OPTIONS_CALLGRIND] = "callgrind",
                                        [OPTIONS_HATCHET] = "hatchet",
                                        [OPTIONS_SQLITE] = "sqlite"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(name, formats[i]))
      continue;
    options->format = (enum options_format)i;
    return 0;
  }
  return fail(message, size,
              "there is no format '%s': one of text, csv, json, html, folded, speedscope, pprof, callgrind, hatchet, "
              "sqlite, graphml, dot, perfetto, firefox, otf2, markdown, junit",
              name);
}

static int parse_baseline(const char *name, enum profile_baseline *baseline, char *message, size_t size)
{
  static const char *const names[] = {
      [BASELINE_THREAD] = "thread", [BASELINE_CORE] = "core", [BASELINE_SHARED] = "shared"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]))
      continue;
    *baseline = (enum profile_baseline)i;
    return 0;
  }
  return fail(message, size, "option '--idleness' needs thread, core or shared, not '%s'", name);
}

static int parse_lanes(const char *name, struct options *options, char *message, size_t size)
{
  static const char *const names[] = {
      [TIMELINE_THREADS] = "thread", [TIMELINE_PROCESSES] = "process", [TIMELINE_NODES] = "node"};
  options->has_lanes = true;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    options->lanes = (enum timeline_grouping)i;
    if (!strcmp(name, names[i]))
      return 0;
  }
  return fail(message, size, "option '--lanes' needs thread, process or node, not '%s'", name);
}

static int parse_count(const char *option, const char *text, uint32_t *value, char *message, size_t size)
{
  char *end = NULL;
  errno = 0;
  unsigned long long parsed = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
  if (!end || *end || errno || parsed == 0 || parsed > UINT32_MAX) {
    snprintf(message, size, "option '%s' needs a whole number from 1, not '%s'", option, text);
    return ERR_INPUT;
  }
  *value = (uint32_t)parsed;
  return 0;
}

static int parse_percent(const char *text, double *percent, char *message, size_t size)
{
  char *end;
  double parsed = strtod(text, &end);
  if (!*text || *end || !isfinite(parsed) || parsed < 0 || parsed > 100)
    return fail(message, size, "option '--percent-limit' needs a number from 0 to 100, not '%s'", text);
  *percent = parsed;
  return 0;
}

static int parse_what_if(const char *text, struct options *options, char *message, size_t size)
{
  const char *wrong;
  uint32_t count = options->scenarios_count;
  if (!array_reserve(&options->scenarios, &options->scenarios_room, (size_t)count + 1, sizeof *options->scenarios))
    return fail(message, size, "%s", "not enough memory");
  options->scenarios_count++;
  if (!scenario_parse(text, &options->scenarios[count], &wrong))
    return 0;
  snprintf(message, size, "cannot use '--what-if %s': %s", text, wrong ? wrong : "not enough memory");
  return ERR_INPUT;
}

static int parse_condition(const char *text, struct options *options, char *message, size_t size)
{
  const char *wrong;
  uint32_t count = options->conditions_count;
  if (!array_reserve(&options->conditions, &options->conditions_room, (size_t)count + 1, sizeof *options->conditions))
    return fail(message, size, "%s", "not enough memory");
  options->conditions_count++;
  int status = condition_parse(text, &options->conditions[count], &wrong);
  if (!status)
    return 0;
  snprintf(message, size, "cannot use --fail-if '%s': %s", text, status == ERR_INPUT ? wrong : "not enough memory");
  return ERR_INPUT;
}

static int parse_grain_limit(const char *text, struct options *options, char *message, size_t size)
{
  options->limits_given = true;
  if (grain_limits_parse(text, &options->grain_limits))
    return 0;
  return fail(message, size,
              "option '--grain-limit' needs NAME=VALUE, not '%s': a number from 0 for parallel_benefit, "
              "instantaneous_parallelism, scatter, memory_utilisation, work_deviation or load_balance",
              text);
}

static int parse_colour(const char *name, struct options *options, char *message, size_t size)
{
  options->has_colour = true;
  for (unsigned i = 0; i < GRAIN_METRICS; i++) {
    options->colour = (enum grain_metric)i;
    if (!strcmp(name, grain_metric_names[i]))
      return 0;
  }
  return fail(message, size,
              "option '--colour' needs parallel_benefit, instantaneous_parallelism, scatter, memory_utilisation, "
              "work_deviation or load_balance, not '%s'",
              name);
}

static int add_source_path(const char *path, struct options *options, char *message, size_t size)
{
  if (!array_reserve(&options->source_paths, &options->source_paths_room, (size_t)options->source_paths_count + 1,
                     sizeof *options->source_paths))
    return fail(message, size, "%s", "not enough memory");
  options->source_paths[options->source_paths_count++] = path;
  return *path ? 0 : fail(message, size, "option '%s' needs a directory", "--source-path");
}

static int parse_threads(const char *text, struct options *options, char *message, size_t size)
{
  uint32_t count;
  if (parse_count("-j", text, &count, message, size))
    return ERR_INPUT;
  options->has_threads = true;
  options->threads = count < THREADS_MAX ? count : THREADS_MAX;
  return 0;
}

/* Parses a time such as 1.5, 1.5s, 1500ms or 20us. */
static int parse_time(const char *option, const char *text, uint64_t *ns, char *message, size_t size)
{
  static const struct {
    const char *suffix;
    double ns;
  } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
  char *end = NULL;
  bool number = isdigit((unsigned char)*text) || *text == '.';
  double parsed = number ? strtod(text, &end) : 0;
  for (size_t i = 0; i < sizeof units / sizeof *units && end != text && end; i++)
    if (!strcmp(end, units[i].suffix) && parsed * units[i].ns < 1e18) {
      *ns = model_rounded(parsed * units[i].ns);
      return 0;
    }
  snprintf(message, size,
           "option '%s' needs a time since the start of the run, such as 1.5, 1.5s, 1500ms or 20us, not '%s'", option,
           text);
  return ERR_INPUT;
}

/* Takes an option that sets a flag or keeps its text.  Returns whether it is one. */
static bool take_plain(int option, struct options *options)
{
  const struct {
    int option;
    bool *flag;
    const char **text;
  } plain[] = {{OPT_LINES, .flag = &options->lines},
               {OPT_PER_THREAD, .flag = &options->per_thread},
               {OPT_LEGEND, .flag = &options->legend},
               {OPT_MERGE, .flag = &options->merge},
               {OPT_SCALING, .flag = &options->scaling},
               {OPT_SOURCES, .flag = &options->sources},
               {OPT_LIVE, .flag = &options->live},
               {OPT_RAW_NAMES, .flag = &options->raw_names},
               {OPT_NO_PAGER, .flag = &options->no_pager},
               {OPT_GRAIN_GROUPS, .flag = &options->grain_groups},
               {OPT_UNREDUCED, .flag = &options->unreduced},
               {OPT_INDEX, .flag = &options->index},
               {'q', .flag = &options->quiet},
               {'v', .flag = &options->verbose},
               {'h', .flag = &options->help},
               {OPT_VERSION, .flag = &options->version},
               {OPT_REFERENCE, .text = &options->reference},
               {OPT_COMPARE, .text = &options->compare},
               {OPT_METRIC, .text = &options->metric},
               {OPT_ROOT, .text = &options->root_text},
               {OPT_SORT, .text = &options->sort},
               {OPT_COLUMNS, .text = &options->columns}};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    if (plain[i].option != option)
      continue;
    if (plain[i].flag)
      *plain[i].flag = true;
    else
      *plain[i].text = optarg;
    return true;
  }
  return false;
}

static int parse_option(int option, struct options *options, char *message, size_t size)
{
  bool names = option == OPT_ROOT || option == OPT_SORT || option == OPT_COLUMNS || option == OPT_METRIC || option == OPT_WHAT_IF ||
               option == OPT_FAIL_IF;
  if (names) /* of the program, as CSV shows them */
    escape_undo(optarg);
  if (take_plain(option, options))
    return 0;
  switch (option) {
  case OPT_VIEW:
    return parse_view(optarg, options, message, size);
  case 'f':
    return parse_format(optarg, options, message, size);
  case 'o':
    options->output = optarg;
    return *optarg ? 0 : fail(message, size, "option '%s' needs the name of a file", "--output");
  case OPT_GRAIN_LIMIT:
    return parse_grain_limit(optarg, options, message, size);
  case OPT_MAX_NODES:
    return parse_count("--max-nodes", optarg, &options->max_nodes, message, size);
  case OPT_COLOUR:
    return parse_colour(optarg, options, message, size);
  case OPT_LANES:
    return parse_lanes(optarg, options, message, size);
  case OPT_FROM:
    options->limited = true;
    return parse_time("--from", optarg, &options->from_ns, message, size);
  case OPT_TO:
    options->limited = true;
    return parse_time("--to", optarg, &options->to_ns, message, size);
  case OPT_FAIL_IF:
    return parse_condition(optarg, options, message, size);
  case OPT_PERCENT:
    return parse_percent(optarg, &options->percent_limit, message, size);
  case OPT_ROWS:
    return parse_count("--max-rows", optarg, &options->max_rows, message, size);
  case OPT_DEPTH:
    return parse_count("--depth", optarg, &options->depth, message, size);
  case 'j':
    return parse_threads(optarg, options, message, size);
  case OPT_IDLENESS:
    options->has_baseline = true;
    return parse_baseline(optarg, &options->baseline, message, size);
  case OPT_WHAT_IF:
    return parse_what_if(optarg, options, message, size);
  default:
    return add_source_path(optarg, options, message, size);
  }
}

/* Cores that this process may use. */
static unsigned cores(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set))
    return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

bool options_of_log(const struct options *options)
{
  return options->view == OPTIONS_PARALLELISM || options->view == OPTIONS_CRITICAL_PATH ||
         options->view == OPTIONS_WHATIF || options->view == OPTIONS_SPEEDUP || options->view == OPTIONS_GRAINS ||
         options->view == OPTIONS_GRAIN_GRAPH;
}

bool options_of_profile(const struct options *options)
{
  return options->format >= OPTIONS_FOLDED && options->format <= OPTIONS_SQLITE;
}

bool options_lines_are_places(const struct options *options)
{
  return options->format == OPTIONS_PPROF || options->format == OPTIONS_CALLGRIND;
}

bool options_of_samples(const struct options *options)
{
  static const bool views[OPTIONS_SOURCE + 1] = {
      [OPTIONS_SUMMARY] = true,       [OPTIONS_TOPDOWN] = true,   [OPTIONS_BOTTOMUP] = true,    [OPTIONS_FLAT] = true,
      [OPTIONS_THREADS] = true,       [OPTIONS_REGIONS] = true,   [OPTIONS_REGION_TREE] = true, [OPTIONS_TASKS] = true,
      [OPTIONS_EFFICIENCY] = true,    [OPTIONS_OVERHEADS] = true, [OPTIONS_ADVICE] = true,      [OPTIONS_SOURCE] = true,
      [OPTIONS_USER_COUNTERS] = true,
  };
  bool report = options->format <= OPTIONS_JSON || options_of_profile(options);
  return report && views[options->view];
}

void options_release(struct options *options)
{
  for (uint32_t i = 0; i < options->scenarios_count; i++)
    scenario_release(&options->scenarios[i]);
  free(options->newest);
  options->newest = NULL;
  for (uint32_t i = 0; i < options->conditions_count; i++)
    condition_release(&options->conditions[i]);
  free(options->conditions);
  options->conditions = NULL;
  options->conditions_count = 0;
  free(options->scenarios);
  free(options->source_paths);
  options->source_paths = NULL;
  options->scenarios = NULL;
  options->scenarios_count = 0;
}

static bool is_view(const char *name)
{
  bool found = false;
  for (size_t i = 0; i < sizeof view_names / sizeof *view_names; i++)
    found |= !strcmp(name, view_names[i]);
  return found;
}

/* Without --view, the first operand is the view if it is the name of one, whatever files there are. */
static int take_view_operand(struct options *options, char *message, size_t size)
{
  const char *name = options->directories_count ? options->directories[0] : "";
  if (options->has_view || options->help || options->version)
    return 0;
  for (size_t i = 1; i < options->directories_count; i++)
    if (is_view(options->directories[i]) && access(options->directories[i], F_OK))
      return fail(message, size, "there is no directory '%s': the view stands before DIR", options->directories[i]);
  if (is_view(name)) {
    options->directories++;
    options->directories_count--;
    return parse_view(name, options, message, size);
  }
  const char *similar = *name && access(name, F_OK) ? similar_view(name) : NULL;
  if (!similar)
    return 0;
  snprintf(message, size, "there is no directory '%s': did you mean the view '%s'?", name, similar);
  return ERR_INPUT;
}

int options_parse(int argc, char **argv, struct options *options, char *message, size_t size)
{
  *options = (struct options){
      .percent_limit = -1, .threads = cores(), .to_ns = UINT64_MAX, .grain_limits = grain_limits_default()};
  opterr = 0;
  for (;;) {
    int before = optind;
    int option = getopt_long(argc, argv, ":f:o:I:j:qvh", long_options, NULL);
    if (option == -1)
      break;
    const char *word = argv[before] ? argv[before] : "";
    if (option == ':')
      return fail(message, size, "option '%s' needs a value", word);
    if (option == '?') {
      snprintf(message, size, "unknown option '%s'; try 'hpcprof-lite --help'",
               argv[optind > before ? optind - 1 : before]);
      return ERR_INPUT;
    }
    if (parse_option(option, options, message, size))
      return ERR_INPUT;
  }
  options->directories = argv + optind;
  options->directories_count = (size_t)(argc - optind);
  return take_view_operand(options, message, size);
}
