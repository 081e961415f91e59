#include "hpcprof-lite/input/log_reader.h"

#include "common/counters.h"
#include "common/format.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/log_batch.h"
#include "hpcprof-lite/input/stream_extents.h"
#include "hpcprof-lite/model/heap.h"
#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* EXTENT_MAX: hpcrun-lite writes at most a quarter.  Bounds the time for hostile logs, whose extents are decoded once
 * for each slice. */
enum {
  NO_STREAM = UINT32_MAX,
  NO_CPU = UINT32_MAX,
  HELD_MAX = 1 << 14, /* locks that are held at one time; of more, the holder is not known */
  SLICE_MIN = 4 << 10,
  EXTENT_MAX = 1 << 20,
  SLICE_MAX = 128 << 10 /* half of the longest extents that hpcrun-lite writes */
};

/* Visits of waiting streams, and of streams in search of a lock's holder, in one pass; after these none waits any more.
 * Bounds the time for hostile logs. */
static const uint64_t visits_max = (uint64_t)256 << 20;

/* The objects that records create and name. */
enum object { OBJECT_TASK, OBJECT_REGION, OBJECT_JOIN, OBJECT_KINDS };

struct stream {
  size_t extent, extents_end; /* the next extent, and the end of the thread's extents  */
  uint32_t number;            /* the number that the next extent must have            */
  uint32_t cpu;               /* of the last CPU record, or NO_CPU                   */
  uint8_t *bytes;             /* of the decoded extent, a slice                      */
  size_t size, offset;        /* of these bytes; of the next record                  */
  size_t before, whole;       /* bytes of the extent before the slice, and all of it */
  uint64_t time_ticks;        /* the stream's time, after `record`                   */
  uint64_t begin_ticks;       /* when `record` happens, */
  uint64_t own;               /* and that time on the job's clock                    */
  struct graphlog_record record;
  uint64_t created[OBJECT_KINDS];     /* the highest number of the objects that it created   */
  uint64_t counts[COUNTERS_MAX];      /* of the next fragment, or of `record` if it is one   */
  bool counted;                       /* whether these are known                             */
  bool timed, ended;                  /* timed: the extent has set the time                   */
  bool ran, sampled;                  /* a fragment has begun; the next one has samples       */
  uint32_t waits_on;                  /* the stream that must create an object, or NO_STREAM */
  uint32_t first_waiter, next_waiter; /* next_waiter: also of those whose part is held */
  enum object awaited;                /* that object */
  uint64_t awaited_number;
};

/* The log of a process. */
struct log_file {
  struct stream_extents extents;
  uint32_t first_owner, owners; /* of its threads, which follow those of the files before */
  const uint32_t *rows;         /* the caller's: see struct log_part */
  uint32_t rows_count;
  const struct profile_process *process; /* likewise; NULL: not limited */
  bool limited;                          /* it is, to a part of the run */
  const struct log_clock *clock;         /* likewise; NULL: ticks are those of the job */
  double scale;                          /* likewise */
  bool held;                             /* its streams leave the heap when they are the first ones there, */
  uint32_t first_held;                   /* for this list; or NO_STREAM; */
  uint32_t held_for;                     /* the stream whose record needs others */
  uint64_t not_before;                   /* none of its records comes before that */
};

struct log_reader {
  struct log_file *files;
  uint32_t files_count;
  struct problems *problems;
  enum log_selection selection;
  size_t slice;              /* of an extent, so much is kept decoded    */
  struct log_stream *owners; /* [stream], sorted by owner                */
  struct stream *streams;    /* [stream]; NULL: helpers read them */
  uint64_t *keys;            /* [stream] its time in the heap; with help [helper] */
  uint32_t count;
  struct heap heap; /* streams that do not wait, or helpers that have records, the earliest first */
  uint32_t waiting;
  uint32_t held;                    /* parts */
  uint64_t order, now;              /* `order` of the records that were returned, and taken, last */
  struct hash_map holders;          /* lock → 1 + the stream that holds it, unless it is free  */
  uint32_t returned;                /* the stream whose record was returned last, or NO_STREAM */
  uint64_t forced, damaged, visits; /* in this pass                                            */
  uint64_t damage_reported;         /* damaged streams that are in `problems`                  */
  const struct log_help *help;      /* NULL: none                                              */
  struct helped {
    struct log_batch batch; /* what it has sent, at its next record */
    uint32_t first_stream, streams;
  } * helped; /* [helper] */
};

static const struct log_file *file_of(const struct log_reader *reader, uint32_t number)
{
  return &reader->files[reader->owners[number].part];
}

/* ---- extents ---- */

/* Frees the decoded slice. */
static void drop_bytes(struct stream *stream)
{
  free(stream->bytes);
  stream->bytes = NULL;
  stream->size = stream->offset = stream->before = stream->whole = 0;
}

/* Ends a damaged stream, and reports it unless an earlier pass did. */
static void end_damaged(struct log_reader *reader, uint32_t number, size_t offset, const char *reason)
{
  struct stream *stream = &reader->streams[number];
  const struct log_file *file = file_of(reader, number);
  if (++reader->damaged > reader->damage_reported) {
    reader->damage_reported = reader->damaged;
    problems_add(reader->problems,
                 "%s: thread %u, extent %u at offset %zu: %s: the rest of this thread's log is left out",
                 file->extents.path, reader->owners[number].owner - file->first_owner, stream->number, offset, reason);
  }
  stream->extent = stream->extents_end;
  drop_bytes(stream);
}

