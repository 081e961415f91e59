/* Creation of threads: each begins with thread_start().  Context: CTL. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/lifecycle.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/thread.h"

struct start {
  void *(*run)(void *);
  thrd_start_t run_c11;
  void *argument;
  uint32_t handed;
  uint8_t maker;
  struct own_signal_view view; /* of the creator */
};

static void *trampoline(void *argument)
{
  struct start start = *(struct start *)argument;
  free(argument);
  own_signal_view = (struct own_signal_view){.blocked = start.view.blocked, .mask = start.view.mask};
  thread_start(machine_sp(), start.handed, start.maker);
  void *result = start.run ? start.run(start.argument) : (void *)(intptr_t)start.run_c11(start.argument);
  __asm__ volatile("" ::: "memory"); /* not a tail call: this frame marks the end of the thread's stack */
  return result;
}

/* Constructors of libraries create threads (OpenBLAS's), before that of this library. */
static struct start *start_new(struct start start)
{
  struct start *copy = lifecycle_start() ? malloc(sizeof *copy) : NULL;
  if (copy) {
    *copy = start;
    copy->handed = thread_hand_over();
    copy->maker = thread_maker(start.run ? (const void *)start.run : (const void *)start.run_c11);
    copy->view = own_signal_view;
  }
  return copy;
}

INTERPOSED int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*run)(void *),
                              void *restrict argument)
{
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = libc_real(LIBC_pthread_create);
  struct start *start = start_new((struct start){.run = run, .argument = argument});
  if (!start)
    return real(thread, attr, run, argument);
  uint64_t began = rt_ticks();
  int error = real(thread, attr, trampoline, start);
  if (error)
    free(start);
  else
    thread_created(rt_ticks() - began);
  return error;
}

INTERPOSED int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
  int (*real)(thrd_t *, thrd_start_t, void *) = libc_real(LIBC_thrd_create);
  struct start *start = start_new((struct start){.run_c11 = run, .argument = argument});
  if (!start)
    return real(thread, run, argument);
  uint64_t began = rt_ticks();
  int error = real(thread, (thrd_start_t)(void (*)(void))trampoline, start);
  if (error != thrd_success)
    free(start);
  else
    thread_created(rt_ticks() - began);
  return error;
}
