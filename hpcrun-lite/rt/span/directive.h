/* Directives: the rows of the parallelism report, and the instances of constructs.
 *
 * Context: RT, in callbacks.  A row is a kind of construct at a code address.  An instance is one execution of a
 * construct, with all work of its tasks and their descendants.  It lives until the last holder releases it; then its
 * work and span are added to its row, and its work and end to the instance around it.  Only outermost instances count:
 * a construct inside an instance of its own row belongs to that instance.
 *
 * Each thread adds up for itself; its sums are added to the shared table when the thread ends and when measuring ends.
 * Rows grow under a lock, instances come from a pool.  Without memory, or when the table is full, a construct is
 * counted as a loss, and its work belongs to the construct around it. */
#ifndef HPCRUN_LITE_RT_SPAN_DIRECTIVE_H
#define HPCRUN_LITE_RT_SPAN_DIRECTIVE_H

#include "hpcrun-lite/rt/span/critical_path.h"

enum { DIRECTIVE_PROGRAM = 0, DIRECTIVES_MAX = 65535 };

/* CTL: starts the tables of a new process; the sums of a thread. */
void directive_start(void);
bool directive_start_thread(struct thread_state *t);

/* Adds the thread's sums to the shared table; directive_stop_thread() also frees its memory. */
void directive_stop_thread(struct thread_state *t);
void directive_add_sums(struct thread_state *t);

/* directive_row() for a row that the thread has not looked up last at that place. */
uint32_t directive_look_up(struct thread_state *t, struct row_cache *cache, enum format_directive_kind kind,
                           const void *code);

/* A kind of target constructs or operations for a device, as the following functions distinguish them.  device: as in
 * struct format_directive. */
static inline enum format_directive_kind directive_for_device(enum format_directive_kind kind, uint32_t device)
{
  return (enum format_directive_kind)((uint32_t)kind | device << 8);
}

/* The row of a kind of construct at a return address; DIRECTIVE_PROGRAM if the table is full;
 * the loss is counted. */
static inline uint32_t directive_row(struct thread_state *t, enum format_directive_kind kind, const void *code)
{
  uint64_t address = (uint64_t)code;
  enum { PLACES = sizeof span_of(t)->row_cache / sizeof *span_of(t)->row_cache };
  struct row_cache *cache = &span_of(t)->row_cache[(address ^ (uint64_t)kind * 7) % PLACES];
  if (cache->row && cache->code == address && cache->kind == kind)
    return cache->row;
  return directive_look_up(t, cache, kind, code);
}

/* If the row is a taskloop: its return address; otherwise NULL. */
const void *directive_taskloop(uint32_t row);

/* The row of the user region of that name.  *string: the name's offset in the string table. */
uint32_t directive_user_row(struct thread_state *t, const char *name, uint32_t *string);

/* Makes an instance of a row inside another instance (0: none), which begins at that clock.  The caller has a reference
 * until directive_leave().  Inside an instance of the same row, returns that one.  directive_share() takes a further
 * reference. */
uint32_t directive_enter(struct thread_state *t, uint32_t row, uint32_t outer, uint64_t start);
void directive_leave(struct thread_state *t, uint32_t instance);
uint32_t directive_share_other(struct thread_state *t, uint32_t instance);

/* The place of the thread's share of an instance. */
static inline struct instance_share *directive_share_place(struct thread_state *t, uint32_t instance)
{
  enum { PLACES = sizeof span_of(t)->instance_shares / sizeof *span_of(t)->instance_shares };
  return &span_of(t)->instance_shares[instance % PLACES];
}

static inline uint32_t directive_share(struct thread_state *t, uint32_t instance)
{
  struct instance_share *share = directive_share_place(t, instance);
  if (!instance || share->instance != instance || share->refs == 1) /* one reference stays with the share */
    return directive_share_other(t, instance);
  share->refs--;
  return instance;
}

/* The regions of a row that a thread creates, where some are light. */
struct light_regions {
  uint64_t waiting;        /* light ones for which none stands yet */
  uint64_t span, burdened; /* by how much the last one that was followed has moved the creator's clock */
  struct critical_path_item parts[CRITICAL_PATH_PARTS]; /* of that span */
  uint32_t skip;                                        /* light ones before the next one that is followed */
  bool followed, whole;                                 /* one was followed; all are followed from now on */
};

/* A thread's sums for a row, which stay where they are until the thread ends; NULL without memory. */
struct directive_total {
  uint64_t instances, work, span, iterations, light, stood, stood_work, stood_span, stood_squares, stood_spread;
  uint64_t device_time;         /* of `work`, in which tasks wait for devices */
  uint64_t untimed, early;      /* as in struct format_directive */
  struct light_regions regions; /* no sum: of a region's row (span/light_region.h) */
};
struct directive_total *directive_find_total(struct thread_state *t, uint32_t row) __attribute__((noinline));

static inline struct directive_total *directive_total(struct thread_state *t, uint32_t row)
{
  const struct span_thread *span = span_of(t);
  return span->last_total && span->last_row == row ? span->last_total : directive_find_total(t, row);
}

/* Adds an execution that had no instance, and whose work was done by one task. */
static inline void directive_add(struct directive_total *total, uint64_t work)
{
  total->instances++;
  total->work += work;
  total->span += work;
}

/* Of the work that is added within an instance (0: none), so much is time in which a task waits for a device. */
void directive_device_time(struct thread_state *t, uint32_t instance, uint64_t amount);

/* Adds executions of a construct that had no instance to its row. */
void directive_ended(struct thread_state *t, uint32_t row, uint64_t instances, uint64_t work, uint64_t span);

/* Whether the instance or one around it is of that row. */
bool directive_contains(uint32_t instance, uint32_t row);

/* Adds work done within an instance up to a clock.  The thread collects it in span_thread.instance_shares, with
 * references in reserve, so that threads do not contend for the instance. */
struct instance_share *directive_open_share(struct thread_state *t, uint32_t instance);

static inline void directive_work(struct thread_state *t, uint32_t instance, uint64_t work, uint64_t end)
{
  struct instance_share *share = directive_share_place(t, instance);
  if (!instance)
    return;
  if (share->instance != instance)
    share = directive_open_share(t, instance);
  share->work += work;
  share->end = end > share->end ? end : share->end;
}

/* Makes a thread's part of an instance that threads share and that is in no other one: what is done in the part counts
 * for that instance, and for those around the thread's part. */
uint32_t directive_enter_part(struct thread_state *t, uint32_t whole, uint32_t outer, uint64_t start);

/* In a part, chains begin later than the part itself.  Otherwise the span of the whole is at least that of the part,
 * which contains the tasks that are created there. */
void directive_part_moved(uint32_t part);

/* Sets the span of an instance; without it the span is the latest end minus the start.  It is never more than the work.
 */
void directive_span(uint32_t instance, uint64_t span);

/* Raises the lower bound that a lock puts on the span, for a row. */
void directive_lock_bound(uint32_t row, uint64_t bound);

/* Counts an execution of a construct that does no work itself, or iterations of a loop. */
void directive_count(struct thread_state *t, uint32_t row, uint64_t iterations);

/* Counts a light instance (span/governor.h); one of that work stands for so many light ones. */
void directive_light(struct thread_state *t, uint32_t row);
void directive_stands_for(struct thread_state *t, uint32_t row, uint64_t light, uint64_t work);

/* The same of a region or of what is in it, with its span. */
void directive_region_stands_for(struct thread_state *t, uint32_t row, uint64_t light, uint64_t work, uint64_t span);

/* The rows, for the writer. */
const struct table *directive_table(void);

#endif
