/* Instructions of aarch64 that show how code enters other functions: Arm Architecture Reference Manual for A-profile,
 * chapter C4.
 *
 * Context: BATCH.  No state. */
#ifndef COMMON_SYMBOLS_AARCH64_CODE_H
#define COMMON_SYMBOLS_AARCH64_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { AARCH64_BYTES = 4, AARCH64_REGISTERS = 32 };

static inline uint32_t aarch64_word(const uint8_t *code)
{
  uint32_t word;
  memcpy(&word, code, sizeof word);
  return word;
}

/* Some bits of an instruction, as a signed number. */
static inline uint64_t aarch64_signed(uint32_t word, unsigned lowest, unsigned bits)
{
  uint64_t value = word >> lowest & ((1ull << bits) - 1), sign = 1ull << (bits - 1);
  return (value ^ sign) - sign;
}

static inline bool aarch64_is_call(uint32_t word) /* bl */
{
  return word >> 26 == 0x25;
}

static inline bool aarch64_is_jump(uint32_t word) /* b */
{
  return word >> 26 == 0x05;
}

static inline bool aarch64_calls_register(uint32_t word) /* blr, and those that check a signature */
{
  return (word & 0xfffffc1fu) == 0xd63f0000u || (word & 0xfefff800u) == 0xd63f0800u;
}

/* Where a direct call or jump at an address leads, also a conditional one; 0 if it is another instruction. */
static inline uint64_t aarch64_target(uint32_t word, uint64_t at)
{
  if (aarch64_is_call(word) || aarch64_is_jump(word))
    return at + 4 * aarch64_signed(word, 0, 26);
  if ((word & 0xff000010u) == 0x54000000u || (word & 0x7e000000u) == 0x34000000u) /* b.cond, cbz, cbnz */
    return at + 4 * aarch64_signed(word, 5, 19);
  return (word & 0x7e000000u) == 0x36000000u ? at + 4 * aarch64_signed(word, 5, 14) : 0; /* tbz, tbnz */
}

/* The address that the instruction at code[at] puts into register *into, 0 if it is another one.  That of "add" is
 * based on an "adrp" before it; code[0] is at the address `start`. */
static inline uint64_t aarch64_loaded(const uint8_t *code, size_t at, uint64_t start, unsigned *into)
{
  enum { BETWEEN_MOST = 16 };
  uint32_t word = aarch64_word(code + at);
  *into = word & 31;
  if ((word & 0x9f000000u) == 0x10000000u) /* adr */
    return start + at + 4 * aarch64_signed(word, 5, 19) + (word >> 29 & 3);
  if ((word & 0xffc00000u) != 0x91000000u) /* add */
    return 0;
  for (unsigned i = 1; i <= BETWEEN_MOST && at >= i * AARCH64_BYTES; i++) {
    size_t before = at - i * AARCH64_BYTES;
    uint32_t page = aarch64_word(code + before);
    if ((page & 0x9f000000u) == 0x90000000u && (page & 31) == (word >> 5 & 31)) /* adrp */
      return ((start + before) & ~(uint64_t)0xfff) + (aarch64_signed(page, 5, 19) << 14) +
             ((uint64_t)(page >> 29 & 3) << 12) + (word >> 10 & 0xfff);
  }
  return 0;
}

/* The register that an instruction moves to that of the first argument, AARCH64_REGISTERS if it is another one. */
static inline unsigned aarch64_moved(uint32_t word)
{
  return (word & 0xffe0ffffu) == 0xaa0003e0u ? word >> 16 & 31 : AARCH64_REGISTERS;
}

#endif
