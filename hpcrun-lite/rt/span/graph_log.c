#include "hpcrun-lite/rt/span/graph_log.h"

#include <stddef.h>
#include <sys/rseq.h>

#include "hpcrun-lite/rt/core/stream.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/counts/counts.h"

enum { NO_CPU = UINT32_MAX };

static struct stream_file file;
static ptrdiff_t cpu_at;     /* offset of the CPU's number from the thread pointer; 0: not known */
static bool processor_knows; /* the CPU's number */

/* ---- the process ---- */

/* glibc registers struct rseq, in which the kernel keeps cpu_id up to date. */
static ptrdiff_t find_cpu_number(void)
{
  return __rseq_size ? __rseq_offset + (ptrdiff_t)offsetof(struct rseq, cpu_id) : 0;
}

/* The CPU that the calling thread runs on, or NO_CPU. */
static inline uint32_t current_cpu(void)
{
  uint32_t cpu = cpu_at ? *(const volatile uint32_t *)((const char *)__builtin_thread_pointer() + cpu_at) : NO_CPU;
  if (cpu < (uint32_t)INT32_MIN) /* a negative number: the kernel does not keep it up to date */
    return cpu;
  return processor_knows ? machine_cpu() : NO_CPU;
}

void graph_log_start(const char *path)
{
  if (!stream_start(&file, path, FORMAT_GRAPH_LOG, 0, false)) {
    rt_lost(NULL, FORMAT_LOST_LOG);
    return;
  }
  cpu_at = find_cpu_number();
  processor_knows = machine_knows_cpu();
  atomic_store(&span_process.log, true);
}

void graph_log_stop(void)
{
  atomic_store(&span_process.log, false);
}

struct stream_file *graph_log_file(void)
{
  return &file;
}

/* ---- windows ---- */

/* Continues the stream in a new window.  Returns false if the stream has ended. */
static bool window_next(struct thread_state *t) __attribute__((noinline));
static bool window_next(struct thread_state *t)
{
  struct graph_log_stream *log = &span_of(t)->log;
  bool lost, goes_on = stream_next(&file, &log->stream, t->index, rt_ticks(), &lost);
  if (lost)
    rt_lost(t, FORMAT_LOST_LOG);
  if (!goes_on)
    return false;
  uint8_t *at = log->stream.at;
  *at++ = GRAPHLOG_TIME;
  at = leb128_put(at, log->now);
  if (log->cpu != NO_CPU) {
    *at++ = GRAPHLOG_CPU;
    at = leb128_put(at, log->cpu);
  }
  stream_begin(&log->stream, at);
  return true;
}

void graph_log_start_thread(struct thread_state *t)
{
  uint64_t now = work_clock_is_time() ? span_of(t)->work.since : rt_ticks();
  span_of(t)->log = (struct graph_log_stream){.now = now, .moment = now, .cpu = current_cpu()};
}

void graph_log_stop_thread(struct thread_state *t)
{
  stream_end(&file, &span_of(t)->log.stream);
}

void graph_log_forget_thread(struct thread_state *t)
{
  stream_close(&file, &span_of(t)->log.stream);
}

/* ---- records ---- */

/* Appends a record without moving the stream's time. */
static inline void append(struct thread_state *t, enum graphlog_op op, unsigned count, const uint64_t *operands)
{
  struct stream *stream = &span_of(t)->log.stream;
  if (!stream_has_room(stream, GRAPHLOG_RECORD_MAX) && !window_next(t))
    return;
  uint8_t *at = stream->at;
  *at++ = (uint8_t)op;
  for (unsigned i = 0; i < count; i++)
    at = leb128_put(at, operands[i]);
  stream_publish(stream, at);
}

/* Logs the CPU if it has changed.  Every operation and the end of every fragment do so, hence before the next fragment
 * begins. */
static void put_cpu(struct thread_state *t)
{
  uint32_t cpu = current_cpu();
  if (cpu == span_of(t)->log.cpu || cpu == NO_CPU)
    return;
  span_of(t)->log.cpu = cpu;
  append(t, GRAPHLOG_CPU, 1, (const uint64_t[]){cpu});
}

/* ---- creation times ---- */

/* The open creation counts from now on; work: of the fragment until now. */
static void creation_resume(struct creation_time *creation, uint64_t work)
{
  creation->since = rt_ticks();
  creation->work = work;
}

