/* Regions, worksharing, teams and cancellation as GCC compiles them; see gomp_cases.h. */
#include <complex.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "gomp_cases.h"

typedef unsigned long long ull;

static int persistent = 5;
#pragma omp threadprivate(persistent)

/* ---- loops: combined with the region, in a region, and without a barrier ---- */

#define LOOP(name, type, from, condition, step, ...)                                                                   \
  static void name(void)                                                                                               \
  {                                                                                                                    \
    long sum = 0, count = 0;                                                                                           \
    PRAGMA(omp parallel for reduction(+ : sum, count) __VA_ARGS__)                                                     \
    for (type i = from; condition; step) {                                                                             \
      sum += hash((long)i);                                                                                            \
      count++;                                                                                                         \
    }                                                                                                                  \
    PRAGMA(omp parallel reduction(+ : sum, count))                                                                     \
    {                                                                                                                  \
      PRAGMA(omp for nowait __VA_ARGS__)                                                                               \
      for (type i = from; condition; step)                                                                             \
        sum += hash((long)i);                                                                                          \
      PRAGMA(omp for __VA_ARGS__)                                                                                      \
      for (type i = from; condition; step)                                                                             \
        count++;                                                                                                       \
    }                                                                                                                  \
    note(sum);                                                                                                         \
    note(count);                                                                                                       \
  }

LOOP(loop_default, int, 0, i < 1000, i++, )
LOOP(loop_static_chunk, int, 0, i < 1000, i += 3, schedule(static, 7))
LOOP(loop_static_empty, int, 5, i < 5, i++, schedule(static, 7))
LOOP(loop_dynamic, int, 0, i < 1000, i++, schedule(dynamic))
LOOP(loop_dynamic_empty, int, 9, i < 2, i++, schedule(dynamic))
LOOP(loop_dynamic_one, int, 9, i < 10, i++, schedule(dynamic))
LOOP(loop_dynamic_down, int, 999, i >= -7, i -= 2, schedule(dynamic, 4))
LOOP(loop_monotonic_dynamic, long, -500, i <= 500, i++, schedule(monotonic : dynamic, 3))
LOOP(loop_nonmonotonic_dynamic, long, 3000000000, i < 3000000777, i += 3, schedule(nonmonotonic : dynamic))
LOOP(loop_guided, int, 0, i < 1000, i++, schedule(guided))
LOOP(loop_guided_chunk, int, 0, i < 1000, i++, schedule(nonmonotonic : guided, 9))
LOOP(loop_monotonic_guided, int, 1000, i > 0, i -= 7, schedule(monotonic : guided, 2))
LOOP(loop_runtime, int, 0, i < 1000, i++, schedule(runtime))
LOOP(loop_monotonic_runtime, int, 0, i < 1000, i++, schedule(monotonic : runtime))
LOOP(loop_nonmonotonic_runtime, int, 0, i < 1000, i++, schedule(nonmonotonic : runtime))
LOOP(loop_auto, int, 0, i < 1000, i++, schedule(auto))
LOOP(loop_ull_static, ull, 10, i < 1000, i++, schedule(static, 3))
LOOP(loop_ull_dynamic, ull, UINT64_MAX - 1000, i < UINT64_MAX - 3, i += 3, schedule(dynamic, 2))
LOOP(loop_ull_monotonic_dynamic, ull, 0, i < 777, i++, schedule(monotonic : dynamic))
LOOP(loop_ull_down, ull, 1000, i > 2, i -= 2, schedule(dynamic, 5))
LOOP(loop_ull_guided, ull, INT64_MAX - 100ull, i < INT64_MAX + 100ull, i++, schedule(guided))
LOOP(loop_ull_monotonic_guided, ull, 0, i < 777, i++, schedule(monotonic : guided, 4))
LOOP(loop_ull_runtime, ull, 0, i < 1000, i++, schedule(runtime))
LOOP(loop_ull_monotonic_runtime, ull, 0, i < 1000, i++, schedule(monotonic : runtime))
LOOP(loop_ull_nonmonotonic_runtime, ull, 0, i < 1000, i++, schedule(nonmonotonic : runtime))

