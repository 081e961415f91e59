/* What the exports of the timeline share: lanes in the order node, process, thread, their names, and the constructs
 * that are open along a lane.
 *
 * Context: BATCH.  Names are made of hostile text: the format's writer escapes it.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_TIMELINE_LANES_H
#define HPCPROF_LITE_REPORT_EXPORTS_TIMELINE_LANES_H

#include "hpcprof-lite/report/device_uses.h"
#include "hpcprof-lite/timeline/mpi_events.h"

enum { TIMELINE_TEXT_MAX = 1024 };

struct timeline_lanes {
  const struct report *report;
  uint32_t *order;                  /* all lanes, by host, rank, process and thread */
  uint64_t *pids;                   /* [process] its process id, or a number that is unique where others have that id */
  uint32_t *row_of;                 /* [id] row of the top-down tree, MODEL_NONE if there is none */
  uint32_t *open, *wanted;          /* room for the paths of two constructs, from the outermost one */
  uint32_t ids, depth_max, entries; /* sizes of row_of, and of open and wanted; the number of constructs */
};

void timeline_lanes_init(const struct report *report, struct timeline_lanes *lanes);
void timeline_lanes_release(struct timeline_lanes *lanes);

/* What happens along a lane, in the order of time.  Each enter() has its leave(), and they nest.  A construct that
 * begins again while it is open is left first.  interval() follows the enter() of its construct. */
struct timeline_events {
  void (*enter)(void *context, uint32_t entry, uint64_t time_ns); /* NULL: not wanted */
  void (*leave)(void *context, uint32_t entry, uint64_t time_ns); /* the same */
  void (*interval)(void *context, const struct timeline_interval *interval);
  /* NULL: not wanted.  Intervals are divided where something happens in MPI.  Each call has its return, before the next
   * construct begins or ends, and outside other calls. */
  void (*mpi)(void *context, const struct mpi_event *event);
  bool calls_only; /* of MPI, calls and returns are wanted, and nothing else */
};

/* Returns 0; or ERR_INPUT if the report's stream, if there is one, has failed, which ends the walk. */
int timeline_walk(const struct timeline_lanes *lanes, uint32_t lane, const struct timeline_events *events,
                  void *context);

const struct profile_thread *timeline_thread(const struct report *report, uint32_t lane);

/* Whether the lane at that place of the order is the first one of its host; of its process. */
bool timeline_first_of_host(const struct timeline_lanes *lanes, uint32_t place);
bool timeline_first_of_process(const struct timeline_lanes *lanes, uint32_t place);

/* Write "node7: rank 3: ./solve"; "thread 4 (tid 4711)"; "for @ solve.c:42", or the name of a user region. */
void timeline_process_name(const struct profile_process *process, char out[TIMELINE_TEXT_MAX]);
void timeline_thread_name(const struct profile_thread *thread, char out[TIMELINE_TEXT_MAX]);
void timeline_construct_name(const struct construct_entry *entry, char out[TIMELINE_TEXT_MAX]);

/* Writes "device 0 (as the host knows)" or "device 0: copies to it (as it recorded)", of the lane of a use. */
void timeline_device_name(const struct report *report, const struct device_use *use, char out[TIMELINE_TEXT_MAX]);

/* Writes the name of a row of the top-down tree; for the runtime's time in a function "solve > [OpenMP runtime]". */
void timeline_row_name(const struct tree *tree, uint32_t row, char out[TIMELINE_TEXT_MAX]);

/* Returns the row of the top-down tree to which an interval belongs: that of its samples, or else that of its
 * construct. */
uint32_t timeline_row(const struct timeline_lanes *lanes, const struct timeline_interval *interval);

#endif
