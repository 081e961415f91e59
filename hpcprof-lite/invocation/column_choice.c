#include "hpcprof-lite/invocation/column_choice.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How well a column fits a word, from the best fit to the worst. */
enum fit {
  FIT_NAME,
  FIT_WHOLE,
  FIT_WITHOUT_UNIT,
  FIT_HEADING,
  FIT_HEADING_WITHOUT_UNIT,
  FIT_BEGINS,
  FIT_CONTAINS,
  FIT_NONE
};

enum { WORD_MAX = 256 };

/* Reduces a name to what counts: "Lock wait" and "lock_wait" are the same. */
static void reduce(const char *name, char out[WORD_MAX])
{
  size_t length = 0;
  for (; *name && length + 1 < WORD_MAX; name++)
    if (*name != ' ' && *name != '_' && *name != '%')
      out[length++] = (char)tolower((unsigned char)*name);
  out[length] = '\0';
}

static enum fit fit_of_name(const char *name, const char *word)
{
  char whole[WORD_MAX], wanted[WORD_MAX];
  static const char *const units[] = {"s", "pct"};
  reduce(name, whole);
  reduce(word, wanted);
  size_t length = strlen(wanted);
  if (!length)
    return FIT_NONE;
  if (!strcmp(whole, wanted))
    return FIT_WHOLE;
  bool begins = !strncmp(whole, wanted, length);
  for (size_t i = 0; i < sizeof units / sizeof *units && begins; i++)
    if (!strcmp(whole + length, units[i]))
      return FIT_WITHOUT_UNIT;
  if (begins)
    return FIT_BEGINS;
  return strstr(whole, wanted) ? FIT_CONTAINS : FIT_NONE;
}

static enum fit fit_of(const struct table_column *column, const char *word)
{
  if (!strcmp(column->name, word))
    return FIT_NAME;
  enum fit name = fit_of_name(column->name, word);
  enum fit heading = column->heading ? fit_of_name(column->heading, word) : FIT_NONE;
  enum fit fit = name;
  if (heading == FIT_WHOLE)
    fit = MIN(name, FIT_HEADING);
  else if (heading == FIT_WITHOUT_UNIT)
    fit = MIN(name, FIT_HEADING_WITHOUT_UNIT);
  bool share = column->type == COLUMN_PERCENT && !strchr(word, '%') && !strcasestr(word, "pct");
  return share ? MAX(fit, FIT_CONTAINS) : fit;
}

/* Whether one name is the other one with "_incl" instead of "_excl", or the opposite; `part` is where it stands. */
static bool is_counterpart(const char *name, const char *part, const char *other)
{
  assert(part >= name);
  static const char incl[] = "_incl", excl[] = "_excl";
  size_t before = (size_t)(part - name), length = sizeof incl - 1;
  const char *wanted = strncmp(part, incl, length) ? incl : excl;
  return strlen(name) == strlen(other) && !strncmp(name, other, before) && !strncmp(other + before, wanted, length) &&
         !strcmp(part + length, other + before + length);
}

/* Whether a column that fits is one of a pair, of which the other one is preferred. */
static bool is_unpreferred(const struct table *table, uint32_t number, const char *word, enum fit fit, bool exclusive)
{
  const char *name = table_column(table, number)->name, *part = strstr(name, exclusive ? "_incl" : "_excl");
  for (uint32_t i = 0; part && i < table->columns_count; i++) {
    const struct table_column *other = table_column(table, i);
    if (is_counterpart(name, part, other->name) && fit_of(other, word) == fit)
      return true;
  }
  return false;
}

/* The place of a column among those that text shows; those that it does not show come after them. */
static size_t place_of(const struct table *table, uint32_t number)
{
  const struct table_column *column = table_column(table, number);
  size_t rank = column->shown && !table_names(table->hidden, column->name) ? column->shown : UINT8_MAX + 1;
  return rank * table->columns_count + number;
}

static void list_names(const struct table *table, const char *word, enum fit fit, bool exclusive, char **names)
{
  assert(names);
  size_t size;
  const char *separator = "";
  FILE *stream = xopen_memstream(names, &size);
  for (uint32_t i = 0; i < table->columns_count; i++) {
    if (fit < FIT_NONE &&
        (fit_of(table_column(table, i), word) != fit || is_unpreferred(table, i, word, fit, exclusive)))
      continue;
    fprintf(stream, "%s%s", separator, table_column(table, i)->name);
    separator = ", ";
  }
  xclose(stream, names);
}

void column_choice_find(const struct table *table, const char *word, bool exclusive, struct column_choice *choice)
{
  assert(table->columns_count && word);
  enum fit best = FIT_NONE;
  uint32_t count = 0;
  *choice = (struct column_choice){.column = MODEL_NONE};
  for (uint32_t i = 0; i < table->columns_count; i++) {
    enum fit fit = fit_of(table_column(table, i), word);
    if (fit > best || fit == FIT_NONE || is_unpreferred(table, i, word, fit, exclusive))
      continue;
    count = fit < best ? 1 : count + 1;
    if (fit < best || place_of(table, i) < place_of(table, choice->column))
      choice->column = i;
    best = fit;
  }
  choice->several = count > 1;
  list_names(table, word, best, exclusive, &choice->names);
}
