#include "hpcrun-lite/rt/core/assertion.h"

#include "hpcrun-lite/rt/core/sys.h"

#ifdef RT_ASSERTIONS
void rt_assertion_failed(const char *condition, const char *function)
{
  const char *const parts[] = {"hpcrun-lite: assertion failed in ", function, "(): ", condition, "\n"};
  char line[512];
  size_t length = 0;
  for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
    for (const char *at = parts[i]; *at && length < sizeof line; at++)
      line[length++] = *at;
  sys_write_error(line, length);
  sys_exit_group(RT_ASSERTION_STATUS);
}
#endif