/* Decodes an extent, and keeps a slice from an offset on.  Returns NULL, or the fault, which may be in `message`. */
static const char *decode_slice(const struct log_reader *reader, uint32_t number, const struct stream_extent *extent,
                                size_t from, char message[256])
{
  struct stream *stream = &reader->streams[number];
  drop_bytes(stream);
  const char *fault = stream_extents_decode(&file_of(reader, number)->extents, extent, EXTENT_MAX, &stream->bytes,
                                            &stream->size, message);
  if (fault || (!from && stream->size <= reader->slice))
    return fault;
  assert(from <= stream->size);
  uint8_t *decoded = stream->bytes;
  stream->whole = stream->size;
  stream->before = from;
  stream->size = MIN(stream->size - from, reader->slice);
  stream->bytes = xmalloc(stream->size);
  memcpy(stream->bytes, decoded + from, stream->size);
  free(decoded);
  return NULL;
}

/* Moves on in the extent if the next record may not be whole.  False, with the stream at its end, if that fails. */
static bool next_slice(struct log_reader *reader, uint32_t number)
{
  struct stream *stream = &reader->streams[number];
  bool last = stream->before + stream->size >= stream->whole;
  if (last || stream->size - stream->offset >= GRAPHLOG_RECORD_MAX)
    return true;
  char message[256];
  const struct stream_extent *extent = &file_of(reader, number)->extents.extents[stream->extent - 1];
  const char *fault = decode_slice(reader, number, extent, stream->before + stream->offset, message);
  if (fault)
    end_damaged(reader, number, extent->offset, fault);
  return !fault;
}

/* Moves the stream to its next extent.  False at its end. */
static bool next_extent(struct log_reader *reader, uint32_t number)
{
  struct stream *stream = &reader->streams[number];
  assert(stream->extent <= stream->extents_end);
  char message[256];
  const char *fault = "missing";
  const struct stream_extents *file = &file_of(reader, number)->extents;
  drop_bytes(stream);
  while (stream->extent < stream->extents_end && file->extents[stream->extent].first < stream->number)
    stream->extent++; /* a second copy of an extent */
  if (stream->extent == stream->extents_end)
    return false;
  const struct stream_extent *extent = &file->extents[stream->extent];
  if (extent->first == stream->number)
    fault = decode_slice(reader, number, extent, 0, message);
  if (fault) {
    end_damaged(reader, number, extent->offset, fault);
    return false;
  }
  stream->extent++;
  stream->number++;
  stream->timed = false;
  return true;
}

/* ---- records ---- */

static bool is_fragment(enum graphlog_op op)
{
  return op == GRAPHLOG_RUN || op == GRAPHLOG_RUN_OTHER;
}

static bool is_of_messages(enum graphlog_op op)
{
  return op >= GRAPHLOG_MPI_CALL && op < GRAPHLOG_DEVICE;
}

/* What precedes a fragment: keeps the events that it has counted. */
static void take_count(struct stream *stream)
{
  const uint64_t *operand = stream->record.operand;
  stream->counted = true;
  if (operand[0] < COUNTERS_MAX)
    model_add(&stream->counts[operand[0]], operand[1]);
}

/* ---- names in a job ---- */

/* A number that no thread has: operands that name a thread which the process does not have. */
enum { NO_OWNER = UINT32_MAX };

static uint32_t owner_of(const struct log_file *file, uint64_t thread)
{
  return thread < file->owners ? file->first_owner + (uint32_t)thread : NO_OWNER;
}

/* Turns a name of the file into one of the job.  Number 0: there is no object. */
static void place_name(const struct log_file *file, uint64_t name[2])
{
  if (name[1])
    name[0] = owner_of(file, name[0]);
}

/* The operand of a record that is a row; -1: none. */
static int row_operand(enum graphlog_op op)
{
  switch (op) {
  case GRAPHLOG_REGION:
  case GRAPHLOG_REGION_END:
  case GRAPHLOG_GROUP:
  case GRAPHLOG_SCOPE:
  case GRAPHLOG_LOOP:
  case GRAPHLOG_LOOP_ALONE:
  case GRAPHLOG_ACQUIRE:
    return 0;
  case GRAPHLOG_TASK:
    return 2;
  case GRAPHLOG_WAIT:
    return 3;
  default:
    return -1;
  }
}

/* Locks of several processes may have one address. */
static uint64_t lock_of_job(const struct log_file *file, uint64_t lock)
{
  return lock ? lock ^ (uint64_t)file->first_owner << 48 : 0;
}

/* Turns what a record names in its process into names of the job. */
static void place_record(const struct log_file *file, struct graphlog_record *record)
{
  uint64_t *operand = record->operand;
  if (graphlog_names_task(record->op) || record->op == GRAPHLOG_IMPLICIT)
    place_name(file, operand);
  if (record->op == GRAPHLOG_OFFER || record->op == GRAPHLOG_TAKE)
    place_name(file, operand + 2);
  if (record->op == GRAPHLOG_ACQUIRE || record->op == GRAPHLOG_RELEASE) {
    uint64_t *lock = &operand[record->op == GRAPHLOG_ACQUIRE];
    *lock = lock_of_job(file, *lock);
  }
  int row = row_operand(record->op);
  if (file->rows && row >= 0)
    operand[row] = operand[row] < file->rows_count ? file->rows[operand[row]] : UINT32_MAX;
}

/* ---- time ---- */

