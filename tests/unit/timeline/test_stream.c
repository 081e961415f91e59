/* RT: files to which threads append through windows: how these grow, limits, full disks, and many threads. */
#include "hpcrun-lite/rt/core/stream.h"
#include "tests/support/deny_perf_event.h"
#include "tests/support/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { WINDOW = STREAM_WINDOW_LIMITED, WINDOWS = 64, THREADS = 4, ROUNDS = 150, TURNS = 8 };

static char directory[] = "/tmp/test-stream-XXXXXX", path[64];
static struct stream_file file;

/* What a reader finds in the file. */
static struct format_extent found[WINDOWS];
static uint32_t bytes_of[WINDOWS]; /* the first four bytes of each */
static size_t found_count;

static void begin(uint64_t limit, bool keep_last)
{
  unlink(path);
  assert_true(stream_start(&file, path, FORMAT_TRACE, limit, keep_last));
}

/* The next window of a stream, which holds four bytes.  Returns whether there is one; counts losses. */
static bool next(struct stream *stream, uint32_t owner, uint32_t value, unsigned *losses)
{
  bool lost, goes_on = stream_next(&file, stream, owner, 1, &lost);
  *losses += lost;
  if (!goes_on)
    return false;
  memcpy(stream->at, &value, sizeof value);
  stream_begin(stream, stream->at + sizeof value);
  return true;
}

/* Reads the file while it is mapped: the windows of an owner by their numbers, of all with 0. */
static void look(uint32_t owner)
{
  FILE *stream = fopen(path, "rb");
  struct format_extent head;
  found_count = 0;
  assert_non_null(stream);
  while (fread(&head, sizeof head, 1, stream) == 1 && found_count < WINDOWS) {
    if (head.magic != FORMAT_MAGIC) {
      long at = ftell(stream) - (long)sizeof head;
      assert_int_equal(head.magic, 0);
      assert_int_equal(fseek(stream, (at / STREAM_PAGE + 1) * STREAM_PAGE, SEEK_SET), 0);
      continue;
    }
    assert_true(head.table == FORMAT_TRACE && head.flags == FORMAT_LIVE && head.record_size == 1 && head.count == 4);
    if (owner && head.owner != owner) {
      assert_int_equal(fseek(stream, (long)head.stored_size, SEEK_CUR), 0);
      continue;
    }
    size_t position = found_count++;
    for (; position && found[position - 1].first > head.first; position--) {
      found[position] = found[position - 1];
      bytes_of[position] = bytes_of[position - 1];
    }
    found[position] = head;
    assert_int_equal(fread(&bytes_of[position], 4, 1, stream), 1);
    assert_int_equal(fseek(stream, (long)head.stored_size - 4, SEEK_CUR), 0);
  }
  fclose(stream);
}

static void test_windows_grow_without_a_limit(void **state)
{
  static const uint64_t sizes[] = {16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 256 << 10};
  struct stream stream = {0};
  unsigned losses = 0;
  (void)state;
  begin(0, false);
  for (uint32_t i = 0; i < 6; i++) {
    assert_true(next(&stream, 3, 100 + i, &losses));
    assert_true(stream_has_room(&stream, sizes[i] - sizeof *found - 4));
    assert_false(stream_has_room(&stream, sizes[i] - sizeof *found - 3));
  }
  look(0);
  assert_int_equal(found_count, 6);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < 6; i++) {
    assert_true(found[i].first == i && found[i].owner == 3 && bytes_of[i] == 100 + i);
    assert_int_equal(found[i].stored_size + sizeof *found, sizes[i]);
    sum += sizes[i];
  }
  assert_int_equal(stream_length(&file), sum);
  assert_int_equal(losses, 0);
  stream_close(&file, &stream);
}

/* The window is in the file when its first bytes are, not before. */
static void test_a_window_appears_with_its_first_bytes(void **state)
{
  struct stream stream = {0};
  bool lost;
  (void)state;
  begin(WINDOW, true);
  for (int i = 0; i < 2; i++) { /* also where the window is used again */
    assert_true(stream_next(&file, &stream, 1, 1, &lost));
    look(0);
    assert_int_equal(found_count, 0);
    stream_begin(&stream, stream.at + 4);
    look(0);
    assert_int_equal(found_count, 1);
  }
  stream_close(&file, &stream);
}

