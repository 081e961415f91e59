/* The settings in force as a configuration file, with where each comes from (--print-config).
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONFIGURATION_PRINT_SETTINGS_H
#define HPCRUN_LITE_LAUNCH_CONFIGURATION_PRINT_SETTINGS_H

#include <stdio.h>

#include "hpcrun-lite/launch/configuration/configuration.h"

void print_settings(const struct setting_layer *options, const struct configuration *configuration, FILE *stream);

#endif
