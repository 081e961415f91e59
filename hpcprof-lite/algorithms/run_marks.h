/* What the program has marked (include/hpcrun-lite.h), of all processes on one axis of time.
 *
 * Context: BATCH.  Names belong to the profile.
 */
#ifndef HPCPROF_LITE_ALGORITHMS_RUN_MARKS_H
#define HPCPROF_LITE_ALGORITHMS_RUN_MARKS_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/timeline.h"

/* Times since the start of the run, which is that of its first process.  A mark ends when it begins. */
struct run_mark {
  uint64_t start_ns, end_ns;
  uint32_t process, thread; /* position; index */
  const char *name;
  bool phase;
  bool timed; /* of a phase: the next are known, what all threads of the process did in it */
  uint64_t ns[TIMELINE_CATEGORIES];
};

struct run_marks {
  struct run_mark *marks; /* by start, process and end */
  uint32_t count, phases;
};

/* Collects the marks from one time to before another one, and the phases of which a part lies there, cut to it.
 * Returns 0 or ERR_NOMEM; run_marks_release() in any case. */
int run_marks_read(const struct profile *profile, uint64_t from_ns, uint64_t to_ns, struct run_marks *marks);
void run_marks_release(struct run_marks *marks);

/* Finds out what the threads did in the phases: of processes with lanes.  Returns 0 or what the timeline returns. */
int run_marks_time(struct run_marks *marks, const struct timeline *timeline);

#endif