static void test_beyond_the_limit_streams_end(void **state)
{
  struct stream one = {0}, two = {0};
  unsigned losses = 0;
  (void)state;
  begin(3 * WINDOW + 100, false);
  assert_true(next(&one, 1, 1, &losses) && next(&one, 1, 2, &losses) && next(&two, 2, 3, &losses));
  assert_int_equal(losses, 0);
  assert_false(next(&one, 1, 4, &losses));
  assert_int_equal(losses, 1);
  assert_false(next(&one, 1, 5, &losses));
  assert_int_equal(losses, 1); /* once for each stream */
  assert_false(next(&two, 2, 6, &losses));
  assert_int_equal(losses, 2);
  assert_false(stream_has_room(&one, 1));
  look(1);
  assert_true(found_count == 2 && bytes_of[0] == 1 && bytes_of[1] == 2);
  look(2);
  assert_true(found_count == 1 && bytes_of[0] == 3);
  assert_int_equal(stream_length(&file), 3 * WINDOW);
}

static void test_a_small_limit_is_one_window(void **state)
{
  struct stream stream = {0}, other = {0};
  unsigned losses = 0;
  (void)state;
  begin(1, false);
  assert_true(next(&stream, 1, 1, &losses));
  assert_false(next(&other, 2, 1, &losses));
  assert_int_equal(stream_length(&file), WINDOW);
  stream_close(&file, &stream);
}

static void test_the_oldest_windows_are_used_again(void **state)
{
  struct stream stream = {0};
  unsigned losses = 0;
  (void)state;
  begin(3 * WINDOW, true);
  for (uint32_t i = 0; i < 10; i++) {
    assert_true(next(&stream, 1, i, &losses));
    assert_int_equal(losses, i < 3 ? 0 : i - 2);
    look(0);
    assert_int_equal(found_count, i < 3 ? i + 1 : 3);
    for (uint32_t j = 0; j < found_count; j++)
      assert_true(found[j].first == i + 1 - found_count + j && bytes_of[j] == found[j].first);
  }
  assert_int_equal(stream_length(&file), 3 * WINDOW);
  stream_close(&file, &stream);
}

static void test_a_mapped_window_is_not_used_again(void **state)
{
  struct stream held = {0}, busy = {0}, more = {0}, none = {0};
  unsigned losses = 0;
  (void)state;
  begin(3 * WINDOW, true);
  assert_true(next(&busy, 2, 0, &losses) && next(&held, 1, 77, &losses));
  for (uint32_t i = 1; i < 20; i++)
    assert_true(next(&busy, 2, i, &losses));
  look(1);
  assert_true(found_count == 1 && bytes_of[0] == 77);
  look(2);
  assert_true(found_count == 2 && bytes_of[0] == 18 && bytes_of[1] == 19);
  assert_true(next(&more, 3, 5, &losses));
  losses = 0;
  assert_false(next(&none, 4, 6, &losses));
  assert_int_equal(losses, 1);
  assert_false(next(&none, 4, 6, &losses));
  assert_int_equal(losses, 1); /* once for each time without a window */
  stream_close(&file, &held);
  assert_false(next(&none, 4, 6, &losses)); /* it does not search so soon */
  none.again = 1;
  assert_true(next(&none, 4, 6, &losses));
  assert_int_equal(losses, 2); /* the older window */
  look(1);
  assert_int_equal(found_count, 0);
  look(4);
  assert_true(found_count == 1 && found[0].first == 1); /* a number was left out */
  stream_close(&file, &busy);
  stream_close(&file, &more);
  stream_close(&file, &none);
}

enum { SHORT_BYTES = 128 }; /* header and four bytes: whole units */

/* The threads of a process end one after another, each with four bytes in its window.  Returns how many of them have
 * found one. */
