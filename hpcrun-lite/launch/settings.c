#include "hpcrun-lite/launch/settings.h"

#include "common/array.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_BYTES_MAX (8u << 20)

static void print_quoted(const char *text)
{
  putchar('\'');
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*text);
  }
  putchar('\'');
}

static bool is_shell_name(const char *assignment)
{
  size_t length = strcspn(assignment, "=");
  if (length == 0 || isdigit((unsigned char)assignment[0]))
    return false;
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)assignment[i]) && assignment[i] != '_')
      return false;
  return true;
}

/* Returns the environment that the launcher was started with, NUL-separated assignments; NULL if it cannot be read. */
static char *read_environment(long pid, size_t *size)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/environ", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  char *text = malloc(ENVIRONMENT_BYTES_MAX + 1);
  ssize_t got;
  *size = 0;
  if (fd < 0 || !text) {
    free(text);
    text = NULL;
  }
  while (text && *size < ENVIRONMENT_BYTES_MAX && (got = read(fd, text + *size, ENVIRONMENT_BYTES_MAX - *size)) > 0)
    *size += (size_t)got;
  if (text)
    text[*size] = '\0';
  if (fd >= 0)
    close(fd);
  return text;
}

/* Variables whose names are invalid in a shell (such as exported functions of bash): some shells drop them. */
struct unusual_variables {
  const char **list;
  size_t count, room;
};

static void add_unusual(struct unusual_variables *unusual, const char *assignment)
{
  if (array_reserve(&unusual->list, &unusual->room, unusual->count + 1, sizeof *unusual->list))
    unusual->list[unusual->count++] = assignment;
}

/* Is it expected to differ?  The launcher runs the helper with another LD_PRELOAD, and '_' changes with every command.
 */
static bool is_transient(const char *assignment)
{
  return strncmp(assignment, "LD_PRELOAD=", 11) == 0 || strncmp(assignment, "_=", 2) == 0;
}

/* One setting: a line for the shell, or a word of the command that replaces it. */
static void print_setting(bool as_word, const char *name, const char *value)
{
  if (as_word) {
    printf(" %s=", name);
    print_quoted(value);
  } else {
    printf("export %s=", name);
    print_quoted(value);
    putchar('\n');
  }
}

static void print_optional(bool as_word, const char *name, const char *value)
{
  if (value[0] != '\0')
    print_setting(as_word, name, value);
}

/* The note for reports.  Whether the program's own tool starts is known only when it has run. */
static const char *report_note(const struct runtime_choice *choice)
{
  return choice->tool[0] != '\0' && choice->own != RUNTIME_GOMP ? "" : choice->note;
}

static void print_settings(const struct plan *plan, bool as_words)
{
  static char value[PLAN_VALUE_BYTES];
  char number[32];
  plan_preload_value(plan, value, sizeof value);
  print_setting(as_words, "LD_PRELOAD", value);
  plan_tools_value(plan, value, sizeof value);
  print_setting(as_words, "OMP_TOOL_LIBRARIES", value);
  print_setting(as_words, "HPCRUN_LITE_DIR", plan->directory);
  print_setting(as_words, "HPCRUN_LITE_EVENTS", plan->event_list);
  print_setting(as_words, "HPCRUN_LITE_TASKS", plan->task_context);
  print_setting(as_words, "HPCRUN_LITE_PARALLELISM", plan->parallelism);
  print_setting(as_words, "HPCRUN_LITE_WORK", plan->work);
  print_setting(as_words, "HPCRUN_LITE_PAUSED", plan->paused ? "1" : "0");
  snprintf(number, sizeof number, "%d", plan->log_level);
  print_setting(as_words, "HPCRUN_LITE_LOG", number);
  if (!plan->for_script) {
    snprintf(number, sizeof number, "%ld", plan->launcher_pid);
    print_setting(as_words, "HPCRUN_LITE_PID", number);
  }
  print_optional(as_words, "HPCRUN_LITE_RUNTIME", plan->choice.preload);
  if (plan->program.has_address_sanitizer) {
    const char *options = getenv("ASAN_OPTIONS");
    snprintf(value, sizeof value, "%s%sverify_asan_link_order=0", options ? options : "", options ? ":" : "");
    print_setting(as_words, "ASAN_OPTIONS", value);
  }
  bool exchanged = plan->choice.own == RUNTIME_GOMP && plan->choice.preload[0] != '\0';
  if (exchanged && !getenv("KMP_WARNINGS"))
    print_setting(as_words, "KMP_WARNINGS", "0"); /* libomp warns of deprecated routines, libgomp does not */
  if (exchanged && !getenv("KMP_LOCK_KIND"))
    print_setting(as_words, "KMP_LOCK_KIND", "tas"); /* the kind whose cost is nearest to that of libgomp's locks */
  print_optional(as_words, "HPCRUN_LITE_NOTE", report_note(&plan->choice));
}

