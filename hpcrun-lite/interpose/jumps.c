/* Jumps, which may lead out of a held call: a handler of the program that runs during the call does not return to it.
 * They may also lead out of tasks.  Context: CTL. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdint.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/core/rt.h"

/* The stack pointer to which a jump leads.  glibc mangles it: exclusive or with the thread's pointer guard, then
 * rotated left by 17. */
static uint64_t target_sp(const void *place)
{
  enum { STACK_POINTER = 6 }; /* index in jmp_buf */
  uint64_t sp = ((const uint64_t *)place)[STACK_POINTER];
  __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(sp) : : "cc");
  return sp;
}

static _Noreturn void jump(enum libc_call call, void *place, int value)
{
  void (*real)(void *, int) = libc_real(call);
  uint64_t sp = target_sp(place);
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
