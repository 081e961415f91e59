/* Sends one command to measured processes and collects their answers: common/control_file.h.
 *
 * Context: BATCH (the launcher).  The caller owns all memory.  Files are removed before commander_send() returns,
 * except that of a process that has not answered: if it is stopped, for example, it finds the command withdrawn when it
 * goes on, and removes the file; if it sleeps, start, stop and mark take effect when it wakes, and the file stays until
 * the next command, or the end of the process.  Such a command is replaced by the next one of the three; others leave
 * it in place.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONTROL_COMMANDER_H
#define HPCRUN_LITE_LAUNCH_CONTROL_COMMANDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/control_file.h"
#include "hpcrun-lite/launch/control/targets.h"

struct reply {
  enum control_state state;        /* CONTROL_SILENT: no answer */
  char text[CONTROL_TEXT_MAX + 1]; /* the answer's; of a process without one: why */
  bool ended;                      /* it ended before it could answer */
  unsigned asleep;                 /* the number of its threads, all of which sleep; 0: it does not sleep */
  bool deferred;                   /* asleep: the command takes effect when it wakes */
  char waiting[CONTROL_TEXT_MAX];  /* asleep: the command that waits for it from before; "": none */
};

/* Sends each process of this host its command (NULL: none; its reply stays).  Fills in a reply for each.  Returns false
 * without memory. */
bool commander_send(const struct targets *targets, const char *const *commands, struct reply *replies);

#endif
