#include "common/command_line.h"

#include "common/words.h"

#include <assert.h>
#include <string.h>

enum { NUMBERS = 256, HELP_COLUMN = 26, HELP_WIDTH = 80 };

void command_line_init(struct command_line *line, const char *first, const struct command_option *options, size_t count)
{
  assert(count <= COMMAND_OPTIONS_MAX && strlen(first) <= 2);
  *line = (struct command_line){.options = options, .count = count};
  char *letters = stpcpy(line->letters, first);
  for (size_t i = 0; i < count; i++) {
    int kind = no_argument;
    if (options[i].argument)
      kind = options[i].argument[0] == '[' ? optional_argument : required_argument;
    line->long_options[i] = (struct option){options[i].name, kind, NULL, NUMBERS + (int)i};
    if (!options[i].letter)
      continue;
    *letters++ = options[i].letter;
    for (int colons = 0; colons < kind; colons++) /* the number of the kind is that of its colons */
      *letters++ = ':';
  }
}

int command_line_next(const struct command_line *line, int argc, char *const *argv)
{
  int found = getopt_long(argc, argv, line->letters, line->long_options, NULL);
  if (found == -1)
    return -1;
  if (found == '?' || found == ':')
    return -found;
  if (found >= NUMBERS)
    return found - NUMBERS;
  int position = 0;
  while (line->options[position].letter != found)
    position++;
  return position;
}

const char *command_line_similar(const struct command_line *line, const char *word)
{
  const char *names[COMMAND_OPTIONS_MAX + 1] = {NULL};
  char name[64];
  for (size_t i = 0; i < line->count; i++)
    names[i] = line->options[i].name;
  if (strncmp(word, "--", 2))
    return NULL;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
  return words_similar(names, name);
}

/* Ends a line of a paragraph and begins the next one.  Returns its column. */
static int new_line(FILE *stream)
{
  return fprintf(stream, "\n%*s", HELP_COLUMN, "") - 1;
}

void command_line_print(FILE *stream, const struct command_option *option, const char *help)
{
  char letter[] = "    ";
  if (option->letter)
    snprintf(letter, sizeof letter, "-%c, ", option->letter);
  int column = fprintf(stream, "  %s--%s", letter, option->name);
  if (option->argument)
    column += fprintf(stream, "%s%s", option->argument[0] == '[' ? "" : " ", option->argument);
  if (column < HELP_COLUMN && *help != '\n')
    column += fprintf(stream, "%*s", HELP_COLUMN - column, "");
  else
    column = new_line(stream);
  for (help += *help == '\n'; *help; help += *help != '\0') {
    int length = (int)strcspn(help, " \n");
    if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH)
      column = new_line(stream);
    column += fprintf(stream, "%s%.*s", column > HELP_COLUMN ? " " : "", length, help);
    help += length;
    if (*help == '\n')
      column = new_line(stream);
  }
  fputc('\n', stream);
}
