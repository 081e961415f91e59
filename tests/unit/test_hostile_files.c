/* Hostile measurement files and logs: whatever they claim, reading them takes little time and memory, and sound data is
 * kept. */
#include "common/graphlog.h"
#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/merge/span_merge.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/topdown.h"
#include "tests/support/compose_log.h"
#include "tests/support/unit.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <zstd.h>

/* Only some of the bits and lengths are tested, others in each extent. */
enum { STEP = UNIT_SANITIZED ? 31 : 3 };

enum { HEAD = sizeof(struct format_extent), DEEP = UNIT_SANITIZED ? 200000 : 1000000, TINY = 100000, MB = 1 << 20 };

static char directory[] = "/tmp/hpcrun-lite-hostile-XXXXXX", path[64], graph_log_path[64];
static struct compose compose;
static struct compose_log composed;

/* Adds a region with a loop to the thread; owner 0: the thread has created it. */
static void add_constructs(uint32_t owner, uint32_t parallel, uint32_t loop)
{
  compose_construct(&compose, 0, FORMAT_DIRECTIVE_PROGRAM, 0, 0);
  uint32_t region = compose_construct(&compose, 0, FORMAT_DIRECTIVE_PARALLEL, parallel, 1);
  compose.constructs[region].flags = owner ? FORMAT_CONSTRUCT_LINK : 0;
  compose.constructs[region].owner = owner;
  compose.constructs[region].link = 1;
  compose.constructs[region].node = 1;
  uint32_t inside = compose_construct(&compose, region, FORMAT_DIRECTIVE_FOR, loop, 3);
  compose.constructs[inside].ticks[FORMAT_TIME_BODY] = 10;
}

static void make(enum compose_form form)
{
  compose_begin(&compose, form, 7, "./app");
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, 1000);
  compose_module(&compose, "/nowhere/app", FORMAT_MODULE_MAIN);
  uint32_t caller = compose_frame(&compose, 0, 0x10, 1, 10);
  compose_frame(&compose, caller, 0x20, 2, 20);
  compose.process.tick_scale = 1ull << 32;
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.span = 100;
  uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x30, 5, 300, 80);
  uint32_t parallel = compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x40, 5, 300, 80);
  uint32_t task = compose_directive(&compose, FORMAT_DIRECTIVE_TASK, 1, 0x50, 5, 300, 80);
  add_constructs(0, parallel, loop);
  compose_tasks(&compose, task)->created = 7;
  compose_thread(&compose, 1);
  uint32_t region = compose_region(&compose, 1, caller, FORMAT_REGION_PROVISIONAL);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, region, 0, NULL), 0x30, 3, 30);
  add_constructs(1, parallel, loop);
  compose_thread(&compose, 2);
  compose_contribution(&compose, loop, 1, 1, 60);
  compose_end(&compose);
}

static size_t peak_kb(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (size_t)usage.ru_maxrss;
}

/* Merges the file and makes its tree; returns the number of contexts and of problems. */
static uint32_t merge(size_t *problems)
{
  struct profile profile;
  struct names names;
  struct tree_columns columns;
  struct tree tree;
  char *paths[] = {path};
  assert_int_equal(merge_files(paths, 1, 1, BASELINE_THREAD, NULL, &profile), 0);
  tree_columns_init(&profile.catalog, &columns);
  symbolize(&profile, NULL, 1, &names);
  uint32_t *row_of = calloc((size_t)profile.contexts.count + profile.workspan.directives_count + 1, sizeof *row_of);
  struct tree_order order = {.columns = &columns};
  assert_non_null(row_of);
  topdown_build(&profile, &names, &columns, "run", (struct topdown_choice){0}, &tree, row_of);
  topdown_critical_path(&profile, &names, &columns, &tree, row_of);
  tree_inclusive(&tree);
  tree_finish(&tree, &order, false);
  uint32_t contexts = profile.contexts.count;
  *problems = profile.problems[0].count;
  free(row_of);
  tree_release(&tree);
  symbolize_release(&names);
  profile_release(&profile);
  return contexts;
}

static uint32_t read_composed(size_t *problems)
{
  assert_true(compose_write(&compose, path));
  return merge(problems);
}

