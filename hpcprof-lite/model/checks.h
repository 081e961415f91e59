/* Checks of whole structures: whether their invariants hold.
 *
 * Context: BATCH.  For assertions and their tests only: a structure is checked where it is complete.  Where assertions
 * are off, nothing refers to these functions, and the linker leaves them out.  Each returns false at the first thing
 * that is wrong; none changes what it looks at.  They may take as long as it took to make the structure. */
#ifndef HPCPROF_LITE_MODEL_CHECKS_H
#define HPCPROF_LITE_MODEL_CHECKS_H

#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/timeline.h"

/* Every element is found from its home slot on, and not too many slots are in use. */
bool check_hash_map(const struct hash_map *map);

/* Parents come before their children, every node is found by its identity, has a record of its own or none, and shares
 * and marks refer to nodes. */
bool check_contexts(const struct contexts *contexts);

/* Addresses have steps, steps have functions; all numbers are in range. */
bool check_names(const struct names *names, uint32_t contexts_count);

/* Nodes come after their parents; rows are sorted and refer to one of nodes_count nodes. */
bool check_construct_times(const struct construct_times *times, uint32_t nodes_count);

/* Entries are in depth-first order (those of a flat list are below the first one), with the sums of their lines. */
bool check_construct_tree(const struct construct_tree *tree);

/* Processes that are not usable come last, each has its number; their constructs are in order. */
bool check_profile(const struct profile *profile);

/* Intervals tile their lanes.  Reads all of them; what cannot be read is not wrong. */
bool check_timeline(const struct timeline *timeline);

/* Edges lead to higher numbers; sums are those of the nodes. */
bool check_grain_graph(const struct grain_graph *graph);

#endif
