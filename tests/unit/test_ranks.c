/* Ranks without MPI: processes connected by pipes.  Together they find what one process finds alone.  A failure in any
 * of them reaches the first one, and no process keeps waiting. */
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/ranks/ranks.h"
#include "tests/support/unit.h"

#include <sys/wait.h>

enum { RANKS_MAX = 7, HANG_S = 60 };

static int pipes[RANKS_MAX][RANKS_MAX][2]; /* [from][to] */
static struct ranks ranks;

/* ---- the link ---- */

static void move(ssize_t (*call)(int, void *, size_t), int fd, void *bytes, uint64_t size)
{
  for (ssize_t done; size; size -= (uint64_t)done, bytes = (char *)bytes + done) {
    done = call(fd, bytes, size);
    if (done <= 0)
      _exit(3);
  }
}

static ssize_t write_some(int fd, void *bytes, size_t size)
{
  return write(fd, bytes, size);
}

static void link_send(uint32_t to, const void *bytes, uint64_t size)
{
  move(write_some, pipes[ranks.rank][to][1], &size, sizeof size);
  move(write_some, pipes[ranks.rank][to][1], (void *)bytes, size);
}

static uint64_t link_expect(uint32_t from)
{
  uint64_t size;
  move(read, pipes[from][ranks.rank][0], &size, sizeof size);
  return size;
}

static void link_take(uint32_t from, void *bytes, uint64_t size)
{
  move(read, pipes[from][ranks.rank][0], bytes, size);
}

static void link_stop(void)
{
}

static const struct transport pipe_link = {
    .send = link_send, .expect = link_expect, .take = link_take, .stop = link_stop};

/* ---- the work of ranks ---- */

static int merge(int fails, char **paths, uint32_t count, struct profile *profile)
{
  int status = ranks_paths(&ranks, 0, &paths, &count, &(uint64_t){0});
  struct merge_slice slice = {
      .paths = paths, .count = count, .slice = ranks.rank, .slices = ranks.size, .threads = 1, .progress = NULL};
  *profile = (struct profile){0};
  if (!status)
    status = merge_slice(&slice, profile);
  status = ranks_reduce(&ranks, fails == (int)ranks.rank ? ERR_INPUT : status, profile);
  for (uint32_t i = 0; ranks.rank && i < count; i++)
    free(paths[i]);
  if (ranks.rank)
    free(paths);
  return status;
}

/* Starts the other ranks; this process is the first. */
static void start(uint32_t size, int fails)
{
  alarm(HANG_S);
  ranks = (struct ranks){.link = &pipe_link, .size = size};
  for (uint32_t i = 0; i < size; i++)
    for (uint32_t j = 0; j < size; j++)
      assert_int_equal(pipe(pipes[i][j]), 0);
  for (uint32_t i = 1; i < size; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child)
      continue;
    struct profile profile;
    alarm(HANG_S);
    ranks.rank = i;
    merge(fails, NULL, 0, &profile);
    if (profile.processes)
      profile_release(&profile);
    ranks_serve(&ranks, &(struct ranks_service){.threads = 1});
    _exit(0);
  }
}

static void stop_ranks(uint32_t size)
{
  int status;
  ranks_dismiss(&ranks);
  for (uint32_t i = 1; i < size; i++)
    assert_true(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (uint32_t i = 0; i < size; i++)
    for (uint32_t j = 0; j < size; j++) {
      close(pipes[i][j][0]);
      close(pipes[i][j][1]);
    }
  alarm(0);
}

static char **paths;
static uint32_t files;

static int find_files(void **state)
{
  (void)state;
  static const char *const names[] = {"two", "blames", "graphs", "truncated", "recorded", "empty"};
  char *directories[sizeof names / sizeof *names];
  struct problems problems = {0};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_true(asprintf(&directories[i], "%s/tests/golden/%s", unit_source(), names[i]) > 0);
  find_measurements(directories, sizeof names / sizeof *names, &problems, &paths, &files);
  assert_true(files > RANKS_MAX && !problems.count);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    free(directories[i]);
  return 0;
}

static int forget_files(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < files; i++)
    free(paths[i]);
  free(paths);
  return 0;
}

/* Each context is a row. */
struct rows {
  struct tree tree;
  uint32_t *row_of;
  struct statistics_view view;
};

