/* Writes a completion or a manual: describe PROGRAM TEMPLATE prints the template with what the program's options are.
 *
 * Context: BATCH, while the programs are built; it is not installed.  The options are those of the programs themselves.
 * In a template, @options@ are all options, @valued@ those that take the next word (a pattern), @views@ the names of
 * the views, @values@ what bash offers as values (branches of a case), @arguments@ what zsh's _arguments takes,
 * @branches@ the columns of each view (branches of a case), and @columns VIEW@ the items of the manual's list of them.
 */
#include "common/command_line.h"
#include "common/events.h"
#include "completions/view_columns.h"
#include "hpcprof-lite/invocation/options.h"
#include "hpcrun-lite/launch/launch_options.h"

#include <stdbool.h>
#include <string.h>

struct program {
  const char *name;
  const char *prefix; /* of shell functions */
  const struct command_option *options;
  size_t count;
};

static const struct program programs[] = {{"hpcprof-lite", "_hpcprof_lite", options_described, OPTIONS_GIVEN},
                                          {"hpcrun-lite", "_hpcrun_lite", launch_options, LAUNCH_OPTIONS}};

/* The words that an option has as values, or NULL. */
static const char *const *words_of(const struct command_option *option)
{
  static const char *events[EVENTS_NAMES + 1];
  events_list(events);
  return option->value == COMMAND_EVENTS ? events : option->words;
}

static void print_words(const struct command_option *option, const char *ending)
{
  const char *const *words = words_of(option);
  for (size_t i = 0; words && words[i]; i++)
    printf("%s%s%s", i ? " " : "", words[i], ending);
  if (option->value == COMMAND_CONDITION)
    view_columns_conditions();
}

static bool takes_next_word(const struct command_option *option)
{
  return option->argument && *option->argument != '[';
}

static void print_options(const struct program *program)
{
  for (size_t i = 0; i < program->count; i++)
    printf("--%s ", program->options[i].name);
  for (size_t i = 0; i < program->count; i++)
    if (program->options[i].letter)
      printf("-%c ", program->options[i].letter);
}

/* The option as a pattern of bash. */
static void print_pattern(const struct command_option *option)
{
  if (option->letter && takes_next_word(option))
    printf("-%c | ", option->letter);
  printf("--%s", option->name);
}

static void print_valued(const struct program *program)
{
  const char *separator = "";
  for (size_t i = 0; i < program->count; i++) {
    if (!takes_next_word(&program->options[i]))
      continue;
    fputs(separator, stdout);
    print_pattern(&program->options[i]);
    separator = " | ";
  }
}

static void print_views(const struct program *program)
{
  (void)program;
  print_words(&options_described[GIVEN_VIEW], "");
}

/* What bash offers as the value of an option. */
static void print_value(const struct program *program, const struct command_option *option)
{
  static const char *const functions[] = {
      [COMMAND_WORD_OR_FILE] = "files", [COMMAND_FILE] = "files", [COMMAND_DIRECTORY] = "folders",
      [COMMAND_RUN] = "directories",    [COMMAND_RUNS] = "list",  [COMMAND_FREE] = NULL};
  fputs("        ", stdout);
  print_pattern(option);
  switch (option->value) {
  case COMMAND_FREE:
    puts(") return ;;");
    return;
  case COMMAND_WORDS:
  case COMMAND_EVENTS:
  case COMMAND_LIMITS:
  case COMMAND_CONDITION:
    fputs(") values='", stdout);
    print_words(option, option->value == COMMAND_LIMITS ? "=" : "");
    puts(option->value == COMMAND_LIMITS ? "' && compopt -o nospace 2>/dev/null ;;" : "' ;;");
    return;
  case COMMAND_COLUMN:
  case COMMAND_COLUMNS:
    printf(") %s_columns %s; [[ -n $values ]] || return ;;\n", program->prefix, option->name);
    return;
  default:
    printf(") %s_%s \"$cur\" '", program->prefix, functions[option->value]);
    print_words(option, "");
    puts("'; return ;;");
  }
}

static void print_values(const struct program *program)
{
  for (size_t i = 0; i < program->count; i++)
    if (program->options[i].argument)
      print_value(program, &program->options[i]);
}

/* A view or a format with what it is. */
static void print_row(const char *name, const char *phrase)
{
  printf(" %s\\:\"%s\"", name, phrase);
}

