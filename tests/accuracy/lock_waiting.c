/* Threads that wait for locks which others hold for a known time.  Prints how long the waiting took by the threads' own
 * clocks, as lines of `name seconds`. */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "burn.h"
#include "modes.h"

#define AFTERWARDS() __asm__ volatile("" ::: "memory") /* not a tail call */

enum { ROUNDS = 8, PAGE = 4096 };
static const double LONG = 0.03, SHORT = 0.01;

static double waited_cpu[2], waited_wall[2], delayed[2]; /* for the long and the short one */
static volatile int held;
static int ready;

/* The clocks of a waiting thread, started when the lock is held. */
struct wait {
  double cpu, wall, delay;
};

static struct wait wait_begin(void)
{
  double delay = delay_clock();
  __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
  while (!held)
    ;
  return (struct wait){burn_clock(), wall_clock(), delay};
}

static void wait_end(const struct wait *wait, int which)
{
  double cpu = burn_clock() - wait->cpu, wall = wall_clock() - wait->wall;
#pragma omp critical(clocks)
  {
    waited_cpu[which] += cpu;
    waited_wall[which] += wall;
    delayed[which] += delay_clock() - wait->delay;
  }
}

static void hold(double seconds)
{
  held = 1;
  burn(seconds);
}

static void until_ready(int waiters)
{
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < waiters)
    ;
}

static void end_round(void)
{
#pragma omp barrier
#pragma omp single
  held = ready = 0;
}

/* Thread 0 holds the lock, the others wait for it; then all meet. */
static void contest(void (*holder)(void), void (*waiter)(void))
{
#pragma omp barrier
  if (omp_get_thread_num() == 0) {
    until_ready(omp_get_num_threads() - 1);
    holder();
  } else {
    waiter();
  }
  end_round();
}

/* ---- user locks ---- */

static omp_lock_t lock_long, lock_short, lock_lonely;
static omp_nest_lock_t nest_long, nest_short;

NOINLINE void release_long(void) { omp_unset_lock(&lock_long); AFTERWARDS(); }
NOINLINE void release_short(void) { omp_unset_lock(&lock_short); AFTERWARDS(); }
NOINLINE void hold_lock_long(void) { omp_set_lock(&lock_long); hold(LONG); release_long(); AFTERWARDS(); }
NOINLINE void hold_lock_short(void) { omp_set_lock(&lock_short); hold(SHORT); release_short(); AFTERWARDS(); }

NOINLINE void wait_lock_long(void)
{
  struct wait wait = wait_begin();
  omp_set_lock(&lock_long);
  wait_end(&wait, 0);
  omp_unset_lock(&lock_long);
}

NOINLINE void wait_lock_short(void)
{
  struct wait wait = wait_begin();
  omp_set_lock(&lock_short);
  wait_end(&wait, 1);
  omp_unset_lock(&lock_short);
}

/* No thread waits for this lock. */
NOINLINE void lonely(void)
{
  for (int i = 0; i < 1000; i++) {
    omp_set_lock(&lock_lonely);
    omp_unset_lock(&lock_lonely);
  }
}

static void locks(void)
{
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++) {
    contest(hold_lock_long, wait_lock_long);
    contest(hold_lock_short, wait_lock_short);
#pragma omp single
    lonely();
  }
}

/* ---- releases that are tail calls into the runtime, when optimised ---- */

NOINLINE void jump_long(void) { omp_unset_lock(&lock_long); }
NOINLINE void jump_short(void) { omp_unset_lock(&lock_short); }
NOINLINE void hold_then_jump_long(void) { omp_set_lock(&lock_long); hold(LONG); jump_long(); AFTERWARDS(); }
NOINLINE void hold_then_jump_short(void) { omp_set_lock(&lock_short); hold(SHORT); jump_short(); AFTERWARDS(); }

static void jumps(void)
{
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++) {
    contest(hold_then_jump_long, wait_lock_long);
    contest(hold_then_jump_short, wait_lock_short);
  }
}

/* ---- nested locks: only the last release frees the lock ---- */

NOINLINE void hold_nest_long(void)
{
  omp_set_nest_lock(&nest_long);
  omp_set_nest_lock(&nest_long);
  hold(LONG);
  omp_unset_nest_lock(&nest_long);
  omp_unset_nest_lock(&nest_long);
  AFTERWARDS();
}

NOINLINE void hold_nest_short(void)
{
  omp_set_nest_lock(&nest_short);
  hold(SHORT);
  omp_unset_nest_lock(&nest_short);
  AFTERWARDS();
}

static void wait_nest_long(void)
{
  struct wait wait = wait_begin();
  omp_set_nest_lock(&nest_long);
  wait_end(&wait, 0);
  omp_unset_nest_lock(&nest_long);
}

static void wait_nest_short(void)
{
  struct wait wait = wait_begin();
  omp_set_nest_lock(&nest_short);
  wait_end(&wait, 1);
  omp_unset_nest_lock(&nest_short);
}

static void nest_locks(void)
{
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++) {
    contest(hold_nest_long, wait_nest_long);
    contest(hold_nest_short, wait_nest_short);
  }
}

/* ---- critical sections ---- */

