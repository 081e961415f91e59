/* Where functions begin in a file without symbols: from the search table that every unwindable ELF file carries
 * (.eh_frame_hdr, Linux Standard Base, "DWARF Extensions").
 *
 * Context: BATCH.  Gives the addresses of a stripped function one name, "libx.so+0x1230", instead of one each.  The
 * file is hostile: what is unsound means that nothing is known.
 */
#ifndef HPCPROF_LITE_SYMBOLS_BOUNDS_H
#define HPCPROF_LITE_SYMBOLS_BOUNDS_H

#include <stdint.h>

struct bounds;

/* The table of the file, NULL if it has none that can be used. */
struct bounds *bounds_open(const char *path);
void bounds_free(struct bounds *bounds);

/* The start of the function that holds the address, 0 if unknown; bounds may be NULL. */
uint64_t bounds_start(const struct bounds *bounds, uint64_t address);

#endif
