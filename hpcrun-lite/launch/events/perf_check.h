/* Tests which events this user may measure on this machine.
 *
 * Context: BATCH (the launcher).  Opens events on the launcher itself and closes them again.  No state.
 */
#ifndef HPCRUN_LITE_LAUNCH_EVENTS_PERF_CHECK_H
#define HPCRUN_LITE_LAUNCH_EVENTS_PERF_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/events.h"

/* Why an event cannot be opened: the meaning of errno after perf_event_open(). */
enum perf_obstacle { PERF_NONE, PERF_DENIED, PERF_NO_EVENT, PERF_NO_CALL, PERF_BAD_RATE, PERF_OTHER };

enum perf_obstacle perf_check_obstacle(int error);

/* Opens the event.  Returns 0, or errno. */
int perf_check_open(const struct event *event, bool exclude_kernel);

/* Can the event be measured?  Times always can, with timers.  Returns 0, or -1 with the reason and the remedy. */
int perf_check_event(const struct event *event, char *message, size_t message_size);

/* Can work be counted in that unit of --work?  Returns 0, or -1 with the reason and the remedy. */
int perf_check_work(const char *unit, char *message, size_t message_size);

/* Returns kernel.perf_event_paranoid, or -2 if it cannot be read. */
int perf_check_paranoid(void);

#endif
