/* Jumps, which may lead out of a held call: a handler of the program that runs during the call does not return to it.
 * Context: CTL. */
#define _GNU_SOURCE
#include <setjmp.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"

static _Noreturn void jump(enum libc_call call, void *place, int value)
{
  void (*real)(void *, int) = libc_real(call);
  hold_leave();
  real(place, value);
  __builtin_unreachable();
}

INTERPOSED void longjmp(jmp_buf place, int value)
{
  jump(LIBC_longjmp, place, value);
}

INTERPOSED void _longjmp(jmp_buf place, int value)
{
  jump(LIBC__longjmp, place, value);
}

INTERPOSED void siglongjmp(sigjmp_buf place, int value)
{
  jump(LIBC_siglongjmp, place, value);
}

_Noreturn void __longjmp_chk(jmp_buf place, int value);
INTERPOSED void __longjmp_chk(jmp_buf place, int value)
{
  jump(LIBC___longjmp_chk, place, value);
}
