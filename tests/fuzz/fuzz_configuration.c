/* A configuration file as the launcher reads it (launch/configuration): what is accepted is printed as a file that is
 * accepted again. */
#include "tests/fuzz/fuzz.h"

#include "hpcrun-lite/launch/configuration/filter_values.h"
#include "hpcrun-lite/launch/configuration/print_settings.h"
#include "hpcrun-lite/launch/configuration/program_settings.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT = 64 << 10 };

/* Every refusal has a message. */
static bool read_file(const char *path, bool restricted, struct configuration *configuration)
{
  char message[1024] = "";
  bool accepted = configuration_read(path, restricted, configuration, message, sizeof message);
  if (accepted == (message[0] != '\0') || strchr(message, '\n'))
    abort();
  return accepted;
}

static void print_file(const char *path, const struct configuration *configuration)
{
  static const struct setting_layer no_options;
  FILE *file = fopen(path, "we");
  if (!file)
    abort();
  print_settings(&no_options, configuration, file);
  if (fclose(file))
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const struct setting_layer no_options;
  static struct configuration configuration, again;
  static char text[TEXT], message[1024], *path, *printed;
  if (!path) {
    path = fuzz_path("config.ini");
    printed = fuzz_path("printed.ini");
  }
  fuzz_write("config.ini", data, size);
  if (read_file(path, fuzz_choice(data, size) % 2, &configuration)) {
    filter_values_text(&configuration.common, text, sizeof text);
    program_settings_text(&no_options, &configuration, text, sizeof text, message, sizeof message);
    print_file(printed, &configuration);
    if (!read_file(printed, false, &again))
      abort();
    configuration_release(&again);
  }
  configuration_release(&configuration);
  return 0;
}
