#include "hpcprof-lite/model/selector.h"

#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char **text, uint32_t *value)
{
  char *end;
  if (**text < '0' || **text > '9')
    return false;
  errno = 0;
  unsigned long parsed = strtoul(*text, &end, 10);
  if (errno || parsed > UINT32_MAX)
    return false;
  *text = end;
  *value = (uint32_t)parsed;
  return true;
}

/* Parses `file.c:12`; any other text is left. */
static const char *parse_lines(const char *text, struct selector *selector)
{
  const char *colon = strrchr(text, ':');
  if (!colon || colon == text || colon[-1] == ':' || colon[1] < '0' || colon[1] > '9')
    return NULL;
  const char *at = colon + 1;
  selector->is_lines = parse_number(&at, &selector->from);
  selector->to = selector->from;
  if (selector->is_lines && *at == '-') {
    at++;
    selector->is_lines = parse_number(&at, &selector->to);
  }
  selector->file = text;
  selector->file_length = (size_t)(colon - text);
  if (!selector->is_lines || *at || !selector->from || selector->to < selector->from)
    return "lines must be given as file.c:12 or file.c:12-30, from 1 on";
  return NULL;
}

/* Sets copy_kind.  Returns what follows its name. */
static const char *parse_copies(const char *text, struct selector *selector)
{
  for (uint32_t kind = CONSTRUCT_COPY_TO_DEVICE; kind <= CONSTRUCT_COPY_FROM_DEVICE; kind++) {
    const char *name = profile_directive_name(kind);
    size_t length = strlen(name);
    if (!strncmp(text, name, length) && (!text[length] || text[length] == ':')) {
      selector->copy_kind = kind;
      return text + length;
    }
  }
  return text;
}

const char *selector_parse(const char *text, struct selector *selector)
{
  *selector = (struct selector){.text = text};
  if (!*text)
    return "it is empty";
  const char *rest = parse_copies(text, selector);
  if (selector->copy_kind && *rest) {
    const char *wrong = parse_lines(rest + 1, selector);
    selector->is_lines = false;
    return !wrong && !selector->from ? "only a file and lines may follow it, as in copy-to-device:file.c:12" : wrong;
  }
  if (selector->copy_kind)
    return NULL;
  if (*text == '@') {
    selector->is_region = text[1] != 0;
    return selector->is_region ? NULL : "'@' must be followed by the name of a user region";
  }
  if (*text == '#') {
    const char *at = text + 1;
    selector->is_id = parse_number(&at, &selector->id) && !*at;
    return selector->is_id ? NULL : "'#' must be followed by a number: the id of a row of the topdown view";
  }
  return parse_lines(text, selector);
}

/* Whether a path equals the selector's, or ends in '/' and the selector's. */
static bool same_file(const struct selector *selector, const char *path)
{
  size_t length = strlen(path);
  if (length < selector->file_length)
    return false;
  const char *tail = path + length - selector->file_length;
  return !memcmp(tail, selector->file, selector->file_length) && (tail == path || tail[-1] == '/');
}

/* Whether a readable name is `wanted`, with or without its parameters. */
static bool same_name(const char *name, const char *wanted)
{
  size_t length = strlen(wanted);
  return !strncmp(name, wanted, length) && (!name[length] || name[length] == '(');
}

static bool in_lines(const struct selector *selector, const char *file, uint32_t line)
{
  assert(file);
  return line >= selector->from && line <= selector->to && same_file(selector, file);
}

bool selector_matches_line(const struct selector *selector, const char *file, uint32_t line)
{
  return selector->is_lines && in_lines(selector, file, line);
}

bool selector_matches_copy(const struct selector *selector, uint32_t kind, const char *file, uint32_t line)
{
  return selector->copy_kind == kind && (!selector->from || in_lines(selector, file, line));
}

bool selector_matches(const struct names *names, const struct selector *selector, const struct tree_row *row)
{
  assert(row->name && row->file);
  assert(row->function == MODEL_NONE || row->function < names->functions_count);
  if (selector->is_region)
    return row->kind == ROW_USER_REGION && !strcmp(row->name, selector->text + 1);
  if (selector->is_id)
    return row->id == selector->id;
  if (selector->is_lines)
    return selector_matches_line(selector, row->file, row->line);
  if (selector->copy_kind)
    return false; /* copies have no rows */
  if (same_name(row->name, selector->text))
    return true;
  if (row->function == MODEL_NONE)
    return false;
  const struct names_function *function = &names->functions[row->function];
  return same_name(function->name, selector->text) || !strcmp(function->raw, selector->text);
}
