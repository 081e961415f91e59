/* The most memory that the tool maps in this process for its tables and its windows of files (--memory-limit).
 *
 * Context: RT; functions marked CTL are called by CTL only, while no other thread maps.  Beyond the limit the callers
 * behave as without memory.  A sum to which any thread adds; no other data depends on its order.
 *
 * Invariant: bytes in use <= limit, if there is one. */
#ifndef HPCRUN_LITE_RT_CORE_BUDGET_H
#define HPCRUN_LITE_RT_CORE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* CTL: sets the limit; 0: none. */
void budget_start(size_t limit_bytes);

/* CTL: nothing is mapped any more. */
void budget_reset(void);

/* Takes so many bytes before they are mapped.  Returns false, and takes nothing, if that exceeds the limit. */
bool budget_take(size_t size_bytes);

/* Gives back what is unmapped, or could not be mapped. */
void budget_give(size_t size_bytes);

/* The limit; 0: none. */
size_t budget_limit(void);

#endif
