/* Everything at once, while samples come at absurd rates.  Its answers follow from the number of rounds that it prints.
 *
 * stress mix WHAT SECONDS LIBRARY   rounds of regions, tasks, locks; beside them, by letters of WHAT: t threads that come
 *                                   and go, d dlopen and dlclose, s signals of all kinds, f forks
 * stress raw TIMES                  children made past libc's fork, which go on with regions
 * stress fp TIMES                   floating point: exceptions trap, another rounding, denormals are zero
 * stress many THREADS SECONDS       threads that sleep */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"
#include "hpcrun-lite.h"

static volatile int ended;
static uint64_t sum; /* the sum of everything that was reported */

static void spin(int turns)
{
  for (volatile int i = 0; i < turns; i++)
    ;
}

static void fail(const char *what, int number)
{
  printf("wrong: %s %d\n", what, number);
  fflush(stdout);
  _exit(1);
}

/* ---- a round: 962 units of work, a span of 181; monotonic loops: see waits.c ---- */

NOINLINE void u(int units)
{
  spin(500 * units);
  __atomic_fetch_add(&sum, (uint64_t)units, __ATOMIC_RELAXED);
  hpcrun_lite_add_work((uint64_t)units);
}

NOINLINE void loop_of_chunks(int threads)
{
#pragma omp parallel for num_threads(threads) schedule(monotonic : dynamic, 1)
  for (int i = 0; i < 16; i++)
    u(i + 1);
}

NOINLINE void nested(void)
{
#pragma omp parallel num_threads(3)
  {
    int number = omp_get_thread_num();
    u(2);
#pragma omp parallel num_threads(2)
    u(5 + number);
    u(3);
  }
}

NOINLINE int fib(int n)
{
  int a, b;
  u(1);
  if (n < 2)
    return n;
  if (n < 4)
    return fib(n - 1) + fib(n - 2);
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

NOINLINE void tree(int threads)
{
  int value = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  value = fib(12);
  if (value != 144)
    fail("fib", value);
}

NOINLINE void criticals(int threads)
{
#pragma omp parallel for num_threads(threads) schedule(monotonic : dynamic, 1)
  for (int i = 0; i < 10; i++) {
    u(3);
#pragma omp critical
    u(7);
  }
}

NOINLINE void chain(int threads)
{
  int x = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 10; i++) {
    u(2);
#pragma omp task depend(inout : x) shared(x)
    {
      u(10);
      x++;
    }
  }
  if (x != 10)
    fail("chain", x);
}

NOINLINE void in_order(int threads)
{
  int next = 0;
#pragma omp parallel for num_threads(threads) schedule(monotonic : dynamic, 1) ordered
  for (int i = 0; i < 10; i++) {
    u(6);
#pragma omp ordered
    {
      u(2);
      next += next == i;
    }
    u(1);
  }
  if (next != 10)
    fail("ordered", next);
}

static omp_lock_t lock;

NOINLINE void locks(int threads)
{
  int count = 0;
#pragma omp parallel num_threads(threads)
#pragma omp for schedule(static)
  for (int i = 0; i < 40; i++) {
    omp_set_lock(&lock);
    spin(200);
    count++;
    omp_unset_lock(&lock);
  }
  if (count != 40)
    fail("locks", count);
}

NOINLINE void one_round(int number)
{
  int threads = 2 + number % 3;
  loop_of_chunks(threads);
  nested();
  tree(threads);
  criticals(threads);
  chain(threads);
  in_order(threads);
  locks(number % 16 ? threads : 8);
}

/* ---- threads, libraries, signals and forks beside the rounds ---- */

static void *short_lived(void *argument)
{
  int *count = argument, here = 0;
#pragma omp parallel num_threads(2) reduction(+ : here)
  {
    spin(3000);
    here++;
  }
  __atomic_fetch_add(count, here, __ATOMIC_RELAXED);
  return NULL;
}

static void *plain(void *argument)
{
  spin(2000);
  __atomic_fetch_add((int *)argument, 1, __ATOMIC_RELAXED);
  return NULL;
}

static uint64_t churned, opened, forked, queued;

