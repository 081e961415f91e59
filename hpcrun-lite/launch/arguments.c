#include "hpcrun-lite/launch/arguments.h"

#include "hpcrun-lite/launch/viewer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/launch/configuration/value_check.h"
#include "hpcrun-lite/launch/control/control_command.h"
#include "hpcrun-lite/launch/launch_options.h"
#include "hpcrun-lite/launch/trial/trial_settings.h"

void arguments_print_help(FILE *stream)
{
  fputs("Usage: hpcrun-lite [OPTION]... [--] COMMAND [ARG]...\n"
        "Run COMMAND and measure where its threads spend their time.\n\n",
        stream);
  for (enum launch_option i = 0; i < LAUNCH_OPTIONS; i++)
    command_line_print(stream, &launch_options[i], launch_options[i].help);
  fputs("\nThe exit status is COMMAND's; 125: hpcrun-lite failed, 126: COMMAND cannot be\n"
        "run, 127: COMMAND not found.  Read the measurements with: hpcprof-lite DIR\n",
        stream);
}

struct parser {
  struct plan *plan;
  enum arguments_mode *mode;
  const char *config; /* the argument of --config, or NULL */
  char *message;
  size_t message_size;
};

static enum launch_status fail(const struct parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static enum launch_status fail(const struct parser *parser, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(parser->message, parser->message_size, format, arguments);
  va_end(arguments);
  return LAUNCH_FAILED;
}

/* Takes a setting that configuration files have, too. */
static enum launch_status take_setting(const struct parser *parser, enum setting setting, const char *text)
{
  assert(setting < SETTINGS);
  char subject[64];
  snprintf(subject, sizeof subject, "option %s", setting_keys[setting].option);
  parser->plan->options.text[setting] = text;
  return value_check(setting, subject, text, parser->message, parser->message_size) ? LAUNCH_OK : LAUNCH_FAILED;
}

/* Appends events to those that the option has named before. */
static enum launch_status take_events(const struct parser *parser, enum setting setting)
{
  assert(setting < SETTINGS);
  static char lists[SETTINGS][EVENTS_MAX * 256];
  char *list = lists[setting];
  size_t size = sizeof lists[setting], used = strlen(list);
  if (!*optarg)
    return take_setting(parser, setting, optarg);
  if (used + strlen(optarg) + 2 > size)
    return fail(parser, "option %s: too many events", setting_keys[setting].option);
  snprintf(list + used, size - used, "%s%s", used ? "," : "", optarg);
  return take_setting(parser, setting, list);
}

static enum launch_status take_mode(const struct parser *parser, enum arguments_mode mode)
{
  *parser->mode = mode;
  return LAUNCH_OK;
}

static enum launch_status take_flag(bool *flag)
{
  *flag = true;
  return LAUNCH_OK;
}

/* Takes an option that sets no setting. */
static enum launch_status take_request(struct parser *parser, enum launch_option option)
{
  struct plan *plan = parser->plan;
  bool taken = true;
  switch (option) {
  case OPTION_TRUST_DIRECTORY:
    return take_flag(&plan->trust_directory);
  case OPTION_REPORT:
    return take_flag(&plan->report);
  case OPTION_LIVE:
    return take_flag(&plan->live);
  case OPTION_QUIET:
    plan->log_level = 0;
    return LAUNCH_OK;
  case OPTION_VERBOSE:
    plan->log_level = 2;
    return LAUNCH_OK;
  case OPTION_SCALING:
    taken = series_parse_threads(optarg, &plan->series, parser->message, parser->message_size);
    return taken ? LAUNCH_OK : LAUNCH_FAILED;
  case OPTION_REPEAT:
    taken = series_parse_repeat(optarg, &plan->series, parser->message, parser->message_size);
    return taken ? LAUNCH_OK : LAUNCH_FAILED;
  case OPTION_SCALE_WITH:
    plan->series.values = optarg;
    return LAUNCH_OK;
  case OPTION_TRY:
    plan->trials.wanted = true;
    taken = !optarg || trial_settings_parse(optarg, &plan->trials.record, parser->message, parser->message_size);
    return taken ? LAUNCH_OK : LAUNCH_FAILED;
  case OPTION_TRY_TIME:
    return trials_parse_time(optarg, &plan->trials.time_s, parser->message, parser->message_size);
  case OPTION_CONFIG:
    parser->config = optarg;
    return *optarg ? LAUNCH_OK : fail(parser, "option --config: a file is needed, or none");
  case OPTION_CONTROL:
    plan->control = optarg;
    take_mode(parser, MODE_CONTROL);
    return *optarg ? LAUNCH_OK : fail(parser, "option --control needs a measurement directory or a process id");
  case OPTION_ENV:
    plan->for_script = true;
    return take_mode(parser, MODE_ENV);
  case OPTION_DIAGNOSE:
    return take_mode(parser, MODE_DIAGNOSE);
  default:
    return take_mode(parser, MODE_CONFIG);
  }
}

static enum launch_status take_option(struct parser *parser, enum launch_option option)
{
  assert(option < LAUNCH_OPTIONS);
  const struct launch_setting *set = &launch_settings[option];
  if (set->setting == SETTINGS)
    return take_request(parser, option);
  assert(!strcmp(setting_keys[set->setting].option + 2, launch_options[option].name));
  if (setting_keys[set->setting].list)
    return take_events(parser, set->setting);
  return take_setting(parser, set->setting, optarg ? optarg : set->word);
}

static enum launch_status fail_unknown(const struct parser *parser, const struct command_line *line, const char *word)
{
  const char *similar = command_line_similar(line, word);
  if (optopt > 0 && optopt < 256)
    return fail(parser, "unknown option -%c: see hpcrun-lite --help", optopt);
  if (similar)
    return fail(parser, "unknown option %.100s: did you mean --%s?", word, similar);
  return fail(parser, "unknown option %.100s: see hpcrun-lite --help", word);
}

/* Whether the limit of --overhead-limit has an effect. */
static enum launch_status check_limit(const struct parser *parser)
{
  const struct plan *plan = parser->plan;
  const char *limit = plan->options.text[SETTING_OVERHEAD_LIMIT], *follower = "-c";
  if (limit && !strcmp(plan->parallelism, "off"))
    return fail(parser,
                "option --overhead-limit has no effect with -p off, which computes neither work nor span: remove one "
                "of them");
  if (!limit || !strcmp(limit, plan->overhead_limit))
    return LAUNCH_OK;
  if (!strcmp(plan->parallelism, "log"))
    follower = "-p log";
  else if (plan->trace)
    follower = "-t";
  return fail(parser, "option --overhead-limit has no effect with %s, which follows all executions: remove one of them",
              follower);
}

/* Whether the options go together, and with the settings in force. */
static enum launch_status check_together(const struct parser *parser)
{
  static const char *const runs_nothing[] = {
      [MODE_ENV] = "--env", [MODE_DIAGNOSE] = "--diagnose", [MODE_CONFIG] = "--print-config"};
  const struct plan *plan = parser->plan;
  const char *const *given = plan->options.text;
  if ((given[SETTING_TRACE_LIMIT] || given[SETTING_TRACE_KEEP]) && !plan->trace)
    return fail(parser, "option %s needs -t: without it there is no trace",
                given[SETTING_TRACE_KEEP] ? "--trace-keep" : "--trace-limit");
  enum launch_status status = check_limit(parser);
  if (status != LAUNCH_OK)
    return status;
  const char *needs = NULL;
  if (plan->report)
    needs = "--report needs a run";
  else if (plan->live)
    needs = "--live needs a run";
  else if (plan->series.count)
    needs = "--scaling needs runs";
  else if (plan->trials.wanted)
    needs = "--try needs runs";
  if (needs && *parser->mode != MODE_RUN)
    return fail(parser, "option %s: %s runs nothing", needs, runs_nothing[*parser->mode]);
  if (plan->live && plan->series.count)
    return fail(parser, "option --live shows one run: it cannot be used with --scaling");
  if (plan->trials.wanted && plan->live)
    return fail(parser, "option --live shows the measured run until it is quit: it cannot be used with --try");
  if (plan->trials.time_s > 0 && !plan->trials.wanted)
    return fail(parser, "option --try-time needs --try, whose time it limits");
  const char *refusal = plan->live ? viewer_refusal() : NULL;
  if (refusal)
    return fail(parser, "%s", refusal);
  if (!series_check(&plan->series, plan->command, parser->message, parser->message_size))
    return LAUNCH_FAILED;
  if (!plan->command[0] && *parser->mode != MODE_ENV && *parser->mode != MODE_CONFIG)
    return fail(parser, "no COMMAND: see hpcrun-lite --help");
  return plan->trials.wanted ? trials_check(plan->command, parser->message, parser->message_size) : LAUNCH_OK;
}

enum launch_status arguments_parse(int argc, char **argv, struct plan *plan, enum arguments_mode *mode, char *message,
                                   size_t message_size)
{
  struct parser parser = {plan, mode, NULL, message, message_size};
  struct command_line line;
  int option, count = 0;
  command_line_init(&line, "+:", launch_options, LAUNCH_OPTIONS);
  opterr = 0;
  for (; (option = command_line_next(&line, argc, argv)) != -1; count++) {
    if (option == OPTION_HELP)
      return take_mode(&parser, MODE_HELP);
    if (option == OPTION_VERSION)
      return take_mode(&parser, MODE_VERSION);
    if (option == OPTION_LIST_EVENTS)
      return take_mode(&parser, MODE_LIST_EVENTS);
    if (option == -':')
      return fail(&parser, "option %.100s needs a value: see hpcrun-lite --help", argv[optind - 1]);
    if (option == -'?')
      return fail_unknown(&parser, &line, argv[optind - 1]);
    enum launch_status status = take_option(&parser, (enum launch_option)option);
    if (status != LAUNCH_OK)
      return status;
  }
  plan->command = argv + optind;
  if (plan->control && count > 1)
    return fail(&parser, "option --control runs nothing: give no other option with it");
  if (plan->control)
    return control_command_check(plan->command, message, message_size) ? LAUNCH_OK : LAUNCH_FAILED;
  enum launch_status status = plan_take_settings(plan, parser.config, message, message_size);
  return status == LAUNCH_OK ? check_together(&parser) : status;
}