/* ---- ordered loops: what the ordered part sees is the sequence ---- */

#define ORDERED(name, type, ...)                                                                                       \
  static void name(void)                                                                                               \
  {                                                                                                                    \
    long sequence = 1, sum = 0;                                                                                        \
    PRAGMA(omp parallel for ordered reduction(+ : sum) __VA_ARGS__)                                                    \
    for (type i = 0; i < 100; i++) {                                                                                   \
      sum += hash((long)i);                                                                                            \
      PRAGMA(omp ordered)                                                                                              \
      sequence = (sequence * 31 + (long)i) % 1000003;                                                                  \
      sum++;                                                                                                           \
    }                                                                                                                  \
    PRAGMA(omp parallel reduction(+ : sum))                                                                            \
    PRAGMA(omp for ordered __VA_ARGS__)                                                                                \
    for (type i = 100; i > 1; i -= 3) {                                                                                \
      if (i % 2) {                                                                                                     \
        PRAGMA(omp ordered)                                                                                            \
        sequence = (sequence * 31 + (long)i) % 1000003;                                                                \
      }                                                                                                                \
      sum++;                                                                                                           \
    }                                                                                                                  \
    note(sequence);                                                                                                    \
    note(sum);                                                                                                         \
  }

ORDERED(ordered_default, int, )
ORDERED(ordered_static, int, schedule(static, 2))
ORDERED(ordered_dynamic, int, schedule(dynamic, 3))
ORDERED(ordered_guided, int, schedule(guided))
ORDERED(ordered_runtime, int, schedule(runtime))
ORDERED(ordered_ull, ull, schedule(static, 3))
ORDERED(ordered_ull_dynamic, ull, schedule(dynamic))
ORDERED(ordered_ull_guided, ull, schedule(guided, 2))
ORDERED(ordered_ull_runtime, ull, schedule(runtime))

/* ---- doacross: each chain along the first dimension is a sequence ---- */

#define NEST1(type) for (type a = 1; a < 6; a++)
#define NEST2(type) NEST1(type) for (type b = 0; b < 3; b++)
#define NEST3(type) NEST2(type) for (type c = 0; c < 2; c++)
#define NEST4(type) NEST3(type) for (type d = 0; d < 2; d++)
#define NEST5(type) NEST4(type) for (type e = 0; e < 2; e++)
#define NEST6(type) NEST5(type) for (type f = 0; f < 2; f++)
#define NEST7(type) NEST6(type) for (type g = 0; g < 2; g++)
#define NEST8(type) NEST7(type) for (type h = 0; h < 2; h++)
#define PLACE1 0
#define PLACE2 b
#define PLACE3 PLACE2 * 2 + c
#define PLACE4 (PLACE3) * 2 + d
#define PLACE5 (PLACE4) * 2 + e
#define PLACE6 (PLACE5) * 2 + f
#define PLACE7 (PLACE6) * 2 + g
#define PLACE8 (PLACE7) * 2 + h
#define SINK1 a - 1
#define SINK2 SINK1, b
#define SINK3 SINK2, c
#define SINK4 SINK3, d
#define SINK5 SINK4, e
#define SINK6 SINK5, f
#define SINK7 SINK6, g
#define SINK8 SINK7, h

