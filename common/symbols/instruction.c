#include "common/symbols/instruction.h"

#include <elf.h>
#include <string.h>

/* Prefixes and operation codes of x86-64: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
 * chapter 2 and appendix A. */
enum {
  PREFIX_SIZE = 0x66,
  PREFIX_ADDRESS = 0x67,
  PREFIX_LOCK = 0xf0,
  ESCAPE = 0x0f,
  ESCAPE_38 = 0x38,
  ESCAPE_3A = 0x3a,
  VEX_LONG = 0xc4,
  VEX_SHORT = 0xc5,
  EVEX = 0x62,
  EXCHANGE = 0x86, /* and the next one */
  BYTES_MAX = 15,
  NO_OPERAND = -1,
  INVALID = -2
};

/* An instruction that is decoded; at: of the next byte. */
struct decoding {
  const uint8_t *code;
  size_t size, at;
  bool short_operands, short_addresses, wide, lock;
};

static bool is_prefix(uint8_t byte)
{
  static const uint8_t prefixes[] = {PREFIX_SIZE, PREFIX_ADDRESS, PREFIX_LOCK, 0xf2, 0xf3, 0x26,
                                     0x2e,        0x36,           0x3e,        0x64, 0x65};
  return memchr(prefixes, byte, sizeof prefixes);
}

/* Returns the next byte, 0 behind the end: the length is checked later. */
static uint8_t next(struct decoding *decoding)
{
  uint8_t byte = decoding->at < decoding->size ? decoding->code[decoding->at] : 0;
  decoding->at++;
  return byte;
}

static void read_prefixes(struct decoding *decoding)
{
  while (decoding->at < decoding->size && is_prefix(decoding->code[decoding->at])) {
    uint8_t byte = next(decoding);
    decoding->short_operands |= byte == PREFIX_SIZE;
    decoding->short_addresses |= byte == PREFIX_ADDRESS;
    decoding->lock |= byte == PREFIX_LOCK;
  }
  if (decoding->at < decoding->size && (decoding->code[decoding->at] & 0xf0) == 0x40)
    decoding->wide = next(decoding) & 8;
}

/* Passes the byte ModRM with what belongs to it, and returns it. */
static uint8_t pass_operand(struct decoding *decoding)
{
  uint8_t byte = next(decoding), mode = byte >> 6, base = byte & 7;
  if (mode == 3)
    return byte;
  if (base == 4)
    base = next(decoding) & 7;
  if (mode == 1)
    decoding->at += 1;
  else if (mode == 2 || base == 5)
    decoding->at += 4;
  return byte;
}

/* Bytes of an immediate operand whose size the operand size decides. */
static int immediate(const struct decoding *decoding)
{
  return decoding->short_operands && !decoding->wide ? 2 : 4;
}

/* Returns the bytes of the immediate operand of an instruction of one byte without ModRM; NO_OPERAND: it has ModRM.
 */
static int plain_immediate(const struct decoding *decoding, uint8_t code)
{
  static const uint8_t invalid[] = {0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};
  if (code < 0x40) {
    if ((code & 7) < 4)
      return NO_OPERAND;
    if ((code & 7) == 4)
      return 1;
    return (code & 7) == 5 ? immediate(decoding) : INVALID;
  }
  if (memchr(invalid, code, sizeof invalid))
    return INVALID;
  if (code == 0x63 || code == 0x69 || code == 0x6b || (code >= 0x80 && code <= 0x8f) || code == 0xc0 || code == 0xc1 ||
      code == 0xc6 || code == 0xc7 || (code >= 0xd0 && code <= 0xd3) || (code >= 0xd8 && code <= 0xdf) ||
      code == 0xf6 || code == 0xf7 || code == 0xfe || code == 0xff)
    return NO_OPERAND;
  if (code >= 0xa0 && code <= 0xa3)
    return decoding->short_addresses ? 4 : 8;
  if (code >= 0xb8 && code <= 0xbf)
    return decoding->wide ? 8 : immediate(decoding);
  if (code == 0x68 || code == 0xa9)
    return immediate(decoding);
  if (code == 0xe8 || code == 0xe9)
    return 4;
  if (code == 0xc2 || code == 0xca)
    return 2;
  if (code == 0xc8)
    return 3;
  bool byte = code == 0x6a || (code >= 0x70 && code <= 0x7f) || code == 0xa8 || (code >= 0xb0 && code <= 0xb7) ||
              code == 0xcd || (code >= 0xe0 && code <= 0xe7) || code == 0xeb;
  return byte ? 1 : 0;
}

