#include "hpcprof-lite/algorithms/condition.h"

#include "common/xalloc.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses what follows the operator.  Returns NULL, or what is wrong with it. */
static const char *parse_limit(const char *text, struct condition *condition)
{
  static const struct {
    const char *name;
    enum condition_unit unit;
    double scale;
  } units[] = {{"", CONDITION_NUMBER, 1},       {"s", CONDITION_SECONDS, 1},     {"ms", CONDITION_SECONDS, 1e-3},
               {"us", CONDITION_SECONDS, 1e-6}, {"ns", CONDITION_SECONDS, 1e-9}, {"%", CONDITION_PERCENT, 1e-2}};
  static const char needs[] = "after '>' or '<' it needs a limit such as +5%, 70%, 2.5 s, 10 ms or 1000";
  text += strspn(text, " ");
  bool sign = *text == '+' || *text == '-';
  if (!isdigit((unsigned char)text[sign]) && text[sign] != '.')
    return needs;
  char *end;
  double number = strtod(text, &end);
  bool hexadecimal = strcspn(text, "xX") < (size_t)(end - text);
  if (end == text || !isfinite(number) || hexadecimal)
    return needs;
  end += strspn(end, " ");
  size_t length = strlen(end);
  while (length && end[length - 1] == ' ')
    length--;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strlen(units[i].name) != length || strncmp(end, units[i].name, length) != 0)
      continue;
    condition->unit = units[i].unit;
    condition->limit = number * units[i].scale;
    condition->relative = sign;
    return sign && units[i].unit != CONDITION_PERCENT ? "a change, with a sign, is given in percent: +5%" : NULL;
  }
  return needs;
}

static bool is_event(const char *name)
{
  size_t length = strlen(name);
  return length > 5 && (!strcmp(name + length - 5, "_incl") || !strcmp(name + length - 5, "_excl"));
}

/* Whether two names differ in underscores only, or in that the second one says that it is inclusive. */
static bool is_same(const char *name, const char *of)
{
  static const char *const endings[][2] = {{"", ""}, {"", "_incl"}, {"", "_incl_s"}, {"s", "_incl_s"}};
  while (true) {
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
      if (!strcmp(name, endings[i][0]) && !strcmp(of, endings[i][1]))
        return true;
    of += strspn(of, "_");
    if (!*name || *name++ != *of++)
      return false;
  }
}

/* Finds the metric, by its exact name first. */
static const struct condition_metric *find(const char *name, const struct condition_metric *metrics, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!strcmp(name, metrics[i].name))
      return &metrics[i];
  for (size_t i = 0; i < count; i++)
    if (is_same(name, metrics[i].name))
      return &metrics[i];
  return NULL;
}

/* Sets what the metric is of.  Returns NULL, or what is wrong with it. */
static const char *take_metric(struct condition *condition, const struct condition_metric *metric)
{
  assert(condition->metric);
  if (!metric && !is_event(condition->metric))
    return "no such metric; use elapsed, elapsed_with_cores, cpu, span, efficiency, parallelism, work, overhead, "
           "lockwait, idleness, critical_path, samples, exec_s, exit_barrier_s, gain_s, or a column of topdown or "
           "regions in CSV that is a time or a count";
  condition->column = metric ? metric->column : condition->metric;
  condition->scope = metric ? metric->scope : CONDITION_CONTEXTS;
  if (condition->scope == CONDITION_RUN && condition->selector_text)
    return "this metric is of the whole run: it has no 'of SELECTOR' (critical_path is the part of the span)";
  if (metric && metric->efficiency && condition->unit == CONDITION_NUMBER && condition->limit > 1)
    return "an efficiency is at most 1, that is 100%: write 70% or 0.7";
  if (condition->scope == CONDITION_CONSTRUCTS && !condition->selector_text)
    return "this metric is of constructs: it needs 'of SELECTOR', such as 'of solve' or 'of solve.c:42'";
  if (condition->scope == CONDITION_CONSTRUCTS && condition->selector.is_id)
    return "'#ID' is a calling context, which has no columns of constructs: name a function, FILE:LINE or @REGION";
  return NULL;
}

static const char *skip_blanks(const char *text, const char *end)
{
  assert(text <= end);
  while (text < end && *text == ' ')
    text++;
  return text;
}

/* Parses METRIC [of SELECTOR], which ends before `end`.  Returns NULL, or what is wrong with it. */
static const char *parse_metric(const char *text, const char *end, struct condition *condition)
{
  assert(text <= end);
  while (end > text && end[-1] == ' ')
    end--;
  text = skip_blanks(text, end);
  const char *name_end = memchr(text, ' ', (size_t)(end - text));
  if (!name_end)
    name_end = end;
  condition->metric = xstrndup(text, (size_t)(name_end - text));
  if (name_end == text)
    return "it begins with a metric: METRIC [of SELECTOR] > LIMIT";
  text = skip_blanks(name_end, end);
  if (text == end)
    return NULL;
  if (end - text < 4 || strncmp(text, "of ", 3) != 0)
    return "the metric can be followed by 'of SELECTOR': METRIC [of SELECTOR] > LIMIT";
  text = skip_blanks(text + 3, end);
  condition->selector_text = xstrndup(text, (size_t)(end - text));
  return selector_parse(condition->selector_text, &condition->selector);
}

int condition_parse(const char *text, const struct condition_metric *metrics, size_t count, struct condition *condition,
                    const char **wrong)
{
  assert(text && wrong);
  *condition = (struct condition){.text = text};
  *wrong = "it has no '>' or '<': METRIC [of SELECTOR] > LIMIT";
  const char *limit = NULL; /* after the last operator */
  for (const char *at = text; *at; at++)
    if (*at == '>' || *at == '<')
      limit = at + 1;
  if (!limit)
    return ERR_INPUT;
  condition->above = limit[-1] == '>';
  *wrong = parse_limit(limit, condition);
  if (!*wrong)
    *wrong = parse_metric(text, limit - 1, condition);
  if (!*wrong)
    *wrong = take_metric(condition, find(condition->metric, metrics, count));
  return *wrong ? ERR_INPUT : 0;
}

void condition_release(struct condition *condition)
{
  free(condition->metric);
  free(condition->selector_text);
  condition->metric = condition->selector_text = NULL;
}

bool condition_misuse(const struct condition *condition, bool compared, char *message, size_t size)
{
  assert(message && size);
  const char *wrong = NULL;
  if (condition->relative && !compared)
    wrong = "is a change: it needs --compare BASE";
  else if (condition->selector_text && condition->selector.is_id && compared)
    wrong = "names an id, which differs between runs: name a function, FILE:LINE or @REGION";
  if (wrong)
    snprintf(message, size, "--fail-if '%s' %s", condition->text, wrong);
  return wrong;
}

bool condition_holds(const struct condition *condition, double figure)
{
  return condition->above ? figure > condition->limit : figure < condition->limit;
}