static unsigned short_threads(unsigned most, unsigned *losses)
{
  unsigned threads = 0;
  for (bool goes_on = true; goes_on && threads < most; threads += goes_on) {
    struct stream stream = {0};
    goes_on = next(&stream, threads + 1, threads, losses);
    if (goes_on)
      memset(stream.at, 0xff, SHORT_BYTES); /* a record that was not finished */
    stream_end(&file, &stream);
  }
  return threads;
}

static void test_what_threads_leave_is_used(void **state)
{
  unsigned losses = 0;
  (void)state;
  for (int keep_last = 0; keep_last < 2; keep_last++) {
    begin(WINDOW, keep_last);
    assert_int_equal(short_threads(WINDOWS, &losses), WINDOWS);
    look(0);
    assert_int_equal(found_count, WINDOWS);
    look(WINDOWS);
    assert_true(found_count == 1 && bytes_of[0] == WINDOWS - 1);
    assert_int_equal(found[0].stored_size + sizeof *found, SHORT_BYTES);
    assert_int_equal(stream_length(&file), WINDOW);
  }
  begin(WINDOW, false);
  losses = 0;
  assert_int_equal(short_threads(WINDOW, &losses), (WINDOW - STREAM_REST_MIN) / SHORT_BYTES + 1);
  assert_int_equal(losses, 1);
  begin(0, false);
  assert_int_equal(short_threads(97, &losses), (STREAM_WINDOW_FIRST - STREAM_REST_MIN) / SHORT_BYTES + 1);
  assert_int_equal(stream_length(&file), STREAM_WINDOW_FIRST);
  assert_int_equal(short_threads(1, &losses), 1);
  assert_int_equal(stream_length(&file), 2 * STREAM_WINDOW_FIRST);
  assert_int_equal(losses, 1);
}

/* Then zeros are written into a new window to reserve its space, and must not be again. */
static void test_file_systems_that_cannot_reserve_space(void **state)
{
  unsigned losses = 0;
  int status;
  (void)state;
  for (uint64_t limit = 0; limit <= WINDOW; limit += WINDOW) {
    begin(limit, false);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
      _exit(deny_call(SYS_fallocate, EOPNOTSUPP) || short_threads(WINDOWS, &losses) != WINDOWS || losses);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    look(0);
    assert_int_equal(found_count, WINDOWS);
    look(1);
    assert_true(found_count == 1 && bytes_of[0] == 0);
  }
}

/* A stream goes on in what others have left, and leaves that as its own. */
static void test_a_long_thread_uses_what_others_leave(void **state)
{
  struct stream first = {0}, second = {0}, third = {0};
  unsigned losses = 0;
  (void)state;
  begin(2 * WINDOW, false);
  assert_true(next(&first, 1, 10, &losses) && next(&second, 2, 20, &losses));
  stream_end(&file, &first);
  assert_true(next(&second, 2, 21, &losses));
  assert_true(stream_has_room(&second, WINDOW - SHORT_BYTES - sizeof *found - 4));
  assert_false(stream_has_room(&second, WINDOW - SHORT_BYTES - sizeof *found - 3));
  stream_end(&file, &second);
  assert_true(next(&third, 3, 30, &losses));
  look(0);
  assert_int_equal(found_count, 4);
  look(2);
  assert_true(found_count == 2 && bytes_of[0] == 20 && bytes_of[1] == 21);
  assert_int_equal(losses, 0);
  stream_close(&file, &third);
}

/* A window that is used again may be cut: what stood behind must not come back. */
static void test_nothing_stays_of_dropped_windows(void **state)
{
  struct stream stream = {0};
  unsigned losses = 0;
  (void)state;
  begin(2 * WINDOW, true);
  assert_int_equal(short_threads(WINDOWS - 1, &losses), WINDOWS - 1);
  for (uint32_t i = 0; i < 3; i++)
    assert_true(next(&stream, WINDOWS, i, &losses));
  stream_end(&file, &stream);
  look(0);
  assert_true(found_count == 2 && found[0].first == 1 && found[1].first == 2);
  assert_int_equal(losses, 1);
}