NOINLINE void hold_critical_long(void)
{
#pragma omp critical(named)
  hold(LONG);
  AFTERWARDS();
}

NOINLINE void hold_critical_short(void)
{
#pragma omp critical
  hold(SHORT);
  AFTERWARDS();
}

static void wait_critical_long(void)
{
  struct wait wait = wait_begin();
#pragma omp critical(named)
  wait_end(&wait, 0);
}

static void wait_critical_short(void)
{
  struct wait wait = wait_begin();
#pragma omp critical
  wait_end(&wait, 1);
}

static void criticals(void)
{
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++) {
    contest(hold_critical_long, wait_critical_long);
    contest(hold_critical_short, wait_critical_short);
  }
}

/* ---- ordered: iteration 1 waits until iteration 0 has left its ordered block ---- */

static void ordered_iteration(int i, double seconds, int which, struct wait *wait)
{
  if (i == 0)
    hold(seconds);
  else
    wait_end(wait, which);
}

NOINLINE void ordered_loop(double seconds, int which)
{
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 2; i++) {
    struct wait wait = {0};
    if (i)
      wait = wait_begin();
#pragma omp ordered
    ordered_iteration(i, seconds, which, &wait);
  }
  end_round();
}

NOINLINE void hold_ordered_long(void) { ordered_loop(LONG, 0); AFTERWARDS(); }
NOINLINE void hold_ordered_short(void) { ordered_loop(SHORT, 1); AFTERWARDS(); }

static void ordered(void)
{
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++) {
    hold_ordered_long();
    hold_ordered_short();
  }
}

/* ---- atomics that GCC leaves to the runtime: its lock is held while the page of the variable is read ---- */

#ifndef __clang__
static long double *far_away, near_by;
static double fault_seconds;

static void on_fault(int signal, siginfo_t *info, void *context)
{
  (void)signal, (void)info, (void)context;
  hold(fault_seconds);
  mprotect(far_away, PAGE, PROT_READ | PROT_WRITE);
}

static void far_atomic(double seconds)
{
  fault_seconds = seconds;
  mprotect(far_away, PAGE, PROT_NONE);
#pragma omp atomic
  *far_away += 1;
}

static void near_atomic(int which)
{
  struct wait wait = wait_begin();
#pragma omp atomic
  near_by += 1;
  wait_end(&wait, which);
}

NOINLINE void hold_atomic_long(void) { far_atomic(LONG); AFTERWARDS(); }
NOINLINE void hold_atomic_short(void) { far_atomic(SHORT); AFTERWARDS(); }
NOINLINE void wait_atomic_long(void) { near_atomic(0); }
NOINLINE void wait_atomic_short(void) { near_atomic(1); }

static void atomics(void)
{
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  far_away = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaction(SIGSEGV, &action, NULL);
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++) {
    contest(hold_atomic_long, wait_atomic_long);
    contest(hold_atomic_short, wait_atomic_short);
  }
}
#else
static void atomics(void)
{
  exit(3);
}
#endif

/* ---- idleness charged with a lock wait: thread 0 holds the lock, thread 1 waits, the others are idle ---- */

NOINLINE void inherited_round(void)
{
#pragma omp barrier
  if (omp_get_thread_num() == 0) {
    until_ready(1);
    hold_lock_long();
  } else if (omp_get_thread_num() == 1) {
    wait_lock_long();
  }
  end_round();
}

static void inherited(void)
{
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++)
    inherited_round();
}

/* ---- omp_test_lock(): no waiting ---- */

NOINLINE void try_long(void)
{
  struct wait wait = wait_begin();
  while (!omp_test_lock(&lock_long))
    ;
  wait_end(&wait, 0);
  omp_unset_lock(&lock_long);
}

static void tried(void)
{
#pragma omp parallel
  for (int i = 0; i < ROUNDS; i++)
    contest(hold_lock_long, try_long);
}

static void init_locks(void)
{
  const char *hint = getenv("LOCK_HINT");
  omp_init_lock(&lock_long);
  omp_init_lock(&lock_short);
#ifdef __clang__ /* libgomp has no such function */
  if (hint) {
    omp_init_lock_with_hint(&lock_long, (omp_sync_hint_t)atoi(hint));
    omp_init_lock_with_hint(&lock_short, (omp_sync_hint_t)atoi(hint));
  }
#else
  (void)hint;
#endif
  omp_init_lock(&lock_lonely);
  omp_init_nest_lock(&nest_long);
  omp_init_nest_lock(&nest_short);
}

int main(int argc, char **argv)
{
  static const struct mode modes[] = {{"lock", locks},       {"jump", jumps},     {"nest", nest_locks},     {"critical", criticals},
               {"ordered", ordered}, {"atomic", atomics}, {"inherited", inherited}, {"tried", tried}};
  init_locks();
  if (!RUN_MODE(modes, argc, argv))
    return 2;
  say("long_cpu", waited_cpu[0]);
  say("long_wall", waited_wall[0]);
  say("short_cpu", waited_cpu[1]);
  say("short_wall", waited_wall[1]);
  say("long_delay", delayed[0]);
  say("short_delay", delayed[1]);
  return 0;
}
