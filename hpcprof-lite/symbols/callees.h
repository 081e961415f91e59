/* Functions that GCC's code passes to the OpenMP runtime: addresses that are loaded before a call.
 *
 * Context: BATCH.  Code is not decoded: what looks like a load of an address is returned, and the caller checks whether
 * a function begins there.  Every file is hostile.
 */
#ifndef HPCPROF_LITE_SYMBOLS_CALLEES_H
#define HPCPROF_LITE_SYMBOLS_CALLEES_H

#include <stdint.h>

struct callees;

/* Returns the file for callees_free(); NULL if it cannot be read. */
struct callees *callees_open(const char *path);
void callees_free(struct callees *callees); /* NULL is allowed */

/* Returns the address that the direct call instruction before a return address calls; 0 if there is none. */
uint64_t callees_called(const struct callees *callees, uint64_t return_address);

/* Writes at most `max` addresses that are loaded into registers in the function that begins at low, before that call,
 * and returns their number.  The first *direct ones are loaded into the register of the first argument, after the call
 * before; the last one comes first.  If there may be others, only these are returned. */
unsigned callees_find(const struct callees *callees, uint64_t low, uint64_t return_address, uint64_t *addresses,
                      unsigned max, unsigned *direct);

#endif
