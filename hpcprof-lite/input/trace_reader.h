/* Reads the trace of a measurement file, thread by thread.
 *
 * Context: BATCH.  The trace of X.hpcrun is X.trace in the same directory (doc/format.md).  A reader lists its extents;
 * a cursor decodes one thread's, one extent at a time.  Several threads may have cursors of one reader.  All input is
 * hostile: damage is reported, and what it hides is a gap, like an extent that is missing.
 */
#ifndef HPCPROF_LITE_INPUT_TRACE_READER_H
#define HPCPROF_LITE_INPUT_TRACE_READER_H

#include "common/tracelog.h"
#include "hpcprof-lite/input/stream_extents.h"

#define TRACE_READER_SUFFIX ".trace"

struct trace_reader {
  struct stream_extents file;
};

/* Opens the trace of a measurement file; reader->file.count is 0 if there is none.  Returns 0, or ERR_INPUT if it
 * cannot be read; trace_reader_close() in any case. */
int trace_reader_open(const char *measurement, struct problems *problems, struct trace_reader *reader);
void trace_reader_close(struct trace_reader *reader);

/* What a trace holds, according to the first event of a thread that has one (doc/format.md, "Clocks"): it is the same
 * for all processes and threads of a launch. */
enum trace_reader_content { TRACE_READER_NOTHING, TRACE_READER_SAMPLES, TRACE_READER_STATES };
enum trace_reader_content trace_reader_content(const struct trace_reader *reader);

/* Whether the trace of a measurement file holds states, from the first extent in it. */
bool trace_reader_has_states(const char *measurement);

/* Returns how many bytes, decoded, must be read for a part of a thread's trace; an event takes 1 to 3. */
uint64_t trace_reader_bytes(const struct trace_reader *reader, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks);

enum trace_event_kind {
  TRACE_EVENT_STATE,
  TRACE_EVENT_GAP,
  TRACE_EVENT_SAMPLE,
  TRACE_EVENT_CHARGE,
  TRACE_EVENT_USER_COUNT,
  TRACE_EVENT_EVENT_COUNT,
  TRACE_EVENT_OPERATION
};

/* What records of switches say of a wait: ticks without a processor, outside and inside the runtime's own work; ticks
 * asleep in that; how often the thread was woken before that; and ticks outside in which a thread for which it waited
 * had no processor. */
struct trace_event_ready {
  uint64_t preempted, of_own, woken, wakes, no_core;
};

/* Times are the time-stamp counter's.  States and gaps of a thread tile the time since its first one; other
 * events come before the end of the state in which they happened. */
struct trace_event {
  enum trace_event_kind kind;
  uint64_t begin_ticks, end_ticks; /* of a sample, both are its time; of CHARGE, the end of the last state */
  /* a state */
  uint64_t code;      /* see common/tracelog.h */
  uint64_t own_ticks; /* at its end: the runtime's own work */
  bool begun, chunk;  /* an execution of its construct, or a chunk, begins with it */
  bool blocked;       /* the thread slept in a call of the program */
  bool lock_wait;     /* with `blocked`: it waited there for a lock of POSIX or C11 */
  bool mpi;           /* with `blocked`: it was in a call of MPI, asleep or not */
  uint32_t holder;    /* index of the thread that held the lock; 0: not known */
  struct trace_event_ready ready;
  /* what only thread_trace_next() delivers */
  bool outer;    /* a gap before the first state, or after the last one */
  uint32_t lock; /* see struct open_state */
  /* a sample, or a charge */
  enum tracelog_sample_kind sample;
  uint32_t node;
  uint64_t weight;                              /* of a sample; 0: the event's period */
  uint64_t last_ticks;                          /* of a sample: when the one before it was taken, or the stream began */
  uint64_t tool_ns, delay_ns;                   /* since then */
  uint64_t samples, ns, per_busy_ns, in_use_ns; /* of a charge */
  /* a count: of a counter of the program at that time, or of events in that interval */
  uint32_t counter; /* string of the process's file, or number of the event in read_counters() */
  uint64_t value;
  /* an operation that a device has executed: of which construct record */
  uint32_t thread, record;
};

/* What a sample stands for.  period: the event's. */
static inline uint64_t trace_event_weight(const struct trace_event *event, uint64_t period)
{
  return event->weight ? event->weight : period;
}

struct trace_cursor {
  const struct trace_reader *reader;
  struct problems *problems;  /* may be NULL: damage is not reported */
  size_t extent, extents_end; /* the next one, and the end of the thread's extents */
  uint32_t number;            /* the number that the next extent must have */
  uint8_t *bytes;
  size_t size, offset;
  uint64_t state_clock, sample_clock;
  bool timed, begun, chunk_begun, started;
  bool missing; /* an extent before the one that is read is missing */
  bool counts;  /* set by the caller after trace_cursor_open(): counts are wanted */
  bool devices; /* likewise: operations of devices; they are in the stream of "thread" 0 */
  uint32_t holder;
  struct {
    uint64_t moment; /* of the state clock, in the state */
    struct trace_event_ready figures;
  } ready[2]; /* of states that have not come yet, the earlier one first; moment 0: none */
};

/* Begins to read the trace of the thread with that index.  trace_cursor_close() afterwards. */
void trace_cursor_open(const struct trace_reader *reader, uint32_t thread, struct problems *problems,
                       struct trace_cursor *cursor);

/* Skips most of what comes before a time; must be called before the first event.  What is damaged there is not
 * reported.  Some events before the time may still come. */
void trace_cursor_seek(struct trace_cursor *cursor, uint64_t ticks);
void trace_cursor_close(struct trace_cursor *cursor);

/* Fills in the next event.  Returns false after the last one. */
bool trace_cursor_next(struct trace_cursor *cursor, struct trace_event *event);

#endif
