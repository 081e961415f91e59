#define _GNU_SOURCE
#include "common/format.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libdeflate.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

_Static_assert(sizeof(struct format_extent) == 64, "extent header is 64 bytes");
_Static_assert(sizeof(struct format_node) == 16, "node record is 16 bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

enum { PACK_LEVEL = 3 };

static uint32_t extent_crc(const struct format_extent *head, const void *payload)
{
  struct format_extent copy = *head;
  copy.crc = 0;
  return libdeflate_crc32(libdeflate_crc32(0, &copy, sizeof copy), payload, head->stored_size);
}

size_t format_pack_bound(size_t payload_size)
{
  return sizeof(struct format_extent) + ZSTD_compressBound(payload_size);
}

size_t format_pack_memory(void)
{
  return ZSTD_estimateCCtxSize(PACK_LEVEL);
}

size_t format_pack(const struct format_extent *head, const void *payload, struct ZSTD_CCtx_s *cctx, void *out,
                   size_t out_size)
{
  struct format_extent packed = {.magic = FORMAT_MAGIC,
                                 .version = FORMAT_VERSION,
                                 .table = head->table,
                                 .owner = head->owner,
                                 .first = head->first,
                                 .count = head->count,
                                 .record_size = head->record_size};
  size_t raw_size = (size_t)head->count * head->record_size;
  if (out_size < format_pack_bound(raw_size))
    return 0;
  uint8_t *body = (uint8_t *)out + sizeof packed;
  size_t stored = raw_size;
  if (cctx) {
    stored = ZSTD_compressCCtx(cctx, body, out_size - sizeof packed, payload, raw_size, PACK_LEVEL);
    if (ZSTD_isError(stored))
      return 0;
    packed.flags = FORMAT_ZSTD;
  } else {
    memcpy(body, payload, raw_size);
  }
  packed.stored_size = stored;
  packed.crc = extent_crc(&packed, body);
  memcpy(out, &packed, sizeof packed);
  return sizeof packed + stored;
}

/* Returns what is wrong with a header, or NULL.  rest: bytes of the file after the header. */
static const char *header_fault(const struct format_extent *head, size_t rest)
{
  if (head->magic != FORMAT_MAGIC)
    return "no extent begins here: not a measurement file, or damaged";
  if (head->version != FORMAT_VERSION)
    return "written by another version of hpcrun-lite: use the hpcprof-lite that came with it";
  if (head->table >= FORMAT_TABLES || (head->flags & ~(uint32_t)(FORMAT_LIVE | FORMAT_ZSTD)))
    return "unknown kind of extent: damaged";
  if (head->stored_size > rest)
    return "cut off: the file ends before the extent does";
  if (head->table != FORMAT_FREE && (head->record_size == 0 || head->record_size > 4096))
    return "impossible record size: damaged";
  if (head->table != FORMAT_FREE && (uint64_t)head->count * head->record_size > FORMAT_PAYLOAD_MAX)
    return "too large to be valid: damaged";
  return NULL;
}

/* The next offset at which a header may begin: extents need not be aligned, so every byte is tried. */
static size_t next_magic(const uint8_t *file, size_t size, size_t from)
{
  static const uint64_t magic = FORMAT_MAGIC;
  if (from >= size)
    return size;
  const uint8_t *at = memmem(file + from, size - from, &magic, sizeof magic);
  return at ? (size_t)(at - file) : size;
}

/* Decodes the payload of a valid header into view->data. */
static enum format_error decode_payload(const uint8_t *stored, struct format_view *view, const char **fault)
{
  struct format_extent *head = &view->head;
  size_t raw_size = (size_t)head->count * head->record_size;
  if (!(head->flags & FORMAT_LIVE) && extent_crc(head, stored) != head->crc) {
    *fault = "checksum does not match: damaged";
    return FORMAT_BAD;
  }
  bool zstd = head->flags & FORMAT_ZSTD;
  if (zstd ? ZSTD_getFrameContentSize(stored, head->stored_size) != raw_size : raw_size > head->stored_size) {
    *fault = "size of the payload does not match its header: damaged";
    return FORMAT_BAD;
  }
  view->data = malloc(raw_size ? raw_size : 1);
  if (!view->data) {
    *fault = "not enough memory to read it";
    return FORMAT_NOMEM;
  }
  if (!zstd)
    memcpy(view->data, stored, raw_size);
  else if (ZSTD_decompress(view->data, raw_size, stored, head->stored_size) != raw_size) {
    free(view->data);
    view->data = NULL;
    *fault = "compressed data are damaged";
    return FORMAT_BAD;
  }
  return FORMAT_OK;
}

enum format_error format_next(const uint8_t *file, size_t size, size_t *offset, struct format_view *view, char *message,
                              size_t message_size)
{
  while (*offset < size) {
    size_t at = *offset;
    *view = (struct format_view){0};
    size_t rest = size - at;
    const char *fault = "cut off: the file ends within an extent's header";
    if (rest >= sizeof view->head) {
      memcpy(&view->head, file + at, sizeof view->head);
      fault = header_fault(&view->head, rest - sizeof view->head);
    }
    if (fault) {
      *offset = next_magic(file, size, at + 1);
      snprintf(message, message_size, "cannot read the extent at offset %zu: %s", at, fault);
      return FORMAT_BAD;
    }
    *offset = at + sizeof view->head + view->head.stored_size;
    if (view->head.table == FORMAT_FREE)
      continue;
    enum format_error error = decode_payload(file + at + sizeof view->head, view, &fault);
    if (error)
      snprintf(message, message_size, "cannot read the extent of table '%s' at offset %zu: %s",
               format_table_name(view->head.table), at, fault);
    return error;
  }
  return FORMAT_END;
}

void format_record(const struct format_view *view, uint32_t i, void *record, size_t record_size)
{
  size_t stored = view->head.record_size;
  size_t known = stored < record_size ? stored : record_size;
  memcpy(record, (const uint8_t *)view->data + (size_t)i * stored, known);
  memset((uint8_t *)record + known, 0, record_size - known);
}

#define NAME(enumerator, name, type) name,

const char *format_table_name(unsigned table)
{
  static const char *const names[FORMAT_TABLES] = {FORMAT_TABLE_LIST(NAME)};
  return table < FORMAT_TABLES ? names[table] : "unknown";
}

/* Names of losses, one of them, and remedies. */
static const struct {
  const char *name, *one, *remedy;
} losses[] = {
    [FORMAT_LOST_MEMORY] = {"samples dropped without memory", "sample dropped without memory",
                            "raise --memory-limit, or ulimit -v, or sample less often (-e task-clock@f100)"},
    [FORMAT_LOST_IN_TOOL] = {"samples inside the tool", "sample inside the tool",
                             "counted as the tool's own time, mostly in callbacks; -p off has fewer"},
    [FORMAT_LOST_UNKNOWN] = {"samples of unknown threads", "sample of an unknown thread",
                             "threads created before the tool was ready, or not by pthread_create()"},
    [FORMAT_LOST_PARTIAL] = {"unwinds cut short", "unwind cut short",
                             "kept below '[unwind cut short]'; see --diagnose"},
    [FORMAT_LOST_UNRESOLVED] = {"samples in regions of unknown origin", "sample in a region of unknown origin",
                                "kept below '[unwind cut short]'; a higher rate resolves more (-e task-clock@f1000)"},
    [FORMAT_LOST_MODULES] = {"frames outside any module", "frame outside any module",
                             "generated code (/tmp/perf-PID.map may name it), or no memory for the table of modules"},
    [FORMAT_LOST_EVENTS] = {"events not armed", "event not armed", "hpcrun-lite --diagnose COMMAND reports why"},
    [FORMAT_LOST_THREADS] = {"threads not registered", "thread not registered",
                             "not in the report: too many at once, or no memory (--memory-limit, ulimit -v)"},
    [FORMAT_LOST_WRITES] = {"bytes not written", "byte not written",
                            "make room on the disk, or give another directory (-o)"},
    [FORMAT_LOST_BLAME] = {"samples of lock waits not charged", "sample of a lock wait not charged",
                           "missing from lock wait by context, included in its exact sum"},
    [FORMAT_LOST_STATES] = {"thread states repaired", "thread state repaired",
                            "idleness may be slightly off; nothing to do"},
    [FORMAT_LOST_TASKS] = {"samples in tasks of unknown origin", "sample in a task of unknown origin",
                           "shown below their region; raise --memory-limit, or ulimit -v"},
    [FORMAT_LOST_PATHS] = {"parts of critical paths not kept", "part of a critical path not kept",
                           "the critical path lacks contexts; raise --memory-limit, or ulimit -v"},
    [FORMAT_LOST_DIRECTIVES] = {"constructs not distinguished", "construct not distinguished",
                                "shown with the construct around them: too many, or no memory (--memory-limit, "
                                "ulimit -v)"},
    [FORMAT_LOST_GRAPH] = {"tasks and joins not followed", "task or join not followed",
                           "work and span are incomplete; raise --memory-limit, or ulimit -v"},
    [FORMAT_LOST_WORK] = {"gaps in counted work", "gap in counted work",
                          "work and span are too small; use --work cpu-time"},
    [FORMAT_LOST_LOG] = {"parts of the graph log not written", "part of the graph log not written",
                         "make room on the disk, give another directory (-o), or raise --memory-limit"},
    [FORMAT_LOST_UNKEPT] = {"blocks of tables not kept on disk", "block of tables not kept on disk",
                            "lost if the program is killed; hpcrun-lite --diagnose reports why"},
    [FORMAT_LOST_RATE] = {"samples omitted at a lower rate", "sample omitted at a lower rate",
                          "many threads sleep: later samples include their time; use a lower rate (-e wall@f50)"},
    [FORMAT_LOST_TRACE] = {"parts of the trace not kept", "part of the trace not kept",
                           "gaps in the timeline: raise --trace-limit or --memory-limit, make room on the disk; also "
                           "after a failed exec, or with a thread inside the tool at the end"},
    [FORMAT_LOST_MARKS] = {"marks or counter values not kept", "mark or counter value not kept",
                           "too many names or marks (1,048,576 a process), a negative value, no memory, or a "
                           "flush that took too long"},
    [FORMAT_LOST_GUESSED] = {"unwinds with guessed callers", "unwind with guessed callers",
                             "code without call frame information; marked [guessed]; see --diagnose"},
    [FORMAT_LOST_RELEASES] = {"waits for locks charged to no release", "wait for a lock charged to no release",
                              "charged to other releases, or to the code that waits; the sum is exact"},
};

const char *format_loss_name(unsigned loss)
{
  return loss < sizeof losses / sizeof *losses ? losses[loss].name : NULL;
}

const char *format_loss_text(unsigned loss, uint64_t count)
{
  const char *name = format_loss_name(loss);
  return name && count == 1 ? losses[loss].one : name;
}

const char *format_loss_remedy(unsigned loss)
{
  return loss < sizeof losses / sizeof *losses ? losses[loss].remedy : NULL;
}

const char *format_write_remedy(int error)
{
  switch (error) {
  case ENOSPC:
  case EDQUOT:
    return "make room on the disk, or give another directory (-o)";
  case EFBIG:
    return "raise the limit of file sizes (ulimit -f)";
  case EMFILE:
  case ENFILE:
    return "raise the limit of descriptors (ulimit -n)";
  case EACCES:
  case EPERM:
    return "if the program changes its user, measure it as that user, or in a directory of that user "
           "(-o DIR --trust-directory)";
  case EROFS:
    return "give a directory on a disk that can be written (-o)";
  case ENOENT:
  case ENOTDIR:
  case ESTALE:
    return "give a directory that is not moved or removed meanwhile, and inside the root of a program that calls "
           "chroot() (-o)";
  default:
    return "give another directory (-o)";
  }
}
