/* Sends one command to measured processes and collects their answers: common/control_file.h.
 *
 * Context: BATCH (the launcher).  The caller owns all memory.  Files are removed before commander_send() returns,
 * except that of a process that has not answered (it is stopped, for example): that process removes it when it goes on.
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
};

/* Sends each process of this host its command (NULL: none; its reply stays).  Fills in a reply for each.  Returns false
 * without memory. */
bool commander_send(const struct targets *targets, const char *const *commands, struct reply *replies);

#endif
