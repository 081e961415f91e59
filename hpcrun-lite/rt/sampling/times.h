/* Times in the records of threads and of the process.  They are brought up to date while the program runs, since it may
 * be killed, and at the end.
 *
 * Context: RT; functions marked CTL are called by CTL only.  A thread writes its own record while it lives; afterwards
 * CTL does.  The record of the process (rt.record) is written by the first thread that is sampled after it is due; CTL
 * writes the fields that do not change.  Records belong to their tables; nothing here can fail. */
#ifndef HPCRUN_LITE_RT_SAMPLING_TIMES_H
#define HPCRUN_LITE_RT_SAMPLING_TIMES_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: the start of the process: CLOCK_MONOTONIC, time-stamp counter, and CPU time. */
void times_start(uint64_t start_ns, uint64_t start_ticks, uint64_t start_cpu_ns);

/* CTL: the record that samples keep up to date from now on; NULL: none. */
void times_keep(struct format_process *process);

/* Brings a thread's record up to date.  cpu_ns: its CPU clock; 0: not known.  The thread may be running. */
void times_thread(struct thread_state *t, uint64_t cpu_ns);

/* The same for how long it waited for a processor, which takes a system call more. */
void times_thread_delay(struct thread_state *t);

/* Brings times and losses of the process's record up to date. */
void times_process(struct format_process *process);

/* At a sample, and in callbacks: brings the records of the calling thread and of the process up to date if they are
 * due.  The second form is for callbacks that have read the time-stamp counter. */
void times_refresh(struct thread_state *t);
static inline void times_refresh_at(struct thread_state *t, uint64_t ticks)
{
  if (__builtin_expect(ticks >= sampling_of(t)->record_due, 0))
    times_refresh(t);
}

/* The thread is at level summary from now on (not sampled), or no longer.  The work of that time is known from its
 * length, which excludes waiting and pauses. */
void times_unsampled(struct thread_state *t, bool unsampled);

/* The same for the process. */
void times_process_unsampled(bool unsampled);

/* Elapsed time since the process's start. */
uint64_t times_elapsed_ns(void);

/* What the kernel has counted for a thread of the process in all of its life. */
struct times_schedule {
  uint64_t cpu_ns, delay_ns; /* delay: it was ready to run and waited for a processor; 0 where it is not reported */
};
struct times_schedule times_schedule(int tid);

/* The second of these, without what the initial thread has waited before it was measured: in the launcher, in the
 * loader, in a program that has executed this one. */
uint64_t times_run_delay_ns(const struct thread_state *t);

#endif