uint64_t log_clock_ns(const struct log_clock *clock, uint64_t ticks)
{
  if (ticks >= clock->start_ticks)
    return model_sum(clock->start_ns, model_rounded((double)(ticks - clock->start_ticks) * clock->tick_ns));
  uint64_t before = model_rounded((double)(clock->start_ticks - ticks) * clock->tick_ns);
  return clock->start_ns > before ? clock->start_ns - before : 0;
}

/* Of a fragment with more work than time, the log has only when its thread ran again: it also ran before. */
static uint64_t ran_from(const struct graphlog_record *record, uint64_t ticks, uint64_t begin_ticks)
{
  bool ran_before = record->op == GRAPHLOG_RUN_OTHER && record->operand[2] > ticks;
  return ran_before ? begin_ticks - MIN(record->operand[0], begin_ticks) : begin_ticks;
}

/* The time of the stream's record on the job's clock. */
static uint64_t own_time(const struct log_reader *reader, const struct log_file *file, const struct stream *stream)
{
  if (!file->clock)
    return stream->begin_ticks;
  uint64_t ticks = stream->begin_ticks;
  if (reader->selection != LOG_ALL)
    ticks = ran_from(&stream->record, stream->record.operand[1], ticks);
  return log_clock_ns(file->clock, ticks >> file->clock->shift << file->clock->shift);
}

/* ---- the records of a stream ---- */

/* Passes a fragment, which begins after a gap.  Returns whether it has samples, or is the first one. */
static bool pass_fragment(struct stream *stream)
{
  bool wanted = stream->sampled || !stream->ran;
  stream->begin_ticks = model_sum(stream->time_ticks, stream->record.operand[0]);
  stream->time_ticks = model_sum(stream->begin_ticks, stream->record.operand[1]);
  stream->ran = true;
  stream->sampled = false;
  return wanted;
}

/* Whether a record is wanted, and not one of the time, the CPU or a count, which it keeps. */
static bool take_record(const struct log_reader *reader, struct stream *stream)
{
  enum graphlog_op op = stream->record.op;
  stream->begin_ticks = stream->time_ticks;
  bool waits = is_fragment(op) ? pass_fragment(stream) : op == GRAPHLOG_SAMPLE || is_of_messages(op);
  stream->sampled |= op == GRAPHLOG_SAMPLE;
  if (op == GRAPHLOG_TIME)
    stream->time_ticks = MAX(stream->time_ticks, stream->record.operand[0]);
  else if (op == GRAPHLOG_MOVE)
    model_add(&stream->time_ticks, stream->record.operand[0]);
  else if (op == GRAPHLOG_CPU)
    stream->cpu = (uint32_t)MIN(stream->record.operand[0], NO_CPU);
  else if (op == GRAPHLOG_COUNT)
    take_count(stream);
  else
    return reader->selection == LOG_ALL || (reader->selection == LOG_WAITS ? waits : is_of_messages(op));
  return false;
}

/* Moves the stream to its next record that is wanted.  False at its end. */
static bool advance(struct log_reader *reader, uint32_t number)
{
  struct stream *stream = &reader->streams[number];
  const struct log_file *file = file_of(reader, number);
  if (stream->counted && is_fragment(stream->record.op)) {
    memset(stream->counts, 0, sizeof stream->counts);
    stream->counted = false;
  }
  for (;;) {
    bool damaged;
    if (stream->whole && !next_slice(reader, number))
      return false;
    if (!graphlog_next(stream->bytes, stream->size, &stream->offset, &stream->record, &damaged)) {
      if (damaged)
        end_damaged(reader, number, file->extents.extents[stream->extent - 1].offset, "invalid record");
      if (!next_extent(reader, number))
        return false;
      continue;
    }
    if (!stream->timed && stream->record.op != GRAPHLOG_TIME) {
      end_damaged(reader, number, file->extents.extents[stream->extent - 1].offset,
                  "it does not begin with a time record");
      continue;
    }
    stream->timed = true;
    if (take_record(reader, stream))
      break;
  }
  stream->own = own_time(reader, file, stream);
  reader->keys[number] = stream->own;
  return true;
}

/* Which one of two that have one time comes first.  Records of a part that were moved to one time stay in their order.
 */
static bool before_at_once(const struct log_reader *reader, uint32_t a, uint32_t b)
{
  if (!reader->streams || reader->owners[a].part != reader->owners[b].part)
    return a < b;
  const struct stream *x = &reader->streams[a], *y = &reader->streams[b];
  if (x->own != y->own)
    return x->own < y->own;
  return x->begin_ticks < y->begin_ticks || (x->begin_ticks == y->begin_ticks && a < b);
}

/* Of streams or, with help, of helpers. */
static inline bool before(const void *context, uint32_t a, uint32_t b)
{
  const struct log_reader *reader = context;
  const uint64_t *keys = reader->keys;
  return keys[a] != keys[b] ? keys[a] < keys[b] : before_at_once(reader, a, b);
}

static void push(struct log_reader *reader, uint32_t number)
{
  assert(number < reader->count && reader->heap.count < reader->count);
  heap_push(&reader->heap, number, before, reader);
}

/* ---- waiting ---- */

static uint32_t find_stream(const struct log_reader *reader, uint64_t owner)
{
  uint32_t found = (uint32_t)FIRST_WHERE(i, reader->count, reader->owners[i].owner >= owner);
  return found < reader->count && reader->owners[found].owner == owner ? found : NO_STREAM;
}

