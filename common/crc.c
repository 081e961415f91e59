#include "common/crc.h"

#include <immintrin.h>

enum { FOLD_BYTES = 64 };

/* Four bits a step: 64 bytes of table, no start-up cost. */
uint32_t crc_update_plain(uint32_t crc, const void *bytes, size_t size)
{
  static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const uint8_t *p = bytes;
  crc = ~crc;
  for (size_t i = 0; i < size; i++) {
    crc ^= p[i];
    crc = (crc >> 4) ^ nibble[crc & 15];
    crc = (crc >> 4) ^ nibble[crc & 15];
  }
  return ~crc;
}

/* Moves what is folded 128 bits on and adds the bytes there. */
__attribute__((target("pclmul"))) static __m128i fold(__m128i folded, __m128i by, __m128i next)
{
  __m128i low = _mm_clmulepi64_si128(folded, by, 0x00), high = _mm_clmulepi64_si128(folded, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

static __m128i load(const uint8_t *at)
{
  return _mm_loadu_si128((const __m128i *)at);
}

/* Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009: four strands of
 * 128 bits, then one, then Barrett's reduction; constants for the reflected polynomial.  size: a multiple of 16, at
 * least FOLD_BYTES. */
__attribute__((target("pclmul"))) static uint32_t crc_fold(uint32_t crc, const uint8_t *bytes, size_t size)
{
  const __m128i by_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4),
                by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  const __m128i by_64 = _mm_set_epi64x(0, 0x0163cd6124), barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  const __m128i low_32 = _mm_setr_epi32(-1, 0, -1, 0);
  __m128i strand[4];
  for (int i = 0; i < 4; i++)
    strand[i] = load(bytes + 16 * i);
  strand[0] = _mm_xor_si128(strand[0], _mm_cvtsi32_si128((int)crc));
  const uint8_t *end = bytes + size;
  for (bytes += FOLD_BYTES; end - bytes >= FOLD_BYTES; bytes += FOLD_BYTES)
    for (int i = 0; i < 4; i++)
      strand[i] = fold(strand[i], by_512, load(bytes + 16 * i));
  __m128i x = strand[0];
  for (int i = 1; i < 4; i++)
    x = fold(x, by_128, strand[i]);
  for (; bytes < end; bytes += 16)
    x = fold(x, by_128, load(bytes));
  x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, by_128, 0x10));
  x = _mm_xor_si128(_mm_srli_si128(x, 4), _mm_clmulepi64_si128(_mm_and_si128(x, low_32), by_64, 0x00));
  __m128i part = _mm_clmulepi64_si128(_mm_and_si128(x, low_32), barrett, 0x10);
  part = _mm_clmulepi64_si128(_mm_and_si128(part, low_32), barrett, 0x00);
  return (uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(_mm_xor_si128(x, part), 4));
}

uint32_t crc_update(uint32_t crc, const void *bytes, size_t size)
{
  size_t folded = size < FOLD_BYTES || !__builtin_cpu_supports("pclmul") ? 0 : size - size % 16;
  if (folded)
    crc = ~crc_fold(~crc, bytes, folded);
  return crc_update_plain(crc, (const uint8_t *)bytes + folded, size - folded);
}
