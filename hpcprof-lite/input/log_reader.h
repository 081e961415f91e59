/* Reads the graph logs of measurement files and merges the logs of their threads by time.
 *
 * Context: BATCH.  The graph log of X.hpcrun is X.graph in the same directory (doc/format.md).  The log of one thread
 * is called a stream.  The reader lists the extents by their headers and decodes one extent of each stream at a time.
 * It returns the records of all streams in order of time; a fragment counts at its start.  The clocks of cores differ
 * slightly, so a record may name a task, region or join before the record that creates it is reached.  Its stream then
 * waits for the creating record, as long as that can still follow.  A lock's release that is logged after the next
 * acquisition is returned before it.
 *
 * The reader belongs to its caller and to one thread at a time.  Memory: a list of the extents and one decoded extent
 * for each stream; no record is kept.  All input is hostile: damage is reported in `problems`, and a damaged stream is
 * used up to the damage.
 */
#ifndef HPCPROF_LITE_INPUT_LOG_READER_H
#define HPCPROF_LITE_INPUT_LOG_READER_H

#include "common/graphlog.h"
#include "hpcprof-lite/model/profile.h"

#define LOG_READER_SUFFIX ".graph"

enum { LOG_READER_BYTES_MAX = 1 << 30 }; /* of all decoded extents at one time */

struct log_reader;

struct log_reader_record {
  struct graphlog_record record;
  uint32_t stream;                 /* number of the stream, from 0 without gaps */
  uint32_t thread;                 /* index of the thread in the process        */
  uint32_t cpu;                    /* on which the thread runs, UINT32_MAX: not known */
  uint64_t begin_ticks, end_ticks; /* when it happens; a fragment lasts, other records do not */
  const uint64_t *counts; /* of a fragment: [COUNTERS_MAX] events counted in it, until the next record is read; NULL:
                             not known */
  bool outside, cut;      /* nothing of it, or of a fragment not all, is in the part of the run that is reported */
};

/* Opens the graph log of a measurement file.  Returns NULL if there is no log, or no part of it is usable.
 * Problems are reported here and while records are read, each of them once, so `problems` must outlive the reader. */
struct log_reader *log_reader_open(const char *measurement, struct problems *problems);
void log_reader_close(struct log_reader *reader); /* NULL is allowed */

/* The log of a process that is part of a job. */
struct log_part {
  const char *measurement;
  const struct profile_process *process; /* to what part of the run it is limited; NULL: not */
  const uint32_t *rows;                  /* [directive of the process] directive of the job; NULL: the same */
  uint32_t rows_count;
};

/* Opens the logs of all processes of a job, whose clocks must be the same.  Threads, and what they create, are numbered
 * through all processes: those of a process follow those of the one before.  Returns NULL if a log is missing or not
 * usable.  The arrays of the parts must outlive the reader. */
struct log_reader *log_reader_open_job(const struct log_part *parts, uint32_t count, struct problems *problems);

/* Returns the part of the job to which a record's thread belongs, and its index there. */
uint32_t log_reader_part(const struct log_reader *reader, uint32_t thread, uint32_t *local);

/* Returns what the process did in the part of the run that it is limited to: fragments, with that part of their times,
 * have the same part of their work.  So two adjacent parts have the work of both together, and all other records stay.
 * Also returns the beginning of fragments in which the thread did not run all the time, where work is time: the log has
 * only when the thread ran again.  The process must outlive the reader. */
void log_reader_limit(struct log_reader *reader, const struct profile_process *process);

/* Returns the number of streams. */
uint32_t log_reader_count(const struct log_reader *reader);

/* Fills in the next record of all streams.  Returns false after the last one. */
bool log_reader_next(struct log_reader *reader, struct log_reader_record *record);

/* Starts another pass at the first record. */
void log_reader_rewind(struct log_reader *reader);

/* Returns how often in this pass all streams waited, so that one continued without the object that its record names. */
uint64_t log_reader_forced(const struct log_reader *reader);

/* Returns the number of streams that were found incomplete in this pass. */
uint64_t log_reader_damaged(const struct log_reader *reader);

#endif
