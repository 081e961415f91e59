/* OMPT callbacks: they keep each thread's state and its place in the parallel regions, and pass events on to the span
 * layer.
 *
 * Context: RT.  Callbacks always keep the state up to date, also while measuring is paused; a sample that interrupts
 * one while it is `inside` counts as tool time.  ompt_register() is called by CTL (tool.c).  A callback writes the
 * state of its own thread only. */
#ifndef HPCRUN_LITE_RT_OMPT_H
#define HPCRUN_LITE_RT_OMPT_H

#include "hpcrun-lite/rt/core/rt.h"

/* Registers all callbacks through rt.set_callback.  Returns how many of the required ones the runtime does not provide.
 */
int ompt_register(void);

/* The program, or omp_control_tool(), pauses or resumes measuring. */
void ompt_pause(bool pause);

/* The one call from RT up to CTL, defined in tool.c: the calling thread begins to be measured.  Needed for a thread
 * that the runtime has created without calling the interposed pthread_create(): only its first callback shows it. */
void threads_adopt(void);

#endif
