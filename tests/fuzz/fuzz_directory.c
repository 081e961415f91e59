/* A directory of several files, merged and shown in all views.  The input is their contents with a mark between
 * them. */
#include "tests/fuzz/fuzz.h"

#include "common/format.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 4 };

static const char *const views[] = {"summary",    "topdown",     "bottomup",      "flat",   "threads",
                                    "efficiency", "parallelism", "critical-path", "whatif", "speedup",
                                    "regions",    "region-tree", "overheads",     "tasks"};
static const char *const formats[] = {"text", "csv", "json"};
static const uint64_t mark = 0x2d656c69662d2d2d; /* "---file-": written between files by tests/fuzz/fuzz.py */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
  return fuzz_mutate_extents(data, size, size_max, seed);
}

/* Writes the next file, as a graph log if it begins with such an extent.  Returns its length. */
static size_t write_file(const uint8_t *data, size_t size, int number)
{
  const uint8_t *end = memmem(data, size, &mark, sizeof mark);
  size_t length = end ? (size_t)(end - data) : size;
  struct format_extent head = {0};
  char name[32];
  memcpy(&head, data, length < sizeof head ? length : sizeof head);
  bool log = number && head.table == FORMAT_GRAPH_LOG;
  snprintf(name, sizeof name, "%d%s", log ? number - 1 : number, log ? FORMAT_GRAPH_SUFFIX : FORMAT_SUFFIX);
  fuzz_write(name, data, length);
  return end ? length + sizeof mark : length;
}

static void remove_files(void)
{
  for (int i = 0; i < FILES_MAX; i++)
    for (int log = 0; log < 2; log++) {
      char name[32];
      snprintf(name, sizeof name, "%d%s", i, log ? FORMAT_GRAPH_SUFFIX : FORMAT_SUFFIX);
      char *path = fuzz_path(name);
      unlink(path);
      free(path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char *directory;
  if (!directory)
    directory = fuzz_path("");
  uint32_t choice = fuzz_choice(data, size);
  remove_files();
  for (int number = 0; number < FILES_MAX && size; number++) {
    size_t taken = write_file(data, size, number);
    data += taken;
    size -= taken;
  }
  const char *threads = choice % 2 ? "1" : "3";
  for (uint32_t i = 0; i < sizeof views / sizeof *views; i++)
    fuzz_report((const char *[]){"-q", "-j", threads, "-o", "/dev/null", "--view", views[i], "-f",
                                 formats[(i + choice / 2) % 3], directory, NULL});
  return 0;
}
