#define _GNU_SOURCE
#include "hpcrun-lite/output/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "common/order.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/filter_settings.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/construct/trace_counts.h"
#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/perf_map.h"
#include "hpcrun-lite/rt/construct/devices.h"
#include "hpcrun-lite/rt/marks/marks.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/span/critical_path.h"
#include "hpcrun-lite/rt/sampling/core_limits.h"
#include "hpcrun-lite/rt/sampling/kernel_usage.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"
#include "hpcrun-lite/rt/sampling/mpi_table.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/span/work_clock.h"

enum { FLUSH_SIZE = 256 << 10, BUFFER_FIRST = 64 << 10, METRICS_FIRST = 16 };

/* How much of the shared tables is in the file or in the buffers. */
struct shared {
  bool metrics;
  uint32_t modules, code, strings; /* records */
};

/* Packed extents that are not in the file yet. */
struct buffer {
  uint8_t *bytes;
  size_t used, capacity, done; /* done: bytes that are in the file already */
};

static struct {
  struct pinned_file file, flush;                              /* flush: work and span as of the last flush */
  char path[PINNED_PATH_BYTES], whole_path[PINNED_PATH_BYTES]; /* of the file while it is written, and afterwards */
  char host[256];
  struct table metrics, processes;
  struct format_process *process; /* the record in the live file, NULL = none */
  struct buffer common, threads;  /* common is written first: threads refer to it */
  off_t written, mark;
  struct shared shared, shared_mark;
  size_t released; /* bytes in `threads` of threads whose memory is released */
  bool exists, whole, failed;
  double ns_per_tick; /* converts work that is counted in ticks */
  ZSTD_CCtx *zstd;
} writer;

void writer_name_file(char *path, size_t size, const char *suffix)
{
  snprintf(path, size, "%s/%s-%d-%llx%s", config.directory, writer.host, rt.pid,
           (unsigned long long)process.start_realtime_ns, suffix);
}

void writer_start(void)
{
  if (writer.common.bytes)
    sys_unmap(writer.common.bytes, writer.common.capacity);
  if (writer.threads.bytes)
    sys_unmap(writer.threads.bytes, writer.threads.capacity);
  ZSTD_CCtx *zstd = writer.zstd;
  memset(&writer, 0, sizeof writer);
  writer.zstd = zstd;
  if (gethostname(writer.host, sizeof writer.host - 1) != 0 || !writer.host[0])
    strcpy(writer.host, "localhost");
  writer_name_file(writer.path, sizeof writer.path, FORMAT_PART_SUFFIX);
  pinned_expect(config.directory_inode);
  pinned_name(&writer.file, writer.path); /* first: it pins the directory */
  snprintf(writer.path, sizeof writer.path, "%s/" CONTROL_PREFIX "%s-%d", config.directory, writer.host, rt.pid);
  command_start(writer.path);
  writer_name_file(writer.path, sizeof writer.path, FORMAT_GRAPH_SUFFIX);
  if (config.graph_log)
    graph_log_start(writer.path);
  writer_name_file(writer.path, sizeof writer.path, FORMAT_TRACE_SUFFIX);
  if (config.trace != RT_TRACE_OFF)
    trace_start(writer.path, config.trace, config.trace_limit, config.trace_keep_last);
  writer_name_file(writer.path, sizeof writer.path, FORMAT_PERF_MAP_SUFFIX);
  writer_name_file(writer.whole_path, sizeof writer.whole_path, FORMAT_PART_SUFFIX FORMAT_PERF_MAP_SUFFIX);
  perf_map_start(writer.path, writer.whole_path, rt.pid, process.start_realtime_ns);
  writer_name_file(writer.path, sizeof writer.path, FORMAT_LIVE_SUFFIX);
  arena_keep(writer.path);
  writer_name_file(writer.path, sizeof writer.path, FORMAT_PART_SUFFIX);
  writer_name_file(writer.whole_path, sizeof writer.whole_path, FORMAT_SUFFIX);
}

static enum losses_kept look_for_live_file(void)
{
  static char path[sizeof writer.path];
  if (!arena_kept())
    return LOSSES_GONE;
  writer_name_file(path, sizeof path, FORMAT_LIVE_SUFFIX);
  return access(path, F_OK) == 0 || errno == EACCES ? LOSSES_KEPT : LOSSES_UNSEEN;
}

static void report_failure(const char *what, const struct losses_write *write)
{
  static const char *const texts[] = {[LOSSES_GONE] = "is lost",
                                      [LOSSES_KEPT] = "stays in its live file",
                                      [LOSSES_UNSEEN] = "stays in its live file, unless that was removed"};
  bool unkept = write->kept != LOSSES_GONE && process_lost(FORMAT_LOST_UNKEPT);
  message_print("cannot %s %s: %s; what process %d measured %s%s%s; %s", what, writer.path, message_error(write->error),
                rt.pid, texts[write->kept], unkept ? ", except for tables that could not be kept on disk" : "",
                span_process.online && write->kept != LOSSES_GONE ? ", without work and span" : "",
                format_write_remedy(write->error));
}

