#include "hpcrun-lite/launch/arguments.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *arguments_help(void)
{
  return "Usage: hpcrun-lite [OPTION]... [--] COMMAND [ARG]...\n"
         "Run COMMAND and measure where its threads spend their time.\n"
         "\n"
         "  -o, --output DIR        measurement directory; default:\n"
         "                          hpcrun-lite-COMMAND-measurements, then -2, -3, ...\n"
         "      --overwrite         replace the measurements in DIR\n"
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
         "      --omp-runtime WHICH auto: measure the program's own runtime, but run it on\n"
         "                          LLVM's newest libomp instead of an old one;\n"
         "                          exchange: run programs built by GCC on libomp;\n"
         "                          keep: never replace it, and do not measure libgomp;\n"
         "                          FILE: use that library; default: auto\n"
         "  -t, --trace[=WHAT]      also record what each thread does when: states, or\n"
         "                          samples only; default: states\n"
         "      --trace-limit SIZE  most bytes of it for each process, before they are\n"
         "                          compressed; SIZE may end in K, M or G; default: 1G\n"
         "      --trace-keep WHICH  beyond that, keep the first part or the last;\n"
         "                          default: first\n"
         "      --paused            start paused: the program starts measuring with\n"
         "                          hpcrun_lite_start() or omp_control_tool()\n"
         "      --report            when COMMAND has ended, print the summary of\n"
         "                          hpcprof-lite on standard error, and write all\n"
         "                          views to DIR.html, for a browser\n"
         "      --scaling N,N,...   run COMMAND once with each of these numbers of\n"
         "                          threads, and measure each run into DIR/threads-N;\n"
         "                          default DIR: hpcrun-lite-COMMAND-scaling\n"
         "      --repeat N          of --scaling: run all of them N times\n"
         "      --scale-with V,V,...\n"
         "                          of --scaling: replace {} in COMMAND's arguments by one\n"
         "                          of these values for each number of threads\n"
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
  TRACE_KEEP,
  WORK,
  TASK_CONTEXT,
  RUNTIME,
  OVERWRITE,
  PAUSED,
  ENV,
  DIAGNOSE,
  VERSION,
  REPORT,
  SCALING,
  REPEAT,
  SCALE_WITH,
  LIST_EVENTS
};

enum { TRACE_LEAST = 64 << 10 };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"overwrite", no_argument, NULL, OVERWRITE},
                                        {"event", required_argument, NULL, 'e'},
                                        {"count", required_argument, NULL, 'c'},
                                        {"list-events", no_argument, NULL, LIST_EVENTS},
                                        {"parallelism", required_argument, NULL, 'p'},
                                        {"work", required_argument, NULL, WORK},
                                        {"task-context", required_argument, NULL, TASK_CONTEXT},
                                        {"omp-runtime", required_argument, NULL, RUNTIME},
                                        {"paused", no_argument, NULL, PAUSED},
                                        {"report", no_argument, NULL, REPORT},
                                        {"scaling", required_argument, NULL, SCALING},
                                        {"repeat", required_argument, NULL, REPEAT},
                                        {"scale-with", required_argument, NULL, SCALE_WITH},
                                        {"env", no_argument, NULL, ENV},
                                        {"diagnose", no_argument, NULL, DIAGNOSE},
                                        {"trace", optional_argument, NULL, 't'},
                                        {"trace-limit", required_argument, NULL, TRACE_LIMIT},
                                        {"trace-keep", required_argument, NULL, TRACE_KEEP},
                                        {"quiet", no_argument, NULL, 'q'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"version", no_argument, NULL, VERSION},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};

