/* Length of machine instructions, and which of them change memory atomically: on x86-64 those with a lock prefix, and
 * exchanges with memory; on aarch64 exclusive and atomic loads and stores.
 *
 * Context: BATCH.  Code is data here, and may be anything: only bytes within the given size are read.
 */
#ifndef COMMON_SYMBOLS_INSTRUCTION_H
#define COMMON_SYMBOLS_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length of the instruction that begins at the code, and sets *atomic; 0 if it is not known.  machine:
 * e_machine of the ELF file. */
unsigned instruction_length(uint16_t machine, const uint8_t *code, size_t size, bool *atomic);

#endif
