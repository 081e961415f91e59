/* How a program scales: runs with different numbers of threads, what more threads lose, and where.
 *
 * Context: BATCH.  Pure: runs and tree are only read, the caller owns the result.
 *
 * With the elapsed time T_P on P threads (the median of repeated runs) and the smallest number B as the base:
 *
 *     speedup    = T_B / T_P                 strong scaling: the same work on more threads
 *                = P/B T_B / T_P             weak scaling: P/B times the work
 *     efficiency = speedup / (P/B)
 *     whole      = P T_P in strong, T_P in weak scaling
 *     lost time  = whole of P - whole of B = work inflation + overhead + lock wait + idleness + other
 *
 * Per context, the four parts are the differences of what is charged to it: work and overhead of its own, and the lock
 * waiting and idleness of other threads that it caused, in strong scaling summed over threads, in weak scaling divided
 * by P.  So the lost time of all contexts adds up to that of the program, but for `other`: time in no category
 * (blocking, waiting for a core, the tool), what no context is charged with, and errors of sampling.  Source: Coarfa,
 * Mellor- Crummey, Froyd, Dotsenko, "Scalability analysis of SPMD codes using expectations" (2007), here for threads.
 *
 * Serial fraction of Karp and Flatt (1990), with p = P/B: (1/speedup - 1/p) / (1 - 1/p); 0 for the ideal.
 *
 * Extrapolation: lost time grows with the number of threads on the straight line through the two largest numbers that
 * were measured.  For a program with a serial part and nothing else this is exact (Amdahl): its lost time is the serial
 * time times P - 1.  As the line is linear in the lost time, extrapolated lost time of contexts adds up, too.  A
 * program that uses as many threads whatever is asked for is on no such line: nothing is forecast for it.
 */
#ifndef HPCPROF_LITE_ANALYSIS_SCALING_H
#define HPCPROF_LITE_ANALYSIS_SCALING_H

#include "hpcprof-lite/algorithms/compare.h"

#include <assert.h>

enum scaling_part { SCALING_INFLATION, SCALING_OVERHEAD, SCALING_LOCKWAIT, SCALING_IDLENESS, SCALING_PARTS };

enum { SCALING_FACTORS = 5, SCALING_LATER = 3 };

/* Columns of the tree for each run: the parts (of work, not of its inflation) and the samples. */
enum { SCALING_SAMPLES = SCALING_PARTS, SCALING_COLUMNS };

extern const unsigned scaling_later_factors[SCALING_LATER];

/* A run; figures that are not known are NAN. */
struct scaling_run {
  uint32_t threads, used; /* asked for; most in use at once, 0: not known */
  double elapsed_s, work_s;
  double without_core, stolen;     /* what makes its times unreliable: analysis/totals.h */
  double factors[SCALING_FACTORS]; /* the efficiencies of analysis/efficiency.h */
  double forecast_base, forecast;  /* speedup over the base, from the base's work and span, and from its own */
};

/* All runs with one number of threads. */
struct scaling_point {
  uint32_t threads, used_least, used_most, first, runs; /* first: number of its first run */
  double elapsed_s, least_s, most_s, speedup, efficiency, serial_fraction, forecast_base, forecast;
  double factors[SCALING_FACTORS]; /* means */
  double work_scaling;             /* work of the base / work, as if the base did as much */
  double whole_s;
  double without_core, stolen; /* the largest parts */
};

/* What a context, or the program, loses against the base. */
struct scaling_lost {
  double part_s[SCALING_PARTS], other_s, lost_s; /* lost_s is the sum of all others */
  double whole_s;                                /* what is charged to the context */
  struct compare_figure figure;                  /* whole_s of the base and of these runs, tested */
};

struct scaling_later {
  uint32_t threads;
  double speedup, whole_s; /* NAN if the line leads to no time at all */
};

struct scaling {
  uint32_t cores; /* on which each process could run; 0: not known, or of several ranks */
  bool weak;
  bool forecast; /* the threads in use grow with those asked for; if not, there are no figures of more threads */
  bool timed;    /* time was sampled in all runs, so that contexts are known */
  struct scaling_point *points; /* in the order of threads; [0] is the base */
  uint32_t points_count;
  const struct tree *tree;   /* the contexts of all runs */
  struct scaling_lost *lost; /* [row * points_count + point]; row 0 is the program */
  double *later_s;           /* [row * SCALING_LATER + i] extrapolated lost time, if forecast */
  uint32_t *order;           /* contexts that are charged with anything, the most lost time on four times the threads
                                (without a forecast: on the most) first */
  uint32_t contexts;         /* their number */
  uint32_t rows;             /* of tree */
  struct scaling_later later[SCALING_LATER];
  size_t compared; /* comparisons on the most threads that were tested */
};

/* What a context, or the program, loses with the threads of a point. */
static inline struct scaling_lost *scaling_lost_of(const struct scaling *scaling, uint32_t row, uint32_t point)
{
  assert(row < scaling->rows && point < scaling->points_count);
  return &scaling->lost[(size_t)row * scaling->points_count + point];
}

/* Computes everything.  runs: sorted by threads, of at least two different numbers.  tree: column
 * number * SCALING_COLUMNS + part of its exclusive values is that of run `number`, in ns. */
void scaling_compute(const struct scaling_run *runs, uint32_t count, bool weak, bool timed, const struct tree *tree,
                     struct scaling *scaling);
void scaling_release(struct scaling *scaling);

/* The part of the whole that a context loses at the largest number of threads (later < 0) or an extrapolated one. */
double scaling_share(const struct scaling *scaling, uint32_t row, int later);

#endif
