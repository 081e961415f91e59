/* Two processes with a region, inlined and recursive calls, and user regions with hostile names, for exports of
 * profiles. */
#include "hpcrun-lite.h"

#include "burn.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static inline __attribute__((always_inline)) double inner(void)
{
  return burn(0.004);
}

static NOINLINE double kernel(void)
{
  return inner() + burn(0.004);
}

static NOINLINE double recursive(int depth)
{
  double sum = burn(0.002);
  return depth ? sum + recursive(depth - 1) : sum;
}

static NOINLINE double region(void)
{
  double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 4; i++)
      sum += kernel();
#pragma omp critical
    sum += burn(0.004);
  }
  return sum;
}

int main(void)
{
  char longest[3000];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  const char *const names[] = {"\"quoted\", and;more", "line\nfeed\x01", "not \xff\xfe UTF-8 \xc3\xa9",
                               "fn=(1) 12 34",         "0012",           longest};
  pid_t child = fork(); /* before there are threads, which a child would lack */
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    hpcrun_lite_region_begin(names[i]);
    kernel();
    hpcrun_lite_region_end();
  }
  recursive(5);
  hpcrun_lite_counter("samples", 3); /* names that are taken */
  hpcrun_lite_counter("Work", 4);
  hpcrun_lite_counter("\"a\";b\n", 5);
  hpcrun_lite_counter("\"a\";b\r", 6);
  hpcrun_lite_counter("line", 7);
  region();
  if (child)
    waitpid(child, NULL, 0);
  return 0;
}
