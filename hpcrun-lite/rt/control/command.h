/* Commands from `hpcrun-lite --control` to the running process: common/control_file.h.
 *
 * Context: RT; functions marked CTL are called by CTL only.  The handler asks command_signal() about each signal that
 * is not a sample.  One thread at a time reads and carries out a command; a signal that meets another thread there, or
 * interrupts the tool, does nothing, because the commander repeats it until it has an answer.  All memory is static.
 *
 * Measuring is paused or continued, and sampling switched off or on, in steps.  First every thread is asked, by a
 * signal of its own, to end the interval that it counts and to arm or disarm its sources (command_request); when all
 * have done so, or some did not in a bounded number of steps, rt_pause() follows.  So exact times of all threads
 * exclude the pause, to a few milliseconds. */
#ifndef HPCRUN_LITE_RT_CONTROL_COMMAND_H
#define HPCRUN_LITE_RT_CONTROL_COMMAND_H

#include <signal.h>

#include "common/control_file.h"
#include "hpcrun-lite/rt/control/control_process.h"
#include "hpcrun-lite/rt/marks/marks.h"

/* What this layer keeps of a thread. */
struct control_thread {
  struct marks_thread below;
  uint32_t cuts; /* requests to end its interval that the thread has followed; other threads read it with acquire */
};

static inline struct control_thread *control_of(const struct thread_state *t)
{
  return (struct control_thread *)t;
}

/* CTL: the process has this control file from now on; also in a forked child. */
void command_start(const char *path);

/* CTL: no command is carried out any more; removes a file that was left for this process. */
void command_finish(void);

/* Is it a signal of the commander with a control file, or of a thread that carries out a command?  Then it is dealt
 * with, and the program does not see it. */
bool command_signal(const siginfo_t *info);

/* The same question for a signal that the program has waited for: nothing is carried out. */
bool command_absorb(const siginfo_t *info);

/* CTL, while the process is quiescent: publishes the filter that waits for that, if there is one. */
void command_change_filter(void);

/* CTL: completes the answer to a command that was pending, if the commander still waits for it. */
void command_flushed(bool written);

/* CTL: the calling thread begins, before its sources do. */
void command_thread_started(struct thread_state *t);

/* CTL: a thread has ended that had so many samples and losses. */
void command_thread_ended(const struct format_thread *record);

#endif
