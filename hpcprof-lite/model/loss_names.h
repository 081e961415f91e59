/* Losses of a measurement, and what they are called.
 *
 * Context: BATCH.  Names and remedies are those of common/format.h, which the running side shares.
 */
#ifndef HPCPROF_LITE_MODEL_LOSS_NAMES_H
#define HPCPROF_LITE_MODEL_LOSS_NAMES_H

#include <stdint.h>

/* Losses in the order in which the measurement counts them. */
enum profile_loss {
  LOSS_MEMORY,
  LOSS_REFUSED,
  LOSS_UNKNOWN,
  LOSS_PARTIAL,
  LOSS_UNRESOLVED,
  LOSS_MODULES,
  LOSS_EVENTS,
  LOSS_THREADS,
  LOSS_WRITES,
  LOSS_BLAME,
  LOSS_STATES,
  LOSS_TASKS,
  LOSS_PATHS,
  LOSS_DIRECTIVES,
  LOSS_GRAPH,
  LOSS_WORK,
  LOSS_LOG,
  LOSS_UNKEPT,
  LOSS_RATE,
  LOSS_MAX = 24
};

/* Name of a loss, and what to do about it; NULL beyond the last one in use. */
const char *loss_name(enum profile_loss loss);
const char *loss_text(enum profile_loss loss, uint64_t count); /* the name as it reads after that count */
const char *loss_remedy(enum profile_loss loss);

#endif