struct parser {
  struct plan *plan;
  enum arguments_mode *mode;
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

/* Takes one of the words that the option may have; words ends in NULL. */
static enum launch_status take_word(const struct parser *parser, const char *option, const char *what,
                                    const char *const *words, const char **into)
{
  char all[128] = "";
  for (; *words && strcmp(*words, optarg) != 0; words++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", all[0] ? ", " : "", *words);
  if (!*words)
    return fail(parser, "option %s: unknown %s '%.100s' (%s)", option, what, optarg, all);
  *into = *words;
  return LAUNCH_OK;
}

/* Appends an event to the list. */
static enum launch_status take_event(const struct parser *parser)
{
  static char list[EVENTS_MAX * 256];
  size_t used = strlen(list);
  if (!*optarg)
    return fail(parser, "option --event needs an event: see hpcrun-lite(1) for names");
  if (used + strlen(optarg) + 2 > sizeof list)
    return fail(parser, "option --event: too many events");
  snprintf(list + used, sizeof list - used, "%s%s", used ? "," : "", optarg);
  parser->plan->event_list = list;
  return LAUNCH_OK;
}

static enum launch_status take_trace(const struct parser *parser)
{
  static const char *const what[] = {"states", "samples", NULL};
  parser->plan->trace = what[0];
  return optarg ? take_word(parser, "--trace", "kind of trace", what, &parser->plan->trace) : LAUNCH_OK;
}

/* A size in bytes: a number that may end in K, M or G. */
static enum launch_status take_trace_limit(const struct parser *parser)
{
  static const char suffixes[] = "KMG";
  char *end;
  unsigned long long size = strtoull(optarg, &end, 10);
  const char *suffix = *end ? strchr(suffixes, *end) : NULL;
  unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
  bool number = *optarg >= '0' && *optarg <= '9' && (suffix ? !end[1] : !*end);
  if (!number || size > UINT64_MAX >> shift || (size << shift) < TRACE_LEAST)
    return fail(parser, "option --trace-limit: '%.100s' is not a size of at least 64K, such as 500M", optarg);
  parser->plan->trace_limit = size << shift;
  return LAUNCH_OK;
}

static enum launch_status take_value(const struct parser *parser, int option)
{
  static const char *const parts[] = {"first", "last", NULL};
  static const char *const modes[] = {"off", "online", "log", NULL};
  static const char *const units[] = {"cpu-time", "instructions", "cycles", "user", NULL};
  static const char *const contexts[] = {"region", "creation", NULL};
  struct plan *plan = parser->plan;
  switch (option) {
  case 'e':
    return take_event(parser);
  case 'c':
    return count_events_add(&plan->counted, optarg, parser->message, parser->message_size) ? LAUNCH_OK : LAUNCH_FAILED;
  case 'p':
    return take_word(parser, "--parallelism", "mode", modes, &plan->parallelism);
  case TRACE_LIMIT:
    return take_trace_limit(parser);
  case TRACE_KEEP:
    return take_word(parser, "--trace-keep", "part", parts, &plan->trace_keep);
  case WORK:
    return take_word(parser, "--work", "unit", units, &plan->work);
  case TASK_CONTEXT:
    return take_word(parser, "--task-context", "context", contexts, &plan->task_context);
  case SCALING:
    return series_parse_threads(optarg, &plan->series, parser->message, parser->message_size) ? LAUNCH_OK
                                                                                              : LAUNCH_FAILED;
  case REPEAT:
    return series_parse_repeat(optarg, &plan->series, parser->message, parser->message_size) ? LAUNCH_OK
                                                                                             : LAUNCH_FAILED;
  case SCALE_WITH:
    plan->series.values = optarg;
    return LAUNCH_OK;
  case RUNTIME:
    plan->runtime = optarg;
    return *optarg ? LAUNCH_OK : fail(parser, "option --omp-runtime needs auto, exchange, keep or a library");
  default:
    plan->output = optarg;
    return *optarg ? LAUNCH_OK : fail(parser, "option --output needs a directory");
  }
}

static enum launch_status take_option(const struct parser *parser, int option, const char *word)
{
  switch (option) {
  case OVERWRITE:
    parser->plan->overwrite = true;
    return LAUNCH_OK;
  case REPORT:
    parser->plan->report = true;
    return LAUNCH_OK;
  case PAUSED:
    parser->plan->paused = true;
    return LAUNCH_OK;
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
    return take_trace(parser);
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

enum launch_status arguments_parse(int argc, char **argv, struct plan *plan, enum arguments_mode *mode, char *message,
                                   size_t message_size)
{
  const struct parser parser = {plan, mode, message, message_size};
  const char *of_trace = NULL; /* an option that needs a trace */
  int option;
  opterr = 0;
  while ((option = getopt_long(argc, argv, "+:o:e:c:p:t::qvh", options, NULL)) != -1) {
    if (option == 'h' || option == VERSION || option == LIST_EVENTS) {
      *mode = option == 'h' ? MODE_HELP : option == VERSION ? MODE_VERSION : MODE_LIST_EVENTS;
      return LAUNCH_OK;
    }
    enum launch_status status = take_option(&parser, option, argv[optind - 1]);
    if (status != LAUNCH_OK)
      return status;
    of_trace = option == TRACE_LIMIT ? "--trace-limit" : option == TRACE_KEEP ? "--trace-keep" : of_trace;
  }
  if (of_trace && !plan->trace)
    return fail(&parser, "option %s needs -t: without it there is no trace", of_trace);
  if (plan->report && *mode != MODE_RUN)
    return fail(&parser, "option --report needs a run: %s runs nothing", *mode == MODE_ENV ? "--env" : "--diagnose");
  if (plan->series.count && *mode != MODE_RUN)
    return fail(&parser, "option --scaling needs runs: %s runs nothing", *mode == MODE_ENV ? "--env" : "--diagnose");
  plan->command = argv + optind;
  if (!series_check(&plan->series, plan->command, message, message_size))
    return LAUNCH_FAILED;
  if (!plan->command[0] && *mode != MODE_ENV)
    return fail(&parser, "no COMMAND: see hpcrun-lite --help");
  return LAUNCH_OK;
}
