/* What limited the cores of a process, on machines that the tests do not have. */
#include "hpcprof-lite/analysis/core_findings.h"
#include "tests/support/unit.h"

/* Eight CPUs that are four cores; 0: not known. */
static void test_more_threads_than_cores_are_a_finding(void **state)
{
  static const struct {
    uint32_t cores, threads, findings;
  } cases[] = {{4, 5, 1}, {4, 4, 0}, {8, 8, 0}, {0, 8, 0}};
  struct profile_process process = {
      .usable = true, .cpus = 8, .launch_mask = {0xff}, .limits = (char[]){""}, .machine_cpus = 8};
  struct profile profile = {.processes = &process, .processes_count = 1};
  struct construct_tree constructs = {0};
  struct core_findings findings;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    process.stored.cores = cases[i].cores;
    process.threads_max = cases[i].threads;
    core_findings_find(&profile, &constructs, &findings);
    assert_int_equal(findings.count, cases[i].findings);
  }
  process.stored.cores = 4;
  core_findings_find(&profile, &constructs, &findings);
  assert_string_equal(core_finding_name(findings.found[0].kind), "smt");
  assert_string_equal(findings.found[0].text, "8 OpenMP threads at once on 4 cores: the 8 CPUs that the process could "
                                              "use are hardware threads (SMT)");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_more_threads_than_cores_are_a_finding)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
