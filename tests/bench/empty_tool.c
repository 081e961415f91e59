/* An OMPT tool with empty callbacks: it shows what the runtime itself spends on calling a tool.  They are those of -p
 * off, or with -DGRAPH those of the other modes (rt/ompt.c). */
#include "hpcrun-lite/rt/core/omp-tools.h"

#include <stddef.h>

static void nothing(void)
{
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  static const int events[] = {
      ompt_callback_thread_begin,
      ompt_callback_thread_end,
      ompt_callback_parallel_begin,
      ompt_callback_parallel_end,
      ompt_callback_task_create,
      ompt_callback_task_schedule,
      ompt_callback_implicit_task,
      ompt_callback_control_tool,
      ompt_callback_sync_region_wait,
      ompt_callback_mutex_released,
      ompt_callback_mutex_acquire,
      ompt_callback_mutex_acquired,
      ompt_callback_nest_lock,
#ifdef GRAPH
      ompt_callback_sync_region,
      ompt_callback_work,
      ompt_callback_dispatch,
      ompt_callback_masked,
      ompt_callback_dependences,
      ompt_callback_lock_init,
      ompt_callback_lock_destroy,
      ompt_callback_cancel,
      ompt_callback_target,
      ompt_callback_target_emi,
      ompt_callback_target_data_op_emi,
      ompt_callback_target_submit_emi,
      ompt_callback_device_initialize,
      ompt_callback_device_finalize,
#endif
  };
  (void)device, (void)data;
  ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    set_callback(events[i], nothing);
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
