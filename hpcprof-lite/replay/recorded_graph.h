/* The graph log of the run: replays it and gives the results in terms of the profile.
 *
 * Context: BATCH, the main thread.  The log is that of the process whose span is the run's, or, of an MPI job whose
 * ranks all have a log, on hosts whose clocks are related, those of all ranks, which their messages join.  Reads the
 * logs beside the measurement files and replays them (replay.h).  The first replay attributes work to samples, and
 * checks the log against what the processes computed online: span (not of a job), work, and the instances, work and
 * span of each directive must be equal, exactly if work is counted, to one millionth if it is time.  What is wrong with
 * the log is added to the caller's list of problems; without a usable log, `known` is false.
 *
 * The structure owns its arrays.  The profile and the list of problems belong to the caller and must live as long.
 */
#ifndef HPCPROF_LITE_REPLAY_RECORDED_GRAPH_H
#define HPCPROF_LITE_REPLAY_RECORDED_GRAPH_H

#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/replay.h"

struct recorded_graph {
  bool known;   /* a log exists and was replayed */
  bool differs; /* the log is incomplete or differs from the measurement */
  bool job;     /* the log is that of all ranks; its rows are the run's directives */
  struct profile *profile;
  const struct profile_process *process; /* whose log it is, or a rank of the job */
  struct log_part *parts;                /* the process, or all ranks */
  uint32_t parts_count;
  struct log_clock *clocks; /* [part] of several hosts */
  struct log_reader *log;
  struct problems *problems;
  struct attribution attribution;
  struct context_share *shares; /* [entry of the attribution], with its context in the profile */
  double scale;                 /* from the log's unit to that of the workspan: ns of a tick, or 1 */
  double per_sample;            /* work for which a sample stands; this and the following in the workspan's unit */
  double burdened;              /* burdened span */
  double makespans[REPLAY_SCHEDULES];
  double locked_chain;                   /* the longest chain in which each holder of a lock waits for the one before */
  struct context_share *scenario_shares; /* of recorded_graph_detail(): the shares of the scenario's span, */
  uint32_t scenario_shares_count;
  uint64_t *spans, *bounds; /* and spans and lock bounds of the run's directives */
};

/* Opens the log, if there is a usable one, and replays it, with a list schedule for each number of cores. */
void recorded_graph_open(struct profile *profile, const uint32_t *cores, uint32_t cores_count,
                         struct problems *problems, struct recorded_graph *recorded);
void recorded_graph_release(struct recorded_graph *recorded);

/* Computes work and span of the part of the run that a process is limited to, before the processes are merged
 * (merge/span_merge.h): replaces those in process->workspan, the figures of its directives, and adds its shares of the
 * span to profile->contexts.  Also checks the log against what the process computed for the whole run.  Returns
 * false, and changes nothing, if there is no usable log. */
bool recorded_graph_limit(struct profile *profile, struct profile_process *process, struct problems *problems);

/* Computes span and critical path of an MPI job from the logs of all its ranks, read with that help unless clocks of
 * several hosts were corrected, after their directives were merged: replaces those of profile->workspan, and the shares
 * of the span.  Returns false, and changes nothing, if the run is no such job, or a rank has no usable log. */
bool recorded_graph_job(struct profile *profile, const struct log_help *help, struct problems *problems);

/* Sets *shares to the shares of work that samples attribute to contexts, and returns their number, 0 without a log.
 * Share 0 is work whose context is not known.  The shares belong to the structure. */
uint32_t recorded_graph_shares(struct recorded_graph *recorded, const struct context_share **shares);

/* The factors by which a scenario divides work: of the shares, the first of which must be 1, and of everything in
 * instances of the run's directives. */
struct recorded_scenario {
  const double *shares;     /* [share] */
  const double *directives; /* [directive] */
};

/* Replays at most REPLAY_SCENARIOS scenarios at once and sets outcomes[scenario], in the unit of the profile.  Requires
 * that recorded_graph_shares() has been called. */
void recorded_graph_replay(struct recorded_graph *recorded, const struct recorded_scenario *scenarios, uint32_t count,
                           struct replay_outcome *outcomes);

/* A schedule of the recorded graph on 1 to LIST_SCHEDULE_CORES_MAX cores. */
struct recorded_schedule {
  uint32_t cores;
  enum schedule_change change;
  const bool *directives; /* [directive of the run] whether it is selected; NULL if the change selects nothing */
  bool own_chunks;        /* as in struct schedule_assumption */
};

/* Computes schedules of the log and sets makespans[schedule], in the unit of the profile.  Requires that the graph is
 * known. */
void recorded_graph_schedule(struct recorded_graph *recorded, const struct recorded_schedule *schedules, uint32_t count,
                             double *makespans);

/* Replays one scenario and sets *outcome, and also scenario_shares, spans and bounds.  May be called once, after
 * recorded_graph_shares(). */
void recorded_graph_detail(struct recorded_graph *recorded, const struct recorded_scenario *scenario,
                           struct replay_outcome *outcome);

#endif
