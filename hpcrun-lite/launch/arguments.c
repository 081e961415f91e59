#include "hpcrun-lite/launch/arguments.h"

#include "hpcrun-lite/launch/live/viewer.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/launch/configuration/value_check.h"
#include "hpcrun-lite/launch/control/control_command.h"

const char *arguments_help(void)
{
  return "Usage: hpcrun-lite [OPTION]... [--] COMMAND [ARG]...\n"
         "Run COMMAND and measure where its threads spend their time.\n"
         "\n"
         "  -o, --output DIR        measurement directory; default:\n"
         "                          hpcrun-lite-COMMAND-measurements, then -2, -3, ...\n"
         "      --overwrite         replace the measurements in DIR\n"
         "      --trust-directory   use DIR even if another user owns it or could replace\n"
         "                          it\n"
         "  -e, --event EVENT[@HOW] event to sample, repeatable: task-clock, wall, or a\n"
         "                          perf name such as cycles; HOW is fN (N samples a\n"
         "                          second) or a period (us, counts);\n"
         "                          default: task-clock@f200\n"
         "  -c, --count EVENT,...   count events for each construct and calling context,\n"
         "                          repeatable: page-faults, context-switches,\n"
         "                          instructions, or another name of --list-events\n"
         "      --list-events       print the events of -c, and which this machine can\n"
         "                          count, and run nothing\n"
         "  -p, --parallelism MODE  off; online: compute work, span and critical path\n"
         "                          while the program runs; log: the same, and write the\n"
         "                          whole task graph to disk; default: online\n"
         "      --work UNIT         unit of work: cpu-time, instructions or cycles\n"
         "                          (hardware counters), or user: only what the program\n"
         "                          reports with hpcrun_lite_add_work();\n"
         "                          default: cpu-time\n"
         "      --task-context WHICH\n"
         "                          region: a task's context is its parallel region;\n"
         "                          creation: the call path that created it (costs more);\n"
         "                          default: region\n"
         "      --omp-runtime WHICH auto: measure the program's own runtime;\n"
         "                          exchange: run programs built by GCC on libomp;\n"
         "                          keep: do not measure libgomp;\n"
         "                          FILE: use that library; default: auto\n"
         "  -t, --trace[=WHAT]      also record what each thread does when: states, or\n"
         "                          samples only; default: states\n"
         "      --trace-limit SIZE  most bytes of it for each process, before they are\n"
         "                          compressed; SIZE may end in K, M or G; default: 1G\n"
         "      --trace-keep WHICH  beyond that, keep the first part or the last;\n"
         "                          default: first\n"
         "      --memory-limit SIZE\n"
         "                          most memory for the measurement in each process;\n"
         "                          what does not fit is counted; default: none\n"
         "      --paused            start paused: the program starts measuring with\n"
         "                          hpcrun_lite_start() or omp_control_tool()\n"
         "      --no-arguments      store COMMAND without its arguments, which may hold\n"
         "                          secrets\n"
         "      --report            when COMMAND has ended, print the summary of\n"
         "                          hpcprof-lite on standard error, and write all\n"
         "                          views to DIR.html, for a browser\n"
         "      --live              show the measurement on the terminal while COMMAND\n"
         "                          runs, until key q (see hpcprof-lite --live); what\n"
         "                          COMMAND prints on the terminal appears after that,\n"
         "                          and is in DIR.output meanwhile\n"
         "      --scaling N,N,...   run COMMAND once with each of these numbers of\n"
         "                          threads, and measure each run into DIR/threads-N;\n"
         "                          default DIR: hpcrun-lite-COMMAND-scaling\n"
         "      --repeat N          of --scaling: run all of them N times\n"
         "      --scale-with V,V,...\n"
         "                          of --scaling: replace {} in COMMAND's arguments by one\n"
         "                          of these values for each number of threads\n"
         "      --config FILE       read settings from FILE; none: from no file; default:\n"
         "                          ./.hpcrun-lite.ini, ~/.config/hpcrun-lite/config.ini;\n"
         "                          its section [filter] limits what is measured to\n"
         "                          functions, modules, constructs, threads, ranks or a\n"
         "                          part of the run: see hpcrun-lite(1), doc/control.md\n"
         "      --print-config      print the settings in force and where each comes\n"
         "                          from, as a configuration file, and run nothing\n"
         "      --control DIR|PID   send COMMAND to processes that are being measured:\n"
         "                          status, start, stop, flush, snapshot [NEWDIR],\n"
         "                          config FILE, mark NAME; see hpcrun-lite(1)\n"
         "      --env               print the settings as shell lines and run nothing\n"
         "      --diagnose          print what prevents measuring COMMAND well\n"
         "  -q, --quiet             print only failures on standard error\n"
         "  -v, --verbose           print more, also for child processes\n"
         "      --version           print the version\n"
         "  -h, --help              print this help\n"
         "\n"
         "The exit status is COMMAND's; 125: hpcrun-lite failed, 126: COMMAND cannot be\n"
         "run, 127: COMMAND not found.  Read the measurements with: hpcprof-lite DIR\n";
}