/* Nothing more is written.  What the buffers hold is in the live file, too, but for what released threads left. */
static void fail(const char *what, int error)
{
  size_t buffered = writer.common.used - writer.common.done + writer.threads.used - writer.threads.done;
  if (writer.failed)
    return;
  writer.failed = true;
  process.write = (struct losses_write){error, look_for_live_file()};
  atomic_fetch_add(&rt.lost[FORMAT_LOST_WRITES], process.write.kept == LOSSES_GONE ? buffered : writer.released);
  if (config.verbosity)
    report_failure(what, &process.write);
  if (writer.process)
    writer.process->write_error = (uint32_t)error;
}

/* Writes the rest of a buffer.  Returns 0 or errno. */
static int write_buffer(const struct sys_own *file, struct buffer *buffer)
{
  int error;
  size_t done =
      sys_write_at(file, (uint64_t)writer.written, buffer->bytes + buffer->done, buffer->used - buffer->done, &error);
  writer.written += (off_t)done;
  buffer->done += done;
  if (!error)
    buffer->used = buffer->done = 0;
  return error;
}

/* Appends both buffers to the file.  last: there is no later attempt. */
static void append(bool last)
{
  struct sys_own file;
  const char *what = writer.exists ? "open" : "create";
  int error = EBADF;
  if ((!writer.common.used && !writer.threads.used) || writer.failed)
    return;
  for (int i = 0; i < SYS_TRIES && error == EBADF; i++) {
    if (writer.exists)
      error = pinned_open(&writer.file, &file);
    else
      error = pinned_create(&writer.file, &file);
    if (error)
      break;
    what = "write";
    writer.exists = true;
    error = write_buffer(&file, &writer.common);
    if (!error)
      error = write_buffer(&file, &writer.threads);
    sys_close_own(&file);
  }
  if (!last && (error == EMFILE || error == ENFILE || error == EBADF))
    return; /* the program uses all descriptors, or has closed this one: the rest is kept for later */
  if (error)
    fail(what, error);
  else
    writer.released = 0;
}

static bool reserve(struct buffer *buffer, size_t size)
{
  if (buffer->used + size <= buffer->capacity)
    return true;
  size_t capacity = buffer->capacity ? 2 * buffer->capacity : BUFFER_FIRST;
  if (capacity < buffer->used + size)
    capacity = buffer->used + size;
  uint8_t *bigger = sys_map(capacity);
  if (!bigger)
    return false;
  if (buffer->bytes) {
    memcpy(bigger, buffer->bytes, buffer->used);
    sys_unmap(buffer->bytes, buffer->capacity);
  }
  buffer->bytes = bigger;
  buffer->capacity = capacity;
  return true;
}

/* zstd in mapped memory.  NULL without: then extents are not compressed. */
static ZSTD_CCtx *new_compressor(void)
{
  size_t size = format_pack_memory();
  void *memory = sys_map(size);
  return memory ? ZSTD_initStaticCCtx(memory, size) : NULL;
}

struct ZSTD_CCtx_s *writer_compressor(void)
{
  if (!writer.zstd)
    writer.zstd = new_compressor();
  return writer.zstd;
}

static void put(struct buffer *to, enum format_table table, uint32_t owner, uint32_t first, uint32_t count,
                uint32_t record_size, const void *records)
{
  struct format_extent head = {
      .table = (uint16_t)table, .owner = owner, .first = first, .count = count, .record_size = record_size};
  size_t raw_size = (size_t)count * record_size;
  if (writer.failed) /* the live file has the records */
    return;
  if (!count || !reserve(to, format_pack_bound(raw_size))) {
    if (count)
      atomic_fetch_add(&rt.lost[FORMAT_LOST_WRITES], raw_size);
    return;
  }
  enum { WORTH_COMPRESSING = 128 };
  size_t packed = format_pack(&head, records, raw_size >= WORTH_COMPRESSING ? writer_compressor() : NULL,
                              to->bytes + to->used, to->capacity - to->used);
  to->used += packed;
  if (!packed)
    atomic_fetch_add(&rt.lost[FORMAT_LOST_WRITES], raw_size);
}

static void put_table(struct buffer *to, const struct table *table)
{
  for (unsigned step = 0; step < TABLE_STEPS && table->extents[step]; step++) {
    struct format_extent *extent = table->extents[step];
    uint32_t count = __atomic_load_n(&extent->count, __ATOMIC_ACQUIRE);
    put(to, table->table, table->owner, extent->first, count, table->record_size, arena_data(extent));
  }
}

static void add_metric(const char *name, uint32_t unit, enum format_role role, uint64_t period)
{
  uint32_t index;
  struct format_metric *metric = table_next(&writer.metrics, &index);
  if (!metric)
    return;
  *metric = (struct format_metric){modules_string(name), unit, role, 0, period};
  table_publish(&writer.metrics);
}

