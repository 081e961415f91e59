/* What phases and their steps are called.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TIMELINE_PHASE_NAMES_H
#define HPCPROF_LITE_REPORT_TIMELINE_PHASE_NAMES_H

#include "hpcprof-lite/report/report.h"

enum { PHASE_NAME_MAX = 2048 };

/* Returns "serial", "region", "pattern", "mixed" or "gap". */
const char *phase_kind_name(enum phases_kind kind);

/* Writes what a phase consists of: "[solve.c:42, serial, 10 x solve.c:50]", for example. */
void phase_name(const struct report *report, const struct phases *phases, const struct phases_phase *phase,
                char out[PHASE_NAME_MAX]);

/* Writes the same for a step, by its number: "solve.c:42", "serial", or "serial after solve.c:42" if the pattern has
 * several.  brief: without the function. */
void phase_step_name(const struct report *report, const struct phases *phases, const struct phases_phase *phase,
                     uint32_t step, bool brief, char out[PHASE_NAME_MAX]);

/* Writes mean, standard deviation and the slowest of a pattern's complete repetitions, with TERMINAL_GLUE: "12.1 +- 0.4
 * ms each; the slowest, number 173, from 1.2006 to 1.2176 s". */
void phase_spread_text(const struct phases_spread *spread, char out[PHASE_NAME_MAX]);

/* Whether a step took time and is not a part of another one. */
bool phase_step_shown(const struct phases *phases, uint32_t step);

#endif
