/* A process that has a trace, and what the numbers of its threads mean in a report.
 *
 * Context: BATCH.  Several threads may open processes, collect the samples of threads, and read what they found.
 * Memory: a row for each context of the process, and the samples of working threads with the critical path from
 * traced_collect() to traced_forget().
 */
#ifndef HPCPROF_LITE_TIMELINE_TRACED_H
#define HPCPROF_LITE_TIMELINE_TRACED_H

#include "hpcprof-lite/grains/critical_chain.h"
#include "hpcprof-lite/merge/construct_records.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"
#include "hpcprof-lite/timeline/blame_at.h"
#include "hpcprof-lite/timeline/lane.h"
#include "hpcprof-lite/timeline/timeline_index.h"

/* What a timeline is made from, which must live as long. */
struct timeline_input {
  struct profile *profile;
  const uint32_t *row_of;      /* [context] row of the top-down tree */
  const struct tree *contexts; /* that tree */
  const struct construct_tree *constructs;
  uint64_t from_ns, to_ns;   /* since the start of the run */
  unsigned threads;          /* that open processes and read lanes */
  uint32_t slice, slices;    /* slices > 1: only every slices-th process, from `slice` on */
  bool later;                /* to build indexes: see timeline_source_collect().  One that is damaged anywhere does not
                                count.  What is wrong with files is not reported: it is when the timeline is opened to
                                be shown */
  bool intervals;            /* all of them will be read: what they need is prepared at once, also with an index */
  struct problems *problems; /* what is wrong with the traces is added */
};

/* A process that has a trace. */
struct traced {
  struct lane_process lanes;
  struct construct_record_map records;
  uint32_t **rows;               /* [position of the thread][node] row of the top-down tree, or MODEL_NONE */
  uint32_t *counts;              /* [position]: nodes */
  struct blame_at blame, *parts; /* parts: [position of the thread] its samples, until the process is prepared */
  struct critical_chain chain;
  struct timeline_index *index; /* NULL: none */
  bool has_lanes;               /* in the timeline's range */
  bool prepared;                /* blame and the critical path are known */
  struct problems problems;     /* of opening it, until they are reported in the order of the processes */
  bool damaged;                 /* something is wrong that only reading finds: an index must not hide it */
  enum trace_reader_content content;
};

/* Opens the trace and the index of a process; lanes.trace.file.count is 0 if there is no trace.  run_start_ns:
 * CLOCK_REALTIME. */
void traced_open(const struct timeline_input *input, uint32_t process, uint64_t run_start_ns, struct traced *traced);
void traced_close(struct traced *traced, const struct profile_process *process);

/* Finds what intervals need, and the index does not: collects the samples in which a thread works; then puts together
 * those of all threads, and finds the critical path. */
void traced_collect(const struct timeline_input *input, struct traced *traced, uint32_t position);
void traced_prepare(const struct timeline_input *input, struct traced *traced, uint32_t process);
void traced_forget(struct traced *traced, const struct profile_process *process);

/* What numbers of the thread at a position mean in the report: of a node the row, of a record the construct;
 * MODEL_NONE: nothing. */
uint32_t traced_row(const struct traced *traced, uint32_t position, uint32_t node);
uint32_t traced_construct(const struct timeline_input *input, const struct traced *traced, uint32_t position,
                          uint32_t record);

/* For which trace an index is valid. */
struct timeline_index_key traced_key(const struct traced *traced);

#endif