static void describe_metrics(void)
{
  static const char *const usage[FORMAT_USAGES] = {"user",     "system",       "minor faults",    "major faults",
                                                   "given up", "switched out", "threads created", "creating"};
  bool timed = sampling_process.time_event >= 0;
  const struct event *main_event = &sampling_process.events[timed ? sampling_process.time_event : 0];
  uint32_t ns = modules_string("ns");
  table_init(&writer.metrics, FORMAT_METRICS, ARENA_SHARED, 0, sizeof(struct format_metric), METRICS_FIRST);
  add_metric("samples", 0, FORMAT_ROLE_SAMPLES, main_event->period);
  if (timed) {
    add_metric("work", ns, FORMAT_ROLE_WORK, main_event->period);
    add_metric("overhead", ns, FORMAT_ROLE_OVERHEAD, main_event->period);
    add_metric("lock wait", ns, FORMAT_ROLE_LOCKWAIT, main_event->period);
    add_metric("per busy", ns, FORMAT_ROLE_PER_BUSY, main_event->period);
    add_metric("in use", ns, FORMAT_ROLE_IN_USE, main_event->period);
    add_metric("shares", 0, FORMAT_ROLE_SHARES, main_event->period);
  }
  for (unsigned i = 0; i < sampling_process.event_count; i++)
    if ((int)i != sampling_process.time_event)
      add_metric(sampling_process.events[i].name, sampling_process.events[i].clock == EVENT_COUNT ? 0 : ns,
                 FORMAT_ROLE_EVENT, sampling_process.events[i].period);
  for (unsigned i = 0; i < FORMAT_USAGES; i++)
    add_metric(usage[i], i <= FORMAT_USAGE_SYSTEM || i == FORMAT_USAGE_CREATING ? ns : 0,
               (enum format_role)(FORMAT_ROLE_USAGE + i), 0);
  add_metric("blocked", ns, FORMAT_ROLE_BLOCKED, 0);
  add_metric("blocked near", ns, FORMAT_ROLE_BLOCKED_NEAR, 0);
  add_metric("blocked bytes", 0, FORMAT_ROLE_BLOCKED_BYTES, 0);
  for (unsigned i = 0; i < counts_process.count; i++)
    add_metric(counts_process.counters[i].name, 0, FORMAT_ROLE_COUNTED, 0);
}

/* The records of a table that are new since the last call. */
static void put_new(const struct table *table, uint32_t *done)
{
  for (unsigned step = 0; step < TABLE_STEPS && table->extents[step]; step++) {
    struct format_extent *extent = table->extents[step];
    uint32_t count = __atomic_load_n(&extent->count, __ATOMIC_ACQUIRE), skip = 0;
    if (*done > extent->first)
      skip = *done - extent->first;
    if (skip >= count)
      continue;
    put(&writer.common, table->table, table->owner, extent->first + skip, count - skip, table->record_size,
        (uint8_t *)arena_data(extent) + (size_t)skip * table->record_size);
    *done = extent->first + count;
  }
}

/* Writes the buffers, after what the threads in them refer to: so the file can be read up to any point. */
static void flush(bool last)
{
  if (!writer.shared.metrics)
    put_table(&writer.common, &writer.metrics);
  writer.shared.metrics = true;
  put_new(modules_table(), &writer.shared.modules);
  put_new(modules_code_table(), &writer.shared.code);
  put_new(modules_strings(), &writer.shared.strings);
  append(last);
}

static uint64_t ticks_ns(uint64_t ticks)
{
  return (uint64_t)((double)ticks * writer.ns_per_tick + 0.5);
}

/* Work in the unit that is written. */
static uint64_t in_unit(uint64_t work)
{
  return work_clock_is_time() ? ticks_ns(work) : work;
}

/* The parts of an interval until now, without the pauses of measuring: it is idle first, and parked at last. */
static struct waiting_interval without_pauses(struct waiting_interval open, uint64_t now)
{
  uint64_t parked = now - open.parked, runtime = parked - open.runtime;
  return (struct waiting_interval){.idle = rt_measured_between(runtime - open.idle, runtime),
                                   .runtime = rt_measured_between(runtime, parked),
                                   .ending = rt_measured_between(parked - open.ending, parked),
                                   .parked = rt_measured_between(parked, now)};
}

/* The wait sites, with the waits that have not ended. */
static void put_waits(struct thread_state *t, uint64_t now)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint64_t for_lock = waiting_open_lock(t, now);
  struct format_wait rows[16];
  enum { ROWS = sizeof rows / sizeof *rows };
  struct waiting_interval open = without_pauses(waiting_open_interval(t, now), now);
  for (uint32_t first = 0; first < sampling->waits.count; first += ROWS) {
    uint32_t count = sampling->waits.count - first < ROWS ? sampling->waits.count - first : ROWS;
    for (uint32_t i = 0; i < count; i++) {
      const struct format_wait *wait = table_at(&sampling->waits, first + i);
      rows[i] = *wait;
      rows[i].since = 0;
      rows[i].idle += (wait == sampling->waiting ? open.idle : 0) + (first + i == 0 ? open.parked : 0);
      rows[i].no_core += first + i == 0 ? waiting_open_no_core(t, now) : 0;
      rows[i].idle += wait == sampling->waiting_lock ? for_lock : 0;
      rows[i].runtime += wait == sampling->waiting ? open.runtime : 0;
    }
    put(&writer.threads, FORMAT_WAITS, t->index, first, count, sizeof *rows, rows);
  }
}

