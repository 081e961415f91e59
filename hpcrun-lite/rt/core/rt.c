#include "hpcrun-lite/rt/core/rt.h"

struct rt_process rt;
__thread struct thread_state *rt_self;
union rt_home rt_home __attribute__((aligned(sizeof rt_home)));

void rt_begin(void)
{
  sys_wipe_on_fork(&rt_home, sizeof rt_home);
  rt_home.ours = true;
  atomic_store(&rt.running_timers, 0);
}
