/* A directory of several files, merged and shown in all views.  The input is their contents with a mark between
 * them.  A file's name follows from how it begins: measurements of processes that ended or were killed, graph logs,
 * traces, and the marker of a snapshot. */
#include "tests/fuzz/fuzz.h"

#include "common/format.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 6 };

static const char *const views[] = {"summary",       "topdown",     "bottomup",      "flat",   "threads",
                                    "efficiency",    "parallelism", "critical-path", "whatif", "speedup",
                                    "regions",       "region-tree", "overheads",     "tasks",  "marks",
                                    "user-counters", "timeline",    "phases"};
static const char *const formats[] = {"text", "csv", "json"};
static const uint64_t mark = 0x2d656c69662d2d2d; /* "---file-": written between files by tests/fuzz/fuzz.py */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
  return fuzz_mutate_extents(data, size, size_max, seed);
}

static const char *const suffixes[] = {FORMAT_SUFFIX, FORMAT_LIVE_SUFFIX, FORMAT_GRAPH_SUFFIX, FORMAT_TRACE_SUFFIX};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

static const char *suffix_of(const struct format_extent *head)
{
  if (head->table == FORMAT_GRAPH_LOG)
    return FORMAT_GRAPH_SUFFIX;
  if (head->table == FORMAT_TRACE)
    return FORMAT_TRACE_SUFFIX;
  return head->flags & FORMAT_LIVE ? FORMAT_LIVE_SUFFIX : FORMAT_SUFFIX;
}

/* Writes the next file.  Graph logs and traces belong to the measurement before them.  Returns its length. */
static size_t write_file(const uint8_t *data, size_t size, int number)
{
  static const char title[] = FORMAT_SNAPSHOT_TITLE;
  const uint8_t *end = memmem(data, size, &mark, sizeof mark);
  size_t length = end ? (size_t)(end - data) : size;
  struct format_extent head = {0};
  char name[32] = FORMAT_SNAPSHOT_MARKER;
  memcpy(&head, data, length < sizeof head ? length : sizeof head);
  bool log = number && (head.table == FORMAT_GRAPH_LOG || head.table == FORMAT_TRACE);
  if (length < sizeof title || memcmp(data, title, sizeof title - 1) != 0)
    snprintf(name, sizeof name, "node1-%d-1%s", log ? number - 1 : number, suffix_of(&head));
  fuzz_write(name, data, length);
  return end ? length + sizeof mark : length;
}

static void remove_files(void)
{
  fuzz_remove(FORMAT_SNAPSHOT_MARKER);
  for (int i = 0; i < FILES_MAX; i++)
    for (int suffix = 0; suffix < SUFFIXES; suffix++) {
      char name[32];
      snprintf(name, sizeof name, "node1-%d-1%s", i, suffixes[suffix]);
      fuzz_remove(name);
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
