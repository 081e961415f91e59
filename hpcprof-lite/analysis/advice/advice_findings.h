/* Findings of advice: their classes, with the words for each, and the list of those of a run.
 *
 * Context: BATCH.  Pure.  The table of classes is in advice_findings.c: a new class is a row there, and a function that
 * finds it in another file of this folder.  The list owns its strings, except names and files,
 * which belong to struct names.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_FINDINGS_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct construct_entry;

enum advice_class {
  ADVICE_SERIAL,
  ADVICE_IMBALANCE,
  ADVICE_CHUNK_OVERHEAD,
  ADVICE_TASK_OVERHEAD,
  ADVICE_FEW_CHUNKS,
  ADVICE_LAST_PIECE,
  ADVICE_REGION_OVERHEAD,
  ADVICE_REGION_THREADS,
  ADVICE_BARRIER,
  ADVICE_CONTENTION,
  ADVICE_REDUCTION,
  ADVICE_DEPENDENCES,
  ADVICE_CREATION,
  ADVICE_OVERSUBSCRIPTION,
  ADVICE_INFLATION,
  ADVICE_NESTING,
  ADVICE_BLOCKING,
  ADVICE_LOCALITY,
  ADVICE_MUTEX,
  ADVICE_SPINNING,
  ADVICE_POOL,
  ADVICE_BINDING,
  ADVICE_QUOTA,
  ADVICE_KERNEL,
  ADVICE_CHURN,
  ADVICE_ATOMICS,
  ADVICE_MPI,
  ADVICE_OFFLOAD,
  ADVICE_NO_DEVICE,
  ADVICE_REMARKS, /* from here on: nothing to change */
  ADVICE_NONE = ADVICE_REMARKS,
  ADVICE_UNEXPLAINED,
  ADVICE_OTHER,
  ADVICE_UNFIT,
  ADVICE_CLASSES
};

enum { ADVICE_EVIDENCE_MAX = 400, ADVICE_MORE = 4 /* times the cores: of the second forecast */ };

/* With which change the recorded task graph is scheduled again for a forecast. */
enum advice_change {
  ADVICE_NO_CHANGE,    /* the graph does not tell: it has no costs of the runtime */
  ADVICE_SPREAD,       /* the region's own work can be divided at will */
  ADVICE_SPREAD_BLOCK, /* so can that of one construct */
  ADVICE_SPREAD_SERIAL,
  ADVICE_WITHOUT_BARRIERS,
  ADVICE_WITHOUT_DEPENDENCES
};

/* What to change, in OpenMP's terms; brief: in one line of a terminal.  setting: of the environment, which does the
 * same without a change of the program, and to which the forecast applies; NULL: there is none. */
struct advice_remedy {
  const char *text, *brief, *setting;
};

/* What is known of a class. */
struct advice_class_row {
  const char *name, *title; /* name: as in CSV */
  struct advice_remedy remedy;
  const char *view;       /* options of the view that shows more */
  const char *confidence; /* of forecasts: see struct advice_finding */
  double low, high; /* range of a forecast, as parts of it: how much of the lost time such changes leave behind, and
                       what else they save */
  enum advice_change change;
  bool about_cores;    /* missing cores are its evidence, or it rests on CPU time: they are no doubt about it */
  uint32_t categories; /* bits of enum timeline_category: as which the time shows that a finding explains */
};

extern const struct advice_class_row advice_classes[ADVICE_CLASSES];

