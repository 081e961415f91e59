/* Which settings findings suggest. */
#include "hpcprof-lite/analysis/advice/advice_settings.h"
#include "hpcprof-lite/model/profile.h"
#include "tests/support/unit.h"

#include <string.h>

enum { CPUS = 4, ENTRIES = 3 };

/* A run of a process on CPUS CPUs, with a region inside another one, and one finding. */
struct run {
  struct profile profile;
  struct profile_process process;
  struct catalog_module module;
  struct construct_entry entries[ENTRIES];
  struct construct_tree constructs;
  struct advice_finding found[2];
  struct advice advice;
  struct region_threads regions[2];
  struct region_threads_list list;
  struct advice_settings_input input;
  struct trial_setting settings[TRIAL_SETTINGS_MAX];
};

static char no_limits[] = "", eight[] = "OMP_PROC_BIND=true\nOMP_NUM_THREADS=8,2\n", no_path[] = "/usr/bin/true";

static void start(struct run *run, enum advice_class class, uint32_t threads, char *limits)
{
  memset(run, 0, sizeof *run);
  run->process.threads_max = threads;
  run->process.cpus = CPUS;
  run->process.limits = limits;
  run->module.path = no_path;
  run->profile.processes = &run->process;
  run->profile.processes_count = run->profile.processes_usable = 1;
  run->profile.catalog.modules = &run->module;
  run->profile.catalog.modules_count = 1;
  for (uint32_t i = 0; i < ENTRIES; i++)
    run->entries[i] = (struct construct_entry){.parent = i ? i - 1 : MODEL_NONE};
  run->constructs = (struct construct_tree){.entries = run->entries, .count = ENTRIES};
  run->found[0] = (struct advice_finding){
      .class = class, .remedy = &advice_classes[class].remedy, .low_s = 1, .gain_s = 2, .high_s = 3};
  run->advice.found = run->found;
  run->advice.count = 1;
  run->input = (struct advice_settings_input){
      .profile = &run->profile, .constructs = &run->constructs, .advice = &run->advice, .region_threads = &run->list};
}

/* Gives a region teams of that size. */
static void set_team(struct run *run, uint32_t entry, uint64_t team)
{
  run->entries[entry].kind = DIRECTIVE_PARALLEL;
  run->entries[entry].sum.executions = 10;
  run->entries[entry].sum.count = 10 * team;
}

/* The settings, separated by "; ", each with a * behind it if it has the forecast. */
static void expect(struct run *run, const char *wanted)
{
  char text[1024] = "";
  uint32_t count = advice_settings(&run->input, run->settings);
  for (uint32_t i = 0; i < count; i++) {
    const struct trial_setting *setting = &run->settings[i];
    size_t length = strlen(text);
    int added = snprintf(text + length, sizeof text - length, "%s%s%s", i ? "; " : "", setting->text,
                         setting->forecast ? "*" : "");
    assert_true(added > 0 && (size_t)added < sizeof text - length);
    assert_true(!setting->forecast || (setting->low_s == 1 && setting->gain_s == 2 && setting->high_s == 3));
  }
  assert_string_equal(text, wanted);
}

static void test_too_many_threads(void **state)
{
  (void)state;
  struct run run;
  start(&run, ADVICE_OVERSUBSCRIPTION, 8, eight);
  expect(&run, "OMP_NUM_THREADS=4*; OMP_WAIT_POLICY=passive");
  assert_string_equal(run.settings[0].class, "oversubscription");
  run.process.stored.cores = 2; /* with two hardware threads each */
  expect(&run, "OMP_NUM_THREADS=2*; OMP_WAIT_POLICY=passive");
  run.process.quota_milli = 1500;
  expect(&run, "OMP_NUM_THREADS=1*; OMP_WAIT_POLICY=passive");
  start(&run, ADVICE_OVERSUBSCRIPTION, 8, no_limits); /* more than the default: of a clause */
  set_team(&run, 1, 8);
  expect(&run, "OMP_WAIT_POLICY=passive");
  static const struct advice_remedy nested = {"Levels", "", "OMP_MAX_ACTIVE_LEVELS=1"};
  start(&run, ADVICE_OVERSUBSCRIPTION, 8, eight); /* of a nested region */
  run.found[0].remedy = &nested;
  expect(&run, "OMP_MAX_ACTIVE_LEVELS=1*; OMP_WAIT_POLICY=passive");
}

