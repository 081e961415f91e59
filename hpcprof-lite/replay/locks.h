/* The locks of a replay: when each was acquired, how long it was held, and the lower bound of the span that follows.
 *
 * Context: BATCH.  A lock is identified by its number in the log and lives as long as the replay.  Because a lock has
 * one holder at a time, the span is at least the earliest time of any acquisition + the sum of all times for which
 * the lock was held (doc/format.md, Replay).  The structure owns its memory.
 */
#ifndef HPCPROF_LITE_REPLAY_LOCKS_H
#define HPCPROF_LITE_REPLAY_LOCKS_H

#include "hpcprof-lite/replay/instances.h"

#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/replay/object_pool.h"

struct lock {
  uint32_t row;                               /* directive of the last acquisition */
  uint32_t released;                          /* clock of the last release, kept by the caller */
  struct clock_pair earliest, acquired, held; /* earliest and last acquisition; sum of the times held */
};

struct locks {
  struct object_pool pool;
  struct index index;
};

/* Returns 0 or ERR_NOMEM; locks_release() in either case. */
int locks_init(struct locks *locks);
void locks_release(struct locks *locks);

/* Returns whether a lock was left out because memory ran out. */
bool locks_overflow(const struct locks *locks);

/* Returns the lock with that number, or NULL. */
struct lock *locks_find(const struct locks *locks, uint64_t id);

/* Returns the lock with that number.  If it does not exist, adds one whose earliest acquisition is `now`; returns NULL
 * if there are too many locks or memory runs out. */
struct lock *locks_get(struct locks *locks, uint64_t id, const struct clock_pair *now);

void lock_acquired(struct lock *lock, uint32_t row, const struct clock_pair *now);

/* Records a release and returns the lower bound of the span. */
struct clock_pair lock_released(struct lock *lock, const struct clock_pair *now);

#endif
