/* Critical paths: who contributes how much to a logical clock.
 *
 * Context: RT, in callbacks.  A path is a persistent list of segments, each with a few sums by key, shared from its
 * tail on: copying one is counting a reference.  A path is owned by whoever holds its index; only an owner whose
 * segment is not shared adds to it in place.  A path that has grown long is folded: its sums by key, in segments of its
 * own.  So memory is bound by the number of live paths and of distinct keys.  Invariant: the sum over a path = the
 * clock's value. Without memory, what cannot be kept is added to the last segment that there is, or lost and counted.
 */
#ifndef HPCRUN_LITE_RT_PATH_H
#define HPCRUN_LITE_RT_PATH_H

#include "hpcrun-lite/rt/rt.h"

/* row << 48 | thread << 28 | node: a directive, and the context of a sample, 0 without. */
#define PATH_KEY(row, thread, node) ((uint64_t)(row) << 48 | (uint64_t)(thread) << 28 | (node))

enum { PATH_THREAD_MAX = (1 << 20) - 1, PATH_NODE_MAX = (1 << 28) - 1 };

struct path_item {
  uint64_t key, amount;
};

void path_start(void);
void path_stop_thread(struct thread_state *t);

void path_add(struct thread_state *t, uint32_t *path, uint64_t key, uint64_t amount);

/* The same path for one more owner. */
uint32_t path_share(uint32_t path);
void path_drop(struct thread_state *t, uint32_t path);

/* Walks over all items, from the newest: *place begins as the path; returns NULL behind the last one. */
const struct path_item *path_next(uint32_t *place, uint32_t *index);

#endif
