/* The post-processor as many ranks of an MPI launch: they divide the files, and the first one reports.
 *
 * Context: BATCH.  Ranks form a binomial tree: rank r hands what it has to r without its lowest bit, in log2(ranks)
 * steps, and what the first rank says goes the same way back.  Every rank merges its part of the files, then its
 * children's results into its own: no rank holds more than the merged result and one message.  Names, views and
 * output are the first rank's alone; of it and one that was started without MPI every byte is the same.
 * Statistics of rows need a second reading: the first rank says what the rows are, and all count their part.
 */
#ifndef HPCPROF_LITE_RANKS_RANKS_H
#define HPCPROF_LITE_RANKS_RANKS_H

#include "hpcprof-lite/input/merge.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/ranks/transport.h"
#include "hpcprof-lite/views/statistics.h"

struct ranks {
  const struct transport *link; /* NULL: alone, or no more than one is at work */
  uint32_t rank, size;          /* 0 of 1 where alone */
};

enum ranks_role { RANKS_FIRST, RANKS_HELPER, RANKS_IDLE };

/* Whether this process is the one to speak, by the environment: before, and whether or not, the ranks are joined. */
bool ranks_speaks(void);

/* Joins the others, if a launcher has started several.  RANKS_IDLE: they cannot reach one another, and the first does
 * all; message then says why, else it is empty. */
enum ranks_role ranks_join(struct ranks *ranks, char *message, size_t message_size);

/* The list of the first rank becomes that of all (free() each and the array).  status: whether there is one.  0,
 * ERR_INPUT if the ranks do not understand one another, or ERR_NOMEM. */
int ranks_paths(struct ranks *ranks, int status, char ***paths, uint32_t *count);

/* Puts the ranks' profiles together, status being that of this rank's: merge_finish() is left to do for the first.
 * For others the profile is not of use any more.  As above. */
int ranks_reduce(struct ranks *ranks, int status, struct profile *profile);

/* statistics_count() by all ranks. */
int ranks_statistics(struct ranks *ranks, const struct statistics_view *view, unsigned threads,
                     struct problems *problems, struct statistics *statistics);

/* Of a helper: counts for the first rank until that is done with it. */
void ranks_serve(struct ranks *ranks, unsigned threads);

/* Of the first rank: no more help is needed.  May be called again. */
void ranks_dismiss(struct ranks *ranks);

#endif
