/* Sample sources: perf events and timers of one thread.
 *
 * Context: RT.  A thread arms its own sources at its start and disarms them at its end; in between the handler asks
 * what a signal stands for.  Weights are unbiased: a thread's first sample comes after a random part of the period and
 * stands for a whole one; every later one stands for what the thread's clock or counter has moved since the last.  So
 * signals that were merged or delayed lose nothing, and threads that live shorter than a period are sampled in
 * proportion to their time.
 *
 * Elapsed time passes for threads that sleep, too: to sample many of them would take the whole machine, and the program
 * would not get on.  Then periods are longer than asked for; weights stay true, and what is left out is counted.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_SOURCE_H
#define HPCRUN_LITE_RT_SAMPLING_SOURCE_H

#include "hpcrun-lite/rt/core/rt.h"

/* Finds out, in CTL, whether perf_event may sample the CPU time in the kernel too; sets rt.timers_for_cpu. */
void source_probe(void);

/* Arms all events for the calling thread; those that fail are counted. */
void source_start(struct thread_state *t);
void source_stop(struct thread_state *t); /* also the source of its work */

/* The timers of the calling thread rest while it sleeps, and signal at once when they go on. */
void source_suspend(struct thread_state *t);
void source_go_on(struct thread_state *t);

/* Is it too early for another sample, since the last took long?  Its time goes to the next one. */
bool source_too_early(const struct source *source);

/* What has passed since the last sample, if that took long and none has followed.  cpu_ns: the thread's clock. */
uint64_t source_throttled_ns(const struct source *source, uint64_t cpu_ns);

/* A sample was taken, which began at that moment (rt_ticks). */
void source_sample_taken(struct thread_state *t, struct source *source, uint64_t began);

/* The period of samples of elapsed time that is bearable, where so long a one was asked for. */
uint64_t source_min_period(uint64_t asked_ns);

/* The source that sent this signal, NULL if it is none of ours. */
struct source *source_of(struct thread_state *t, const siginfo_t *info);

/* Sent to a thread to make it publish the creation contexts of its open regions: value of such a signal. */
extern const char sample_publish;

/* What the sample stands for, in the event's unit; starts the next interval.  May set up the thread's event anew, which
 * is the tool's time. */
uint64_t source_weight(struct thread_state *t, struct source *source);

#endif
