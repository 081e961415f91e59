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
 * whether there were any.  Only called
 * where MACHINE_LINK_REGISTER. */
bool unwinding_forget_signing(uint8_t *program, unsigned bytes);

/* Writes a program of call frame information for a function whose own one is empty, from the instructions at its
 * beginning, for addresses behind them.  alignment: the factor by which the program's offsets are given.  Returns its
 * size, 0 if they do not show where the function has stored its return address.  Only called where
 * MACHINE_LINK_REGISTER: elsewhere an empty program may be right. */
enum { UNWINDING_BEGINNING_BYTES = 16, UNWINDING_PROGRAM_MOST = 32 };
unsigned unwinding_write_program(const uint8_t code[UNWINDING_BEGINNING_BYTES], int64_t alignment,
                                 uint8_t program[UNWINDING_PROGRAM_MOST]);

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
