/* Unloading of code: what was looked up by address becomes invalid.  Context: CTL. */
#include <dlfcn.h>

#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/sampling/unwind.h"

INTERPOSED int dlclose(void *handle)
{
  int (*real)(void *) = libc_real(LIBC_dlclose);
  int result = real(handle);
  if (process.active && rt_thread() && rt_enter(rt_thread())) {
    atomic_fetch_add(&rt.module_generation, 1);
    unwind_flush();
    rt_leave(rt_thread());
  } else {
    atomic_fetch_add(&rt.module_generation, 1);
  }
  return result;
}
