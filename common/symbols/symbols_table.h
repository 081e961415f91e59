/* Maps an address to its function by symbol tables.
 *
 * Context: BATCH, one thread at a time.  The table owns the array of symbols; their names belong to symbols_elf
 * or to the pool.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_TABLE_H
#define COMMON_SYMBOLS_SYMBOLS_TABLE_H

#include "common/symbols/symbols_elf.h"

struct symbols_table;

/* Returns a table for symbols_table_free().  Takes over symbols->symbols. */
struct symbols_table *symbols_table_new(struct symbols_symbols *symbols);

/* Returns the function that contains the address, with its readable name, which is stored in pool; NULL if there is
 * none or table is NULL. */
const struct symbols_symbol *symbols_table_find(struct symbols_table *table, struct symbols_pool *pool,
                                                uint64_t address);

/* Adds the addresses at which another function begins: see symbols_ranges_starts().  table may be NULL. */
void symbols_table_starts(const struct symbols_table *table, uint64_t **starts, size_t *count, size_t *room);

void symbols_table_free(struct symbols_table *table); /* NULL is allowed */

#endif
