/* Scenarios of --what-if: SELECTOR=FACTOR[,SELECTOR=FACTOR]...
 *
 * Context: BATCH.  A selector ends at the first '=' behind which stands a number and then ',' or the end: so names may
 * hold commas and '=' ("f<int, 4>", "operator==").  The structure owns copies of the texts.
 */
#ifndef HPCPROF_LITE_MODEL_SCENARIO_H
#define HPCPROF_LITE_MODEL_SCENARIO_H

#include "hpcprof-lite/model/selector.h"

enum { SCENARIO_TERMS = 16 };

struct scenario_term {
  struct selector selector;
  char *text;
  double factor; /* 1 or more, finite */
};

struct scenario {
  struct scenario_term terms[SCENARIO_TERMS];
  uint32_t count;
};

/* Parses text; *wrong receives what is wrong with it, NULL if nothing is.  0, ERR_INPUT or ERR_NOMEM;
 * scenario_release() in any case. */
int scenario_parse(const char *text, struct scenario *scenario, const char **wrong);
void scenario_release(struct scenario *scenario);

#endif
