/* Devices that record what they do: OMPT's trace of a device (OpenMP 5.2, 19.5.2.5 and 19.6).
 *
 * The runtime asks for buffers, fills them with records of copies and kernels, which have the device's own times of
 * their begin and end, and hands them back at any later time, in any thread: also when the construct, or its thread,
 * has ended.  A record names the operation by the number that the tool has given to it on the host.
 *
 * Times of a device are translated by pairs of its clock and the host's counter: the first is read when the trace
 * starts, the other when a buffer comes back, so that all records lie between the two.  So the offset and the rate of
 * the clock need not be known, and nothing is calculated in floating point, as ompt_translate_time() would.
 *
 * Context: RT, in callbacks of any thread, which need not be measured; functions marked CTL are called by CTL.  Buffers
 * are mapped once, and kept.  A forked child has no device that is traced: the runtime's devices are the parent's. */
#ifndef HPCRUN_LITE_RT_DEVICE_TRACE_H
#define HPCRUN_LITE_RT_DEVICE_TRACE_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"

/* CTL: no device is traced in the new process. */
void device_trace_start(void);

/* The runtime has initialized a device: starts its trace, if it has one.  lookup: the device's functions; NULL: none.
 */
void device_trace_initialize(struct thread_state *t, int number, ompt_device_t *device, ompt_function_lookup_t lookup);

/* The runtime is about to end the device: fetches what it has recorded, unless the device is busy. */
void device_trace_finalize(int number);

/* CTL, without the CTL lock, before measuring ends: the same for all devices, whose traces end.  The program's exit
 * must be an orderly one, since the runtime is called; not one that has been unloaded. */
void device_trace_end(void);

#endif
