/* Locks by the number that the log gives them: since when each is held, how long in all, and the bound that this sets.
 *
 * Context: BATCH.  A lock lives as long as the replay.  The bound that one holder at a time sets to the span is the
 * earliest moment of any acquire + the sum of what was held until a release (doc/format.md, Replay).
 */
#ifndef HPCPROF_LITE_REPLAY_LOCKS_H
#define HPCPROF_LITE_REPLAY_LOCKS_H

#include "hpcprof-lite/replay/instances.h"

#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/replay/object_pool.h"

struct lock {
  uint32_t row;      /* directive of its last acquire */
  uint32_t released; /* the caller's: clock of its last release */
  struct moment earliest, acquired, held;
};

struct locks {
  struct object_pool pool;
  struct index names;
};

/* 0, or ERR_NOMEM; locks_release() in any case. */
int locks_init(struct locks *locks);
void locks_release(struct locks *locks);
bool locks_overflow(const struct locks *locks);

/* The lock with that number; NULL where there is none. */
struct lock *locks_find(const struct locks *locks, uint64_t id);
/* The same, made at that moment where there is none; NULL where there is no room. */
struct lock *locks_get(struct locks *locks, uint64_t id, const struct moment *now);

void lock_acquired(struct lock *lock, uint32_t row, const struct moment *now);
/* Returns the bound. */
struct moment lock_released(struct lock *lock, const struct moment *now);

#endif