/* The stream that has yet to create the object named by (thread, number); NO_STREAM if it has, or never will. */
static uint32_t missing_creator(const struct log_reader *reader, uint32_t waiting, enum object kind,
                                const uint64_t *operands)
{
  assert(kind < OBJECT_KINDS);
  uint32_t owner = owner_of(file_of(reader, waiting), operands[0]);
  if (owner == reader->owners[waiting].owner || !operands[1])
    return NO_STREAM;
  uint32_t number = find_stream(reader, owner);
  if (number == NO_STREAM || reader->streams[number].ended || operands[1] <= reader->streams[number].created[kind])
    return NO_STREAM;
  return number;
}

/* The stream that the record must wait for, or NO_STREAM; notes the object that it waits for. */
static uint32_t must_wait_on(const struct log_reader *reader, uint32_t number)
{
  struct stream *stream = &reader->streams[number];
  const uint64_t *operands = stream->record.operand;
  enum graphlog_op op = stream->record.op;
  if (op != GRAPHLOG_IMPLICIT && !graphlog_names_task(op))
    return NO_STREAM;
  stream->awaited = op == GRAPHLOG_IMPLICIT ? OBJECT_REGION : OBJECT_TASK;
  stream->awaited_number = operands[1];
  uint32_t found = missing_creator(reader, number, stream->awaited, operands);
  if (found != NO_STREAM || (op != GRAPHLOG_OFFER && op != GRAPHLOG_TAKE))
    return found;
  stream->awaited = OBJECT_JOIN;
  stream->awaited_number = operands[3];
  return missing_creator(reader, number, OBJECT_JOIN, operands + 2);
}

/* Makes the stream at the heap's root wait for another one. */
static void suspend(struct log_reader *reader, uint32_t number, uint32_t creator_number)
{
  assert(number != creator_number && reader->streams[number].waits_on == NO_STREAM);
  struct stream *stream = &reader->streams[number], *creator = &reader->streams[creator_number];
  heap_next(&reader->heap, false, before, reader);
  stream->waits_on = creator_number;
  stream->next_waiter = creator->first_waiter;
  creator->first_waiter = number;
  reader->waiting++;
}

/* Resumes the streams that need not wait for this one any more. */
static void resume_waiters(struct log_reader *reader, struct stream *creator)
{
  uint32_t *link = &creator->first_waiter;
  while (*link != NO_STREAM) {
    struct stream *stream = &reader->streams[*link];
    reader->visits++;
    if (!creator->ended && stream->awaited_number > creator->created[stream->awaited]) {
      link = &stream->next_waiter;
      continue;
    }
    uint32_t number = *link;
    *link = stream->next_waiter;
    stream->waits_on = NO_STREAM;
    reader->waiting--;
    push(reader, number);
  }
}

/* All streams wait: resumes the earliest one without the object that it waits for. */
static void force_earliest(struct log_reader *reader)
{
  assert(reader->waiting && !reader->heap.count);
  uint32_t first = NO_STREAM;
  for (uint32_t i = 0; i < reader->count; i++, reader->visits++)
    if (reader->streams[i].waits_on != NO_STREAM && (first == NO_STREAM || before(reader, i, first)))
      first = i;
  struct stream *stream = &reader->streams[first];
  uint32_t *link = &reader->streams[stream->waits_on].first_waiter;
  while (*link != first)
    link = &reader->streams[*link].next_waiter;
  *link = stream->next_waiter;
  stream->waits_on = NO_STREAM;
  stream->awaited_number = 0;
  reader->waiting--;
  reader->forced++;
  push(reader, first);
}

/* Counts the object that the stream's record creates.  False if it creates none. */
static bool note_created(const struct log_reader *reader, uint32_t number)
{
  struct stream *stream = &reader->streams[number];
  const struct graphlog_record *record = &stream->record;
  bool join = record->op == GRAPHLOG_OFFER &&
              owner_of(file_of(reader, number), record->operand[2]) == reader->owners[number].owner;
  if (record->op == GRAPHLOG_TASK || record->op == GRAPHLOG_IMPLICIT)
    stream->created[OBJECT_TASK]++;
  else if (record->op == GRAPHLOG_REGION)
    stream->created[OBJECT_REGION]++;
  else if (join && record->operand[3] > stream->created[OBJECT_JOIN])
    stream->created[OBJECT_JOIN] = record->operand[3];
  else
    return false;
  return true;
}

/* ---- locks ---- */

/* Keeps which stream holds a lock, if the stream's record acquires or releases one. */
static void note_holder(struct log_reader *reader, uint32_t number)
{
  const struct graphlog_record *record = &reader->streams[number].record;
  bool acquires = record->op == GRAPHLOG_ACQUIRE, releases = record->op == GRAPHLOG_RELEASE;
  uint64_t lock = acquires || releases ? lock_of_job(file_of(reader, number), record->operand[acquires]) : 0;
  if (!lock)
    return;
  if (acquires || hash_map_find(&reader->holders, lock) == number + 1)
    hash_map_remove(&reader->holders, lock);
  if (acquires && reader->holders.count < HELD_MAX)
    hash_map_add(&reader->holders, lock, number + 1);
}

/* The runtime announces a release after the lock is free, so the next holder's ACQUIRE may be the earlier one.  If the
 * root's record acquires a lock whose holder has only to announce the release, makes the holder the root.  What the
 * holder did before has been returned: it began before the lock was free. */
