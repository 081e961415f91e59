#include "hpcprof-lite/options.h"

#include "common/array.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 256 };

enum long_only {
  OPT_VIEW = 256,
  OPT_IDLENESS,
  OPT_WHAT_IF,
  OPT_LINES,
  OPT_ROOT,
  OPT_SORT,
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
  OPT_VERSION
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
    {"source-path", required_argument, NULL, 'I'},
    {"threads", required_argument, NULL, 'j'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char *const view_names[] = {
    [OPTIONS_SUMMARY] = "summary",         [OPTIONS_TOPDOWN] = "topdown",
    [OPTIONS_BOTTOMUP] = "bottomup",       [OPTIONS_FLAT] = "flat",
    [OPTIONS_THREADS] = "threads",         [OPTIONS_EFFICIENCY] = "efficiency",
    [OPTIONS_PARALLELISM] = "parallelism", [OPTIONS_CRITICAL_PATH] = "critical-path",
    [OPTIONS_WHATIF] = "whatif",           [OPTIONS_SPEEDUP] = "speedup",
    [OPTIONS_REGIONS] = "regions",         [OPTIONS_REGION_TREE] = "region-tree",
    [OPTIONS_OVERHEADS] = "overheads",     [OPTIONS_TASKS] = "tasks",
    [OPTIONS_GRAINS] = "grains",           [OPTIONS_GRAIN_GRAPH] = "grain-graph"};

static const char *const later_views[] = {"timeline", "advice"};

const char *options_help(void)
{
  return "Usage: hpcprof-lite [OPTION]... DIR...\n"
         "Report what hpcrun-lite has measured into DIR.\n"
         "\n"
         "      --view VIEW         summary (default), topdown, bottomup, flat, threads,\n"
         "                          efficiency, parallelism, critical-path, whatif,\n"
         "                          speedup, regions, region-tree, overheads, tasks,\n"
         "                          grains or grain-graph\n"
         "  -f, --format FORMAT     text (default), csv or json; of grain-graph graphml, dot\n"
         "                          or json\n"
         "  -o, --output FILE       write the report to FILE\n"
         "      --idleness WHICH    count idleness against the most threads ever in use\n"
         "                          (thread, the default), the cores (core), or the threads\n"
         "                          in use at each sample (shared)\n"
         "      --what-if SELECTOR=FACTOR[,...]\n"
         "                          scenario of the whatif or parallelism view: the code\n"
         "                          that SELECTOR names (see --root; also @NAME) runs\n"
         "                          FACTOR times as fast; repeatable in whatif\n"
         "      --lines             show source lines as rows below their function\n"
         "      --root SELECTOR     show only what is called from FUNCTION, FILE:LINE,\n"
         "                          FILE:FROM-TO, or #ID (id of a topdown row); in\n"
         "                          grain-graph what is below the grain with that path\n"
         "      --sort COLUMN       sort by a column, named as in the CSV output\n"
         "      --percent-limit P   omit rows below P percent of all threads' time\n"
         "                          (default: 0.5 in text of trees and regions, else 0)\n"
         "      --max-rows N        show only the N heaviest rows\n"
         "      --depth N           show only N levels below the root\n"
         "      --per-thread        rows for each thread in regions and region-tree (CSV\n"
         "                          and JSON always have them)\n"
         "      --grain-groups      show groups of grains in csv and json, too (text always\n"
         "                          shows groups)\n"
         "      --grain-limit NAME=VALUE\n"
         "                          what is a problem of a grain: parallel_benefit,\n"
         "                          instantaneous_parallelism, scatter,\n"
         "                          memory_utilisation, work_deviation, load_balance\n"
         "      --reference DIR     compare each grain's work to the same one's in DIR\n"
         "      --max-nodes N       fold the graph of grains to N nodes (default: 2000)\n"
         "      --unreduced         show all fragments of grains, and fold nothing\n"
         "      --colour METRIC     colour the graph of grains by a metric of --grain-limit\n"
         "      --legend            explain the columns of a text report\n"
         "  -j, --threads N         use N threads (default: one for each core)\n"
         "  -q, --quiet             print only errors\n"
         "  -v, --verbose           print how many files are read\n"
         "      --version           print the version\n"
         "  -h, --help              print this help\n"
         "\n"
         "Exit status: 0; 1 if some input was unusable; 2 for a wrong command line.\n";
}

static int fail(char *message, size_t size, const char *text, const char *value)
{
  snprintf(message, size, text, value);
  return ERR_INPUT;
}

static int parse_view(const char *name, struct options *options, char *message, size_t size)
{
  for (size_t i = 0; i < sizeof view_names / sizeof *view_names; i++) {
    if (strcmp(name, view_names[i]))
      continue;
    options->view = (enum options_view)i;
    return 0;
  }
  for (size_t i = 0; i < sizeof later_views / sizeof *later_views; i++)
    if (!strcmp(name, later_views[i]))
      return fail(message, size, "view '%s' is not available yet", name);
  return fail(message, size,
              "there is no view '%s': one of summary, topdown, bottomup, flat, threads, efficiency, "
              "parallelism, critical-path, whatif, speedup, regions, region-tree, overheads, tasks, grains, "
              "grain-graph",
              name);
}

static int parse_format(const char *name, struct options *options, char *message, size_t size)
{
  static const char *const formats[] = {[OPTIONS_TEXT] = "text",
                                        [OPTIONS_CSV] = "csv",
                                        [OPTIONS_JSON] = "json",
                                        [OPTIONS_GRAPHML] = "graphml",
                                        [OPTIONS_DOT] = "dot"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(name, formats[i]))
      continue;
    options->format = (enum options_format)i;
    return 0;
  }
  return fail(message, size, "there is no format '%s': one of text, csv, json, graphml, dot", name);
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

static int parse_root(const char *text, struct options *options, char *message, size_t size)
{
  const char *wrong = selector_parse(text, &options->root);
  options->has_root = true;
  if (!wrong)
    return 0;
  snprintf(message, size, "cannot use '--root %s': %s", text, wrong);
  return ERR_INPUT;
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

static int parse_threads(const char *text, struct options *options, char *message, size_t size)
{
  uint32_t count;
  if (parse_count("-j", text, &count, message, size))
    return ERR_INPUT;
  options->threads = count < THREADS_MAX ? count : THREADS_MAX;
  return 0;
}

static int parse_option(int option, struct options *options, char *message, size_t size)
{
  switch (option) {
  case OPT_VIEW:
    return parse_view(optarg, options, message, size);
  case 'f':
    return parse_format(optarg, options, message, size);
  case 'o':
    options->output = optarg;
    return *optarg ? 0 : fail(message, size, "option '%s' needs the name of a file", "--output");
  case OPT_LINES:
    options->lines = true;
    return 0;
  case OPT_PER_THREAD:
    options->per_thread = true;
    return 0;
  case OPT_LEGEND:
    options->legend = true;
    return 0;
  case OPT_REFERENCE:
    options->reference = optarg;
    return 0;
  case OPT_GRAIN_LIMIT:
    return parse_grain_limit(optarg, options, message, size);
  case OPT_GRAIN_GROUPS:
    options->grain_groups = true;
    return 0;
  case OPT_MAX_NODES:
    return parse_count("--max-nodes", optarg, &options->max_nodes, message, size);
  case OPT_UNREDUCED:
    options->unreduced = true;
    return 0;
  case OPT_COLOUR:
    return parse_colour(optarg, options, message, size);
  case OPT_ROOT:
    options->root_text = optarg;
    return 0;
  case OPT_SORT:
    options->sort = optarg;
    return 0;
  case OPT_PERCENT:
    return parse_percent(optarg, &options->percent_limit, message, size);
  case OPT_ROWS:
    return parse_count("--max-rows", optarg, &options->max_rows, message, size);
  case OPT_DEPTH:
    return parse_count("--depth", optarg, &options->depth, message, size);
  case 'j':
    return parse_threads(optarg, options, message, size);
  case 'q':
    options->quiet = true;
    return 0;
  case 'v':
    options->verbose = true;
    return 0;
  case 'h':
    options->help = true;
    return 0;
  case OPT_VERSION:
    options->version = true;
    return 0;
  case OPT_IDLENESS:
    return parse_baseline(optarg, &options->baseline, message, size);
  case OPT_WHAT_IF:
    return parse_what_if(optarg, options, message, size);
  default:
    return fail(message, size, "option '%s' is not available yet: no view shows source text", "--source-path");
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
  if (!tree && (options->has_root || options->lines))
    return fail(message, size,
                "view '%s' shows no functions: --root and --lines need topdown, bottomup, flat or critical-path",
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

static int check(struct options *options, char *message, size_t size)
{
  if (options->help || options->version)
    return 0;
  options->view_name = view_names[options->view];
  if (!options->directories_count)
    return fail(message, size, "%s", "no measurement directory given; try 'hpcprof-lite --help'");
  bool graph = options->view == OPTIONS_GRAIN_GRAPH;
  if (options->root_text && !graph && parse_root(options->root_text, options, message, size))
    return ERR_INPUT;
  if (check_graph(options, message, size))
    return ERR_INPUT;
  bool regions = options->view == OPTIONS_REGIONS || options->view == OPTIONS_REGION_TREE;
  bool constructs = regions || options->view == OPTIONS_OVERHEADS || options->view == OPTIONS_TASKS;
  if (check_rows(options, constructs, message, size))
    return ERR_INPUT;
  if (options->per_thread && !regions)
    return fail(message, size, "view '%s' has no rows for threads: --per-thread needs regions or region-tree",
                options->view_name);
  bool fixed = options->view == OPTIONS_SUMMARY || options->view == OPTIONS_EFFICIENCY ||
               options->view == OPTIONS_WHATIF || options->view == OPTIONS_SPEEDUP || options->view == OPTIONS_GRAINS ||
               graph;
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
  if (fixed && (options->sort || options->max_rows))
    return fail(message, size, "view '%s' cannot be sorted or shortened", options->view_name);
  return 0;
}

void options_release(struct options *options)
{
  for (uint32_t i = 0; i < options->scenarios_count; i++)
    scenario_release(&options->scenarios[i]);
  free(options->scenarios);
  options->scenarios = NULL;
  options->scenarios_count = 0;
}

int options_parse(int argc, char **argv, struct options *options, char *message, size_t size)
{
  *options = (struct options){.percent_limit = -1, .threads = cores(), .grain_limits = grain_limits_default()};
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
  return check(options, message, size);
}
