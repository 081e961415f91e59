/* Which cores the processes could use, and what limited them: facts that explain why threads waited for a core.
 *
 * Context: BATCH.  Pure: the profile is only read.  The findings are the caller's, and own no memory:
 * masks belong to the profile, regions to the constructs.
 */
#ifndef HPCPROF_LITE_ANALYSIS_CORE_FINDINGS_H
#define HPCPROF_LITE_ANALYSIS_CORE_FINDINGS_H

#include "hpcprof-lite/model/construct_tree.h"

enum core_finding_kind { CORES_BINDING, CORES_QUOTA, CORES_OVERSUBSCRIPTION, CORES_SMT, CORES_STEAL };

enum { CORE_FINDINGS_MAX = 16, CORE_FINDING_TEXT = 512 };

struct core_finding {
  enum core_finding_kind kind;
  uint32_t pid, process;         /* process: its position */
  uint32_t threads, cpus, could; /* threads share so many CPUs, of those that they could use; 0: not about that */
  const uint64_t *mask;          /* of these threads; NULL: the process was started with it, or it is another kind */
  const struct construct_entry *region; /* with the largest teams, if these are larger than the cores; else NULL */
  bool asked;                           /* OMP_NUM_THREADS asks for teams of that size */
  char text[CORE_FINDING_TEXT];         /* "4 threads share CPU 0, of 2 that the process could use" */
  char settings[CORE_FINDING_TEXT];     /* what is set and causes it: "OMP_PROC_BIND=true"; "": nothing known */
};

struct core_findings {
  struct core_finding found[CORE_FINDINGS_MAX];
  uint32_t count, left_out; /* left_out: those for which there was no room */
};

/* Whether it is about an OpenMP thread with that mask, or about another one that uses a core noticeably. */
bool core_finding_has(const struct core_finding *found, const struct profile_thread *thread);

/* The most threads that needed a core at once, at least 1: those of OpenMP, and others that use a core noticeably. */
uint32_t core_findings_threads(const struct profile_process *process);

/* constructs: name the region with the largest teams. */
void core_findings_find(const struct profile *profile, const struct construct_tree *constructs,
                        struct core_findings *findings);

/* "binding", ... */
const char *core_finding_name(enum core_finding_kind kind);

#endif
