/* Undeferred tasks, whose code clang puts into the function that creates them: undeferred_tasks FORM.  Each form counts
 * 22 units in slow() and 11 in fast(), one after the other, in each of two threads. */
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"
#include "hpcrun-lite.h"

enum { DEEP = 22, BURIED = 5000 };

static __attribute__((noinline)) void slow(uint64_t units)
{
  hpcrun_lite_add_work(units);
}

static __attribute__((noinline)) void fast(uint64_t units)
{
  hpcrun_lite_add_work(units);
}

static void alone(void)
{
#pragma omp task if (0) // @ alone
  {
    slow(22);
    fast(11);
  }
}

static void in_deferred(void)
{
#pragma omp task // @ outer
  {
#pragma omp task if (0) // @ inner
    {
      slow(22);
      fast(11);
    }
  }
}

static __attribute__((noinline)) void elsewhere(void)
{
#pragma omp task // @ part
  {
    slow(2);
#pragma omp task if (0) // @ in part
    slow(20);
    fast(11);
  }
}

static void in_function(void)
{
  elsewhere();
  fast(0);
}

static void with_group(void)
{
#pragma omp task if (0) // @ around
  {
    slow(2);
#pragma omp taskgroup
    {
#pragma omp task // @ in group
      slow(20);
    }
    fast(11);
  }
}

static void nested(void)
{
#pragma omp task if (0) // @ first
  {
    slow(15);
#pragma omp task if (0) // @ second
    slow(7);
    fast(11);
  }
}

static void descend(int levels)
{
#pragma omp task if (0) // @ level
  {
    slow(1);
    if (levels > 1)
      descend(levels - 1);
    else
      fast(11);
  }
}

static void deep(void)
{
  descend(DEEP);
}

/* A worker at the barrier that ends the region runs a task that waits for dependences. */
static void in_barrier(void)
{
  static volatile int deferred;
  char at[1];
  (void)at;
  if (omp_get_thread_num() == 0) {
#pragma omp task
    {
#pragma omp task if (deferred) depend(out : at[0])
      slow(22);
      fast(11);
    }
    usleep(20000);
  }
}

/* More frames than a walk of the stack follows: what has called fast() is not known for certain. */
static __attribute__((noinline)) int bury(int frames)
{
  volatile int left = frames;
  if (!left)
    fast(11);
  else
    left = bury(frames - 1);
  return left;
}

static void buried(void)
{
  slow(22);
  bury(BURIED);
}

/* For samples of time. */
static void busy(void)
{
#pragma omp task if (0) // @ busy
  burn(0.2);
}

int main(int count, char **words)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } forms[] = {{"alone", alone},
               {"in_deferred", in_deferred},
               {"in_function", in_function},
               {"with_group", with_group},
               {"nested", nested},
               {"deep", deep},
               {"busy", busy},
               {"in_barrier", in_barrier},
               {"buried", buried}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (count > 1 && !strcmp(words[1], forms[i].name)) {
#pragma omp parallel num_threads(2) // @ region
      forms[i].run();
      return 0;
    }
  return 2;
}
