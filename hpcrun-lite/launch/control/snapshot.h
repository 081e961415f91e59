/* A copy of a measurement directory whose processes may be running: a measurement of its own.
 *
 * Context: BATCH (the launcher).
 */
#ifndef HPCRUN_LITE_LAUNCH_CONTROL_SNAPSHOT_H
#define HPCRUN_LITE_LAUNCH_CONTROL_SNAPSHOT_H

#include "hpcrun-lite/launch/control/targets.h"

/* Copies the measurement files into `copy`, a directory that does not exist yet, and lists there which processes ran.
 * On failure removes what it has copied and returns false with a message. */
bool snapshot_take(const struct targets *targets, const char *copy, char *message, size_t message_size);

/* The first of DIR-snapshot, DIR-snapshot-2, … that is free. */
void snapshot_default_name(const char *directory, char *copy, size_t size);

#endif
