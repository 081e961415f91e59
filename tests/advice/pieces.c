/* Programs whose threads wait for pieces of work, and whose losses follow from their source: pieces NAME HOW.  They
 * sleep instead of computing, so that other programs on the machine hardly change them.  HOW is ill, twin or repaired:
 * the repaired one does the same work.  They print their elapsed time in seconds. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum how { ILL, TWIN, REPAIRED };
enum { THREADS = 4, SHORT_US = 10000, LONG_US = 300000 };

static double now_s(void)
{
  return omp_get_wtime();
}

/* Sixty short iterations and a long one, which begins last: 150 + 300 ms; in the twin it is short, too: 160 ms; begun
 * first: 300 ms. */
static void last(enum how how)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(THREADS)
  for (int i = 0; i < 61; i++) {
    int longest = how == REPAIRED ? i == 0 : how == ILL && i == 60;
    usleep(longest ? LONG_US : SHORT_US);
  }
}

/* The same of tasks. */
static void task(enum how how)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
  for (int i = 0; i < 61; i++) {
    int longest = how == REPAIRED ? i == 0 : how == ILL && i == 60;
#pragma omp task firstprivate(longest)
    usleep(longest ? LONG_US : SHORT_US);
  }
}

/* Nine iterations of 100 ms in chunks of three for two threads: 600 ms; alone: 500 ms.  The twin has eight. */
static void chunks(enum how how)
{
  int count = how == TWIN ? 8 : 9;
  if (how == ILL) {
#pragma omp parallel for schedule(dynamic, 3) num_threads(2)
    for (int i = 0; i < count; i++)
      usleep(10 * SHORT_US);
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
    for (int i = 0; i < count; i++)
      usleep(10 * SHORT_US);
  }
}

/* Two loops of as many iterations as threads, in which the other thread has more: 10 x (40 + 40) ms, 10 x 50 ms without
 * the barrier between them.  In the twin both have as much. */
static void mirrored(enum how how)
{
  int longer = how == TWIN ? SHORT_US : 4 * SHORT_US;
#pragma omp parallel num_threads(2)
  for (int step = 0; step < 10; step++) {
    if (how == REPAIRED) {
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < 2; i++)
        usleep(i ? longer : SHORT_US);
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < 2; i++)
        usleep(i ? SHORT_US : longer);
    } else {
#pragma omp for schedule(static, 1)
      for (int i = 0; i < 2; i++)
        usleep(i ? longer : SHORT_US);
#pragma omp for schedule(static, 1)
      for (int i = 0; i < 2; i++)
        usleep(i ? SHORT_US : longer);
    }
  }
}

/* Every thread has more work once, in regions of their own: 10 x 40 ms.  Divided evenly: 10 x 25 ms. */
static void moving(enum how how)
{
  for (int step = 0; step < 10; step++) {
#pragma omp parallel num_threads(2)
    {
      int more = omp_get_thread_num() == step % 2;
      int us = how == ILL ? more ? 4 * SHORT_US : SHORT_US : 5 * SHORT_US / 2;
      usleep((unsigned)us);
    }
  }
}

static const struct {
  const char *name;
  void (*run)(enum how how);
} programs[] = {{"last", last}, {"task", task}, {"chunks", chunks}, {"mirrored", mirrored}, {"moving", moving}};

int main(int argc, char **argv)
{
  static const char *const hows[] = {"ill", "twin", "repaired"};
  enum how how = ILL;
  if (argc < 3)
    return 2;
  while (how < REPAIRED && strcmp(hows[how], argv[2]) != 0)
    how++;
  double begin_s = now_s();
  for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
    if (!strcmp(programs[i].name, argv[1]))
      programs[i].run(how);
  printf("%.6f\n", now_s() - begin_s);
  return 0;
}
