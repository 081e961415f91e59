/* On which CPUs threads may run and do run, and how far the kernel limits the process: throttling by its control
 * groups, steal time of the virtual machine.
 *
 * Context: RT, but where stated otherwise.  The records of threads are written by their threads, and by CTL at the end;
 * the figures of the process by the thread that advances the time at which they are due.  Nothing is allocated; what
 * cannot be read stays as it was last.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_CORE_LIMITS_H
#define HPCRUN_LITE_RT_SAMPLING_CORE_LIMITS_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: forgets the groups; notes the machine's times. */
void core_limits_start(void);

/* CTL: the file cpu.stat of a control group of the process: its figures count from now on. */
void core_limits_watch(const char *path);

/* Brings the figures of the process up to date. */
void core_limits_process(struct format_process *process);

/* Notes the mask of a thread; of another thread only while that lives. */
void core_limits_thread(struct thread_state *t);

/* At a sample: notes the thread's CPU, from time to time its mask and the figures of the process. */
void core_limits_sample(struct thread_state *t);

/* Figures of a control group: cpu.stat.  Missing ones are 0; returns false if there is no number of periods. */
struct core_throttling {
  uint64_t periods, throttled_periods, throttled_ns;
};
bool core_limits_parse_group(const char *text, struct core_throttling *out);

/* The first line of /proc/stat: steal time and all time, in the kernel's ticks.  Returns false if it is another text.
 */
struct core_machine {
  uint64_t steal, all;
};
bool core_limits_parse_machine(const char *text, struct core_machine *out);

#endif