static void *churn(void *unused)
{
  enum { AT_ONCE = 4 };
  while (!ended) {
    pthread_t thread[AT_ONCE];
    int count = 0;
    for (int i = 0; i < AT_ONCE; i++)
      if (pthread_create(&thread[i], NULL, i ? plain : short_lived, &count))
        fail("pthread_create", i);
    for (int i = 0; i < AT_ONCE; i++)
      pthread_join(thread[i], NULL);
    if (count != AT_ONCE + 1)
      fail("threads", count);
    churned++;
  }
  return unused;
}

static const char *library;

static void *reopen(void *unused)
{
  while (!ended) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int (*function)(int) = handle ? (int (*)(int))dlsym(handle, "plugin") : NULL;
    if (!function || function(3000) != 3000)
      fail("dlopen", (int)opened);
    dlclose(handle);
    opened++;
  }
  return unused;
}

static void *fork_on(void *unused)
{
  while (!ended) {
    pid_t child = forked % 3 == 2 ? _Fork() : fork();
    if (child < 0)
      fail("fork", errno);
    if (!child) {
      spin(20000);
      _exit(7);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
      fail("child", status);
    forked++;
    sched_yield();
  }
  return unused;
}

static volatile uint64_t received, others;

static void on_queued(int number, siginfo_t *info, void *context)
{
  (void)number, (void)context;
  int saved_errno = errno;
  received += (uint64_t)info->si_value.sival_int == 5;
  errno = saved_errno;
}

static void on_other(int number)
{
  (void)number;
  spin(50);
  others++;
}

static pthread_t main_thread;

static void *storm(void *unused)
{
  while (!ended) {
    pthread_kill(main_thread, SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    if (queued - received < 100) /* their number is limited for all processes of a user */
      queued += pthread_sigqueue(main_thread, SIGRTMIN, (union sigval){.sival_int = 5}) == 0;
    spin(5000);
    sched_yield();
  }
  return unused;
}

static void timers(long period_us)
{
  static const int which[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  for (int i = 0; i < 3; i++) {
    struct itimerval value = {{0, period_us ? period_us + 100 * i : 0}, {0, period_us ? period_us : 0}};
    setitimer(which[i], &value, NULL);
  }
}

static void handlers(void)
{
  struct sigaction other = {.sa_handler = on_other, .sa_flags = SA_RESTART},
                   exact = {.sa_sigaction = on_queued, .sa_flags = SA_RESTART | SA_SIGINFO};
  static const int numbers[] = {SIGUSR1, SIGALRM, SIGVTALRM, SIGPROF};
  for (int i = 0; i < 4; i++)
    sigaction(numbers[i], &other, NULL);
  sigaction(SIGRTMIN, &exact, NULL);
}

/* All other threads have ended: there is no idleness. */
NOINLINE void alone(void)
{
  burn(0.3);
}

NOINLINE void all_busy(void)
{
#pragma omp parallel num_threads(2)
  for (double end = wall_clock() + 0.4; wall_clock() < end;)
    spin(20000);
}

static void mix(const char *what, double seconds)
{
  static const struct {
    char letter;
    void *(*run)(void *);
  } helpers[] = {{'t', churn}, {'d', reopen}, {'f', fork_on}, {'s', storm}};
  pthread_t thread[4];
  main_thread = pthread_self();
  handlers();
  for (int i = 0; i < 4; i++)
    if (strchr(what, helpers[i].letter))
      pthread_create(&thread[i], NULL, helpers[i].run, NULL);
  if (strchr(what, 's'))
    timers(300);
  int rounds = 0;
  for (double end = wall_clock() + seconds; wall_clock() < end; rounds++)
    one_round(rounds);
  ended = 1;
  timers(0);
  for (int i = 0; i < 4; i++)
    if (strchr(what, helpers[i].letter))
      pthread_join(thread[i], NULL);
  alone();
  all_busy();
  printf("rounds %d\nsum %llu\nqueued %lld\n", rounds, (unsigned long long)sum, (long long)(queued - received));
  printf("churned %llu\nopened %llu\nforked %llu\nothers %llu\n", (unsigned long long)churned,
         (unsigned long long)opened, (unsigned long long)forked, (unsigned long long)others);
}

/* ---- children made without the fork of libc ---- */

/* Teams of one thread: the workers of the runtime do not exist in the child. */
static void child_regions(void)
{
  for (int i = 0; i < 200; i++) {
    int count = 0;
#pragma omp parallel num_threads(1) reduction(+ : count)
    {
#pragma omp critical
      u(1000);
#pragma omp task shared(count)
      count++;
      free(malloc(5000));
    }
    if (count != 1)
      _exit(1);
  }
  pthread_t thread;
  int ran = 0;
  if (pthread_create(&thread, NULL, plain, &ran) || pthread_join(thread, NULL) || ran != 1)
    _exit(2);
  burn(0.01);
}

static void raw(int times)
{
  for (int i = 0; i < times; i++) {
    one_round(1);
    pid_t child = i % 3 == 0   ? _Fork()
                  : i % 3 == 1 ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)
                               : (pid_t)syscall(SYS_fork);
    if (!child) {
      child_regions();
      _exit(7);
    }
    int status = 0;
    one_round(1); /* at the same time */
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
      fail("child", status);
  }
  printf("rounds %d\nsum %llu\n", 2 * times, (unsigned long long)sum);
}

/* ---- floating point ---- */

/* Exceptions trap, results are rounded up, and denormals are zero. */
enum { STRICT = 0x8040 | 0x4000 };

static unsigned had;

static void be_strict(void)
{
  __builtin_ia32_ldmxcsr(STRICT);
}

static void check_strict(void)
{
  unsigned now = __builtin_ia32_stmxcsr();
  if (now != STRICT)
    fail("floating point", (int)now);
}

/* Only integers: the computations of the runtime between begin and end of a team are not tested. */
NOINLINE void strict_round(void)
{
  be_strict();
#pragma omp parallel num_threads(2)
  {
    be_strict();
#pragma omp critical
    u(7);
#pragma omp for schedule(monotonic : dynamic, 1)
    for (int i = 0; i < 8; i++)
      u(3);
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task
      u(2);
    }
    omp_set_lock(&lock);
    spin(3000);
    omp_unset_lock(&lock);
    check_strict();
  }
  check_strict();
  pthread_t thread;
  int ran = 0;
  if (pthread_create(&thread, NULL, plain, &ran) || pthread_join(thread, NULL))
    fail("thread", 0);
  check_strict();
  __builtin_ia32_ldmxcsr(had);
}

static void fp(int times)
{
  had = __builtin_ia32_stmxcsr();
  for (int i = 0; i < times; i++)
    strict_round();
  alone();
  printf("rounds %d\nsum %llu\n", times, (unsigned long long)sum);
}

/* ---- threads that sleep ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* A wait that the tool does not see: sampling continues. */
static void *sleeper(void *unused)
{
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return unused;
}

static void many(int threads, int seconds)
{
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 65536);
  double began = wall_clock();
  pthread_mutex_lock(&gate);
  for (int i = 0; thread && i < threads; i++)
    if (pthread_create(&thread[i], &attr, sleeper, NULL))
      fail("pthread_create", i);
  burn(seconds);
  pthread_mutex_unlock(&gate);
  for (int i = 0; thread && i < threads; i++)
    pthread_join(thread[i], NULL);
  printf("elapsed %.6f\n", wall_clock() - began);
  free(thread);
}

int main(int argc, char **argv)
{
  const char *mode = argc > 2 ? argv[1] : "";
  omp_set_max_active_levels(4);
  omp_init_lock(&lock);
  if (!strcmp(mode, "mix") && argc > 4) {
    library = argv[4];
    mix(argv[2], atof(argv[3]));
  } else if (!strcmp(mode, "raw")) {
    raw(atoi(argv[2]));
  } else if (!strcmp(mode, "fp")) {
    fp(atoi(argv[2]));
  } else if (!strcmp(mode, "many") && argc > 3) {
    many(atoi(argv[2]), atoi(argv[3]));
  } else {
    return 2;
  }
  return 0;
}
