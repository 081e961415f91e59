/* Stitching and merging: links, placeholders, hostile trees, many files, and the same result for any number of
 * threads. */
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/views/derived.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/topdown.h"
#include "tests/support/compose_measurement.h"
#include "tests/support/unit.h"

static char directory[] = "/tmp/hpcrun-lite-merge-XXXXXX";
static struct compose compose;

static char *path_of(int number)
{
  char *path;
  assert_true(asprintf(&path, "%s/%d.hpcrun", directory, number) > 0);
  return path;
}

static void begin(uint32_t pid)
{
  compose_begin(&compose, COMPOSE_PACKED, pid, "./app");
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, 1000);
  compose_module(&compose, "/nowhere/app", FORMAT_MODULE_MAIN);
}

/* Merges the files 0..count-1 and removes them. */
static void merge_against(enum profile_baseline baseline, int count, unsigned threads, struct profile *profile)
{
  char **paths = calloc((size_t)count, sizeof *paths);
  for (int i = 0; i < count; i++)
    paths[i] = path_of(i);
  assert_int_equal(merge_files(paths, (uint32_t)count, threads, baseline, NULL, profile), 0);
  for (int i = 0; i < count; i++) {
    unlink(paths[i]);
    free(paths[i]);
  }
  free(paths);
}

static void merge(int count, unsigned threads, struct profile *profile)
{
  merge_against(BASELINE_THREAD, count, threads, profile);
}

static void save(int number)
{
  char *path = path_of(number);
  assert_true(compose_write(&compose, path));
  free(path);
}

/* Returns the merged node at the end of a path of kinds and offsets from the root; MODEL_NONE if it does not
 * exist. */
static uint32_t find(const struct profile *profile, const struct context_node *path, size_t length)
{
  uint32_t at = 0;
  for (size_t i = 0; i < length; i++) {
    uint32_t next = MODEL_NONE;
    for (uint32_t node = 1; node < profile->contexts.count; node++) {
      const struct context_node *here = &profile->contexts.nodes[node];
      if (here->parent == at && here->kind == path[i].kind && here->offset == path[i].offset)
        next = node;
    }
    if (next == MODEL_NONE)
      return MODEL_NONE;
    at = next;
  }
  return at;
}

static uint64_t work_at(const struct profile *profile, const struct context_node *path, size_t length)
{
  uint32_t node = find(profile, path, length);
  if (node == MODEL_NONE)
    return 0;
  for (uint32_t i = 0; i < profile->catalog.columns_count; i++)
    if (profile->catalog.columns[i].role == COLUMN_WORK)
      return contexts_get(&profile->contexts, node, i);
  return 0;
}

#define FRAME(at)                                                                                                      \
  {                                                                                                                    \
    .kind = CONTEXT_FRAME, .offset = (at)                                                                              \
  }
#define WORK(profile, ...)                                                                                             \
  work_at((profile), (const struct context_node[]){__VA_ARGS__},                                                       \
          sizeof((const struct context_node[]){__VA_ARGS__}) / sizeof(struct context_node))

static uint64_t total_work(const struct profile *profile)
{
  uint64_t sum = 0;
  for (uint32_t i = 0; i < profile->catalog.columns_count; i++)
    if (profile->catalog.columns[i].role == COLUMN_WORK)
      for (uint32_t node = 0; node < profile->contexts.count; node++)
        sum += contexts_get(&profile->contexts, node, i);
  return sum;
}

static void test_link_joins_the_creator(void **state)
{
  (void)state;
  struct profile profile;
  begin(1);
  uint32_t creator = compose_frame(&compose, compose_frame(&compose, 0, 0x10, 1, 1), 0x20, 1, 2);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, creator, NULL), 0x30, 1, 4);
  compose_thread(&compose, 1);
  uint32_t link = compose_node(&compose, FORMAT_KIND_LINK, 1, creator, 0, NULL);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, link, NULL), 0x30, 1, 8);
  compose_thread(&compose, 2);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  assert_int_equal(WORK(&profile, FRAME(0x10), FRAME(0x20), {.kind = CONTEXT_PARALLEL}, FRAME(0x30)), 12);
  assert_int_equal(profile.contexts.count, 5);
  assert_int_equal(profile.problems[0].count, 0);
  profile_release(&profile);
}

