/* Functions that end in a jump into another one and leave no frame.  PART 1 has main and calls of each kind, PART 2
 * the functions that work, for 0.1 s or 0.05 s each, and PART 3 one that is only jumped to. */
#if PART == 2
#include "leaf_work.h"
#endif

#define OPEN __attribute__((noinline, used))

extern volatile double tail_sink;
extern volatile int tail_zero;
double only_first(double seconds), only_second(double seconds), works_after_two(double seconds);
double either(double seconds), left(double seconds), right(double seconds), works_after_either(double seconds);
double by_pointer(double seconds, double (*function)(double)), works_by_pointer(double seconds);
double both(double seconds), works_after_both(double seconds);
double around(double seconds), and_around(double seconds), works_after_rounds(double seconds);

#if PART == 1

volatile double tail_sink;
volatile int tail_zero;

OPEN double either(double seconds)
{
  tail_sink = tail_sink + 3;
  return tail_zero ? right(seconds) : left(seconds);
}

OPEN double around(double seconds)
{
  tail_sink = tail_sink + 4;
  return and_around(seconds);
}

int main(void)
{
  tail_sink = tail_sink + only_first(0.1);
  tail_sink = tail_sink + either(0.1);
  tail_sink = tail_sink + by_pointer(0.1, works_by_pointer);
  tail_sink = tail_sink + around(0.1);
  tail_sink = tail_sink + both(0.05);
  return 0;
}

#elif PART == 3

OPEN double only_second(double seconds)
{
  tail_sink = tail_sink + 2;
  return works_after_two(seconds + tail_zero);
}

#else

OPEN double works_after_two(double seconds)
{
  return leaf_work(seconds) + tail_sink;
}

OPEN double works_after_either(double seconds)
{
  return leaf_work(seconds) + tail_sink;
}

OPEN double works_by_pointer(double seconds)
{
  return leaf_work(seconds) + tail_sink;
}

OPEN double works_after_rounds(double seconds)
{
  return leaf_work(seconds) + tail_sink;
}

OPEN double only_first(double seconds)
{
  tail_sink = tail_sink + 1;
  return only_second(seconds + tail_zero);
}

OPEN double works_after_both(double seconds)
{
  return leaf_work(seconds) + tail_sink;
}

static inline __attribute__((always_inline)) double never_taken(double seconds)
{
  tail_sink = tail_sink + 9;
  return works_after_both(seconds + tail_zero);
}

/* The jump that is not taken comes first in the code. */
OPEN double both(double seconds)
{
  tail_sink = tail_sink + leaf_work(seconds);
  if (__builtin_expect(tail_zero, 1))
    return never_taken(seconds);
  tail_sink = tail_sink + 10;
  return works_after_both(seconds - tail_zero);
}

OPEN double left(double seconds)
{
  tail_sink = tail_sink + 5;
  return works_after_either(seconds + tail_zero);
}

OPEN double right(double seconds)
{
  tail_sink = tail_sink + 6;
  return works_after_either(seconds - tail_zero);
}

OPEN double by_pointer(double seconds, double (*function)(double))
{
  tail_sink = tail_sink + 7;
  return function(seconds + tail_zero);
}

OPEN double and_around(double seconds)
{
  tail_sink = tail_sink + 8;
  return tail_zero ? around(seconds) : works_after_rounds(seconds + tail_zero);
}

#endif
