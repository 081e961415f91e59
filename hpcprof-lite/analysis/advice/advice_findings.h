/* Findings of advice: their classes, with the words for each, and the list of those of a run.
 *
 * Context: BATCH.  Pure.  The table of classes is in advice_findings.c: a new class is a row there, and a function that
 * finds it in advice_regions.c, advice_waits.c or advice_outside.c.  The list owns its strings, except names and files,
 * which belong to struct names.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_FINDINGS_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct construct_entry;

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
  bool no_memory;   /* a finding could not be added */
};

/* Adds a finding, unless it gains less than 1 % of the elapsed time.  Returns it, or NULL; where memory runs out,
 * advice->no_memory is set. */
struct advice_finding *advice_add(struct advice *advice, enum advice_class class, double gain_s, const char *format,
                                  ...) __attribute__((format(printf, 4, 5)));

/* Sets the place of a finding to that of a construct.  Either may be NULL: then nothing changes. */
void advice_place(struct advice_finding *found, const struct construct_entry *at);

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
