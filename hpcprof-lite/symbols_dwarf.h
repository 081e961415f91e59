/* Address → functions inlined there, and source line, from DWARF.
 *
 * Context: BATCH.  Not locked: its owner guards it.  Opening reads only the units' root entries; a unit's functions
 * and lines are indexed once, when the first address in it is asked for, so that each look-up is a few binary
 * searches. */
#ifndef HPCPROF_LITE_SYMBOLS_DWARF_H
#define HPCPROF_LITE_SYMBOLS_DWARF_H

#include "hpcprof-lite/symbols.h"
#include "hpcprof-lite/symbols_cursor.h"
#include "hpcprof-lite/symbols_names.h"
#include "hpcprof-lite/symbols_ranges.h"
#include "hpcprof-lite/symbols_units.h"

struct symbols_dwarf;

/* Indexes the units of sections; shared holds those of the file that dwz moved common parts to (no bytes: none).  code
 * and pool must outlive the result.  *damaged is set where the sections could be read only in part.  NULL: no memory,
 * or no unit. */
struct symbols_dwarf *symbols_dwarf_new(const struct symbols_bytes sections[SYMBOLS_SECTIONS],
                                        const struct symbols_bytes shared[SYMBOLS_SECTIONS],
                                        const struct symbols_ranges *code, struct symbols_pool *pool, bool *damaged);

/* Whether any unit has a line table, and whether any has entries of its own (not so where they are in .dwo files). */
bool symbols_dwarf_has_lines(const struct symbols_dwarf *dwarf);
bool symbols_dwarf_has_functions(const struct symbols_dwarf *dwarf);

/* Writes the places of an address, outermost first (see symbols_lookup).  *file and *line receive the address's own
 * source position also where no function is known.  Returns the number of places. */
int symbols_dwarf_find(struct symbols_dwarf *dwarf, uint64_t address, struct symbols_place *places, int max,
                       const char **file, uint32_t *line);

void symbols_dwarf_free(struct symbols_dwarf *dwarf);

#endif
