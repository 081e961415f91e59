/* Finds the names of all code addresses of a profile.
 *
 * Context: BATCH.  Several threads resolve modules, one thread for each module at a time.  Everything else happens in
 * one reproducible order, so that the numbers of functions do not depend on the number of threads.
 */
#ifndef HPCPROF_LITE_VIEWS_SYMBOLIZE_H
#define HPCPROF_LITE_VIEWS_SYMBOLIZE_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "common/symbols/kept_symbols.h"

/* Resolves the addresses of all contexts and directives on that many threads and fills *names.  A module that cannot be
 * read is not a failure: its functions are named by their addresses.  where: the directories of --symbols; NULL: none.
 * The caller calls symbolize_release(). */
void symbolize(const struct profile *profile, const struct symbols_search *where, unsigned threads,
               struct names *names);

/* The same on one thread (`threads` is 1) with symbols that are kept for the next time: they must live as long as the
 * names.  kept: NULL as above. */
void symbolize_kept(const struct profile *profile, const struct symbols_search *where, unsigned threads,
                    struct kept_symbols *kept, struct names *names);

/* Frees the names and the modules' symbols. */
void symbolize_release(struct names *names);

#endif