/* How long the thread has held locks of that record until now. */
static uint64_t held_ticks(const struct thread_state *t, const struct format_construct *record, uint64_t now)
{
  const struct construct_thread *construct = construct_of(t);
  uint64_t ticks = 0;
  for (unsigned i = 0; i < sizeof construct->held / sizeof *construct->held; i++) {
    const struct construct_held *held = &construct->held[i];
    ticks += held->since && held->at == record ? rt_measured_between(held->since, now) : 0;
  }
  return ticks;
}

/* The records of constructs, with the interval that has not ended. */
static void put_constructs(struct thread_state *t, uint64_t now)
{
  struct format_construct rows[16];
  enum { ROWS = sizeof rows / sizeof *rows };
  const struct table *records = &construct_of(t)->records;
  struct waiting_interval wait = without_pauses(waiting_open_interval(t, now), now);
  struct construct_interval open = construct_open_interval(t, now);
  if (open.column != FORMAT_TIME_WAIT || !open.record)
    wait = (struct waiting_interval){0};
  uint64_t after = wait.ending + wait.parked < open.ticks ? wait.ending + wait.parked : open.ticks;
  for (uint32_t first = 0; first < records->count; first += ROWS) {
    uint32_t count = records->count - first < ROWS ? records->count - first : ROWS;
    for (uint32_t i = 0; i < count; i++) {
      const struct format_construct *record = table_at(records, first + i);
      rows[i] = *record;
      rows[i].next = rows[i].tasks = 0;
      if (record->kind == FORMAT_DIRECTIVE_LOCK)
        rows[i].ticks[FORMAT_TIME_BODY] += held_ticks(t, record, now);
      if (first + i == open.record) {
        rows[i].ticks[open.column] += open.ticks - after;
        rows[i].ticks[FORMAT_TIME_EXIT] += after < wait.ending ? after : wait.ending;
      }
      if (first + i == 0)
        rows[i].ticks[FORMAT_TIME_WAIT] += after > wait.ending ? after - wait.ending : 0;
    }
    put(&writer.threads, FORMAT_CONSTRUCTS, t->index, first, count, sizeof *rows, rows);
  }
  put_table(&writer.threads, &construct_of(t)->tasks);
}

/* Counts of constructs, with those of the interval that has not ended. */
static void put_counts(struct thread_state *t, uint64_t now, const uint64_t *totals, bool known)
{
  enum { ROWS = 16, FIELDS = 2 * COUNTERS_MAX + 1 };
  uint64_t rows[ROWS * FIELDS];
  const struct table *records = &counts_of(t)->records;
  struct construct_interval open = construct_open_interval(t, now);
  size_t fields = records->record_size / sizeof *rows;
  for (uint32_t first = 0; first < records->count; first += ROWS) {
    uint32_t count = records->count - first < ROWS ? records->count - first : ROWS;
    for (uint32_t i = 0; i < count; i++) {
      memcpy(&rows[i * fields], table_at(records, first + i), records->record_size);
      if (known && first + i == open.record)
        counts_add_open(t, &rows[i * fields], totals, open.ticks);
    }
    put(&writer.threads, FORMAT_COUNTS, t->index, first, count, records->record_size, rows);
  }
}

/* The thread's wait for a lock, or at an object of a pool, that has not ended. */
static struct lock_wait_open open_wait(struct thread_state *t, uint64_t now)
{
  const struct sampling_thread *sampling = sampling_of(t);
  const struct pool_wait *pool = &sampling->pool_wait;
  if (pool->open && t->activity.idle && pool->wait)
    return (struct lock_wait_open){.id = pool->object,
                                   .kind = pool->kind,
                                   .at = pool->wait,
                                   .ticks = now > t->idle_since ? rt_measured_between(t->idle_since, now) : 0};
  return (struct lock_wait_open){
      .id = t->wait_id, .kind = sampling->lock_kind, .at = sampling->waiting_lock, .ticks = waiting_open_lock(t, now)};
}

/* The locks, with the wait that has not ended. */
static void put_locks(struct thread_state *t, uint64_t now)
{
  struct format_lock rows[8];
  enum { ROWS = sizeof rows / sizeof *rows };
  struct lock_wait_open wait = open_wait(t, now);
  const struct format_lock *open = lock_table_stopped(t, wait);
  const struct table *records = &sampling_of(t)->locks.records;
  for (uint32_t first = 0; first < records->count; first += ROWS) {
    uint32_t count = records->count - first < ROWS ? records->count - first : ROWS;
    for (uint32_t i = 0; i < count; i++) {
      const struct format_lock *lock = table_at(records, first + i);
      rows[i] = *lock;
      rows[i].since = 0;
      if (lock == open) {
        rows[i].waits++;
        rows[i].ticks += wait.ticks;
        rows[i].longest = MAX(rows[i].longest, wait.ticks);
      }
    }
    put(&writer.threads, FORMAT_LOCKS, t->index, first, count, sizeof *rows, rows);
  }
}

