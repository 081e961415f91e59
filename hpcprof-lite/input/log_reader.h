/* The log of the graph that belongs to a measurement file: the streams of its threads, merged by time.
 *
 * Context: BATCH.  The log of X.hpcrun is X.graph beside it (doc/format.md).  Chunks are found by their headers, and
 * decoded one at a time for each thread; records come out in the order of time, a fragment at its begin.  A record that
 * names a task, region or join which is not known yet holds its thread back until that has come, as long as it can
 * come: clocks of cores differ a little.
 *
 * All input is hostile: memory is the index of chunks, a chunk for each thread (at most LOG_READER_BYTES_MAX together)
 * and nothing for records; what is damaged is named in problems, with the part of the stream that is used.
 */
#ifndef HPCPROF_LITE_INPUT_LOG_READER_H
#define HPCPROF_LITE_INPUT_LOG_READER_H

#include "common/graphlog.h"
#include "hpcprof-lite/model/problems.h"

#define LOG_READER_SUFFIX ".graph"

enum { LOG_READER_CHUNK_MAX = 16 << 20, LOG_READER_BYTES_MAX = 1 << 30 };

struct log_reader;

struct log_reader_record {
  struct graphlog_record record;
  uint32_t stream, thread; /* stream: a number of the thread's, from 0 without gaps */
};

/* Opens the log of a measurement file; *out NULL where it has none.  Problems are named here and by passes over the
 * records, each once: the list must live as long.  0, ERR_INPUT where nothing of it can be used, or ERR_NOMEM. */
int log_reader_open(const char *measurement, struct problems *problems, struct log_reader **out);
void log_reader_close(struct log_reader *streams);

uint32_t log_reader_count(const struct log_reader *streams);

/* The next record of all, until there is none. */
bool log_reader_next(struct log_reader *streams, struct log_reader_record *record);

/* From the beginning. */
void log_reader_rewind(struct log_reader *streams);

/* Whether anything was left out for want of memory: then the records are not those of the log. */
bool log_reader_overflow(const struct log_reader *streams);

/* Threads that had to be let on without what they waited for, and streams that are not complete, in this pass. */
uint64_t log_reader_forced(const struct log_reader *streams);
uint64_t log_reader_damaged(const struct log_reader *streams);

#endif
