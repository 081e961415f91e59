/* An OMPT tool with empty callbacks: it shows what the runtime itself spends on calling a tool. */
#include "hpcrun-lite/rt/core/omp-tools.h"

#include <stddef.h>

static void nothing(void)
{
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  static const int events[] = {1, 2, 3, 4, 5, 6, 7, 16, 17, 26, 27, 28};
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
