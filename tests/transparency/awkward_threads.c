/* Many threads.  argv[1]: churn (argv[2] short ones, one after another), many (argv[2] at once), nest (regions nested
 * argv[2] deep), sandbox (argv[2] that end while all of them enter one). */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

static pthread_barrier_t barrier;

static void *shortly(void *unused)
{
  for (volatile int i = 0; i < 1000; i++)
    ;
  return unused;
}

static void *together(void *unused)
{
  pthread_barrier_wait(&barrier);
  burn(0.0005);
  return unused;
}

static void churn(int count)
{
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, shortly, NULL);
    pthread_join(thread, NULL);
  }
}

static void many(int count)
{
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_barrier_init(&barrier, NULL, (unsigned)count);
  for (int i = 0; i < count; i++)
    if (pthread_create(&threads[i], &attributes, together, NULL))
      exit(3);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

static int nest(int depth)
{
  int count = 0;
  if (!depth) {
    burn(0.001);
    return 1;
  }
#pragma omp parallel num_threads(depth % 8 ? 1 : 2) reduction(+ : count)
  count += nest(depth - 1);
  return count;
}

static volatile int ending;

/* One thread after another ends, in some milliseconds. */
static void *until_the_end(void *number)
{
  while (!ending)
    ;
  for (volatile uintptr_t i = 20000 * (uintptr_t)number; i > 0; i--)
    ;
  return NULL;
}

#define FORBID(number)                                                                                                 \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* The sandbox kills whoever makes a system call that the end of a thread does not need. */
static void sandbox(uintptr_t count)
{
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               FORBID(SYS_clock_gettime),
                               FORBID(SYS_close),
                               FORBID(SYS_ioctl),
                               FORBID(SYS_rt_sigpending),
                               FORBID(SYS_rt_sigtimedwait),
                               FORBID(SYS_timer_delete),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  pthread_t *threads = calloc(count, sizeof *threads);
  for (uintptr_t i = 0; i < count; i++)
    pthread_create(&threads[i], NULL, until_the_end, (void *)i);
  burn(0.05);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ending = 1;
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
    exit(3);
  for (uintptr_t i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
  const char *which = argc > 1 ? argv[1] : "";
  int count = argc > 2 ? atoi(argv[2]) : 0;
  if (!strcmp(which, "churn"))
    churn(count);
  else if (!strcmp(which, "many"))
    many(count);
  else if (!strcmp(which, "sandbox"))
    sandbox((uintptr_t)count);
  else if (!strcmp(which, "nest")) {
    omp_set_max_active_levels(20);
    for (int i = 0; i < 10; i++)
      printf("%d leaves\n", nest(count));
  } else
    return 2;
  puts("done");
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (getenv("SHOW"))
    fprintf(stderr, "peak %ld\n", usage.ru_maxrss);
  return 0;
}