static void test_other_findings(void **state)
{
  (void)state;
  struct run run;
  start(&run, ADVICE_SPINNING, 4, no_limits);
  expect(&run, "OMP_WAIT_POLICY=passive*");
  start(&run, ADVICE_NESTING, 4, no_limits);
  expect(&run, "OMP_MAX_ACTIVE_LEVELS=2*");
  start(&run, ADVICE_REGION_OVERHEAD, 4, no_limits);
  expect(&run, "OMP_NUM_THREADS=2");
  start(&run, ADVICE_REGION_OVERHEAD, 1, no_limits);
  expect(&run, "");
  start(&run, ADVICE_REGION_THREADS, 4, no_limits);
  run.found[0].region = 1;
  expect(&run, "");
  run.regions[1].best = 3;
  run.list = (struct region_threads_list){run.regions, 2};
  expect(&run, "OMP_NUM_THREADS=3");
  set_team(&run, 1, 8); /* by a clause */
  expect(&run, "");
  start(&run, ADVICE_LOCALITY, 4, no_limits);
  expect(&run, "OMP_PROC_BIND=close");
  start(&run, ADVICE_IMBALANCE, 4, no_limits);
  expect(&run, "");
  start(&run, ADVICE_QUOTA, 4, no_limits);
  run.process.quota_milli = 2500;
  expect(&run, "OMP_NUM_THREADS=2");
}

static void test_outside_openmp(void **state)
{
  (void)state;
  static const struct advice_remedy reuse = {"Keep it", "", "MALLOC_TOP_PAD_=1"};
  static const struct advice_remedy pages = {"Larger", "", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  struct run run;
  start(&run, ADVICE_KERNEL, 4, no_limits);
  expect(&run, "");
  run.found[0].remedy = &reuse;
  expect(&run, "MALLOC_TOP_PAD_=1*");
  run.found[0].remedy = &pages;
  expect(&run, "GLIBC_TUNABLES=glibc.malloc.hugetlb=1*");
  start(&run, ADVICE_BINDING, 4, no_limits); /* by a mask, which no setting changes */
  expect(&run, "");
  run.input.binding = "OMP_PLACES={0}";
  expect(&run, "OMP_PROC_BIND=false*");
  run.input.binding = "OMP_PROC_BIND=true GOMP_CPU_AFFINITY=0";
  expect(&run, "OMP_PROC_BIND=false KMP_AFFINITY=none KMP_WARNINGS=0*");
}

/* Each once, with the forecast of the finding that gains more. */
static void test_several(void **state)
{
  (void)state;
  static char pool[] = "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblasp-r0.3.21.so";
  struct run run;
  start(&run, ADVICE_SPINNING, 8, eight);
  run.found[1] = run.found[0];
  run.found[1].class = ADVICE_OVERSUBSCRIPTION;
  run.found[1].remedy = &advice_classes[ADVICE_OVERSUBSCRIPTION].remedy;
  run.advice.count = 2;
  expect(&run, "OMP_WAIT_POLICY=passive*; OMP_NUM_THREADS=4*");
  run.module.path = pool;
  expect(&run, "OMP_WAIT_POLICY=passive*; OPENBLAS_NUM_THREADS=1; OMP_NUM_THREADS=4*");
}

/* Without OpenMP nothing is known that a setting could change. */
static void test_without_openmp(void **state)
{
  (void)state;
  struct run run;
  start(&run, ADVICE_POOL, 0, no_limits);
  expect(&run, "");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_too_many_threads), cmocka_unit_test(test_other_findings),
      cmocka_unit_test(test_outside_openmp),   cmocka_unit_test(test_several),
      cmocka_unit_test(test_without_openmp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
