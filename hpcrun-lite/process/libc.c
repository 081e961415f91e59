#define _GNU_SOURCE
#include "hpcrun-lite/process/libc.h"

#include <dlfcn.h>
#include <string.h>

#define NAME(name) #name,
static const char *const names[] = {LIBC_CALLS(NAME)};
static void *known[sizeof names / sizeof *names];

/* glibc has the condition variables in two versions; the older one takes another structure. */
static void *look_up(enum libc_call call)
{
  static const char condition[] = "pthread_cond_";
  void *found =
      strncmp(names[call], condition, sizeof condition - 1) ? NULL : dlvsym(RTLD_NEXT, names[call], "GLIBC_2.3.2");
  known[call] = found ? found : dlsym(RTLD_NEXT, names[call]);
  return known[call];
}

void libc_start(void)
{
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    look_up(i);
}

void *libc_real(enum libc_call call)
{
  return known[call] ? known[call] : look_up(call);
}

void libc_sigmask(int how, const sigset_t *set, sigset_t *old)
{
  int (*real)(int, const sigset_t *, sigset_t *) = libc_real(LIBC_pthread_sigmask);
  real(how, set, old);
}
