/* The trace beside a sound measurement: common/tracelog.c, input/stream_extents.c, input/trace_reader.c, input/range/,
 * timeline/.  The measurement is named by HPCPROF_FUZZ_MEASUREMENT.  The intervals of each lane must tile its life. */
#include "tests/fuzz/fuzz.h"

#include "hpcprof-lite/timeline/lane.h"

#include <stdlib.h>

static struct profile_process process;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
  return fuzz_mutate_extents(data, size, size_max, seed);
}

static void read_process(void)
{
  struct problems problems = {0};
  struct read_file *file;
  char *path = fuzz_path("a.hpcrun");
  if (read_open(path, &problems, &process, &file) || !process.threads_count)
    abort();
  process.path = path;
  read_close(file);
  problems_release(&problems);
}

/* A lane, from one time to another one. */
static void walk(const struct lane_process *lanes, uint32_t position, uint64_t from_ns, uint64_t to_ns)
{
  uint64_t start_ns, end_ns;
  struct lane_interval interval;
  lane_life(lanes, position, &start_ns, &end_ns);
  uint64_t at = start_ns > from_ns ? start_ns : from_ns, until = end_ns < to_ns ? end_ns : to_ns;
  struct lane *lane = lane_open(lanes, position, from_ns, to_ns, NULL);
  if (!lane != (at >= until))
    abort();
  while (lane_next(lane, &interval)) {
    if (interval.start_ns != at || interval.end_ns <= at || interval.category >= TIMELINE_CATEGORIES)
      abort();
    at = interval.end_ns;
  }
  if (lane && at != until)
    abort();
  lane_close(lane);
}

static void walk_all(uint64_t from_ns, uint64_t to_ns)
{
  struct problems problems = {0};
  struct lane_process lanes;
  if (lane_process_open(&process, process.start_ns, &problems, &lanes))
    abort();
  for (uint32_t i = 0; i < process.threads_count && lanes.trace.file.count; i++)
    walk(&lanes, i, from_ns, to_ns);
  lane_process_close(&lanes);
  problems_release(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char *directory;
  if (!directory) {
    directory = fuzz_path("");
    fuzz_copy_measurement();
    read_process();
  }
  fuzz_write("a.trace", data, size);
  uint32_t choice = fuzz_choice(data, size);
  process.unfinished = choice % 2; /* then the state that is open counts, too */
  walk_all(0, UINT64_MAX);
  walk_all(choice % (2 * process.wall_ns), process.wall_ns);
  const char *const views[][8] = {
      {"timeline", "-f", "csv"},
      {"timeline", "-f", "json", "--from", "100ms"},
      {"timeline", "--lanes", "process"},
      {"phases", "-f", "csv"},
      {"phases", "--to", "300ms"},
      {"threads", "-f", "csv", "--from", "100ms", "--to", "400ms"},
      {"topdown", "-f", "csv", "--from", "250ms"},
      {"regions", "-f", "csv", "--to", "500ms"},
      {"timeline", "--from", "100ms"},
      {"user-counters", "--from", "100ms"},
  };
  const char *arguments[16] = {"-q", "-j", "1", "-o", "/dev/null", "--view"};
  size_t count = 6;
  for (const char *const *word = views[choice / 2 % (sizeof views / sizeof *views)]; *word; word++)
    arguments[count++] = *word;
  arguments[count] = directory;
  fuzz_report(arguments);
  return 0;
}
