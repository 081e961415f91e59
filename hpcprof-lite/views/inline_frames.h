/* The functions and lines of single addresses, as the symbols of their module tell them.
 *
 * Context: BATCH.  Several threads may look up addresses of different modules; one thread at a time names them.
 */
#ifndef HPCPROF_LITE_VIEWS_INLINE_FRAMES_H
#define HPCPROF_LITE_VIEWS_INLINE_FRAMES_H

#include "hpcprof-lite/model/catalog.h"
#include "hpcprof-lite/model/names.h"
#include "common/symbols/bounds.h"
#include "common/symbols/symbols_location.h"

enum { INLINE_FRAMES_MAX = 64 }; /* functions at one address, inlined into one another */

/* Looks up one address.  If it has no name, finds where its function begins.  Returns the number of places, 1 or more.
 */
int inline_frames_look_up(struct names_module *found, const struct bounds *bounds, uint64_t offset,
                          struct symbols_location places[INLINE_FRAMES_MAX]);

/* Makes the frames of an address of module `number` from its places; without any, it is named by its offset. */
void inline_frames_add(struct names *names, const struct catalog_module *module, uint32_t number,
                       const struct symbols_location *places, uint32_t count, uint64_t offset,
                       struct names_address *address);

#endif