struct advice_finding {
  enum advice_class class;
  const char *title;       /* NULL: that of the class */
  const char *name, *file; /* the place: "" and line 0 if not known */
  uint32_t places;         /* that the finding sums up, because each gains too little; 0: it is about one */
  uint32_t line, context;  /* context: id of a row of the top-down tree, MODEL_NONE if not known */
  double low_s, gain_s, high_s;
  double explained_s; /* of elapsed time: the loss for which it is the reason; 0: as much as the gain */
  double loss_s;      /* the part of the loss that it takes; see advice_loss.h */
  double more_s;      /* the gain on advice.more_cores cores; negative: not known */
  bool more_least;    /* more_s is the least that it can be */
  bool recorded;      /* the forecast is from the recorded task graph */
  double waited_s;    /* the gain that waiting times allow, where it is */
  bool same_parts;    /* with more cores the program would have the parts of work that were recorded */
  enum advice_change change;
  uint32_t region, construct; /* numbers of constructs (struct construct_entry): the outermost region and the place */
  const struct advice_remedy *remedy; /* of the class, or one that fits the construct as it is written */
  const char *confidence;             /* "high", "medium", "low"; "" where there is no forecast */
  const char *reason;                 /* why the confidence is not high; "" where the class alone tells it */
  char evidence[ADVICE_EVIDENCE_MAX];
};

/* Findings of a class that are too small to be listed, and the largest of them. */
enum { ADVICE_PLACES = 3 };
struct advice_omitted {
  uint32_t count;
  double gain_s;
  struct advice_finding most[ADVICE_PLACES]; /* gain_s 0: there is none */
};

struct advice {
  struct advice_finding *found; /* the largest gain first; ADVICE_UNFIT first or last, see unfit_first */
  uint32_t count;
  size_t room;
  double elapsed_s;    /* of which gains are parts */
  double loss_s;       /* of elapsed time: what all threads lose together, divided equally; below 0: not known */
  double outside_s;    /* of that: threads outside OpenMP slept, which is no loss of those of OpenMP */
  uint32_t more_cores; /* ADVICE_MORE times the threads of the run; 0: not known */
  struct advice_omitted omitted[ADVICE_CLASSES];
  bool unfit_first;               /* no forecast is possible */
  struct advice_finding unlisted; /* what gains too little and was added last; gain_s 0: none was */
};

/* Returns whether a gain is large enough to be listed. */
bool advice_lists(const struct advice *advice, enum advice_class class, double gain_s);

/* Adds a finding, unless it gains less than 1 % of the elapsed time: then it is counted as omitted.  Returns it, or
 * &advice->unlisted. */
struct advice_finding *advice_add(struct advice *advice, enum advice_class class, double gain_s, const char *format,
                                  ...) __attribute__((format(printf, 4, 5)));

/* Adds a finding for each class whose small findings gain enough together. */
void advice_add_omitted(struct advice *advice);

/* Sets the place of a finding to that of a construct in a region; `at` may be NULL: then nothing changes. */
void advice_place(struct advice_finding *found, const struct construct_entry *region, const struct construct_entry *at);

/* Sets the gain on more cores, if their number is known. */
void advice_more(const struct advice *advice, struct advice_finding *found, double gain_s, bool least);

/* Replaces the forecast by that from the recorded task graph, with the range of the class; that on more cores changes
 * in proportion.  Waiting times bound the gain: what the graph has beyond is not a loss of this kind. */
void advice_enter(const struct advice *advice, struct advice_finding *found, double gain_s);

/* Reduces the forecast to that gain, and its range in proportion; the finding still explains what it did. */
void advice_reduce(struct advice_finding *found, double gain_s);

void advice_release(struct advice *advice);

/* The gain in percent of the elapsed time without this tool. */
double advice_percent(const struct advice *advice, const struct advice_finding *found);

/* A time in percent of that. */
double advice_part(const struct advice *advice, double s);

/* Returns what is unexplained if that is a twentieth of the elapsed time or more, else NULL. */
const struct advice_finding *advice_much_unexplained(const struct advice *advice);

/* Whether the recorded task graph and the waiting times allow clearly different gains. */
bool advice_differs(const struct advice_finding *found);

/* Returns what the forecast is based on, as in CSV: "graph", "times", "samples", "" without a forecast. */
const char *advice_basis(const struct advice_finding *found);

#endif
