#include "hpcrun-lite/launch/program/exchange.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *text)
{
  return text + strspn(text, " \t\n");
}

/* Takes a number of 1 or more, and the blanks around it.  Returns what follows it, or NULL. */
static const char *take_count(const char *text)
{
  char *end;
  text = skip_blanks(text);
  if (!isdigit((unsigned char)*text))
    return NULL;
  errno = 0;
  long value = strtol(text, &end, 10);
  return errno == 0 && value >= 1 && value <= INT_MAX ? skip_blanks(end) : NULL;
}

static bool is_count_list(const char *text)
{
  do {
    text = take_count(text);
  } while (text && *text == ',' && *++text);
  return text && *text == '\0' && text[-1] != ',';
}

/* ---- settings ---- */

static bool says(const char *name, const char *value)
{
  const char *setting = getenv(name);
  return setting && strcasecmp(setting, value) == 0;
}

static bool is_set(const char *name)
{
  const char *setting = getenv(name);
  return setting && *setting;
}

/* A setting that binds threads.  On libomp a bound first thread sees one core, and creates teams of one thread. */
static const char *binding_setting(void)
{
  static const char *const names[] = {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND"};
  bool unbound = says("OMP_PROC_BIND", "false");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_set(names[i]) && !(unbound && i >= 2))
      return names[i];
  return NULL;
}

/* A malformed count: libgomp warns and uses its default, libomp aborts, hangs or uses one thread. */
static const char *malformed_setting(void)
{
  const char *threads = getenv("OMP_NUM_THREADS"), *limit = getenv("OMP_THREAD_LIMIT");
  if (threads && !is_count_list(threads))
    return "OMP_NUM_THREADS";
  const char *end = limit && isdigit((unsigned char)*limit) ? take_count(limit) : "";
  return end ? NULL : "OMP_THREAD_LIMIT";
}

/* A setting that makes the runtime print: each runtime prints in its own form. */
static const char *printing_setting(void)
{
  static const char *const names[] = {"OMP_DISPLAY_ENV", "OMP_DISPLAY_AFFINITY"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is_set(names[i]) && !says(names[i], "false"))
      return names[i];
  return NULL;
}

/* Is OMP_SCHEDULE a schedule that is the same on both runtimes?  Their defaults and their auto differ. */
static bool same_schedule(void)
{
  const char *schedule = getenv("OMP_SCHEDULE");
  if (!schedule)
    return false;
  size_t kind = strcspn(schedule, ",");
  if (!(kind == 6 && strncasecmp(schedule, "static", kind) == 0) &&
      !(kind == 7 && strncasecmp(schedule, "dynamic", kind) == 0))
    return false;
  const char *end = schedule[kind] == ',' && schedule[kind + 1] != ' ' ? take_count(schedule + kind + 1) : NULL;
  return schedule[kind] == '\0' || (end && *end == '\0');
}

/* ---- what the program calls ---- */

struct calls {
  bool taskloops, scans, teams, schedule, places, display_affinity, affinity_text;
};

/* Entry points of worksharing with memory for inclusive scans, conditional lastprivate or task reductions. */
static bool begins_scan(const char *name)
{
  static const char *const names[] = {"GOMP_loop_start",          "GOMP_loop_ull_start",
                                      "GOMP_loop_ordered_start",  "GOMP_loop_ull_ordered_start",
                                      "GOMP_loop_doacross_start", "GOMP_loop_ull_doacross_start",
                                      "GOMP_sections2_start"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

static void visit_symbol(void *context, const struct elf_symbol *symbol)
{
  struct calls *calls = context;
  const char *name = symbol->name;
  if (!symbol->undefined)
    return;
  calls->taskloops |= strncmp(name, "GOMP_taskloop", 13) == 0; /* and GOMP_taskloop_ull */
  calls->scans |= begins_scan(name);
  calls->teams |= strcmp(name, "GOMP_teams_reg") == 0;
  calls->schedule |= (strncmp(name, "GOMP_", 5) == 0 && strstr(name, "loop") && strstr(name, "runtime")) ||
                     strncmp(name, "omp_get_schedule", 16) == 0;
  calls->places |= strncmp(name, "omp_get_num_places", 18) == 0 || strncmp(name, "omp_get_place_num", 17) == 0;
  calls->display_affinity |= strncmp(name, "omp_display_affinity", 20) == 0;
  calls->affinity_text |=
      strncmp(name, "omp_capture_affinity", 20) == 0 || strncmp(name, "omp_get_affinity_format", 23) == 0;
}

static void add_risk(char *risks, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add_risk(char *risks, size_t size, const char *format, ...)
{
  size_t used = strlen(risks);
  va_list arguments;
  used += (size_t)snprintf(risks + used, size - used, "%s", used > 0 ? "; " : "risks: ");
  va_start(arguments, format);
  if (used < size)
    vsnprintf(risks + used, size - used, format, arguments);
  va_end(arguments);
}

static void add_settings(char *risks, size_t size)
{
  const char *setting;
  if ((setting = binding_setting()))
    add_risk(risks, size, "with %s, teams of threads shrink or are bound otherwise on libomp (unset it)", setting);
  if ((setting = malformed_setting()))
    add_risk(risks, size, "%s is malformed, which ends or changes the program on libomp (correct it)", setting);
  if ((setting = printing_setting()))
    add_risk(risks, size, "with %s, libomp prints in a form of its own (unset it)", setting);
}

static void add_affinity_calls(const struct calls *calls, char *risks, size_t size)
{
  static const char remedy[] = "set OMP_AFFINITY_FORMAT, without %A and %i, for the same text";
  if (calls->display_affinity)
    add_risk(risks, size,
             "omp_display_affinity() prints on standard output on libomp, instead of on standard error, and in another "
             "form (%s)",
             remedy);
  if (calls->affinity_text)
    add_risk(risks, size, "omp_capture_affinity() and omp_get_affinity_format() return another text on libomp (%s)",
             remedy);
}

static void add_calls(const struct calls *calls, char *risks, size_t size)
{
  if (calls->taskloops)
    add_risk(risks, size, "libomp runs wrong iterations of taskloops that do not count up by 1");
  if (calls->scans)
    add_risk(risks, size,
             "scans, conditional lastprivate and task reductions in loops, of which the program has some, may end it "
             "on libomp");
  if (calls->teams)
    add_risk(risks, size, "teams constructs have other sizes on libomp");
  if (calls->schedule && !same_schedule())
    add_risk(risks, size,
             "the default of schedule(runtime) differs on libomp (set OMP_SCHEDULE to dynamic, which is libgomp's, or "
             "to static, with or without a chunk size)");
  if (calls->places)
    add_risk(risks, size, "omp_get_num_places() and omp_get_place_num() differ on libomp");
  add_affinity_calls(calls, risks, size);
}

void exchange_risks(const struct program *program, const char *tool, char *risks, size_t size)
{
  struct calls calls = {0};
  risks[0] = '\0';
  for (size_t i = 0; i < program->module_count; i++)
    if (strncmp(path_base(program->modules[i]), "libgomp", 7) != 0)
      elf_symbols_visit(program->modules[i], NULL, visit_symbol, &calls);
  add_settings(risks, size);
  add_calls(&calls, risks, size);
  if (tool[0] != '\0')
    add_risk(risks, size,
             "libomp starts the program's own OMPT tool, %.200s, instead of hpcrun-lite's: work and span are not known",
             tool);
  if (program->module_count > 0 && !program->is_complete)
    add_risk(risks, size, "not all libraries of the program were found, and libomp may lack what they need");
}
