#include "hpcprof-lite/model/scenario.h"

#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the '=' that ends the selector at `text`, or NULL.  Sets *factor, and *end to the position after it. */
static const char *find_factor(const char *text, double *factor, const char **end)
{
  for (const char *at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
    char *after;
    if ((at[1] < '0' || at[1] > '9') && at[1] != '.' && at[1] != '-')
      continue;
    *factor = strtod(at + 1, &after);
    if (after == at + 1 || (*after && *after != ','))
      continue;
    *end = after;
    return at;
  }
  return NULL;
}

int scenario_parse(const char *text, struct scenario *scenario, const char **wrong)
{
  assert(text && wrong);
  *scenario = (struct scenario){.text = text};
  *wrong = NULL;
  for (;;) {
    double factor;
    const char *end, *equals = find_factor(text, &factor, &end);
    if (!equals)
      *wrong = "expected SELECTOR=FACTOR, where FACTOR is a number";
    else if (!isfinite(factor) || factor < 1)
      *wrong = "the factor must be 1 or more";
    else if (scenario->count == SCENARIO_TERMS)
      *wrong = "it has more than 16 parts";
    if (*wrong)
      return ERR_INPUT;
    struct scenario_term *term = &scenario->terms[scenario->count];
    term->text = xstrndup(text, (size_t)(equals - text));
    scenario->count++;
    term->factor = factor;
    *wrong = selector_parse(term->text, &term->selector);
    if (*wrong)
      return ERR_INPUT;
    if (!*end)
      return 0;
    text = end + 1;
  }
}

void scenario_release(struct scenario *scenario)
{
  for (uint32_t i = 0; i < scenario->count; i++)
    free(scenario->terms[i].text);
  *scenario = (struct scenario){0};
}
