#define _GNU_SOURCE
#include "hpcrun-lite/process/libc.h"

#include <dlfcn.h>
#include <string.h>

#define NAME(name) #name,
static const char *const names[] = {LIBC_CALLS(NAME)};
void *libc_addresses[LIBC_COUNT];

/* glibc has the condition variables in two versions; the older one takes another structure. */
void *libc_look_up(enum libc_call call)
{
  static const char condition[] = "pthread_cond_";
  void *found =
      strncmp(names[call], condition, sizeof condition - 1) ? NULL : dlvsym(RTLD_NEXT, names[call], "GLIBC_2.3.2");
  libc_addresses[call] = found ? found : dlsym(RTLD_NEXT, names[call]);
  return libc_addresses[call];
}

void libc_start(void)
{
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    libc_look_up(i);
}

void libc_sigmask(int how, const sigset_t *set, sigset_t *old)
{
  int (*real)(int, const sigset_t *, sigset_t *) = libc_real(LIBC_pthread_sigmask);
  real(how, set, old);
}
