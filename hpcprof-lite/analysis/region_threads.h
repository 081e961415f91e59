/* How many threads a parallel region should have: what it would take with fewer or more.
 *
 * Context: BATCH.  Pure: profile, names and tree are only read; the caller owns the result.
 *
 * A region is executed n times by P threads; its work is W, its span S, its elapsed time E, each summed over the
 * executions and without this tool's time.  With p threads it takes
 *
 *     T(p)      = starts(p) + least(p) + overlap (most(p) - least(p))
 *     starts(p) = n (first + further (p - 1)) with p > 1, starts(1) = 0
 *     least(p)  = max(S, W / p)        no thread is idle while there is work
 *     most(p)   = S + (W - S) / p      the longest chain runs alone, then all the rest
 *
 * Every greedy schedule lies between the two (Graham 1966, Brent 1974); `overlap`, from 0 to 1, is that of the measured
 * run, so that T(P) = E if E lies between them.  Starting and ending an execution takes `first` for the thread that
 * needs least for it: until it begins, after the end, and at the barrier after the last thread has arrived.  What the
 * thread that needs most takes beyond that is divided among the further threads: a straight line.  One thread alone
 * starts no other and waits for none.
 *
 * With a run of the same command with one thread, whose work is W1, work and span grow with the threads on the straight
 * line through W1 and W; beyond P they do not shrink.  Without such a run, they are taken to be the same.
 *
 * Nothing is known of a region if T(P) differs from E by more than a quarter of E, as it does where threads wait for
 * locks or have no core: the model does not hold there.  Likewise if it runs inside another one or in several
 * processes, if its number of threads varies, if it ran with one thread, or if work is not a time.  If more threads are
 * best only as far as the span allows, nothing is known either: with more threads, a loop has more pieces and a shorter
 * span.
 */
#ifndef HPCPROF_LITE_ANALYSIS_REGION_THREADS_H
#define HPCPROF_LITE_ANALYSIS_REGION_THREADS_H

#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/names.h"

/* What is measured of a region.  Times in s. */
struct region_threads_times {
  double executions, threads;
  double work_s, span_s, elapsed_s; /* of all executions */
  double first_s, further_s;        /* of one: see above */
  double inflation; /* by how much each further thread makes work longer, as a part of W1; 0 if it is not known */
};

struct region_threads {
  uint32_t best; /* the fewest threads with which it takes at most 1 % more than with any number; 0: not known */
  double gain_s; /* T(P) - T(best) */
  struct region_threads_times times;
};

/* Work in runs of the same command with one thread, summed over them. */
struct region_threads_alone {
  double *work_s;      /* [directive of the run that is reported, the first of copies] */
  uint64_t *instances; /* likewise: executions */
  uint32_t runs;
};

/* The regions of a run. */
struct region_threads_list {
  struct region_threads *regions; /* [number of the construct] */
  uint32_t count;                 /* 0: nothing is known */
};

/* Returns the part of it that goes into starting and ending them. */
double region_threads_starts(const struct region_threads_times *times, double threads);

/* Returns the elapsed time of all executions with that many threads, at least 1. */
double region_threads_forecast(const struct region_threads_times *times, double threads);

/* Sets *result, which knows nothing if the model does not hold.  cores: at least 1. */
void region_threads_choose(const struct region_threads_times *times, uint32_t cores, struct region_threads *result);

/* Adds a run with one thread, whose program has the same regions in the same modules.  alone: zero at first. */
void region_threads_add_alone(const struct profile *profile, const struct names *names, const struct profile *one,
                              struct region_threads_alone *alone);
void region_threads_release_alone(struct region_threads_alone *alone);

/* Fills *result.  tree: the complete tree of constructs, not the list. */
void region_threads_compute(const struct profile *profile, const struct names *names, const struct construct_tree *tree,
                            const struct region_threads_alone *alone, struct region_threads_list *result);

/* Returns what is known of a construct, NULL if its best number is not. */
const struct region_threads *region_threads_of(const struct region_threads_list *list, uint32_t construct);

void region_threads_release(struct region_threads_list *list);

#endif
