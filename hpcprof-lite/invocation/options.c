#include "hpcprof-lite/invocation/options.h"

#include "common/escape.h"
#include "common/order.h"
#include "common/words.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/comparison/run_figures.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS_MAX = 256, LIST_BYTES = 320, DEFAULT_NODES = 2000 };

static const char *const view_names[] = {
#define VIEW(id, name, ...) name,
#include "hpcprof-lite/invocation/views.def"
#undef VIEW
    NULL};

const struct options_view_row options_views[OPTIONS_VIEWS] = {
#define VIEW(id, name, phrase, traits, ...) {name, phrase, traits},
#include "hpcprof-lite/invocation/views.def"
#undef VIEW
};

static const char *const format_names[] = {
#define FORMAT(id, name, ...) name,
#include "hpcprof-lite/invocation/formats.def"
#undef FORMAT
    NULL};

const struct options_format_row options_formats[OPTIONS_FORMATS] = {
#define FORMAT(id, name, phrase, shows, traits, ...) {name, phrase, SHOWS_##shows, traits},
#include "hpcprof-lite/invocation/formats.def"
#undef FORMAT
};

static const char *const baseline_names[] = {
    [BASELINE_THREAD] = "thread", [BASELINE_CORE] = "core", [BASELINE_SHARED] = "shared", NULL};
static const char *const lane_names[] = {
    [TIMELINE_THREADS] = "thread", [TIMELINE_PROCESSES] = "process", [TIMELINE_NODES] = "node", NULL};

bool options_view_has(const struct options *options, unsigned traits)
{
  assert(options->view < OPTIONS_VIEWS);
  return (options_views[options->view].traits & traits) == traits;
}

bool options_format_is(const struct options *options, unsigned traits)
{
  assert(options->format < OPTIONS_FORMATS);
  return (options_formats[options->format].traits & traits) == traits;
}

void options_list_views(unsigned trait, const char *last, char *text, size_t size)
{
  assert(text && size);
  const char *names[OPTIONS_VIEWS + 1] = {NULL};
  for (size_t i = 0, count = 0; i < OPTIONS_VIEWS; i++)
    if (options_views[i].traits & trait)
      names[count++] = options_views[i].name;
  words_list(names, last, text, size);
}

void options_list_formats(enum options_content content, const char *last, char *text, size_t size)
{
  assert(text && size);
  const char *names[OPTIONS_FORMATS + 1] = {NULL};
  for (size_t i = 0, count = 0; i < OPTIONS_FORMATS; i++)
    if (options_formats[i].shows == content)
      names[count++] = options_formats[i].name;
  words_list(names, last, text, size);
}

/* ---- values ---- */

/* An option or operand that is taken. */
struct taken {
  const struct command_option *option;
  char *text;   /* its value */
  void *member; /* of the options, which it sets */
  struct options *options;
  char *message;
  size_t size;
};

