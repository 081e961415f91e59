/* An OMPT tool with empty callbacks: it shows what the runtime itself spends on calling a tool.  They are those of -p
 * off, or with -DGRAPH those of the other modes (rt/ompt.c).  With -DCLOCK, they read the time-stamp counter once, as
 * every tool must that has exact times: those in which a wait begins or ends, with -DGRAPH all. */
#define _GNU_SOURCE
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

#include <stddef.h>

static __attribute__((unused)) void nothing(void)
{
}

#ifdef CLOCK
static _Thread_local unsigned long long moment __attribute__((tls_model("initial-exec")));

static void read_clock(void)
{
  moment = machine_ticks();
}
#else
#define read_clock nothing
#endif

#if defined GRAPH
#define other read_clock
#else
#define other nothing
#endif

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  static const struct {
    int event;
    void (*callback)(void);
  } events[] = {
      {ompt_callback_thread_begin, other},
      {ompt_callback_thread_end, other},
      {ompt_callback_parallel_begin, read_clock},
      {ompt_callback_parallel_end, read_clock},
      {ompt_callback_task_create, other},
      {ompt_callback_task_schedule, read_clock},
      {ompt_callback_implicit_task, other},
      {ompt_callback_control_tool, other},
      {ompt_callback_sync_region_wait, read_clock},
      {ompt_callback_mutex_released, other},
      {ompt_callback_mutex_acquire, read_clock},
      {ompt_callback_mutex_acquired, read_clock},
      {ompt_callback_nest_lock, other},
#ifdef GRAPH
      {ompt_callback_sync_region, other},
      {ompt_callback_work, other},
      {ompt_callback_dispatch, other},
      {ompt_callback_masked, other},
      {ompt_callback_dependences, other},
      {ompt_callback_lock_init, other},
      {ompt_callback_lock_destroy, other},
      {ompt_callback_cancel, other},
      {ompt_callback_target, other},
      {ompt_callback_target_emi, other},
      {ompt_callback_target_data_op_emi, other},
      {ompt_callback_target_submit_emi, other},
      {ompt_callback_device_initialize, other},
      {ompt_callback_device_finalize, other},
#endif
  };
  (void)device, (void)data;
  ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    set_callback(events[i].event, events[i].callback);
  return 1;
}

static void finalize(ompt_data_t *data)
{
  (void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version, (void)runtime;
  return &result;
}
