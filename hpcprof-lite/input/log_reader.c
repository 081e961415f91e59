#include "hpcprof-lite/input/log_reader.h"

#include "common/array.h"
#include "common/format.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_WINDOW = 128, WINDOW = 64 << 10, NOBODY = UINT32_MAX };
static const uint64_t visits_max = (uint64_t)256 << 20; /* of threads that are held back, in search of one to let go */

/* What names stand for. */
enum named { NAMED_TASK, NAMED_REGION, NAMED_JOIN, NAMED_KINDS };

struct chunk {
  uint32_t owner, first;
  size_t offset;
};

struct stream {
  uint32_t owner;
  size_t chunk, chunks_end; /* the next chunk, and the end of the thread's */
  uint32_t number;          /* that the next chunk must have               */
  uint8_t *bytes;
  size_t size, offset;
  uint64_t time; /* ticks */
  uint64_t key;  /* when the record happens */
  struct graphlog_record record;
  uint64_t made[NAMED_KINDS];
  bool begun, ended; /* begun: its chunk has told the time */
  uint32_t held_by, next_held, first_held;
  enum named needs;
  uint64_t needs_number;
};

struct log_reader {
  char *path;
  int fd;
  size_t size;
  struct problems *problems;
  struct chunk *chunks;
  size_t chunks_count, chunks_room, bytes; /* bytes: decoded now */
  struct stream *streams;                  /* by owner */
  uint32_t count;
  uint32_t *heap; /* threads that go on, the earliest first */
  uint32_t heap_count, held;
  uint32_t taken; /* whose record was handed out last, NOBODY */
  uint64_t forced, damaged, visits;
  uint64_t told; /* damage that was named, in this pass or one before */
  bool overflow; /* a chunk was left out for want of memory */
};

/* ---- chunks ---- */

