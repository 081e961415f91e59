/* Functions in which atomic instructions were sampled often, in parallel regions.
 *
 * Context: BATCH, one thread.  An instruction that waits for a cache line is sampled at its own address or at that of
 * the next one.  Code is decoded from the start of each function on; where that is not known, the code cannot be read,
 * or an instruction is not known, nothing is claimed of what follows.  The list belongs to the caller; strings belong
 * to the names.
 */
#ifndef HPCPROF_LITE_VIEWS_ATOMIC_PLACES_H
#define HPCPROF_LITE_VIEWS_ATOMIC_PLACES_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"

/* Functions with fewer samples, or a smaller part of them at atomic instructions, are left out. */
enum { ATOMIC_SAMPLES_LEAST = 20, ATOMIC_PERCENT_LEAST = 20 };

struct atomic_place {
  const char *function, *file; /* file and line: of the instruction with most samples; "" if not known */
  uint32_t line;
  uint32_t context;         /* with most of these samples */
  uint64_t samples, atomic; /* of the function in its region; of these, at atomic instructions or just after one */
  uint64_t atomic_ns;       /* the work that the latter represent */
  uint64_t most_ns;         /* of this, at that instruction */
  uint64_t most_context_ns; /* of this, in that context */
};

/* Lists the functions outside runtime libraries, each for every region around it.  samples, work: columns of the
 * catalog.  Returns them for free(). */
struct atomic_place *atomic_places_find(const struct profile *profile, const struct names *names, uint32_t samples,
                                        uint32_t work, uint32_t *count);

#endif
