/* How much work of a recorded graph the samples attribute to each context.
 *
 * Context: BATCH.  The first replay of a log adds entries; later replays read them, with a factor for each entry in
 * each scenario (replay.h).  An attribution of zeros is empty.  It owns its memory.
 */
#ifndef HPCPROF_LITE_REPLAY_ATTRIBUTION_H
#define HPCPROF_LITE_REPLAY_ATTRIBUTION_H

#include "hpcprof-lite/model/hash_map.h"

enum { ATTRIBUTION_MAX = 1 << 18 };

/* Work of a directive (`row`) in the context of a node of a thread's tree.  Thread 0: a fragment without samples. */
struct attribution_entry {
  uint32_t row, thread, node;
  double amount; /* in the unit of the log; 0 for thread 0 */
};

struct attribution {
  struct hash_map map;
  struct attribution_entry *entries; /* from 1; entry 0 is that of contexts that are not known */
  uint32_t count;
  size_t room;
};

/* Returns the number of an entry, 0 if it does not exist. */
uint32_t attribution_find(const struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node);

/* Finds or adds an entry.  Returns its number, or 0 if there are ATTRIBUTION_MAX entries, or no measurement can contain
 * such a thread or node. */
uint32_t attribution_add(struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node);

/* Frees the entries; the attribution is then empty. */
void attribution_release(struct attribution *attribution);

#endif