static bool read_at(const struct log_reader *streams, void *into, size_t size, size_t offset)
{
  uint8_t *at = into;
  while (size) {
    ssize_t got = pread(streams->fd, at, size, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    at += got;
    offset += (size_t)got;
    size -= (size_t)got;
  }
  return true;
}

/* The next place from which a chunk may start: mostly not far.  Where there are many, little is read again. */
static size_t next_magic(const struct log_reader *streams, size_t from)
{
  static const uint64_t magic = FORMAT_MAGIC;
  uint8_t window[WINDOW];
  for (size_t most = FIRST_WINDOW; from + sizeof magic <= streams->size; most = WINDOW) {
    size_t take = streams->size - from < most ? streams->size - from : most;
    if (!read_at(streams, window, take, from))
      break;
    const uint8_t *found = memmem(window, take, &magic, sizeof magic);
    if (found)
      return from + (size_t)(found - window);
    from += take - sizeof magic + 1;
  }
  return streams->size;
}

static const char *header_fault(const struct format_chunk *head, size_t rest)
{
  if (head->magic != FORMAT_MAGIC)
    return "no chunk begins here";
  if (head->version != FORMAT_VERSION)
    return "written by another version of hpcrun-lite";
  if (head->stored_size > rest)
    return "cut off: the file ends before the chunk does";
  if (head->table >= FORMAT_TABLES)
    return "unknown kind of chunk";
  return NULL;
}

static int add_chunk(struct log_reader *streams, const struct format_chunk *head, size_t offset)
{
  if (!array_reserve(&streams->chunks, &streams->chunks_room, streams->chunks_count + 1, sizeof *streams->chunks))
    return ERR_NOMEM;
  streams->chunks[streams->chunks_count++] =
      (struct chunk){.owner = head->owner, .first = head->first, .offset = offset};
  return 0;
}

static int by_owner(const void *a, const void *b)
{
  const struct chunk *x = a, *y = b;
  if (x->owner != y->owner)
    return x->owner < y->owner ? -1 : 1;
  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Lists the chunks by their headers. */
static int find_chunks(struct log_reader *streams)
{
  size_t offset = 0;
  int status = 0;
  while (offset < streams->size && !status) {
    struct format_chunk head = {0};
    size_t rest = streams->size - offset;
    bool whole = rest >= sizeof head && read_at(streams, &head, sizeof head, offset);
    const char *fault = whole ? header_fault(&head, rest - sizeof head) : "the file ends within a chunk's header";
    if (whole && !head.magic) { /* a thread was about to begin one */
      offset = next_magic(streams, offset + 1);
      continue;
    }
    if (fault) {
      problems_add(streams->problems, "%s: cannot read the chunk at offset %zu: %s: left out", streams->path, offset,
                   fault);
      offset = next_magic(streams, offset + 1);
      continue;
    }
    if (head.table == FORMAT_GRAPH_LOG)
      status = add_chunk(streams, &head, offset);
    offset += sizeof head + head.stored_size;
  }
  if (streams->chunks_count)
    qsort(streams->chunks, streams->chunks_count, sizeof *streams->chunks, by_owner);
  return status;
}

static void drop_bytes(struct log_reader *streams, struct stream *stream)
{
  free(stream->bytes);
  streams->bytes -= stream->size;
  stream->bytes = NULL;
  stream->size = stream->offset = 0;
}

/* The stream ends here, for a reason that is no orderly end. */
static void damage(struct log_reader *streams, struct stream *stream, size_t offset, const char *reason)
{
  if (++streams->damaged > streams->told) {
    streams->told = streams->damaged;
    problems_add(streams->problems,
                 "%s: thread %u, chunk %u at offset %zu: %s: of this thread only what is before counts", streams->path,
                 stream->owner, stream->number, offset, reason);
  }
  stream->chunk = stream->chunks_end;
  drop_bytes(streams, stream);
}

/* Decodes a chunk's payload into the stream.  NULL, or what is wrong with it. */
static const char *decode(struct log_reader *streams, struct stream *stream, size_t offset, char message[256])
{
  struct format_chunk head;
  struct format_view view;
  size_t at = 0, stored = 0;
  if (read_at(streams, &head, sizeof head, offset))
    stored = sizeof head + head.stored_size;
  if (!stored || head.stored_size > LOG_READER_CHUNK_MAX * 2 || head.count > LOG_READER_CHUNK_MAX ||
      head.record_size != 1)
    return "impossibly large, or not readable any more";
  if (streams->bytes + head.count > LOG_READER_BYTES_MAX)
    return "more threads at once than memory is used for";
  uint8_t *bytes = malloc(stored);
  streams->overflow = streams->overflow || !bytes;
  if (!bytes || !read_at(streams, bytes, stored, offset)) {
    free(bytes);
    return "not readable any more";
  }
  enum format_error error = format_next(bytes, stored, &at, &view, message, 256);
  free(bytes);
  streams->overflow = streams->overflow || error == FORMAT_NOMEM;
  if (error) {
    const char *reason = strstr(message, ": ");
    return reason ? reason + 2 : message;
  }
  stream->bytes = view.data;
  stream->size = view.head.count;
  streams->bytes += stream->size;
  return NULL;
}

/* The stream's next chunk.  False at its end. */
static bool next_chunk(struct log_reader *streams, struct stream *stream)
{
  char message[256];
  drop_bytes(streams, stream);
  while (stream->chunk < stream->chunks_end && streams->chunks[stream->chunk].first < stream->number)
    stream->chunk++; /* the same once more */
  if (stream->chunk == stream->chunks_end)
    return false;
  const struct chunk *chunk = &streams->chunks[stream->chunk];
  const char *fault = chunk->first > stream->number ? "missing" : decode(streams, stream, chunk->offset, message);
  if (fault) {
    damage(streams, stream, chunk->offset, fault);
    return false;
  }
  stream->chunk++;
  stream->number++;
  stream->begun = false;
  return true;
}

/* ---- records ---- */

static uint64_t later(uint64_t time, uint64_t ticks)
{
  return time + ticks < time ? UINT64_MAX : time + ticks;
}

/* The stream's next record that is not about time alone.  False at its end. */
static bool advance(struct log_reader *streams, struct stream *stream)
{
  for (;;) {
    bool damaged;
    if (!graphlog_next(stream->bytes, stream->size, &stream->offset, &stream->record, &damaged)) {
      if (damaged)
        damage(streams, stream, streams->chunks[stream->chunk - 1].offset, "no record where one should be");
      if (!next_chunk(streams, stream))
        return false;
      continue;
    }
    enum graphlog_op op = stream->record.op;
    if (!stream->begun && op != GRAPHLOG_TIME) {
      damage(streams, stream, streams->chunks[stream->chunk - 1].offset, "it does not begin with the time");
      continue;
    }
    stream->begun = true;
    if (op == GRAPHLOG_TIME)
      stream->time = stream->record.operand[0] > stream->time ? stream->record.operand[0] : stream->time;
    else if (op == GRAPHLOG_MOVE)
      stream->time = later(stream->time, stream->record.operand[0]);
    else if (op != GRAPHLOG_CPU)
      break;
  }
  bool runs = stream->record.op == GRAPHLOG_RUN || stream->record.op == GRAPHLOG_RUN_OTHER;
  stream->key = runs ? later(stream->time, stream->record.operand[0]) : stream->time;
  if (runs)
    stream->time = later(stream->key, stream->record.operand[1]);
  return true;
}

static bool before(const struct log_reader *streams, uint32_t a, uint32_t b)
{
  uint64_t x = streams->streams[a].key, y = streams->streams[b].key;
  return x < y || (x == y && a < b);
}

/* The heap's root may be later than what is below it. */
static void sift_down(struct log_reader *streams)
{
  uint32_t *heap = streams->heap, at = 0, moved = heap[0];
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= streams->heap_count)
      break;
    if (child + 1 < streams->heap_count && before(streams, heap[child + 1], heap[child]))
      child++;
    if (!before(streams, heap[child], moved))
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

static void push(struct log_reader *streams, uint32_t number)
{
  uint32_t *heap = streams->heap, at = streams->heap_count++;
  while (at && before(streams, number, heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = number;
}

static void pop(struct log_reader *streams)
{
  streams->heap[0] = streams->heap[--streams->heap_count];
  if (streams->heap_count)
    sift_down(streams);
}

/* ---- holding back ---- */

static uint32_t find_stream(const struct log_reader *streams, uint64_t owner)
{
  uint32_t low = 0, high = streams->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (streams->streams[middle].owner < owner)
      low = middle + 1;
    else
      high = middle;
  }
  return low < streams->count && streams->streams[low].owner == owner ? low : NOBODY;
}

/* The thread that has yet to make what is named; NOBODY if it has, or never will. */
static uint32_t maker(const struct log_reader *streams, const struct stream *stream, enum named kind,
                      const uint64_t *operands)
{
  if (operands[0] == stream->owner || !operands[1])
    return NOBODY;
  uint32_t number = find_stream(streams, operands[0]);
  if (number == NOBODY || streams->streams[number].ended || operands[1] <= streams->streams[number].made[kind])
    return NOBODY;
  return number;
}

/* Whom the stream's record must wait for, and for what. */
static uint32_t waits_for(const struct log_reader *streams, struct stream *stream)
{
  const uint64_t *operands = stream->record.operand;
  uint32_t found = NOBODY;
  stream->needs = NAMED_TASK;
  stream->needs_number = operands[1];
  switch (stream->record.op) {
  case GRAPHLOG_IMPLICIT:
    stream->needs = NAMED_REGION;
    return maker(streams, stream, NAMED_REGION, operands);
  case GRAPHLOG_IMPLICIT_END:
  case GRAPHLOG_TASK:
  case GRAPHLOG_SWITCH:
  case GRAPHLOG_TASK_END:
  case GRAPHLOG_TASK_DROP:
  case GRAPHLOG_WAIT:
  case GRAPHLOG_WAIT_END:
    return maker(streams, stream, NAMED_TASK, operands);
  case GRAPHLOG_OFFER:
  case GRAPHLOG_TAKE:
    found = maker(streams, stream, NAMED_TASK, operands);
    if (found != NOBODY)
      return found;
    stream->needs = NAMED_JOIN;
    stream->needs_number = operands[3];
    return maker(streams, stream, NAMED_JOIN, operands + 2);
  default:
    return NOBODY;
  }
}

static void hold(struct log_reader *streams, uint32_t number, uint32_t by)
{
  struct stream *stream = &streams->streams[number], *maker = &streams->streams[by];
  pop(streams);
  stream->held_by = by;
  stream->next_held = maker->first_held;
  maker->first_held = number;
  streams->held++;
}

/* Lets those go on whom the stream holds back no longer. */
static void let_go(struct log_reader *streams, struct stream *maker)
{
  uint32_t *link = &maker->first_held;
  while (*link != NOBODY) {
    struct stream *stream = &streams->streams[*link];
    streams->visits++;
    if (!maker->ended && stream->needs_number > maker->made[stream->needs]) {
      link = &stream->next_held;
      continue;
    }
    uint32_t number = *link;
    *link = stream->next_held;
    stream->held_by = NOBODY;
    streams->held--;
    push(streams, number);
  }
}

/* All wait: the earliest goes on without what it waits for. */
static void force(struct log_reader *streams)
{
  uint32_t first = NOBODY;
  for (uint32_t i = 0; i < streams->count; i++, streams->visits++)
    if (streams->streams[i].held_by != NOBODY && (first == NOBODY || before(streams, i, first)))
      first = i;
  struct stream *stream = &streams->streams[first];
  uint32_t *link = &streams->streams[stream->held_by].first_held;
  while (*link != first)
    link = &streams->streams[*link].next_held;
  *link = stream->next_held;
  stream->held_by = NOBODY;
  stream->needs_number = 0;
  streams->held--;
  streams->forced++;
  push(streams, first);
}

/* Whether the stream's record makes something, which is known from now on. */
static bool makes(struct stream *stream)
{
  const struct graphlog_record *record = &stream->record;
  bool join = record->op == GRAPHLOG_OFFER && record->operand[2] == stream->owner;
  if (record->op == GRAPHLOG_TASK || record->op == GRAPHLOG_IMPLICIT)
    stream->made[NAMED_TASK]++;
  else if (record->op == GRAPHLOG_REGION)
    stream->made[NAMED_REGION]++;
  else if (join && record->operand[3] > stream->made[NAMED_JOIN])
    stream->made[NAMED_JOIN] = record->operand[3];
  else
    return false;
  return true;
}

/* Moves the stream whose record was taken, the heap's root, to its next one. */
static void go_on(struct log_reader *streams)
{
  struct stream *stream = &streams->streams[streams->taken];
  bool news = makes(stream);
  streams->taken = NOBODY;
  if (advance(streams, stream)) {
    sift_down(streams);
  } else {
    stream->ended = news = true;
    pop(streams);
  }
  if (news && stream->first_held != NOBODY)
    let_go(streams, stream);
}

bool log_reader_next(struct log_reader *streams, struct log_reader_record *record)
{
  if (streams->taken != NOBODY)
    go_on(streams);
  for (bool forced = false;;) {
    if (!streams->heap_count) {
      if (!streams->held)
        return false;
      force(streams);
      forced = true;
    }
    uint32_t number = streams->heap[0];
    struct stream *stream = &streams->streams[number];
    uint32_t by = forced || streams->visits > visits_max ? NOBODY : waits_for(streams, stream);
    if (by != NOBODY) {
      hold(streams, number, by);
      continue;
    }
    *record = (struct log_reader_record){.record = stream->record, .stream = number, .thread = stream->owner};
    streams->taken = number;
    return true;
  }
}

/* ---- begin and end ---- */

void log_reader_rewind(struct log_reader *streams)
{
  size_t at = 0;
  streams->heap_count = streams->held = 0;
  streams->taken = NOBODY;
  streams->forced = streams->damaged = streams->visits = 0;
  for (uint32_t i = 0; i < streams->count; i++) {
    struct stream *stream = &streams->streams[i];
    drop_bytes(streams, stream);
    *stream = (struct stream){
        .owner = streams->chunks[at].owner, .chunk = at, .held_by = NOBODY, .first_held = NOBODY, .next_held = NOBODY};
    while (at < streams->chunks_count && streams->chunks[at].owner == stream->owner)
      at++;
    stream->chunks_end = at;
  }
  for (uint32_t i = 0; i < streams->count; i++) {
    streams->streams[i].ended = !advance(streams, &streams->streams[i]);
    if (!streams->streams[i].ended)
      push(streams, i);
  }
}

static int init(struct log_reader *streams)
{
  for (size_t i = 0; i < streams->chunks_count; i++)
    streams->count += !i || streams->chunks[i].owner != streams->chunks[i - 1].owner;
  streams->streams = calloc((size_t)streams->count + 1, sizeof *streams->streams);
  streams->heap = calloc((size_t)streams->count + 1, sizeof *streams->heap);
  return streams->streams && streams->heap ? 0 : ERR_NOMEM;
}

int log_reader_open(const char *measurement, struct problems *problems, struct log_reader **out)
{
  struct log_reader *streams = calloc(1, sizeof *streams);
  struct stat stat;
  *out = NULL;
  if (!streams)
    return ERR_NOMEM;
  *streams = (struct log_reader){.fd = -1, .problems = problems, .taken = NOBODY};
  int status = ERR_NOMEM;
  if (asprintf(&streams->path, "%.*s%s", (int)read_stem(measurement), measurement, LOG_READER_SUFFIX) < 0) {
    streams->path = NULL;
    goto out;
  }
  status = 0;
  streams->fd = open(streams->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (streams->fd < 0 && errno == ENOENT)
    goto out;
  status = ERR_INPUT;
  if (streams->fd < 0 || fstat(streams->fd, &stat) || !S_ISREG(stat.st_mode)) {
    problems_add(problems, "cannot read %s: %s", streams->path,
                 streams->fd < 0 ? strerror(errno) : "not a regular file");
    goto out;
  }
  streams->size = (size_t)stat.st_size;
  status = find_chunks(streams);
  if (!status)
    status = init(streams);
  if (!status && !streams->count) {
    problems_add(problems, "%s: no log of the graph in it can be used", streams->path);
    status = ERR_INPUT;
  }
  if (!status) {
    log_reader_rewind(streams);
    *out = streams;
    return 0;
  }
out:
  log_reader_close(streams);
  return status;
}

void log_reader_close(struct log_reader *streams)
{
  if (!streams)
    return;
  for (uint32_t i = 0; streams->streams && i < streams->count; i++)
    free(streams->streams[i].bytes);
  if (streams->fd >= 0)
    close(streams->fd);
  free(streams->path);
  free(streams->chunks);
  free(streams->streams);
  free(streams->heap);
  free(streams);
}

uint32_t log_reader_count(const struct log_reader *streams)
{
  return streams->count;
}

bool log_reader_overflow(const struct log_reader *streams)
{
  return streams->overflow;
}

uint64_t log_reader_forced(const struct log_reader *streams)
{
  return streams->forced;
}

uint64_t log_reader_damaged(const struct log_reader *streams)
{
  return streams->damaged;
}