/* It does not count from that moment on.  Time in which the thread was switched out is left out: then the fragment's
 * work has grown by less. */
static void creation_pause(struct thread_state *t, uint64_t moment)
{
  struct creation_time *creation = &span_of(t)->log.creation;
  if (creation->since && moment > creation->since) {
    uint64_t ticks = moment - creation->since;
    uint64_t work = work_clock_is_time() ? work_clock_until(t, moment) - creation->work : ticks;
    creation->ticks += work < ticks ? work : ticks;
  }
  creation->since = 0;
}

/* The task last created is complete. */
static void put_created(struct thread_state *t)
{
  struct creation_time *creation = &span_of(t)->log.creation;
  if (creation->task) {
    append(t, GRAPHLOG_CREATED, 2, (const uint64_t[]){span_of(t)->log.tasks - creation->task, creation->ticks});
    creation->timed++;
    creation->sum += creation->ticks;
  }
  creation->task = 0;
  creation->ticks = 0;
}

struct creation_time graph_log_creation_begin(struct thread_state *t, const void *caller, uint64_t creator,
                                              uint64_t ticks)
{
  struct span_thread *span = span_of(t);
  struct creation_time outer = span->log.creation;
  span->log.creation = (struct creation_time){.caller = caller, .creator = creator, .ticks = ticks};
  if (creator)
    creation_resume(&span->log.creation, work_clock_is_time() ? work_clock_until(t, rt_ticks()) : 0);
  return outer;
}

void graph_log_creation_undeferred(struct thread_state *t, const void *caller, uint64_t creator, uint64_t ticks)
{
  span_of(t)->log.outer = graph_log_creation_begin(t, caller, creator, ticks);
  span_of(t)->log.creation.undeferred = true;
}

void graph_log_creation_end(struct thread_state *t, uint64_t moment)
{
  creation_pause(t, moment);
  put_created(t);
}

/* The thread runs the task of that name from now on. */
static void creation_switch(struct thread_state *t, uint64_t name)
{
  struct span_thread *span = span_of(t);
  struct creation_time *creation = &span->log.creation;
  creation_pause(t, span->log.moment);
  if (creation->undeferred) {
    put_created(t);
    span->log.undeferred = *creation;
    *creation = span->log.outer;
  } else if (name == creation->creator) {
    creation_resume(creation, 0);
  }
}

/* ---- operations ---- */

void graph_log_put(struct thread_state *t, enum graphlog_op op, unsigned count, const uint64_t *operands)
{
  struct graph_log_stream *log = &span_of(t)->log;
  if (counts_of(t)->fragments)
    counts_fragment_begin(t, log->moment);
  if (op == GRAPHLOG_SWITCH && log->creation.caller)
    creation_switch(t, operands[0] << 32 | operands[1]);
  put_cpu(t);
  if (log->moment > log->now) {
    append(t, GRAPHLOG_MOVE, 1, (const uint64_t[]){log->moment - log->now});
    log->now = log->moment;
  }
  append(t, op, count, operands);
}

/* What the fragment that ends at that moment has counted.  Counters that stood still are left out, but one is logged.
 */
static void put_counts(struct thread_state *t, uint64_t moment)
{
  uint64_t counted[COUNTERS_MAX];
  bool logged = false;
  if (!counts_fragment_end(t, moment, counted))
    return;
  for (unsigned i = 0; i < counts_process.count; i++)
    if (counted[i] || (i + 1 == counts_process.count && !logged)) {
      append(t, GRAPHLOG_COUNT, 2, (const uint64_t[]){i, counted[i]});
      logged = true;
    }
}

static void put_fragment(struct thread_state *t, uint64_t begin, uint64_t end, uint64_t work)
{
  struct span_thread *span = span_of(t);
  struct graph_log_stream *log = &span->log;
  for (unsigned i = 0; i < span->fragment_sample_count; i++)
    append(t, GRAPHLOG_SAMPLE, 2, (const uint64_t[]){span->fragment_samples[i].node, span->fragment_samples[i].weight});
  uint64_t operands[] = {begin - log->now, end - begin, work};
  bool plain = work == end - begin;
  append(t, plain ? GRAPHLOG_RUN : GRAPHLOG_RUN_OTHER, plain ? 2 : 3, operands);
  log->now = log->moment = end;
  put_cpu(t);
}