/* A later thread's link into an earlier one's tree, a link forward, and a chain of placeholder, link, placeholder. */
static void test_chains_resolve_in_any_order(void **state)
{
  (void)state;
  struct profile profile;
  begin(1);
  uint32_t first = compose_region(&compose, 3, 1, FORMAT_REGION_FINAL),
           second = compose_region(&compose, 1, 2, FORMAT_REGION_PROVISIONAL);
  uint32_t holder = compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, first, 0, NULL);
  compose_frame(&compose, holder, 0x40, 1, 1); /* node 2: below thread 3's frame 0x10 */
  compose_thread(&compose, 1);
  holder = compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, second, 0, NULL);
  compose_frame(&compose, holder, 0x50, 1, 2);
  compose_thread(&compose, 2);
  compose_frame(&compose, 0, 0x10, 1, 4);
  uint32_t link = compose_node(&compose, FORMAT_KIND_LINK, 2, 2, 0, NULL);
  compose_frame(&compose, link, 0x60, 1, 8);
  compose_thread(&compose, 3);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  assert_int_equal(WORK(&profile, FRAME(0x10)), 4);
  assert_int_equal(WORK(&profile, FRAME(0x10), FRAME(0x40)), 1);
  assert_int_equal(WORK(&profile, FRAME(0x10), FRAME(0x40), FRAME(0x50)), 2);
  assert_int_equal(WORK(&profile, FRAME(0x10), FRAME(0x40), FRAME(0x50), FRAME(0x60)), 8);
  assert_int_equal(profile.problems[0].count, 0);
  profile_release(&profile);
}

static void test_unknown_region_is_partial(void **state)
{
  (void)state;
  struct profile profile;
  begin(1);
  uint32_t region = compose_region(&compose, 9, 9, FORMAT_REGION_UNKNOWN);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, region, 0, NULL), 0x40, 1, 7);
  compose_thread(&compose, 1);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  assert_int_equal(WORK(&profile, {.kind = CONTEXT_PARTIAL}, FRAME(0x40)), 7);
  assert_int_equal(profile.problems[0].count, 0);
  profile_release(&profile);
}

/* Two threads whose links lead to each other: no work is lost, and the problem is reported. */
static void test_a_cycle_of_links_ends(void **state)
{
  (void)state;
  struct profile profile;
  begin(1);
  compose_node(&compose, FORMAT_KIND_LINK, 2, 1, 0, NULL);
  compose_frame(&compose, 1, 0x10, 1, 1);
  compose_thread(&compose, 1);
  compose_node(&compose, FORMAT_KIND_LINK, 1, 1, 0, NULL);
  compose_frame(&compose, 1, 0x20, 1, 2);
  compose_thread(&compose, 2);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  assert_int_equal(total_work(&profile), 3);
  assert_int_equal(WORK(&profile, {.kind = CONTEXT_PARTIAL}, FRAME(0x20)), 2);
  assert_true(profile.problems[0].count > 0);
  profile_release(&profile);
}

/* Writes a live file with a frame whose values are missing, one whose creator is missing, and a gap in the regions.
 * Returns the number of problems that are reported. */
static size_t problems_of_missing_data(uint64_t unkept, const char *suffix)
{
  struct profile profile;
  char *path;
  assert_true(asprintf(&path, "%s/0%s", directory, suffix) > 0);
  begin(1);
  compose.form = COMPOSE_LIVE;
  compose.process.lost[FORMAT_LOST_UNKEPT] = unkept;
  uint32_t frame = compose_frame(&compose, 0, 0x10, 1, 1);
  compose.nodes[compose_frame(&compose, frame, 0x20, 1, 2)].value = COMPOSE_RECORDS;
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_LINK, 2, 1, 0, NULL), 0x30, 1, 4);
  compose_thread(&compose, 1);
  compose_end(&compose);
  compose_extent(&compose, FORMAT_REGIONS, 0, 300, 1, sizeof(struct format_region), &(struct format_region){0});
  assert_true(compose_write(&compose, path));
  assert_int_equal(merge_files(&path, 1, 1, BASELINE_THREAD, NULL, &profile), 0);
  assert_int_equal(WORK(&profile, FRAME(0x10)), 1);
  assert_int_equal(WORK(&profile, {.kind = CONTEXT_PARTIAL}, FRAME(0x30)), 4);
  assert_int_equal(total_work(&profile), 5);
  size_t reported = profile.problems[0].count;
  profile_release(&profile);
  unlink(path);
  free(path);
  return reported;
}

