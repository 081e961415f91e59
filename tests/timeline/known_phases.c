/* Programs that print when their phases begin and end: known_phases FORM.  A line is: what, number of the thread, begin
 * and end in ns of CLOCK_REALTIME. */
#define _GNU_SOURCE
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite.h"

#define NOINLINE __attribute__((noinline))

enum { MS = 1000000 };

static int64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline __attribute__((always_inline)) void spin(int64_t ms)
{
  for (int64_t end = now_ns() + ms * MS; now_ns() < end;)
    for (volatile int i = 0; i < 1000; i++)
      continue;
}

static struct {
  const char *what;
  int thread;
  int64_t begin, end;
} said[1000];
static int count;

static void say(const char *what, int thread, int64_t begin, int64_t end)
{
  int i = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  said[i].what = what;
  said[i].thread = thread;
  said[i].begin = begin;
  said[i].end = end;
}

static void print(void)
{
  for (int i = 0; i < count; i++)
    printf("%s %d %lld %lld\n", said[i].what, said[i].thread, (long long)said[i].begin, (long long)said[i].end);
  fflush(stdout);
}

NOINLINE static void slow(int64_t ms)
{
  spin(ms);
  __asm__ volatile("");
}

NOINLINE static void quick(int64_t ms)
{
  spin(ms);
  __asm__ volatile("");
}

NOINLINE static void holder(int64_t ms)
{
  spin(ms);
  __asm__ volatile("");
}

/* The threads exist, samples have been taken, and idle threads have gone to sleep. */
static void warm_up(void)
{
#pragma omp parallel num_threads(2)
  spin(5);
  spin(5);
}

/* The first wait in a place takes longer, because the tool finds its context. */
static void at_barrier(int64_t ms, int64_t *arrived, int64_t *left)
{
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    if (me)
      quick(ms / 6);
    else
      slow(ms);
    arrived[me] = now_ns();
#pragma omp barrier
    left[me] = now_ns();
    spin(1);
  }
}

static void at_lock(int64_t ms, int64_t *asked, int64_t *got, int64_t *gave)
{
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    if (me)
      spin(ms / 6);
    asked[me] = now_ns();
#pragma omp critical
    {
      got[me] = now_ns();
      if (!me)
        holder(ms);
      gave[me] = now_ns();
    }
  }
}

static void states(void)
{
  static int64_t arrived[2], left[2], asked[2], got[2], gave[2];
  warm_up();
  int64_t begin = now_ns();
  slow(30);
  say("parked", 1, begin, now_ns()); /* the other thread */
  for (int i = 0; i < 5; i++) {
    at_barrier(20, arrived, left);
    say("barrier", 1, arrived[1], arrived[0]);
    say("barrier ends", 1, arrived[0], left[1]);
    at_lock(20, asked, got, gave);
    say("lock", 1, asked[1], got[1]);
    say("lock ends", 1, gave[0], got[1]);
  }
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task
    {
      int64_t start = now_ns();
      spin(3);
      say("task", omp_get_thread_num(), start, now_ns());
    }
  }
  for (int i = 0; i < 3; i++) {
    begin = now_ns();
    usleep(30000);
    int64_t end = now_ns();
    say("sleep", 0, begin, end);
    say("sleep ends", 0, begin + 30 * MS, end);
    spin(2);
  }
}

/* Measuring is paused while all threads work, while one waits, and outside regions. */
static void pauses(void)
{
  static int64_t begin, end;
  warm_up();
  begin = now_ns();
  hpcrun_lite_stop();
  say("stop", 0, begin, now_ns());
  spin(20);
  begin = now_ns();
  hpcrun_lite_start();
  say("start", 0, begin, now_ns());
  spin(10);
#pragma omp parallel num_threads(2)
  {
    spin(10);
    if (!omp_get_thread_num()) {
      int64_t before = now_ns();
      hpcrun_lite_stop();
      say("stop", 0, before, now_ns());
      spin(20);
      before = now_ns();
      hpcrun_lite_start();
      say("start", 0, before, now_ns());
      spin(30);
    } else {
      spin(10);
    }
  }
  usleep(10000);
}

/* So many critical sections. */
static void sections(long count)
{
  for (volatile long i = 0; i < count; i++) {
#pragma omp critical
    __asm__ volatile("");
  }
}

/* The first thread writes more than the limit; then the other one drops a part of it.  They are killed while they work.
 */
static void killed_beyond_the_limit(void)
{
  static volatile int step;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num()) {
    sections(1);
    for (step = 1; step != 2;)
      continue;
    sections(20000);
    step = 3;
    spin(1000);
  } else {
    while (step != 1)
      continue;
    sections(150000);
    for (step = 2; step != 3;)
      continue;
    spin(60);
    kill(getpid(), SIGKILL);
  }
}

/* Killed in a state, which the parent process says; the child's threads are killed there. */
static void killed(const char *where)
{
  if (!strcmp(where, "serial")) {
    spin(100);
    kill(getpid(), SIGKILL);
  }
  if (!strcmp(where, "limit"))
    killed_beyond_the_limit();
  warm_up();
  int64_t begin = now_ns();
  if (!strcmp(where, "sleep")) {
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num()) {
        usleep(1000000);
      } else {
        spin(60);
        kill(getpid(), SIGKILL);
      }
    }
  }
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num()) {
      spin(10);
      if (!strcmp(where, "work"))
        slow(1000);
      if (!strcmp(where, "lock")) {
#pragma omp critical
        spin(1);
      }
    } else {
#pragma omp critical
      {
        spin(60);
        kill(getpid(), SIGKILL);
      }
    }
  }
  say("never", 0, begin, now_ns());
}

