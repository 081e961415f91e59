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
 * for each stream, or a part of it; no record is kept.  All input is hostile: damage is reported in `problems`, and a
 * damaged stream is used up to the damage.
 */
#ifndef HPCPROF_LITE_INPUT_LOG_READER_H
#define HPCPROF_LITE_INPUT_LOG_READER_H

#include "hpcprof-lite/input/log_batch.h"
#include "hpcprof-lite/model/profile.h"

#define LOG_READER_SUFFIX ".graph"

/* Of all decoded extents at one time.  Of many streams, each keeps a part of its extent, which is decoded again for the
 * next part. */
enum { LOG_READER_BYTES_MAX = 1 << 30 };

struct log_reader;

/* Opens the graph log of a measurement file.  Returns NULL if there is no log, or no part of it is usable.
 * Problems are reported here and while records are read, each of them once, so `problems` must outlive the reader. */
struct log_reader *log_reader_open(const char *measurement, struct problems *problems);
void log_reader_close(struct log_reader *reader); /* NULL is allowed */

/* Ticks of a process on the clock of the job. */
struct log_clock {
  uint64_t start_ticks, start_ns; /* the same time on both */
  double tick_ns;
  uint32_t shift; /* so many of the lowest bits of ticks are left out */
};

/* Returns a time of the process on the clock of the job. */
uint64_t log_clock_ns(const struct log_clock *clock, uint64_t ticks);

/* The log of a process that is part of a job. */
struct log_part {
  const char *measurement;
  const struct profile_process *process; /* to what part of the run it is limited; NULL: not */
  const uint32_t *rows;                  /* [directive of the process] directive of the job; NULL: the same */
  uint32_t rows_count;
  const struct log_clock *clock; /* by which records are merged; NULL: by ticks.  Unless with LOG_ALL, records have its
                                    times, and fragments begin as log_reader_limit() says */
  double scale;                  /* of its work, if its host counts time in other ticks; 0: none */
};

/* What is read: everything, what belongs to MPI, or that, samples, and fragments that have some.  Of the latter, also
 * the first one of each thread. */
enum log_selection { LOG_ALL, LOG_MESSAGES, LOG_WAITS, LOG_SELECTIONS };

/* Opens the logs of all processes of a job.  Threads, and what they create, are numbered through all processes: those
 * of a process follow those of the one before.  Returns NULL if a log is missing or not usable; unless with LOG_ALL, if
 * all are.  The arrays of the parts must outlive the reader. */
struct log_reader *log_reader_open_job(const struct log_part *parts, uint32_t count, enum log_selection selection,
                                       struct problems *problems);

/* Whose a stream is: a thread, numbered from the first one of the first part, and its part. */
struct log_stream {
  uint32_t owner, part;
};

/* What a process has opened for another one; it owns its arrays. */
struct log_list {
  bool usable;
  uint32_t *owners; /* [part] number of its threads, 0: it has no log */
  struct log_stream *streams;
  uint32_t parts_count, streams_count;
};

void log_list_release(struct log_list *list);

/* Other processes that read logs for this one, each a part of them (ranks/ranks.h).  They must be asked in this order:
 * open(), and then of each helper more() until there is no more, and end(). */
struct log_help {
  uint32_t helpers; /* 0: none */
  /* Has the helpers open the parts, in their order.  Sets lists[helper], which the caller releases.  Returns whether
   * the logs are usable; then they are sent, otherwise nothing follows. */
  bool (*open)(void *context, const struct log_part *parts, uint32_t count, enum log_selection selection,
               struct log_list *lists, struct problems *problems);
  /* Returns the next batch of a helper's records, of *size bytes, which the caller frees; size 0: there is no more. */
  uint8_t *(*more)(void *context, uint32_t helper, size_t *size);
  /* Adds what the helper has found. */
  void (*end)(void *context, uint32_t helper, uint64_t *forced, uint64_t *damaged, struct problems *problems);
  void *context;
};

/* The same with the help of others, if there are any; then the reader returns the same records, without CPUs and
 * counts, and there is one pass. */
struct log_reader *log_reader_open_helped(const struct log_part *parts, uint32_t count, enum log_selection selection,
                                          const struct log_help *help, struct problems *problems);

/* What a helper does: lists what it has opened of so many parts, for its caller to release, and takes the records as
 * they are in the files, for log_batch_put().  Without a reader nothing is usable. */
void log_reader_list(const struct log_reader *reader, uint32_t parts, struct log_list *list);
bool log_reader_next_raw(struct log_reader *reader, struct log_reader_record *record);

/* Returns whether a part of the job has a log. */
bool log_reader_has(const struct log_reader *reader, uint32_t part);

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

/* The record that was returned last needs one that has not been returned, as clocks of hosts differ: it is returned
 * again once its part is resumed, and all other records of the part after it.  Meanwhile log_reader_next() also returns
 * false if all records that are left are of such parts.  Not with help. */
void log_reader_hold(struct log_reader *reader);

/* Resumes a part.  Its records come where they are by their clock or, if `moves`, behind the last one that was taken.
 * Returns by how much the one that was held is moved for that, on the job's clock; 0: it is not. */
uint64_t log_reader_resume(struct log_reader *reader, uint32_t part, bool moves);

/* Starts another pass at the first record. */
void log_reader_rewind(struct log_reader *reader);

/* Returns how often in this pass all streams waited, so that one continued without the object that its record names. */
uint64_t log_reader_forced(const struct log_reader *reader);

/* Returns the number of streams that were found incomplete in this pass. */
uint64_t log_reader_damaged(const struct log_reader *reader);

#endif