static int fail(const struct taken *taken, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(const struct taken *taken, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(taken->message, taken->size, format, arguments);
  va_end(arguments);
  return ERR_INPUT;
}

static int take_flag(const struct taken *taken)
{
  *(bool *)taken->member = true;
  return 0;
}

static int take_text(const struct taken *taken)
{
  *(const char **)taken->member = taken->text;
  return 0;
}

/* Names of the program are given as CSV shows them. */
static int take_name(const struct taken *taken)
{
  escape_undo(taken->text);
  return take_text(taken);
}

static int take_output(const struct taken *taken)
{
  taken->options->output = taken->text;
  if (!*taken->text)
    return fail(taken, "option '--output' needs the name of a file");
  return 0;
}

/* Takes the name of a view or a format. */
static int take_listed(const struct taken *taken)
{
  assert(taken->option->words && taken->text);
  char list[LIST_BYTES];
  const char *const *names = taken->option->words, *what = taken->option->name;
  int place = words_find(names, taken->text);
  const char *similar = words_similar(names, taken->text);
  *(unsigned *)taken->member = place < 0 ? 0 : (unsigned)place;
  if (place >= 0 && taken->member == &taken->options->view)
    taken->options->views_given |= 1u << place;
  if (place >= 0)
    return 0;
  if (similar)
    return fail(taken, "there is no %s '%s': did you mean '%s'?", what, taken->text, similar);
  words_list(names, ", ", list, sizeof list);
  return fail(taken, "there is no %s '%s': one of %s", what, taken->text, list);
}

/* Takes one of the words that the description of the option has. */
static int take_choice(const struct taken *taken)
{
  assert(taken->option->words && taken->text);
  char list[LIST_BYTES];
  const char *const *words = taken->option->words;
  int place = words_find(words, taken->text);
  *(unsigned *)taken->member = place < 0 ? 0 : (unsigned)place;
  if (place >= 0)
    return 0;
  words_list(words, " or ", list, sizeof list);
  return fail(taken, "option '--%s' needs %s, not '%s'", taken->option->name, list, taken->text);
}

static int take_count(const struct taken *taken)
{
  const char *text = taken->text;
  char *end = NULL, letter = taken->option->letter;
  unsigned long long parsed = 0;
  errno = 0;
  if (isdigit((unsigned char)*text))
    parsed = strtoull(text, &end, 10);
  bool valid = end && !*end && !errno && parsed > 0 && parsed <= UINT32_MAX;
  if (!valid && letter)
    return fail(taken, "option '-%c' needs a whole number from 1, not '%s'", letter, text);
  if (!valid)
    return fail(taken, "option '--%s' needs a whole number from 1, not '%s'", taken->option->name, text);
  *(uint32_t *)taken->member = (uint32_t)parsed;
  return 0;
}

static int take_threads(const struct taken *taken)
{
  unsigned *threads = &taken->options->threads;
  int status = take_count(taken);
  *threads = MIN(*threads, (unsigned)THREADS_MAX);
  return status;
}

static int take_percent(const struct taken *taken)
{
  char *end;
  double parsed = strtod(taken->text, &end);
  if (!*taken->text || *end || !isfinite(parsed) || parsed < 0 || parsed > 100)
    return fail(taken, "option '--percent-limit' needs a number from 0 to 100, not '%s'", taken->text);
  taken->options->limits.percent = parsed;
  return 0;
}

/* Takes a time such as 1.5, 1.5s, 1500ms or 20us. */
static int take_time(const struct taken *taken)
{
  static const struct {
    const char *suffix;
    double ns;
  } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
  char *end = NULL, *text = taken->text;
  double parsed = 0;
  if (isdigit((unsigned char)*text) || *text == '.')
    parsed = strtod(text, &end);
  taken->options->range.given = true;
  for (size_t i = 0; i < sizeof units / sizeof *units && end != text && end; i++)
    if (!strcmp(end, units[i].suffix) && parsed * units[i].ns < 1e18) {
      *(uint64_t *)taken->member = model_rounded(parsed * units[i].ns);
      return 0;
    }
  return fail(taken,
              "option '--%s' needs a time since the start of the run, such as 1.5, 1.5s, 1500ms or 20us, not '%s'",
              taken->option->name, text);
}

static int take_scenario(const struct taken *taken)
{
  struct options_scenarios *scenarios = &taken->options->scenarios;
  const char *wrong;
  escape_undo(taken->text);
  if (!scenario_parse(taken->text, XAPPEND(scenarios->list, scenarios->count, scenarios->room), &wrong))
    return 0;
  return fail(taken, "cannot use '--what-if %s': %s", taken->text, wrong);
}

static int take_condition(const struct taken *taken)
{
  struct options_comparison *comparison = &taken->options->comparison;
  const char *wrong;
  struct condition_metric metrics[RUN_METRICS_MAX];
  uint32_t metrics_count = run_figure_metrics(metrics);
  escape_undo(taken->text);
  struct condition *condition =
      XAPPEND(comparison->conditions, comparison->conditions_count, comparison->conditions_room);
  if (!condition_parse(taken->text, metrics, metrics_count, condition, &wrong))
    return 0;
  return fail(taken, "cannot use --fail-if '%s': %s", taken->text, wrong);
}

static int take_grain_limit(const struct taken *taken)
{
  char list[LIST_BYTES];
  if (grain_limits_parse(taken->text, &taken->options->grains.limits))
    return 0;
  words_list(grain_metric_names, " or ", list, sizeof list);
  return fail(taken, "option '--grain-limit' needs NAME=VALUE, not '%s': a number from 0 for %s", taken->text, list);
}

static int take_source_path(const struct taken *taken)
{
  struct options_directories *paths = &taken->options->source_paths;
  *XAPPEND(paths->list, paths->count, paths->room) = taken->text;
  if (!*taken->text)
    return fail(taken, "option '--source-path' needs a directory");
  return 0;
}

static int take_symbols(const struct taken *taken)
{
  struct options_directories *paths = &taken->options->symbols;
  struct stat status;
  *XAPPEND(paths->list, paths->count, paths->room) = taken->text;
  if (stat(taken->text, &status) || !S_ISDIR(status.st_mode))
    return fail(taken, "cannot use '--symbols %s': it is no directory; give one that holds binaries or debug files",
                taken->text);
  return 0;
}

/* ---- options ---- */

#define FLAG(id, letter, name, member, brief, help)                                                                    \
  OPTION(id, letter, name, NULL, take_flag, member, COMMAND_FREE, NULL, brief, help)

const struct command_option options_described[OPTIONS_GIVEN] = {
#define OPTION(id, letter, name, argument, take, member, value, words, brief, help)                                    \
  {letter, name, argument, value, words, brief, NULL, help},
#include "hpcprof-lite/invocation/options.def"
#undef OPTION
};

static const struct {
  int (*take)(const struct taken *taken);
  size_t member;
} takers[] = {
#define OPTION(id, letter, name, argument, take, member, ...) {take, offsetof(struct options, member)},
#include "hpcprof-lite/invocation/options.def"
#undef OPTION
};

/* Prints an option; its paragraph may have places for lists of views or formats. */
static void print_option(FILE *stream, enum options_given number)
{
  assert(number < OPTIONS_GIVEN);
  char text[1024], list[4][LIST_BYTES] = {""};
  if (number == GIVEN_VIEW)
    words_list(view_names + 1, " or ", list[0], sizeof list[0]);
  if (number == GIVEN_FORMAT) {
    options_list_formats(SHOWS_CONTEXTS, " or ", list[0], sizeof list[0]);
    options_list_formats(SHOWS_GRAPH, ", ", list[1], sizeof list[1]);
    options_list_formats(SHOWS_TIMELINE, " or ", list[2], sizeof list[2]);
    options_list_formats(SHOWS_CHECKS, " or ", list[3], sizeof list[3]);
  }
  const char *help = options_described[number].help;
  if (**list)
    snprintf(text, sizeof text, help, list[0], list[1], list[2], list[3]);
  command_line_print(stream, &options_described[number], **list ? text : help);
}

void options_print_help(FILE *stream)
{
  fputs("Usage: hpcprof-lite [OPTION]... [VIEW] [DIR]...\n"
        "Report what hpcrun-lite has measured into DIR; without DIR, into the newest\n"
        "measurement directory in the current one.\n\n",
        stream);
  for (enum options_given i = 0; i < OPTIONS_GIVEN; i++)
    print_option(stream, i);
  fputs("\nExit status: 0; 1 if some input was unusable; 2 for a wrong command line; 3 if\n"
        "a --fail-if holds.\n",
        stream);
}

/* Cores that this process may use. */
static unsigned cores(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set))
    return 1;
  return (unsigned)MAX(1, MIN(CPU_COUNT(&set), THREADS_MAX));
}

