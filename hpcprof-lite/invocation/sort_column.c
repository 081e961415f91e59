#include "hpcprof-lite/invocation/sort_column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a name may match a word. */
enum match { MATCH_BEGINS, MATCH_CONTAINS, MATCH_ANY };

static bool matches(const char *name, const char *word, enum match how)
{
  if (how == MATCH_BEGINS)
    return *word && !strncasecmp(name, word, strlen(word));
  return how == MATCH_ANY || (*word && strcasestr(name, word));
}

/* Whether one name is the other one with "_incl" instead of "_excl", or the opposite; `part` is where it stands. */
static bool is_counterpart(const char *name, const char *part, const char *other)
{
  static const char incl[] = "_incl", excl[] = "_excl";
  size_t before = (size_t)(part - name), length = sizeof incl - 1;
  const char *wanted = strncmp(part, incl, length) ? incl : excl;
  return strlen(name) == strlen(other) && !strncmp(name, other, before) && !strncmp(other + before, wanted, length) &&
         !strcmp(part + length, other + before + length);
}

/* Whether a column that matches is one of a pair, of which the other one is preferred. */
static bool is_unpreferred(const struct sort_columns *columns, uint32_t column, const char *word, enum match how)
{
  const char *name = columns->names[column], *part = strstr(name, columns->exclusive ? "_incl" : "_excl");
  for (uint32_t i = 0; part && i < columns->count; i++)
    if (matches(columns->names[i], word, how) && is_counterpart(name, part, columns->names[i]))
      return true;
  return false;
}

/* Whether the name is the word with a unit. */
static bool has_unit_only(const char *name, const char *word)
{
  return !strncasecmp(name, word, strlen(word)) && !strcmp(name + strlen(word), "_s");
}

/* Returns the names that match, separated by commas; NULL without memory. */
static char *list_matches(const struct sort_columns *columns, const char *word, enum match how)
{
  char *list = NULL;
  size_t size;
  FILE *stream = open_memstream(&list, &size);
  const char *separator = "";
  for (uint32_t i = 0; stream && i < columns->count; i++) {
    if (!matches(columns->names[i], word, how))
      continue;
    fprintf(stream, "%s%s", separator, columns->names[i]);
    separator = ", ";
  }
  if (stream && fclose(stream)) {
    free(list);
    list = NULL;
  }
  return list;
}

const char *sort_column_find(const char *word, const struct sort_columns *columns, char **choice, bool *several)
{
  *choice = NULL;
  *several = false;
  for (uint32_t i = 0; i < columns->count; i++)
    if (!strcmp(word, columns->names[i]))
      return columns->names[i];
  for (enum match how = MATCH_BEGINS; how < MATCH_ANY; how++) {
    const char *found = NULL, *plain = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < columns->count; i++) {
      const char *name = columns->names[i];
      if (!matches(name, word, how) || is_unpreferred(columns, i, word, how))
        continue;
      found = name;
      plain = has_unit_only(name, word) ? name : plain;
      count++;
    }
    if (count == 1 || plain)
      return plain ? plain : found;
    if (count) {
      *several = true;
      *choice = list_matches(columns, word, how);
      return NULL;
    }
  }
  *choice = list_matches(columns, word, MATCH_ANY);
  return NULL;
}
