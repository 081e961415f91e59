/* Exports a timeline that it invents, for tests of the formats:
 *
 *     synthetic_timeline perfetto|firefox|csv INTERVALS >FILE
 *     synthetic_timeline otf2 INTERVALS DIRECTORY
 *
 * INTERVALS in each of five lanes: threads of three processes on two nodes, two of which have the same process id.
 * Names contain what formats must escape.
 */
#include "hpcprof-lite/report/exports/exports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE "a\"b\\c\n</script>&\x01\x7f\xff\xc3\xa9"

enum { LANES = 5, ROWS = 7, ENTRIES = 8 };

static uint64_t intervals;

static struct tree_row rows[ROWS] = {
    {.parent = 0, .id = 0, .kind = ROW_ROOT, .name = "program"},
    {.parent = 0, .id = 1, .kind = ROW_FUNCTION, .name = "main", .function = 0, .line = 10},
    {.parent = 1, .id = 2, .kind = ROW_PARALLEL, .name = "parallel @ " HOSTILE, .line = 20},
    {.parent = 2, .id = 3, .kind = ROW_FUNCTION, .name = "solve<" HOSTILE ">", .function = 1, .line = 30},
    {.parent = 2, .id = 5, .kind = ROW_FUNCTION, .name = "main", .function = 0, .line = 10},
    {.parent = 4, .id = 4, .kind = ROW_RUNTIME, .name = "runtime"},
    {.parent = 3, .id = 9, .kind = ROW_USER_REGION, .name = HOSTILE},
};

static struct construct_entry entries[ENTRIES] = {
    {.kind = DIRECTIVE_PROGRAM, .name = HOSTILE, .file = "", .context = 0},
    {.depth = 1, .region = 1, .kind = DIRECTIVE_PARALLEL, .name = "main", .file = "/d/" HOSTILE ".c", .line = 20},
    {.parent = 1, .depth = 2, .region = 2, .kind = DIRECTIVE_FOR, .name = "solve", .file = "/d/f.c", .line = 31},
    {.parent = 2, .depth = 3, .region = 3, .kind = DIRECTIVE_CRITICAL, .name = "solve", .file = "/d/f.c", .line = 32},
    {.parent = 1, .depth = 2, .region = 4, .kind = DIRECTIVE_BARRIER, .name = "", .file = "", .context = MODEL_NONE},
    {.parent = 4, .depth = 3, .region = 5, .kind = CONSTRUCT_TASK_EXEC, .name = "leaf", .file = "/d/f.c", .line = 40},
    {.parent = 5, .depth = 4, .region = 5, .kind = CONSTRUCT_TASK_EXEC, .name = "leaf", .file = "/d/f.c", .line = 40},
    {.depth = 1, .region = 6, .kind = DIRECTIVE_USER_REGION, .name = HOSTILE, .file = "/d/f.c", .line = 9},
};

static struct timeline_lane lanes[LANES] = {
    {0, 0, 0, 0, false}, {0, 1, 50, 0, false}, {1, 0, 7, 0, false}, {2, 0, 9, 0, false}, {2, 1, 9, 0, false}};

/* The intervals of a lane, one after another. */
struct generator {
  uint64_t random, left;
  struct timeline_interval next;
};

static uint32_t draw(struct generator *generator, uint32_t limit)
{
  generator->random = generator->random * 6364136223846793005ULL + 1442695040888963407ULL;
  return (uint32_t)(generator->random >> 33) % limit;
}

static void advance(struct generator *generator)
{
  struct timeline_interval *next = &generator->next;
  bool change = draw(generator, 3) > 0;
  generator->left--;
  next->start_ns = next->end_ns;
  next->end_ns += 1 + draw(generator, 1u << draw(generator, 22));
  next->category = draw(generator, TIMELINE_CATEGORIES);
  if (change)
    next->construct = draw(generator, ENTRIES + 1);
  if (next->construct == ENTRIES || next->category == TIMELINE_GAP)
    next->construct = MODEL_NONE;
  next->begins = change || draw(generator, 2);
  next->context = draw(generator, ROWS + 2);
  next->context = next->context < ROWS ? next->context : MODEL_NONE;
  next->wait_for = draw(generator, 2) ? draw(generator, ROWS) : MODEL_NONE;
  next->critical = draw(generator, 2);
}

static struct generator generator_of(uint32_t lane)
{
  struct generator generator = {.random = lane + 1, .left = intervals + 1};
  generator.next = (struct timeline_interval){.end_ns = lanes[lane].start_ns, .lane = lane};
  advance(&generator);
  return generator;
}

