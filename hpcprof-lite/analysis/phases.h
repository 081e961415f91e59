/* Phases of a process: serial parts, outermost parallel regions, patterns of regions that repeat, and gaps.
 *
 * Context: BATCH.  Use: phases_find() with the outermost regions of the thread that executes the serial code; then all
 * lanes of the process are added to sums, of which each worker has its own; then phases_finish().
 *
 * Phases tile the life of the process.  A part that takes less than 1/200 of it is not a phase, but belongs to the one
 * before it; where many of them follow each other without a pattern, they are one phase together.  After the last
 * repetition of a pattern, as much serial time belongs to it as lies between its other repetitions on average.
 *
 * A phase consists of steps: its regions and serial parts, each summed up over the repetitions.  How long a repetition
 * or execution takes is not known if it contains a gap, begins or ends with one, or is cut.
 *
 * The phases of a part of the run are those of the whole, cut to it with phases_cut().
 *
 * Time: n log n in the number of regions.  Memory: 76 bytes for each region, and what
 * algorithms/repeats.h says of loops.
 */
#ifndef HPCPROF_LITE_ANALYSIS_PHASES_H
#define HPCPROF_LITE_ANALYSIS_PHASES_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/timeline.h"
#include "hpcprof-lite/model/tree.h"

/* MIXED: regions that repeat in no order.  GAP: what the thread did outside regions is not known. */
enum phases_kind { PHASES_SERIAL, PHASES_REGION, PHASES_PATTERN, PHASES_MIXED, PHASES_GAP };

enum { PHASES_LEAST = 3 }; /* repetitions of a pattern, and to know their deviation */

struct phases_region {
  uint64_t start_ns, end_ns; /* in order, without overlap */
  uint32_t construct;
  uint32_t step;       /* set by phases_find() */
  uint32_t repetition; /* likewise: of the phase, from 1, if that is a pattern */
};

/* A time of which nothing is known; where life is cut, it goes on outside. */
struct phases_gap {
  uint64_t start_ns, end_ns;
};

struct phases_regions {
  struct phases_region *regions;
  struct phases_gap *gaps; /* likewise in order; also within regions */
  uint32_t count, gaps_count;
  size_t room, gaps_room;
};

/* Executions, or repetitions.  What follows `whole` is of those whose length is known. */
struct phases_spread {
  uint64_t count, total_ns; /* of a part: those that begin in it, their time that lies in it */
  uint64_t whole;
  uint64_t slowest, slowest_ns, slowest_start_ns; /* number from 1; 0: not known */
  double mean_ns, squares;                        /* sum of squared differences to the mean */
};

/* Where the time of all threads went.  context: the row of the top-down tree in which most of their work and overhead
 * lies, and of the waiting charged to contexts (algorithms/hot_path.h); MODEL_NONE: no sample tells. */
struct phases_figures {
  uint64_t ns[TIMELINE_CATEGORIES];
  uint32_t context;
};

struct phases_step {
  uint32_t construct; /* MODEL_NONE: serial */
  uint32_t after;     /* the step of serial time after it */
  uint32_t into;      /* itself, or the step that includes it */
  struct phases_spread spread;
  struct phases_figures figures;
};

/* The order of a pattern's steps. */
struct phases_token {
  enum { PHASES_STEP, PHASES_OPEN, PHASES_CLOSE } kind;
  uint32_t step; /* of STEP */
  double times;  /* of OPEN: how often it repeats, on average */
};

/* What a phase's figures are about.  LENGTH: its times and categories are those of a part, its repetitions, steps and
 * context those of the whole phase. */
enum phases_coverage { PHASES_WHOLE, PHASES_PART, PHASES_LENGTH };

struct phases_phase {
  enum phases_kind kind;
  enum phases_coverage coverage;
  uint64_t start_ns, end_ns;
  uint64_t repeated_ns; /* of a pattern: when its last repetition ends */
  uint32_t first_region, regions;
  uint32_t first_step, steps; /* the first one is the serial time that is not a step of its own */
  uint32_t first_token, tokens;
  struct phases_spread spread; /* of a pattern's repetitions; otherwise of the phase */
  struct phases_figures figures;
};

struct phases {
  uint32_t process; /* position; the caller's */
  uint32_t threads; /* that count; the caller's */
  uint64_t start_ns, end_ns;
  const struct phases_region *regions; /* may be NULL if nothing is added */
  const struct phases_gap *gaps;
  uint32_t regions_count, gaps_count;
  struct phases_phase *phases;
  uint32_t first, end; /* phases that are reported */
  struct phases_step *steps;
  struct phases_token *tokens;
  uint32_t count, steps_count, tokens_count;
  size_t room, steps_room, tokens_room;
};

/* Finds the phases of a process that lived from start_ns to end_ns, in which all regions lie; their constructs are
 * smaller than `constructs`.  The regions must live as long as *phases. */
void phases_find(const struct phases_regions *regions, uint32_t constructs, uint64_t start_ns, uint64_t end_ns,
                 struct phases *phases);
void phases_release(struct phases *phases);

/* Cuts phases to a part of the run.  Numbers remain.  regions: the regions of the part are known, with the one before
 * it; then what the steps of all phases took is set to zero, and lanes must be added.  Otherwise the caller must set
 * the categories of phases of extent LENGTH. */
void phases_cut(struct phases *phases, uint64_t from_ns, uint64_t to_ns, bool regions);

/* Where a lane is in the phases. */
struct phases_cursor {
  uint32_t region, phase;
};

/* Sums over lanes: of zeros at first. */
struct phases_weight {
  uint32_t step, context;
  uint64_t ns;
};
struct phases_sums {
  uint64_t (*ns)[TIMELINE_CATEGORIES]; /* [step] */
  struct phases_weight *weights;
  uint32_t weights_count;
  size_t ns_room, weights_room;
  struct hash_map map; /* of weights */
};

/* Adds an interval of a lane, in order. */
void phases_add(const struct phases *phases, struct phases_cursor *cursor, const struct timeline_interval *interval,
                struct phases_sums *sums);

/* Fills in the figures from the sums, whose contexts are rows of the tree, which remain the caller's.  What has less
 * than period_ns with a context has none: its samples may be those of what follows. */
void phases_finish(struct phases *phases, const struct phases_sums *sums, uint32_t count, const struct tree *tree,
                   uint64_t period_ns);
void phases_sums_release(struct phases_sums *sums);

/* Returns the standard deviation, 0 if fewer than two are complete; in percent work / (threads * time). */
double phases_deviation(const struct phases_spread *spread);
double phases_efficiency(const struct phases *phases, const struct phases_figures *figures, uint64_t time_ns);

#endif