static void test_tables_that_were_not_kept_are_a_loss(void **state)
{
  (void)state;
  assert_int_equal(problems_of_missing_data(1, FORMAT_LIVE_SUFFIX), 0);
  assert_int_equal(problems_of_missing_data(0, FORMAT_LIVE_SUFFIX), 3);
  assert_true(problems_of_missing_data(1, FORMAT_SUFFIX) >= 3); /* at the end everything is written */
}

static void test_parents_may_come_later(void **state)
{
  (void)state;
  struct profile profile;
  begin(1);
  compose_frame(&compose, 2, 0x20, 1, 2);
  compose_frame(&compose, 0, 0x10, 1, 1);
  compose_thread(&compose, 1);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  assert_int_equal(WORK(&profile, FRAME(0x10), FRAME(0x20)), 2);
  assert_int_equal(profile.problems[0].count, 0);
  profile_release(&profile);
}

static void test_values_saturate(void **state)
{
  (void)state;
  struct profile profile;
  for (int i = 0; i < 2; i++) {
    begin((uint32_t)i);
    compose_frame(&compose, 0, 0x10, 1, UINT64_MAX - 5);
    compose_thread(&compose, 1);
    compose_end(&compose);
    save(i);
  }
  merge(2, 1, &profile);
  assert_true(WORK(&profile, FRAME(0x10)) == UINT64_MAX);
  profile_release(&profile);
}

/* Many processes with shared and private paths: the sum of each path is right on one thread and on several. */
static void test_many_files_on_many_threads(void **state)
{
  (void)state;
  enum { FILES = 60 };
  for (unsigned threads = 1; threads <= 5; threads += 2) {
    struct profile profile;
    for (int i = 0; i < FILES; i++) {
      begin((uint32_t)i);
      if (i % 3 == 0)
        compose_metric(&compose, "cycles", "", FORMAT_ROLE_EVENT, 1);
      uint32_t shared = compose_frame(&compose, 0, 0x10, 1, 1);
      compose_frame(&compose, shared, 0x100 + (uint32_t)i, 1, (uint64_t)i + 1);
      compose_thread(&compose, 1);
      compose_end(&compose);
      save(i);
    }
    merge(FILES, threads, &profile);
    assert_int_equal(profile.contexts.count, FILES + 2);
    assert_int_equal(profile.catalog.columns_count, 3);
    assert_int_equal(profile.catalog.modules_count, 2); /* the application, and record 0, which has no name */
    assert_int_equal(WORK(&profile, FRAME(0x10)), FILES);
    for (uint32_t i = 0; i < FILES; i++)
      assert_int_equal(WORK(&profile, FRAME(0x10), FRAME(0x100 + i)), i + 1);
    for (uint32_t i = 0; i < FILES; i++)
      assert_int_equal(profile.processes[i].pid, i);
    profile_release(&profile);
  }
}

/* One process of 300 threads, each linked to another, two of them in a circle, with a damaged node in thread 2, to
 * which threads of other parts link. */
static void merge_many_threads(unsigned workers, struct profile *profile)
{
  enum { THREADS = 300, CIRCLE = 150 };
  begin(1);
  for (uint32_t i = 1; i <= THREADS; i++) {
    uint32_t to = i == CIRCLE ? THREADS : i / 2;
    uint32_t above = i == 1 ? 0 : compose_node(&compose, FORMAT_KIND_LINK, to, to == 1 ? 1 : 2, 0, NULL);
    uint32_t frame = compose_frame(&compose, above, 0x10 + i % 7, 1, i);
    if (i == 2)
      compose_frame(&compose, 999, 0x20, 1, 1000);
    compose_frame(&compose, frame, 0x30, 1, 1);
    compose_thread(&compose, i);
  }
  compose_end(&compose);
  save(0);
  merge(1, workers, profile);
}

