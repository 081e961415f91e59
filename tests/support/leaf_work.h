/* The function in which the programs of tests/transparency spend their CPU time, so that a report can be compared. */
#ifndef TESTS_SUPPORT_LEAF_WORK_H
#define TESTS_SUPPORT_LEAF_WORK_H

#include "burn.h"

#include <stddef.h>
#include <sys/resource.h>

#ifdef __cplusplus
extern "C"
#endif
    NOINLINE __attribute__((visibility("hidden"))) double
    leaf_work(double seconds)
{
  return burn(seconds) + 1;
}

/* A thread that does leaf_work() for so many seconds. */
static inline void *thread_work(void *seconds)
{
  leaf_work(*(double *)seconds);
  return NULL;
}

/* Fatal signals leave no core file. */
static inline void no_core_files(void)
{
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

#endif
