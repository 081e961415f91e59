/* What the program requests of the tool through its OpenMP runtime.
 *
 * Context: RT, in callbacks, and in functions that the program calls (tool.c). */
#ifndef HPCRUN_LITE_RT_CONTROL_EVENTS_H
#define HPCRUN_LITE_RT_CONTROL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Measuring is paused or resumed. */
void control_events_pause(bool pause);

/* omp_control_tool(): a flush has nothing to do; after an end, measuring does not start again.  Returns 0, or 1 where
 * the command is ignored. */
int control_events_command(uint64_t command, const char *argument);

#endif