bool options_of_samples(const struct options *options)
{
  enum options_content shows = options_formats[options->format].shows;
  return options_view_has(options, HAS_SAMPLES) && (shows == SHOWS_VIEWS || shows == SHOWS_CONTEXTS);
}

void options_release(struct options *options)
{
  for (uint32_t i = 0; i < options->scenarios.count; i++)
    scenario_release(&options->scenarios.list[i]);
  for (uint32_t i = 0; i < options->comparison.conditions_count; i++)
    condition_release(&options->comparison.conditions[i]);
  free(options->input.newest);
  free(options->comparison.conditions);
  free(options->scenarios.list);
  free(options->source_paths.list);
  free(options->symbols.list);
}

/* Without --view, the first operand is the view if it is the name of one. */
static int take_view_operand(const struct taken *taken)
{
  struct options *options = taken->options;
  const char *name = options->input.count ? options->input.directories[0] : "";
  if (options->given[GIVEN_VIEW] || options->help || options->version)
    return 0;
  for (size_t i = 0; i < options->input.count; i++) {
    const char *operand = options->input.directories[i];
    if (words_find(view_names, operand) < 0)
      continue;
    if (!access(operand, F_OK))
      return fail(taken, "'%s' is a view, and there is a file '%s', too: write --view %s or ./%s", operand, operand,
                  operand, operand);
    if (i > 0)
      return fail(taken, "there is no directory '%s': the view stands before DIR", operand);
  }
  int view = words_find(view_names, name);
  if (view >= 0) {
    options->input.directories++;
    options->input.count--;
    options->given[GIVEN_VIEW] = true;
    options->view = (enum options_view)view;
    options->views_given = 1u << options->view;
    return 0;
  }
  const char *similar = NULL;
  if (*name && access(name, F_OK))
    similar = words_similar(view_names, name);
  if (similar)
    return fail(taken, "there is no directory '%s': did you mean the view '%s'?", name, similar);
  return 0;
}

static int fail_unknown(const struct taken *taken, const struct command_line *line, const char *word)
{
  const char *similar = command_line_similar(line, word);
  if (similar)
    return fail(taken, "unknown option '%s': did you mean '--%s'?", word, similar);
  return fail(taken, "unknown option '%s'; try 'hpcprof-lite --help'", word);
}

int options_parse(int argc, char **argv, struct options *options, char *message, size_t size)
{
  assert(message && size);
  struct command_line line;
  struct taken taken = {.options = options, .message = message, .size = size};
  *options = (struct options){.limits.percent = -1,
                              .threads = cores(),
                              .range.to_ns = UINT64_MAX,
                              .grains.max_nodes = DEFAULT_NODES,
                              .grains.limits = grain_limits_default()};
  command_line_init(&line, ":", options_described, OPTIONS_GIVEN);
  opterr = 0;
  for (;;) {
    int before = optind, option = command_line_next(&line, argc, argv);
    const char *word = argv[before] ? argv[before] : "";
    if (option == -1)
      break;
    if (option == -':')
      return fail(&taken, "option '%s' needs a value", word);
    if (option == -'?')
      return fail_unknown(&taken, &line, argv[optind > before ? optind - 1 : before]);
    taken.option = &options_described[option];
    taken.text = optarg;
    taken.member = (char *)options + takers[option].member;
    options->given[option] = true;
    if (takers[option].take(&taken))
      return ERR_INPUT;
  }
  options->input.directories = argv + optind;
  options->input.count = (size_t)(argc - optind);
  return take_view_operand(&taken);
}
