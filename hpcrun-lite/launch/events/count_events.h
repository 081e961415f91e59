/* The events of -c: their names, and whether this user can count them on this machine.
 *
 * Context: BATCH (the launcher).  Names are those of perf (common/events.h), then those of libpfm for the processor's
 * own events.  Opens events on the launcher itself and closes them again.  The plan owns the list.
 */
#ifndef HPCRUN_LITE_LAUNCH_EVENTS_COUNT_EVENTS_H
#define HPCRUN_LITE_LAUNCH_EVENTS_COUNT_EVENTS_H

#include "common/counters.h"

struct count_list {
  struct counter counters[COUNTERS_MAX];
  unsigned count;
  bool locks;                   /* acquisitions of each lock, which are no event */
  char text[COUNTERS_TEXT_MAX]; /* for the preloaded library */
};

/* The names that --list-events tries; end in NULL. */
extern const char *const count_events_names[];

/* Adds the events of a comma-separated list; "none": there are none.  Returns false with a message that names the event
 * and the remedy. */
bool count_events_add(struct count_list *list, const char *names, char *message, size_t message_size);

/* Can all of them be counted, and at the same time?  Those that perf_event is not allowed to count are changed to
 * getrusage() where that has them.  Fills in list->text.  Returns false with the reason and the remedy. */
bool count_events_check(struct count_list *list, char *message, size_t message_size);

/* Prints all names, and which of them can be counted here, on standard output. */
void count_events_print(void);

/* Whether the processor's counters can be used: 0, or errno of perf_event_open(). */
int count_events_hardware(void);

#endif
