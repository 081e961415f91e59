/* Recognises characters of UTF-8 in text that can be anything.
 *
 * Context: any.
 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length in bytes of the character that begins here, which may be the final NUL; 0: it is invalid. */
static inline size_t utf8_length(const char *text)
{
  const unsigned char *s = (const unsigned char *)text;
  if (s[0] < 0x80)
    return 1;
  size_t length = 2 + (s[0] >= 0xe0) + (s[0] >= 0xf0);
  if (s[0] < 0xc2 || s[0] > 0xf4)
    return 0;
  for (size_t i = 1; i < length; i++)
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return overlong || beyond ? 0 : length;
}

/* Returns the code point of a valid character of that length. */
static inline uint32_t utf8_code(const char *text, size_t length)
{
  static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  const unsigned char *s = (const unsigned char *)text;
  uint32_t code = s[0] & first_bits[length];
  for (size_t i = 1; i < length; i++)
    code = code << 6 | (s[i] & 0x3f);
  return code;
}

#endif
