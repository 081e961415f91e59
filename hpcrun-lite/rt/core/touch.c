#include "hpcrun-lite/rt/core/touch.h"

#include <stdbool.h>

#include "hpcrun-lite/rt/core/sys.h"

static bool wanted;
static __thread uint64_t faults __attribute__((tls_model("initial-exec")));

void touch_start(void)
{
  wanted = true;
}

void touch_pages(void *memory, size_t size_bytes)
{
  struct sys_usage before, after;
  if (!wanted)
    return;
  bool known = sys_usage(&before);
  sys_populate(memory, size_bytes, true);
  if (known && sys_usage(&after))
    faults += after.minor_faults - before.minor_faults;
}

uint64_t touch_faults(void)
{
  return faults;
}
