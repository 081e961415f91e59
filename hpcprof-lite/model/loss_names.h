/* The loss counters of a measurement and their names.
 *
 * Context: BATCH.  Counters, names and remedies are those of common/format.h: input/ and this module are the only ones
 * of hpcprof-lite that know the stored format.
 */
#ifndef HPCPROF_LITE_MODEL_LOSS_NAMES_H
#define HPCPROF_LITE_MODEL_LOSS_NAMES_H

#include <stdint.h>

/* Index into the `lost` counters of a process or thread.  Causes: enum format_loss. */
enum profile_loss {
  LOSS_MEMORY,
  LOSS_IN_TOOL,
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
  LOSS_TRACE,
  LOSS_MARKS,
  LOSS_MAX = 24
};

/* Return the name of a loss, the name as it reads after a count ("1 sample ..."), and what to do about it, all static;
 * NULL for counters that are not in use. */
const char *loss_name(enum profile_loss loss);
const char *loss_text(enum profile_loss loss, uint64_t count);
const char *loss_remedy(enum profile_loss loss);

#endif
