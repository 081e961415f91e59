/* Target constructs on devices that LLVM's plug-in for x86-64 makes of the host.
 * Usage: device_targets counts|loop|serial|beside|two|inner|killed|fork|calls|teams; prints the CPU time that it has
 * burnt. */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#pragma omp declare target
NOINLINE static double on_device(double seconds)
{
  double begin = burn_clock();
  burn(seconds);
  return burn_clock() - begin;
}
#pragma omp end declare target

enum { LENGTH = 1000, TARGETS = 5, MANY = 10000 };

static double values[LENGTH], others[LENGTH], on_device_s, on_host_s;

NOINLINE static void on_host(double seconds)
{
  double begin = burn_clock();
  burn(seconds);
  on_host_s += burn_clock() - begin;
}

static void check(int is_right)
{
  if (!is_right)
    puts("wrong");
}

/* What lies on the device already is not moved again. */
static void counts(void)
{
#pragma omp target data map(tofrom : values)
  {
    for (int i = 0; i < TARGETS; i++) {
#pragma omp target map(tofrom : values)
      values[i] += i + 1;
    }
#pragma omp target update from(values)
    check(values[TARGETS - 1] == TARGETS);
  }
#pragma omp target enter data map(to : others)
#pragma omp target map(tofrom : others)
  others[1] = 1;
#pragma omp target exit data map(from : others)
  check(others[1] == 1);
#pragma omp target map(to : values) map(from : others)
  others[2] = values[1];
  check(others[2] == 2);
}

static void loop(void)
{
  for (int i = 0; i < MANY; i++) {
#pragma omp target
    ;
  }
}

static void serial(void)
{
  double seconds = 0;
#pragma omp target map(from : seconds)
  seconds = on_device(0.3);
  on_device_s = seconds;
  on_host(0.1);
}

static void beside(void)
{
  double seconds = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait map(from : seconds)
    seconds = on_device(0.3);
    on_host(0.3);
#pragma omp taskwait
  }
  on_device_s = seconds;
}

/* On two devices at once. */
static void two(void)
{
  double seconds[2] = {0, 0};
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait device(0) map(from : seconds[0])
    seconds[0] = on_device(0.2);
#pragma omp target nowait device(1) map(from : seconds[1])
    seconds[1] = on_device(0.2);
#pragma omp taskwait
  }
  on_device_s = seconds[0] + seconds[1];
}

/* Without a target construct. */
static void calls(void)
{
  int device = 1;
  double *there = omp_target_alloc(sizeof values, device);
  omp_target_memcpy(there, values, sizeof values, 0, 0, device, omp_get_initial_device());
  omp_target_free(there, device);
}

static void teams(void)
{
#pragma omp target teams num_teams(2) thread_limit(1)
  ;
}

static void inner(void)
{
  int threads = 0;
#pragma omp target map(tofrom : threads)
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads += omp_get_num_threads();
  check(threads == 4);
}

static void killed(void)
{
#pragma omp target
  {
    on_device(0.3);
    raise(SIGKILL);
  }
}

/* After a device was used. */
static void forks(void)
{
  int status = 1;
  loop();
  pid_t child = fork();
  if (!child) {
    on_host(0.05);
    _exit(on_host_s > 0 ? 7 : 8);
  }
  check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

int main(int count, char **arguments)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } modes[] = {{"counts", counts}, {"loop", loop},     {"serial", serial}, {"beside", beside}, {"two", two},
               {"inner", inner},   {"killed", killed}, {"fork", forks},    {"calls", calls},   {"teams", teams}};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes && count > 1; i++)
    if (!strcmp(modes[i].name, arguments[1]))
      modes[i].run();
  say("on_device", on_device_s);
  say("on_host", on_host_s);
  return 0;
}
