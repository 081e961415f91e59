/* Tasks that one thread of two creates at one place, with known CPU time.  Usage: task_chains FORM.  late: the thread
 * computes for LONG before it creates the last task, which computes as long; all others are tiny.  aside: it creates so
 * many short tasks that the runtime has it run most of them at once. */
#include <omp.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { TASKS = 2000 };
static const double LONG = 60e-3, SHORT = 30e-6;

static void compute(double seconds)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double end = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + seconds;
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < end);
}

static void create(bool late)
{
  for (int i = 0; i < TASKS; i++) {
    bool last = late && i == TASKS - 1;
    if (last)
      compute(LONG);
#pragma omp task firstprivate(last)
    compute(last ? LONG : late ? 0 : SHORT);
  }
}

/* Until the other thread has created all tasks. */
static void stay_away(const bool *done)
{
  while (!__atomic_load_n(done, __ATOMIC_ACQUIRE))
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

int main(int argc, char **argv)
{
  bool done = false;
  if (argc != 2)
    return 2;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num()) {
      stay_away(&done);
    } else {
      create(!strcmp(argv[1], "late"));
      __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    }
  }
  return 0;
}
