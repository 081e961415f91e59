/* Control groups below a faked root, and the texts of the kernel's files of throttling and steal time: as both versions
 * write them, missing, and hostile. */
#include "common/cgroup.h"
#include "common/topology.h"
#include "hpcprof-lite/model/cpu_list.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcrun-lite/rt/sampling/core_limits.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/unit.h"

static char root[] = "/tmp/test_core_limits-XXXXXX";

static void put(const char *path, const char *text)
{
  char whole[1024];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char *at = whole + sizeof root; (at = strchr(at, '/')); *at++ = '/') {
    *at = '\0';
    mkdir(whole, 0700);
  }
  FILE *file = fopen(whole, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  fclose(file);
}

static int delete_entry(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
  (void)facts, (void)kind, (void)place;
  return remove(path);
}

static int make_root(void **state)
{
  (void)state;
  strcpy(root + sizeof root - 7, "XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int delete_root(void **state)
{
  enum { OPEN_MAX_DIRECTORIES = 8 };
  (void)state;
  return nftw(root, delete_entry, OPEN_MAX_DIRECTORIES, FTW_DEPTH | FTW_PHYS);
}

static void expect_groups(unsigned count, uint32_t quota_milli, const char *name)
{
  struct cgroups groups;
  cgroups_find(root, &groups);
  const struct cgroup *limit = cgroups_limit(&groups);
  assert_int_equal(groups.count, count);
  assert_int_equal(limit ? limit->quota_milli : 0, quota_milli);
  if (limit)
    assert_string_equal(limit->name, name);
}

static void test_the_smallest_quota_of_all_groups_counts(void **state)
{
  (void)state;
  put("/proc/self/cgroup", "3:cpuset:/x\n0::/job/step\n");
  put("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n");
  put("/sys/fs/cgroup/job/cpu.stat", "nr_periods 1\n");
  put("/sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  put("/sys/fs/cgroup/job/step/cpu.stat", "nr_periods 1\n");
  put("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  expect_groups(3, 2500, "/job");
  put("/sys/fs/cgroup/job/step/cpu.max", "50000 100000\n");
  expect_groups(3, 500, "/job/step");
}

static void test_version_1_has_a_file_for_each_number(void **state)
{
  (void)state;
  put("/proc/self/cgroup", "4:cpuacct,cpu:/a\n5:cpux:/b\n");
  put("/sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 1\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu/cpu.stat", "");
  expect_groups(2, 0, NULL);
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "1600000\n");
  expect_groups(2, 16000, "/a");
}

static void test_missing_and_hostile_files_are_no_groups(void **state)
{
  (void)state;
  char line[4 * CGROUP_PATH_BYTES] = "0::";
  expect_groups(0, 0, NULL);
  for (size_t at = strlen(line); at < sizeof line - 1; at += 2)
    strcpy(line + at, "/a");
  put("/proc/self/cgroup", line);
  expect_groups(0, 0, NULL);
  put("/proc/self/cgroup", "\n::\n0\n0:\n0::\n:::::\ncpu:cpu\n");
  expect_groups(0, 0, NULL);
  put("/proc/self/cgroup", "0::/a\n");
  put("/sys/fs/cgroup/a/cpu.stat", "");
  static const char *const texts[] = {"",           "max",          "5",     "0 100000",  "5 0",
                                      "-5 100000",  "1e300 1e-300", "nan 1", "100000 -1", "1 100000000",
                                      "x 100000\n", "inf 100000\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    put("/sys/fs/cgroup/a/cpu.max", texts[i]);
    expect_groups(1, 0, NULL);
  }
}

static void test_throttling_in_both_versions(void **state)
{
  struct core_throttling found;
  (void)state;
  assert_true(core_limits_parse_group("usage_usec 9\nnr_periods 10\nnr_throttled 3\nthrottled_usec 2\n", &found));
  assert_int_equal(found.periods, 10);
  assert_int_equal(found.throttled_periods, 3);
  assert_int_equal(found.throttled_ns, 2000);
  assert_true(core_limits_parse_group("nr_periods 10\nnr_throttled 3\nthrottled_time 2", &found));
  assert_int_equal(found.throttled_ns, 2);
  assert_true(core_limits_parse_group("throttled_usec 18446744073709551615\nnr_periods 1", &found));
  assert_true(found.throttled_ns == UINT64_MAX);
  static const char *const others[] = {"",
                                       "nr_periods",
                                       "nr_periods ",
                                       "nr_periods x",
                                       "xnr_periods 1",
                                       "nr_periodsx 1",
                                       "nr_periods 18446744073709551616"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(core_limits_parse_group(others[i], &found));
}

static void test_steal_time(void **state)
{
  struct core_machine found;
  (void)state;
  assert_true(core_limits_parse_machine("cpu  1 2 3 4 5 6 7 80 9 10\ncpu0 1 2", &found));
  assert_int_equal(found.steal, 80);
  assert_int_equal(found.all, 108); /* without the time of guests, which the first two contain */
  static const char *const others[] = {"",
                                       "cpu",
                                       "cpu ",
                                       "cpu0 1 2 3 4 5 6 7 8",
                                       "cpu  1 2 3 4 5 6 7",
                                       "cpu 1 2 x",
                                       "cpu 18446744073709551615 1 0 0 0 0 0 0"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(core_limits_parse_machine(others[i], &found));
}

/* Two packages of two cores with two hardware threads each: CPU n and n + 4 are a core. */
static void test_hardware_threads_of_a_core_are_one(void **state)
{
  static const struct {
    uint64_t set[2];
    uint32_t cores;
  } cases[] = {{{0xff}, 4}, {{0x0f}, 4}, {{0x11}, 1}, {{0xf0}, 4}, {{0x33}, 2}, {{0x80}, 1}, {{0}, 0}, {{0xff, 1}, 0}};
  char path[128], text[16];
  (void)state;
  assert_int_equal(topology_cores(root, cases[0].set, 2), 0);
  for (int cpu = 0; cpu < 8; cpu++) {
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    snprintf(text, sizeof text, cpu % 2 ? "%d,%d\n" : "%d-%d\n", cpu % 4, cpu % 4 + 4);
    put(path, text);
  }
  put("/sys/devices/system/cpu/smt/active", "1\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(topology_cores(root, cases[i].set, 2), cases[i].cores);
  put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1000\n");
  assert_int_equal(topology_cores(root, cases[0].set, 2), 0);
  put("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "-3\n");
  assert_int_equal(topology_cores(root, cases[0].set, 2), 0);
  put("/sys/devices/system/cpu/smt/active", "0\n");
  assert_int_equal(topology_cores(root, cases[0].set, 2), 8);
}

static void test_sets_of_cpus_as_lists(void **state)
{
  uint64_t set[PROFILE_MASK_WORDS] = {0}, all[PROFILE_MASK_WORDS];
  char text[CPU_LIST_TEXT];
  (void)state;
  assert_string_equal(cpu_list_text(set, 0, text), "");
  assert_string_equal(cpu_list_text(set, 3, text), "+3");
  set[0] = 0x8f;
  assert_string_equal(cpu_list_text(set, 5, text), "0-3,7");
  set[0] = 1ull << 63;
  set[1] = 1;
  set[PROFILE_MASK_WORDS - 1] = 1ull << 63;
  assert_string_equal(cpu_list_text(set, 4, text), "63-64,1023,+1");
  memset(all, 0xff, sizeof all);
  assert_string_equal(cpu_list_text(all, 1024, text), "0-1023");
  assert_true(cpu_list_within(set, all) && !cpu_list_within(all, set));
  memset(set, 0x55, sizeof set);
  cpu_list_text(set, UINT64_MAX, text);
  assert_true(strlen(text) < sizeof text && strstr(text, ",..."));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_the_smallest_quota_of_all_groups_counts, make_root, delete_root),
      cmocka_unit_test_setup_teardown(test_version_1_has_a_file_for_each_number, make_root, delete_root),
      cmocka_unit_test_setup_teardown(test_missing_and_hostile_files_are_no_groups, make_root, delete_root),
      cmocka_unit_test_setup_teardown(test_hardware_threads_of_a_core_are_one, make_root, delete_root),
      cmocka_unit_test(test_throttling_in_both_versions),
      cmocka_unit_test(test_steal_time),
      cmocka_unit_test(test_sets_of_cpus_as_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