#define DOACROSS(name, dimensions, type, ...)                                                                          \
  static void name(void)                                                                                               \
  {                                                                                                                    \
    long chain[192] = {0}, sum = 0;                                                                                    \
    PRAGMA(omp parallel for ordered(dimensions) __VA_ARGS__)                                                           \
    NEST##dimensions(type)                                                                                             \
    {                                                                                                                  \
      PRAGMA(omp ordered depend(sink : SINK##dimensions))                                                              \
      chain[PLACE##dimensions] = chain[PLACE##dimensions] * 31 + (long)a;                                              \
      PRAGMA(omp ordered depend(source))                                                                               \
    }                                                                                                                  \
    for (int i = 0; i < 192; i++)                                                                                      \
      sum += chain[i] % 1000003 * (i + 1);                                                                             \
    note(sum);                                                                                                         \
  }

DOACROSS(doacross_1, 1, int, )
DOACROSS(doacross_1_dynamic, 1, long, schedule(dynamic))
DOACROSS(doacross_2, 2, int, schedule(static, 1))
DOACROSS(doacross_3, 3, int, schedule(dynamic, 1))
DOACROSS(doacross_4, 4, int, schedule(guided))
DOACROSS(doacross_5, 5, int, schedule(runtime))
DOACROSS(doacross_6, 6, int, schedule(dynamic, 3))
DOACROSS(doacross_7, 7, int, schedule(static, 2))
DOACROSS(doacross_8, 8, int, schedule(dynamic, 1))
DOACROSS(doacross_ull_1, 1, ull, schedule(dynamic, 1))
DOACROSS(doacross_ull_2, 2, ull, schedule(static, 1))
DOACROSS(doacross_ull_3, 3, ull, schedule(guided))
DOACROSS(doacross_ull_4, 4, ull, schedule(runtime))
DOACROSS(doacross_ull_5, 5, ull, schedule(dynamic))
DOACROSS(doacross_ull_6, 6, ull, )
DOACROSS(doacross_ull_7, 7, ull, schedule(static, 4))
DOACROSS(doacross_ull_8, 8, ull, schedule(dynamic, 5))

static void doacross_wavefront(void)
{
  static long cell[12][12];
  for (int i = 0; i < 12; i++)
    cell[i][0] = cell[0][i] = 1;
#pragma omp parallel for ordered(2) schedule(dynamic, 1)
  for (int i = 1; i < 12; i++)
    for (int k = 1; k < 12; k++) {
#pragma omp ordered depend(sink : i - 1, k) depend(sink : i, k - 1)
      cell[i][k] = cell[i - 1][k] + cell[i][k - 1];
#pragma omp ordered depend(source)
    }
  note(cell[11][11]);
}

/* ---- more on loops ---- */

/* Which thread gets which iteration of a static schedule, and the bounds of chunks that follow from the schedule. */
static void static_owners(void)
{
  int owner[200];
  long sum = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 100; i++)
      owner[i] = omp_get_thread_num();
#pragma omp for schedule(static, 3)
    for (int i = 100; i < 200; i++)
      owner[i] = omp_get_thread_num();
  }
  for (int i = 0; i < 200; i++)
    sum += owner[i] * hash(i);
  note(sum);
}

static void collapsed(void)
{
  long sum = 0;
#pragma omp parallel for collapse(3) schedule(dynamic, 5) reduction(+ : sum)
  for (int i = 0; i < 7; i++)
    for (long k = 9; k > 0; k -= 2)
      for (unsigned m = 0; m < 4; m++)
        sum += hash(i * 1000 + k * 10 + m);
#pragma omp parallel for collapse(2) reduction(+ : sum) /* not rectangular */
  for (int i = 0; i < 20; i++)
    for (int k = i; k < 20; k++)
      sum += hash(i * 20 + k);
  note(sum);
}

static void last_values(void)
{
  int last = -1, conditional = -1, section = -1;
#pragma omp parallel for lastprivate(last) schedule(dynamic, 3)
  for (int i = 0; i < 100; i++)
    last = i;
#pragma omp parallel for lastprivate(conditional : conditional) schedule(dynamic, 2)
  for (int i = 0; i < 100; i++)
    if (i % 7 == 3)
      conditional = i;
#pragma omp parallel sections lastprivate(section)
  {
    section = 1;
#pragma omp section
    section = 2;
  }
  note(last);
  note(conditional);
  note(section);
}

static void scans(void)
{
  long in[100], out[100], sum = 0, check = 0;
  for (int i = 0; i < 100; i++)
    in[i] = hash(i);
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < 100; i++) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
  for (int i = 0; i < 100; i++)
    check += out[i] % 1009 * i;
  sum = 0;
#pragma omp parallel
#pragma omp for reduction(inscan, + : sum)
  for (int i = 0; i < 100; i++) {
    out[i] = sum;
#pragma omp scan exclusive(sum)
    sum += in[i];
  }
  for (int i = 0; i < 100; i++)
    check += out[i] % 1009 * i;
  note(check);
  note(sum);
}

