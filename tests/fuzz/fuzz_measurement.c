/* One measurement file, of a process that ended or was killed, in one of the views: common/format.c, file_tables.c,
 * read.c, node_map.c and all behind them. */
#include "tests/fuzz/fuzz.h"

#include "common/format.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const views[] = {"summary",       "topdown",     "bottomup",      "flat",   "threads",
                                    "efficiency",    "parallelism", "critical-path", "whatif", "speedup",
                                    "regions",       "region-tree", "overheads",     "tasks",  "marks",
                                    "user-counters", "phases"};
enum { VIEWS = sizeof views / sizeof *views };
static const char *const formats[] = {"text", "csv", "json"};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
  return fuzz_mutate_extents(data, size, size_max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char *directory;
  if (!directory)
    directory = fuzz_path("");
  struct format_extent head = {0};
  memcpy(&head, data, size < sizeof head ? size : sizeof head);
  bool live = head.flags & FORMAT_LIVE;
  fuzz_remove(live ? "a" FORMAT_SUFFIX : "a" FORMAT_LIVE_SUFFIX);
  fuzz_write(live ? "a" FORMAT_LIVE_SUFFIX : "a" FORMAT_SUFFIX, data, size);
  uint32_t choice = fuzz_choice(data, size);
  const char *view = views[choice % VIEWS], *format = formats[choice / VIEWS % 3];
  fuzz_report((const char *[]){"-q", "-j", "1", "-o", "/dev/null", "--view", view, "-f", format, directory, NULL});
  return 0;
}
