/* Composes logs of the graph (doc/format.md) for tests: a stream for each thread, with the encoder that the running
 * side uses.
 *
 * Time passes by log_run() and log_at() only.  A stream is cut into chunks where log_cut() is called.
 */
#ifndef TESTS_GOLDEN_COMPOSE_LOG_H
#define TESTS_GOLDEN_COMPOSE_LOG_H

#include "common/graphlog.h"
#include "tests/support/compose_measurement.h"

enum { COMPOSE_THREADS = 8, COMPOSE_STREAM = 32768, COMPOSE_CHUNKS = 16 };

struct compose_stream {
  uint8_t bytes[COMPOSE_STREAM];
  size_t size;
  size_t cuts[COMPOSE_CHUNKS]; /* ends of the chunks before the last */
  uint32_t cuts_count;
  uint64_t time;
};

struct compose_log {
  struct compose_stream streams[COMPOSE_THREADS]; /* of threads 1, 2, … */
};

void log_begin(struct compose_log *log);

/* Appends a record of a thread: its operation and operands, as many as it has. */
void log_put(struct compose_log *log, uint32_t thread, enum graphlog_op op, ...);

/* The thread's time is at least that. */
void log_at(struct compose_log *log, uint32_t thread, uint64_t time);

/* A fragment begins now and takes as long as its work. */
void log_run(struct compose_log *log, uint32_t thread, uint64_t work);
void log_cut(struct compose_log *log, uint32_t thread);

/* The chunks of all threads, into a composition of their own. */
void log_compose(const struct compose_log *log, enum compose_form form, struct compose *compose);

#endif
