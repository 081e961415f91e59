/* What every unit test includes: cmocka with the headers that it needs, and main's arguments.
 *
 * Context: test programs.  `test_X -k PART` runs only the tests with PART in their names. */
#ifndef TESTS_SUPPORT_UNIT_H
#define TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs the tests of a group, or those that -k names.  Returns what main returns: the number of failures, 1 if no test
 * has that name. */
static inline int unit_run(int argc, char **argv, const char *group, const struct CMUnitTest *tests, size_t count,
                           CMFixtureFunction setup, CMFixtureFunction teardown)
{
  static char pattern[128];
  size_t chosen = 0;
  if (argc > 2 && !strcmp(argv[1], "-k")) {
    for (size_t i = 0; i < count; i++)
      chosen += strstr(tests[i].name, argv[2]) != NULL;
    if (!chosen) {
      printf("1..1\nnot ok 1 - no test of %s has '%s' in its name\n", group, argv[2]);
      return 1;
    }
    snprintf(pattern, sizeof pattern, "*%s*", argv[2]);
    cmocka_set_test_filter(pattern);
  }
  return _cmocka_run_group_tests(group, tests, count, setup, teardown);
}

#define UNIT_RUN(argc, argv, group, tests, setup, teardown)                                                            \
  unit_run(argc, argv, group, tests, sizeof tests / sizeof *tests, setup, teardown)

/* The project's sources: golden measurements and pages of doc/ are read from there. */
static inline const char *unit_source(void)
{
  const char *source = getenv("HPCRUN_LITE_TEST_SOURCE");
  return source ? source : ".";
}

#endif