static void task_reductions(void)
{
  long a = 0, b = 0, c = 0, d = 0;
#pragma omp parallel reduction(task, + : a)
  {
    a++;
#pragma omp single nowait
    for (int i = 0; i < 20; i++)
#pragma omp task in_reduction(+ : a)
      a += i;
#pragma omp for reduction(task, + : b) schedule(dynamic)
    for (int i = 0; i < 20; i++)
#pragma omp task in_reduction(+ : b)
      b += hash(i);
#pragma omp sections reduction(task, + : c)
    {
#pragma omp task in_reduction(+ : c)
      c += 100;
#pragma omp section
#pragma omp task in_reduction(+ : c)
      c += 10;
    }
#pragma omp for reduction(task, + : d) ordered schedule(static, 1)
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
      d++;
#pragma omp task in_reduction(+ : d)
      d += 3;
    }
  }
  note(a - omp_get_max_threads());
  note(b);
  note(c);
  note(d);
}

static void simd_and_loop(void)
{
  long sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(simd : dynamic, 8)
  for (int i = 0; i < 1000; i++)
    sum += hash(i);
#pragma omp parallel loop reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += hash(i);
#pragma omp parallel for order(concurrent) reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += i;
  note(sum);
}

/* ---- regions ---- */

#define COMBINE(a, b) ((a) + (b))
struct pair {
  long low, high;
};
#pragma omp declare reduction(combine                                                                                  \
                              : struct pair                                                                            \
                              : omp_out.low += omp_in.low, omp_out.high ^= omp_in.high)                                \
    initializer(omp_priv = (struct pair){0, 0})

static void reductions(void)
{
  long sum = 1, product = 2, and = -1, or = 0, xor = 0, most = -5, least = 5;
  int both = 1, either = 0;
  long part[8] = {0};
  struct pair pair = {0, 0};
  double _Complex z = 0;
#pragma omp parallel for reduction(+ : sum, part[1 : 6], z) reduction(* : product) reduction(& : and)                  \
  reduction(| : or) reduction(^ : xor) reduction(max : most) reduction(min : least) reduction(&& : both)               \
  reduction(|| : either) reduction(combine : pair) schedule(dynamic, 2)
  for (int i = 0; i < 40; i++) {
    sum += i;
    product *= i % 5 ? 1 : 3;
    and &= ~(1 << i % 11);
    or |= 1 << i % 9;
    xor ^= hash(i);
    most = hash(i) > most ? hash(i) : most;
    least = -hash(i) < least ? -hash(i) : least;
    both = both && i < 100;
    either = either || i == 50;
    part[1 + i % 6] += i;
    pair.low += i;
    pair.high ^= hash(i);
    z += i + 2 * i * I;
  }
  const long all[] = {sum,    product, and,     or,       xor,       most,           least,         both,
                      either, part[1], part[6], pair.low, pair.high, (long)creal(z), (long)cimag(z)};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
    note(all[i]);
}

/* What each thread of a team sees: the size, its number, and the levels. */
static void team(int threads)
{
  long numbers = 0, sizes = 0, levels = 0;
#pragma omp parallel num_threads(threads) reduction(| : numbers) reduction(+ : sizes, levels)
  {
    numbers |= 1L << omp_get_thread_num();
    sizes += omp_get_num_threads();
    levels += omp_get_level() * 10 + omp_get_active_level() + 100 * omp_in_parallel();
  }
  note(numbers);
  note(sizes);
  note(levels);
}

