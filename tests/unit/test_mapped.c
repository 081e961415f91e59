/* RT: tables in the live file: when they move into it, when not, and places that cannot be used. */
#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/mapped.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "tests/unit/rt_threads.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { PART = 64 << 10, THREADS = 4, ROUNDS = 40000 };

static char directory[] = "/tmp/test-mapped-XXXXXX", path[64];
static struct mapped_file file;
static struct pinned_file pinned;
static struct table table;

static int setup(void **state)
{
  (void)state;
  unlink(path);
  arena_reset();
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
    atomic_store(&rt.lost[i], 0);
  return 0;
}

static uint64_t unkept(void)
{
  return atomic_load(&rt.lost[FORMAT_LOST_UNKEPT]);
}

static void add(uint64_t value)
{
  uint32_t index;
  uint64_t *record = table_next(&table, &index);
  assert_non_null(record);
  *record = value;
  table_publish(&table);
}

static void begin_table(void)
{
  arena_keep(path);
  table_init(&table, FORMAT_VALUES, ARENA_VALUES, 1, 8, 16);
  add(1);
  add(2);
}

/* The bytes of the file in use; they must be fewer than its size. */
static size_t load(uint8_t *bytes, size_t room)
{
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  size_t size = fread(bytes, 1, room, stream);
  assert_true(feof(stream));
  fclose(stream);
  return size;
}

/* The sum of all records that a reader finds. */
static uint64_t found(void)
{
  static uint8_t bytes[8 * PART];
  size_t size = load(bytes, sizeof bytes);
  uint64_t sum = 0;
  for (size_t at = 0; at + sizeof(struct format_extent) <= size;) {
    struct format_extent head;
    memcpy(&head, bytes + at, sizeof head);
    if (!head.magic) {
      at += FORMAT_UNIT;
      continue;
    }
    assert_int_equal(head.magic, FORMAT_MAGIC);
    for (uint32_t i = 0; head.table == FORMAT_VALUES && i < head.count; i++) {
      uint64_t value;
      memcpy(&value, bytes + at + sizeof head + i * sizeof value, sizeof value);
      sum += value;
    }
    at += sizeof head + head.stored_size;
  }
  return sum;
}

static void test_tables_move_into_the_file_once(void **state)
{
  (void)state;
  begin_table();
  assert_false(arena_kept());
  assert_int_equal(access(path, F_OK), -1);
  arena_create_live_file();
  assert_true(arena_kept());
  assert_int_equal(found(), 3);
  add(4);
  arena_create_live_file();
  assert_int_equal(found(), 7);
  for (uint64_t i = 0; i < 10000; i++) /* further blocks */
    add(1);
  assert_int_equal(found(), 10007);
  arena_waive(); /* too late: the file exists */
  assert_true(arena_kept());
  assert_int_equal(unkept(), 0);
}

static void test_what_is_waived_has_no_file(void **state)
{
  (void)state;
  begin_table();
  arena_waive();
  assert_int_equal(unkept(), 1);
  arena_waive();
  arena_create_live_file();
  for (uint64_t i = 0; i < 10000; i++)
    add(1);
  assert_false(arena_kept());
  assert_int_equal(access(path, F_OK), -1);
  assert_int_equal(unkept(), 1);
  assert_int_equal(*(uint64_t *)table_at(&table, 1), 2);
}

static void test_without_a_directory_tables_are_in_memory(void **state)
{
  (void)state;
  strcat(path, "/nowhere");
  begin_table();
  arena_create_live_file();
  assert_false(arena_kept());
  assert_int_equal(unkept(), 1);
  for (uint64_t i = 0; i < 10000; i++)
    add(1);
  assert_int_equal(*(uint64_t *)table_at(&table, 1), 2);
  *strrchr(path, '/') = 0;
}

static void test_a_removed_file_is_made_again_with_all(void **state)
{
  (void)state;
  begin_table();
  arena_create_live_file();
  arena_remove();
  assert_int_equal(access(path, F_OK), -1);
  add(4);
  arena_restore();
  add(8);
  assert_int_equal(found(), 15);
  assert_int_equal(unkept(), 0);
}

