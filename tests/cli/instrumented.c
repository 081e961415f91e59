/* A program that marks, counts and names phases: what it did is known, and it prints when.
 *
 *     instrumented sums|marks|all|many|names|pause|killed|processes|control|bad [N]
 */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite.h"

#define NOINLINE __attribute__((noinline))

static long long now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void spin(double seconds)
{
  long long end = now_ns() + (long long)(seconds * 1e9);
  while (now_ns() < end)
    ;
}

static NOINLINE void left(int i)
{
  hpcrun_lite_counter("items", i);
  __asm__ volatile("");
}

static NOINLINE void right(int i)
{
  hpcrun_lite_counter("items", 1000 + i);
  hpcrun_lite_counter("calls", 1);
  __asm__ volatile("");
}

/* Thread t has iterations 100 t to 100 t + 99. */
static void sums(int threads)
{
#pragma omp parallel for schedule(static, 100) num_threads(threads)
  for (int i = 0; i < 100 * threads; i++) {
    left(i);
    if (i % 2)
      right(i);
  }
}

static void said(const char *kind, const char *name, long long before)
{
  printf("%s,%s,%lld,%lld\n", kind, name, before, now_ns());
}

static void mark(const char *name)
{
  long long before = now_ns();
  hpcrun_lite_mark(name);
  said("mark", name, before);
}

static void phase(const char *name)
{
  long long before = now_ns();
  hpcrun_lite_phase(name);
  said("phase", name ? name : "", before);
}

static void marks(void)
{
  phase("setup");
  spin(0.03);
  mark("ready");
  phase("solve");
  for (int i = 0; i < 5; i++) {
    spin(0.01);
    mark("step");
  }
  phase("output");
  spin(0.02);
  phase(NULL);
  spin(0.01);
}

static void many(int count)
{
#pragma omp parallel num_threads(2)
  for (int i = 0; i < count / 2; i++)
    hpcrun_lite_mark(i % 2 ? "odd" : "even");
}

static void names(void)
{
  static char name[5000];
  memset(name, 'x', sizeof name - 1);
  hpcrun_lite_mark(name);
  hpcrun_lite_counter(name, 3);
  memset(name, 'y', 254);
  memcpy(name + 254, "\xc3\xa9", 2); /* does not fit */
  hpcrun_lite_mark(name);
  hpcrun_lite_mark("a\"b\\c,d\n</script>&\x01\x7f\xff\xc3\xa9");
  hpcrun_lite_mark("");
  hpcrun_lite_phase("");
  hpcrun_lite_counter("", 1);
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, "counter %03d", i);
    hpcrun_lite_counter(name, 1);
  }
}

static void pause_(void)
{
  hpcrun_lite_counter("items", 1);
  hpcrun_lite_stop();
  hpcrun_lite_mark("while paused");
  hpcrun_lite_phase("begun while paused");
  hpcrun_lite_counter("items", 1000);
  hpcrun_lite_start();
  hpcrun_lite_counter("items", 20);
  spin(0.02);
}

static void processes(int count)
{
  for (int i = 0; i < count; i++) {
    if (fork())
      continue;
    hpcrun_lite_mark("child");
    hpcrun_lite_counter("items", i);
    exit(0);
  }
  while (wait(NULL) > 0)
    ;
  hpcrun_lite_mark("parent");
}

static void bad(void)
{
  hpcrun_lite_counter("items", -1);
  hpcrun_lite_counter("items", INT64_MIN);
  hpcrun_lite_counter("items", INT64_MAX);
  hpcrun_lite_counter("items", INT64_MAX);
  hpcrun_lite_counter("items", 5);
  hpcrun_lite_mark(NULL);
  hpcrun_lite_counter(NULL, 1);
}

#ifdef __clang__ /* GCC's runtime lacks the function */
static void control(void)
{
#pragma omp parallel num_threads(2)
  spin(0.001); /* the runtime knows the tool from here on */
  printf("%d ", omp_control_tool(64, 0, "marked"));
  printf("%d ", omp_control_tool(65, 0, "phase"));
  spin(0.01);
  printf("%d\n", omp_control_tool(65, 0, NULL));
}
#else
static void control(void)
{
}
#endif

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  int number = argc > 2 ? atoi(argv[2]) : 0;
  if (!strcmp(what, "sums"))
    sums(number);
  else if (!strcmp(what, "marks"))
    marks();
  else if (!strcmp(what, "all")) {
    marks();
    sums(number);
  }
  else if (!strcmp(what, "many"))
    many(number);
  else if (!strcmp(what, "names"))
    names();
  else if (!strcmp(what, "pause"))
    pause_();
  else if (!strcmp(what, "processes"))
    processes(number);
  else if (!strcmp(what, "bad"))
    bad();
  else if (!strcmp(what, "control"))
    control();
  else if (!strcmp(what, "killed")) {
    marks();
    sums(2);
    fflush(stdout);
    raise(SIGKILL);
  }
  return 0;
}