static void teams_of_threads(void)
{
  for (int threads = 1; threads <= 5; threads++)
    team(threads);
  omp_set_num_threads(3);
  team(omp_get_max_threads());
  note(omp_get_max_threads());
}

static void parallel_clauses(void)
{
  long size = 0, first = 7, sum = 0;
  persistent = 11;
#pragma omp parallel if (0)
  size += omp_get_num_threads();
#pragma omp parallel num_threads(3) copyin(persistent) firstprivate(first) proc_bind(close) reduction(+ : sum)
  {
    persistent += omp_get_thread_num();
    first += persistent;
    sum += first;
  }
#pragma omp parallel num_threads(3) reduction(+ : size, sum) allocate(omp_default_mem_alloc : first) private(first)
  {
    first = persistent;
    sum += first;
    size += omp_get_num_threads();
  }
  note(size);
  note(sum);
}

static void dynamic_team(void)
{
  long sum = 0;
  omp_set_dynamic(1);
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += hash(i);
  omp_set_dynamic(0);
  note(sum);
}

static long nested_leaves;

static void descend(int depth)
{
  if (!depth) {
    long seen = omp_get_level() * 1000 + omp_get_active_level() * 100;
    for (int level = 0; level <= omp_get_level(); level++)
      seen += omp_get_ancestor_thread_num(level) * (level + 3) + omp_get_team_size(level);
#pragma omp atomic
    nested_leaves += seen;
    return;
  }
#pragma omp parallel num_threads(2)
  {
    descend(depth - 1);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 4; i++)
#pragma omp atomic
      nested_leaves += hash(i);
  }
}

static void nested_levels(void)
{
  for (int active = 1; active <= 4; active++) {
    omp_set_max_active_levels(active);
    nested_leaves = 0;
    descend(4);
    note(nested_leaves);
  }
  omp_set_max_active_levels(1);
}

/* ---- sections, single, masked, scope, barrier ---- */

static void sections(void)
{
  long sum = 0, part = 0;
#pragma omp parallel sections reduction(+ : sum)
  {
    sum += 1;
#pragma omp section
    sum += 20;
#pragma omp section
    sum += 300;
#pragma omp section
    sum += 4000;
  }
#pragma omp parallel
  {
#pragma omp sections nowait reduction(+ : part)
    {
      part += 1;
#pragma omp section
      part += 20;
    }
#pragma omp sections reduction(+ : sum)
    {
      sum += 50000;
#pragma omp section
      sum += 600000;
#pragma omp section
#pragma omp parallel sections num_threads(2) reduction(+ : sum)
      {
        sum += 7000000;
#pragma omp section
        sum += 80000000;
      }
    }
  }
  note(sum);
  note(part);
}

static void singles(void)
{
  long ran = 0, copied = 0, sum = 0, value = 0;
#pragma omp parallel firstprivate(value) reduction(+ : sum)
  {
    for (int i = 0; i < 50; i++) {
#pragma omp single nowait
#pragma omp atomic
      ran++;
#pragma omp single
      copied++;
#pragma omp single copyprivate(value)
      value = hash(i);
      sum += value;
    }
  }
  note(ran);
  note(copied);
  note(sum / omp_get_max_threads());
}

static void masked_and_scope(void)
{
  long masked = 0, filtered = 0, scoped = 0, loop = 0;
#pragma omp parallel
  {
#pragma omp masked
    masked += 1 + omp_get_thread_num();
#pragma omp masked filter(omp_get_num_threads() - 1)
    filtered += 100 + omp_get_thread_num();
#pragma omp scope reduction(+ : scoped)
    scoped += 1;
#pragma omp scope nowait reduction(+ : scoped)
    scoped += 10;
#pragma omp barrier
#pragma omp scope reduction(task, + : scoped)
    {
#pragma omp task in_reduction(+ : scoped)
      scoped += 100;
    }
  }
#pragma omp parallel masked taskloop reduction(+ : loop)
  for (int i = 0; i < 50; i++)
    loop += hash(i);
  note(masked);
  note(filtered);
  note(scoped);
  note(loop);
}