/* The calls of MPI, with the one that has not ended. */
static void put_mpi(struct thread_state *t, uint64_t now)
{
  struct format_mpi rows[16];
  enum { ROWS = sizeof rows / sizeof *rows };
  uint64_t ticks;
  const struct format_mpi *open = mpi_table_open(t, now, &ticks);
  const struct table *records = &sampling_of(t)->mpi.rows;
  for (uint32_t first = 0; first < records->count; first += ROWS) {
    uint32_t count = records->count - first < ROWS ? records->count - first : ROWS;
    for (uint32_t i = 0; i < count; i++) {
      const struct format_mpi *row = table_at(records, first + i);
      rows[i] = *row;
      rows[i].since = 0;
      if (row == open) {
        rows[i].calls++;
        rows[i].ticks += ticks;
        rows[i].longest = MAX(rows[i].longest, ticks);
      }
    }
    put(&writer.threads, FORMAT_MPI, t->index, first, count, sizeof *rows, rows);
  }
}

/* A thread that was never sampled and never waited has only a record. */
static void put_thread(struct thread_state *t, uint64_t cpu_ns, bool ended)
{
  struct sampling_thread *sampling = sampling_of(t);
  kernel_usage_charge_open(t);
  uint64_t now = rt_ticks(); /* before the life time is taken, which waits do not exceed */
  uint64_t totals[COUNTERS_MAX];
  bool counted = counts_open(t, totals);
  times_thread(t, cpu_ns);
  if (t->record->switched_seen)
    t->record->held_up = sampling->switches.held_up + sampling->switches.since_join + 1;
  waiting_end_trace(t, now, ended);
  times_thread_delay(t);
  t->record->end_ns = ended ? t->record->start_ns + t->record->wall_ns : 0;
  if (span_process.online) {
    writer.ns_per_tick = (double)rt_ticks_to_ns(1u << 30) / (1u << 30);
    t->record->work = in_unit(span_of(t)->total_work);
  }
  put(&writer.threads, FORMAT_THREAD, t->index, 0, 1, sizeof *t->record, t->record);
  if (counts_process.count)
    sample_charge_open_counts(t, totals);
  if (sampling->nodes.count > 1 || sampling->values.count > 1) {
    put_table(&writer.threads, &sampling->nodes);
    put_table(&writer.threads, &sampling->values);
  }
  put_waits(t, now);
  put_constructs(t, now);
  if (counted)
    trace_counts_open(t, totals);
  put_counts(t, now, totals, counted);
  put_table(&writer.threads, &sampling->shares);
  put_locks(t, now);
  put_mpi(t, now);
  put_table(&writer.threads, &marks_of(t)->user_counts);
  if (writer.threads.used >= FLUSH_SIZE)
    flush(false);
}

void writer_thread(struct thread_state *t, uint64_t cpu_ns)
{
  put_thread(t, cpu_ns, false);
}

bool writer_thread_ended(struct thread_state *t, uint64_t cpu_ns)
{
  bool sampled = sampling_of(t)->nodes.count > 1 || t->record->samples || marks_of(t)->user_counts.count ||
                 counts_of(t)->records.count; /* a sample of an idle thread is in no node */
  size_t before = writer.threads.used;
  put_thread(t, cpu_ns, true);
  if (sampled)
    flush(false);
  else if (writer.threads.used > before)
    writer.released += writer.threads.used - before;
  return !writer.failed && (!sampled || !writer.threads.used);
}

static size_t table_bytes(const struct table *table)
{
  return (size_t)table->count * table->record_size;
}

void writer_lose_thread(const struct thread_state *t)
{
  const struct sampling_thread *sampling = sampling_of(t);
  size_t bytes = table_bytes(&sampling->nodes) + table_bytes(&sampling->values) + table_bytes(&sampling->waits) +
                 table_bytes(&construct_of(t)->records) + sizeof *t->record;
  atomic_fetch_add(&rt.lost[FORMAT_LOST_WRITES], bytes);
}

/* The offset of a string that may be in the table already, at `known`. */
static uint32_t string_at(uint32_t known, const char *text)
{
  return known && !strcmp(table_at(modules_strings(), known), text) ? known : modules_string(text);
}

enum { RATE_SIZE = 256 }; /* bytes of text; there are no names in it */

/* Writes an event's rate; where `hpcrun-lite --control` has changed it, since when, and what it was. */
static const char *rate_text(char text[RATE_SIZE], const struct event *event)
{
  const struct event *first = &config.events[event - sampling_process.events];
  const char *unit = event->clock == EVENT_COUNT ? "" : " ns";
  double since_s = (double)atomic_load(&control_process.rates_ns[event - sampling_process.events]) / 1e9;
  int at;
  if (event->frequency)
    at = snprintf(text, RATE_SIZE, "%u sample%s a second for each thread", event->frequency,
                  event->frequency == 1 ? "" : "s");
  else
    at = snprintf(text, RATE_SIZE, "one sample every %llu%s", (unsigned long long)event->period, unit);
  if (since_s > 0 && first->frequency)
    snprintf(text + at, RATE_SIZE - (size_t)at, " (from %.1f s on; %u a second at the start)", since_s,
             first->frequency);
  else if (since_s > 0)
    snprintf(text + at, RATE_SIZE - (size_t)at, " (from %.1f s on; one every %llu%s at the start)", since_s,
             (unsigned long long)first->period, unit);
  return text;
}

