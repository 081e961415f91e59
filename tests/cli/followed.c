/* A program that is followed while it runs: followed DIRECTORY.  All threads work in first() until DIRECTORY/second
 * exists, then in second() until DIRECTORY/end exists.  With the setting BUSY they never rest; without it they use a
 * quarter of a core together, for the sake of other tests.  Prints what it does, and exits with status 7. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int stop;
static volatile double sink;

#define SPIN()                                                                                                         \
  do {                                                                                                                 \
    for (int i = 0; i < 20000; i++)                                                                                    \
      sink += i;                                                                                                       \
  } while (0)

__attribute__((noinline)) static void first(void)
{
  SPIN();
}

__attribute__((noinline)) static void second(void)
{
  SPIN();
}

/* Calls the function in all threads until the file exists. */
static void run(void (*function)(void), const char *directory, const char *name)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  atomic_store(&stop, 0);
  useconds_t rest = getenv("BUSY") ? 0 : 200 * (useconds_t)omp_get_max_threads();
#pragma omp parallel
  while (!atomic_load(&stop)) {
    function();
    if (omp_get_thread_num() == 0 && access(path, F_OK) == 0)
      atomic_store(&stop, 1);
    if (rest)
      usleep(rest);
  }
}

int main(int argc, char **argv)
{
  int character = argc > 2 ? getchar() : 0;
  printf("begins\n");
  fflush(stdout);
  run(first, argv[1], "second");
  fprintf(stderr, "second phase\n");
  run(second, argv[1], "end");
  printf("ends%s\n", character == EOF ? " with empty input" : "");
  return 7;
}