static void print_rows(bool views)
{
  putchar('(');
  for (size_t i = 0; views && i < OPTIONS_VIEWS; i++)
    print_row(options_views[i].name, options_views[i].phrase);
  for (size_t i = 0; !views && i < OPTIONS_FORMATS; i++)
    print_row(options_formats[i].name, options_formats[i].phrase);
  putchar(')');
}

/* What zsh does for the value of an option. */
static void print_action(const struct program *program, const struct command_option *option)
{
  printf(":%s:", option->name);
  switch (option->value) {
  case COMMAND_FREE:
    putchar(' ');
    return;
  case COMMAND_WORDS:
  case COMMAND_EVENTS:
    putchar('(');
    if (option == &options_described[GIVEN_VIEW] || option == &options_described[GIVEN_FORMAT])
      print_rows(option == &options_described[GIVEN_VIEW]);
    else
      print_words(option, "");
    putchar(')');
    return;
  case COMMAND_LIMITS:
    fputs("compadd -S = - ", stdout);
    break;
  case COMMAND_WORD_OR_FILE:
    printf(" %s_word_or_file ", program->prefix);
    break;
  case COMMAND_FILE:
    fputs("_files", stdout);
    return;
  case COMMAND_DIRECTORY:
    fputs("_files -/", stdout);
    return;
  case COMMAND_COLUMN:
  case COMMAND_COLUMNS:
    printf("%s_columns %s", program->prefix, option->name);
    return;
  case COMMAND_CONDITION:
    fputs("compadd - ", stdout);
    break;
  default:
    printf("%s_directories", program->prefix);
    return;
  }
  print_words(option, "");
}

/* Which options zsh no longer offers after this one; '*': it may be repeated. */
static void print_exclusions(const struct command_option *option, bool repeatable)
{
  bool last = !strcmp(option->name, "help") || !strcmp(option->name, "version");
  if (repeatable)
    putchar('*');
  else if (last)
    fputs("(- *)", stdout);
  else if (option->excludes)
    printf("(%s)", option->excludes);
  else if (option->letter)
    printf("(-%c --%s)", option->letter, option->name);
}

static void print_arguments(const struct program *program)
{
  for (size_t i = 0; i < program->count; i++) {
    const struct command_option *option = &program->options[i];
    bool optional = option->argument && *option->argument == '[', repeatable = *option->brief == '*';
    const char *letter_end = "", *name_end = "";
    if (option->argument) {
      letter_end = optional ? "-" : "+";
      name_end = optional ? "=-" : "=";
    }
    fputs("  '", stdout);
    print_exclusions(option, repeatable);
    if (option->letter)
      printf("'{-%c%s,--%s%s}'", option->letter, letter_end, option->name, name_end);
    else
      printf("--%s%s", option->name, name_end);
    printf("[%s]%s", option->brief + repeatable, optional ? ":" : "");
    if (option->argument)
      print_action(program, option);
    puts("' \\");
  }
}

static void print_branches(const struct program *program)
{
  (void)program;
  view_columns_branches();
}

/* Prints a list of the manual if the line stands for one. */
static bool print_items(const char *line)
{
  char view[64];
  return sscanf(line, "@columns %63[^@]@", view) == 1 && view_columns_items(view);
}

/* Prints a line of the template. */
static void print_line(const struct program *program, const char *line)
{
  static const struct {
    const char *place;
    void (*print)(const struct program *program);
    bool lines; /* the place is a line of its own */
  } places[] = {{"@options@", print_options, false},  {"@valued@", print_valued, false},
                {"@views@", print_views, false},      {"@values@", print_values, true},
                {"@branches@", print_branches, true}, {"@arguments@", print_arguments, true}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *place = strstr(line, places[i].place);
    if (!place)
      continue;
    if (!places[i].lines)
      printf("%.*s", (int)(place - line), line);
    places[i].print(program);
    if (!places[i].lines)
      fputs(place + strlen(places[i].place), stdout);
    return;
  }
  if (!print_items(line))
    fputs(line, stdout);
}

int main(int argc, char **argv)
{
  char line[1024];
  FILE *template = argc == 3 ? fopen(argv[2], "re") : NULL;
  const struct program *program = programs;
  if (!template)
    return 1;
  while (strcmp(program->name, argv[1]) != 0)
    if (++program == programs + sizeof programs / sizeof *programs)
      return 1;
  while (fgets(line, sizeof line, template))
    print_line(program, line);
  bool failed = ferror(template);
  failed |= fclose(template) != 0;
  failed |= fflush(stdout) != 0;
  return failed;
}
