/* The time in each category, grouped by nodes, processes and threads. */
#include "hpcprof-lite/views/state_times.h"
#include "tests/support/unit.h"

enum { LANES = 5 };

static void groups_are_nodes_processes_and_threads(void **state)
{
  (void)state;
  struct profile_process processes[] = {{.host = "a", .rank = 0}, {.host = "a", .rank = 2}, {.host = "b", .rank = 1}};
  const struct profile profile = {.processes = processes, .processes_count = 3, .processes_usable = 3};
  struct timeline_lane lanes[LANES] = {
      {.thread = 0}, {.thread = 1}, {.process = 1}, {.process = 2}, {.process = 2, .thread = 3}};
  const struct timeline timeline = {.lanes = lanes, .lanes_count = LANES};
  struct state_times times[LANES] = {{{0}}};
  static const struct {
    enum timeline_grouping level;
    uint32_t lane;
    uint64_t work_ns;
  } wanted[] = {{TIMELINE_NODES, 0, 111},    {TIMELINE_PROCESSES, 0, 11},    {TIMELINE_THREADS, 0, 1},
                {TIMELINE_THREADS, 1, 10},   {TIMELINE_PROCESSES, 2, 100},   {TIMELINE_THREADS, 2, 100},
                {TIMELINE_NODES, 3, 11000},  {TIMELINE_PROCESSES, 3, 11000}, {TIMELINE_THREADS, 3, 1000},
                {TIMELINE_THREADS, 4, 10000}};
  struct state_group *groups;
  uint32_t count;
  for (uint64_t i = 0, ns = 1; i < LANES; i++, ns *= 10) {
    times[i].ns[TIMELINE_WORK] = ns;
    times[i].ns[TIMELINE_GAP] = 2 * ns;
  }
  state_times_group(&profile, &timeline, times, &groups, &count);
  assert_int_equal(count, sizeof wanted / sizeof *wanted);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(groups[i].level, wanted[i].level);
    assert_int_equal(groups[i].lane, wanted[i].lane);
    assert_int_equal(groups[i].times.ns[TIMELINE_WORK], wanted[i].work_ns);
    assert_int_equal(groups[i].times.ns[TIMELINE_GAP], 2 * wanted[i].work_ns);
    assert_int_equal(groups[i].times.ns[TIMELINE_IDLE], 0);
  }
  free(groups);
}

static void sums_do_not_overflow(void **state)
{
  (void)state;
  struct state_times rows[2] = {{{[TIMELINE_IDLE] = UINT64_MAX}}, {{[TIMELINE_IDLE] = 1, [TIMELINE_TOOL] = 4}}};
  struct state_spread spreads[TIMELINE_CATEGORIES];
  assert_int_equal(state_times_spread(rows, 2, spreads), 2);
  assert_true(spreads[0].category == TIMELINE_IDLE && spreads[0].total_ns == UINT64_MAX);
  assert_true(spreads[0].least == 1 && spreads[0].least_ns == 1 && spreads[0].most == 0);
  assert_true(spreads[1].category == TIMELINE_TOOL && spreads[1].least == 0 && !spreads[1].least_ns);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_nodes_processes_and_threads),
                                     cmocka_unit_test(sums_do_not_overflow)};
  return UNIT_RUN(argc, argv, "state_times", tests, NULL, NULL);
}