static void release_first(struct log_reader *reader)
{
  assert(reader->heap.count);
  uint32_t first = reader->heap.items[0];
  const struct graphlog_record *record = &reader->streams[first].record;
  uint64_t lock = record->op == GRAPHLOG_ACQUIRE ? lock_of_job(file_of(reader, first), record->operand[1]) : 0;
  uint32_t holder = lock ? hash_map_find(&reader->holders, lock) : 0;
  if (!holder || holder - 1 == first || reader->visits > visits_max)
    return;
  const struct stream *stream = &reader->streams[--holder];
  if (stream->ended || stream->waits_on != NO_STREAM || stream->record.op != GRAPHLOG_RELEASE ||
      lock_of_job(file_of(reader, holder), stream->record.operand[0]) != lock)
    return;
  uint32_t place = 0;
  uint32_t *items = reader->heap.items;
  while (items[place] != holder)
    place++;
  reader->visits += place;
  for (; place; place = (place - 1) / 2)
    items[place] = items[(place - 1) / 2];
  items[0] = holder;
}

/* ---- merging ---- */

/* Moves the stream whose record was returned, which is the heap's root, to its next record. */
static void advance_returned(struct log_reader *reader)
{
  assert(reader->heap.count && reader->heap.items[0] == reader->returned);
  uint32_t number = reader->returned;
  struct stream *stream = &reader->streams[number];
  bool resumes = note_created(reader, number);
  note_holder(reader, number);
  reader->now = reader->order;
  reader->returned = NO_STREAM;
  stream->ended = !advance(reader, number);
  resumes = resumes || stream->ended;
  heap_next(&reader->heap, !stream->ended, before, reader);
  if (resumes && stream->first_waiter != NO_STREAM)
    resume_waiters(reader, stream);
}

/* ---- parts that are held ---- */

/* The stream at the heap's root is of a part that is held. */
static void set_aside(struct log_reader *reader, uint32_t number)
{
  struct log_file *file = &reader->files[reader->owners[number].part];
  heap_next(&reader->heap, false, before, reader);
  reader->streams[number].next_waiter = file->first_held;
  file->first_held = number;
}

void log_reader_hold(struct log_reader *reader)
{
  assert(!reader->help && reader->returned != NO_STREAM);
  struct log_file *file = &reader->files[reader->owners[reader->returned].part];
  assert(!file->held);
  file->held = true;
  file->held_for = reader->returned;
  reader->held++;
  set_aside(reader, reader->returned);
  reader->returned = NO_STREAM;
}

uint64_t log_reader_resume(struct log_reader *reader, uint32_t part, bool moves)
{
  struct log_file *file = &reader->files[part];
  assert(file->held);
  if (reader->returned != NO_STREAM)
    advance_returned(reader);
  bool moved = moves && reader->keys[file->held_for] <= reader->now;
  if (moved)
    file->not_before = MAX(file->not_before, reader->now + 1);
  file->held = false;
  reader->held--;
  for (uint32_t number = file->first_held, next; number != NO_STREAM; number = next) {
    next = reader->streams[number].next_waiter;
    reader->streams[number].next_waiter = NO_STREAM;
    push(reader, number);
  }
  file->first_held = NO_STREAM;
  return moved ? file->not_before - reader->streams[file->held_for].own : 0;
}

/* ---- the part of the run that is reported ---- */

/* Returns the work of a fragment before a time; the last part of its work is done at its end. */
static uint64_t work_before(const struct log_reader_record *record, uint64_t work, uint64_t ticks)
{
  assert(record->begin_ticks <= record->end_ticks);
  if (ticks <= record->begin_ticks)
    return 0;
  if (ticks >= record->end_ticks)
    return work;
  return (uint64_t)((unsigned __int128)work * (ticks - record->begin_ticks) /
                    (record->end_ticks - record->begin_ticks));
}

/* Reduces a fragment to its part between two times. */
static void limit_fragment(struct log_reader_record *record, uint64_t work, uint64_t from, uint64_t to)
{
  assert(from <= to && record->begin_ticks <= record->end_ticks);
  uint64_t inside = work_before(record, work, to) - work_before(record, work, from);
  if (record->begin_ticks == record->end_ticks)
    record->outside = record->begin_ticks < from || record->begin_ticks >= to;
  else
    record->outside = record->end_ticks <= from || record->begin_ticks >= to;
  record->cut = record->outside || record->begin_ticks < from || record->end_ticks > to;
  record->record.op = GRAPHLOG_RUN_OTHER;
  record->record.operand[2] = inside;
  if (record->outside) {
    record->end_ticks = record->begin_ticks;
    return;
  }
  record->begin_ticks = MAX(record->begin_ticks, from);
  record->end_ticks = MIN(record->end_ticks, to);
}

/* What log_reader_limit() says. */
static void limit(const struct log_file *file, struct log_reader_record *record)
{
  const struct profile_process *process = file->process;
  const uint64_t *operand = record->record.operand;
  bool other = record->record.op == GRAPHLOG_RUN_OTHER, runs = is_fragment(record->record.op);
  uint64_t work = operand[other ? 2 : 1];
  if (other && process->workspan.is_time)
    record->begin_ticks = ran_from(&record->record, record->end_ticks - record->begin_ticks, record->begin_ticks);
  if (!file->limited)
    return;
  if (runs)
    limit_fragment(record, work, process->from_ticks, process->to_ticks);
  else
    record->outside = record->begin_ticks < process->from_ticks || record->begin_ticks >= process->to_ticks;
}

