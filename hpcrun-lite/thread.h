/* Start and end of measured threads, and what threads hand over to each other.
 *
 * Context: CTL, in the thread that starts or ends.  The clocks of ended threads that may still be joined are kept in a
 * static table, under the CTL lock; the oldest ones make room for new ones.  A thread without memory for its state
 * is counted as lost and not measured.
 */
#ifndef HPCRUN_LITE_THREAD_H
#define HPCRUN_LITE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Prepares that the end of a measured thread calls thread_stop().  Returns false on failure. */
bool thread_watch_ends(void);

/* Has a function called in each round of destructors at the end of a thread that is, or was, measured.  last: no other
 * destructor follows, unless it belongs to the same round. */
void thread_call_at_end(void (*function)(bool last));

/* The calling thread begins.  top_sp: the stack pointer of its outermost frame of interest, 0 if not known.  handed:
 * from thread_hand_over(), 0 if there is none.  maker: enum rt_maker. */
void thread_start(uint64_t top_sp, uint32_t handed, uint8_t maker);

/* The calling thread ends: writes what it has measured, and frees its state. */
void thread_stop(void);

/* Has the calling thread been measured until its end? */
bool thread_stopped(void);

/* What a thread that the calling thread creates takes over from it (rt/span/span.h); 0 = nothing. */
uint32_t thread_hand_over(void);

/* What is creating a thread that begins with that function (enum rt_maker). */
uint8_t thread_maker(const void *start);

/* The calling thread has created a thread, which took so many ticks. */
void thread_created(uint64_t ticks);

/* The calling thread has joined that one, and takes over its clock. */
void thread_joined(pthread_t thread);

/* A forked child: forgets the ended threads, which were the parent's. */
void thread_forget_ended(void);

#endif
