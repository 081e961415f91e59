/* How code enters the OpenMP runtime: functions that GCC's code passes to it, which are addresses that are loaded
 * before a call, and jumps by which functions enter it as their last act.
 *
 * Context: BATCH.  Code is not decoded: what looks like a load of an address or a jump is returned, and the caller
 * checks whether a function begins there.  Every file is hostile.
 */
#ifndef COMMON_SYMBOLS_CALLEES_H
#define COMMON_SYMBOLS_CALLEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callees;

/* Returns the file for callees_free(); NULL if it cannot be read. */
struct callees *callees_open(const char *path);
void callees_free(struct callees *callees); /* NULL is allowed */

/* Reads code from an address on, at most `size` bytes and up to the end of its segment.  Returns how many. */
size_t callees_code(const struct callees *callees, uint64_t low, size_t size, uint8_t *code);

/* Returns e_machine of the file. */
uint16_t callees_machine(const struct callees *callees);

/* Returns the address to which the direct call or jump instruction before an address leads; 0 if there is none. */
uint64_t callees_called(const struct callees *callees, uint64_t return_address);

/* Writes where the direct jump that is at an address, or, if `behind`, ends there, may lead, and returns how many
 * addresses these are: instructions before an address can be read in several ways. */
enum { CALLEES_JUMPS_MAX = 3 };
unsigned callees_jumped(const struct callees *callees, uint64_t address, bool behind,
                        uint64_t targets[CALLEES_JUMPS_MAX]);

/* Returns whether the instruction before an address may be a call by way of a register: of a function that a variable
 * or a table names. */
bool callees_by_register(const struct callees *callees, uint64_t return_address);

/* Returns whether the bytes before an address can be a call instruction, or are not in the file. */
bool callees_ends_call(const struct callees *callees, uint64_t return_address);

/* Writes at most `max` addresses that the function at `low` loads into registers before that call, and returns their
 * number.  The first *direct ones are surely the first argument: loaded into its register since the call before, the
 * last one first, or the only one loaded into the register from which it is set.  If there may be others than those
 * found, only these are returned. */
unsigned callees_find(const struct callees *callees, uint64_t low, uint64_t return_address, uint64_t *addresses,
                      unsigned max, unsigned *direct);

/* Writes the ends of at most `max` jumps in the code from low on, in ascending order, and returns their number.  The
 * last ones can be in the functions that follow. */
unsigned callees_jumps(const struct callees *callees, uint64_t low, uint64_t *ends, unsigned max);

#endif