/* Finds the offsets of the extents; returns their number. */
static size_t find_extents(size_t *offsets, size_t max)
{
  size_t count = 0;
  for (size_t at = 0; at < compose.size && count < max; count++) {
    struct format_extent head;
    memcpy(&head, compose.bytes + at, sizeof head);
    offsets[count] = at;
    at += HEAD + head.stored_size;
  }
  return count;
}

static void test_every_bit_of_every_header(void **state)
{
  size_t offsets[64], problems;
  make(*(const enum compose_form *)*state);
  size_t count = find_extents(offsets, 64);
  assert_true(count > 8);
  uint32_t whole = read_composed(&problems);
  assert_int_equal(problems, 0);
  for (size_t i = 0; i < count; i++)
    for (size_t bit = i % STEP; bit < HEAD * 8; bit += STEP) {
      compose.bytes[offsets[i] + bit / 8] ^= (uint8_t)(1u << bit % 8);
      assert_true(read_composed(&problems) <= whole + 64);
      compose.bytes[offsets[i] + bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_cut_at_every_byte(void **state)
{
  size_t problems;
  make(*(const enum compose_form *)*state);
  for (size_t size = compose.size; size >= STEP; size -= STEP) {
    compose.size = size;
    read_composed(&problems);
  }
}

/* Opens the log of the measurement and reads all its records. */
static uint64_t read_log(void)
{
  struct problems problems = {0};
  struct log_reader *streams = log_reader_open(path, &problems);
  struct log_reader_record record;
  uint64_t records = 0;
  while (streams && log_reader_next(streams, &record))
    records++;
  assert_true(streams || problems.count);
  log_reader_close(streams);
  problems_release(&problems);
  return records;
}

static void make_log(enum compose_form form)
{
  log_begin(&composed);
  for (uint32_t thread = 1; thread <= 2; thread++)
    for (uint64_t i = 0; i < 8; i++) {
      log_run(&composed, thread, 10 + i);
      log_put(&composed, thread, GRAPHLOG_TASK, thread, i, 0, 1);
      if (i % 4 == 3)
        log_cut(&composed, thread);
    }
  log_compose(&composed, form, &compose);
}

static void test_a_log_cut_or_flipped_anywhere(void **state)
{
  make_log(*(const enum compose_form *)*state);
  assert_true(compose_write(&compose, graph_log_path));
  uint64_t all = read_log();
  assert_true(all >= 32);
  for (size_t bit = 0; bit < compose.size * 8; bit += STEP) {
    compose.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    assert_true(compose_write(&compose, graph_log_path));
    assert_true(read_log() <= 64 * all);
    compose.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  for (size_t size = compose.size - 1; size > 0; size--) {
    compose.size = size;
    assert_true(compose_write(&compose, graph_log_path));
    assert_true(read_log() <= all);
  }
  unlink(graph_log_path);
}

/* Starts a file that is written extent by extent. */
static FILE *open_file(void)
{
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  make(COMPOSE_PACKED);
  assert_int_equal(fwrite(compose.bytes, 1, compose.size, file), compose.size);
  return file;
}

static void put_extent(FILE *file, const struct format_extent *head, const void *payload, bool zstd)
{
  size_t bound = format_pack_bound((size_t)head->count * head->record_size);
  void *bytes = malloc(bound);
  ZSTD_CCtx *context = zstd ? ZSTD_createCCtx() : NULL;
  assert_non_null(bytes);
  size_t size = format_pack(head, payload, context, bytes, bound);
  assert_true(size > 0);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  ZSTD_freeCCtx(context);
  free(bytes);
}

static void test_sizes_that_overflow(void **state)
{
  static const struct {
    uint32_t first, count, record_size;
    uint64_t stored_size;
  } claims[] = {{0, UINT32_MAX, UINT32_MAX, 0},
                {0, 0x10000000, 16, 0},
                {0, 1, 16, UINT64_MAX},
                {0, 1, 16, UINT64_MAX - HEAD + 1},
                {0, 1, 16, INT64_MAX},
                {UINT32_MAX, 1, 16, 16},
                {UINT32_MAX, UINT32_MAX, 1, 16},
                {0, 0x80000000, 2, 16},
                {0, 0, 0, 0},
                {0x3fffff, 1, 16, 16},
                {0, 0x1000001, 4096, 16},
                {1, 1, 4096, 4096}};
  (void)state;
  for (uint16_t table = 0; table < FORMAT_TABLES + 1; table++)
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
      for (uint32_t flags = 0; flags < 4; flags++) {
        static const uint8_t zero[4096];
        struct format_extent head = {.magic = FORMAT_MAGIC,
                                     .version = FORMAT_VERSION,
                                     .table = table,
                                     .flags = flags,
                                     .owner = 3,
                                     .first = claims[i].first,
                                     .count = claims[i].count,
                                     .record_size = claims[i].record_size,
                                     .stored_size = claims[i].stored_size};
        size_t problems;
        FILE *file = open_file();
        fwrite(&head, 1, sizeof head, file);
        fwrite(zero, 1, claims[i].stored_size < sizeof zero ? (size_t)claims[i].stored_size : 7, file);
        assert_int_equal(fclose(file), 0);
        assert_true(merge(&problems) >= 4);
      }
}

/* A frame of zstd may claim any size in a few bytes. */
static void test_compressed_frames_that_claim_large_sizes(void **state)
{
  static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}; /* 4 GiB */
  size_t problems;
  (void)state;
  assert_true(ZSTD_getFrameContentSize(frame, sizeof frame) == 1ull << 32);
  FILE *file = open_file();
  for (uint16_t table = 1; table < FORMAT_TABLES; table++) {
    struct format_extent head = {.magic = FORMAT_MAGIC,
                                 .version = FORMAT_VERSION,
                                 .table = table,
                                 .flags = FORMAT_ZSTD | FORMAT_LIVE,
                                 .count = 1 << 20,
                                 .record_size = 4096,
                                 .stored_size = sizeof frame};
    fwrite(&head, 1, sizeof head, file);
    fwrite(frame, 1, sizeof frame, file);
  }
  assert_int_equal(fclose(file), 0);
  size_t before = peak_kb();
  assert_int_equal(merge(&problems), 4);
  assert_int_equal(problems, FORMAT_TABLES - 1);
  assert_true(peak_kb() - before < 64 << 10);
}

/* Thousands of extents of zeros, each 64 MB of nodes in 6 KB, in a file of 2 MB. */
static void test_compression_bombs(void **state)
{
  struct format_extent head = {.table = FORMAT_NODES, .count = 4 << 20, .record_size = 16};
  uint8_t *zeros = calloc(head.count, head.record_size);
  size_t problems, bound = format_pack_bound((size_t)head.count * head.record_size);
  uint8_t *bytes = malloc(bound);
  ZSTD_CCtx *context = ZSTD_createCCtx();
  (void)state;
  assert_non_null(zeros);
  assert_non_null(bytes);
  FILE *file = open_file();
  for (head.owner = 1; head.owner <= 300; head.owner++) {
    static size_t size;
    if (head.owner == 1 || head.owner == 3) /* live: without a checksum, only the owner is changed */
      size = format_pack(&head, zeros, context, bytes, bound);
    struct format_extent packed;
    memcpy(&packed, bytes, sizeof packed);
    packed.owner = head.owner;
    packed.flags |= head.owner > 3 ? FORMAT_LIVE : 0;
    memcpy(bytes, &packed, sizeof packed);
    fwrite(bytes, 1, size, file);
  }
  assert_int_equal(fclose(file), 0);
  free(zeros);
  free(bytes);
  ZSTD_freeCCtx(context);
  size_t before = peak_kb();
  assert_true(merge(&problems) >= 4);
  assert_true(problems > 100);
  assert_true(peak_kb() - before < 512 << 10);
}

/* One record far behind all others would make a table of millions. */
static void test_records_far_behind(void **state)
{
  struct format_node node = {.kind_what = FORMAT_KIND_FRAME << 24 | 1};
  size_t problems;
  (void)state;
  FILE *file = open_file();
  for (uint32_t owner = 3; owner < 500; owner++) {
    struct format_extent head = {
        .table = FORMAT_NODES, .owner = owner, .first = (4 << 20) - 1, .count = 1, .record_size = sizeof node};
    put_extent(file, &head, &node, false);
  }
  assert_int_equal(fclose(file), 0);
  size_t before = peak_kb();
  assert_true(merge(&problems) >= 4);
  assert_true(problems > 400);
  assert_true(peak_kb() - before < 512 << 10);
}

/* A tree of depth one million, whose parents precede or follow their children. */
static void test_deep_trees(void **state)
{
  bool backwards = *(const bool *)*state;
  struct format_node *nodes = calloc(DEEP, sizeof *nodes);
  struct format_extent head = {.table = FORMAT_NODES, .owner = 3, .count = DEEP, .record_size = sizeof *nodes};
  size_t problems;
  assert_non_null(nodes);
  nodes[0].kind_what = FORMAT_KIND_ROOT << 24;
  for (uint32_t i = 1; i < DEEP; i++) {
    uint32_t above = backwards ? (i + 1) % DEEP : i - 1;
    nodes[i] = (struct format_node){.kind_what = FORMAT_KIND_FRAME << 24 | 1, .offset = i, .parent = above};
  }
  FILE *file = open_file();
  put_extent(file, &head, nodes, true);
  assert_int_equal(fclose(file), 0);
  free(nodes);
  assert_true(merge(&problems) >= DEEP);
  assert_int_equal(problems, 1); /* the thread has no record */
}

/* A cycle of links over many threads, and regions that link to themselves. */
static void test_cycles(void **state)
{
  enum { THREADS = 64, NODES = 64 };
  size_t problems;
  (void)state;
  FILE *file = open_file();
  for (uint32_t thread = 3; thread < 3 + THREADS; thread++) {
    struct format_node nodes[NODES] = {{.kind_what = FORMAT_KIND_ROOT << 24}};
    struct format_extent head = {.table = FORMAT_NODES, .owner = thread, .count = NODES, .record_size = sizeof *nodes};
    for (uint32_t i = 1; i < NODES; i++) {
      uint32_t kind = i % 3 ? FORMAT_KIND_LINK : i % 2 ? FORMAT_KIND_FRAME : FORMAT_KIND_PLACEHOLDER;
      uint32_t what = kind == FORMAT_KIND_LINK ? 3 + (thread - 2) % THREADS : 1;
      nodes[i] = (struct format_node){.kind_what = kind << 24 | what, .offset = NODES - i, .parent = (i + 1) % NODES};
    }
    put_extent(file, &head, nodes, false);
  }
  assert_int_equal(fclose(file), 0);
  assert_true(merge(&problems) >= 4);
  assert_true(problems > 1);
}

static void test_strings_at_the_end(void **state)
{
  (void)state;
  for (uint32_t back = 0; back < 4; back++) {
    size_t problems;
    make(COMPOSE_PACKED);
    uint32_t end = compose.strings_size;
    make(COMPOSE_PACKED); /* writes the tables again, with offsets near the end of the strings */
    compose.size = 0;
    compose.process.command = compose.process.host = compose.process.notes = end - back;
    compose.process.runtime = UINT32_MAX - back;
    compose.process.work_unit = end + back;
    compose.modules[1].path = end - back;
    compose.metrics[0].name = compose.metrics[0].unit = end + 1 - back;
    compose_extent(&compose, FORMAT_PROCESS, 0, 0, 1, sizeof compose.process, &compose.process);
    /* without the terminator of the last string */
    compose_extent(&compose, FORMAT_STRINGS, 0, 0, end - 1, 1, compose.strings);
    compose_extent(&compose, FORMAT_METRICS, 0, 0, 2, sizeof *compose.metrics, compose.metrics);
    compose_extent(&compose, FORMAT_MODULES, 0, 0, 2, sizeof *compose.modules, compose.modules);
    read_composed(&problems);
  }
}

static void test_many_tiny_extents(void **state)
{
  size_t problems;
  uint16_t table = *(const uint16_t *)*state;
  FILE *file = open_file();
  for (uint32_t i = 0; i < TINY; i++) {
    struct format_extent head = {.magic = FORMAT_MAGIC,
                                 .version = i % 3 ? FORMAT_VERSION : FORMAT_VERSION + 1,
                                 .table = table,
                                 .flags = FORMAT_LIVE,
                                 .owner = i,
                                 .record_size = 1};
    fwrite(&head, 1, sizeof head, file);
  }
  assert_int_equal(fclose(file), 0);
  size_t before = peak_kb();
  assert_true(merge(&problems) >= 4);
  assert_true(problems >= TINY / 3);
  assert_true(peak_kb() - before < 768 << 10);
  assert_int_equal(rename(path, graph_log_path), 0);
  read_log();
  unlink(graph_log_path);
}

/* A sparse file may claim any size: its holes use no memory. */
static void test_sparse_files(void **state)
{
  size_t problems, before = peak_kb();
  (void)state;
  assert_int_equal(fclose(open_file()), 0);
  assert_int_equal(truncate(path, (off_t)512 * MB), 0);
  assert_int_equal(merge(&problems), 4);
  assert_true(problems >= 1);
  assert_true(peak_kb() - before < 64 << 10);
}

static void test_parts_too_small_to_spread_over(void **state)
{
  struct context_share shares[] = {{.directive = 1, .context = 3, .amount = 0},
                                   {.directive = 1, .context = 4, .amount = 0},
                                   {.directive = 1, .context = MODEL_NONE, .amount = 7},
                                   {.directive = 2, .context = 3, .amount = 1},
                                   {.directive = 2, .context = MODEL_NONE, .amount = 2}};
  uint32_t count = 5;
  uint64_t sum = 0;
  (void)state;
  span_spread(shares, &count);
  assert_int_equal(count, 4);
  for (uint32_t i = 0; i < count; i++)
    sum += shares[i].amount;
  assert_int_equal(sum, 10);
  assert_int_equal(shares[3].amount, 3);
}

static int make_directory(void **state)
{
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/a.hpcrun", directory);
  snprintf(graph_log_path, sizeof graph_log_path, "%s/a.graph", directory);
  return 0;
}

static int remove_directory(void **state)
{
  (void)state;
  unlink(path);
  unlink(graph_log_path);
  return rmdir(directory);
}

int main(int argc, char **argv)
{
  static enum compose_form packed = COMPOSE_PACKED, zstd = COMPOSE_ZSTD, live = COMPOSE_LIVE;
  static bool forwards = false, backwards = true;
  static uint16_t free_table = FORMAT_FREE, nodes = FORMAT_NODES, logs = FORMAT_GRAPH_LOG;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_every_bit_of_every_header, &zstd),
      cmocka_unit_test_prestate(test_every_bit_of_every_header, &live),
      cmocka_unit_test_prestate(test_cut_at_every_byte, &packed),
      cmocka_unit_test_prestate(test_cut_at_every_byte, &zstd),
      cmocka_unit_test_prestate(test_cut_at_every_byte, &live),
      cmocka_unit_test_prestate(test_a_log_cut_or_flipped_anywhere, &packed),
      cmocka_unit_test_prestate(test_a_log_cut_or_flipped_anywhere, &zstd),
      cmocka_unit_test_prestate(test_a_log_cut_or_flipped_anywhere, &live),
      cmocka_unit_test(test_sizes_that_overflow),
      cmocka_unit_test(test_compressed_frames_that_claim_large_sizes),
      cmocka_unit_test(test_compression_bombs),
      cmocka_unit_test(test_records_far_behind),
      cmocka_unit_test_prestate(test_deep_trees, &forwards),
      cmocka_unit_test_prestate(test_deep_trees, &backwards),
      cmocka_unit_test(test_cycles),
      cmocka_unit_test(test_strings_at_the_end),
      cmocka_unit_test_prestate(test_many_tiny_extents, &free_table),
      cmocka_unit_test_prestate(test_many_tiny_extents, &nodes),
      cmocka_unit_test_prestate(test_many_tiny_extents, &logs),
      cmocka_unit_test(test_sparse_files),
      cmocka_unit_test(test_parts_too_small_to_spread_over),
  };
  return UNIT_RUN(argc, argv, "hostile_files", tests, make_directory, remove_directory);
}
