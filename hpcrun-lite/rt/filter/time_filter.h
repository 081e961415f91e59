/* The part of a run that is measured: skip-first and only.
 *
 * Context: CTL starts it; RT, in the handler: a one-shot timer with SAMPLE_SIGNAL pauses measuring and lets it go on.
 * The signal may be late, because a program that sleeps has it held back: pauses begin and end at the moments that were
 * asked for (rt_pause_at()), which are kept.  State: static; written before the program has threads, and by one handler
 * at a time. */
#ifndef HPCRUN_LITE_RT_FILTER_TIME_FILTER_H
#define HPCRUN_LITE_RT_FILTER_TIME_FILTER_H

#include "hpcrun-lite/rt/core/rt.h"

/* CTL: measuring begins skip_ns after that moment, by both clocks, and ends only_ns (0: never) later.  Returns false if
 * there is no timer: then all of the process is measured. */
bool time_filter_start(uint64_t skip_ns, uint64_t only_ns, uint64_t start_ns, uint64_t start_ticks);

/* CTL, in a forked child: it has no timer yet.  The moments are the parent's.  Returns the same. */
bool time_filter_continue(void);

/* Has one of the two returned false? */
bool time_filter_failed(void);

/* CTL: measuring has ended early.  The timer sends no further signal, and nothing here makes system calls afterwards.
 */
void time_filter_stop(void);

/* Is it the timer's signal?  The handler then calls time_filter_pass(), which does what is due.  Any thread may call
 * it. */
bool time_filter_signal(const siginfo_t *info);
void time_filter_pass(void);

/* Where the signal may have been held back: does what is due by now. */
extern atomic_bool time_filter_open __attribute__((visibility("hidden"))); /* something is still to come */
static inline void time_filter_check(void)
{
  if (__builtin_expect(atomic_load_explicit(&time_filter_open, memory_order_relaxed), 0))
    time_filter_pass();
}

#endif