/* Beyond some number, what threads leave stays unused, and is dropped with their windows. */
static void test_many_threads_end_at_once(void **state)
{
  enum { MORE = STREAM_RESTS + 3 };
  static struct stream streams[MORE];
  unsigned losses = 0;
  (void)state;
  begin((uint64_t)MORE * WINDOW, true);
  for (uint32_t i = 0; i < MORE; i++)
    assert_true(next(&streams[i], i + 1, i, &losses));
  for (uint32_t i = 0; i < MORE; i++)
    stream_end(&file, &streams[i]);
  memset(streams, 0, sizeof streams);
  for (uint32_t i = 0; i < MORE; i++)
    assert_true(next(&streams[i], i + 1, i, &losses));
  assert_int_equal(losses, 3);
  assert_int_equal(stream_length(&file), (uint64_t)MORE * WINDOW);
  for (uint32_t i = 0; i < MORE; i++)
    stream_close(&file, &streams[i]);
}

static void set_limit_of(int resource, rlim_t bytes)
{
  struct rlimit limit;
  assert_int_equal(getrlimit((unsigned)resource, &limit), 0);
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit((unsigned)resource, &limit), 0);
}

static void set_limit(rlim_t bytes)
{
  set_limit_of(RLIMIT_FSIZE, bytes);
}

/* Nor a file, in a forked child, whose parent had one. */
static void test_without_memory_there_are_no_slots(void **state)
{
  struct stream stream = {0};
  unsigned losses = 0;
  (void)state;
  begin(WINDOW, true);
  assert_true(next(&stream, 1, 1, &losses));
  stream_close(&file, &stream);
  set_limit_of(RLIMIT_AS, 0);
  bool started = stream_start(&file, path, FORMAT_TRACE, 1ull << 40, true);
  set_limit_of(RLIMIT_AS, RLIM_INFINITY);
  assert_false(started);
  assert_int_equal(file.slots, 0);
  assert_int_equal(stream_length(&file), 0);
}

/* A store into a window without space would raise a signal. */
static void test_a_full_disk_ends_streams(void **state)
{
  struct stream streams[10] = {0};
  struct stat status;
  unsigned losses = 0, made = 0;
  (void)state;
  for (int keep_last = 0; keep_last < 2; keep_last++) {
    begin(4 * WINDOW, keep_last);
    memset(streams, 0, sizeof streams);
    losses = made = 0;
    set_limit(2 * WINDOW);
    for (uint32_t i = 0; i < 10; i++)
      made += next(&streams[i], i + 1, i, &losses);
    assert_true(made == 2 && losses == 8);
    assert_int_equal(stream_length(&file), 2 * WINDOW);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 2 * WINDOW);
    set_limit(RLIM_INFINITY);
    stream_close(&file, &streams[0]);
    assert_int_equal(next(&(struct stream){0}, 20, 20, &losses), keep_last);
    stream_close(&file, &streams[1]);
  }
}

/* ---- threads ---- */

static atomic_uint mixed, all_losses, all_windows;
static pthread_barrier_t barrier;

/* Searches until there is a window, or the stream has ended. */
static bool next_some_time(struct stream *stream, uint32_t owner, uint32_t value, unsigned *losses)
{
  bool found = next(stream, owner, value, losses);
  while (!found && !stream->ended) {
    sched_yield();
    stream->again = 1;
    found = next(stream, owner, value, losses);
  }
  return found;
}

/* Marks each window of its own from end to end: no other thread may write to it meanwhile. */
static void *append(void *argument)
{
  uint32_t owner = *(const uint32_t *)argument;
  struct stream stream = {0};
  unsigned losses = 0;
  pthread_barrier_wait(&barrier);
  for (uint32_t i = 0; i < TURNS && next_some_time(&stream, owner, i, &losses); i++) {
    atomic_fetch_add(&all_windows, 1);
    for (uint8_t *at = stream.at; at < stream.end; at += 512)
      *at = (uint8_t)owner;
    sched_yield();
    for (const uint8_t *at = stream.at; at < stream.end; at += 512)
      atomic_fetch_add(&mixed, *at != owner);
    atomic_fetch_add(&mixed, stream.extent->owner != owner);
  }
  atomic_fetch_add(&all_losses, losses);
  stream_close(&file, &stream);
  return NULL;
}

