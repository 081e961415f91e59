/* Page faults and context switches of a thread from the texts of its files in /proc, also from texts that are not. */
#include "hpcrun-lite/rt/counts/usage.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/unit.h"

static const char status[] = "Name:\tx\nTgid:\t7\nnonvoluntary_ctxt_switches:\t13\nvoluntary_ctxt_switches:\t2000\n";

static void expect(const char *stat, uint64_t minor, uint64_t major, uint64_t user_ns, uint64_t system_ns)
{
  struct sys_usage usage;
  assert_true(usage_parse(stat, status, &usage));
  assert_int_equal(usage.minor_faults, minor);
  assert_int_equal(usage.major_faults, major);
  assert_int_equal(usage.given_up, 2000);
  assert_int_equal(usage.switched_out, 13);
  assert_int_equal(usage.user_ns, user_ns);
  assert_int_equal(usage.system_ns, system_ns);
}

static void test_names_may_contain_anything(void **state)
{
  (void)state;
  expect("12 (solve) R 1 2 3 4 5 6 700 8 9 10 11 12", 700, 9, 110000000, 120000000);
  expect("12 (a b) S 9 (x) R 1 2 3 4 5 6 18446744073709551615 8 0 10 0 1 2", UINT64_MAX, 0, 0, 10000000);
  expect("12 ()) S -1 -2 3 4 5 6 0 8 9 10 7 0", 0, 9, 70000000, 0);
}

static void test_other_texts_are_refused(void **state)
{
  (void)state;
  static const char whole[] = "12 (x) R 1 2 3 4 5 6 700 8 9 10 11 12";
  char cut[sizeof whole];
  struct sys_usage usage;
  for (size_t length = 0; length < sizeof whole - sizeof "12"; length++) {
    snprintf(cut, sizeof cut, "%.*s", (int)length, whole);
    assert_false(usage_parse(cut, status, &usage));
  }
  static const char *const without[] = {"", "voluntary_ctxt_switches:\t1\n", "nonvoluntary_ctxt_switches:\t1\n",
                                        "voluntary_ctxt_switches:\nnonvoluntary_ctxt_switches:\t1\n",
                                        "x voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t1\n"};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    assert_false(usage_parse(whole, without[i], &usage));
}

enum { PAGE = 4096, PAGES = 100 };
static int tid;
static pthread_barrier_t barrier;

static void *touch(void *memory)
{
  tid = (int)syscall(SYS_gettid);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < PAGES; i++)
    ((volatile char *)memory)[i * PAGE] = 1;
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

static void test_another_thread(void **state)
{
  (void)state;
  struct sys_usage before, after;
  char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_t thread;
  madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&thread, NULL, touch, memory);
  pthread_barrier_wait(&barrier);
  assert_true(usage_of_thread(tid, &before));
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  assert_true(usage_of_thread(tid, &after));
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
  uint64_t faults = after.minor_faults - before.minor_faults;
  assert_true(faults >= PAGES && faults < PAGES + 20 && after.given_up >= before.given_up);
  assert_false(usage_of_thread(tid, &after)); /* it has ended */
  munmap(memory, PAGES * PAGE);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_may_contain_anything),
      cmocka_unit_test(test_other_texts_are_refused),
      cmocka_unit_test(test_another_thread),
  };
  return UNIT_RUN(argc, argv, "usage", tests, NULL, NULL);
}
