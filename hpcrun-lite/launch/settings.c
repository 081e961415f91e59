#include "hpcrun-lite/launch/settings.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/utf8.h"

/* A shell gets the text as it is; for a terminal, characters that are unsafe there are escaped. */
static void print_quoted(const char *text)
{
  putchar('\'');
  for (size_t length; *text; text += length) {
    length = utf8_length(text);
    bool unsafe = *text != '\n' && (!length || escape_needed(utf8_code(text, length)));
    length = length ? length : 1;
    if (unsafe) {
      fputs("'\"$(printf '", stdout);
      for (size_t i = 0; i < length; i++)
        printf("\\%03o", (unsigned char)text[i]);
      fputs("')\"'", stdout);
    } else if (*text == '\'') {
      fputs("'\\''", stdout);
    } else {
      fwrite(text, 1, length, stdout);
    }
  }
  putchar('\'');
}

/* Sets or prints one variable; value NULL: unsets it, if it is set. */
static bool apply(const struct plan *plan, const char *name, const char *value)
{
  if (!value && !getenv(name))
    return true;
  if (!plan->for_script && !value)
    return unsetenv(name) == 0;
  if (!plan->for_script)
    return setenv(name, value, 1) == 0;
  printf(value ? "export %s=" : "unset %s", name);
  if (value)
    print_quoted(value);
  putchar('\n');
  return true;
}

/* The note for reports, or NULL.  Whether the program's own tool starts is known only when it has run. */
static const char *report_note(const struct runtime_choice *choice)
{
  static char note[sizeof choice->note + sizeof choice->warning];
  bool uncertain = choice->tool[0] != '\0' && choice->own != RUNTIME_GOMP && choice->preload[0] == '\0';
  const char *both = choice->note[0] != '\0' && choice->warning[0] != '\0' ? "\n" : "";
  snprintf(note, sizeof note, "%s%s%s", uncertain ? "" : choice->note, uncertain ? "" : both, choice->warning);
  return note[0] == '\0' ? NULL : note;
}

/* ---- the NUMA nodes of this machine, for the notes ---- */

enum { NODES_MAX = 64, LINE_BYTES = 4096 };

/* Reads the line of a node's file.  Returns whether it has one. */
static bool read_line(int node, const char *name, char line[LINE_BYTES])
{
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/%s", node, name);
  FILE *file = fopen(path, "re");
  bool read = file && fgets(line, LINE_BYTES, file) && strchr(line, '\n'); /* the whole line */
  if (file)
    fclose(file);
  if (read)
    line[strcspn(line, "\n")] = '\0';
  return read;
}

/* Writes "NUMA: CPUS DISTANCES; …" with an entry for each node, as hpcprof-lite/grains/numa.h reads it; "" if there are
 * fewer than two nodes, if one has no CPUs (the distances of the others have an entry for it), or if they cannot be
 * found out. */
static void numa_note(char *note, size_t size)
{
  char cpus[LINE_BYTES], distances[LINE_BYTES];
  int node = 0, length = snprintf(note, size, "NUMA: ");
  for (; node < NODES_MAX && read_line(node, "cpulist", cpus) && read_line(node, "distance", distances); node++) {
    for (char *at = distances; (at = strchr(at, ' '));)
      *at = ',';
    length += snprintf(note + length, size - (size_t)length, "%s%s %s", node ? "; " : "", cpus, distances);
    if (!*cpus || (size_t)length >= size)
      node = NODES_MAX;
  }
  if (node < 2 || node >= NODES_MAX)
    *note = '\0';
}

/* ---- variables ---- */

/* Variables of other libraries, which are changed only where a program needs it.  Those of libomp make it resemble
 * libgomp, and stay as the user has set them. */
static bool apply_foreign(const struct plan *plan)
{
  static const char *const libomp[][2] = {
      {"KMP_WARNINGS", "0"},                         /* it warns of deprecated routines, libgomp does not */
      {"KMP_LOCK_KIND", "tas"},                      /* the kind whose cost is closest to that of libgomp's locks */
      {"KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE", "1"}, /* as libgomp does; its other way can trip an assertion */
  };
  static char value[PLAN_VALUE_BYTES];
  const char *options = getenv("ASAN_OPTIONS");
  bool done = true;
  if (plan->program.has_address_sanitizer) {
    snprintf(value, sizeof value, "%s%sverify_asan_link_order=0", options ? options : "", options ? ":" : "");
    done &= apply(plan, "ASAN_OPTIONS", value);
  }
  for (size_t i = 0; plan->choice.like_libgomp && i < sizeof libomp / sizeof *libomp; i++)
    if (!getenv(libomp[i][0]))
      done &= apply(plan, libomp[i][0], libomp[i][1]);
  return done;
}

