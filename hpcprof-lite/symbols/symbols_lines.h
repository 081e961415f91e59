/* What libdwarf gets wrong in line tables.  BATCH. */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_LINES_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_LINES_H

#include "hpcprof-lite/symbols/symbols_cursor.h"

/* Corrects older versions of libdwarf (20210528 is one), which begin each sequence of a DWARF 5 table with file 0 where
 * the standard says file 1: clears chosen[i] where row i comes before the first choice of a file.  Rows are counted as
 * libdwarf does. */
void symbols_default_files(struct symbols_bytes section, uint64_t offset, bool *chosen, size_t count);

#endif