static void test_many_threads_on_many_workers(void **state)
{
  (void)state;
  struct profile one, many;
  merge_many_threads(1, &one);
  merge_many_threads(8, &many);
  assert_int_equal(total_work(&one), 300 * 301 / 2 + 1000 + 300);
  assert_int_equal(one.contexts.count, many.contexts.count);
  uint32_t *same = calloc(one.contexts.count, sizeof *same);
  for (uint32_t i = 0; i < one.contexts.count; i++) {
    const struct context_node *node = &one.contexts.nodes[i];
    struct context_node identity = *node;
    if (i)
      identity.parent = same[node->parent];
    same[i] = i ? contexts_find(&many.contexts, &identity) : 0;
    assert_int_not_equal(same[i], MODEL_NONE);
    for (uint32_t column = 0; column < one.catalog.columns_count; column++)
      assert_int_equal(contexts_get(&one.contexts, i, column), contexts_get(&many.contexts, same[i], column));
  }
  free(same);
  assert_int_equal(one.problems[0].count, 3); /* the damaged node once, the circle in each of its threads */
  assert_int_equal(many.problems[0].count, 3);
  for (size_t i = 0; i < 3; i++)
    assert_string_equal(one.problems[0].lines[i], many.problems[0].lines[i]);
  profile_release(&one);
  profile_release(&many);
}

static void flatten(const struct profile *profile, struct names *names, struct tree_columns *columns, struct tree *tree)
{
  tree_columns_init(&profile->catalog, columns);
  symbolize(profile, NULL, 1, names);
  topdown_build(profile, names, columns, "run", (struct topdown_choice){0}, tree, NULL);
  tree_inclusive(tree);
  struct tree_order order = {.columns = columns};
  tree_finish(tree, &order, false);
}

/* f calls g calls f calls f: the inclusive time of f is that of its outermost call, in the flat and in the bottom-up
 * view. */
static void test_recursion_counts_once(void **state)
{
  (void)state;
  struct profile profile;
  struct names names;
  struct tree_columns columns;
  struct tree tree, flat, callers;
  begin(1);
  uint32_t f = compose_frame(&compose, 0, 0x10, 1, 1), g = compose_frame(&compose, f, 0x20, 1, 2);
  compose_frame(&compose, compose_frame(&compose, g, 0x10, 1, 4), 0x10, 1, 8);
  compose_thread(&compose, 1);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  flatten(&profile, &names, &columns, &tree);
  derived_flat(&tree, &columns, &flat, NULL);
  derived_bottomup(&tree, &columns, &callers, NULL);
  const struct tree *views[] = {&flat, &callers};
  for (int i = 0; i < 2; i++) {
    for (uint32_t row = views[i]->rows[0].first_child; row != MODEL_NONE; row = views[i]->rows[row].next) {
      bool is_f = strstr(views[i]->rows[row].name, "0x10") != NULL;
      assert_int_equal(tree_incl(views[i], row, columns.work), is_f ? 15 : 14);
      assert_int_equal(tree_excl(views[i], row, columns.work), is_f ? 13 : 2);
    }
  }
  tree_release(&tree);
  tree_release(&flat);
  tree_release(&callers);
  symbolize_release(&names);
  profile_release(&profile);
}

/* If the body of a region is known, the overhead of the runtime is in the same row; otherwise the call site names
 * it. */
static void test_region_has_one_row(void **state)
{
  (void)state;
  struct profile profile;
  struct names names;
  struct tree_columns columns;
  struct tree tree;
  begin(1);
  const uint64_t values[] = {1, 5};
  uint32_t caller = compose_frame(&compose, 0, 0x10, 0, 0);
  uint32_t known = compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, caller, NULL);
  compose_frame(&compose, known, 0x20, 1, 2);
  compose_node(&compose, FORMAT_KIND_RUNTIME, 0, 0, known, values);
  uint32_t other = compose_frame(&compose, 0, 0x30, 0, 0);
  compose_node(&compose, FORMAT_KIND_RUNTIME, 0, 0, compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, other, NULL),
               values);
  compose_thread(&compose, 1);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  flatten(&profile, &names, &columns, &tree);
  unsigned regions = 0, runtimes = 0;
  for (uint32_t row = 0; row < tree.count; row++) {
    regions += tree.rows[row].kind == ROW_PARALLEL;
    if (tree.rows[row].kind != ROW_RUNTIME)
      continue;
    runtimes++;
    assert_int_equal(tree.rows[tree.rows[row].parent].kind, ROW_PARALLEL);
  }
  assert_int_equal(regions, 2);
  assert_int_equal(runtimes, 2);
  assert_int_equal(tree_incl(&tree, 0, columns.work), 12);
  tree_release(&tree);
  symbolize_release(&names);
  profile_release(&profile);
}

