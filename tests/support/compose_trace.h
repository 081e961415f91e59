/* Composes traces (doc/format.md) for tests: a stream for each thread.
 *
 * Thread 0 stands for the stream of what devices have executed.  States and samples advance the two clocks of their
 * stream.  An extent begins with both; it ends where traced_cut() is called.  Durations and times are in units of the
 * clocks. */
#ifndef TESTS_SUPPORT_COMPOSE_TRACE_H
#define TESTS_SUPPORT_COMPOSE_TRACE_H

#include "common/tracelog.h"
#include "tests/support/compose_measurement.h"

enum { TRACED_THREADS = 4, TRACED_STREAM = 1 << 16, TRACED_EXTENTS = 16 };

struct traced_stream {
  uint8_t bytes[TRACED_STREAM];
  size_t size;
  struct traced_cut {
    size_t end;
    uint32_t number;
  } cuts[TRACED_EXTENTS]; /* all extents but the last */
  uint32_t cuts_count, number;
  uint64_t state_clock, sample_clock;
};

struct compose_trace {
  struct traced_stream streams[TRACED_THREADS + 1]; /* of threads 1, 2, …; the last one of devices */
};

/* The clocks of all streams begin there, in ticks: a multiple of both units. */
void traced_begin(struct compose_trace *trace, uint64_t ticks);

/* Only samples follow: the state clock of all streams is 0. */
void traced_samples_only(struct compose_trace *trace);

/* Appends a state; own: of STATE_OWN. */
void traced_state(struct compose_trace *trace, uint32_t thread, enum tracelog_form form, uint64_t code,
                  uint64_t duration, uint64_t own);

/* Appends another operation with its operands, but no sample. */
void traced_op(struct compose_trace *trace, uint32_t thread, enum tracelog_op op, unsigned count,
               const uint64_t *operands);

/* Appends a sample; weight, tool, delay: ns, 0 for none. */
void traced_sample(struct compose_trace *trace, uint32_t thread, enum tracelog_sample_kind kind, uint64_t time,
                   uint64_t node, uint64_t weight, uint64_t tool, uint64_t delay);

/* Ends the extent.  What follows is `missing` extents later, before which the clocks advance by so many units. */
void traced_cut(struct compose_trace *trace, uint32_t thread, uint32_t missing, uint64_t state, uint64_t sample);

/* Appends a byte as it is. */
void traced_byte(struct compose_trace *trace, uint32_t thread, uint8_t byte);

/* Writes the extents of all threads into a composition of their own. */
void traced_compose(const struct compose_trace *trace, enum compose_form form, struct compose *compose);

#endif
