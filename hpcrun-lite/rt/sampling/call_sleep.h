/* Sleep in calls of the program, and the bytes that these calls have moved: charged to contexts, with samples of CPU
 * time.
 *
 * A call that slept longer than the time between two samples is charged what it slept.  Sleep in shorter calls is
 * divided into parts of that time, one after the other, and each part is charged to the call in which a random moment
 * of it lies.  So contexts have what their calls slept, in expectation, and the sum is exact to one part for each
 * thread; and stacks are unwound about as often as by samples.
 *
 * Bytes are exact: those of short calls stay with the line of the call until one of its calls is charged.  What is left
 * over is charged to the root.
 *
 * Sleep that the records of switches show outside waits and interposed calls is charged to the context of the thread's
 * next sample, in a column of its own.
 *
 * Context: RT, in the thread itself; call_sleep_end() also CTL.  Calls within waits of the OpenMP runtime are part of
 * these.  Without memory a loss is counted. */
#ifndef HPCRUN_LITE_RT_SAMPLING_CALL_SLEEP_H
#define HPCRUN_LITE_RT_SAMPLING_CALL_SLEEP_H

#include "hpcrun-lite/rt/sampling/switches.h"

/* Bytes that a call has moved, and the address to which it returns; 0: none, or it does not tell. */
struct call_moved {
  const void *code;
  uint64_t bytes;
};

void call_sleep_init(struct thread_state *t);

/* How much is charged to a call in which the thread slept so long. */
uint64_t call_sleep_part(struct thread_state *t, uint64_t ns);

/* The thread returns from a call in which it slept for so many measured ticks. */
void call_sleep_charge(struct thread_state *t, uint64_t ticks, struct call_moved moved);

/* Around a call that counts as blocked only while it sleeps, which the thread's records of switches tell afterwards.
 * call_sleep_enter() returns their position.  call_sleep_left() returns whether the thread was switched since then;
 * then call_sleep_switched() charges what it slept.  A jump out of the call ends it by `open` = 0; an unseen one makes
 * samples keep what they find for that call, which is then lost. */
static inline uint64_t call_sleep_enter(struct thread_state *t)
{
  struct call_sleep *sleep = &sampling_of(t)->call_sleep;
  sleep->taken = 0;
  sleep->open = switches_position(t);
  return sleep->open;
}

static inline bool call_sleep_left(struct thread_state *t, uint64_t position)
{
  sampling_of(t)->call_sleep.open = 0;
  return position != switches_position(t);
}

void call_sleep_switched(struct thread_state *t, uint64_t position, struct call_moved moved)
    __attribute__((noinline, cold));

/* At a sample outside waits and blocked calls: reads records, also those of such a call. */
void call_sleep_read(struct thread_state *t);

/* At a sample: charges other sleep to its context. */
void call_sleep_sampled(struct thread_state *t, uint32_t node);

/* The thread ends, or measuring does: bytes that are left over. */
void call_sleep_end(struct thread_state *t);

#endif
