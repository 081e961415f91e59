/* One thread creates 45 tasks, in each way that libgomp handles differently, and runs all of them within a taskwait.
 * Prints their number. */
#include <cstdio>
#include <omp.h>

struct copied {
  int copies = 0;
  copied() = default;
  copied(const copied &other) : copies(other.copies + 1)
  {
  }
};

static int ran;

static void create(const copied &of)
{
  copied object = of;
  omp_event_handle_t event;
  for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(i)
    ran += i >= 0;
  for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(object)
    ran += object.copies > 0;
#pragma omp taskloop nogroup num_tasks(10)
  for (int i = 0; i < 10; i++)
    ran++;
#pragma omp taskloop nogroup num_tasks(10) firstprivate(object)
  for (int i = 0; i < 10; i++)
    ran += object.copies > 0;
  for (int i = 0; i < 5; i++) {
#pragma omp task detach(event)
    {
      ran++;
      omp_fulfill_event(event);
    }
  }
}

int main()
{
#pragma omp parallel num_threads(1)
  {
    create(copied());
#pragma omp taskwait
  }
  printf("%d\n", ran);
}
