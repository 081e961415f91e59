/* Replays a recorded task graph: computes its work and span as measured, in scenarios, with costs and on some cores.
 *
 * Context: BATCH.  Reads the records in the order of time (input/log_reader.h; doc/format.md, "The graph log"). Source:
 * OMP-WHIP.  The rules are those of the running side (hpcrun-lite/rt/span/span.h, directive.h), so that element 0 of
 * the clocks must find the span that the process computed.  Departure: clocks are vectors, and one replay computes all
 * results of a request.  Their elements are:
 *
 *   0                      as measured
 *   one for each scenario  a fragment of work w takes w (1 - s + s/f): s is the selected part of it, f the factor
 *   burdened               with the costs of forks, tasks and joins
 *   one for each schedule  time in a list schedule (list_schedule.h), in which a lock has one holder at a time, with
 *                          what it assumes to be different (schedule_change.h)
 *
 * Of a job of several processes, a message joins the sender's clock, where the send begins, with the receiver's, where
 * the receive is complete; a collective operation likewise joins those that wait for each other in it.  Messages take
 * no time.
 *
 * If a construct around a fragment is selected, s = 1.  Otherwise s is the part of its samples that is selected, by
 * weight; a fragment without samples takes the mean of its directive in the whole run.  Therefore s is exact for
 * constructs and user regions.  The clocks also keep how much of a chain was removed because of samples.
 *
 * Memory: live tasks, open constructs, and joins, of which the least recently used are dropped beyond a limit. Whatever
 * the records contain, memory is bounded, and time grows with their number.  Records that contradict the graph are left
 * out and counted.
 */
#ifndef HPCPROF_LITE_REPLAY_REPLAY_H
#define HPCPROF_LITE_REPLAY_REPLAY_H

#include "hpcprof-lite/replay/schedule_change.h"

enum { REPLAY_SCENARIOS = 48 };

/* Factors by which work is divided, 1 or more: of directives, for everything in their instances, and of entries of the
 * attribution. */
struct replay_scenario {
  const double *directives; /* [directive] */
  const double *entries;    /* [entry], 1 for entry 0 */
};

struct replay_request {
  uint32_t directives;             /* number of directives */
  struct attribution *attribution; /* of the log: filled if there is no scenario, otherwise read; NULL with a sink */
  const struct graph_sink *sink;   /* NULL: none */
  struct replay_scenario scenarios[REPLAY_SCENARIOS];
  uint32_t scenarios_count;
  bool detail; /* of the first scenario, or without one as measured: figures of directives, contributions to the span */
  bool burdened; /* compute the burdened span */
  struct task_graph_costs costs;
  bool exact_samples;   /* a sample represents its whole fragment: the program counts its work */
  const bool *unplaced; /* with exact_samples: [entry] its code is not known for certain; NULL: that of all is */
  bool limited;         /* only a part of the run counts: so do instances that do work in it, and costs in it */
  uint32_t cores[REPLAY_SCHEDULES]; /* a list schedule for each number of cores; 0: as many as are needed */
  uint32_t cores_count;
  struct schedule_assumption assumptions[REPLAY_SCHEDULES]; /* of the schedules */
  bool messages;       /* the processes are ranks of one job: their messages join their clocks */
  bool several_hosts;  /* whose clocks may still be early: records wait for those that they need */
  bool only_schedules; /* the attribution is neither filled nor read: there is no scenario */
};

/* The span of a scenario, and how far it is based on samples. */
struct replay_outcome {
  double span;
  double removed; /* how much shorter the critical path is because of samples */
  double sampled; /* length, as measured, of the parts of it in which samples decide what is selected */
  bool by_sample; /* samples made any path shorter: the span is an estimate */
  bool unplaced;  /* counted work that counts as not selected may be in the selected code */
};

/* Amounts are in the unit of the log. */
struct replay_result {
  uint64_t work, samples;
  double span, burdened;
  struct replay_outcome outcomes[REPLAY_SCENARIOS];
  double makespans[REPLAY_SCHEDULES];
  struct instances_total *directives; /* [directive]; at[1]: in the first scenario, with `detail` */
  double *contributions;              /* [entry] to the first scenario's span, without one to `span`; or NULL */
  struct task_graph_losses lost;
  uint64_t lost_messages; /* operations of MPI that are known in one rank only, or whose order is not known */
  uint64_t unseen_calls;  /* calls of MPI in which ranks can wait for each other, but whose operations are not logged */
  uint64_t lost_contributions;
};

/* Replays a log from its present position on.  Returns 0, or what the sink returns; replay_result_release() in any
 * case.
 */
int replay_log(const struct replay_request *request, struct log_reader *log, struct replay_result *result);
void replay_result_release(struct replay_result *result);

#endif
