/* Records of merged graph logs, and batches of them: bytes that one process sends to another.
 *
 * Context: BATCH.  A batch can be read alone.  It is checked like a file.  The structure owns its bytes.
 */
#ifndef HPCPROF_LITE_INPUT_LOG_BATCH_H
#define HPCPROF_LITE_INPUT_LOG_BATCH_H

#include "common/graphlog.h"

struct log_reader_record {
  struct graphlog_record record;
  uint32_t stream;                 /* number of the stream, from 0 without gaps */
  uint32_t thread;                 /* index of the thread in the process; in a job see log_reader_open_job() */
  uint32_t part, local;            /* of a job: whose record it is, and index of the thread in that process */
  uint32_t cpu;                    /* on which the thread runs, UINT32_MAX: not known */
  uint64_t order;                  /* the time by which it is merged: mostly begin_ticks */
  uint64_t begin_ticks, end_ticks; /* when it happens; a fragment lasts, other records do not */
  uint64_t moved;                  /* so much later than by its clock is `order`: log_reader_resume() */
  const uint64_t *counts; /* of a fragment: [COUNTERS_MAX] events counted in it, until the next record is read; NULL:
                             not known */
  bool outside, cut;      /* nothing of it, or of a fragment not all, is in the part of the run that is reported */
};

struct log_batch {
  uint8_t *bytes;
  size_t size, room;
  size_t offset;   /* of what is to be read next */
  uint64_t time;   /* `order` of the latest record, in this batch, */
  uint32_t stream; /* and its stream, */
  uint8_t first;   /* and its first byte */
};

/* Appends a record: the stream, times, operation and operands. */
void log_batch_put(struct log_batch *batch, const struct log_reader_record *record);

/* Moves to the next record, of one of so many streams.  Returns false if it is damaged. */
bool log_batch_next(struct log_batch *batch, uint32_t streams);

/* Takes that record, once; all else of it is zero or not known.  Returns false if it is damaged. */
bool log_batch_get(struct log_batch *batch, struct log_reader_record *record);

#endif