enum {
  TRACE_LIMIT = 256,
  MEMORY_LIMIT,
  TRACE_KEEP,
  WORK,
  TASK_CONTEXT,
  RUNTIME,
  OVERWRITE,
  TRUST_DIRECTORY,
  PAUSED,
  NO_ARGUMENTS,
  ENV,
  DIAGNOSE,
  VERSION,
  REPORT,
  LIVE,
  SCALING,
  REPEAT,
  SCALE_WITH,
  CONFIG,
  PRINT_CONFIG,
  CONTROL,
  LIST_EVENTS
};

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"overwrite", no_argument, NULL, OVERWRITE},
                                        {"trust-directory", no_argument, NULL, TRUST_DIRECTORY},
                                        {"event", required_argument, NULL, 'e'},
                                        {"count", required_argument, NULL, 'c'},
                                        {"list-events", no_argument, NULL, LIST_EVENTS},
                                        {"parallelism", required_argument, NULL, 'p'},
                                        {"work", required_argument, NULL, WORK},
                                        {"task-context", required_argument, NULL, TASK_CONTEXT},
                                        {"omp-runtime", required_argument, NULL, RUNTIME},
                                        {"paused", no_argument, NULL, PAUSED},
                                        {"no-arguments", no_argument, NULL, NO_ARGUMENTS},
                                        {"report", no_argument, NULL, REPORT},
                                        {"live", no_argument, NULL, LIVE},
                                        {"scaling", required_argument, NULL, SCALING},
                                        {"repeat", required_argument, NULL, REPEAT},
                                        {"scale-with", required_argument, NULL, SCALE_WITH},
                                        {"control", required_argument, NULL, CONTROL},
                                        {"env", no_argument, NULL, ENV},
                                        {"diagnose", no_argument, NULL, DIAGNOSE},
                                        {"trace", optional_argument, NULL, 't'},
                                        {"memory-limit", required_argument, NULL, MEMORY_LIMIT},
                                        {"trace-limit", required_argument, NULL, TRACE_LIMIT},
                                        {"trace-keep", required_argument, NULL, TRACE_KEEP},
                                        {"config", required_argument, NULL, CONFIG},
                                        {"print-config", no_argument, NULL, PRINT_CONFIG},
                                        {"quiet", no_argument, NULL, 'q'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"version", no_argument, NULL, VERSION},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};

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
  char subject[64];
  snprintf(subject, sizeof subject, "option %s", setting_keys[setting].option);
  parser->plan->options.text[setting] = text;
  return value_check(setting, subject, text, parser->message, parser->message_size) ? LAUNCH_OK : LAUNCH_FAILED;
}

