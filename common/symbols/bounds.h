/* Finds where functions begin in an ELF file without symbols, by the search table of its unwind information
 * (.eh_frame_hdr, Linux Standard Base, "DWARF Extensions").
 *
 * Context: BATCH.  With it all addresses of a stripped function get one name, "libx.so+0x1230", instead of one each.
 * The caller owns the table; any number of threads may search it.  The file is hostile: if the table is damaged, there
 * is none.
 */
#ifndef COMMON_SYMBOLS_BOUNDS_H
#define COMMON_SYMBOLS_BOUNDS_H

#include <stdint.h>

struct bounds;

/* Returns the table of the file for bounds_free(), NULL if the file has no usable one. */
struct bounds *bounds_open(const char *path);
void bounds_free(struct bounds *bounds); /* NULL is allowed */

/* Returns the start of the function at the address, 0 if it is unknown or bounds is NULL. */
uint64_t bounds_start(const struct bounds *bounds, uint64_t address);

#endif
