/* Address → function by the symbol table.  BATCH.  Not locked: its owner guards it. */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_TABLE_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_TABLE_H

#include "hpcprof-lite/symbols/symbols_elf.h"

struct symbols_table;

/* Makes a table of symbols, which it takes over (they are released also on failure).  NULL: no memory. */
struct symbols_table *symbols_table_new(struct symbols_symbols *symbols);

/* The function that holds address, its readable name filled in; NULL without.  table may be NULL. */
const struct symbols_symbol *symbols_table_find(struct symbols_table *table, struct symbols_pool *pool,
                                                uint64_t address);

void symbols_table_free(struct symbols_table *table);

#endif
