#define _GNU_SOURCE
#include "hpcrun-lite/interpose/sandbox.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "hpcrun-lite/lifecycle.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/core/sys.h"

/* A child that lives in this memory (vfork) and has restricted itself.  It has the thread-local storage of the thread
 * that has made it, which waits for it: the process itself and its other threads are not restricted. */
static __thread int restricted_guest __attribute__((tls_model("initial-exec")));

void sandbox_begins(unsigned long mode, const void *filter)
{
  if (mode != SECCOMP_MODE_STRICT && (mode != SECCOMP_MODE_FILTER || !filter))
    return;
  lifecycle_end_early("the program restricts its system calls (seccomp)");
  if (!rt.pid || !rt_home.ours || rt.pid == sys_pid())
    process.restricted = true;
  else
    restricted_guest = sys_pid();
}

bool sandbox_is_entered(void)
{
  return process.restricted || (restricted_guest && restricted_guest == sys_pid());
}

void sandbox_traced(void)
{
  if (!process.active || rt.pid != sys_pid()) /* a vfork child has its parent's environment */
    return;
  lifecycle_end_early("the program is traced by its parent (ptrace)");
  unsetenv("HPCRUN_LITE_DIR");
}

INTERPOSED long ptrace(enum __ptrace_request request, ...)
{
  long (*real)(enum __ptrace_request, long, long, long) = libc_real(LIBC_ptrace);
  long arguments[3];
  va_list list;
  va_start(list, request);
  for (int i = 0; i < 3; i++)
    arguments[i] = va_arg(list, long);
  va_end(list);
  if (request == PTRACE_TRACEME)
    sandbox_traced();
  return real(request, arguments[0], arguments[1], arguments[2]);
}

INTERPOSED int prctl(int option, ...)
{
  int (*real)(int, unsigned long, unsigned long, unsigned long, unsigned long) = libc_real(LIBC_prctl);
  unsigned long arguments[4];
  va_list list;
  va_start(list, option);
  for (int i = 0; i < 4; i++)
    arguments[i] = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP)
    sandbox_begins(arguments[0], (const void *)arguments[1]);
  return real(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
