/* What happened between two readings of a measurement: the differences of their figures.
 *
 * Processes are matched by host, id and start, threads by their index, contexts by what identifies them.  What is new
 * counts in full.  A figure that has become smaller counts as 0: idleness, for instance, is counted against the most
 * threads ever in use, which the next reading may know better.
 *
 * Context: BATCH.  Pure apart from the profiles that are given. */
#ifndef HPCPROF_LITE_LIVE_DIFFERENCE_H
#define HPCPROF_LITE_LIVE_DIFFERENCE_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

/* Returns how many processes of the earlier reading the later one lacks, or has fewer samples of: they could not be
 * read, or not completely.  *example: the path of one of them, which belongs to `before`. */
uint32_t difference_lacking(const struct profile *before, const struct profile *now, const char **example);

/* Returns whether anything was sampled between the two readings. */
bool difference_any(const struct profile *before, const struct profile *now);

/* Makes *part, which shares all with `now` but processes and their threads: these have the differences.  Without
 * `before` all are 0. */
void difference_processes(const struct profile *before, const struct profile *now, struct profile *part);
void difference_release(struct profile *part);

/* Gives each context of `now` twice as many columns, of which the second half has the differences; adds nothing but
 * modules to `before`, which may be NULL. */
void difference_contexts(struct profile *before, struct profile *now);

/* Doubles the columns, which tree_columns_init() has made, and sets *part to those that have the differences. */
void difference_columns(uint32_t catalog_columns, struct tree_columns *columns, struct tree_columns *part);

#endif
