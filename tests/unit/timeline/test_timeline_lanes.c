/* Lanes as exports show them: constructs that begin and end along a lane, order, process ids and names. */
#include "hpcprof-lite/report/exports/timeline_lanes.h"
#include "tests/support/unit.h"

/* 0: program; 1 contains 2, which contains 3; 4 stands beside 1. */
static struct construct_entry entries[] = {
    {.kind = DIRECTIVE_PROGRAM, .name = "", .file = ""},
    {.depth = 1, .kind = DIRECTIVE_PARALLEL, .name = "main", .file = "/a/x.c", .line = 3, .context = 7},
    {.parent = 1, .depth = 2, .kind = DIRECTIVE_FOR, .name = "main", .file = "", .context = MODEL_NONE},
    {.parent = 2, .depth = 3, .kind = CONSTRUCT_TASK_EXEC, .name = "", .file = "", .context = 99},
    {.depth = 1, .kind = DIRECTIVE_USER_REGION, .name = "mine", .file = "/a/x.c", .line = 9},
};
static const struct construct_tree constructs = {.entries = entries, .count = 5};

static struct tree_row rows[] = {{.id = 0}, {.id = 7}, {.id = 1}};
static const struct tree tree = {.rows = rows, .count = 3};

/* What the source delivers, and what the walk makes of it: "(1" enters construct 1, ")1" leaves it, "." is an
 * interval; a number behind @ is the time. */
struct script {
  const struct timeline_interval *intervals;
  size_t count;
  FILE *stream; /* that of the report */
  char log[512];
};

static int each(void *source, uint32_t lane, timeline_visit *visit, void *context)
{
  const struct script *script = source;
  assert_int_equal(lane, 0);
  for (size_t i = 0; i < script->count; i++) {
    int status = visit(context, &script->intervals[i]);
    if (status)
      return status;
  }
  return 0;
}

static void note(struct script *script, const char *what, uint32_t entry, uint64_t time_ns)
{
  size_t used = strlen(script->log);
  snprintf(script->log + used, sizeof script->log - used, "%s%u@%u ", what, entry, (unsigned)time_ns);
}

static void enter(void *context, uint32_t entry, uint64_t time_ns)
{
  note(context, "(", entry, time_ns);
}

static void leave(void *context, uint32_t entry, uint64_t time_ns)
{
  note(context, ")", entry, time_ns);
}

/* An interval of the tool writes, as exports do. */
static void interval(void *context, const struct timeline_interval *interval)
{
  struct script *script = context;
  note(script, ".", interval->category, interval->start_ns);
  if (script->stream && interval->category == TIMELINE_TOOL)
    fputc('.', script->stream);
}

static int walk(struct script *script, const struct timeline_interval *intervals, size_t count)
{
  static const struct timeline_events events = {.enter = enter, .leave = leave, .interval = interval};
  struct timeline_lane lane = {.end_ns = 100};
  struct profile_thread thread = {.index = 0};
  struct profile_process process = {.host = "", .command = "", .threads = &thread, .threads_count = 1};
  const struct profile profile = {.processes = &process, .processes_count = 1};
  const struct timeline timeline = {.lanes = &lane, .lanes_count = 1, .each = each, .source = script};
  const struct report report = {.profile = &profile,
                                .constructs = &constructs,
                                .tree = &tree,
                                .time.timeline = &timeline,
                                .stream = script->stream};
  struct timeline_lanes lanes;
  script->intervals = intervals;
  script->count = count;
  timeline_lanes_init(&report, &lanes);
  int status = timeline_walk(&lanes, 0, &events, script);
  timeline_lanes_release(&lanes);
  return status;
}

#define WALK(script, intervals) walk(script, intervals, sizeof intervals / sizeof *intervals)

static void nests(void **unused)
{
  static const struct timeline_interval intervals[] = {
      {.start_ns = 0, .end_ns = 5, .construct = 0},
      {.start_ns = 5, .end_ns = 6, .construct = 3, .begins = true},
      {.start_ns = 6, .end_ns = 7, .construct = 2},
      {.start_ns = 7, .end_ns = 9, .construct = 4, .begins = true},
  };
  struct script script = {0};
  (void)unused;
  assert_int_equal(WALK(&script, intervals), 0);
  assert_string_equal(script.log, ".0@0 (1@5 (2@5 (3@5 .0@5 )3@6 .0@6 )2@7 )1@7 (4@7 .0@7 )4@9 ");
}

/* The same construct again is left first, with all in it; one that goes on is not. */
static void begins_again(void **unused)
{
  static const struct timeline_interval intervals[] = {
      {.start_ns = 0, .end_ns = 1, .construct = 2, .begins = true},
      {.start_ns = 1, .end_ns = 2, .construct = 2},
      {.start_ns = 2, .end_ns = 3, .construct = 2, .begins = true},
      {.start_ns = 3, .end_ns = 4, .construct = 1, .begins = true},
      {.start_ns = 4, .end_ns = 5, .construct = 0, .begins = true},
  };
  struct script script = {0};
  (void)unused;
  assert_int_equal(WALK(&script, intervals), 0);
  assert_string_equal(script.log, "(1@0 (2@0 .0@0 .0@1 )2@2 (2@2 .0@2 )2@3 )1@3 (1@3 .0@3 )1@4 .0@4 ");
}

