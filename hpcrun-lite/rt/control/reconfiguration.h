/* The settings of the running process: what is in force, and a change of them.
 *
 * Context: RT, by the thread that carries out a command (command.c).
 *
 * A change is text, one setting a line, which the commander has checked:
 *
 *     level summary|samples
 *     paused 0|1
 *     excluded 0|1               a filter leaves out the process's rank
 *     event I FREQUENCY PERIOD   the rate of that event
 *     filter SIZE NAME           a file with the filter, beside the control file; SIZE 0: nothing is filtered */
#ifndef HPCRUN_LITE_RT_CONTROL_RECONFIGURATION_H
#define HPCRUN_LITE_RT_CONTROL_RECONFIGURATION_H

#include "common/control_file.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/filter/filter.h"

struct reconfiguration {
  bool paused, unsampled, excluded;
  bool rates;
  struct {
    uint32_t frequency;
    uint64_t period;
  } events[EVENTS_MAX];
  struct filter *filter; /* NULL: the present one stays */
};

/* Writes what is in force; filter: of the settings that will be. */
void reconfiguration_put(struct control_answer *answer, const struct filter *filter);

/* Reads a change; control_path: of the control file.  Returns NULL, or why it is refused; then nothing has changed. */
const char *reconfiguration_read(const char *text, const char *control_path, struct reconfiguration *change);

/* The rates of the change are in force for sources that are armed from now on. */
void reconfiguration_set_rates(const struct reconfiguration *change);

/* Whether the filter may be published only while the process is single-threaded: it decides which records of constructs
 * are made, or the present one does. */
bool reconfiguration_is_structure(const struct filter *filter);

/* Publishes the filter of a change. */
void reconfiguration_publish(struct filter *filter);

/* A filter was published: the thread forgets what it has kept of the one before.  By the thread itself, inside, or by
 * CTL while the process is quiescent. */
void reconfiguration_forget(struct thread_state *t);

#endif
