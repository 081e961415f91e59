/* What every unit test includes: cmocka with the headers that it needs, and main's arguments.
 *
 * Context: test programs.  `test_X [-k PART]...` runs only the tests with PART in their names. */
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

#ifdef assert_uint_in_range /* cmocka 2 has deprecated the name, but 1 has no other */
#undef assert_in_range
#define assert_in_range assert_uint_in_range
#endif

/* Sanitizers take ten times as long: some tests are smaller with them. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { UNIT_SANITIZED = 1 };
#else
enum { UNIT_SANITIZED = 0 };
#endif

/* Whether -k names the test, or is not there.  Words may be joined by blanks or underscores. */
static inline bool unit_chosen(int argc, char **argv, const char *name)
{
  bool asked = false;
  for (int i = 1; i + 1 < argc; i++) {
    if (strcmp(argv[i], "-k"))
      continue;
    asked = true;
    for (char *c = argv[i + 1]; *c; c++)
      if (*c == ' ')
        *c = '_';
    if (strstr(name, argv[i + 1]))
      return true;
  }
  return !asked;
}

/* Runs the tests of a group, or those that -k names.  Returns what main returns: the number of failures, 1 if no test
 * has that name. */
static inline int unit_run(int argc, char **argv, const char *group, const struct CMUnitTest *tests, size_t count,
                           CMFixtureFunction setup, CMFixtureFunction teardown)
{
  static struct CMUnitTest chosen[128];
  size_t chosen_count = 0;
  if (count > sizeof chosen / sizeof *chosen)
    abort();
  for (size_t i = 0; i < count; i++)
    if (unit_chosen(argc, argv, tests[i].name))
      chosen[chosen_count++] = tests[i];
  if (chosen_count)
    return _cmocka_run_group_tests(group, chosen, chosen_count, setup, teardown);
  printf("1..1\nnot ok 1 - no test has that in its name\n# The tests are:\n");
  for (size_t i = 0; i < count; i++)
    printf("#   %s\n", tests[i].name);
  return 1;
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
