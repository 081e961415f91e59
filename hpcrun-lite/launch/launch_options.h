/* The launcher's options: launch_options.def describes each once.
 *
 * Context: BATCH (the launcher, and the program that writes its completions).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_LAUNCH_OPTIONS_H
#define HPCRUN_LITE_LAUNCH_LAUNCH_OPTIONS_H

#include "common/command_line.h"
#include "hpcrun-lite/launch/configuration/setting.h"

enum launch_option {
#define OPTION(id, ...) OPTION_##id,
#include "hpcrun-lite/launch/launch_options.def"
#undef OPTION
  LAUNCH_OPTIONS
};

extern const struct command_option launch_options[LAUNCH_OPTIONS];

/* What an option sets, as a key of a configuration file does. */
struct launch_setting {
  enum setting setting; /* SETTINGS: none */
  const char *word;     /* its value if the option has no argument */
};
extern const struct launch_setting launch_settings[LAUNCH_OPTIONS];

#endif
