/* Sample sources: the perf events and timers of a thread.
 *
 * Context: RT; source_probe() CTL.  A thread arms its own sources at its start and disarms them at its end; in between
 * its handler asks what a signal stands for.  Only the thread itself uses its sources, except
 * that CTL may disarm them at the end.  A source that cannot be armed is counted as a loss, and the others work.
 *
 * Weights are unbiased: a thread's first sample comes after a random part of the period and stands for a whole period;
 * each later one stands for what the thread's clock or counter has advanced since the last one.  So merged or delayed
 * signals lose nothing, and threads that live shorter than a period are sampled in proportion to their time.
 *
 * Elapsed time also passes for threads that sleep, and sampling many of them would use up the machine.  Their periods
 * are therefore longer than requested; the weights stay right, and the samples left out are counted. */
#ifndef HPCRUN_LITE_RT_SAMPLING_SOURCE_H
#define HPCRUN_LITE_RT_SAMPLING_SOURCE_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* CTL: finds out whether perf_event may sample CPU time in the kernel, and sets sampling_process.timers_for_cpu. */
void source_probe(void);

/* CTL: a new process has no timers and rings yet. */
void source_reset(void);

/* Arms all events for the calling thread, unless sampling_process.unsampled is set or a filter leaves it out. */
void source_start(struct thread_state *t);
void source_stop(struct thread_state *t); /* also stops the thread's work clock */

/* Level summary: disarms the sources of the calling thread, which is inside; its work clock goes on.  source_wake()
 * arms them again.  Both do nothing where that has happened already. */
void source_quiet(struct thread_state *t);
void source_wake(struct thread_state *t);

/* Stops the timers of the calling thread while it sleeps.  source_resume() starts them again; each then signals at
 * once.
 */
void source_suspend(struct thread_state *t);
void source_resume(struct thread_state *t);

/* Whether the last sample took so long that it is too early for another one.  The time goes to the next sample. */
bool source_too_early(const struct source *source);

/* The time since the last sample, if that one took long and none has followed.  cpu_ns: the thread's CPU clock. */
uint64_t source_throttled_ns(const struct source *source, uint64_t cpu_ns);

/* A sample was taken, which began at that time-stamp counter and took that much elapsed time since it was weighed. */
void source_sample_taken(struct thread_state *t, struct source *source, uint64_t began, uint64_t elapsed_ns);

/* The source that has sent this signal; NULL if it is not a signal of the tool. */
struct source *source_of(struct thread_state *t, const siginfo_t *info);

/* The value of a signal that asks a thread to publish the creation contexts of its open regions; sample_signal()
 * handles it. */
extern const char source_request_publication;

/* Whether the thread had no processor for a part of what a sample of elapsed time stands for.  Where the sample falls
 * then does not tell what the thread does most: the kernel often takes the processor away where it is called, which the
 * tool does more often than most programs. */
bool source_missed_core(const struct source *source);

/* What the sample stands for, in the event's unit; begins the next interval.  The thread is inside.  entered: the
 * sample has not interrupted the tool; then the thread's event may be re-armed, whose cost counts as tool time. */
uint64_t source_weight(struct thread_state *t, struct source *source, bool entered);

#endif