/* Appends events to those that the option has named before. */
static enum launch_status take_events(const struct parser *parser, enum setting setting)
{
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

/* The setting that the option sets, or SETTINGS. */
static enum setting setting_of(int option)
{
  switch (option) {
  case 'p':
    return SETTING_PARALLELISM;
  case MEMORY_LIMIT:
    return SETTING_MEMORY_LIMIT;
  case TRACE_LIMIT:
    return SETTING_TRACE_LIMIT;
  case TRACE_KEEP:
    return SETTING_TRACE_KEEP;
  case WORK:
    return SETTING_WORK;
  case TASK_CONTEXT:
    return SETTING_TASK_CONTEXT;
  case RUNTIME:
    return SETTING_OMP_RUNTIME;
  case 'o':
    return SETTING_OUTPUT;
  default:
    return SETTINGS;
  }
}

static enum launch_status take_value(const struct parser *parser, int option)
{
  struct plan *plan = parser->plan;
  bool taken = true;
  switch (option) {
  case 'e':
    return take_events(parser, SETTING_EVENTS);
  case 'c':
    return take_events(parser, SETTING_COUNTERS);
  case SCALING:
    taken = series_parse_threads(optarg, &plan->series, parser->message, parser->message_size);
    return taken ? LAUNCH_OK : LAUNCH_FAILED;
  case REPEAT:
    taken = series_parse_repeat(optarg, &plan->series, parser->message, parser->message_size);
    return taken ? LAUNCH_OK : LAUNCH_FAILED;
  case SCALE_WITH:
    plan->series.values = optarg;
    return LAUNCH_OK;
  case CONTROL:
    plan->control = optarg;
    *parser->mode = MODE_CONTROL;
    return *optarg ? LAUNCH_OK : fail(parser, "option --control needs a measurement directory or a process id");
  default:
    return take_setting(parser, setting_of(option), optarg);
  }
}

static enum launch_status take_option(struct parser *parser, int option, const char *word)
{
  switch (option) {
  case OVERWRITE:
    return take_setting(parser, SETTING_OVERWRITE, "yes");
  case TRUST_DIRECTORY:
    parser->plan->trust_directory = true;
    return LAUNCH_OK;
  case REPORT:
    parser->plan->report = true;
    return LAUNCH_OK;
  case LIVE:
    parser->plan->live = true;
    return LAUNCH_OK;
  case PAUSED:
    return take_setting(parser, SETTING_PAUSED, "yes");
  case NO_ARGUMENTS:
    return take_setting(parser, SETTING_ARGUMENTS, "no");
  case 'q':
    parser->plan->log_level = 0;
    return LAUNCH_OK;
  case 'v':
    parser->plan->log_level = 2;
    return LAUNCH_OK;
  case ENV:
    parser->plan->for_script = true;
    *parser->mode = MODE_ENV;
    return LAUNCH_OK;
  case DIAGNOSE:
    *parser->mode = MODE_DIAGNOSE;
    return LAUNCH_OK;
  case 't':
    return take_setting(parser, SETTING_TRACE, optarg ? optarg : "states");
  case CONFIG:
    parser->config = optarg;
    return *optarg ? LAUNCH_OK : fail(parser, "option --config: a file is needed, or none");
  case PRINT_CONFIG:
    *parser->mode = MODE_CONFIG;
    return LAUNCH_OK;
  case ':':
    return fail(parser, "option %.100s needs a value: see hpcrun-lite --help", word);
  case '?':
    if (optopt > 0 && optopt < 256)
      return fail(parser, "unknown option -%c: see hpcrun-lite --help", optopt);
    return fail(parser, "unknown option %.100s: see hpcrun-lite --help", word);
  default:
    return take_value(parser, option);
  }
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
  const char *needs = plan->report ? "--report needs a run"
                      : plan->live ? "--live needs a run"
                                   : "--scaling needs runs";
  if ((plan->report || plan->live || plan->series.count) && *parser->mode != MODE_RUN)
    return fail(parser, "option %s: %s runs nothing", needs, runs_nothing[*parser->mode]);
  if (plan->live && plan->series.count)
    return fail(parser, "option --live shows one run: it cannot be used with --scaling");
  const char *refusal = plan->live ? viewer_refusal() : NULL;
  if (refusal)
    return fail(parser, "%s", refusal);
  if (!series_check(&plan->series, plan->command, parser->message, parser->message_size))
    return LAUNCH_FAILED;
  if (!plan->command[0] && *parser->mode != MODE_ENV && *parser->mode != MODE_CONFIG)
    return fail(parser, "no COMMAND: see hpcrun-lite --help");
  return LAUNCH_OK;
}

enum launch_status arguments_parse(int argc, char **argv, struct plan *plan, enum arguments_mode *mode, char *message,
                                   size_t message_size)
{
  struct parser parser = {plan, mode, NULL, message, message_size};
  int option, count = 0;
  opterr = 0;
  while ((option = getopt_long(argc, argv, "+:o:e:c:p:t::qvh", options, NULL)) != -1) {
    if (option == 'h' || option == VERSION || option == LIST_EVENTS) {
      *mode = option == 'h' ? MODE_HELP : option == VERSION ? MODE_VERSION : MODE_LIST_EVENTS;
      return LAUNCH_OK;
    }
    count++;
    enum launch_status status = take_option(&parser, option, argv[optind - 1]);
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
