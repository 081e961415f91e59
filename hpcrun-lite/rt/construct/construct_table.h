/* The records of a thread's constructs, found by what they are and where they were met.
 *
 * Context: RT, except for construct_record() and construct_code(), which any context may call. */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_TABLE_H
#define HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_TABLE_H

#include "hpcrun-lite/rt/construct/trace.h"

static inline struct format_construct *construct_record(const struct thread_state *t, uint32_t record)
{
  return table_at(&construct_of(t)->records, record);
}

/* The code of a state, in the trace and in format_thread: see common/tracelog.h. */
static inline uint64_t construct_code(uint32_t record, enum format_construct_time column)
{
  return (uint64_t)record * FORMAT_TIMES + column;
}

/* The record of a region that another thread has created, whose record there is `link`; NULL without memory. */
struct format_construct *construct_find_link(struct thread_state *t, uint32_t kind, uint32_t directive, uint32_t owner,
                                             uint32_t link, uint32_t *record);

/* The thread's figures of a task construct; NULL without memory. */
struct format_tasks *construct_find_tasks(struct thread_state *t, uint32_t directive, uint32_t *index);

/* In place of a record that is not made, the time belongs to that of the construct around it. */
const struct construct_known *construct_not_kept(struct thread_state *t, uint32_t parent);

/* construct_find() for what is in neither of its places in the thread's `known`, which keeps it in the first. */
const struct construct_known *construct_look_up(struct thread_state *t, unsigned place, uint64_t key, uint32_t parent,
                                                uint32_t kind, uint32_t directive, bool in_wait)
    __attribute__((noinline));

/* What the thread keeps of the records that it has looked up, by a key of which the upper half is the record around. */
static inline uint64_t construct_key(uint32_t parent, uint32_t kind, uint32_t directive, bool in_wait)
{
  return (uint64_t)parent << 32 | directive << 8 | kind << 1 | in_wait;
}

static inline unsigned construct_known_place(uint64_t key)
{
  enum { BITS = 6 };
  _Static_assert(sizeof((struct construct_thread *)NULL)->known / sizeof(struct construct_known) == 1 << BITS,
                 "as many as the hash distinguishes");
  return (unsigned)(key * 0x9e3779b97f4a7c15ULL >> (64 - BITS));
}

/* The entry of that key, or of another one.  Two that are met in turn have a place each. */
static inline struct construct_known *construct_known_at(struct thread_state *t, uint64_t key)
{
  struct construct_known *known = construct_of(t)->known;
  unsigned place = construct_known_place(key);
  if (__builtin_expect(known[place].key != key, 0) && known[place ^ 1].key == key)
    place ^= 1;
  return &known[place];
}

/* The record of a construct that is met below another record; most were met there before.  Without memory, or if a
 * filter leaves the construct out, the other record. */
static inline const struct construct_known *construct_find(struct thread_state *t, uint32_t parent, uint32_t kind,
                                                           uint32_t directive, bool in_wait)
{
  uint64_t key = construct_key(parent, kind, directive, in_wait);
  const struct construct_known *known = construct_known_at(t, key);
  if (__builtin_expect(known->key != key, 0))
    return construct_look_up(t, construct_known_place(key), key, parent, kind, directive, in_wait);
  return known;
}

/* Another filter holds: records are looked up again. */
void construct_forget(struct thread_state *t);

/* Counts an execution, unless it has no record.  Either it begins now and the thread's time goes to
 * it (construct_count()), or it takes no time of its own. */
static inline void construct_count(struct thread_state *t, const struct construct_known *known)
{
  known->at->count += known != &construct_of(t)->unkept;
  trace_begun(t);
}

static inline void construct_count_instant(struct thread_state *t, const struct construct_known *known)
{
  known->at->count += known != &construct_of(t)->unkept;
  trace_instant(t, construct_code(known->record, FORMAT_TIME_BODY));
}

#endif