/* The lane with intervals left whose interval begins first; LANES if there is none. */
static uint32_t first(const struct generator *generators)
{
  uint32_t found = LANES;
  for (uint32_t i = 0; i < LANES; i++)
    if (generators[i].left && (found == LANES || generators[i].next.start_ns < generators[found].next.start_ns))
      found = i;
  return found;
}

static int each(void *source, uint32_t wanted, timeline_visit *visit, void *context)
{
  struct generator generators[LANES];
  (void)source;
  for (uint32_t i = 0; i < LANES; i++) {
    generators[i] = generator_of(i);
    if (wanted != MODEL_NONE && wanted != i)
      generators[i].left = 0;
  }
  for (uint32_t lane; (lane = first(generators)) < LANES; advance(&generators[lane])) {
    int status = visit(context, &generators[lane].next);
    if (status)
      return status;
  }
  return 0;
}

static int print_row(void *unused, const struct timeline_interval *interval)
{
  const uint64_t second = 1000000000, start = interval->start_ns, end = interval->end_ns;
  (void)unused;
  printf("%" PRIu32 ",%" PRIu32 ",%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64 ",%s\n", interval->lane,
         lanes[interval->lane].process, start / second, start % second, end / second, end % second,
         timeline_category_name((enum timeline_category)interval->category));
  return 0;
}

static int set_end(void *unused, const struct timeline_interval *interval)
{
  (void)unused;
  lanes[interval->lane].end_ns = interval->end_ns;
  return 0;
}

static int export(const struct report *report, const char *format, const char *directory)
{
  char message[512] = "";
  if (!strcmp(format, "perfetto"))
    return perfetto_write(report);
  if (!strcmp(format, "firefox"))
    return firefox_write(report);
  if (!strcmp(format, "csv")) {
    puts("lane,process,start_s,end_s,category");
    return each(NULL, MODEL_NONE, print_row, NULL);
  }
  int status = otf2_write(report, directory, message, sizeof message);
  if (*message)
    fprintf(stderr, "%s\n", message);
  return status;
}

int main(int argc, char **argv)
{
  struct profile_thread threads[][2] = {
      {{.tid = 70}, {.index = 1, .tid = 71}}, {{.tid = 70}}, {{.tid = 90}, {.index = 3, .tid = 95}}};
  struct profile_process processes[] = {
      {.pid = 70, .rank = 1, .host = "n2", .command = "./a \"x\"", .threads = threads[0], .threads_count = 2},
      {.pid = 70, .rank = 0, .host = "n1" HOSTILE, .command = HOSTILE, .threads = threads[1], .threads_count = 1},
      {.pid = 90, .rank = -1, .host = "n2", .command = "./b", .threads = threads[2], .threads_count = 2},
  };
  struct catalog_module module = {.path = "/lib/" HOSTILE, .name = HOSTILE};
  const struct profile profile = {.processes = processes,
                                  .processes_count = 3,
                                  .processes_usable = 3,
                                  .catalog = {.modules = &module, .modules_count = 1}};
  const struct tree tree = {.rows = rows, .count = ROWS};
  const struct construct_tree constructs = {.entries = entries, .count = ENTRIES};
  const struct totals totals = {.command = HOSTILE};
  struct timeline timeline = {
      .lanes = lanes, .lanes_count = LANES, .origin_ns = 1700000000123456789, .to_ns = UINT64_MAX, .each = each};
  struct report report = {.stream = stdout,
                          .profile = &profile,
                          .totals = &totals,
                          .tree = &tree,
                          .constructs = &constructs,
                          .time.timeline = &timeline};
  if (argc < 3 + !strcmp(argv[argc > 1], "otf2"))
    return 2;
  intervals = strtoull(argv[2], NULL, 10);
  for (uint32_t i = 0; i < LANES; i++)
    lanes[i].critical_known = intervals % 2;
  for (uint32_t i = 0; i < ROWS; i++) {
    rows[i].function = rows[i].kind == ROW_FUNCTION ? rows[i].function : MODEL_NONE;
    rows[i].module = rows[i].kind == ROW_FUNCTION ? 0 : MODEL_NONE;
    rows[i].file = rows[i].line ? "/d/f.c" : "";
  }
  each(NULL, MODEL_NONE, set_end, NULL);
  return export(&report, argv[1], argv[3]) || ferror(stdout) || fflush(stdout);
}
