/* OMPT callbacks: keep each thread's state and its place among the parallel regions.  Context: RT (callbacks are never
 * refused, but samples that hit them are).  Registration is CTL (tool.c). */
#ifndef HPCRUN_LITE_RT_OMPT_H
#define HPCRUN_LITE_RT_OMPT_H

#include "hpcrun-lite/rt/core/rt.h"

/* Registers all callbacks through rt.set_callback; returns how many of them the runtime will not call. */
int ompt_register(void);

/* The program, or OpenMP's own omp_control_tool(), has measuring rest or go on. */
void ompt_pause(bool pause);

/* The one call from RT up to CTL, defined in tool.c: the calling thread begins to be measured.  Needed for a thread that
 * the runtime has created past the interposed pthread_create(): only its first callback shows it. */
void threads_adopt(void);

#endif
