/* Conditions of --fail-if: METRIC [of SELECTOR] OPERATOR LIMIT.
 *
 * Context: BATCH, the main thread.  OPERATOR is '>' or '<', the last one of the text that a limit follows, so that
 * names may contain them ("f<int>").  LIMIT is a number with '%' or with one of the units s, ms, us, ns, or without.  A
 * sign makes a percentage a change ("> +5%", "< -5%"); without one it is that of a ratio ("efficiency < 70%").  The
 * structure owns copies of the texts but the first.
 */
#ifndef HPCPROF_LITE_ALGORITHMS_CONDITION_H
#define HPCPROF_LITE_ALGORITHMS_CONDITION_H

#include "hpcprof-lite/model/selector.h"

enum condition_unit { CONDITION_NUMBER, CONDITION_SECONDS, CONDITION_PERCENT };

/* What a metric is of: the whole run; calling contexts, and without a selector the root; constructs. */
enum condition_scope { CONDITION_RUN, CONDITION_CONTEXTS, CONDITION_CONSTRUCTS };

struct condition {
  const char *text;   /* as given; belongs to the caller of condition_parse() */
  char *metric;       /* as given */
  const char *column; /* its name in CSV */
  enum condition_scope scope;
  char *selector_text; /* NULL: of the whole run */
  struct selector selector;
  bool above;    /* '>' */
  bool relative; /* a change against the base */
  enum condition_unit unit;
  double limit; /* in seconds, as a plain number, or as a ratio: 5 % is 0.05 */
};

/* A name that a condition may use. */
struct condition_metric {
  const char *name, *column;
  enum condition_scope scope;
  bool efficiency; /* at most 1 */
};

/* Parses a condition.  A metric can be any of `count` ones; underscores do not matter, nor does _incl before the unit.
 * Other names that end in _incl and _excl are those of further events.  Returns 0, or ERR_INPUT with *wrong set to a
 * static message.  The caller calls condition_release() in either case. */
int condition_parse(const char *text, const struct condition_metric *metrics, size_t count, struct condition *condition,
                    const char **wrong);
void condition_release(struct condition *condition);

/* Returns whether the condition cannot be used with, or without, --compare, and sets the message. */
bool condition_misuse(const struct condition *condition, bool compared, char *message, size_t size);

/* Whether a figure is beyond the limit; if the condition is relative, a change: new / base - 1. */
bool condition_holds(const struct condition *condition, double figure);

#endif
