#include "hpcrun-lite/launch/configuration/print_settings.h"

#include <string.h>

#include "common/escape.h"
#include "common/utf8.h"

enum { COLUMN = 40, LINE_MAX_BYTES = 190 /* libinih's limit is a little above */ };

struct printer {
  FILE *stream;
  const struct configuration *configuration;
};

/* Characters that are unsafe on a terminal are escaped. */
static void print_plain(FILE *stream, const char *text)
{
  char character[ESCAPE_MAX];
  while (*text) {
    text += escape_character(text, false, character);
    fputs(character, stream);
  }
}

/* Whether a file can contain the value as it is. */
static bool is_writable(const struct setting_key *key, const char *text)
{
  size_t length = strlen(text);
  for (const char *at = text; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 127 || ((*at == ';' || *at == '#') && (at == text || at[-1] == ' ')))
      return false;
  return length && *text != ' ' && text[length - 1] != ' ' &&
         (key->list || strlen(key->name) + length < LINE_MAX_BYTES);
}

/* Whether the value can be printed as it is. */
static bool is_shown(const char *text)
{
  size_t length = 1;
  for (; *text && length; text += length) {
    length = utf8_length(text);
    if (length && escape_needed(utf8_code(text, length)))
      return false;
  }
  return length;
}

/* Where the value comes from. */
static void print_source(const struct printer *printer, const struct setting_values *values, enum setting setting)
{
  switch (values->source[setting]) {
  case SOURCE_PRESET:
    fputs("default", printer->stream);
    break;
  case SOURCE_DERIVED:
    fputs("follows from the other settings", printer->stream);
    break;
  case SOURCE_OPTION:
    fprintf(printer->stream, "option %s", setting_keys[setting].option);
    break;
  case SOURCE_FILE:
    print_plain(printer->stream, printer->configuration->path);
    fprintf(printer->stream, ":%d", values->of.line[setting]);
    break;
  }
}

/* Prints the list in lines that are short enough.  Returns the column at the end. */
static int print_list(FILE *stream, const char *text, int column)
{
  while (*text) {
    size_t comma = strcspn(text, ","), length = comma + (text[comma] == ',');
    if (column + (int)length > LINE_MAX_BYTES)
      column = fprintf(stream, "\n  ") - 1;
    column += fprintf(stream, "%.*s", (int)length, text);
    text += length;
    text += strspn(text, " ");
  }
  return column;
}

/* Prints a comment behind a value, or in a line of its own before it if that line would be too long. */
static void print_setting(const struct printer *printer, const struct setting_values *values, enum setting setting)
{
  const struct setting_key *key = &setting_keys[setting];
  const char *text = values->of.text[setting];
  FILE *stream = printer->stream;
  if (!text) {
    fprintf(stream, "# %s =%*s; not set\n", key->name, COLUMN - 4 - (int)strlen(key->name), "");
    return;
  }
  bool writable = is_writable(key, text), shown = is_shown(text);
  if (!writable)
    fputs("# (a file cannot contain this value) ", stream);
  else if (!shown)
    fputs("# (escaped here) ", stream);
  else if (values->source[setting] == SOURCE_FILE) {
    fputs("# ", stream);
    print_source(printer, values, setting);
    fputc('\n', stream);
  }
  int column = fprintf(stream, "%s = ", key->name);
  if (!writable || !shown)
    print_plain(stream, text);
  else if (key->list)
    column = print_list(stream, text, column);
  else
    column += fprintf(stream, "%s", text);
  if (values->source[setting] != SOURCE_FILE) {
    fprintf(stream, "%*s ; ", column < COLUMN - 1 ? COLUMN - 1 - column : 0, "");
    print_source(printer, values, setting);
  }
  fputc('\n', stream);
}

static void print_section(const struct printer *printer, const struct setting_values *values,
                          enum setting_section section, const char *name)
{
  fprintf(printer->stream, "\n[%s]\n", name);
  for (enum setting setting = 0; setting < SETTINGS; setting++)
    if (setting_keys[setting].section == section)
      print_setting(printer, values, setting);
}

/* The keys of a program's section; options hold for it, too, and win. */
static void print_program(const struct printer *printer, const struct setting_values *values, const char *name,
                          const struct setting_layer *layer)
{
  fputs("\n[program ", printer->stream);
  print_plain(printer->stream, name);
  fputs("]\n", printer->stream);
  for (enum setting setting = 0; setting < SETTINGS; setting++)
    if (layer->text[setting])
      print_setting(printer, values, setting);
}

void print_settings(const struct setting_layer *options, const struct configuration *configuration, FILE *stream)
{
  const struct printer printer = {stream, configuration};
  struct setting_values values;
  setting_resolve(options, NULL, &configuration->common, &values);
  fputs("# The settings in force; configuration file: ", stream);
  print_plain(stream, configuration->path[0] ? configuration->path : "none");
  fputc('\n', stream);
  print_section(&printer, &values, SECTION_MEASURE, "measure");
  print_section(&printer, &values, SECTION_FILTER, "filter");
  print_section(&printer, &values, SECTION_BUFFERS, "buffers");
  for (unsigned i = 0; i < configuration->program_count; i++) {
    const struct configuration_program *program = &configuration->programs[i];
    setting_resolve(options, &program->layer, &configuration->common, &values);
    print_program(&printer, &values, program->name, &program->layer);
  }
}
