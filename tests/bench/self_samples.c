/* Samples that a program sends to itself: self_samples DEPTH COUNT spin|guess|time [BYTES].
 *
 * A signal without details, as the kernel sends it when it lacks memory, is handled like any sample.  The stack is
 * DEPTH frames deep, in one of several shapes.  Prints ns: the median of a signal with an empty handler, and the
 * additional time of the sample's handler, median and 95th percentile.  Before each signal the program touches BYTES of
 * memory, which replaces the contents of the caches.
 *
 * With "spin" it waits between samples in a loop of fixed length and prints nothing: for runs under valgrind.
 * With "guess" also, and each sample is taken in assembler without call frame information, called by a pointer. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SHAPES = 16, MOST = 100000, SPINS = 500000, REST = 4 };

static struct {
  int depth, count, spin, guess;
  size_t bytes;
  unsigned char *memory;
  double ns[MOST], empty[MOST];
} plan;

static double now_ns(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void nothing(int number, siginfo_t *info, void *context)
{
  (void)number, (void)info, (void)context;
}

/* Returns the CPU time of the signal; other threads may run meanwhile.  The tool refuses a sample that comes too early
 * after a long one: therefore the function waits. */
static double send(int number, bool throttled)
{
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = number;
  info.si_code = SI_USER; /* from process 0, the kernel */
  double began = now_ns(CLOCK_MONOTONIC), cpu_began = now_ns(CLOCK_THREAD_CPUTIME_ID);
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, &info);
  double used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_began, now = now_ns(CLOCK_MONOTONIC);
  for (double until = now + REST * (now - began); throttled && now < until;)
    now = now_ns(CLOCK_MONOTONIC);
  return used;
}

static void touch(void)
{
  for (size_t i = 0; i < plan.bytes; i += 64)
    plan.memory[i]++;
}

/* Measured natively, or only made to happen: under valgrind a signal is delivered some time after it was sent. */
static void sample(int i)
{
  if (plan.spin) {
    send(SIGURG, false);
    for (int n = 0; n < SPINS; n++)
      __asm__ volatile("");
    return;
  }
  touch();
  plan.empty[i] = send(SIGUSR1, false);
  touch();
  plan.ns[i] = send(SIGURG, true);
}

/* Its return address is neither at the stack pointer nor above the frame pointer. */
void by_hand(int i, void (*function)(int));
__asm__(".text\n.globl by_hand\n.type by_hand,@function\nby_hand:\n"
        "  push %rbx\n  sub $32, %rsp\n  movq $0, (%rsp)\n  movq $0, 8(%rsp)\n  movq $0, 16(%rsp)\n"
        "  movq $0, 24(%rsp)\n  call *%rsi\n  add $32, %rsp\n  pop %rbx\n  ret\n"
        ".size by_hand, .-by_hand\n");

/* At the innermost frame. */
static void take(int i)
{
  void (*volatile guessed)(int, void (*)(int)) = by_hand;
  if (plan.guess)
    guessed(i, sample);
  else
    sample(i);
}

__attribute__((noinline)) static int walk_left(int frames, unsigned shape, int i);

__attribute__((noinline)) static int walk_right(int frames, unsigned shape, int i)
{
  if (frames)
    return (shape & 1 ? walk_left : walk_right)(frames - 1, shape >> 1 | (shape & 1) << 3, i) + 2;
  take(i);
  return 1;
}

__attribute__((noinline)) static int walk_left(int frames, unsigned shape, int i)
{
  if (frames)
    return (shape & 1 ? walk_left : walk_right)(frames - 1, shape >> 1 | (shape & 1) << 3, i) + 1;
  take(i);
  return 0;
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
  if (argc < 4 || atoi(argv[2]) > MOST)
    return 2;
  plan.depth = atoi(argv[1]);
  plan.count = atoi(argv[2]);
  plan.guess = !strcmp(argv[3], "guess");
  plan.spin = plan.guess || !strcmp(argv[3], "spin");
  plan.bytes = argc > 4 ? (size_t)atol(argv[4]) : 0;
  plan.memory = calloc(plan.bytes + 1, 1);
  struct sigaction action = {.sa_sigaction = nothing, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < plan.count; i++)
    walk_left(plan.depth, (unsigned)i * 7 % SHAPES, i);
  if (plan.spin)
    return 0;
  qsort(plan.empty, (size_t)plan.count, sizeof(double), ascending);
  qsort(plan.ns, (size_t)plan.count, sizeof(double), ascending);
  double base = plan.empty[plan.count / 2];
  printf("%.0f %.0f %.0f\n", base, plan.ns[plan.count / 2] - base, plan.ns[plan.count * 95 / 100] - base);
  return 0;
}
