/* Clocks by name, at which chains of work join: dependences, ordered, doacross, and threads that the program creates
 * and joins.
 *
 * Context: BATCH.  The log does not tell when a join is used for the last time.  Therefore the least recently used ones
 * are dropped when there are too many.  Those of messages are named by small numbers, and are kept until they are
 * dropped.  The structure owns its memory; the clocks belong to the caller's vector_clocks.
 */
#ifndef HPCPROF_LITE_REPLAY_JOINS_H
#define HPCPROF_LITE_REPLAY_JOINS_H

#include "hpcprof-lite/replay/instances.h"
#include "hpcprof-lite/replay/vector_clock.h"

enum { JOINS_MAX = 4 << 20, JOINS_BYTES_MAX = 256 << 20 };

struct joins {
  struct object_pool pool;
  struct hash_map names;
  uint32_t *messages; /* [number] its join; 0: none */
  size_t messages_room;
  struct vector_clocks *clocks; /* the caller's */
  uint32_t newest, oldest;      /* of those with names, by their last use */
};

/* Prepares for at most `max` joins whose clocks take at most JOINS_BYTES_MAX.  joins_release() is called before the
 * clocks are released. */
void joins_init(struct joins *joins, struct vector_clocks *clocks, uint32_t max);
void joins_release(struct joins *joins);

struct join {
  uint32_t clock;           /* belongs to the join */
  uint32_t newer, older;    /* by their last use */
  bool in_loop;             /* a clock was offered from inside a loop */
  struct clock_pair within; /* the longest chain of a loop's own work that was offered so */
  uint64_t name;            /* 0: of a message */
};

/* Returns the join with that name.  If it does not exist, returns a new one at 0 with `create`, otherwise NULL; also
 * NULL if there is no room. */
struct join *joins_find(struct joins *joins, uint64_t name, bool create);

/* The same for a message or collective operation with that number, not 0. */
struct join *joins_of_message(struct joins *joins, uint64_t number, bool create);

/* Drops the join of a message, which is not used any more, if it exists. */
void joins_drop_message(struct joins *joins, uint64_t number);

#endif
