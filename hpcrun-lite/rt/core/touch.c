#include "hpcrun-lite/rt/core/touch.h"

#include <stdbool.h>

#include "hpcrun-lite/rt/core/sys.h"

enum { PAGE = 4096 };

static bool wanted;
static __thread uint64_t faults __attribute__((tls_model("initial-exec")));

void touch_start(void)
{
  wanted = true;
}

static void touch(void *memory, size_t size_bytes)
{
  struct sys_usage before, after;
  bool known = sys_usage(&before);
  sys_populate(memory, size_bytes, true);
  if (known && sys_usage(&after))
    faults += after.minor_faults - before.minor_faults;
}

void touch_pages(void *memory, size_t size_bytes)
{
  if (wanted)
    touch(memory, size_bytes);
}

void touch_part(void *memory, size_t size_bytes)
{
  size_t before = (uintptr_t)memory % PAGE;
  if (!wanted)
    touch((uint8_t *)memory - before, before + size_bytes);
}

uint64_t touch_faults(void)
{
  return faults;
}