void log_reader_limit(struct log_reader *reader, const struct profile_process *process)
{
  assert(reader->files_count == 1);
  reader->files[0].process = process;
  reader->files[0].limited = process->to_ticks;
}

/* Counts a fragment's work in the job's ticks. */
static void scale_work(double scale, struct graphlog_record *record)
{
  if (!(scale > 0) || !is_fragment(record->op))
    return;
  uint64_t work = record->operand[record->op == GRAPHLOG_RUN ? 1 : 2];
  record->op = GRAPHLOG_RUN_OTHER;
  record->operand[2] = model_rounded((double)work * scale);
}

/* Takes the first record of the streams, as it is in its file. */
static bool next_of_streams(struct log_reader *reader, struct log_reader_record *record)
{
  if (reader->returned != NO_STREAM)
    advance_returned(reader);
  for (bool forced = false;;) {
    if (!reader->heap.count) {
      if (!reader->waiting || reader->held)
        return false;
      force_earliest(reader);
      forced = true;
    }
    uint32_t number = reader->heap.items[0];
    if (file_of(reader, number)->held) {
      set_aside(reader, number);
      continue;
    }
    if (reader->keys[number] < file_of(reader, number)->not_before) {
      reader->keys[number] = file_of(reader, number)->not_before;
      heap_sift(&reader->heap, 0, before, reader);
      continue;
    }
    uint32_t creator = forced || reader->visits > visits_max ? NO_STREAM : must_wait_on(reader, number);
    if (creator != NO_STREAM) {
      suspend(reader, number, creator);
      continue;
    }
    uint64_t order = reader->keys[number];
    release_first(reader);
    number = reader->heap.items[0];
    const struct stream *stream = &reader->streams[number];
    const struct log_clock *clock = reader->selection != LOG_ALL ? file_of(reader, number)->clock : NULL;
    bool runs = is_fragment(stream->record.op);
    record->record = stream->record;
    record->stream = number;
    record->cpu = stream->cpu;
    record->order = reader->order = order;
    record->moved = reader->keys[number] - stream->own;
    record->begin_ticks = clock ? reader->keys[number] : stream->begin_ticks;
    record->end_ticks = stream->time_ticks;
    if (clock)
      record->end_ticks =
          runs ? MAX(record->begin_ticks, log_clock_ns(clock, stream->time_ticks)) : record->begin_ticks;
    record->counts = stream->counted && runs ? stream->counts : NULL;
    record->outside = record->cut = false;
    reader->returned = number;
    return true;
  }
}

/* Takes a helper's next batch.  False at the end of what it reads. */
static bool next_batch(const struct log_reader *reader, uint32_t helper)
{
  struct log_batch *batch = &reader->helped[helper].batch;
  free(batch->bytes);
  *batch = (struct log_batch){0};
  batch->bytes = reader->help->more(reader->help->context, helper, &batch->size);
  return batch->size;
}

/* Ends what a helper sends.  more: it has not sent all so far. */
static void end_helper(struct log_reader *reader, uint32_t helper, bool more)
{
  while (more)
    more = next_batch(reader, helper);
  reader->help->end(reader->help->context, helper, &reader->forced, &reader->damaged, reader->problems);
}

static void end_damaged_helper(struct log_reader *reader, uint32_t helper)
{
  problems_add(reader->problems, "what a rank of hpcprof-lite has sent is damaged: the rest of its logs is left out");
  reader->damaged++;
  end_helper(reader, helper, true);
}

/* Moves to a helper's next record.  False at the end of what it reads. */
static bool advance_helper(struct log_reader *reader, uint32_t helper)
{
  struct helped *helped = &reader->helped[helper];
  bool more = helped->batch.offset < helped->batch.size || next_batch(reader, helper);
  if (more && log_batch_next(&helped->batch, helped->streams)) {
    reader->keys[helper] = helped->batch.time;
    return true;
  }
  if (more)
    end_damaged_helper(reader, helper);
  else
    end_helper(reader, helper, false);
  return false;
}

/* The same of what the helpers have merged. */
static bool next_of_helpers(struct log_reader *reader, struct log_reader_record *record)
{
  if (reader->returned != NO_STREAM)
    heap_next(&reader->heap, advance_helper(reader, reader->returned), before, reader);
  reader->returned = NO_STREAM;
  while (reader->heap.count) {
    uint32_t first = reader->heap.items[0];
    struct helped *helped = &reader->helped[first];
    if (log_batch_get(&helped->batch, record)) {
      record->stream += helped->first_stream;
      reader->returned = first;
      return true;
    }
    end_damaged_helper(reader, first);
    heap_next(&reader->heap, false, before, reader);
  }
  return false;
}

bool log_reader_next_raw(struct log_reader *reader, struct log_reader_record *record)
{
  return reader->help ? next_of_helpers(reader, record) : next_of_streams(reader, record);
}

bool log_reader_next(struct log_reader *reader, struct log_reader_record *record)
{
  if (!log_reader_next_raw(reader, record))
    return false;
  const struct log_file *file = file_of(reader, record->stream);
  record->thread = reader->owners[record->stream].owner;
  record->part = reader->owners[record->stream].part;
  record->local = record->thread - file->first_owner;
  if (reader->files_count > 1 && record->record.op < GRAPHLOG_MPI_CALL)
    place_record(file, &record->record);
  if (file->process)
    limit(file, record);
  scale_work(file->scale, &record->record);
  return true;
}

/* ---- open and close ---- */