static void barriers(void)
{
  int phase[64] = {0}, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int i = 1; i <= 100; i++) {
    phase[omp_get_thread_num()] = i;
#pragma omp barrier
    for (int k = 0; k < omp_get_num_threads(); k++)
      wrong += phase[k] != i;
#pragma omp barrier
  }
  note(wrong);
}

/* ---- teams and targets, on the host ---- */

static void host_teams(void)
{
  long sum = 0, numbers = 0, threads = 0;
#pragma omp teams num_teams(3) reduction(+ : sum, threads) reduction(| : numbers)
  {
    numbers |= 1L << (omp_get_team_num() * 4 + omp_get_num_teams());
#pragma omp parallel reduction(+ : threads)
    threads++;
#pragma omp distribute parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
      sum += hash(i);
  }
#pragma omp teams distribute parallel for num_teams(2) reduction(+ : sum) dist_schedule(static, 5) schedule(dynamic)
  for (int i = 0; i < 100; i++)
    sum += hash(i);
  note(sum);
  note(numbers);
  note(threads);
}

static void targets(void)
{
  static long data[100];
  long sum = 0, *first = data;
#pragma omp target map(tofrom : data, sum)
  for (int i = 0; i < 100; i++)
    sum += data[i] = hash(i);
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += data[i];
#pragma omp target data map(tofrom : data)
  {
#pragma omp target update to(data)
#pragma omp target parallel for schedule(dynamic)
    for (int i = 0; i < 100; i++)
      data[i]++;
  }
#pragma omp target enter data map(to : first [0:10])
#pragma omp target nowait depend(out : data) map(first [0:10])
  first[0] += 5;
#pragma omp taskwait depend(in : data)
#pragma omp target exit data map(from : first [0:10])
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait map(data)
    data[1] += 3;
#pragma omp taskwait
  }
  for (int i = 0; i < 100; i++)
    sum += data[i];
  note(sum);
  note(omp_get_num_devices());
}

/* ---- cancellation: the others wait until it is seen, so that the counts are known ---- */

static void cancelled_loops(void)
{
  long loop = 0, ordered = 0, after = 0;
  const int on = omp_get_cancellation();
#pragma omp parallel reduction(+ : after)
  {
#pragma omp for schedule(dynamic) reduction(+ : loop)
    for (int i = 0; i < 100; i++) {
      if (i == 0) {
#pragma omp cancel for
      }
      while (on) {
#pragma omp cancellation point for
        sched_yield();
      }
      loop++;
    }
#pragma omp for schedule(static, 1) reduction(+ : ordered)
    for (int i = 0; i < 100; i++) {
      if (omp_get_thread_num() == 0) {
#pragma omp cancel for
      }
      while (on) {
#pragma omp cancellation point for
        sched_yield();
      }
      ordered++;
    }
    after++;
  }
  note(on);
  note(on ? 0 : loop);
  note(on ? 0 : ordered);
  note(after - omp_get_max_threads());
}

static void cancelled_sections(void)
{
  long ran = 0;
  const int on = omp_get_cancellation();
#pragma omp parallel
#pragma omp sections
  {
    {
#pragma omp cancel sections
#pragma omp atomic
      ran++;
    }
#pragma omp section
    {
      while (on) {
#pragma omp cancellation point sections
        sched_yield();
      }
#pragma omp atomic
      ran++;
    }
  }
  note(ran);
}

static void cancelled_regions(void)
{
  long after = 0, at_barrier = 0, in_loop = 0;
  const int on = omp_get_cancellation();
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
    while (on) {
#pragma omp cancellation point parallel
      sched_yield();
    }
#pragma omp atomic
    after++;
  }
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
    }