static void test_a_file_in_the_way_is_left_alone(void **state)
{
  uint8_t bytes[64];
  (void)state;
  FILE *other = fopen(path, "wb");
  fputs("precious", other);
  fclose(other);
  begin_table();
  arena_create_live_file();
  add(4);
  assert_int_equal(load(bytes, sizeof bytes), 8);
  assert_int_equal(unkept(), 1);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
  return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* When the mapping fails, the moved data is already in the file: it would be read beside its replacement. */
static void test_a_place_that_cannot_be_mapped_is_given_up(void **state)
{
  struct format_extent head;
  static uint8_t memory[PART + 1], bytes[4 * PART];
  (void)state;
  memset(memory, 0xee, sizeof memory);
  assert_true(mapped_start(&file, path));
  assert_false(mapped_adopt(&file, memory + ((uintptr_t)memory % 2 ? 0 : 1), PART)); /* no page begins there */
  assert_true(load(bytes, sizeof bytes) == PART);
  memcpy(&head, bytes, sizeof head);
  assert_true(head.magic == FORMAT_MAGIC && head.table == FORMAT_FREE && head.stored_size == PART - sizeof head);
  uint8_t *part = mapped_part(&file, PART, &(uint64_t){0});
  assert_non_null(part);
  assert_true(all_zero(part, PART));
  part[0] = 1;
  assert_true(load(bytes, sizeof bytes) == 2 * PART && bytes[PART] == 1);
}

static void set_limit(rlim_t bytes)
{
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_a_place_beyond_the_limit_is_given_back(void **state)
{
  (void)state;
  assert_true(mapped_start(&file, path));
  assert_non_null(mapped_part(&file, PART, &(uint64_t){0}));
  set_limit(PART);
  for (int i = 0; i < 3; i++)
    assert_null(mapped_part(&file, PART, &(uint64_t){0}));
  set_limit(RLIM_INFINITY);
  assert_int_equal(atomic_load(&file.length), PART);
  assert_non_null(mapped_part(&file, PART, &(uint64_t){0}));
}

static void *take_parts(void *taken)
{
  for (int i = 0; i < ROUNDS; i++)
    *(unsigned *)taken += mapped_part(&file, PART, &(uint64_t){0}) != NULL;
  return taken;
}

/* SIGXFSZ would end the test. */
static void test_the_limit_of_files_raises_no_signal(void **state)
{
  pthread_t threads[THREADS];
  unsigned taken[THREADS] = {0}, sum = 0;
  struct stat status;
  (void)state;
  assert_true(mapped_start(&file, path));
  set_limit(3 * PART);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, take_parts, &taken[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    sum += taken[i];
  }
  set_limit(RLIM_INFINITY);
  assert_true(sum >= 1 && sum <= 3);
  assert_int_equal(stat(path, &status), 0);
  assert_true(status.st_size <= 3 * PART);
}

/* A descriptor of the program with the number of the tool's is neither written nor closed, nor taken for it. */
static void test_a_descriptor_of_the_program_is_left_alone(void **state)
{
  struct sys_own own;
  struct stat status;
  int error, other = memfd_create("other", 0);
  char byte;
  (void)state;
  assert_true(pinned_name(&pinned, path));
  assert_int_equal(pinned_create(&pinned, &own), 0);
  assert_true(own.fd >= SYS_HIGH_FD);
  assert_int_equal(sys_write_at(&own, 0, "ours", 4, &error), 4);
  assert_int_equal(dup2(other, own.fd), own.fd);
  assert_int_equal(sys_write_at(&own, 4, "lost", 4, &error), 0);
  assert_int_equal(error, EBADF);
  assert_false(sys_read_at(&own, 0, &byte, 1));
  assert_false(sys_reserve(&own, 0, PART));
  assert_null(sys_map_file(NULL, &own, 0, PART));
  assert_false(sys_is_own(&own));
  assert_int_equal(sys_close_own(&own), 0);
  assert_int_equal(fstat(own.fd, &status), 0);
  assert_int_equal(status.st_size, 0);
  close(own.fd);
  close(other);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_size, 4);
}

static unsigned numbers_in_use(void)
{
  unsigned count = 0;
  DIR *numbers = opendir("/proc/self/fd");
  while (readdir(numbers))
    count++;
  closedir(numbers);
  return count;
}

static atomic_bool stop;

struct attack {
  int other, first;
};

static void *takes_numbers(void *argument)
{
  const struct attack *attack = argument;
  while (!atomic_load(&stop))
    for (int fd = attack->first; fd < attack->first + 8; fd++) {
      dup2(attack->other, fd);
      close(fd);
    }
  return NULL;
}

/* A thread opens files of its own where ours are opened or moved.  What is reported as written is written. */
static void open_under_attack(int first, void (*once)(void))
{
  pthread_t thread;
  struct stat status;
  struct attack attack = {.other = memfd_create("other", 0)};
  attack.first = first ? first : attack.other + 1;
  close_range((unsigned)attack.first, (unsigned)attack.first + 7, 0);
  unsigned before = numbers_in_use();
  atomic_store(&stop, false);
  assert_int_equal(pthread_create(&thread, NULL, takes_numbers, &attack), 0);
  for (unsigned i = 0; i < ROUNDS / 2; i++)
    once();
  atomic_store(&stop, true);
  pthread_join(thread, NULL);
  assert_int_equal(numbers_in_use(), before);
  assert_int_equal(fstat(attack.other, &status), 0);
  assert_in_range(status.st_size, 0, 4); /* the moment between the check and the call */
  close(attack.other);
}

static void write_once(void)
{
  struct sys_own own;
  struct stat status;
  int error;
  unlink(path);
  if (pinned_create(&pinned, &own)) {
    assert_int_equal(access(path, F_OK), -1);
    return;
  }
  size_t done = sys_write_at(&own, 0, "ours", 4, &error);
  assert_int_equal(error, done == 4 ? 0 : EBADF);
  assert_int_equal(sys_close_own(&own), 0);
  assert_int_equal(stat(path, &status), 0);
  /* it may have been written without being recorded: then it is written again */
  assert_true((size_t)status.st_size >= done);
}

static void arm_once(void)
{
  struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK};
  struct sys_own own;
  if (sys_perf_event_open(&own, &attr, 0))
    return;
  void *page = sys_perf_deliver(&own, sys_tid(), SIGURG) ? sys_perf_page(&own, 4096) : NULL;
  sys_close_own(&own);
  if (page) { /* of an event: its description shows the layout */
    assert_int_not_equal(((struct perf_event_mmap_page *)page)->size, 0);
    sys_unmap(page, 4096);
  }
}

