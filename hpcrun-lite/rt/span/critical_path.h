/* Critical paths: which work makes up the length of a logical clock.
 *
 * Context: RT, in callbacks.  A path consists of a few sums by key, which its owner holds, and a persistent list of
 * segments, which owners share and never change.  So a copy costs one reference.  A list that has grown long is
 * compacted: added up by key into new segments.  Memory is therefore bounded by the number of live paths and of
 * distinct keys.  Invariant: the sum over a path equals the clock's base.  Without memory an amount that cannot be
 * kept is lost, and the loss is counted.
 *
 * References are counted in bulk: a thread takes and returns many at once and keeps a reserve of them in
 * `critical_path_credits`, so that threads that copy the same path often do not contend for its counter. */
#ifndef HPCRUN_LITE_RT_SPAN_CRITICAL_PATH_H
#define HPCRUN_LITE_RT_SPAN_CRITICAL_PATH_H

#include "hpcrun-lite/rt/span/span_thread.h"

/* A directive's row, and the context of a sample: thread and node, 0 if there is none. */
#define CRITICAL_PATH_KEY(row, thread, node) ((uint64_t)(row) << 48 | (uint64_t)(thread) << 28 | (node))

enum { CRITICAL_PATH_THREAD_MAX = (1 << 20) - 1, CRITICAL_PATH_NODE_MAX = (1 << 28) - 1, CRITICAL_PATH_ITEMS = 2 };

struct critical_path_item {
  uint64_t key, amount; /* amount 0: unused */
};

struct critical_path {
  struct critical_path_item items[CRITICAL_PATH_ITEMS]; /* the first is the last one added to */
  uint32_t tail;                                        /* segment, 0: none */
  bool borrowed; /* another owner's reference keeps the tail as long as this path exists */
};

/* CTL: starts the pool of a new process.  critical_path_stop_thread() returns a thread's references and memory. */
void critical_path_start(void);
void critical_path_stop_thread(struct thread_state *t);

/* The slow part of critical_path_add(). */
void critical_path_add_other(struct thread_state *t, struct critical_path *path, uint64_t key, uint64_t amount);

/* Adds an amount of work under a key. */
static inline void critical_path_add(struct thread_state *t, struct critical_path *path, uint64_t key, uint64_t amount)
{
  struct critical_path_item *items = path->items;
  if (items[0].key == key) {
    items[0].amount += amount;
  } else if (amount && items[0].amount && (!items[1].amount || items[1].key == key)) {
    uint64_t sum = items[1].amount + amount;
    items[1] = items[0];
    items[0] = (struct critical_path_item){key, sum};
  } else if (amount) {
    critical_path_add_other(t, path, key, amount);
  }
}

/* Moves an amount, or what there is of it, from the row of the path's second item to that of its first one.  If these
 * are other rows, or have different contexts, nothing. */
void critical_path_move(struct critical_path *path, uint32_t from_row, uint32_t to_row, uint64_t amount);

/* Adds, so many times, what the path has more than one that it goes on from.  Returns false, and changes nothing, where
 * it does not go on from that one, or without memory. */
bool critical_path_repeat(struct thread_state *t, struct critical_path *path, const struct critical_path *from,
                          uint64_t times);

/* Of what the path has more than one that it goes on from, the sums of CRITICAL_PATH_PARTS rows, without contexts; not
 * of the row with key `besides`.  amount 0: unused.  Of more rows, those with the largest contexts.  None where the
 * path does not go on from that one, or without memory. */
enum { CRITICAL_PATH_PARTS = 4 };
void critical_path_parts(struct thread_state *t, const struct critical_path *path, const struct critical_path *from,
                         uint64_t besides, struct critical_path_item *parts);

/* Whether work under that key goes to one of the path's own items. */
static inline bool critical_path_has(const struct critical_path *path, uint64_t key)
{
  return path->items[0].key == key || path->items[1].key == key;
}

/* Moves the path's second item, if used, into the list, so that a copy of the path has room for another key. */
void critical_path_make_room(struct thread_state *t, struct critical_path *path);

/* Take and release a reference to a segment. */
void critical_path_share_tail(struct thread_state *t, uint32_t tail);
void critical_path_drop_tail(struct thread_state *t, uint32_t tail);

/* A copy with a reference of its own. */
static inline struct critical_path critical_path_copy(struct thread_state *t, const struct critical_path *path)
{
  struct critical_path copy = *path;
  copy.borrowed = false;
  if (path->tail)
    critical_path_share_tail(t, path->tail);
  return copy;
}

/* A copy without a reference, for an owner that does not outlive this one. */
static inline struct critical_path critical_path_borrow(const struct critical_path *path)
{
  struct critical_path copy = *path;
  copy.borrowed = true;
  return copy;
}

/* Releases the path's reference.  The path must not be used afterwards. */
static inline void critical_path_drop(struct thread_state *t, struct critical_path *path)
{
  if (path->tail && !path->borrowed)
    critical_path_drop_tail(t, path->tail);
}

/* Makes the path a copy of another one.  Mostly both have the same list: then the reference stays. */
static inline void critical_path_set(struct thread_state *t, struct critical_path *path,
                                     const struct critical_path *other)
{
  if (__builtin_expect(path->tail != other->tail || path->borrowed, 0)) {
    struct critical_path copy = critical_path_copy(t, other);
    critical_path_drop(t, path);
    *path = copy;
    return;
  }
  for (int i = 0; i < CRITICAL_PATH_ITEMS; i++)
    path->items[i] = other->items[i];
}

/* Iterates over all items.  Set place->path and zero the rest before the first call.  Returns NULL after the last item.
 */
struct critical_path_cursor {
  const struct critical_path *path;
  uint32_t segment, index;
};
const struct critical_path_item *critical_path_next(struct critical_path_cursor *place);

#endif
