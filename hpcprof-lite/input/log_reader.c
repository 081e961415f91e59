#include "hpcprof-lite/input/log_reader.h"

#include "common/counters.h"
#include "common/format.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/stream_extents.h"
#include "hpcprof-lite/model/heap.h"
#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  NO_STREAM = UINT32_MAX,
  NO_CPU = UINT32_MAX,
  HELD_MAX = 1 << 14 /* locks that are held at one time; of more, the holder is not known */
};

/* Visits of waiting streams, and of streams in search of a lock's holder, in one pass; after these none waits any more.
 * Bounds the time for hostile logs. */
static const uint64_t visits_max = (uint64_t)256 << 20;

/* The objects that records create and name. */
enum object { OBJECT_TASK, OBJECT_REGION, OBJECT_JOIN, OBJECT_KINDS };

struct stream {
  uint32_t owner;             /* thread, counted from the first one of the first file */
  uint32_t file;              /* whose thread it is                                  */
  size_t extent, extents_end; /* the next extent, and the end of the thread's extents  */
  uint32_t number;            /* the number that the next extent must have            */
  uint32_t cpu;               /* of the last CPU record, or NO_CPU                   */
  uint8_t *bytes;             /* of the decoded extent                                */
  size_t size, offset;        /* of these bytes; of the next record                  */
  uint64_t time_ticks;        /* the stream's time, after `record`                   */
  uint64_t begin_ticks;       /* when `record` happens: the key of the heap          */
  struct graphlog_record record;
  uint64_t created[OBJECT_KINDS]; /* the highest number of the objects that it created   */
  uint64_t counts[COUNTERS_MAX];  /* of the next fragment, or of `record` if it is one   */
  bool counted;                   /* whether these are known                             */
  bool timed, ended;              /* timed: the extent has set the time                   */
  uint32_t waits_on;              /* the stream that must create an object, or NO_STREAM */
  uint32_t first_waiter, next_waiter;
  enum object awaited; /* that object */
  uint64_t awaited_number;
};

/* The log of a process. */
struct log_file {
  struct stream_extents extents;
  uint32_t first_owner, owners; /* of its threads, which follow those of the files before */
  const uint32_t *rows;         /* the caller's: see struct log_part */
  uint32_t rows_count;
  const struct profile_process *process; /* likewise; NULL: not limited */
};

struct log_reader {
  struct log_file *files;
  uint32_t files_count;
  struct problems *problems;
  size_t bytes;           /* of all decoded extents */
  struct stream *streams; /* sorted by owner       */
  uint32_t count;
  struct heap heap; /* streams that do not wait, the earliest first */
  uint32_t waiting;
  struct hash_map holders;          /* lock → 1 + the stream that holds it, unless it is free  */
  uint32_t returned;                /* the stream whose record was returned last, or NO_STREAM */
  uint64_t forced, damaged, visits; /* in this pass                                            */
  uint64_t damage_reported;         /* damaged streams that are in `problems`                  */
};

static struct stream_extents *extents_of(const struct log_reader *reader, const struct stream *stream)
{
  return &reader->files[stream->file].extents;
}

/* ---- extents ---- */

/* Frees the decoded extent. */
static void drop_bytes(struct log_reader *reader, struct stream *stream)
{
  assert(reader->bytes >= stream->size);
  free(stream->bytes);
  reader->bytes -= stream->size;
  stream->bytes = NULL;
  stream->size = stream->offset = 0;
}

/* Ends a damaged stream, and reports it unless an earlier pass did. */
static void end_damaged(struct log_reader *reader, struct stream *stream, size_t offset, const char *reason)
{
  if (++reader->damaged > reader->damage_reported) {
    reader->damage_reported = reader->damaged;
    problems_add(reader->problems,
                 "%s: thread %u, extent %u at offset %zu: %s: the rest of this thread's log is left out",
                 extents_of(reader, stream)->path, stream->owner - reader->files[stream->file].first_owner,
                 stream->number, offset, reason);
  }
  stream->extent = stream->extents_end;
  drop_bytes(reader, stream);
}