/* Writes what was sampled: the event whose samples stand for time, or the first, and what has changed of the others.
 * Returns the length. */
static int put_events(char *notes, size_t size)
{
  const struct event *main_event =
      &sampling_process.events[sampling_process.time_event < 0 ? 0 : sampling_process.time_event];
  char text[RATE_SIZE];
  if (!atomic_load(&sampling_process.sampled))
    return snprintf(notes, size, "event: none, because the level is summary");
  int at = snprintf(notes, size, "event: %s, %s", main_event->name, rate_text(text, main_event));
  for (const struct event *event = sampling_process.events;
       event < sampling_process.events + sampling_process.event_count && (size_t)at < size; event++)
    if (event != main_event && atomic_load(&control_process.rates_ns[event - sampling_process.events]))
      at += snprintf(notes + at, size - (size_t)at, "\nRate of %s: %s", event->name, rate_text(text, event));
  return at;
}

static int put_counted(char *notes, size_t size, unsigned i)
{
  const struct counter *counter = &counts_process.counters[i];
  return snprintf(notes, size, "%s%s%s", i ? ", " : "\ncounted: ", counter->name, counters_how(counter));
}

static uint32_t process_notes(uint32_t before, bool ended)
{
  static char notes[4096], filtered[2048];
  const char *devices = process_devices_missing();
  int at = put_events(notes, sizeof notes);
  const char *missing =
      ended ? process_openmp_missing() : NULL; /* which looks through the relocations of all modules */
  if (missing && missing != process_no_openmp && !*config.note && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at, "\n%s", missing);
  for (unsigned i = 0; i < counts_process.count && (size_t)at < sizeof notes; i++)
    at += put_counted(notes + at, sizeof notes - (size_t)at, i);
  if (sampling_process.count_locks && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at, "%sacquisitions of each lock",
                   counts_process.count ? ", " : "\ncounted: ");
  if (devices && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at, "\n%s", devices);
  if (devices_rejected() && (size_t)at < sizeof notes)
    at += snprintf(
        notes + at, sizeof notes - (size_t)at,
        "\nDevices: %llu records of what devices did, or buffers for them, could not be used: times of devices are "
        "too small",
        (unsigned long long)devices_rejected());
  if (atomic_load(&counts_process.scaled) && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at,
                   "\ncounts are scaled: the processor could not count all events all the time");
  if (*config.note && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at, "\n%s", config.note);
  if (*config.scaling && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at, "\n%s", config.scaling);
  if (*config.numa && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at, "\n%s", config.numa);
  if (config.paused && atomic_load(&rt.pauses) == 1 && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at, "\nPaused: measuring was paused from the start to the end");
  if (time_filter_failed() && (size_t)at < sizeof notes)
    at += snprintf(notes + at, sizeof notes - (size_t)at,
                   "\nskip-first and only had no effect: the system gave no timer (ulimit -i)");
  filter_settings_note(filtered, sizeof filtered, ended);
  if (*filtered && (size_t)at < sizeof notes)
    snprintf(notes + at, sizeof notes - (size_t)at, "\n%s", filtered);
  return string_at(before, notes);
}

enum { BATCH = 32 }; /* rows on the stack, which may be small: of a thread that calls exec() */

static void put_directives(void)
{
  struct format_directive rows[BATCH];
  const struct table *table = directive_table();
  for (uint32_t first = 0; first < table->count; first += BATCH) {
    uint32_t count = table->count - first < BATCH ? table->count - first : BATCH;
    for (uint32_t i = 0; i < count; i++) {
      rows[i] = *(const struct format_directive *)table_at(table, first + i);
      uint64_t device_time = rows[i].device_time < rows[i].work ? rows[i].device_time : rows[i].work;
      rows[i].work = in_unit(rows[i].work - device_time);
      rows[i].device_time = in_unit(i + first ? device_time : rows[i].device_time); /* row 0 has no work */
      rows[i].span = in_unit(rows[i].span);
      rows[i].lock_bound = in_unit(rows[i].lock_bound);
      rows[i].early = in_unit(rows[i].early);
      rows[i].stood_work = in_unit(rows[i].stood_work);
      rows[i].stood_span = in_unit(rows[i].stood_span);
      if (rows[i].stood_squares < UINT64_MAX)
        rows[i].stood_squares = in_unit(in_unit(rows[i].stood_squares));
    }
    put(&writer.common, FORMAT_DIRECTIVES, 0, first, count, sizeof *rows, rows);
  }
}

