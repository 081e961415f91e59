/* What the kernel did for the program, where that is much: evidence of page faults, system calls, and threads that come
 * and go.
 *
 * Context: BATCH.  Pure: the profile and the top-down tree are only read.  The findings are the caller's, and own no
 * memory.  They state figures and places, no causes.  A place is a function, region or task; what was charged to the
 * OpenMP runtime is in the place that called it, because a thread that waits there is sampled after what it did before.
 */
#ifndef HPCPROF_LITE_ANALYSIS_KERNEL_FINDINGS_H
#define HPCPROF_LITE_ANALYSIS_KERNEL_FINDINGS_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

enum kernel_finding_kind {
  KERNEL_TIME, /* of a function with a large part of the run's CPU time in the kernel */
  KERNEL_CHURN /* of a function in which threads were created, in a run that created many more than lived at once */
};

/* system time of less than so many ticks of the kernel's clock is too uncertain for a finding. */
enum { KERNEL_FINDINGS_MAX = 8, KERNEL_FINDING_TEXT = 512, KERNEL_TICKS_LEAST = 25, KERNEL_PERCENT_LEAST = 10 };

struct kernel_finding {
  enum kernel_finding_kind kind;
  uint64_t size;  /* KERNEL_TIME: ns of system time; KERNEL_CHURN: threads created */
  double percent; /* KERNEL_TIME: of the run's CPU time */
  char place[KERNEL_FINDING_TEXT], text[KERNEL_FINDING_TEXT]; /* text: figures of the place */
};

struct kernel_findings {
  struct kernel_finding found[KERNEL_FINDINGS_MAX];
  uint32_t count;
  bool in_part;     /* of a part of the run nothing is known, although the run has figures */
  uint64_t tick_ns; /* the longest tick of the kernel's clock */
  uint32_t at_once; /* most threads that lived at once, summed over the processes; 0: usage is not known */
};

void kernel_findings_find(const struct profile *profile, const struct tree *tree, const struct tree_columns *columns,
                          struct kernel_findings *findings);

/* "kernel", "thread-churn" */
const char *kernel_finding_name(enum kernel_finding_kind kind);

#endif
