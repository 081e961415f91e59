/* Reading the graph log: its chunks, damage, and inconsistent records; and the data structures of the replay. */
#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/replay/joins.h"
#include "tests/support/replay_log_builder.h"

static void test_chunks_are_put_together(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  for (int i = 0; i < 5; i++) {
    fork_team(1, 2, team);
    u(1, 3);
    u(2, 4);
    join_team(2, team);
    log_cut(&log_reader_log, 1);
    if (i % 2)
      log_cut(&log_reader_log, 2);
  }
  u(1, 1);
  expect(36, 21);
  expect_row(PARALLEL, 5, 35, 20);
}

/* Threads reserve their chunks: zeros may precede, follow or separate those that are in use. */
static void test_chunks_that_were_not_begun_are_no_damage(void **state)
{
  (void)state;
  static struct compose holes;
  loop_program(2);
  save(COMPOSE_LIVE);
  memset(&holes, 0, sizeof holes);
  for (size_t i = 0; i < compose.size; i++) {
    bool begins = i + 8 <= compose.size && !memcmp(compose.bytes + i, "hpcrlite", 8);
    holes.size = begins ? (holes.size / 4096 + 2) * 4096 : holes.size;
    holes.bytes[holes.size++] = compose.bytes[i];
  }
  holes.size += 5000;
  assert_true(holes.size < sizeof holes.bytes && compose_write(&holes, path));
  assert_true(measured().span == 36);
}

static void test_what_is_behind_damage_is_not_used(void **state)
{
  (void)state;
  struct name first;
  begin();
  first = implicit(1, none, 1);
  for (int i = 0; i < 4; i++) {
    u(1, 10);
    log_cut(&log_reader_log, 1);
  }
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  save(COMPOSE_PACKED);
  size_t chunk = 0; /* the third one */
  for (size_t i = 0, seen = 0; i + 8 < compose.size && seen < 3; i++)
    if (!memcmp(compose.bytes + i, "hpcrlite", 8) && ++seen == 3)
      chunk = i;
  compose.bytes[chunk + 66] ^= 1;
  assert_true(compose_write(&compose, path));
  struct replay_request request = {0};
  struct replay_result result;
  assert_true(replay_file(&request, &result));
  assert_true(result.work == 20 && result.span == 20);
  char expected[64];
  snprintf(expected, sizeof expected, "chunk 2 at offset %zu: checksum", chunk);
  assert_int_equal(problems.count, 1);
  assert_non_null(strstr(problems.lines[0], expected));
  memcpy(compose.bytes + chunk, "hpcr\0\0\0\0", 8); /* its header: the chunk is missing */
  assert_true(compose_write(&compose, path));
  problems_release(&problems);
  assert_true(replay_file(&request, &result));
  assert_true(result.work == 20);
  assert_int_equal(problems.count, 2);
  assert_non_null(strstr(problems.lines[1], "missing"));
}

/* Every prefix and every flipped byte: the result is bounded, and never exceeds the whole. */
static void damage_everywhere(enum compose_form form)
{
  loop_program(2);
  save(form);
  struct compose whole = compose;
  struct replay_request request = {.burdened = true, .cores = {2}, .cores_count = 1};
  struct replay_result result;
  for (size_t size = 0; size < whole.size; size++) {
    compose.size = size;
    assert_true(compose_write(&compose, path));
    bool found = replay_file(&request, &result);
    assert_true(!found || (result.work <= 156 && result.span <= (double)result.work));
    bool between = size && !memcmp(whole.bytes + size, "hpcrlite", 8); /* a thread that does not exist */
    assert_true(problems.count > 0 || between);
    problems_release(&problems);
  }
  for (size_t i = 0; i < whole.size; i++)
    for (unsigned bit = 0; bit < 8; bit += 3) {
      compose = whole;
      compose.bytes[i] ^= (uint8_t)(1 << bit);
      assert_true(compose_write(&compose, path));
      replay_file(&request, &result);
      problems_release(&problems);
    }
}

static void test_damage_at_every_byte(void **state)
{
  (void)state;
  damage_everywhere(COMPOSE_PACKED);
  damage_everywhere(COMPOSE_LIVE); /* without a checksum, so that the records themselves are inconsistent */
}

