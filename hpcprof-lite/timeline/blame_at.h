/* What was to blame at a moment: the contexts that other threads ran while one waited.
 *
 * Context: BATCH.  Source: the blame shifting of Tallent and Mellor-Crummey (PPoPP 2009), applied to an interval: idle
 * time is charged to the contexts in which samples find other threads of the process at work meanwhile, time that waits
 * for a lock to those of its holder.  Use: add the samples of a process, sort them once, then ask.  Memory: 16 bytes
 * for each sample of a working thread, at most 64 MiB: of more samples, as many are kept of each thread and time.  The
 * threads divide them while each collects its own; with more than 4096 threads each has 16 KiB.
 */
#ifndef HPCPROF_LITE_TIMELINE_BLAME_AT_H
#define HPCPROF_LITE_TIMELINE_BLAME_AT_H

#include "hpcprof-lite/model/tree.h"

struct blame_sample {
  uint64_t ns;
  uint32_t thread, row; /* index of the thread; its context as a row of the top-down tree, or MODEL_NONE */
};

struct blame_at {
  struct blame_sample *samples;
  size_t count, room;
  uint64_t offered; /* samples that were added */
  unsigned halved;  /* of these, one in 2^halved is kept */
  size_t most;      /* samples that are kept; 0: those of 64 MiB */
  const struct tree *tree;
};

/* Scratch memory of one caller: all zero between its calls, of one process or another with the same tree. */
struct blame_at_counts {
  uint32_t *counts, *seen; /* [row]: samples in it or below; the rows that have any */
};

void blame_at_add(struct blame_at *blame, struct blame_sample sample);

/* Divides the memory of a process among empty parts, one for each of its threads. */
void blame_at_divide(struct blame_at *parts, uint32_t count);

/* Adds the samples of the parts, and releases them: as many are kept of each. */
void blame_at_join(struct blame_at *blame, struct blame_at *parts, uint32_t count);

/* All samples are there. */
void blame_at_sort(struct blame_at *blame, const struct tree *tree);
void blame_at_counts_init(const struct blame_at *blame, struct blame_at_counts *counts);
void blame_at_counts_release(struct blame_at_counts *counts);

/* Returns the innermost context that more than half of the samples from `from_ns` on until before `to_ns` fell into, or
 * into what it calls; MODEL_NONE if no sample tells.  holder: index of the thread that alone is to blame; 0: all but
 * `waiter`. */
uint32_t blame_at_worst(const struct blame_at *blame, struct blame_at_counts *counts, uint64_t from_ns, uint64_t to_ns,
                        uint32_t waiter, uint32_t holder);

void blame_at_release(struct blame_at *blame);

#endif
