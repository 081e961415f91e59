/* What the programs of this folder share: a table of cases, each of which prints one line with results that follow from
 * its source and from the number of threads alone.  Without arguments all cases run; otherwise those that begin so. */
#ifndef TESTS_LIBGOMP_GOMP_CASES_H
#define TESTS_LIBGOMP_GOMP_CASES_H

#include <stdio.h>
#include <string.h>

struct gomp_case {
  const char *name;
  void (*run)(void);
};

#define ROW(function)                                                                                                  \
  {                                                                                                                    \
#function, function                                                                                                \
  }
#define PRAGMA(...) _Pragma(#__VA_ARGS__)

/* Prints one result on the case's line; called outside regions, or by one thread. */
static void note(long value)
{
  printf(" %ld", value);
}

/* Differs for each iteration, so that sums tell which iterations ran. */
static inline long hash(long i)
{
  return (i * 7919 + 13) % 1000003;
}

static int run_cases(const struct gomp_case *rows, int count, int argc, char **argv)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < count; i++) {
    int chosen = argc < 2;
    for (int k = 1; k < argc; k++)
      chosen |= !strncmp(rows[i].name, argv[k], strlen(argv[k]));
    if (!chosen)
      continue;
    printf("%s:", rows[i].name);
    rows[i].run();
    printf("\n");
  }
  return 0;
}

#endif