static void race(uint32_t slots, void *(*body)(void *), bool keep_last)
{
  pthread_t threads[THREADS];
  uint32_t owners[THREADS];
  begin((uint64_t)slots * WINDOW, keep_last);
  atomic_store(&all_windows, 0);
  atomic_store(&all_losses, 0);
  for (uint32_t i = 0; i < THREADS; i++) {
    owners[i] = i + 1;
    assert_int_equal(pthread_create(&threads[i], NULL, body, &owners[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

/* Whether there is another round: each machine has ROUNDS_LEAST, a slow one not all. */
static bool another_round(int round)
{
  enum { ROUNDS_LEAST = 15, LONG_S = 60 };
  static time_t began;
  if (!round)
    began = time(NULL);
  if (round < ROUNDS && round >= ROUNDS_LEAST && time(NULL) - began >= LONG_S) {
    print_message("# %d of %d rounds\n", round, ROUNDS);
    return false;
  }
  return round < ROUNDS;
}

static void test_threads_have_windows_of_their_own(void **state)
{
  (void)state;
  assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
  for (int i = 0; another_round(i); i++) {
    uint32_t slots = 1 + (uint32_t)i % 6;
    race(slots, append, true);
    look(0);
    assert_true(found_count == slots && all_windows == THREADS * TURNS &&
                stream_length(&file) == (uint64_t)slots * WINDOW);
    race(slots, append, false);
    look(0);
    assert_true(found_count == slots && all_windows == slots);
    assert_int_equal(all_losses, THREADS);
  }
  assert_int_equal(mixed, 0);
  pthread_barrier_destroy(&barrier);
}

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER; /* the CTL lock */

/* Windows that begin anywhere are the thread's own, too. */
static void *come_and_go(void *argument)
{
  uint32_t owner = *(const uint32_t *)argument;
  unsigned losses = 0;
  pthread_barrier_wait(&barrier);
  for (uint32_t i = 0; i < TURNS * TURNS; i++) {
    struct stream stream = {0};
    atomic_fetch_add(&all_windows, next_some_time(&stream, owner, i, &losses));
    memset(stream.at, (int)owner, 64);
    sched_yield();
    for (int k = 0; k < 64; k++)
      atomic_fetch_add(&mixed, stream.at[k] != owner);
    stream_publish(&stream, stream.at + 64);
    pthread_mutex_lock(&control);
    stream_end(&file, &stream);
    pthread_mutex_unlock(&control);
  }
  atomic_fetch_add(&all_losses, losses);
  return NULL;
}

static void test_ends_of_threads(void **state)
{
  (void)state;
  assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
  for (int i = 0; another_round(i); i++) {
    race(THREADS, come_and_go, i % 2);
    assert_true(all_windows == THREADS * TURNS * TURNS && all_losses == 0);
  }
  assert_int_equal(mixed, 0);
  pthread_barrier_destroy(&barrier);
}

static int make_directory(void **state)
{
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/trace", directory);
  return 0;
}

static int remove_directory(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(directory);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_windows_grow_without_a_limit),
      cmocka_unit_test(test_a_window_appears_with_its_first_bytes),
      cmocka_unit_test(test_beyond_the_limit_streams_end),
      cmocka_unit_test(test_a_small_limit_is_one_window),
      cmocka_unit_test(test_the_oldest_windows_are_used_again),
      cmocka_unit_test(test_a_mapped_window_is_not_used_again),
      cmocka_unit_test(test_what_threads_leave_is_used),
      cmocka_unit_test(test_file_systems_that_cannot_reserve_space),
      cmocka_unit_test(test_a_long_thread_uses_what_others_leave),
      cmocka_unit_test(test_nothing_stays_of_dropped_windows),
      cmocka_unit_test(test_many_threads_end_at_once),
      cmocka_unit_test(test_without_memory_there_are_no_slots),
      cmocka_unit_test(test_a_full_disk_ends_streams),
      cmocka_unit_test(test_threads_have_windows_of_their_own),
      cmocka_unit_test(test_ends_of_threads),
  };
  return UNIT_RUN(argc, argv, "stream", tests, make_directory, remove_directory);
}
