/* Composes graph logs (doc/format.md) for tests: a stream for each thread, with the encoder of the running side.
 *
 * Only log_run() and log_at() advance the time.  A stream is divided into extents where log_cut() is called. */
#ifndef TESTS_GOLDEN_COMPOSE_LOG_H
#define TESTS_GOLDEN_COMPOSE_LOG_H

#include "common/graphlog.h"
#include "tests/support/compose_measurement.h"

enum { COMPOSE_THREADS = 8, COMPOSE_STREAM = 32768, COMPOSE_EXTENTS = 16 };

struct compose_stream {
  uint8_t bytes[COMPOSE_STREAM];
  size_t size;
  size_t cuts[COMPOSE_EXTENTS]; /* the ends of all extents except the last */
  uint32_t cuts_count;
  uint64_t time;
};

struct compose_log {
  struct compose_stream streams[COMPOSE_THREADS]; /* of threads 1, 2, … */
};

void log_begin(struct compose_log *log);

/* Appends a record to a thread's stream: its operation and operands. */
void log_put(struct compose_log *log, uint32_t thread, enum graphlog_op op, ...);

/* Advances the time of the thread to at least that. */
void log_at(struct compose_log *log, uint32_t thread, uint64_t time);

/* Appends a fragment that begins now and lasts as long as its work. */
void log_run(struct compose_log *log, uint32_t thread, uint64_t work);
void log_cut(struct compose_log *log, uint32_t thread);

/* Writes the extents of all threads into a composition of their own. */
void log_compose(const struct compose_log *log, enum compose_form form, struct compose *compose);

#endif