/* The same of an instruction with ModRM, which is given. */
static int operand_immediate(const struct decoding *decoding, uint8_t code, uint8_t operand)
{
  bool test = (code == 0xf6 || code == 0xf7) && (operand >> 3 & 7) < 2;
  if (code == 0x69 || code == 0x81 || code == 0xc7 || (test && code == 0xf7))
    return immediate(decoding);
  return code == 0x6b || code == 0x80 || code == 0x83 || code == 0xc0 || code == 0xc1 || code == 0xc6 || test;
}

/* Whether an instruction after the escape byte has an immediate byte beside ModRM. */
static bool escaped_immediate(uint8_t code)
{
  static const uint8_t with[] = {0x0f, 0x70, 0x71, 0x72, 0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6};
  return memchr(with, code, sizeof with);
}

/* Whether an instruction after the escape byte has no ModRM. */
static bool escaped_plain(uint8_t code)
{
  return (code >= 0x04 && code <= 0x0c && code != 0x0a) || code == 0x0e || (code >= 0x30 && code <= 0x37) ||
         code == 0x77 || (code >= 0xa0 && code <= 0xa2) || (code >= 0xa8 && code <= 0xaa) ||
         (code >= 0xc8 && code <= 0xcf);
}

/* Passes an instruction after the escape byte. */
static void pass_escaped(struct decoding *decoding)
{
  uint8_t code = next(decoding);
  if (code >= 0x80 && code <= 0x8f) {
    decoding->at += 4;
  } else if (code == ESCAPE_38 || code == ESCAPE_3A) {
    decoding->at++;
    pass_operand(decoding);
    decoding->at += code == ESCAPE_3A;
  } else if (!escaped_plain(code)) {
    pass_operand(decoding);
    decoding->at += escaped_immediate(code);
  }
}

/* Passes an instruction with a prefix VEX or EVEX.  Returns false if there is none of that map. */
static bool pass_vector(struct decoding *decoding, uint8_t prefix)
{
  unsigned map = 1;
  if (prefix != VEX_SHORT) {
    map = next(decoding) & (prefix == EVEX ? 7 : 31);
    decoding->at += prefix == EVEX;
  }
  decoding->at++;
  uint8_t code = next(decoding);
  if (!map || map == 4 || map > 6 || (map > 3 && prefix != EVEX))
    return false;
  if (map == 1 && code == 0x77 && prefix != EVEX) /* vzeroupper */
    return true;
  pass_operand(decoding);
  decoding->at += map == 3 || (map == 1 && escaped_immediate(code));
  return true;
}

static unsigned x86_length(const uint8_t *code, size_t size, bool *atomic)
{
  struct decoding decoding = {.code = code, .size = size};
  read_prefixes(&decoding);
  uint8_t operation = next(&decoding);
  *atomic = decoding.lock;
  if (operation == ESCAPE) {
    pass_escaped(&decoding);
  } else if (operation == VEX_LONG || operation == VEX_SHORT || operation == EVEX) {
    if (!pass_vector(&decoding, operation))
      return 0;
  } else {
    int bytes = plain_immediate(&decoding, operation);
    if (bytes == INVALID)
      return 0;
    if (bytes == NO_OPERAND) {
      uint8_t operand = pass_operand(&decoding);
      *atomic |= (operation & ~1) == EXCHANGE && operand >> 6 != 3;
      bytes = operand_immediate(&decoding, operation, operand);
    }
    decoding.at += (unsigned)bytes;
  }
  return decoding.at <= size && decoding.at <= BYTES_MAX ? (unsigned)decoding.at : 0;
}

/* Arm Architecture Reference Manual for A-profile, C4.1.94: load and store exclusive, compare and swap; atomic memory
 * operations. */
static unsigned aarch64_length(const uint8_t *code, size_t size, bool *atomic)
{
  uint32_t word;
  if (size < sizeof word)
    return 0;
  word = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
  bool ordered = (word & 0x3f800000) == 0x08800000 && !(word & 0x00200000); /* plain acquire and release */
  *atomic = ((word & 0x3f000000) == 0x08000000 && !ordered) || (word & 0x3b200c00) == 0x38200000;
  return sizeof word;
}

unsigned instruction_length(uint16_t machine, const uint8_t *code, size_t size, bool *atomic)
{
  *atomic = false;
  if (machine == EM_X86_64)
    return x86_length(code, size, atomic);
  return machine == EM_AARCH64 ? aarch64_length(code, size, atomic) : 0;
}
