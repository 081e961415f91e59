/* The settings of --try: what is different in a run.
 *
 * A setting is written as a shell's command line without its command: words NAME=VALUE, which become environment
 * variables, then perhaps a wrapper with its arguments, which is put before COMMAND.  Several are separated by ';',
 * which may also end the list.
 *
 * Context: BATCH (the launcher).  Texts are copied.  Functions that return false write the reason into message.
 */
#ifndef HPCRUN_LITE_LAUNCH_TRIAL_TRIAL_SETTINGS_H
#define HPCRUN_LITE_LAUNCH_TRIAL_TRIAL_SETTINGS_H

#include <stdbool.h>

#include "common/trial.h"

/* Adds the settings of a list. */
bool trial_settings_parse(const char *list, struct trial *trial, char *message, size_t message_size);

/* Returns the command with the setting's wrapper before it; ends in NULL.  The process ends with it. */
char **trial_settings_command(const char *setting, char *const *command);

/* Sets the setting's variables in the environment of this process.  Returns false without memory. */
bool trial_settings_apply(const char *setting);

#endif