/* The contributions to the span.  Each amount is the difference of two rounded sums, so that the amounts add up. */
static void put_contributions(const struct critical_path *path)
{
  struct critical_path_cursor place = {.path = path};
  struct format_contribution records[BATCH];
  uint32_t count = 0, first = 0;
  uint64_t sum = 0;
  const struct critical_path_item *item;
  do {
    item = critical_path_next(&place);
    if (item) {
      uint64_t before = in_unit(sum);
      sum += item->amount;
      records[count++] = (struct format_contribution){.directive = (uint32_t)(item->key >> 48),
                                                      .thread = (uint32_t)(item->key >> 28) & CRITICAL_PATH_THREAD_MAX,
                                                      .node = (uint32_t)item->key & CRITICAL_PATH_NODE_MAX,
                                                      .amount = in_unit(sum) - before};
    }
    if (count == BATCH || (!item && count)) {
      put(&writer.common, FORMAT_CONTRIBUTIONS, 0, first, count, sizeof *records, records);
      first += count;
      count = 0;
    }
  } while (item);
}

static void put_graph(struct format_process *record)
{
  static const char *const units[] = {
      [WORK_CPU_TIME] = "s", [WORK_USER] = "units", [WORK_INSTRUCTIONS] = "instructions", [WORK_CYCLES] = "cycles"};
  const struct clock *program = span_program();
  record->span = in_unit(program->base);
  record->span_burdened = in_unit(program->burdened);
  record->work_unit = modules_string(units[span_process.work_unit]);
  record->unseen = measured_process.unseen;
  record->tick_scale =
      (uint64_t)(writer.ns_per_tick * 4294967296.0 + 0.5); /* the factor of the figures here, exactly */
  record->cost_fork = in_unit(graph_cost_mean(GRAPH_FORK));
  record->cost_task = in_unit(graph_cost_mean(GRAPH_TASK));
  record->cost_join = in_unit(graph_cost_mean(GRAPH_JOIN));
  put_directives();
  put_contributions(&program->path);
}

/* Whether work and span mean something: without OpenMP, the ranks of a job are strands, which the logs of all join. */
static bool has_graph(void)
{
  return rt.ompt || (process.mpi.state && config.graph_log);
}

/* The facts of the process that are known at its start. */
static struct format_process process_facts(void)
{
  struct format_process facts = {
      .pid = (uint32_t)rt.pid,
      .parent_pid = (uint32_t)getppid(),
      .rank = config.rank,
      .flags = FORMAT_PROCESS_OUTSIDE | (config.exchanged ? FORMAT_PROCESS_EXCHANGED : 0) |
               (span_process.online ? FORMAT_PROCESS_ONLINE : 0) |
               (sampling_process.count_locks ? FORMAT_PROCESS_LOCKS : 0) |
               (rt.pid == config.first_pid ? FORMAT_PROCESS_FIRST : 0) | (process.forked ? FORMAT_PROCESS_FORKED : 0),
      .start_ns = process.start_realtime_ns,
      .cpus = process.cpus,
      .threads_max = 1,
      .host = modules_string(writer.host),
      .command = modules_string(process.command),
      .runtime = modules_string(process.runtime),
      .notes = process_notes(0, false),
      .start_ticks = process.start_ticks,
      .overhead_limit = span_process.online ? span_process.overhead_limit + 1 : 0,
      .machine_cpus = (uint32_t)get_nprocs(),
      .quota_milli = process.quota_milli,
      .limits = modules_string(process.limits),
      .tick_ns = process_tick_ns(),
      .cores = process.cores,
  };
  memcpy(facts.launch_mask, process.launch_mask, sizeof facts.launch_mask);
  return facts;
}

void writer_begin(void)
{
  uint32_t index;
  describe_metrics();
  table_init(&writer.processes, FORMAT_PROCESS, ARENA_SHARED, 0, sizeof(struct format_process), 1);
  struct format_process *record = table_next(&writer.processes, &index);
  if (!record)
    return;
  *record = process_facts();
  table_publish(&writer.processes);
  writer.process = record;
  times_keep(record);
}

void writer_times(void)
{
  if (writer.process)
    times_process(writer.process);
}

void writer_runtime(void)
{
  if (!writer.process)
    return;
  writer.process->runtime = modules_string(process.runtime);
  writer.process->unseen = measured_process.unseen;
  writer_times();
  writer_notes();
}

static void describe_mpi(struct format_process *record)
{
  const struct process_mpi *mpi = &process.mpi;
  record->mpi_library = string_at(record->mpi_library, mpi->library);
  record->mpi_rank = mpi->rank;
  record->mpi_size = mpi->size;
  record->mpi_threads = mpi->threads;
  record->mpi_state = mpi->state;
  record->mpi_decoded = mpi->decoded;
  record->mpi_init_ns = mpi->init_ns;
  record->mpi_finalize_ns = mpi->finalize_ns;
  record->rank = mpi->size ? mpi->rank : config.rank;
}

void writer_mpi(void)
{
  if (writer.process)
    describe_mpi(writer.process);
}

void writer_notes(void)
{
  if (writer.process)
    writer.process->notes = process_notes(writer.process->notes, false);
}