/* Constructs that are not known, or not in the tree, are outside all. */
static void not_known(void **unused)
{
  static const struct timeline_interval intervals[] = {
      {.start_ns = 0, .end_ns = 1, .construct = 1, .begins = true},
      {.start_ns = 1, .end_ns = 2, .construct = MODEL_NONE, .category = TIMELINE_GAP},
      {.start_ns = 2, .end_ns = 3, .construct = 1},
      {.start_ns = 3, .end_ns = 4, .construct = 5},
  };
  struct script script = {0};
  (void)unused;
  assert_int_equal(WALK(&script, intervals), 0);
  assert_string_equal(script.log, "(1@0 .0@0 )1@1 .10@1 (1@2 .0@2 )1@3 .0@3 ");
}

/* Where nothing more can be written. */
static void ends_early(void **unused)
{
  static const struct timeline_interval intervals[] = {
      {.start_ns = 0, .end_ns = 1, .construct = 1},
      {.start_ns = 1, .end_ns = 2, .construct = 1, .category = TIMELINE_TOOL},
      {.start_ns = 2, .end_ns = 3, .construct = 1},
  };
  struct script script = {.stream = fopen("/dev/null", "r")};
  (void)unused;
  assert_non_null(script.stream);
  assert_int_equal(WALK(&script, intervals), ERR_INPUT);
  assert_string_equal(script.log, "(1@0 .0@0 .9@1 )1@2 ");
  fclose(script.stream);
}

static void orders_and_numbers(void **unused)
{
  struct profile_thread threads[2] = {{.index = 0}, {.index = 1}};
  struct profile_process processes[] = {
      {.pid = 5, .rank = 1, .host = "b", .command = "", .threads = threads, .threads_count = 2},
      {.pid = 5, .rank = 0, .host = "b", .command = "", .threads = threads, .threads_count = 1},
      {.pid = 1 << 22, .rank = 2, .host = "a", .command = "", .threads = threads, .threads_count = 1},
  };
  struct timeline_lane all[] = {
      {.end_ns = 1}, {.thread = 1, .end_ns = 1}, {.process = 1, .end_ns = 1}, {.process = 2, .end_ns = 1}};
  const struct profile profile = {.processes = processes, .processes_count = 3};
  const struct timeline timeline = {.lanes = all, .lanes_count = 4};
  const struct report report = {.profile = &profile, .tree = &tree, .time.timeline = &timeline};
  struct timeline_lanes lanes;
  (void)unused;
  timeline_lanes_init(&report, &lanes);
  const uint32_t order[] = {3, 2, 0, 1};
  assert_memory_equal(lanes.order, order, sizeof order);
  assert_int_equal(lanes.pids[0], 5);
  assert_int_equal(lanes.pids[1], (1 << 22) + 1);
  assert_int_equal(lanes.pids[2], 1 << 22);
  const bool hosts[] = {true, true, false, false}, first[] = {true, true, true, false};
  for (uint32_t i = 0; i < 4; i++) {
    assert_int_equal(timeline_first_of_host(&lanes, i), hosts[i]);
    assert_int_equal(timeline_first_of_process(&lanes, i), first[i]);
  }
  timeline_lanes_release(&lanes);
}

static void rows_and_names(void **unused)
{
  const struct timeline timeline = {.lanes_count = 0};
  const struct profile profile = {.processes_count = 0};
  const struct report report = {
      .profile = &profile, .constructs = &constructs, .tree = &tree, .time.timeline = &timeline};
  const struct {
    uint32_t context, construct, row;
  } cases[] = {{2, 1, 2}, {MODEL_NONE, 1, 1}, {MODEL_NONE, 2, 0}, {3, 3, 0}, {MODEL_NONE, MODEL_NONE, 0}};
  static const char *const names[] = {"program", "parallel @ x.c:3", "for (main)", "task-exec", "mine"};
  struct timeline_lanes lanes;
  char name[TIMELINE_TEXT_MAX];
  (void)unused;
  timeline_lanes_init(&report, &lanes);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct timeline_interval where = {.context = cases[i].context, .construct = cases[i].construct};
    assert_int_equal(timeline_row(&lanes, &where), cases[i].row);
  }
  timeline_lanes_release(&lanes);
  for (size_t i = 0; i < 5; i++) {
    timeline_construct_name(&entries[i], name);
    assert_string_equal(name, names[i]);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nests),      cmocka_unit_test(begins_again),       cmocka_unit_test(not_known),
      cmocka_unit_test(ends_early), cmocka_unit_test(orders_and_numbers), cmocka_unit_test(rows_and_names),
  };
  return UNIT_RUN(argc, argv, "timeline_lanes", tests, NULL, NULL);
}
