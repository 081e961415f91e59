/* Jumps, which may lead out of a held call: a handler of the program that runs during the call does not return to it.
 * They may also lead out of tasks.  Context: CTL. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdint.h>

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/core/rt.h"

static _Noreturn void jump(enum libc_call call, void *place, int value)
{
  void (*real)(void *, int) = libc_real(call);
  uint64_t sp = machine_jump_sp(place);
  hold_leave(sp);
  rt_jump(sp);
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
