/* Event specifications: EVENT[@HOW], the argument of -e.
 *
 * Context: CTL (the library's start) and the launcher.  Uses no heap and keeps no state.
 */
#ifndef COMMON_EVENTS_H
#define COMMON_EVENTS_H

#include <stddef.h>
#include <stdint.h>

enum {
  EVENTS_MAX = 8,   /* events measured at once */
  EVENTS_NAMES = 32 /* room for the names of known events */
};

enum event_clock {
  EVENT_COUNT,    /* counts something: hardware or software event */
  EVENT_CPU_TIME, /* task-clock, cpu-clock, CPUTIME */
  EVENT_WALL_TIME /* wall, REALTIME */
};

struct event {
  char name[64]; /* canonical: aliases resolved, without @HOW */
  enum event_clock clock;
  uint32_t perf_type; /* for perf_event_open; not used for wall */
  uint64_t perf_config;
  uint64_t period;    /* ns for times, counts otherwise; for a time event also where a frequency was
                         given; 0 for a count event given by frequency */
  uint32_t frequency; /* requested samples a second; 0 if a period was given */
};

/* Lists the names of known events, without aliases; they end in NULL. */
void events_list(const char *names[EVENTS_NAMES + 1]);

/* Parses one EVENT[@HOW].  Returns 0, or -1 with a one-line message that says what is wrong and what is accepted. */
int events_parse(const char *text, struct event *event, char *message, size_t message_size);

/* Parses a comma-separated list into events[EVENTS_MAX].  Returns the number of events, or -1 with a message; giving an
 * event twice is an error. */
int events_parse_list(const char *text, struct event *events, char *message, size_t message_size);

#endif
