/* The recorded graph of a run, replayed: its work and span as measured, and as they would be under other suppositions.
 *
 * Context: BATCH.  Pure: records come in the order of time, as log.h hands them out (doc/format.md, "The log of the
 * graph"); nothing is read or written here.  Source: OMP-WHIP.  The rules are those of the running side
 * (hpcrun-lite/rt/span/span.h, directive.h), so that lane 0 finds what it found.  Departure: clocks have a lane for
 * each question, and one replay answers all of them.
 *
 *   lane 0                 as measured
 *   one for each scenario  a fragment of work w takes w (1 - s + s/f): s, the share of it that is selected
 *   burdened               with the costs of forks, tasks and joins
 *   one for each schedule  the times of a list schedule (list_schedule.h), in which only one holder of a lock runs at a
 * time
 *
 * s of a fragment is 1 where a construct around it is selected.  Else it is that of its samples by their weight; a
 * fragment without samples takes its directive's mix, of the whole run.  So s is exact for constructs and user regions;
 * what was taken off by the word of samples is kept beside the clock.
 *
 * Memory: live tasks, open constructs, and joins, of which the least used are given up beyond a limit.  Whatever the
 * records say, memory is bounded, and time grows with their number.
 */
#ifndef HPCPROF_LITE_REPLAY_REPLAY_H
#define HPCPROF_LITE_REPLAY_REPLAY_H

#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/replay/attribution.h"
#include "hpcprof-lite/replay/instances.h"
#include "hpcprof-lite/replay/vector_clock.h"

enum { REPLAY_SCENARIOS = 48, REPLAY_SCHEDULES = 12 };

/* What runs faster: factors of directives, to which all within their instances belongs; and of the parts of samples. */
struct replay_scenario {
  const double *rows;        /* [directive] */
  const double *attribution; /* [part]      */
};

struct replay_request {
  uint32_t rows, streams;          /* directives; numbers of streams are below */
  struct attribution *attribution; /* of the run.  Filled if there is no scenario, else read */
  struct replay_scenario scenarios[REPLAY_SCENARIOS];
  uint32_t scenarios_count;
  bool detail;                                   /* of the first scenario: all directives, and who contributes */
  bool burdened;                                 /* with the costs, in ticks */
  double cost_fork, cost_task, cost_join;        /* in ticks */
  bool exact_samples;                            /* a sample tells of its whole fragment: counted work */
  uint32_t cores[REPLAY_SCHEDULES], cores_count; /* schedules on so many cores each */
};

struct replay_outcome {
  double span;
  double removed; /* what was taken off this path by the word of samples, */
  double sampled; /* out of so much, as measured */
  bool by_sample; /* any path's length rests on samples: then the span is an estimate */
};

struct replay_result {
  uint64_t work, fragments, samples;
  double span, burdened;
  struct replay_outcome outcomes[REPLAY_SCENARIOS];
  double makespans[REPLAY_SCHEDULES];
  const struct instances_total *rows; /* [directive]; lane 1: the first scenario's, if in detail */
  const double *contribution;         /* [part] of the first scenario's span, if in detail; 0: what is not known */
  uint64_t lost_joins, lost_tasks, lost_constructs, lost_contributions, invalid;
};

struct replay;

/* Keeps what the request refers to.  0, or ERR_NOMEM; replay_free() in any case. */
int replay_new(const struct replay_request *request, struct replay **out);
void replay_free(struct replay *replay);

/* The next record; streams have the numbers below those of the request. */
void replay_take(struct replay *replay, const struct log_reader_record *record);

/* No more records.  What the result refers to belongs to the replay.  0, or ERR_NOMEM. */
int replay_end(struct replay *replay, struct replay_result *result);

#endif
