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
  bool user_phase;
  bool timed;                       /* a phase whose `ns` are known */
  uint64_t ns[TIMELINE_CATEGORIES]; /* what all threads of the process did in it */
};

struct run_marks {
  struct run_mark *marks; /* by start, process and end */
  uint32_t count, user_phases;
  uint32_t *by_process; /* positions in marks, by process, and then as there */
  uint32_t *begins;     /* [process] where those of the process begin in by_process; one more: their number */
};

/* Collects the marks from one time to before another one, and the user phases of which a part lies there, cut to it. */
void run_marks_read(const struct profile *profile, uint64_t from_ns, uint64_t to_ns, struct run_marks *marks);
void run_marks_release(struct run_marks *marks);

/* The positions of the marks of a process, in the order of time; *count: their number.  marks may be NULL. */
const uint32_t *run_marks_of(const struct run_marks *marks, uint32_t process, uint32_t *count);

/* Finds what the threads did in the phases of processes that have lanes. */
void run_marks_time(struct run_marks *marks, const struct timeline *timeline);

#endif