static void *short_lived(void *unused)
{
  spin(1);
  return unused;
}

static void forks(void)
{
  warm_up();
  pid_t child = fork();
  if (!child) { /* GCC's runtime has no regions in a child */
    pthread_t thread;
    pthread_create(&thread, NULL, short_lived, NULL);
    spin(20);
    pthread_join(thread, NULL);
    _exit(0);
  }
#pragma omp parallel num_threads(2)
  spin(20);
  waitpid(child, NULL, 0);
#pragma omp parallel num_threads(2)
  spin(10);
}

enum { AT_ONCE = 4 };

/* Ends when the others have begun. */
static void *one_of_several(void *unused)
{
  static atomic_int begun;
  int all = atomic_fetch_add(&begun, 1) / AT_ONCE * AT_ONCE + AT_ONCE;
  do
    spin(1);
  while (atomic_load(&begun) < all);
  return unused;
}

/* Threads without OpenMP; some at once. */
static void threads(void)
{
  for (int i = 0; i < 25; i++) {
    pthread_t all[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++)
      pthread_create(&all[k], NULL, one_of_several, NULL);
    for (int k = 0; k < AT_ONCE; k++)
      pthread_join(all[k], NULL);
  }
}

static void *sleeper(void *unused)
{
  usleep(10000000);
  return unused;
}

/* A thread sleeps when the process ends. */
static void asleep_at_the_end(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, sleeper, NULL);
  spin(50);
}

/* Sleeps in read(), which is not intercepted, between short regions. */
static void reads(void)
{
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  for (int i = 0; i < 4; i++) {
    struct itimerspec in = {.it_value = {.tv_nsec = 60 * MS}};
    uint64_t expired;
    timerfd_settime(timer, 0, &in, NULL);
    if (read(timer, &expired, sizeof expired) != sizeof expired)
      exit(1);
    if (i < 3)
#pragma omp parallel num_threads(2)
      spin(4);
  }
}

static void ends(const char *how)
{
  warm_up();
  if (!strcmp(how, "abort"))
    abort();
  if (!strcmp(how, "_exit"))
    _exit(3);
  if (!strcmp(how, "exec"))
    execl("/bin/true", "true", (char *)NULL);
#pragma omp parallel num_threads(2)
  if (!omp_get_thread_num()) {
    spin(10); /* the other thread waits */
    execl("/does/not/exist", "true", (char *)NULL);
    spin(10);
  }
  warm_up();
}

static sigjmp_buf target;

static void on_alarm(int number)
{
  (void)number;
  siglongjmp(target, 1);
}

/* Leaves a call in which it sleeps by a jump out of a signal handler. */
static void jumps(void)
{
  signal(SIGALRM, on_alarm);
  for (int i = 0; i < 5; i++) {
    int64_t begin = now_ns();
    if (!sigsetjmp(target, 1)) {
      ualarm(10000, 0);
      usleep(1000000);
    }
    say("sleep", 0, begin, now_ns());
    spin(5);
  }
}

/* Each is a phase, with the short serial time after it. */
static void regions(void)
{
#pragma omp parallel num_threads(2)
  usleep(20000);
#pragma omp parallel num_threads(2)
  usleep(30000);
#pragma omp parallel num_threads(2)
  usleep(10000);
}

static int ready[2];
static volatile int handled;

/* Calls that might sleep, so many that what they write takes several windows. */
static void on_alarm_poll(int number)
{
  struct pollfd one = {.fd = ready[0], .events = POLLIN};
  for (int i = 0; i < 10000; i++)
    poll(&one, 1, -1);
  handled++;
  (void)number;
}

/* A signal handler that sleeps interrupts state changes. */
static void handlers(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  if (pipe(ready) || write(ready[1], "x", 1) != 1)
    return;
  signal(SIGALRM, on_alarm_poll);
  for (int asked = 0; handled < 12;) {
    if (asked == handled) {
      asked++;
      ualarm(500, 0);
    }
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
  }
}

/* So many tasks, and critical sections: state changes without pause. */
static void many(long tasks)
{
  volatile long sum = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 100)
    for (long i = 0; i < tasks; i++) {
#pragma omp critical
      sum = sum + 1;
    }
#pragma omp single
    for (long i = 0; i < tasks; i++) {
#pragma omp task
      sum = sum + 1;
    }
  }
  printf("%ld\n", tasks);
}

int main(int argc, char **argv)
{
  const char *form = argc > 1 ? argv[1] : "", *more = argc > 2 ? argv[2] : "";
  if (!strcmp(form, "states"))
    states();
  else if (!strcmp(form, "pauses"))
    pauses();
  else if (!strcmp(form, "killed"))
    killed(more);
  else if (!strcmp(form, "forks"))
    forks();
  else if (!strcmp(form, "threads"))
    threads();
  else if (!strcmp(form, "asleep"))
    asleep_at_the_end();
  else if (!strcmp(form, "reads"))
    reads();
  else if (!strcmp(form, "ends"))
    ends(more);
  else if (!strcmp(form, "jumps"))
    jumps();
  else if (!strcmp(form, "regions"))
    regions();
  else if (!strcmp(form, "handlers"))
    handlers();
  else if (!strcmp(form, "many"))
    many(atol(more));
  else
    return 2;
  print();
  return 0;
}
