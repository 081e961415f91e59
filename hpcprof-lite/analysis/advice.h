/* What to change in the program, in the order of what it would gain.
 *
 * Context: BATCH.  Pure: reads what other analyses have computed; the result owns its strings.  Sources: the
 * performance assistant of INTONE; the focus rules of Liu et al., ICS'13, section 3.1.
 *
 * Each outermost parallel region, and what is outside all, is examined for the causes in a table (advice.c).  A cause
 * has a forecast: by how much the run would be shorter without it.  Forecasts are from exact times of constructs,
 * except where a sentence says that they are from samples.  With T threads and a loss of L thread seconds, the gain is
 * L / T: what all threads lose together, divided equally.  This tool's own time is taken out of the region first, in
 * proportion to the number of constructs that were executed there.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_H

#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/tree.h"

/* Columns of the advice view, in their order. */
#define ADVICE_COLUMNS 14
extern const char *const advice_columns[ADVICE_COLUMNS];

enum advice_class {
  ADVICE_SERIAL,
  ADVICE_IMBALANCE,
  ADVICE_CHUNK_OVERHEAD,
  ADVICE_TASK_OVERHEAD,
  ADVICE_FEW_CHUNKS,
  ADVICE_REGION_OVERHEAD,
  ADVICE_BARRIER,
  ADVICE_CONTENTION,
  ADVICE_DEPENDENCES,
  ADVICE_CREATION,
  ADVICE_OVERSUBSCRIPTION,
  ADVICE_INFLATION,
  ADVICE_NESTING,
  ADVICE_BLOCKING,
  ADVICE_UNFIT,
  ADVICE_NONE,
  ADVICE_CLASSES
};

enum { ADVICE_EVIDENCE_MAX = 400 };

struct advice_finding {
  enum advice_class class;
  const char *name, *file; /* the place: "" and line 0 if not known */
  uint32_t line, context;  /* context: id of a row of the top-down tree, MODEL_NONE if not known */
  double low_s, gain_s, high_s;
  const char *confidence; /* "high", "medium", "low"; "" where there is no forecast */
  char evidence[ADVICE_EVIDENCE_MAX];
};

struct advice {
  struct advice_finding *found; /* the largest gain first; ADVICE_UNFIT first or last, see unfit_first */
  uint32_t count;
  size_t room;
  double elapsed_s; /* of which gains are parts */
  bool unfit_first; /* no forecast is possible */
};

/* What advice is based on.  It refers to what belongs to the caller. */
struct advice_input {
  const struct profile *profile;
  const struct tree *tree; /* top-down, finished */
  const struct tree_columns *columns;
  const struct construct_tree *constructs;
  uint64_t elapsed_ns, samples, work_ns, tool_ns, core_wait_ns, openmp_wall_ns;
  bool by_wall;                 /* samples were taken by elapsed time */
  uint32_t threads;             /* the most that a process had in use at once */
  double serial_s, inflation_s; /* gains of the efficiencies; inflation_s: 0 if not known */
  double efficiency;            /* 0 to 1, below 0 if not known */
};

/* Fills *advice; there is at least one finding.  Returns 0 or ERR_NOMEM; advice_release() in either case. */
int advice_compute(const struct advice_input *input, struct advice *advice);
void advice_release(struct advice *advice);

/* The gain in percent of the elapsed time without this tool. */
double advice_percent(const struct advice *advice, const struct advice_finding *found);

/* Return static texts: the name of a class as in CSV, a title, a remedy in OpenMP's terms, the options of the view that
 * shows more. */
const char *advice_name(enum advice_class class);
const char *advice_title(enum advice_class class);
const char *advice_remedy(enum advice_class class);
const char *advice_view(enum advice_class class);

#endif
