/* What unwinding must know of machine code: calls, the beginnings and ends of functions, registers.
 *
 * Context: RT.  No state.  The caller reads the code: an address need not be mapped. */
#ifndef HPCRUN_LITE_ARCH_UNWINDING_H
#define HPCRUN_LITE_ARCH_UNWINDING_H

#include <stdbool.h>
#include <stdint.h>

enum { UNWINDING_CODE_BYTES = 8 }; /* at least the longest call instruction */

/* The element of machine_register_t[] that has libunwind's register of that number; -1: none. */
int unwinding_register(int number);

/* libunwind's number of the frame pointer. */
extern const int unwinding_fp;

/* Which call ends with the last of these bytes.  after: the address behind them.  Sets *target for a direct call. */
enum call_kind { CALL_NONE, CALL_DIRECT, CALL_INDIRECT };
enum call_kind unwinding_call(const uint8_t code[UNWINDING_CODE_BYTES], uint64_t after, uint64_t *target);

/* libunwind's number of the register by which that call instruction calls, if functions preserve it; -1: no such call.
 */
int unwinding_called_register(const uint8_t code[UNWINDING_CODE_BYTES]);

/* Is it the code to which signal handlers return? */
bool unwinding_is_sigreturn(const uint8_t code[UNWINDING_CODE_BYTES]);

/* Code at the beginning or end of a function whose return address is on the stack, but not above its frame pointer:
 * how far above the stack pointer.  -1: it is other code.  leaves: only if the code removes the frame and returns. */
int unwinding_return_distance(const uint8_t code[UNWINDING_CODE_BYTES], bool leaves);

#endif