/* Unsets what an outer launch has set and this one does not set. */
static void print_unset(const struct plan *plan)
{
  if (getenv("HPCRUN_LITE_PID") && plan->for_script)
    puts("unset HPCRUN_LITE_PID");
  if (getenv("HPCRUN_LITE_RUNTIME") && plan->choice.preload[0] == '\0')
    puts("unset HPCRUN_LITE_RUNTIME");
  if (getenv("HPCRUN_LITE_NOTE") && report_note(&plan->choice)[0] == '\0')
    puts("unset HPCRUN_LITE_NOTE");
}

/* Restores the value of a variable that the launcher's shell has changed. */
static void print_restored(const char *assignment)
{
  char name[256];
  const char *equal = strchr(assignment, '=');
  if ((size_t)(equal - assignment) >= sizeof name || is_transient(assignment))
    return;
  snprintf(name, sizeof name, "%.*s", (int)(equal - assignment), assignment);
  const char *now = getenv(name);
  if (!now || strcmp(now, equal + 1) != 0)
    print_setting(false, name, equal + 1);
}

static bool is_in(const char *text, size_t size, const char *assignment)
{
  size_t length = strcspn(assignment, "=") + 1;
  for (const char *at = text; at < text + size; at += strlen(at) + 1)
    if (strncmp(at, assignment, length) == 0)
      return true;
  return false;
}

/* A shell adds variables (PWD) and changes some: undoes that, and collects those that it may have dropped. */
static void print_environment_repairs(const char *text, size_t size, struct unusual_variables *unusual)
{
  for (const char *at = text; at < text + size; at += strlen(at) + 1) {
    if (is_shell_name(at) && strchr(at, '='))
      print_restored(at);
    else if (strchr(at, '='))
      add_unusual(unusual, at);
  }
  for (char **variable = environ; *variable; variable++)
    if (is_shell_name(*variable) && !is_transient(*variable) && !is_in(text, size, *variable))
      printf("unset %.*s\n", (int)strcspn(*variable, "="), *variable);
}

/* Settings and unusual variables as a command of the helper, which sets them and then runs COMMAND. */
static void print_as_command(const struct plan *plan, const struct unusual_variables *unusual)
{
  char self[PATH_MAX];
  plan_helper_path(self);
  printf("set -- ");
  print_quoted(self);
  printf(" exec");
  print_settings(plan, true);
  for (size_t i = 0; i < unusual->count; i++) {
    putchar(' ');
    print_quoted(unusual->list[i]);
  }
  printf(" -- \"$@\"\n");
}

void settings_print(const struct plan *plan)
{
  struct unusual_variables unusual = {0};
  size_t size = 0;
  char *text = plan->for_script ? NULL : read_environment(plan->launcher_pid, &size);
  if (text)
    print_environment_repairs(text, size, &unusual);
  print_unset(plan);
  /* In some shells exec takes a leading '-' as an option. */
  if (unusual.count > 0 || (plan->command[0] && plan->command[0][0] == '-'))
    print_as_command(plan, &unusual);
  else
    print_settings(plan, false);
  free(text);
  free(unusual.list);
}
