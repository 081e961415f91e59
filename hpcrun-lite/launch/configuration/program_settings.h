/* The sections [program NAME] as text for the measured processes: each finds its own one by the name of its executable.
 *
 *     program NAME
 *     EVENTS=wall@f100
 *     FILTER=threads 0-7
 *     skip-first 1000000
 *     program OTHER
 *     ...
 *
 * A line VARIABLE=VALUE replaces the environment's HPCRUN_LITE_VARIABLE.  The filter is the last of them and has
 * several lines.  Only what differs from the settings of all programs is there.  hpcrun-lite/process/config.c reads it.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONFIGURATION_PROGRAM_SETTINGS_H
#define HPCRUN_LITE_LAUNCH_CONFIGURATION_PROGRAM_SETTINGS_H

#include "hpcrun-lite/launch/configuration/configuration.h"

enum { PROGRAM_SETTINGS_BYTES = 4096 }; /* of one section at most */

/* Writes the text; "" if there are no sections.  Returns false with a message if it is too long. */
bool program_settings_text(const struct setting_layer *options, const struct configuration *configuration, char *text,
                           size_t size, char *message, size_t message_size);

#endif
