/* The index of a trace: cells of every length have the sums of the intervals; damaged and stale indexes are refused. */
#include "common/format.h"
#include "hpcprof-lite/timeline/index_builder.h"
#include "hpcprof-lite/timeline/timeline_cells.h"
#include "tests/support/unit.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <zstd.h>

enum { LANES = 3, CELLS = 50 };

static const uint64_t life_ns = 40000000, offset_ns = 1000;
static char directory[] = "/tmp/indexXXXXXX", measurement[64], path[64];

/* Lane n changes its category every 997 + n ns, its context twice as seldom. */
static int each(void *source, uint32_t lane, timeline_visit *visit, void *context)
{
  (void)source;
  uint32_t number = 0;
  for (uint64_t at = offset_ns; at < offset_ns + life_ns; number++) {
    uint64_t end = at + 997 + lane;
    struct timeline_interval interval = {.start_ns = at,
                                         .end_ns = end < offset_ns + life_ns ? end : offset_ns + life_ns,
                                         .lane = lane,
                                         .category = number / 7 % TIMELINE_CATEGORIES,
                                         .context = number / 2 % 5 < 2 ? 1 : number / 2 % 5,
                                         .construct = number / 1000,
                                         .node = number / 2 % 5 < 2 ? 11 : 10 + number / 2 % 5,
                                         .record = number / 1000,
                                         .critical = number % 4 == 0};
    int status = visit(context, &interval);
    if (status)
      return status;
    at = end;
  }
  return 0;
}

static struct timeline_lane threads[LANES] = {{.critical_known = true}};
static const struct timeline timeline = {.lanes = threads, .lanes_count = LANES, .each = each};
static struct timeline_index_lane lanes[LANES];
static const struct timeline_index_key key = {.measurement = measurement, .digest = 77, .offset_ns = 1000};

static int set_up(void **state)
{
  (void)state;
  assert_non_null(mkdtemp(directory));
  snprintf(measurement, sizeof measurement, "%s/a.hpcrun", directory);
  snprintf(path, sizeof path, "%s/a.index", directory);
  for (uint32_t i = 0; i < LANES; i++)
    lanes[i] = (struct timeline_index_lane){.start_ns = offset_ns, .end_ns = offset_ns + life_ns, .thread = i + 1};
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  return unlink(path) + rmdir(directory);
}

/* A guest that counts the intervals of all lanes. */
static atomic_uint visited;

static void *begin_lane(void *self, uint32_t lane, unsigned worker)
{
  (void)lane;
  (void)worker;
  return self;
}

static int count_interval(void *self, const struct timeline_interval *interval)
{
  (void)interval;
  atomic_fetch_add((atomic_uint *)self, 1);
  return 0;
}

static uint8_t *end_guest(void *self, uint32_t part, size_t *size)
{
  if (part > 1)
    return NULL;
  *size = sizeof visited;
  return memcpy(malloc(*size), self, *size);
}

static const struct timeline_index_guest counter = {
    .self = &visited, .begin_lane = begin_lane, .visit = count_interval, .end = end_guest};

/* Builds an index; returns how many problems there were. */
static size_t build_from(const struct index_builder_input *input)
{
  struct problems problems = {0};
  struct index_builder *builder = index_builder_open(input, &problems);
  for (uint32_t i = input->count; i-- && builder;) /* in any order */
    index_builder_add(builder, i, 0);
  if (builder)
    index_builder_close(builder, true, &problems);
  size_t count = problems.count;
  problems_release(&problems);
  return count;
}

static void build(const struct timeline_index_guest *guest)
{
  const struct index_builder_input input = {
      .timeline = &timeline, .key = key, .lanes = lanes, .count = LANES, .bytes = 1 << 20, .guest = guest};
  assert_int_equal(build_from(&input), 0);
}

static struct timeline_index *open_index(void)
{
  return timeline_index_open(&key);
}

static void sums_of_any_length_agree_with_the_lane(void **state)
{
  (void)state;
  build(NULL);
  struct timeline_index *index = open_index();
  assert_non_null(index);
  assert_true(timeline_index_critical(index));
  for (uint32_t part = 1; part < 64; part *= 2)
    for (uint32_t lane = 0; lane < LANES; lane++) {
      uint64_t from = offset_ns + life_ns / part / 3 * (part > 1), to = from + life_ns / part;
      struct timeline_index_cell cells[CELLS];
      struct timeline_cell wanted[CELLS], exact;
      struct timeline_index_reach reach;
      timeline_cells_read(&timeline, lane, from, to, CELLS, wanted);
      assert_true(timeline_index_read(index, &lanes[lane], from, to, CELLS, cells, &reach));
      assert_true(from <= reach.from_ns && reach.from_ns < reach.to_ns && reach.to_ns <= to);
      timeline_cells_read(&timeline, lane, reach.from_ns, reach.to_ns, 1, &exact);
      uint64_t sums[TIMELINE_CATEGORIES] = {0}, different = reach.from_ns - from + (to - reach.to_ns);
      for (uint32_t i = 0; i < CELLS; i++)
        for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++) {
          sums[c] += cells[i].ns[c];
          different += (uint64_t)llabs((long long)cells[i].ns[c] - (long long)wanted[i].ns[c]);
        }
      assert_memory_equal(sums, exact.ns, sizeof sums);
      assert_in_range(different, 0, (to - from) / (part == 1 ? 20 : 5)); /* only at the borders of cells */
    }
  timeline_index_close(index);
}

