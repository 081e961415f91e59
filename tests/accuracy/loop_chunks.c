/* Loops of 64 iterations in a team of two: one iteration of each takes TOOK us, all others next to nothing.  Each loop
 * is executed twice. */
#include <omp.h>
#include <unistd.h>

enum { ITERATIONS = 64, TOOK = 40000 };

static void iteration(long number, long slow)
{
  if (number == slow)
    usleep(TOOK);
}

static void loops(void)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 4)
    for (int i = 0; i < ITERATIONS; i++)
      iteration(i, 37);
#pragma omp for schedule(guided)
    for (long i = 0; i < ITERATIONS; i++)
      iteration(i, 1);
#pragma omp for schedule(runtime)
    for (unsigned long i = 0; i < ITERATIONS; i++)
      iteration((long)i, 50);
#pragma omp for schedule(dynamic) ordered
    for (int i = 0; i < ITERATIONS; i++) {
      iteration(i, 20);
#pragma omp ordered
      usleep(i == 10 ? TOOK / 2 : 0);
    }
#pragma omp for schedule(nonmonotonic : dynamic, 2) nowait
    for (unsigned i = 0; i < ITERATIONS; i++)
      iteration(i, 63);
  }
#pragma omp parallel for schedule(dynamic, 3) num_threads(2)
  for (int i = ITERATIONS - 1; i >= 0; i--)
    iteration(i, 0);
}

/* The size of chunks changes, and a lock is held while the long iteration runs. */
static void sizes(int size)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, size)
    for (int i = 0; i < ITERATIONS; i++)
      iteration(i, 60);
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 2; i++) { /* one iteration waits for the other one, and then sleeps half as long */
      omp_set_lock(&lock);
      usleep(i ? TOOK / 2 : TOOK);
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
}

static void divided(void)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < ITERATIONS; i++)
      iteration(i, 40);
#pragma omp for schedule(static, 5)
    for (int i = 0; i < ITERATIONS; i++)
      iteration(i, 40);
  }
}

int main(void)
{
  for (int i = 0; i < 2; i++) {
    loops();
    sizes(8 + 8 * i);
    divided();
  }
}