/* The thread has waited for a device between two ticks. */
void graph_log_put_device(struct thread_state *t, uint64_t since, uint64_t ticks, uint64_t amount)
{
  uint64_t begin = since > span_of(t)->log.now ? since : span_of(t)->log.now;
  append(t, GRAPHLOG_DEVICE, 0, NULL);
  put_fragment(t, begin, ticks > begin ? ticks : begin, amount);
}

void graph_log_put_run(struct thread_state *t, uint64_t moment, uint64_t work)
{
  struct span_thread *span = span_of(t);
  struct graph_log_stream *log = &span->log;
  uint64_t begin = log->moment > log->now ? log->moment : log->now, end = work_clock_is_time() ? moment : rt_ticks();
  if (counts_of(t)->fragments)
    put_counts(t, end);
  if (work_clock_is_time() && span->work.since > begin)
    begin = span->work.since;
  if (end < begin)
    end = begin;
  put_fragment(t, begin, end, work);
  if (log->creation.since) { /* the creation goes on in the next fragment */
    creation_pause(t, end);
    creation_resume(&log->creation, 0);
  }
}

/* ---- names ---- */

static uint64_t name_of(const struct thread_state *t, uint32_t number)
{
  return (uint64_t)t->index << 32 | number;
}

uint64_t graph_log_put_implicit(struct thread_state *t, uint64_t region, uint32_t team_size)
{
  uint64_t name = name_of(t, ++span_of(t)->log.tasks);
  graph_log_put(t, GRAPHLOG_IMPLICIT, 4,
                (const uint64_t[]){region >> 32, (uint32_t)region, team_size, region ? span_of(t)->log.number : 0});
  return name;
}

uint64_t graph_log_put_task(struct thread_state *t, uint64_t parent, uint32_t row, uint64_t flags)
{
  struct span_thread *span = span_of(t);
  struct creation_time *creation = &span->log.creation;
  bool timed = creation->since;
  if (timed) {
    creation_pause(t, span->log.moment);
    if (creation->task) /* one of several */
      put_created(t);
  }
  uint64_t name = name_of(t, ++span->log.tasks);
  graph_log_put(t, GRAPHLOG_TASK, 4, (const uint64_t[]){parent >> 32, (uint32_t)parent, row, flags});
  if (timed) {
    creation->task = span->log.tasks;
    creation_resume(creation, 0);
  }
  return name;
}

uint64_t graph_log_put_region(struct thread_state *t, uint32_t row)
{
  uint64_t name = name_of(t, ++span_of(t)->log.regions);
  graph_log_put(t, GRAPHLOG_REGION, 1, (const uint64_t[]){row});
  return name;
}

/* If two threads offer to an unnamed join at the same time, one of them names it. */
void graph_log_put_offer(struct thread_state *t, uint64_t name, struct join *join)
{
  uint64_t known = __atomic_load_n(&join->name, __ATOMIC_RELAXED), fresh = name_of(t, span_of(t)->log.joins + 1);
  if (!known && __atomic_compare_exchange_n(&join->name, &known, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    span_of(t)->log.joins++;
    known = fresh;
  }
  graph_log_put(t, GRAPHLOG_OFFER, 4, (const uint64_t[]){name >> 32, (uint32_t)name, known >> 32, (uint32_t)known});
}

void graph_log_put_take(struct thread_state *t, uint64_t name, const struct join *join)
{
  uint64_t known = __atomic_load_n(&join->name, __ATOMIC_RELAXED);
  if (known) /* otherwise nothing was offered */
    graph_log_put(t, GRAPHLOG_TAKE, 4, (const uint64_t[]){name >> 32, (uint32_t)name, known >> 32, (uint32_t)known});
}

void graph_log_put_wait(struct thread_state *t, enum graphlog_op op, uint64_t name, int kind, uint32_t row)
{
  enum graphlog_wait wait = GRAPHLOG_BARRIER;
  if (kind == ompt_sync_region_taskwait)
    wait = GRAPHLOG_TASKWAIT;
  else if (kind == ompt_sync_region_taskgroup)
    wait = GRAPHLOG_TASKGROUP;
  if (op == GRAPHLOG_WAIT && span_of(t)->log.creation.caller) { /* a taskloop waits for its tasks */
    creation_pause(t, span_of(t)->log.moment);
    put_created(t);
  }
  graph_log_put(t, op, op == GRAPHLOG_WAIT ? 4 : 3, (const uint64_t[]){name >> 32, (uint32_t)name, wait, row});
}
