/* Stubs of the procedure linkage table, by which code calls functions of other modules, known by their instructions:
 * linkers arrange them in different ways, and put them into sections of different names.
 *
 * Context: RT and BATCH.  No state. */
#ifndef COMMON_PLT_STUB_H
#define COMMON_PLT_STUB_H

#include <stdint.h>

enum { PLT_STUB_BYTES = 16, PLT_JUMP_BYTES = 6 };

/* Where in code the jump of a stub begins, "jmp *slot(%rip)"; PLT_STUB_BYTES if it is not a stub.  Before the jump
 * there may be endbr64 (for indirect branch tracking), mold's "mov $number, %r11d", and a prefix, bnd or notrack. */
static inline unsigned plt_stub_jump(const uint8_t code[PLT_STUB_BYTES])
{
  enum { ENDBR_BYTES = 4, NUMBER_BYTES = 6, BND = 0xf2, NOTRACK = 0x3e };
  static const uint8_t endbr64[ENDBR_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
  unsigned at = __builtin_memcmp(code, endbr64, sizeof endbr64) ? 0 : ENDBR_BYTES;
  at += code[at] == 0x41 && code[at + 1] == 0xbb ? NUMBER_BYTES : 0;
  at += code[at] == BND || code[at] == NOTRACK;
  return at + PLT_JUMP_BYTES <= PLT_STUB_BYTES && code[at] == 0xff && code[at + 1] == 0x25 ? at : PLT_STUB_BYTES;
}

/* The address of the slot that holds the target of the jump at this address. */
static inline uint64_t plt_stub_slot(uint64_t address, const uint8_t jump[PLT_JUMP_BYTES])
{
  int32_t distance;
  __builtin_memcpy(&distance, jump + 2, sizeof distance);
  return address + PLT_JUMP_BYTES + (uint64_t)(int64_t)distance;
}

#endif
