/* Target constructs, as far as the host sees them: how long a thread is in one, and for which device.
 *
 * Context: RT, in callbacks of the thread itself, which is not inside. */
#ifndef HPCRUN_LITE_RT_TARGET_EVENTS_H
#define HPCRUN_LITE_RT_TARGET_EVENTS_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"

/* A target construct of OMPT's kind begins in the current task, whose data word is task_data, or the innermost one of
 * that kind ends.  What it runs on the host meanwhile is serial work of the task.  device: its number,
 * OMPT_DEVICE_HOST or OMPT_DEVICE_NONE. */
void target_events(struct thread_state *t, int kind, bool begin, int device, const ompt_data_t *task_data,
                   const void *codeptr);

/* The target construct that the thread has begun asks for so many teams, and threads of each; 0: for no number. */
void target_events_asks(struct thread_state *t, uint32_t teams, uint32_t threads);

/* An operation for a device, of a kind of constructs, begins or ends; bytes: that it moves or allocates.  device,
 * codeptr: as above, where no target construct is around it.  Returns, at the begin, the number by which a device may
 * record it; 0: none. */
uint64_t target_events_operation(struct thread_state *t, uint32_t kind, bool begin, int device, uint64_t bytes,
                                 const void *codeptr);

/* The runtime does not announce constructs for that device, nor what the device is. */
void target_events_unannounced(struct thread_state *t, int device);

/* The runtime has initialized a device of that type. */
void target_events_device(struct thread_state *t, int device, const char *type);

#endif
