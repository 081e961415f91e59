/* Functions that left no frame between a caller and what runs below it, because they ended in tail calls: jumps into
 * another function.
 *
 * Context: BATCH, one thread.  The caller's instruction tells which function it called.  If that is not the one that
 * runs, debug data tell by which jumps it can lead there.  The functions that every possible chain of jumps begins with
 * are inferred; nothing is where no chain is known.  What cannot be read is not known.
 */
#ifndef HPCPROF_LITE_VIEWS_INFERRED_FRAMES_H
#define HPCPROF_LITE_VIEWS_INFERRED_FRAMES_H

#include "common/symbols/symbols_request.h"
#include "hpcprof-lite/views/code.h"

/* Sets names->inferred and names->inferred_addresses.  requests: [module] what was asked of its symbols. */
void inferred_frames_find(const struct profile *profile, const struct symbols_request *requests, struct names *names,
                          struct code *code);

#endif
