/* Counts the calls to libgomp's entry points, on its own and without any part of the tool: a library that is preloaded
 * and that writes lines of "NAME COUNT" to the file $GOMP_COUNTS at the end.  All arguments are passed on as words. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { REGIONS, TASKS, TASKLOOPS, CHUNKS, CRITICALS, ATOMICS, ORDERED, LOCKS, SINGLES, TASKWAITS, TASKGROUPS, KINDS };

static const char *const kind_names[KINDS] = {"regions", "tasks", "taskloops", "chunks",    "criticals", "atomics",
                                              "ordered", "locks", "singles",   "taskwaits", "taskgroups"};
static long counts[KINDS];

typedef long function(long, long, long, long, long, long, long, long, long, long, long, long);

static long call(const char *name, function **next, int kind, int results, const long *a)
{
  if (!*next)
    *next = (function *)dlsym(RTLD_NEXT, name);
  if (!results)
    __atomic_fetch_add(&counts[kind], 1, __ATOMIC_RELAXED);
  const long result = (*next)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  if (results == 1   ? (result & 0xff) != 0
      : results == 2 ? (int)result == 1
      : results == 3 ? !result
                     : results && (int)result)
    __atomic_fetch_add(&counts[kind], 1, __ATOMIC_RELAXED);
  return result;
}

/* COUNT: every call; the others: calls that return true, 1 (a nested lock was free), NULL (the thread is the single
 * one), or an int other than 0. */
#define ENTRY(name, kind, results)                                                                                     \
  long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l)            \
  {                                                                                                                    \
    static function *next;                                                                                             \
    const long all[] = {a, b, c, d, e, f, g, h, i, j, k, l};                                                           \
    return call(#name, &next, kind, results, all);                                                                     \
  }
#define COUNT(kind, name) ENTRY(name, kind, 0)
#define RETURNED(kind, name) ENTRY(name, kind, 1)
#define TESTED(kind, name) ENTRY(name, kind, 2)
#define ALONE(kind, name) ENTRY(name, kind, 3)
#define NUMBERED(kind, name) ENTRY(name, kind, 4)
#define LOOP(kind) RETURNED(CHUNKS, GOMP_loop_##kind##_start) RETURNED(CHUNKS, GOMP_loop_##kind##_next)
#define LOOPS(kind) LOOP(kind) LOOP(ull_##kind)
#define STARTS(kind) RETURNED(CHUNKS, GOMP_loop_##kind##_start) RETURNED(CHUNKS, GOMP_loop_ull_##kind##_start)

COUNT(REGIONS, GOMP_parallel)
COUNT(REGIONS, GOMP_parallel_start)
COUNT(REGIONS, GOMP_parallel_loop_static_start)
COUNT(REGIONS, GOMP_parallel_loop_dynamic_start)
COUNT(REGIONS, GOMP_parallel_loop_guided_start)
COUNT(REGIONS, GOMP_parallel_loop_runtime_start)
COUNT(REGIONS, GOMP_parallel_sections_start)
COUNT(REGIONS, GOMP_parallel_reductions)
COUNT(REGIONS, GOMP_parallel_sections)
COUNT(REGIONS, GOMP_parallel_loop_static)
COUNT(REGIONS, GOMP_parallel_loop_dynamic)
COUNT(REGIONS, GOMP_parallel_loop_guided)
COUNT(REGIONS, GOMP_parallel_loop_runtime)
COUNT(REGIONS, GOMP_parallel_loop_nonmonotonic_dynamic)
COUNT(REGIONS, GOMP_parallel_loop_nonmonotonic_guided)
COUNT(REGIONS, GOMP_parallel_loop_nonmonotonic_runtime)
COUNT(REGIONS, GOMP_parallel_loop_maybe_nonmonotonic_runtime)
COUNT(TASKS, GOMP_task)
COUNT(TASKLOOPS, GOMP_taskloop)
COUNT(TASKLOOPS, GOMP_taskloop_ull)
LOOPS(static)
LOOPS(dynamic)
LOOPS(guided)
LOOPS(runtime)
LOOPS(ordered_static)
LOOPS(ordered_dynamic)
LOOPS(ordered_guided)
LOOPS(ordered_runtime)
LOOPS(nonmonotonic_dynamic)
LOOPS(nonmonotonic_guided)
LOOPS(nonmonotonic_runtime)
LOOPS(maybe_nonmonotonic_runtime)
STARTS(doacross_static)
STARTS(doacross_dynamic)
STARTS(doacross_guided)
STARTS(doacross_runtime)
RETURNED(CHUNKS, GOMP_loop_start)
RETURNED(CHUNKS, GOMP_loop_ull_start)
RETURNED(CHUNKS, GOMP_loop_ordered_start)
RETURNED(CHUNKS, GOMP_loop_ull_ordered_start)
COUNT(CRITICALS, GOMP_critical_start)
COUNT(CRITICALS, GOMP_critical_name_start)
COUNT(ATOMICS, GOMP_atomic_start)
COUNT(ORDERED, GOMP_ordered_start)
COUNT(LOCKS, omp_set_lock)
COUNT(LOCKS, omp_set_nest_lock)
COUNT(LOCKS, omp_set_lock_)
COUNT(LOCKS, omp_set_nest_lock_)
TESTED(LOCKS, omp_test_lock)
TESTED(LOCKS, omp_test_nest_lock)
TESTED(LOCKS, omp_test_lock_)
TESTED(LOCKS, omp_test_nest_lock_)
RETURNED(SINGLES, GOMP_single_start)
ALONE(SINGLES, GOMP_single_copy_start)
NUMBERED(CHUNKS, GOMP_sections_start)
NUMBERED(CHUNKS, GOMP_sections2_start)
NUMBERED(CHUNKS, GOMP_sections_next)
COUNT(TASKWAITS, GOMP_taskwait)
COUNT(TASKGROUPS, GOMP_taskgroup_start)

__attribute__((destructor)) static void write_counts(void)
{
  const char *path = getenv("GOMP_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  for (int kind = 0; file && kind < KINDS; kind++)
    fprintf(file, "%s %ld\n", kind_names[kind], counts[kind]);
  if (file)
    fclose(file);
}
