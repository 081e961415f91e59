/* Critical paths: who contributes how much to a logical clock.
 *
 * Context: RT, in callbacks.  A path is a few sums by key, held by its owner, and behind them a persistent list of
 * segments that are shared and never change: copying a path is counting a reference.  A list that has grown long is
 * folded: its sums by key, in segments of its own.  So memory is bound by the number of live paths and of distinct
 * keys. Invariant: the sum over a path = the clock's value.  Without memory, what cannot be kept is lost and counted.
 *
 * References are counted in bulk: a thread takes and gives back many at once and keeps what it has at hand in
 * `critical_path_credits`, so that threads that copy the same path again and again do not fight for its count.
 */
#ifndef HPCRUN_LITE_RT_SPAN_CRITICAL_PATH_H
#define HPCRUN_LITE_RT_SPAN_CRITICAL_PATH_H

#include "hpcrun-lite/rt/core/rt.h"

/* row << 48 | thread << 28 | node: a directive, and the context of a sample, 0 without. */
#define CRITICAL_PATH_KEY(row, thread, node) ((uint64_t)(row) << 48 | (uint64_t)(thread) << 28 | (node))

enum { CRITICAL_PATH_THREAD_MAX = (1 << 20) - 1, CRITICAL_PATH_NODE_MAX = (1 << 28) - 1, CRITICAL_PATH_ITEMS = 2 };

struct critical_path_item {
  uint64_t key, amount; /* amount 0: not in use */
};

struct path {
  struct critical_path_item items[CRITICAL_PATH_ITEMS]; /* the one that was added to last stands first */
  uint32_t tail;                                        /* segment, 0 = none                            */
  bool borrowed; /* somebody else's reference keeps the tail for as long as this path lives */
};

void critical_path_start(void);
void critical_path_stop_thread(struct thread_state *t);

void critical_path_add_other(struct thread_state *t, struct path *path, uint64_t key, uint64_t amount);

static inline void critical_path_add(struct thread_state *t, struct path *path, uint64_t key, uint64_t amount)
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

/* Moves the second of the path's own items behind, so that a copy has room for another key. */
void critical_path_make_room(struct thread_state *t, struct path *path);

/* One more reference to a segment, and one less. */
void critical_path_share_tail(struct thread_state *t, uint32_t tail);
void critical_path_drop_tail(struct thread_state *t, uint32_t tail);

/* The same path for one more owner. */
static inline struct path critical_path_copy(struct thread_state *t, const struct path *path)
{
  struct path copy = *path;
  copy.borrowed = false;
  if (path->tail)
    critical_path_share_tail(t, path->tail);
  return copy;
}

/* The same for an owner that does not outlive this one. */
static inline struct path critical_path_borrow(const struct path *path)
{
  struct path copy = *path;
  copy.borrowed = true;
  return copy;
}

static inline void critical_path_drop(struct thread_state *t, struct path *path)
{
  if (path->tail && !path->borrowed)
    critical_path_drop_tail(t, path->tail);
}

/* Walks over all items: *place begins with the path and zeros; returns NULL behind the last one. */
struct path_place {
  const struct path *path;
  uint32_t segment, index;
};
const struct critical_path_item *critical_path_next(struct path_place *place);

#endif