/* Enters the threads that have extents in a file, of which `streams` are before.  Returns how many there are then. */
static uint32_t list_owners(const struct log_reader *reader, uint32_t number, uint32_t streams)
{
  const struct log_file *file = &reader->files[number];
  const struct stream_extents *list = &file->extents;
  for (size_t i = 0; i < list->count; i++)
    if (!i || list->extents[i].owner != list->extents[i - 1].owner)
      reader->owners[streams++] = (struct log_stream){file->first_owner + list->extents[i].owner, number};
  return streams;
}

/* Sets the streams of a file, from `stream` on, to before their first records.  Returns the one behind. */
static struct stream *rewind_file(const struct log_reader *reader, uint32_t number, struct stream *stream)
{
  const struct stream_extents *list = &reader->files[number].extents;
  for (size_t i = 0; i < list->count; stream++) {
    uint32_t owner = list->extents[i].owner;
    *stream = (struct stream){
        .extent = i, .cpu = NO_CPU, .waits_on = NO_STREAM, .first_waiter = NO_STREAM, .next_waiter = NO_STREAM};
    while (i < list->count && list->extents[i].owner == owner)
      i++;
    stream->extents_end = i;
  }
  return stream;
}

void log_reader_rewind(struct log_reader *reader)
{
  assert(!reader->help);
  struct stream *stream = reader->streams;
  reader->heap.count = reader->waiting = 0;
  hash_map_release(&reader->holders);
  reader->returned = NO_STREAM;
  reader->forced = reader->damaged = reader->visits = reader->now = 0;
  reader->held = 0;
  for (uint32_t i = 0; i < reader->count; i++)
    drop_bytes(&reader->streams[i]);
  for (uint32_t i = 0; i < reader->files_count; i++) {
    stream = rewind_file(reader, i, stream);
    reader->files[i].held = false;
    reader->files[i].first_held = NO_STREAM;
    reader->files[i].not_before = 0;
  }
  for (uint32_t i = 0; i < reader->count; i++) {
    reader->streams[i].ended = !advance(reader, i);
    if (!reader->streams[i].ended)
      push(reader, i);
  }
}

/* Leaves out the threads of a file that no process can have. */
static void limit_owners(struct stream_extents *list, struct problems *problems)
{
  enum { OWNERS_MAX = 1 << 20 };
  size_t kept = stream_extents_find(list, OWNERS_MAX, 0);
  if (kept < list->count)
    problems_add(problems, "%s: extents of threads from number %d on: left out: %zu", list->path, OWNERS_MAX,
                 list->count - kept);
  list->count = kept;
}

/* Opens the log of a part of the job.  Returns the number of its streams, 0 if it has none that is usable. */
static uint32_t open_file(const struct log_part *part, struct problems *problems, struct log_file *file)
{
  int status = stream_extents_open(part->measurement, LOG_READER_SUFFIX, FORMAT_GRAPH_LOG, problems, &file->extents);
  if (!status)
    limit_owners(&file->extents, problems);
  if (!status && file->extents.path && !file->extents.count)
    problems_add(problems, "%s: it holds no usable graph log", file->extents.path);
  if (status || !file->extents.count)
    return 0;
  uint32_t streams = 0;
  file->owners = (uint32_t)file->extents.extents[file->extents.count - 1].owner + 1;
  for (size_t i = 0; i < file->extents.count; i++)
    streams += !i || file->extents.extents[i].owner != file->extents.extents[i - 1].owner;
  return streams;
}

static struct log_reader *reader_new(const struct log_part *parts, uint32_t count, struct problems *problems)
{
  struct log_reader *reader = xmalloc(sizeof *reader);
  *reader = (struct log_reader){.problems = problems,
                                .returned = NO_STREAM,
                                .files = xcalloc(count, sizeof *reader->files),
                                .files_count = count};
  for (uint32_t i = 0; i < count; i++)
    reader->files[i] = (struct log_file){.extents.fd = -1,
                                         .rows = parts[i].rows,
                                         .rows_count = parts[i].rows_count,
                                         .process = parts[i].process,
                                         .limited = parts[i].process && parts[i].process->to_ticks,
                                         .clock = parts[i].clock,
                                         .scale = parts[i].scale};
  return reader;
}

struct log_reader *log_reader_open_job(const struct log_part *parts, uint32_t count, enum log_selection selection,
                                       struct problems *problems)
{
  struct log_reader *reader = reader_new(parts, count, problems);
  uint32_t owners = 0, streams = 0;
  bool usable = true;
  reader->selection = selection;
  for (uint32_t i = 0; i < count && usable; i++) {
    struct log_file *file = &reader->files[i];
    uint32_t found = open_file(&parts[i], problems, file);
    usable = found || selection != LOG_ALL;
    file->first_owner = owners;
    owners += file->owners;
    reader->count += found;
  }
  if (!usable || !reader->count) {
    reader->count = 0;
    log_reader_close(reader);
    return NULL;
  }
  reader->slice = MIN(MAX(LOG_READER_BYTES_MAX / reader->count, SLICE_MIN), SLICE_MAX);
  reader->owners = xcalloc(reader->count, sizeof *reader->owners); /* one for each thread that has extents */
  for (uint32_t i = 0; i < count; i++)
    streams = list_owners(reader, i, streams);
  reader->streams = xcalloc(reader->count, sizeof *reader->streams);
  reader->keys = xcalloc(reader->count, sizeof *reader->keys);
  reader->heap.items = xcalloc(reader->count, sizeof *reader->heap.items);
  log_reader_rewind(reader);
  return reader;
}

