/* Records of the measurement format for the golden measurements, in the units in which these are described.
 *
 * All functions work on the one composition, of a process and the thread that is being composed.  The module of the
 * program is the first one; frames are in it.  Functions with a parent return the index of the node that they add. */
#ifndef TESTS_GOLDEN_GOLDEN_RECORDS_H
#define TESTS_GOLDEN_GOLDEN_RECORDS_H

#include "tests/support/compose_measurement.h"

extern struct compose compose;

/* Sets the directory of all measurements. */
void golden_into(const char *directory);

/* Writes the composition to NAME/node1-PID-1.SUFFIX, by default .hpcrun; ends the program if that fails. */
void save_as(const char *name, uint32_t pid, const char *suffix);
void save(const char *name, uint32_t pid);

/* Milliseconds in ns; and in ticks, each half a nanosecond. */
uint64_t ms(uint64_t count);
uint64_t ticks_of_ms(uint64_t count);

/* The columns of time; and with them those of lock waiting and of the sums of idleness. */
void time_metrics(void);
void blame_metrics(void);

/* Begins a process with blame_metrics() and the program's module.  work_unit: that of work and span, NULL without. */
void blame_begin(uint32_t pid, const char *command, const char *work_unit);

/* Nodes without values: a frame; a parallel region; the runtime; a link to a node of thread 1; a region's body. */
uint32_t frame_below(uint32_t parent, uint32_t offset);
uint32_t parallel_below(uint32_t parent);
uint32_t runtime_below(uint32_t parent);
uint32_t link_to(uint32_t node);
uint32_t region_body(uint32_t parent, uint32_t offset);

enum category { WORK, OVERHEAD, LOCKWAIT };

/* Adds a context with blame_metrics(), in units of 10 ms: each sample has one unit of work, overhead or lock wait, when
 * `busy` of `used` threads were busy. */
uint32_t charge(uint32_t kind, uint32_t parent, uint32_t offset, enum category category, uint64_t samples,
                uint64_t busy, uint64_t used);
void blame_thread(uint32_t index, uint64_t wall_ms, uint64_t idle_ms, uint64_t lockwait_ms, uint64_t region_ms);

/* The same for a process with shares in wait sites.  The context has its time p, that time divided by the busy
 * threads, and multiplied with those that exist, in ms; shares is a list. */
void places_begin(enum compose_form form, uint32_t pid, const char *command);
uint32_t share_context(uint32_t parent, uint32_t offset, enum category category, uint64_t p, uint64_t per_busy,
                       uint64_t existing, uint32_t shares);
void places_thread(uint32_t index, uint64_t wall_ms, uint64_t cpu_ms);

/* Adds a place at which the current thread waits, and a share in front of the list `next`.  Return their index. */
uint32_t wait_of(enum format_wait_kind kind, uint64_t offset, uint32_t node, uint64_t idle_ms, uint64_t runtime_ms);
uint32_t share_of(uint32_t wait, uint64_t shared_ms, uint32_t next);

#endif