/* Moves the stream to its next extent.  False at its end. */
static bool next_extent(struct log_reader *reader, struct stream *stream)
{
  assert(stream->extent <= stream->extents_end);
  char message[256];
  const char *fault = "missing";
  const struct stream_extents *file = extents_of(reader, stream);
  drop_bytes(reader, stream);
  while (stream->extent < stream->extents_end && file->extents[stream->extent].first < stream->number)
    stream->extent++; /* a second copy of an extent */
  if (stream->extent == stream->extents_end)
    return false;
  const struct stream_extent *extent = &file->extents[stream->extent];
  if (extent->first == stream->number)
    fault = stream_extents_decode(file, extent, LOG_READER_BYTES_MAX - reader->bytes, &stream->bytes, &stream->size,
                                  message);
  if (fault) {
    end_damaged(reader, stream, extent->offset, fault);
    return false;
  }
  reader->bytes += stream->size;
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

/* Turns a name of the file into one of the job.  Number 0: there is no object. */
static void place_name(const struct log_file *file, uint64_t name[2])
{
  if (name[1])
    name[0] = name[0] < file->owners ? file->first_owner + name[0] : NO_OWNER;
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

/* Moves the stream to its next record other than those of the time, the CPU and counts.  False at its end. */
static bool advance(struct log_reader *reader, struct stream *stream)
{
  if (stream->counted && is_fragment(stream->record.op)) {
    memset(stream->counts, 0, sizeof stream->counts);
    stream->counted = false;
  }
  for (;;) {
    bool damaged;
    if (!graphlog_next(stream->bytes, stream->size, &stream->offset, &stream->record, &damaged)) {
      if (damaged)
        end_damaged(reader, stream, extents_of(reader, stream)->extents[stream->extent - 1].offset, "invalid record");
      if (!next_extent(reader, stream))
        return false;
      continue;
    }
    enum graphlog_op op = stream->record.op;
    if (!stream->timed && op != GRAPHLOG_TIME) {
      end_damaged(reader, stream, extents_of(reader, stream)->extents[stream->extent - 1].offset,
                  "it does not begin with a time record");
      continue;
    }
    stream->timed = true;
    if (op == GRAPHLOG_TIME)
      stream->time_ticks = MAX(stream->time_ticks, stream->record.operand[0]);
    else if (op == GRAPHLOG_MOVE)
      model_add(&stream->time_ticks, stream->record.operand[0]);
    else if (op == GRAPHLOG_CPU)
      stream->cpu = (uint32_t)MIN(stream->record.operand[0], NO_CPU);
    else if (op == GRAPHLOG_COUNT)
      take_count(stream);
    else
      break;
  }
  if (reader->files_count > 1)
    place_record(&reader->files[stream->file], &stream->record);
  bool runs = is_fragment(stream->record.op);
  stream->begin_ticks = runs ? model_sum(stream->time_ticks, stream->record.operand[0]) : stream->time_ticks;
  if (runs)
    stream->time_ticks = model_sum(stream->begin_ticks, stream->record.operand[1]);
  return true;
}

static bool before(const void *context, uint32_t a, uint32_t b)
{
  const struct log_reader *reader = context;
  uint64_t x = reader->streams[a].begin_ticks, y = reader->streams[b].begin_ticks;
  return x < y || (x == y && a < b);
}

static void push(struct log_reader *reader, uint32_t number)
{
  assert(number < reader->count && reader->heap.count < reader->count);
  heap_push(&reader->heap, number, before, reader);
}

/* ---- waiting ---- */

static uint32_t find_stream(const struct log_reader *reader, uint64_t owner)
{
  uint32_t found = (uint32_t)FIRST_WHERE(i, reader->count, reader->streams[i].owner >= owner);
  return found < reader->count && reader->streams[found].owner == owner ? found : NO_STREAM;
}

/* The stream that has yet to create the object named by (thread, number); NO_STREAM if it has, or never will. */
static uint32_t missing_creator(const struct log_reader *reader, const struct stream *stream, enum object kind,
                                const uint64_t *operands)
{
  assert(kind < OBJECT_KINDS);
  if (operands[0] == stream->owner || !operands[1])
    return NO_STREAM;
  uint32_t number = find_stream(reader, operands[0]);
  if (number == NO_STREAM || reader->streams[number].ended || operands[1] <= reader->streams[number].created[kind])
    return NO_STREAM;
  return number;
}

/* The stream that the record must wait for, or NO_STREAM; notes the object that it waits for. */
static uint32_t must_wait_on(const struct log_reader *reader, struct stream *stream)
{
  const uint64_t *operands = stream->record.operand;
  enum graphlog_op op = stream->record.op;
  if (op != GRAPHLOG_IMPLICIT && !graphlog_names_task(op))
    return NO_STREAM;
  stream->awaited = op == GRAPHLOG_IMPLICIT ? OBJECT_REGION : OBJECT_TASK;
  stream->awaited_number = operands[1];
  uint32_t found = missing_creator(reader, stream, stream->awaited, operands);
  if (found != NO_STREAM || (op != GRAPHLOG_OFFER && op != GRAPHLOG_TAKE))
    return found;
  stream->awaited = OBJECT_JOIN;
  stream->awaited_number = operands[3];
  return missing_creator(reader, stream, OBJECT_JOIN, operands + 2);
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
static bool note_created(struct stream *stream)
{
  const struct graphlog_record *record = &stream->record;
  bool join = record->op == GRAPHLOG_OFFER && record->operand[2] == stream->owner;
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
  uint64_t lock = record->operand[acquires ? 1 : 0];
  if (!(acquires || releases) || !lock)
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
  const struct graphlog_record *record = &reader->streams[reader->heap.items[0]].record;
  uint32_t holder = record->op == GRAPHLOG_ACQUIRE ? hash_map_find(&reader->holders, record->operand[1]) : 0;
  if (!holder || holder - 1 == reader->heap.items[0] || reader->visits > visits_max)
    return;
  const struct stream *stream = &reader->streams[--holder];
  if (stream->ended || stream->waits_on != NO_STREAM || stream->record.op != GRAPHLOG_RELEASE ||
      stream->record.operand[0] != record->operand[1])
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
  struct stream *stream = &reader->streams[reader->returned];
  bool resumes = note_created(stream);
  note_holder(reader, reader->returned);
  reader->returned = NO_STREAM;
  stream->ended = !advance(reader, stream);
  resumes = resumes || stream->ended;
  heap_next(&reader->heap, !stream->ended, before, reader);
  if (resumes && stream->first_waiter != NO_STREAM)
    resume_waiters(reader, stream);
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

static void limit(const struct profile_process *process, struct log_reader_record *record)
{
  const uint64_t *operand = record->record.operand;
  bool other = record->record.op == GRAPHLOG_RUN_OTHER, runs = is_fragment(record->record.op);
  uint64_t work = operand[other ? 2 : 1], ticks = record->end_ticks - record->begin_ticks;
  if (other && process->workspan.is_time && work > ticks) /* the thread also ran before, in what looks like a gap */
    record->begin_ticks -= MIN(operand[0], record->begin_ticks);
  if (!process->to_ticks)
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
}

bool log_reader_next(struct log_reader *reader, struct log_reader_record *record)
{
  if (reader->returned != NO_STREAM)
    advance_returned(reader);
  for (bool forced = false;;) {
    if (!reader->heap.count) {
      if (!reader->waiting)
        return false;
      force_earliest(reader);
      forced = true;
    }
    uint32_t number = reader->heap.items[0];
    struct stream *stream = &reader->streams[number];
    uint32_t creator = forced || reader->visits > visits_max ? NO_STREAM : must_wait_on(reader, stream);
    if (creator != NO_STREAM) {
      suspend(reader, number, creator);
      continue;
    }
    release_first(reader);
    number = reader->heap.items[0];
    stream = &reader->streams[number];
    *record = (struct log_reader_record){.record = stream->record,
                                         .stream = number,
                                         .thread = stream->owner,
                                         .cpu = stream->cpu,
                                         .begin_ticks = stream->begin_ticks,
                                         .end_ticks = stream->time_ticks};
    if (stream->counted && is_fragment(stream->record.op))
      record->counts = stream->counts;
    const struct profile_process *process = reader->files[stream->file].process;
    if (process)
      limit(process, record);
    reader->returned = number;
    return true;
  }
}

/* ---- open and close ---- */

/* The number of threads that have extents in a file. */
static uint32_t count_streams(const struct stream_extents *file)
{
  uint32_t count = 0;
  for (size_t i = 0; i < file->count; i++)
    count += !i || file->extents[i].owner != file->extents[i - 1].owner;
  return count;
}

/* Sets the streams of a file, from `stream` on, to before their first records.  Returns the one behind. */
static struct stream *rewind_file(const struct log_reader *reader, uint32_t number, struct stream *stream)
{
  const struct log_file *file = &reader->files[number];
  const struct stream_extents *list = &file->extents;
  for (size_t i = 0; i < list->count; stream++) {
    uint32_t owner = list->extents[i].owner;
    *stream = (struct stream){.owner = file->first_owner + owner,
                              .file = number,
                              .extent = i,
                              .cpu = NO_CPU,
                              .waits_on = NO_STREAM,
                              .first_waiter = NO_STREAM,
                              .next_waiter = NO_STREAM};
    while (i < list->count && list->extents[i].owner == owner)
      i++;
    stream->extents_end = i;
  }
  return stream;
}

void log_reader_rewind(struct log_reader *reader)
{
  struct stream *stream = reader->streams;
  reader->heap.count = reader->waiting = 0;
  hash_map_release(&reader->holders);
  reader->returned = NO_STREAM;
  reader->forced = reader->damaged = reader->visits = 0;
  for (uint32_t i = 0; i < reader->count; i++)
    drop_bytes(reader, &reader->streams[i]);
  for (uint32_t i = 0; i < reader->files_count; i++)
    stream = rewind_file(reader, i, stream);
  for (uint32_t i = 0; i < reader->count; i++) {
    reader->streams[i].ended = !advance(reader, &reader->streams[i]);
    if (!reader->streams[i].ended)
      push(reader, i);
  }
}

/* Opens the log of a part of the job.  Returns false if it has none that is usable. */
static bool open_file(const struct log_part *part, struct problems *problems, struct log_file *file)
{
  enum { OWNERS_MAX = 1 << 20 };
  int status = stream_extents_open(part->measurement, LOG_READER_SUFFIX, FORMAT_GRAPH_LOG, problems, &file->extents);
  if (!status && file->extents.path && !file->extents.count)
    problems_add(problems, "%s: it holds no usable graph log", file->extents.path);
  if (status || !file->extents.count)
    return false;
  uint32_t last = file->extents.extents[file->extents.count - 1].owner;
  file->owners = last < OWNERS_MAX ? last + 1 : OWNERS_MAX;
  file->rows = part->rows;
  file->rows_count = part->rows_count;
  file->process = part->process;
  return true;
}

struct log_reader *log_reader_open_job(const struct log_part *parts, uint32_t count, struct problems *problems)
{
  struct log_reader *reader = xmalloc(sizeof *reader);
  *reader = (struct log_reader){.problems = problems,
                                .returned = NO_STREAM,
                                .files = xcalloc(count, sizeof *reader->files),
                                .files_count = count};
  uint32_t owners = 0;
  bool usable = true;
  for (uint32_t i = 0; i < count && usable; i++) {
    struct log_file *file = &reader->files[i];
    usable = open_file(&parts[i], problems, file);
    file->first_owner = owners;
    owners += file->owners;
    reader->count += count_streams(&file->extents);
  }
  if (!usable) {
    reader->count = 0;
    log_reader_close(reader);
    return NULL;
  }
  reader->streams = xcalloc(reader->count, sizeof *reader->streams); /* one for each thread that has extents */
  reader->heap.items = xcalloc(reader->count, sizeof *reader->heap.items);
  log_reader_rewind(reader);
  return reader;
}

struct log_reader *log_reader_open(const char *measurement, struct problems *problems)
{
  return log_reader_open_job(&(struct log_part){.measurement = measurement}, 1, problems);
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
  for (uint32_t i = 0; i < reader->count; i++)
    free(reader->streams[i].bytes);
  for (uint32_t i = 0; i < reader->files_count; i++)
    stream_extents_release(&reader->files[i].extents);
  free(reader->files);
  free(reader->streams);
  free(reader->heap.items);
  hash_map_release(&reader->holders);
  free(reader);
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