static void the_whole_life_is_exact(void **state)
{
  (void)state;
  build(NULL);
  struct timeline_index *index = open_index();
  struct timeline_index_cell cell;
  struct timeline_cell wanted;
  struct timeline_index_reach reach;
  timeline_cells_read(&timeline, 1, offset_ns, offset_ns + life_ns, 1, &wanted);
  assert_true(timeline_index_read(index, &lanes[1], offset_ns, offset_ns + life_ns, 1, &cell, &reach));
  assert_memory_equal(cell.ns, wanted.ns, sizeof cell.ns);
  assert_int_equal(cell.critical_ns, wanted.critical_ns);
  assert_int_equal(cell.node, 10 + wanted.context);
  timeline_index_close(index);
}

static void cells_may_begin_before_the_process(void **state)
{
  (void)state;
  build(NULL);
  struct timeline_index *index = open_index();
  struct timeline_index_cell cells[2];
  struct timeline_index_reach reach;
  uint64_t sum = 0;
  assert_true(timeline_index_read(index, &lanes[1], 0, 2 * life_ns, 2, cells, &reach));
  for (uint32_t i = 0; i < 2 * TIMELINE_CATEGORIES; i++)
    sum += cells[i / TIMELINE_CATEGORIES].ns[i % TIMELINE_CATEGORIES];
  assert_int_equal(sum, life_ns);
  timeline_index_close(index);
}

static void parts_of_any_length_add_up(void **state)
{
  (void)state;
  build(NULL);
  struct timeline_index *index = open_index();
  uint64_t random = 3, from = offset_ns, to, sums[TIMELINE_CATEGORIES] = {0};
  for (; from < offset_ns + life_ns; from = to) {
    struct timeline_index_cell cell;
    struct timeline_cell wanted;
    uint64_t different = 0;
    random = random * 6364136223846793005 + 1442695040888963407;
    to = from + (random >> 40) % (UINT64_C(1) << (random >> 33) % 24) + 1;
    to = to < offset_ns + life_ns ? to : offset_ns + life_ns;
    timeline_cells_read(&timeline, 2, from, to, 1, &wanted);
    assert_true(timeline_index_sum(index, &lanes[2], from, to, &cell));
    for (uint32_t i = 0; i < TIMELINE_CATEGORIES; i++) {
      sums[i] += cell.ns[i];
      different += (uint64_t)llabs((long long)cell.ns[i] - (long long)wanted.ns[i]);
    }
    assert_in_range(different, 0, 2 << 11); /* cells last 2^10 ns */
  }
  struct timeline_index_cell whole;
  assert_true(timeline_index_sum(index, &lanes[2], 0, 2 * life_ns, &whole));
  assert_memory_equal(sums, whole.ns, sizeof sums);
  timeline_index_close(index);
}

static void cells_shorter_than_those_of_the_index_are_refused(void **state)
{
  (void)state;
  struct timeline_index *index = open_index();
  struct timeline_index_cell cells[CELLS];
  struct timeline_index_reach reach;
  assert_false(timeline_index_read(index, lanes, offset_ns, offset_ns + CELLS, CELLS, cells, &reach));
  timeline_index_close(index);
}

static void what_is_stored_with_it_comes_back(void **state)
{
  (void)state;
  size_t size = 0;
  build(&counter);
  struct timeline_index *index = open_index();
  for (uint32_t part = 0; part < 2; part++) {
    uint8_t *bytes = timeline_index_more(index, part, &size);
    assert_non_null(bytes);
    assert_int_equal(size, sizeof visited);
    assert_int_equal(*(const unsigned *)bytes, life_ns / 997 + life_ns / 998 + life_ns / 999 + LANES);
    free(bytes);
  }
  assert_null(timeline_index_more(index, 2, &size));
  timeline_index_close(index);
}

