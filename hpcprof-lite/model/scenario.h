/* Scenarios of --what-if: SELECTOR=FACTOR[,SELECTOR=FACTOR]...
 *
 * Context: BATCH, the main thread.  A selector ends at the first '=' that is followed by a number and then by ',' or
 * the end of the text, so that names may contain commas and '=' ("f<int, 4>", "operator==").  The structure owns copies
 * of the selectors' texts.
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
  const char *text; /* as given; belongs to the caller of scenario_parse() */
  struct scenario_term terms[SCENARIO_TERMS];
  uint32_t count;
};

/* Parses a scenario.  Returns 0, or ERR_INPUT with *wrong set to a static message.  The caller calls scenario_release()
 * in every case. */
int scenario_parse(const char *text, struct scenario *scenario, const char **wrong);
void scenario_release(struct scenario *scenario);

#endif
