/* Unsigned LEB128 numbers of 64 bits: operands of the graph log, the trace and the tape.
 *
 * Context: RT (put), BATCH (get).  Nothing here keeps state. */
#ifndef COMMON_LEB128_H
#define COMMON_LEB128_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEB128_MAX = 10 }; /* bytes of a number */

/* Appends one number; returns the address after it.  There must be room for LEB128_MAX bytes. */
static inline uint8_t *leb128_put(uint8_t *at, uint64_t value)
{
  while (value >= 0x80) {
    *at++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *at++ = (uint8_t)value;
  return at;
}

/* Reads the number at *offset and moves *offset.  Returns false, with *value unchanged, if the number does not end
 * before `size`, or has more than 64 bits. */
static inline bool leb128_get(const uint8_t *bytes, size_t size, size_t *offset, uint64_t *value)
{
  uint64_t sum = 0;
  if (*offset < size && bytes[*offset] < 0x80) { /* most numbers */
    *value = bytes[(*offset)++];
    return true;
  }
  for (unsigned shift = 0; shift < 64 && *offset < size; shift += 7) {
    uint8_t byte = bytes[(*offset)++];
    if (shift == 63 && byte > 1)
      return false;
    sum |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = sum;
      return true;
    }
  }
  return false;
}

#endif