static void an_index_of_another_trace_is_none(void **state)
{
  (void)state;
  struct timeline_index_key other = key;
  other.digest++;
  assert_null(timeline_index_open(&other));
}

/* Changes single bytes: the index is refused, or its cells, or nothing is different. */
static void damage_is_found(void **state)
{
  (void)state;
  struct stat status;
  build(NULL);
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0 && !fstat(fd, &status));
  uint32_t found = 0, tries = 0;
  for (off_t at = 0; at < status.st_size; at += status.st_size / 97 + 1, tries++) {
    uint8_t byte, damaged;
    struct timeline_index_cell cells[CELLS];
    struct timeline_index_reach reach;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    damaged = byte ^ 0x41;
    assert_int_equal(pwrite(fd, &damaged, 1, at), 1);
    struct timeline_index *index = open_index();
    found += !index;
    for (uint32_t part = 1; part < 1 << 12 && index; part *= 2)
      found += !timeline_index_read(index, &lanes[1], offset_ns, offset_ns + life_ns / part, CELLS, cells, &reach);
    timeline_index_close(index);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
  }
  assert_true(found > tries / 10);
  assert_int_equal(ftruncate(fd, status.st_size / 2 + 7), 0);
  assert_null(open_index());
  close(fd);
}

/* Replaces the head by one that says other things, and keeps the other extents. */
static struct timeline_index *open_with_head(uint32_t shift, uint32_t levels)
{
  struct format_index head = {.digest = key.digest, .shift = shift, .levels = levels};
  head.cell_size = sizeof(struct timeline_index_cell);
  struct format_extent extent = {.table = FORMAT_INDEX, .count = sizeof head, .record_size = 1};
  uint8_t packed[1024];
  ZSTD_CCtx *zstd = ZSTD_createCCtx();
  size_t size = format_pack(&extent, &head, zstd, packed, sizeof packed);
  ZSTD_freeCCtx(zstd);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(size && fd >= 0 && write(fd, packed, size) == (ssize_t)size);
  close(fd);
  return open_index();
}

/* Lanes of which the index has nothing are read from the trace, and in no time. */
static void an_index_that_does_not_cover_the_life_is_none(void **state)
{
  (void)state;
  struct timeline_index_cell cells[CELLS];
  struct timeline_index_reach reach;
  struct timeline_index_lane lane = {.start_ns = offset_ns, .end_ns = INT64_MAX, .thread = 1};
  static const uint32_t heads[][2] = {{0, 1}, {0, 63}, {62, 1}, {30, 20}};
  for (uint32_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    struct timeline_index *index = open_with_head(heads[i][0], heads[i][1]);
    assert_non_null(index);
    assert_false(timeline_index_read(index, &lane, 0, INT64_MAX, CELLS, cells, &reach));
    assert_false(timeline_index_read(index, &lanes[0], offset_ns, offset_ns + life_ns, 1, cells, &reach));
    timeline_index_close(index);
  }
}

/* An interval of all time. */
static int each_endless(void *source, uint32_t lane, timeline_visit *visit, void *context)
{
  (void)source;
  return visit(context, &(struct timeline_interval){.end_ns = UINT64_MAX, .lane = lane});
}

static void a_life_longer_than_any_is_not_indexed(void **state)
{
  (void)state;
  const struct timeline endless = {.lanes = threads, .lanes_count = 1, .each = each_endless};
  for (int bit = 62; bit <= 64; bit++) {
    struct timeline_index_lane lane = {.end_ns = bit == 64 ? UINT64_MAX : UINT64_C(1) << bit, .thread = 1};
    const struct timeline_index_key from_start = {.measurement = measurement, .digest = 77};
    const struct index_builder_input input = {
        .timeline = &endless, .key = from_start, .lanes = &lane, .count = 1, .bytes = 1 << 20};
    unlink(path);
    assert_int_equal(build_from(&input), 1);
    assert_int_not_equal(access(path, F_OK), 0);
  }
  build(NULL);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_any_length_agree_with_the_lane),
                                     cmocka_unit_test(the_whole_life_is_exact),
                                     cmocka_unit_test(cells_may_begin_before_the_process),
                                     cmocka_unit_test(parts_of_any_length_add_up),
                                     cmocka_unit_test(cells_shorter_than_those_of_the_index_are_refused),
                                     cmocka_unit_test(what_is_stored_with_it_comes_back),
                                     cmocka_unit_test(an_index_of_another_trace_is_none),
                                     cmocka_unit_test(damage_is_found),
                                     cmocka_unit_test(an_index_that_does_not_cover_the_life_is_none),
                                     cmocka_unit_test(a_life_longer_than_any_is_not_indexed)};
  return UNIT_RUN(argc, argv, "timeline_index", tests, set_up, tear_down);
}
