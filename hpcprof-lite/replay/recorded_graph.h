/* What the log of the graph answers, of the process whose span is the run's.
 *
 * Context: BATCH.  Reads the log beside the process's measurement file, replays it (replay/replay.h), and puts the
 * results in the terms of the profile.  The first replay finds where samples fell and checks the log against what was
 * computed online: span, work, and each directive's instances, work and span must be the same, exactly where work is
 * counted, to a millionth where it is time.
 */
#ifndef HPCPROF_LITE_REPLAY_RECORDED_GRAPH_H
#define HPCPROF_LITE_REPLAY_RECORDED_GRAPH_H

#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/replay.h"

struct recorded_graph {
  bool known;   /* there is a log */
  bool differs; /* from what was measured, or it is not complete */
  struct profile *profile;
  struct log_reader *streams;
  struct problems *problems; /* the caller's */
  struct attribution attribution;
  struct profile_share *shares; /* [part], with its place in the profile */
  double unit;                  /* of the graph, for one of the log */
  double per_sample;            /* work of the graph's unit that a sample stands for */
  double burdened;              /* span, in the graph's unit */
  double makespans[REPLAY_SCHEDULES];
  struct profile_share *path; /* of the scenario in detail: parts of its span, */
  uint32_t path_count;
  uint64_t *spans, *bounds; /* and of the run's directives                   */
};

/* Opens and replays the log, with schedules on so many cores each.  What is wrong with it is named in problems, which
 * must live as long.  0, or ERR_NOMEM; recorded_graph_release() in any case. */
int recorded_graph_open(struct profile *profile, const uint32_t *cores, uint32_t cores_count, struct problems *problems,
                        struct recorded_graph *recorded);
void recorded_graph_release(struct recorded_graph *recorded);

/* The shares of work into which samples fell, with their contexts: *count of them, 0 without a log; share 0 holds work
 * whose context is not known.  They belong to the structure.  0, or ERR_NOMEM. */
int recorded_graph_shares(struct recorded_graph *recorded, const struct profile_share **shares, uint32_t *count);

/* What a scenario makes faster, as factors: of the shares, of which the first must be 1, and of all that runs within
 * instances of the run's directives. */
struct recorded_scenario {
  const double *shares;     /* [share]     */
  const double *directives; /* [directive] */
};

/* Replays at most REPLAY_SCENARIOS scenarios at once; recorded_graph_shares() has been called.  Outcomes are in the
 * unit of the profile.  0, or ERR_NOMEM. */
int recorded_graph_replay(struct recorded_graph *recorded, const struct recorded_scenario *scenarios, uint32_t count,
                          struct replay_outcome *outcomes);

/* Replays one scenario with all directives and the contributions to its span: path, spans and bounds.  Called once.  0,
 * or ERR_NOMEM. */
int recorded_graph_detail(struct recorded_graph *recorded, const struct recorded_scenario *scenario,
                          struct replay_outcome *outcome);

#endif
