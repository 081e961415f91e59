/* The devices for which the program has target constructs, and how long each is busy.
 *
 * Context: RT, in callbacks of any thread, with `inside` raised; functions marked CTL are called by CTL.  The table is
 * one of the process, in the live file.  Records are added under a lock that is tried a bounded number of times; after
 * that all changes are atomic.  A device without a record, because there are too many or no memory is left, counts as
 * FORMAT_LOST_DIRECTIVES each time it is met, and is not followed.
 *
 * A device's intervals may overlap, in threads of the host and on the device: `open` of the record has their number and
 * the begin of the first one in one word, so that their union is exact without a lock.  Those that a device records are
 * known later, and out of order: the last ones are kept, merged, and of earlier ones only the sum. */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_DEVICES_H
#define HPCRUN_LITE_RT_CONSTRUCT_DEVICES_H

#include "hpcrun-lite/rt/construct/construct_thread.h"

enum { DEVICES_MAX = 256, DEVICES_TRACED_MAX = 16 };

/* CTL: starts the table of a new process. */
void devices_start(void);

/* The table, for the writer. */
const struct table *devices_table(void);

/* Finds or adds a device.  number: the runtime's; NULL: not followed. */
struct format_device *devices_find(struct thread_state *t, int number);

/* What the runtime says of a device.  type may be NULL. */
void devices_describe(struct thread_state *t, int number, const char *type);

/* The runtime says nothing of the device: the host itself may be it. */
void devices_unknown(struct thread_state *t, int number);

/* An interval in which the device is busy begins or ends at that moment, in ticks. */
void devices_begin(struct format_device *device, uint64_t now);
void devices_end(struct format_device *device, uint64_t now);

/* Is it busy, as far as the host knows? */
bool devices_busy(int number);

/* ---- devices that record what they do ---- */

/* The device records what it does, from now on. */
void devices_trace(struct thread_state *t, int number);

/* Does any device do so? */
bool devices_any_traced(void);

/* The number, from 1 on, of what devices record of the operations of the thread's record `at`, whose number is
 * `record`; 0: without memory. */
uint32_t devices_times_of(struct thread_state *t, struct format_construct *at, uint32_t record);

/* A device has recorded an operation with that number, from begin to end, in ticks.  shown: in the timeline, too.
 * False: there is no such number. */
bool devices_add_times(uint32_t number, uint64_t begin, uint64_t end, bool shown);

/* The traced device copied data or ran a region from begin to end.  Records may come in any order.  False: some of that
 * time may not count, since much later times of the device are known already. */
bool devices_add_busy(int number, uint64_t begin, uint64_t end);

/* A record of that device could not be used, or memory for its records was refused. */
void devices_reject(int number);

/* How many of these there were, of all devices. */
uint64_t devices_rejected(void);

/* The table of these times, for the writer. */
const struct table *devices_times_table(void);

#endif
