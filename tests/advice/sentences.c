/* Programs that do one thing each: sentences NAME.  What reports say of each must be true. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

/* About a microsecond for each unit. */
NOINLINE static void burn(long units)
{
  for (volatile long i = 0; i < units * 400; i++)
    continue;
}

static void healthy(void)
{
  for (int step = 0; step < 20; step++) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 200; i++)
      burn(200);
  }
}

static volatile long sink;

static void flood(void)
{
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < 400000; i++) {
#pragma omp task
    sink = i;
  }
}

static void chain(void)
{
  static int link;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 1000; i++) {
#pragma omp task depend(inout : link)
    burn(600);
  }
}

static void chunks(void)
{
  for (int step = 0; step < 4; step++) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < 3; i++)
      burn(60000);
  }
}

static void many(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 4000; i++)
    burn(200);
}

static void locked(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 400; i++) {
#pragma omp critical(one)
    burn(3000);
  }
}

static void regions(void)
{
  for (int i = 0; i < 60000; i++) {
#pragma omp parallel
    sink = 1;
  }
}

int main(int count, char **arguments)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } forms[] = {{"healthy", healthy}, {"flood", flood},   {"chain", chain},    {"chunks", chunks},
               {"many", many},       {"locked", locked}, {"regions", regions}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (count == 2 && !strcmp(arguments[1], forms[i].name)) {
      forms[i].run();
      return 0;
    }
  return EXIT_FAILURE;
}