/* The idleness of a process with one context, from its values, for a baseline. */
static uint64_t idleness_of(const uint64_t values[6], uint32_t threads_max, uint32_t process_flags,
                            uint32_t thread_flags, enum profile_baseline baseline)
{
  static const uint32_t roles[] = {FORMAT_ROLE_SAMPLES,  FORMAT_ROLE_WORK,     FORMAT_ROLE_OVERHEAD,
                                   FORMAT_ROLE_LOCKWAIT, FORMAT_ROLE_PER_BUSY, FORMAT_ROLE_IN_USE};
  struct profile profile;
  compose_begin(&compose, COMPOSE_PACKED, 1, "./app");
  compose.process.threads_max = threads_max;
  compose.process.cpus = 8;
  compose.process.flags = process_flags;
  for (int i = 0; i < 6; i++)
    compose_metric(&compose, "", "ns", roles[i], 0);
  compose_module(&compose, "/nowhere/app", FORMAT_MODULE_MAIN);
  compose_node(&compose, FORMAT_KIND_FRAME, 1, 0x10, 0, values);
  compose.thread.flags = thread_flags;
  compose_thread(&compose, 1);
  compose_end(&compose);
  save(0);
  merge_against(baseline, 1, 1, &profile);
  uint64_t found = UINT64_MAX - 1;
  for (uint32_t i = 0; i < profile.catalog.columns_count; i++) {
    assert_int_not_equal(profile.catalog.columns[i].role, COLUMN_PER_BUSY);
    assert_int_not_equal(profile.catalog.columns[i].role, COLUMN_IN_USE);
    if (profile.catalog.columns[i].role == COLUMN_IDLENESS)
      found = contexts_get(&profile.contexts, 1, i);
  }
  assert_int_equal(found, profile.processes[0].threads[0].caused_idle_ns);
  profile_release(&profile);
  return found;
}

/* P = 10 + 20 + 30, 40 per busy, 90 in use, four threads, eight cores. */
static void test_idleness_against_each_baseline(void **state)
{
  (void)state;
  static const uint64_t values[] = {1, 10, 20, 30, 40, 90}, overcommitted[] = {1, 60, 0, 0, 5, 50};
  const uint32_t ompt = FORMAT_PROCESS_OMPT, openmp = FORMAT_THREAD_OPENMP;
  assert_int_equal(idleness_of(values, 4, ompt, openmp, BASELINE_THREAD), 4 * 40 - 60);
  assert_int_equal(idleness_of(values, 4, ompt, openmp, BASELINE_CORE), 8 * 40 - 60);
  assert_int_equal(idleness_of(values, 4, ompt, openmp, BASELINE_SHARED), 90 - 60);
  assert_int_equal(idleness_of(values, 4, 0, openmp, BASELINE_THREAD), 0);
  assert_int_equal(idleness_of(values, 4, ompt, 0, BASELINE_THREAD), 0);
  assert_int_equal(idleness_of(overcommitted, 4, ompt, openmp, BASELINE_CORE), 0);
  assert_int_equal(idleness_of(overcommitted, 4, ompt, openmp, BASELINE_SHARED), 0);
}

static void test_idleness_saturates(void **state)
{
  (void)state;
  static const uint64_t wraps[] = {1, 5, 0, 0, 1ull << 63, 1}, huge[] = {1, UINT64_MAX, 1, 1, UINT64_MAX, UINT64_MAX};
  const uint32_t ompt = FORMAT_PROCESS_OMPT, openmp = FORMAT_THREAD_OPENMP;
  assert_true(idleness_of(wraps, 2, ompt, openmp, BASELINE_THREAD) == UINT64_MAX - 5);
  assert_int_equal(idleness_of(huge, UINT32_MAX, ompt, openmp, BASELINE_THREAD), 0);
  assert_int_equal(idleness_of(huge, UINT32_MAX, ompt, openmp, BASELINE_SHARED), 0);
}

/* A file without the sums gives no column, so that reports distinguish 0 from unknown. */
static void test_no_idleness_without_its_sums(void **state)
{
  (void)state;
  struct profile profile;
  begin(1);
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose_frame(&compose, 0, 0x10, 1, 10);
  compose_thread(&compose, 1);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  assert_int_equal(profile.catalog.columns_count, 2);
  profile_release(&profile);
}