#pragma omp barrier
#pragma omp atomic
    at_barrier++;
  }
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 64; i++)
      sched_yield();
#pragma omp single
#pragma omp atomic
    in_loop++;
  }
  note(after);
  note(at_barrier);
  note(in_loop);
  team(omp_get_max_threads());
}

static void cancelled_tasks(void)
{
  long ran = 0, looped = 0, outside = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(outside)
#pragma omp atomic
    outside++;
#pragma omp taskgroup
    {
#pragma omp task shared(ran)
      {
#pragma omp cancel taskgroup
#pragma omp atomic
        ran++;
      }
#pragma omp taskwait
      for (int i = 0; i < 100; i++)
#pragma omp task shared(ran)
#pragma omp atomic
        ran++;
    }
#pragma omp taskloop grainsize(1) shared(looped)
    for (int i = 0; i < 100; i++) {
#pragma omp cancel taskgroup
#pragma omp cancellation point taskgroup
#pragma omp atomic
      looped++;
    }
  }
  note(ran);
  note(looped);
  note(outside);
}

#define ALL_LOOPS                                                                                                      \
  ROW(loop_default), ROW(loop_static_chunk), ROW(loop_static_empty), ROW(loop_dynamic), ROW(loop_dynamic_empty),       \
      ROW(loop_dynamic_one), ROW(loop_dynamic_down), ROW(loop_monotonic_dynamic), ROW(loop_nonmonotonic_dynamic),      \
      ROW(loop_guided), ROW(loop_guided_chunk), ROW(loop_monotonic_guided), ROW(loop_runtime),                         \
      ROW(loop_monotonic_runtime), ROW(loop_nonmonotonic_runtime), ROW(loop_auto), ROW(loop_ull_static),               \
      ROW(loop_ull_dynamic), ROW(loop_ull_monotonic_dynamic), ROW(loop_ull_down), ROW(loop_ull_guided),                \
      ROW(loop_ull_monotonic_guided), ROW(loop_ull_runtime), ROW(loop_ull_monotonic_runtime),                          \
      ROW(loop_ull_nonmonotonic_runtime)
#define ALL_ORDERED                                                                                                    \
  ROW(ordered_default), ROW(ordered_static), ROW(ordered_dynamic), ROW(ordered_guided), ROW(ordered_runtime),          \
      ROW(ordered_ull), ROW(ordered_ull_dynamic), ROW(ordered_ull_guided), ROW(ordered_ull_runtime), ROW(doacross_1),  \
      ROW(doacross_1_dynamic), ROW(doacross_2), ROW(doacross_3), ROW(doacross_4), ROW(doacross_5), ROW(doacross_6),    \
      ROW(doacross_7), ROW(doacross_8), ROW(doacross_ull_1), ROW(doacross_ull_2), ROW(doacross_ull_3),                 \
      ROW(doacross_ull_4), ROW(doacross_ull_5), ROW(doacross_ull_6), ROW(doacross_ull_7), ROW(doacross_ull_8),         \
      ROW(doacross_wavefront)

static const struct gomp_case rows[] = {
    ALL_LOOPS,
    ALL_ORDERED,
    ROW(static_owners),
    ROW(collapsed),
    ROW(last_values),
    ROW(scans),
    ROW(task_reductions),
    ROW(simd_and_loop),
    ROW(reductions),
    ROW(parallel_clauses),
    ROW(dynamic_team),
    ROW(nested_levels),
    ROW(sections),
    ROW(singles),
    ROW(masked_and_scope),
    ROW(barriers),
    ROW(cancelled_loops),
    ROW(cancelled_sections),
    ROW(cancelled_regions),
    ROW(cancelled_tasks),
    ROW(teams_of_threads), /* sets the number of threads */
    ROW(host_teams),
    ROW(targets), /* last: `nowait` outside of regions makes libgomp 12 hang in later regions */
};

int main(int argc, char **argv)
{
  return run_cases(rows, sizeof rows / sizeof *rows, argc, argv);
}
