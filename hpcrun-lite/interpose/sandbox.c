#define _GNU_SOURCE
#include "hpcrun-lite/interpose/sandbox.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "hpcrun-lite/control.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"

void sandbox_begins(unsigned long mode, const void *filter)
{
  if (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter))
    control_end_for_sandbox();
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
