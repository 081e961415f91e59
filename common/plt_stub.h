/* Stubs of the procedure linkage table, by which code calls functions of other modules, known by their instructions:
 * linkers arrange them in different ways, and put them into sections of different names.
 *
 * Context: RT, for the own machine, and BATCH, for that of a file.  No state. */
#ifndef COMMON_PLT_STUB_H
#define COMMON_PLT_STUB_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

enum { PLT_STUB_MOST = 24 };

struct plt_stub {
  unsigned jump; /* offset of the jump */
  uint64_t slot; /* address of the slot that holds its target */
};

/* How many bytes of code plt_stub_read() needs. */
static inline unsigned plt_stub_bytes(uint16_t machine)
{
  return machine == EM_AARCH64 ? PLT_STUB_MOST : 16;
}

/* How far before an address inside a stub its beginning may be; 0: what is left of a stub is a stub. */
static inline unsigned plt_stub_back(uint16_t machine)
{
  return machine == EM_AARCH64 ? PLT_STUB_MOST - 4 : 0;
}

/* "jmp *slot(%rip)".  Before the jump there may be endbr64 (for indirect branch tracking), mold's "mov $number, %r11d",
 * and a prefix, bnd or notrack. */
static inline bool plt_stub_x86_64(const uint8_t *code, uint64_t address, struct plt_stub *stub)
{
  enum { BYTES = 16, JUMP_BYTES = 6, ENDBR_BYTES = 4, NUMBER_BYTES = 6, BND = 0xf2, NOTRACK = 0x3e };
  static const uint8_t endbr64[ENDBR_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
  int32_t distance;
  unsigned at = __builtin_memcmp(code, endbr64, sizeof endbr64) ? 0 : ENDBR_BYTES;
  at += code[at] == 0x41 && code[at + 1] == 0xbb ? NUMBER_BYTES : 0;
  at += code[at] == BND || code[at] == NOTRACK;
  if (at + JUMP_BYTES > BYTES || code[at] != 0xff || code[at + 1] != 0x25)
    return false;
  __builtin_memcpy(&distance, code + at + 2, sizeof distance);
  *stub = (struct plt_stub){at, address + at + JUMP_BYTES + (uint64_t)(int64_t)distance};
  return true;
}

/* "adrp x16, slot; ldr x17, [x16, slot]; add x16, x16, slot; br x17".  Before it there may be "bti c" (for branch
 * target identification), before the jump "autia1716" (for pointer authentication). */
static inline bool plt_stub_aarch64(const uint8_t *code, uint64_t address, struct plt_stub *stub)
{
  enum { INSTRUCTIONS = PLT_STUB_MOST / 4 };
  uint32_t words[INSTRUCTIONS];
  __builtin_memcpy(words, code, sizeof words);
  unsigned at = words[0] == 0xd503245f, jump = at + 3;
  jump += words[jump] == 0xd503219f;
  bool known = (words[at] & 0x9f00001f) == 0x90000010 && (words[at + 1] & 0xffc003ff) == 0xf9400211 &&
               (words[at + 2] & 0xffc003ff) == 0x91000210 && words[jump] == 0xd61f0220;
  uint64_t pages = (words[at] >> 29 & 3) | (words[at] >> 5 & 0x7ffff) << 2, sign = 1 << 20;
  uint64_t page = ((address + 4 * at) & ~(uint64_t)0xfff) + (((pages ^ sign) - sign) << 12);
  *stub = (struct plt_stub){4 * jump, page + 8 * (words[at + 1] >> 10 & 0xfff)};
  return known;
}

/* Is the code at an address a stub? */
static inline bool plt_stub_read(uint16_t machine, const uint8_t *code, uint64_t address, struct plt_stub *stub)
{
  return machine == EM_AARCH64 ? plt_stub_aarch64(code, address, stub) : plt_stub_x86_64(code, address, stub);
}

#endif