/* ---- help ---- */

void log_list_release(struct log_list *list)
{
  free(list->owners);
  free(list->streams);
  *list = (struct log_list){0};
}

void log_reader_list(const struct log_reader *reader, uint32_t parts, struct log_list *list)
{
  *list =
      (struct log_list){.usable = reader != NULL, .owners = xcalloc(parts, sizeof *list->owners), .parts_count = parts};
  if (!reader)
    return;
  assert(reader->files_count == parts);
  list->streams = xcalloc(reader->count, sizeof *list->streams);
  list->streams_count = reader->count;
  for (uint32_t i = 0; i < parts; i++)
    list->owners[i] = reader->files[i].owners;
  memcpy(list->streams, reader->owners, reader->count * sizeof *list->streams);
}

/* Enters what a helper has opened, from a part on.  Returns false if it contradicts itself. */
static bool enter_list(struct log_reader *reader, const struct log_list *list, uint32_t part, uint32_t *owners)
{
  uint32_t first = *owners;
  for (uint32_t i = 0; i < list->parts_count; i++) {
    reader->files[part + i].owners = list->owners[i];
    reader->files[part + i].first_owner = *owners;
    *owners += list->owners[i];
  }
  for (uint32_t i = 0; i < list->streams_count; i++) {
    const struct log_stream stream = {first + list->streams[i].owner, part + list->streams[i].part};
    const struct log_file *file = &reader->files[stream.part];
    if (list->streams[i].part >= list->parts_count || stream.owner - file->first_owner >= file->owners)
      return false;
    reader->owners[reader->count++] = stream;
  }
  return true;
}

static bool enter_lists(struct log_reader *reader, const struct log_list *lists)
{
  uint32_t parts = 0, streams = 0, owners = 0;
  for (uint32_t i = 0; i < reader->help->helpers; i++) {
    reader->helped[i].first_stream = streams;
    reader->helped[i].streams = lists[i].streams_count;
    streams += lists[i].streams_count;
    parts += lists[i].parts_count;
  }
  bool valid = parts == reader->files_count;
  reader->owners = xcalloc(streams, sizeof *reader->owners);
  for (uint32_t i = parts = 0; i < reader->help->helpers && valid; i++) {
    valid = enter_list(reader, &lists[i], parts, &owners);
    parts += lists[i].parts_count;
  }
  return valid;
}

struct log_reader *log_reader_open_helped(const struct log_part *parts, uint32_t count, enum log_selection selection,
                                          const struct log_help *help, struct problems *problems)
{
  if (!help->helpers)
    return log_reader_open_job(parts, count, selection, problems);
  struct log_reader *reader = reader_new(parts, count, problems);
  struct log_list *lists = xcalloc(help->helpers, sizeof *lists);
  bool usable = help->open(help->context, parts, count, selection, lists, problems);
  reader->help = help;
  reader->helped = xcalloc(help->helpers, sizeof *reader->helped);
  reader->keys = xcalloc(help->helpers, sizeof *reader->keys);
  reader->heap.items = xcalloc(help->helpers, sizeof *reader->heap.items);
  bool valid = usable && enter_lists(reader, lists);
  for (uint32_t i = 0; i < help->helpers; i++) {
    if (usable && advance_helper(reader, i))
      heap_push(&reader->heap, i, before, reader);
    log_list_release(&lists[i]);
  }
  free(lists);
  if (usable && !valid)
    problems_add(problems, "what a rank of hpcprof-lite has sent is damaged: its logs are left out");
  if (valid && reader->count)
    return reader;
  log_reader_close(reader);
  return NULL;
}

struct log_reader *log_reader_open(const char *measurement, struct problems *problems)
{
  return log_reader_open_job(&(struct log_part){.measurement = measurement}, 1, LOG_ALL, problems);
}

uint32_t log_reader_part(const struct log_reader *reader, uint32_t thread, uint32_t *local)
{
  uint32_t part = (uint32_t)FIRST_WHERE(i, reader->files_count, reader->files[i].first_owner > thread);
  assert(part);
  *local = thread - reader->files[part - 1].first_owner;
  return part - 1;
}

void log_reader_close(struct log_reader *reader)
{
  if (!reader)
    return;
  for (uint32_t i = 0; reader->streams && i < reader->count; i++)
    free(reader->streams[i].bytes);
  for (uint32_t i = 0; reader->help && i < reader->heap.count; i++)
    end_helper(reader, reader->heap.items[i], true);
  for (uint32_t i = 0; reader->help && i < reader->help->helpers; i++)
    free(reader->helped[i].batch.bytes);
  for (uint32_t i = 0; i < reader->files_count; i++)
    stream_extents_release(&reader->files[i].extents);
  free(reader->files);
  free(reader->owners);
  free(reader->streams);
  free(reader->keys);
  free(reader->helped);
  free(reader->heap.items);
  hash_map_release(&reader->holders);
  free(reader);
}

bool log_reader_has(const struct log_reader *reader, uint32_t part)
{
  assert(part < reader->files_count);
  return reader->files[part].owners;
}

uint32_t log_reader_count(const struct log_reader *reader)
{
  return reader->count;
}

uint64_t log_reader_forced(const struct log_reader *reader)
{
  return reader->forced;
}

uint64_t log_reader_damaged(const struct log_reader *reader)
{
  return reader->damaged;
}
