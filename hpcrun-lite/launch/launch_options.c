#include "hpcrun-lite/launch/launch_options.h"

#include "hpcrun-lite/launch/events/count_events.h"

static const char *const no_configuration[] = {"none", NULL};

const struct command_option launch_options[LAUNCH_OPTIONS] = {
#define OPTION(id, letter, name, argument, setting, word, value, words, brief, excludes, help)                         \
  {letter, name, argument, value, words, brief, excludes, help},
#include "hpcrun-lite/launch/launch_options.def"
#undef OPTION
};

const struct launch_setting launch_settings[LAUNCH_OPTIONS] = {
#define OPTION(id, letter, name, argument, setting, word, ...) {setting, word},
#include "hpcrun-lite/launch/launch_options.def"
#undef OPTION
};
