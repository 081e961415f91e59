// Constructs whose places are easily lost: taskloops, whose tasks the runtime creates; a region in a function that is
// inlined at two calls; a region after an inlined function, in a loop that compilers may unroll; two regions in
// branches that they may merge.
#include "burn.h"

static double data[512];
static volatile int touched;

static inline void region_in_a_function(int first, double seconds)
{
#pragma omp parallel // = inlined
  {
    burn(seconds);
    touched = first;
  }
}

static NOINLINE void taskloops(int count)
{
#pragma omp taskloop grainsize(1) // = taskloop
  for (int i = 0; i < count; i++) {
    burn(0.004);
    touched = i;
  }
#pragma omp taskloop grainsize(1) nogroup // = nogroup
  for (int i = 0; i < count; i++) {
    burn(0.004);
    touched = i;
  }
}

static inline int read_block(double *out, int block)
{
  int count = 500 + block % 7;
  for (int i = 0; i < count; i++)
    out[i] = touched++;
  return count;
}

static void blocks(void)
{
  for (int i = 0; i < 4; i++) {
    int count = read_block(data, i);
#pragma omp parallel // = blocks
    {
      burn(0.01);
      touched = count;
    }
  }
}

static NOINLINE void branches(int which)
{
  if (which & 1) {
#pragma omp parallel // = branch one
    {
      burn(0.01);
      touched = which;
    }
  } else {
#pragma omp parallel // = branch two
    {
      burn(0.01);
      touched = which + 1;
    }
  }
}

int main()
{
  region_in_a_function(1, 0.02);
  region_in_a_function(2, 0.04);
#pragma omp parallel // = tasks
  {
#pragma omp single
    taskloops(8);
    touched = 3;
  }
  blocks();
  for (int i = 0; i < 4; i++)
    branches(i);
  return 0;
}