static void make_rows(const struct profile *profile, struct rows *rows)
{
  const struct contexts *contexts = &profile->contexts;
  *rows = (struct rows){.tree = {.count = contexts->count}};
  rows->tree.rows = calloc(contexts->count, sizeof *rows->tree.rows);
  rows->row_of = calloc(contexts->count, sizeof *rows->row_of);
  for (uint32_t i = 0; i < contexts->count; i++) {
    rows->row_of[i] = i;
    rows->tree.rows[i].parent = i ? contexts->nodes[i].parent : 0;
  }
  rows->view = (struct statistics_view){
      .profile = profile, .row_of = rows->row_of, .tree = &rows->tree, .rows = contexts->count};
  while (profile->catalog.columns[rows->view.column].role != COLUMN_WORK)
    rows->view.column++;
}

static void release_rows(struct rows *rows)
{
  free(rows->tree.rows);
  free(rows->row_of);
}

static void assert_same_sums(const struct statistics_sums *a, const struct statistics_sums *b, uint32_t rows)
{
  uint64_t all = 0;
  for (uint32_t i = 0; i < rows; i++) {
    assert_true(a[i].squares == b[i].squares && a[i].sum == b[i].sum && a[i].least == b[i].least);
    assert_true(a[i].most == b[i].most && a[i].owners == b[i].owners && a[i].first_without == b[i].first_without);
    assert_true(a[i].least_owner == b[i].least_owner && a[i].most_owner == b[i].most_owner);
    all += a[i].sum;
  }
  assert_true(all > 0);
}

static void test_together_as_alone(void **state)
{
  (void)state;
  struct profile all;
  assert_int_equal(merge_files(paths, files, 1, BASELINE_THREAD, NULL, &all), 0);
  for (uint32_t size = 1; size <= RANKS_MAX; size++) {
    struct profile profile;
    struct rows rows;
    struct statistics alone, together;
    struct problems problems = {0};
    start(size, -1);
    assert_int_equal(merge(-1, paths, files, &profile), 0);
    merge_finish(&profile);
    assert_int_equal(profile.processes_usable, all.processes_usable);
    assert_int_equal(profile.contexts.count, all.contexts.count);
    make_rows(&profile, &rows);
    assert_int_equal(ranks_statistics(&ranks, &rows.view, 1, &problems, &together), 0);
    statistics_count(&rows.view, 1, &problems, &alone);
    assert_int_equal(together.threads_count, alone.threads_count);
    assert_same_sums(together.threads, alone.threads, rows.view.rows);
    statistics_release(&together);
    statistics_release(&alone);
    release_rows(&rows);
    stop_ranks(size);
    profile_release(&profile);
  }
  profile_release(&all);
}

static void test_a_failure_anywhere_reaches_the_first(void **state)
{
  (void)state;
  for (uint32_t size = 2; size <= RANKS_MAX; size++)
    for (uint32_t victim = 0; victim < size; victim++) {
      struct profile profile;
      start(size, (int)victim);
      assert_int_equal(merge((int)victim, paths, files, &profile), ERR_INPUT);
      stop_ranks(size);
      profile_release(&profile);
    }
}

/* No files, or an unreadable list of them: the other ranks do not keep waiting. */
static void test_nothing_to_do(void **state)
{
  (void)state;
  for (int lacks = 0; lacks < 2; lacks++) {
    struct profile profile = {0};
    char **none = NULL;
    uint32_t count = 0;
    start(4, -1);
    if (lacks)
      assert_int_equal(ranks_paths(&ranks, ERR_INPUT, &none, &count, &(uint64_t){0}), ERR_INPUT);
    else
      assert_int_equal(ranks_paths(&ranks, 0, &none, &count, &(uint64_t){0}), 0);
    assert_int_equal(ranks_reduce(&ranks, lacks ? ERR_INPUT : 0, &profile), lacks ? ERR_INPUT : 0);
    stop_ranks(4);
    if (profile.processes)
      profile_release(&profile);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_together_as_alone),
                                     cmocka_unit_test(test_a_failure_anywhere_reaches_the_first),
                                     cmocka_unit_test(test_nothing_to_do)};
  return UNIT_RUN(argc, argv, "ranks", tests, find_files, forget_files);
}
