/* hpcrun-lite.h: functions by which a program controls and informs hpcrun-lite while it is measured.
 *
 * Header-only: no library to link with (glibc before 2.34: -ldl).  Each function is looked up once.  A program that
 * runs without hpcrun-lite, or under a version that lacks the function, runs unchanged, at the cost of a test for each
 * call.  All functions may be called from any thread.
 */
#ifndef HPCRUN_LITE_H
#define HPCRUN_LITE_H

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*hpcrun_lite_function)(const void *, uint64_t);

/* Called if the tool does not define the function. */
static __inline__ void hpcrun_lite_nothing(const void *text, uint64_t number)
{
  (void)text;
  (void)number;
}

/* The tool's function of that name, looked up at the first call. */
static __inline__ hpcrun_lite_function hpcrun_lite_find(hpcrun_lite_function *found, const char *name)
{
  hpcrun_lite_function function = __atomic_load_n(found, __ATOMIC_RELAXED);
  if (!function) {
    void *address = dlsym((void *)0, name); /* RTLD_DEFAULT */
    memcpy(&function, &address, sizeof function);
    if (!function)
      function = hpcrun_lite_nothing;
    __atomic_store_n(found, function, __ATOMIC_RELAXED);
  }
  return function;
}

/* Start or resume measuring the process. */
static __inline__ void hpcrun_lite_start(void)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_start")((const void *)0, 0);
}

/* Pause measuring the process. */
static __inline__ void hpcrun_lite_stop(void)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_stop")((const void *)0, 0);
}

/* Enter a named user region of the current task; regions nest.  Always inlined, so that the region appears below the
 * function that calls this. */
static __inline__ __attribute__((__always_inline__)) void hpcrun_lite_region_begin(const char *name)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_region_begin")(name, 0);
}

/* Leave the user region that was entered last. */
static __inline__ void hpcrun_lite_region_end(void)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_region_end")((const void *)0, 0);
}

/* Add to the work of the current task, in a unit of the program's choice. */
static __inline__ __attribute__((__always_inline__)) void hpcrun_lite_add_work(uint64_t units)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_add_work")((const void *)0, units);
}

/* Mark this moment: a line with that name on the timeline. */
static __inline__ void hpcrun_lite_mark(const char *name)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_mark")(name, 0);
}

/* Begin a user phase of the process, which ends the one before; NULL only ends that. */
static __inline__ void hpcrun_lite_phase(const char *name)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_phase")(name, 0);
}

/* Count an amount, 0 or more: number, sum, least and most of the values for each calling context and thread.  Integers,
 * so that sums are exact in any order.  Nothing is counted while measuring is paused. */
static __inline__ __attribute__((__always_inline__)) void hpcrun_lite_counter(const char *name, int64_t value)
{
  static hpcrun_lite_function found;
  hpcrun_lite_find(&found, "hpcrun_lite_tool_counter")(name, (uint64_t)value);
}

#ifdef __cplusplus
}
#endif

#endif
