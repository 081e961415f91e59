/* The graph log beside a sound measurement: common/graphlog.c, input/log_reader.c, replay/, grains/, messages/.  The
 * measurement is named by HPCPROF_FUZZ_MEASUREMENT. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
  return fuzz_mutate_extents(data, size, size_max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char *directory;
  if (!directory) {
    directory = fuzz_path("");
    fuzz_copy_measurement();
  }
  fuzz_write("a.graph", data, size);
  switch (fuzz_choice(data, size) % 10) {
  case 0:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "whatif", directory, NULL});
    break;
  case 1:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "speedup", directory, NULL});
    break;
  case 2:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "whatif", "--what-if", "main=2",
                                 "--what-if", "#1=3,#2=4", directory, NULL});
    break;
  case 3:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "grains", "-f", "csv", directory, NULL});
    break;
  case 4:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "grains", "--reference", directory,
                                 directory, NULL});
    break;
  case 5:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "critical-path", "--to", "1us",
                                 directory, NULL});
    break;
  case 6:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "grains", "-f", "csv", "--to", "5ms",
                                 directory, NULL});
    break;
  case 7:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "messages", directory, NULL});
    break;
  case 8:
    fuzz_report(
        (const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "wait-states", "-f", "csv", directory, NULL});
    break;
  default:
    fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", "parallelism", "--what-if", "#1=16",
                                 directory, NULL});
  }
  return 0;
}
