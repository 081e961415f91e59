/* What a scenario of the memory orders is, and what its functions may call (checker.cpp). */
#ifndef TESTS_ORDER_CHECKER_H
#define TESTS_ORDER_CHECKER_H

#include <stdbool.h>

enum { ORDER_THREADS = 3 };

/* setup() runs before the threads and check() after them, both ordered with all that they do.  run() is called once in
 * each of the threads 0 to `threads` - 1. */
struct scenario {
  const char *name;
  int threads;
  void (*setup)(void);
  void (*run)(int thread);
  void (*check)(void); /* NULL: nothing */
};

extern const struct scenario order_scenarios[]; /* ends with a NULL name */

/* The execution fails unless this holds. */
#define MUST(condition) ((condition) ? (void)0 : order_failed(#condition))
void order_failed(const char *what) __attribute__((noreturn));

/* Another thread may go on here. */
void order_switch(void);

#endif
