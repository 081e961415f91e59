/* Works around a fault of libdwarf in line tables.
 *
 * Context: BATCH, in the child of symbols_child.  Keeps no state; all memory is the caller's.
 */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_LINES_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_LINES_H

#include "hpcprof-lite/symbols/symbols_cursor.h"

/* Finds the rows of a DWARF 5 line table that have the default file.  That is file 1, but older versions of libdwarf,
 * such as 20210528, return file 0.  Sets chosen[i] to whether the line program has set the file of row i; elements of
 * rows that cannot be read are left as they are.  Rows are counted as libdwarf counts them. */
void symbols_default_files(struct symbols_bytes section, uint64_t offset, bool *chosen, size_t count);

#endif