void writer_process(void)
{
  struct format_process record = writer.process ? *writer.process : process_facts();
  record.runtime = string_at(record.runtime, process.runtime);
  describe_mpi(&record);
  record.notes = process_notes(record.notes, true);
  record.threads = process.thread_count;
  record.regions = process.finished_regions;
  record.peak_memory_bytes = process_peak_memory_bytes();
  core_limits_process(&record);
  times_process(&record);
  uint64_t end_ns = 0;   /* of the last thread: a slow disk may have held up the writing since */
  uint64_t later_ns = 0; /* CPU time since then: of the writing */
  for (const struct thread_state *t = process.threads; t; t = t->next) {
    uint64_t thread_end_ns = t->record->start_ns + t->record->wall_ns;
    record.regions += t->record->regions;
    end_ns = thread_end_ns > end_ns ? thread_end_ns : end_ns;
    later_ns += rt_minus(sys_cpu_ns_of(t->tid), t->cpu_start_ns + t->record->cpu_ns);
  }
  if (end_ns && rt_paused() && record.wall_ns > end_ns)
    record.paused_ns -= record.wall_ns - end_ns < record.paused_ns ? record.wall_ns - end_ns : record.paused_ns;
  if (end_ns) {
    record.wall_ns = end_ns;
    record.cpu_ns = rt_minus(record.cpu_ns, later_ns);
  }
  if (span_process.online && has_graph())
    put_graph(&record);
  else if (span_process.online) /* user regions have rows, too */
    put_directives();
  put(&writer.common, FORMAT_PROCESS, 0, 0, 1, sizeof record, &record);
  put_table(&writer.common, region_table());
  put_table(&writer.common, marks_table());
  put_table(&writer.common, devices_table());
  put_table(&writer.common, devices_times_table());
  flush(true);
}

/* Puts work and span into the buffer, also where nothing more is written to the measurement file: the live file has all
 * but these. */
static void put_span(void)
{
  struct format_process record = writer.process ? *writer.process : process_facts();
  bool failed = writer.failed;
  writer.failed = false;
  put_graph(&record);
  put(&writer.common, FORMAT_PROCESS, 0, 0, 1, sizeof record, &record);
  writer.failed = failed;
}

/* Writes a new file with the contents of the buffer, and gives it its name, in the place of the last one. */
static bool write_flush(const struct buffer *buffer)
{
  static struct pinned_file part; /* what cannot be removed after a failure is tried again */
  static char path[sizeof writer.path];
  struct sys_own file;
  int error;
  pinned_remove(&part);
  writer_name_file(path, sizeof path, FORMAT_FLUSH_SUFFIX FORMAT_FLUSH_SUFFIX);
  if (!pinned_name(&part, path) || pinned_create(&part, &file))
    return false;
  writer_name_file(path, sizeof path, FORMAT_FLUSH_SUFFIX);
  bool whole = sys_write_at(&file, 0, buffer->bytes, buffer->used, &error) == buffer->used;
  whole = sys_close_own(&file) == 0 && whole && pinned_rename(&part, path, &writer.flush) == 0;
  if (!whole) {
    pinned_remove(&part);
    return false;
  }
  writer.flush = part;
  part.inode = 0;
  return true;
}

bool writer_flush(void)
{
  struct buffer others = writer.common;
  writer.ns_per_tick = (double)rt_ticks_to_ns(1u << 30) / (1u << 30);
  for (struct thread_state *t = process.threads; t; t = t->next)
    t->record->work = in_unit(span_of(t)->total_work);
  if (writer.process)
    times_process(writer.process);
  writer.common = (struct buffer){0};
  put_span();
  bool written = writer.common.used && write_flush(&writer.common);
  if (writer.common.bytes)
    sys_unmap(writer.common.bytes, writer.common.capacity);
  writer.common = others;
  return written;
}

void writer_commit(void)
{
  if (writer.failed)
    return;
  int error = pinned_rename(&writer.file, writer.whole_path, NULL);
  if (error) {
    fail("rename", error);
    return;
  }
  writer.whole = true;
  pinned_remove(&writer.flush); /* it is out of date */
  arena_remove();
}

/* Removes the file, if there is one. */
static void remove_file(void)
{
  writer.exists = writer.exists && pinned_remove(&writer.file) != 0;
}

void writer_discard(void)
{
  remove_file();
  pinned_remove(&writer.flush);
  arena_remove();
}

void writer_mark(void)
{
  if (writer.threads.used)
    flush(true);
  writer.shared_mark = writer.shared;
  writer.mark = writer.exists ? writer.written : -1;
}

/* Cuts the file off at the mark.  Returns 0 or errno. */
static int cut_file(void)
{
  struct sys_own file;
  int error = pinned_open(&writer.file, &file);
  if (error)
    return error;
  error = sys_truncate(&file, (uint64_t)writer.mark);
  sys_close_own(&file);
  return error;
}

void writer_rewind(void)
{
  int error = writer.whole ? pinned_rename(&writer.file, writer.path, NULL) : 0;
  if (error)
    fail("rewind", error);
  writer.whole = false;
  if (writer.mark < 0)
    remove_file();
  else if ((error = cut_file()) != 0)
    fail("rewind", error);
  writer.written = writer.mark < 0 ? 0 : writer.mark;
  writer.shared = writer.shared_mark;
  arena_restore();
}
