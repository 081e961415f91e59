#include "hpcrun-lite/rt/filter/time_filter.h"

#include <time.h>

#include "hpcrun-lite/rt/core/sys.h"

/* The moments at which measuring begins (open) and ends, by CLOCK_MONOTONIC; 0: done, or none. */
static struct {
  _Atomic uint64_t open_ns, close_ns;
  uint64_t start_ns, start_ticks;
  int timer;
} window;

atomic_bool time_filter_open;
static atomic_flag passing = ATOMIC_FLAG_INIT; /* held by the thread that does what is due */

static bool failed; /* there was no timer */

/* Arms the timer for the next moment. */
static bool arm(void)
{
  uint64_t next = window.open_ns ? window.open_ns : window.close_ns, now = sys_monotonic_ns();
  atomic_store(&time_filter_open, next != 0);
  if (!next)
    return true;
  uint64_t wait_ns = next > now ? next - now : 1;
  if (window.timer >= 0) {
    sys_timer_set(window.timer, wait_ns, 0);
    return true;
  }
  window.timer = sys_timer_start(CLOCK_MONOTONIC, 0, SAMPLE_SIGNAL, &window, wait_ns, 0);
  return window.timer >= 0;
}

/* All is measured from now on. */
static bool give_up(void)
{
  failed = true;
  time_filter_stop();
  return false;
}

bool time_filter_start(uint64_t skip_ns, uint64_t only_ns, uint64_t start_ns, uint64_t start_ticks)
{
  window.start_ns = start_ns;
  window.start_ticks = start_ticks;
  window.open_ns = skip_ns ? start_ns + skip_ns : 0;
  window.close_ns = only_ns ? start_ns + skip_ns + only_ns : 0;
  window.timer = -1;
  if (!arm())
    return give_up();
  if (skip_ns)
    rt_pause_at(RT_PAUSED_TIME_FILTER, true, 0); /* also before the start: a first sample stands for a whole period */
  return true;
}

bool time_filter_continue(void)
{
  atomic_flag_clear(&passing);
  window.timer = -1;
  if (arm())
    return true;
  if (window.open_ns) /* it would never begin */
    rt_pause_at(RT_PAUSED_TIME_FILTER, false, rt_ticks());
  return give_up();
}

bool time_filter_failed(void)
{
  return failed;
}

void time_filter_stop(void)
{
  enum { TRIES = 1000 };
  for (int i = 0; i < TRIES && atomic_flag_test_and_set(&passing); i++)
    sys_yield(); /* for a handler that may arm the timer */
  window.open_ns = window.close_ns = 0;
  atomic_store(&time_filter_open, false);
  if (window.timer >= 0)
    sys_timer_stop(window.timer);
  window.timer = -1;
  atomic_flag_clear(&passing);
}

bool time_filter_signal(const siginfo_t *info)
{
  return info->si_code == SI_TIMER && info->si_value.sival_ptr == &window;
}

/* The time-stamp counter at a moment that has passed. */
static uint64_t ticks_at(uint64_t moment_ns, struct sys_moment now)
{
  return window.start_ticks +
         rt_scale(now.ticks - window.start_ticks, moment_ns - window.start_ns, now.ns - window.start_ns);
}

void time_filter_pass(void)
{
  if (!atomic_load(&time_filter_open) || atomic_flag_test_and_set(&passing))
    return; /* the other thread arms the timer for what is due after it has looked */
  struct sys_moment now = sys_moment();
  if (window.open_ns && window.open_ns <= now.ns) {
    rt_pause_at(RT_PAUSED_TIME_FILTER, false, ticks_at(window.open_ns, now));
    window.open_ns = 0;
  }
  if (!window.open_ns && window.close_ns && window.close_ns <= now.ns) {
    rt_pause_at(RT_PAUSED_TIME_FILTER, true, ticks_at(window.close_ns, now));
    window.close_ns = 0;
  }
  arm();
  atomic_flag_clear(&passing);
}