/* Of the pages that processes have recorded of a module, the first ones are kept, in whatever order they are read. */
static void test_pages_of_a_module_are_limited(void **state)
{
  enum { PROCESSES = 100 };
  (void)state;
  for (int reversed = 0; reversed < 2; reversed++) {
    struct catalog catalog;
    catalog_init(&catalog);
    assert_int_equal(catalog_add_module(&catalog, "/nowhere/app", (const uint8_t *)"", 0, 0), 0);
    for (uint32_t i = 0; i < PROCESSES; i++) {
      struct file_identity_page pages[FILE_IDENTITY_PAGES];
      uint64_t first = (reversed ? PROCESSES - 1 - i : i) * FILE_IDENTITY_PAGES / 2; /* half of them are new */
      for (uint64_t j = 0; j < FILE_IDENTITY_PAGES; j++)
        pages[reversed ? FILE_IDENTITY_PAGES - 1 - j : j] =
            (struct file_identity_page){.offset = (first + j) << 12, .checksum = first + j, .bytes = 1};
      catalog_add_identity(&catalog, 0, &(struct file_identity){.pages = pages, .pages_count = FILE_IDENTITY_PAGES});
      if (i == 2)
        assert_int_equal(catalog.modules[0].identity.pages_count, 2 * FILE_IDENTITY_PAGES);
    }
    const struct file_identity *found = &catalog.modules[0].identity;
    assert_int_equal(found->pages_count, CATALOG_PAGES_MAX);
    for (uint32_t i = 0; i < CATALOG_PAGES_MAX; i++)
      assert_int_equal(found->pages[i].checksum, i);
    catalog_release(&catalog);
  }
}

/* Symbols that are kept name functions when their file is gone; its place has no code of the module any more. */
static void test_kept_symbols_need_no_file(void **state)
{
  (void)state;
  struct profile profile;
  struct kept_symbols kept = {0};
  char app[sizeof directory + 8];
  snprintf(app, sizeof app, "%s/app", directory);
  assert_int_equal(symlink("/proc/self/exe", app), 0);
  begin(1);
  compose_module(&compose, app, 0);
  compose_node(&compose, FORMAT_KIND_FRAME, 2, 0x1000, 0, (const uint64_t[]){1, 1});
  compose_thread(&compose, 1);
  compose_end(&compose);
  save(0);
  merge(1, 1, &profile);
  for (int gone = 0; gone < 2; gone++) {
    struct names names;
    symbolize_kept(&profile, NULL, 1, &kept, &names);
    for (uint32_t i = 0; i < names.modules_count; i++)
      if (!strcmp(profile.catalog.modules[i].path, app)) {
        assert_non_null(names.modules[i].symbols);
        assert_int_equal(!names.modules[i].file, gone);
      }
    assert_int_equal(unlink(app), -gone);
    symbolize_release(&names);
  }
  assert_int_equal(kept.modules_read, 1);
  kept_symbols_release(&kept);
  profile_release(&profile);
}

static int make_directory(void **state)
{
  (void)state;
  return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
  (void)state;
  return rmdir(directory);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_link_joins_the_creator),
      cmocka_unit_test(test_chains_resolve_in_any_order),
      cmocka_unit_test(test_unknown_region_is_partial),
      cmocka_unit_test(test_a_cycle_of_links_ends),
      cmocka_unit_test(test_parents_may_come_later),
      cmocka_unit_test(test_tables_that_were_not_kept_are_a_loss),
      cmocka_unit_test(test_values_saturate),
      cmocka_unit_test(test_many_files_on_many_threads),
      cmocka_unit_test(test_many_threads_on_many_workers),
      cmocka_unit_test(test_recursion_counts_once),
      cmocka_unit_test(test_region_has_one_row),
      cmocka_unit_test(test_idleness_against_each_baseline),
      cmocka_unit_test(test_idleness_saturates),
      cmocka_unit_test(test_no_idleness_without_its_sums),
      cmocka_unit_test(test_kept_symbols_need_no_file),
      cmocka_unit_test(test_pages_of_a_module_are_limited),
  };
  return UNIT_RUN(argc, argv, "merge", tests, make_directory, remove_directory);
}
