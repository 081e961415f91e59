/* A program that treats signals as the runtime of Go does.  Its threads run on stacks that are too small for a signal's
 * frame, so every handler must run on the alternate stack; it sets masks and alternate stacks by raw system calls,
 * interrupts its threads with SIGURG, and ends by a raw system call.  argv[1]: the size of the alternate stacks, 0 = as
 * small as possible. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "leaf_work.h"

enum { THREADS = 3, ROOM = 1024, BELOW = 8192 };

static size_t size;
static volatile bool requested[THREADS]; /* to interrupt the thread: the signal is on its way */
static volatile int interrupted[THREADS];
static volatile int ids[THREADS];
static volatile bool finished[THREADS], stopped[THREADS]; /* the thread works no more; it gets no further requests */
static __thread int self = -1;

static long raw(long number, long a, long b, long c, long d)
{
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
  static const char said[] = "signal, but handler not on signal stack\n";
  const stack_t *stack = &((ucontext_t *)context)->uc_stack;
  if ((uintptr_t)&number - (uintptr_t)stack->ss_sp >= stack->ss_size) {
    raw(SYS_write, 2, (long)said, sizeof said - 1, 0);
    raw(SYS_exit_group, 2, 0, 0, 0);
  }
  if (number == SIGURG && info->si_code == SI_TKILL && self >= 0)
    interrupted[self] += requested[self], requested[self] = false;
}

static void set_alternate_stack(void)
{
  char *memory = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, 4096, PROT_NONE);
  stack_t stack = {.ss_sp = memory + 4096, .ss_size = size};
  raw(SYS_sigaltstack, (long)&stack, 0, 0, 0);
}

static void set_handlers(void)
{
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
  for (int number = 1; number < SIGRTMIN; number++)
    sigaction(number, &action, NULL);
}

static void work(void)
{
  leaf_work(0.03);
}

/* Calls it on a stack of its own.  Returns what was written below that stack, in bytes. */
static size_t on_small_stack(void (*called)(void))
{
  static __thread char memory[BELOW + ROOM] __attribute__((aligned(16)));
  memset(memory, 0xa5, sizeof memory);
  __asm__ volatile("movq %%rsp, %%rbx\n"
                   "movq %1, %%rsp\n"
                   "call *%0\n"
                   "movq %%rbx, %%rsp\n"
                   :
                   : "r"(called), "r"(memory + sizeof memory)
                   : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
                     "xmm4", "xmm5", "xmm6", "xmm7", "memory", "cc");
  size_t untouched = 0;
  while (untouched < BELOW && memory[untouched] == (char)0xa5)
    untouched++;
  return BELOW - untouched;
}

static void *thread(void *number)
{
  uint64_t none = 0;
  self = (int)(intptr_t)number;
  set_alternate_stack();
  raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, 8);
  ids[self] = (int)raw(SYS_gettid, 0, 0, 0, 0);
  size_t written = 0;
  for (int i = 0; i < 10; i++)
    written += on_small_stack(work);
  finished[self] = true;
  for (int i = 0; i < 1000 && (!stopped[self] || requested[self]); i++)
    usleep(1000);
  return (void *)written;
}

static void *thread_joined(pthread_t thread)
{
  void *result;
  pthread_join(thread, &result);
  return result;
}

/* Interrupts the threads while they work, each again when it was interrupted. */
static void interrupt_all(void)
{
  for (int left = THREADS; left > 0; usleep(200))
    for (int i = 0; i < THREADS; i++)
      if (finished[i] && !stopped[i]) {
        stopped[i] = true;
        left--;
      } else if (!finished[i] && ids[i] && !requested[i]) {
        requested[i] = true;
        raw(SYS_tgkill, getpid(), ids[i], SIGURG, 0);
      }
}

int main(int argc, char **argv)
{
  pthread_t threads[THREADS];
  sigset_t all, before;
  size = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
  if (!size)
    size = ((size_t)sysconf(_SC_MINSIGSTKSZ) + 1024 + 4095) / 4096 * 4096;
  work(); /* binds its functions: the dynamic linker needs more stack */
  set_alternate_stack();
  set_handlers();
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (intptr_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, thread, (void *)i);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  interrupt_all();
  for (int i = 0; i < THREADS; i++) {
    size_t written = (size_t)thread_joined(threads[i]);
    printf("thread %d: interrupted %d, request lost %d, %zu bytes written below its stack\n", i, interrupted[i] > 10,
           requested[i], written);
  }
  fflush(stdout);
  raw(SYS_exit_group, 3, 0, 0, 0);
}