/* Records in any order, of tasks and regions that end too early, twice, or never. */
static void test_inconsistent_records_do_no_harm(void **state)
{
  (void)state;
  uint32_t seed = 1;
  for (int round = 0; round < 300; round++) {
    begin();
    for (int i = 0; i < 300; i++) {
      uint32_t number[5];
      for (int j = 0; j < 5; j++)
        number[j] = (seed = seed * 1664525 + 1013904223) >> 16;
      uint32_t thread = number[0] % 3 + 1;
      enum graphlog_op op = GRAPHLOG_MOVE + number[1] % (GRAPHLOG_OPS - GRAPHLOG_MOVE);
      put(thread, op, (int)(number[2] % 5), (int)(number[3] % 12), (int)(number[4] % 4), (int)(number[1] % 5));
    }
    save(COMPOSE_PACKED);
    struct replay_request request = scenarios(2);
    struct replay_result result;
    by_row[0][TASK] = by_row[1][LOOP] = 3;
    request.burdened = request.detail = true;
    request.cores[request.cores_count++] = 3;
    assert_true(replay_file(&(struct replay_request){0}, &result));
    assert_true(replay_file(&request, &result));
    assert_true(result.span <= (double)result.work + 1e-6 && result.outcomes[0].span <= result.span + 1e-6);
    assert_true(result.makespans[0] * 3 >= (double)result.work - 1e-6);
    problems_release(&problems);
    attribution_release(&attribution);
  }
}

static void test_there_may_be_no_log(void **state)
{
  (void)state;
  struct log_reader *streams;
  assert_int_equal(log_reader_open("/tmp/nowhere/x.hpcrun", &problems, &streams), 0);
  assert_null(streams);
  assert_int_equal(problems.count, 0);
}

/* ---- data structures of the replay ---- */

static void test_unused_joins_are_released(void **state)
{
  (void)state;
  struct vector_clocks clocks;
  struct joins joins;
  assert_int_equal(vector_clock_init(&clocks, 1, VECTOR_CLOCK_UNTRACED, NULL), 0);
  assert_int_equal(joins_init(&joins, &clocks, 3), 0);
  for (uint64_t name = 1; name <= 3; name++)
    assert_non_null(joins_find(&joins, name, true));
  const struct join *kept = joins_find(&joins, 1, false);
  assert_non_null(joins_find(&joins, 4, true)); /* in place of 2 */
  assert_null(joins_find(&joins, 2, false));
  assert_ptr_equal(joins_find(&joins, 1, false), kept);
  assert_non_null(joins_find(&joins, 3, false));
  joins_release(&joins);
  vector_clock_release(&clocks);
}

static void test_a_map_forgets_what_is_removed(void **state)
{
  (void)state;
  struct index map = {0};
  uint32_t seed = 7, values[512] = {0};
  for (int i = 0; i < 100000; i++) {
    seed = seed * 1664525 + 1013904223;
    uint64_t key = (seed >> 8) % 511 + 1;
    assert_int_equal(index_find(&map, key * 0x100000001), values[key]);
    if (values[key])
      index_remove(&map, key * 0x100000001);
    else
      assert_true(index_add(&map, key * 0x100000001, (uint32_t)i + 1));
    values[key] = values[key] ? 0 : (uint32_t)i + 1;
  }
  index_release(&map);
}

static void test_contributions_keep_their_sums(void **state)
{
  (void)state;
  enum { KEYS = 300, TRAILS = 4 };
  struct contributions contributions;
  static double sums[TRAILS][KEYS], found[KEYS];
  uint32_t contribution[TRAILS] = {0}, seed = 3;
  assert_int_equal(contributions_init(&contributions, KEYS), 0);
  for (int i = 0; i < 50000; i++) {
    seed = seed * 1664525 + 1013904223;
    uint32_t one = (seed >> 8) % TRAILS, other = (seed >> 12) % TRAILS, key = (seed >> 16) % KEYS;
    if (seed % 64 == 0) {
      uint32_t old = contribution[one];
      contribution[one] = contributions_share(&contributions, contribution[other]);
      contributions_drop(&contributions, old);
      memcpy(sums[one], sums[other], sizeof sums[one]);
    } else {
      contributions_add(&contributions, &contribution[one], key, 1);
      sums[one][key]++;
    }
  }
  for (int i = 0; i < TRAILS; i++) {
    memset(found, 0, sizeof found);
    contributions_sum(&contributions, contribution[i], found);
    assert_memory_equal(found, sums[i], sizeof found);
    contributions_drop(&contributions, contribution[i]);
  }
  assert_int_equal(contributions.lost, 0);
  assert_true(contributions.links.used < 4096); /* they were folded */
  contributions_release(&contributions);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_chunks_are_put_together, end),
      cmocka_unit_test_teardown(test_chunks_that_were_not_begun_are_no_damage, end),
      cmocka_unit_test_teardown(test_what_is_behind_damage_is_not_used, end),
      cmocka_unit_test_teardown(test_damage_at_every_byte, end),
      cmocka_unit_test_teardown(test_inconsistent_records_do_no_harm, end),
      cmocka_unit_test(test_there_may_be_no_log),
      cmocka_unit_test(test_unused_joins_are_released),
      cmocka_unit_test(test_a_map_forgets_what_is_removed),
      cmocka_unit_test(test_contributions_keep_their_sums),
  };
  return UNIT_RUN(argc, argv, "log_reader", tests, NULL, NULL);
}
