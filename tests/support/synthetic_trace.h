/* The trace of a synthetic process, whose times are known.
 *
 * Its first thread executes region after region, A and B in turn, with serial code between them; all threads take part.
 * Each execution of both takes SYNTHETIC_CYCLE units of the clock of states, in which thread 1 works 110 units, is idle
 * 10, and spends 4 on overhead; each other thread works 75, and is idle for 49. */
#ifndef TESTS_SUPPORT_SYNTHETIC_TRACE_H
#define TESTS_SUPPORT_SYNTHETIC_TRACE_H

#include "common/format.h"

#include <stdio.h>

enum { SYNTHETIC_CYCLE = 124, SYNTHETIC_UNIT_NS = 32, SYNTHETIC_CYCLE_STATES = 9, SYNTHETIC_START = 100 };

typedef void synthetic_put(void *context, uint32_t table, uint32_t owner, uint32_t first, uint32_t count,
                           uint32_t record_size, const void *records);

/* Writes the trace of a thread with that many cycles; a sample in `node` every 5 ms. */
void synthetic_trace(uint32_t thread, uint64_t cycles, uint32_t node, synthetic_put *put, void *context);

/* Writes the records of constructs of a thread.  Directives 1 and 2 are the regions. */
void synthetic_constructs(uint32_t thread, uint64_t cycles, synthetic_put *put, void *context);

#endif
