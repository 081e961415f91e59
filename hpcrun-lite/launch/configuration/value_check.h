/* What the values of settings must be, on the command line and in configuration files.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONFIGURATION_VALUE_CHECK_H
#define HPCRUN_LITE_LAUNCH_CONFIGURATION_VALUE_CHECK_H

#include "hpcrun-lite/launch/configuration/setting.h"

/* Returns whether the setting accepts the text.  If not, writes "SUBJECT: reason; remedy" into message. */
bool value_check(enum setting setting, const char *subject, const char *text, char *message, size_t message_size);

#endif