static void test_descriptors_are_taken_at_any_moment(void **state)
{
  (void)state;
  open_under_attack(0, write_once);
  open_under_attack(SYS_HIGH_FD, write_once);
  open_under_attack(0, arm_once);
  open_under_attack(SYS_HIGH_FD, arm_once);
}

static int make_directory(void **state)
{
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/live", directory);
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
      cmocka_unit_test_setup(test_tables_move_into_the_file_once, setup),
      cmocka_unit_test_setup(test_what_is_waived_has_no_file, setup),
      cmocka_unit_test_setup(test_without_a_directory_tables_are_in_memory, setup),
      cmocka_unit_test_setup(test_a_removed_file_is_made_again_with_all, setup),
      cmocka_unit_test_setup(test_a_file_in_the_way_is_left_alone, setup),
      cmocka_unit_test_setup(test_a_place_that_cannot_be_mapped_is_given_up, setup),
      cmocka_unit_test_setup(test_a_place_beyond_the_limit_is_given_back, setup),
      cmocka_unit_test_setup(test_the_limit_of_files_raises_no_signal, setup),
      cmocka_unit_test_setup(test_a_descriptor_of_the_program_is_left_alone, setup),
      cmocka_unit_test_setup(test_descriptors_are_taken_at_any_moment, setup),
  };
  return UNIT_RUN(argc, argv, "mapped", tests, make_directory, remove_directory);
}