bool settings_apply(const struct plan *plan)
{
  static char preload[PLAN_VALUE_BYTES], tools[PLAN_VALUE_BYTES];
  static const char *const adapter[] = {[GOMP_OFF] = "off", [GOMP_ON] = NULL, [GOMP_STATIC] = "static"};
  struct stat directory;
  char log[32], pid[32], limit[32], memory[32], inode[32] = "", numa[PLAN_VALUE_BYTES / 64] = "";
  plan_preload_value(plan, preload, sizeof preload);
  plan_tools_value(plan, tools, sizeof tools);
  snprintf(log, sizeof log, "%d", plan->log_level);
  snprintf(limit, sizeof limit, "%llu", (unsigned long long)plan->trace_limit);
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)plan->memory_limit);
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  if (stat(plan->directory, &directory) == 0)
    snprintf(inode, sizeof inode, "%ju", (uintmax_t)directory.st_ino);
  bool traces = plan->trace || plan->programs; /* a program's own section may ask for what others do not need */
  if (!strcmp(plan->parallelism, "log") || plan->programs)
    numa_note(numa, sizeof numa);
  const struct {
    const char *name, *value;
  } settings[] = {{"LD_PRELOAD", preload},
                  {"OMP_TOOL_LIBRARIES", tools},
                  {"HPCRUN_LITE_DIR", plan->directory},
                  {"HPCRUN_LITE_DIR_INODE", inode[0] != '\0' ? inode : NULL},
                  {"HPCRUN_LITE_EVENTS", plan->event_list},
                  {"HPCRUN_LITE_COUNT", *plan->counted.text ? plan->counted.text : NULL},
                  {"HPCRUN_LITE_TASKS", plan->task_context},
                  {"HPCRUN_LITE_PARALLELISM", plan->parallelism},
                  {"HPCRUN_LITE_WORK", plan->work},
                  {"HPCRUN_LITE_OVERHEAD_LIMIT", plan->overhead_limit},
                  {"HPCRUN_LITE_TRACE", plan->trace},
                  {"HPCRUN_LITE_MEMORY_LIMIT", plan->memory_limit ? memory : NULL},
                  {"HPCRUN_LITE_TRACE_LIMIT", traces ? limit : NULL},
                  {"HPCRUN_LITE_TRACE_KEEP", traces ? plan->trace_keep : NULL},
                  {"HPCRUN_LITE_PAUSED", plan->paused ? "1" : "0"},
                  {"HPCRUN_LITE_ARGUMENTS", plan->no_arguments ? "no" : NULL},
                  {"HPCRUN_LITE_KEEP_SYMBOLS", plan->keep_symbols ? "yes" : NULL},
                  {"HPCRUN_LITE_LEVEL", strcmp(plan->level, "summary") ? NULL : plan->level},
                  {"HPCRUN_LITE_PROGRAMS", plan->programs},
                  {"HPCRUN_LITE_LOG", log},
                  {"HPCRUN_LITE_PID", plan->for_script ? NULL : pid},
                  {"HPCRUN_LITE_GOMP", adapter[plan->choice.adapter]},
                  {"HPCRUN_LITE_RUNTIME", plan->choice.preload[0] != '\0' ? plan->choice.preload : NULL},
                  {"HPCRUN_LITE_OMP_RUNTIME", plan->runtime},
                  {"HPCRUN_LITE_FILTER", plan->filter[0] != '\0' ? plan->filter : NULL},
                  {"HPCRUN_LITE_LAUNCHER", plan->filter[0] != '\0' || plan->programs ? plan->launcher : NULL},
                  {"HPCRUN_LITE_NUMA", numa[0] != '\0' ? numa : NULL},
                  {"HPCRUN_LITE_SCALING", plan->series_note},
                  {"HPCRUN_LITE_NOTE", report_note(&plan->choice)}};
  bool done = true;
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    done &= apply(plan, settings[i].name, settings[i].value);
  return apply_foreign(plan) && done;
}
