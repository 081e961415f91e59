/* Counters of -c: what is counted for each thread, as the launcher passes it to the preloaded library.
 *
 * The text is "NAME=TYPE/CONFIG[/CONFIG1][/user|/kernel],..." with numbers in hexadecimal: the kernel's numbers of an
 * event, and whether it counts in one mode only.  TYPE "usage" is a count of getrusage(); CONFIG is then an
 * enum counter_usage.  A name may contain '=', but no ','.  An entry "locks" stands for acquisitions of each lock,
 * which are no event.
 *
 * Context: CTL (the library's start), RT (the structures) and the launcher.  Uses no heap and keeps no state.
 */
#ifndef COMMON_COUNTERS_H
#define COMMON_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTERS_MAX = 8, COUNTERS_TEXT_MAX = COUNTERS_MAX * 160 };
#define COUNTERS_LOCKS "locks"

enum counter_usage {
  COUNTER_PAGE_FAULTS,
  COUNTER_MINOR_FAULTS,
  COUNTER_MAJOR_FAULTS,
  COUNTER_CONTEXT_SWITCHES,
  COUNTER_USAGES
};

struct counter {
  char name[96];
  bool usage;       /* from getrusage(): config is an enum counter_usage; otherwise from perf_event */
  bool user_only;   /* of perf_event: time in the kernel does not count */
  bool kernel_only; /* of perf_event: only time in the kernel counts */
  uint32_t type;
  uint64_t config, config1; /* as perf_event_attr has them */
};

/* Changes a perf event into the same count of getrusage().  Returns false if that does not count the event. */
bool counters_as_usage(struct counter *counter);

/* How it is counted, behind its name in a text: "" or " (...)". */
const char *counters_how(const struct counter *counter);

/* Writes the text of a list; locks: with that entry.  Returns false if there is no room. */
bool counters_format(const struct counter *counters, unsigned count, bool locks, char *text, size_t text_size);

/* Parses it into counters[COUNTERS_MAX], and whether it has the entry for locks.  Returns the number of counters, 0
 * also where the text is not such a list. */
unsigned counters_parse(const char *text, struct counter *counters, bool *locks);

#endif
