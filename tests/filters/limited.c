/* What a program does when the time of skip-first or only is over; the argument says which.
 *
 * sandboxed: may not set timers, and prints "done" after 0.6 s
 * awaits: waits for SIGURG, which nobody sends, for 0.6 s, and prints what it got
 * exits: ends within a region of two threads, after 0.8 s
 * waits: likewise, while the second thread waits at a barrier
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "burn.h"

static int sandboxed(void)
{
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 1;
  double until = wall_clock() + 0.6;
  while (wall_clock() < until)
    burn(0.0005);
  puts("done");
  return 0;
}

static int awaits(void)
{
  sigset_t urgent;
  siginfo_t info;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  sigprocmask(SIG_BLOCK, &urgent, NULL);
  int got = sigtimedwait(&urgent, &info, &(struct timespec){.tv_nsec = 600000000});
  printf("%d %s\n", got, got < 0 ? errno == EAGAIN ? "EAGAIN" : "another error" : "");
  return 0;
}

static int exits(void)
{
  double until = wall_clock() + 0.8;
#pragma omp parallel num_threads(2)
  {
    while (wall_clock() < until)
      burn(0.0005);
    if (omp_get_thread_num() == 0)
      exit(0);
    for (;;) /* the region does not end */
      burn(0.0005);
  }
  return 1;
}

static int waits(void)
{
  double until = wall_clock() + 0.8;
#pragma omp parallel num_threads(2)
  {
    while (omp_get_thread_num() == 0 && wall_clock() < until)
      burn(0.0005);
    if (omp_get_thread_num() == 0)
      exit(0);
#pragma omp barrier
  }
  return 1;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  return !strcmp(what, "sandboxed") ? sandboxed()
         : !strcmp(what, "awaits")  ? awaits()
         : !strcmp(what, "waits")   ? waits()
                                    : exits();
}
