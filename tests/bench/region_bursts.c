/* Regions of two threads in short bursts: region_bursts FORM SECONDS.  `region`: each thread works for about 9 us;
 * `loops`: three loops of about 12 us.  Other load on the machine disturbs most bursts, but hardly the shortest ones.
 * Between bursts, the threads hand a word to each other: that tells how near to each other their processors are, which
 * may change at any time on a virtual machine.  Prints the elapsed ns of a region where a word takes less than NEAR_NS,
 * and where it takes more: those of the fourth shortest burst, 0 where there were fewer; then how many bursts there
 * were of both kinds, and all together. */
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BURST = 20, HANDED = 64, NEAR_NS = 70, FAR_NS = 600, KEPT = 4, WARM = 100 };

static volatile unsigned long sink;
static _Alignas(128) atomic_int word;

static uint64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void grind(long steps)
{
  unsigned long x = (unsigned long)steps | 1;
  for (long i = 0; i < steps; i++)
    __asm__ volatile("imul %0, %0" : "+r"(x));
  sink = x;
}

static void region(void)
{
#pragma omp parallel num_threads(2)
  grind(9000);
}

static void loops(void)
{
#pragma omp parallel num_threads(2)
  for (int loop = 0; loop < 3; loop++) {
#pragma omp for
    for (int part = 0; part < 32; part++)
      grind(750);
  }
}

/* How many ns it takes until the other thread sees a word. */
static uint64_t distance(void)
{
  uint64_t since = 0, until = 0;
#pragma omp parallel num_threads(2)
  {
    int own = omp_get_thread_num();
#pragma omp barrier
    if (!own)
      since = now_ns();
    for (int i = 0; i < HANDED; i++) {
      while (atomic_load_explicit(&word, memory_order_acquire) != 2 * i + own)
        ;
      atomic_store_explicit(&word, 2 * i + own + 1, memory_order_release);
    }
#pragma omp barrier
    if (!own) {
      until = now_ns();
      word = 0;
    }
  }
  return (until - since) / (2 * HANDED);
}

static void keep(double least[KEPT], double ns)
{
  for (int i = 0; i < KEPT; i++)
    if (!least[i] || ns < least[i]) {
      double moved = least[i];
      least[i] = ns;
      ns = moved;
      if (!ns)
        return;
    }
}

int main(int argc, char **argv)
{
  void (*form)(void) = argc == 3 && !strcmp(argv[1], "loops") ? loops : region;
  if (argc != 3 || (form == region && strcmp(argv[1], "region") != 0))
    return 2;
  double seconds = atof(argv[2]), near[KEPT] = {0}, far[KEPT] = {0};
  for (int i = 0; i < WARM; i++)
    form();
  unsigned bursts[3] = {0};
  uint64_t begun = now_ns(), before = distance();
  do {
    uint64_t since = now_ns();
    for (int i = 0; i < BURST; i++)
      form();
    double ns = (double)(now_ns() - since) / BURST;
    uint64_t after = distance();
    bursts[2]++;
    if (before < NEAR_NS && after < NEAR_NS) {
      keep(near, ns);
      bursts[0]++;
    } else if (before >= NEAR_NS && after >= NEAR_NS && before < FAR_NS && after < FAR_NS) {
      keep(far, ns);
      bursts[1]++;
    }
    before = after;
  } while ((double)(now_ns() - begun) < seconds * 1e9);
  printf("%.0f %.0f %u %u %u\n", near[KEPT - 1], far[KEPT - 1], bursts[0], bursts[1], bursts[2]);
  return 0;
}
