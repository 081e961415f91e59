/* What the log of the graph answers, of the process whose span is the run's.
 *
 * Context: BATCH.  Reads the log beside the process's measurement file, replays it (analysis/replay.h), and puts the
 * results in the terms of the profile.  The first replay finds where samples fell and checks the log against what was
 * computed online: span, work, and each directive's instances, work and span must be the same, exactly where work is
 * counted, to a millionth where it is time.
 */
#ifndef HPCPROF_LITE_REPLAY_RECORDED_GRAPH_H
#define HPCPROF_LITE_REPLAY_RECORDED_GRAPH_H

#include "hpcprof-lite/replay/replay.h"
#include "hpcprof-lite/analysis/whatif.h"
#include "hpcprof-lite/analysis/workspan.h"
#include "hpcprof-lite/input/merge.h"
#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/model/profile.h"

struct recorded_graph {
  bool known;   /* there is a log */
  bool differs; /* from what was measured, or it is not complete */
  struct profile *profile;
  struct streams *streams;
  struct problems *problems; /* the caller's */
  struct attribution attribution;
  struct profile_share *shares; /* [part], with its place in the profile */
  double unit;                  /* of the graph, for one of the log */
  double per_sample;            /* work of the graph's unit that a sample stands for */
  double burdened;              /* span, in the graph's unit */
  double makespans[REPLAY_SCHEDULES];
  struct profile_share *path; /* of the scenario in detail: parts of its span, */
  uint64_t *spans, *bounds;   /* and of the run's directives                   */
};

/* Opens and replays the log, with schedules on so many cores each.  What is wrong with it is named in problems, which
 * must live as long.  0, or ERR_NOMEM; recorded_graph_release() in any case. */
int recorded_graph_open(struct profile *profile, const uint32_t *cores, uint32_t cores_count, struct problems *problems,
                        struct recorded_graph *recorded);
void recorded_graph_release(struct recorded_graph *recorded);

/* Where samples fell and how much work that is, as whatif_rank() takes it.  0, or ERR_NOMEM. */
int recorded_graph_parts(struct recorded_graph *recorded, const struct profile_share **attribution, uint32_t *count);

/* Enters the answers into all rows; without a log they stay as they are.  0, or ERR_NOMEM. */
int recorded_graph_whatif(struct recorded_graph *recorded, const struct whatif_run *run, struct whatif *whatif);

/* The scenario of a row, for all directives; what *scenario refers to is the structure's.  0, or ERR_NOMEM. */
int recorded_graph_scenario(struct recorded_graph *recorded, const struct whatif_run *run, struct whatif_row *row,
                            struct workspan_scenario *scenario);

#endif
