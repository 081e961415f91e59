/* Two threads that meet at many barriers, or a thread that sleeps often.  Each prints how long the kernel says that it
 * was ready to run without a processor: ready_NUMBER SECONDS.  "killed" meets at barriers too, and ends
 * by SIGKILL. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile double sink;

static void work(int rounds)
{
  double x = 1;
  for (int i = 0; i < rounds; i++)
    x = x * 1.0000001 + 1e-9;
  sink = x;
}

static void print_ready(int number)
{
  char path[64];
  unsigned long long ran = 0, ready = 0;
  snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", (long)syscall(SYS_gettid));
  FILE *file = fopen(path, "r");
  if (!file || fscanf(file, "%llu %llu", &ran, &ready) != 2)
    exit(2);
  fclose(file);
  printf("ready_%d %.6f\n", number, (double)ready / 1e9);
}

int main(int argc, char **argv)
{
  int times = argc > 2 ? atoi(argv[2]) : 100;
  if (argc > 1 && strcmp(argv[1], "sleeps") == 0) {
    for (int i = 0; i < times; i++)
      usleep(1000);
    print_ready(0);
    return 0;
  }
  for (int i = 0; i < times; i++) {
#pragma omp parallel
    for (int barrier = 0; barrier < 3; barrier++) {
      work(20000);
#pragma omp barrier
    }
  }
#pragma omp parallel
#pragma omp critical
  print_ready(omp_get_thread_num());
  if (argc > 1 && strcmp(argv[1], "killed") == 0) {
    fflush(stdout);
    raise(SIGKILL);
  }
  return 0;
}
