/* Runs the post-processor as several ranks of an MPI launch: they divide the files, and the first rank reports.
 *
 * Context: BATCH, main thread.  Ranks form a binomial tree.  Rank r sends its result to the rank whose number is r
 * without its lowest bit, which takes log2(ranks) steps; what the first rank sends to all goes the opposite way.  Every
 * rank merges its part of the files, then the results of its children into its own.  No rank holds more than the merged
 * result and one message.
 *
 * Only the first rank resolves names, builds views and writes output, which is the same as without MPI, byte for byte.
 * The statistics of rows need a second reading of the files: the first rank sends the rows to all others, and each rank
 * counts its part.  Traces are read likewise, to build their indexes, which each rank writes.  Of graph logs, each of
 * the other ranks reads a part and sends its records, merged by time, directly to the first rank.  The pipeline holds
 * one batch at each end.
 *
 * The caller owns struct ranks and everything that is passed in.  If one rank fails, its status is passed on instead of
 * its data, so that no rank waits for it and the first rank returns the status.  A rank that lacks memory ends, upon
 * which the launcher ends the job.
 */
#ifndef HPCPROF_LITE_RANKS_RANKS_H
#define HPCPROF_LITE_RANKS_RANKS_H

#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/ranks/timeline_request.h"
#include "hpcprof-lite/ranks/transport.h"
#include "hpcprof-lite/views/statistics.h"

struct ranks {
  const struct transport *link; /* NULL: this process works alone, or the others have been dismissed */
  uint32_t rank, size;          /* alone: rank 0 of 1 */
};

enum ranks_role { RANKS_FIRST, RANKS_HELPER, RANKS_IDLE };

/* Returns whether this process is the one that prints messages.  Reads only the environment, so that it may be called
 * before ranks_join() and does not depend on its result. */
bool ranks_is_first(void);

/* Connects to the other ranks, if a launcher has started several.  If they cannot be connected, rank 0 is RANKS_FIRST
 * and works alone, the others are RANKS_IDLE and have nothing to do, and `message` receives the reason; otherwise it is
 * empty. */
enum ranks_role ranks_join(struct ranks *ranks, char *message, size_t message_size);

/* Sends the first rank's list of paths, and when the run began, to all other ranks, where they replace *paths, *count
 * and *begin_ns; the caller frees each path and the array.  `status`: of the first rank, whether it has a list. Returns
 * that, or ERR_INPUT if the ranks are different builds. */
int ranks_paths(struct ranks *ranks, int status, char ***paths, uint32_t *count, uint64_t *begin_ns);

/* Merges the profiles of all ranks into that of the first one, which calls merge_finish() next; the profiles of the
 * others are of no further use.  `status`: whether this rank has a profile.  Returns the same as ranks_paths(). */
int ranks_reduce(struct ranks *ranks, int status, struct profile *profile);

/* Does what statistics_count() does, with the help of all ranks.  Called by the first rank.  Returns the same as
 * ranks_paths(); statistics_release() in any case. */
int ranks_statistics(struct ranks *ranks, const struct statistics_view *view, unsigned threads,
                     struct problems *problems, struct statistics *statistics);

/* Has all ranks read traces: the first rank sends the request, reads its part, and then collects the problems that the
 * others met.  `status`: of its own part.  Alone, neither has an effect.  The first returns 0, the second the
 * same as ranks_paths(). */
void ranks_timeline_begin(struct ranks *ranks, const struct timeline_request *request);
int ranks_timeline_end(struct ranks *ranks, int status, struct problems *problems);

/* Returns what has the other ranks read graph logs for the first one: nothing, if it is alone.  `ranks` must outlive
 * it. */
struct log_help ranks_log_help(struct ranks *ranks);

/* What a helper does. */
struct ranks_service {
  unsigned threads;
  void (*timeline)(void *self, const struct timeline_request *request, struct problems *problems); /* its part */
  void *self;
};

/* Called by a helper: counts statistics, reads traces and logs for the first rank until that calls ranks_dismiss(),
 * then disconnects. */
void ranks_serve(struct ranks *ranks, const struct ranks_service *service);

/* Called by the first rank when it needs no more help: ends ranks_serve() of the others and disconnects.  Further calls
 * have no effect. */
void ranks_dismiss(struct ranks *ranks);

#endif
