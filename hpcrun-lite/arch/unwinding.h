/* What unwinding must know of machine code: calls, the beginnings and ends of functions, registers.
 *
 * Context: RT.  No state.  The caller reads the code: an address need not be mapped. */
#ifndef HPCRUN_LITE_ARCH_UNWINDING_H
#define HPCRUN_LITE_ARCH_UNWINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "hpcrun-lite/arch/machine.h"

enum { UNWINDING_CODE_BYTES = 8 }; /* at least the longest call instruction */

/* Reads libunwind's register of that number.  Returns false if there is none. */
bool unwinding_register(const machine_register_t *registers, int number, uint64_t *value);

/* Removes from a program of call frame information the instructions that say where a return address is signed.  Returns
 * whether there were any.  Only called where MACHINE_SIGNS_ADDRESSES. */
bool unwinding_forget_signing(uint8_t *program, unsigned bytes);

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
