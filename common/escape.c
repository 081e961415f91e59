#include "common/escape.h"

#include <string.h>

#include "common/utf8.h"

/* Controls and, of Unicode's format characters, those that are not visible.  In the order of the code points. */
static const struct {
  uint32_t first, last;
} unsafe[] = {{0x00, 0x1f},       {0x7f, 0x9f}, {0xad, 0xad}, /* soft hyphen */
              {0x34f, 0x34f},                                 /* combining grapheme joiner */
              {0x61c, 0x61c},                                 /* Arabic letter mark */
              {0x115f, 0x1160},                               /* Hangul fillers */
              {0x17b4, 0x17b5},                               /* Khmer inherent vowels */
              {0x180b, 0x180f},                               /* Mongolian variation selectors and vowel separator */
              {0x200b, 0x200f},                               /* zero width; left-to-right and right-to-left mark */
              {0x2028, 0x202e},    /* line and paragraph separator; embeddings and overrides of direction */
              {0x2060, 0x206f},    /* word joiner, invisible operators; isolates of direction */
              {0x3164, 0x3164},    /* Hangul filler */
              {0xfe00, 0xfe0f},    /* variation selectors */
              {0xfeff, 0xfeff},    /* byte order mark */
              {0xffa0, 0xffa0},    /* Hangul filler of half width */
              {0xfff9, 0xfffb},    /* interlinear annotations */
              {0x1bca0, 0x1bca3},  /* of shorthand */
              {0x1d173, 0x1d17a},  /* of musical notation */
              {0xe0000, 0xe0fff}}; /* tags, variation selectors */

bool escape_needed(uint32_t code)
{
  size_t i = 0;
  while (i < sizeof unsafe / sizeof *unsafe && code > unsafe[i].last)
    i++;
  return i < sizeof unsafe / sizeof *unsafe && code >= unsafe[i].first;
}

static void write_escape(uint32_t code, char *out)
{
  static const char digits[] = "0123456789abcdef";
  unsigned shift = 0;
  while (code >> shift > 0xf)
    shift += 4;
  out = stpcpy(out, "\\u{");
  for (unsigned left = shift / 4 + 1; left--; shift -= 4)
    *out++ = digits[code >> shift & 0xf];
  strcpy(out, "}");
}

size_t escape_character(const char *text, bool reversible, char out[ESCAPE_MAX])
{
  size_t length = utf8_length(text);
  if (!length) {
    strcpy(out, ESCAPE_INVALID);
    return 1;
  }
  uint32_t code = utf8_code(text, length);
  if (escape_needed(code) || (reversible && !strncmp(text, "\\u{", 3))) {
    write_escape(code, out);
  } else {
    memcpy(out, text, length);
    out[length] = '\0';
  }
  return length;
}

void escape_text(const char *text, char *out, size_t size)
{
  char character[ESCAPE_MAX];
  size_t used = 0, length;
  for (*out = '\0'; *text; used += length) {
    text += escape_character(text, false, character);
    length = strlen(character);
    if (used + length >= size)
      return;
    memcpy(out + used, character, length + 1);
  }
}

/* Writes a code point as UTF-8, with NUL.  Returns its length. */
static size_t encode(uint32_t code, char out[5])
{
  static const struct {
    uint32_t end;
    unsigned char lead;
  } forms[] = {{0x80, 0}, {0x800, 0xc0}, {0x10000, 0xe0}, {UINT32_MAX, 0xf0}};
  size_t length = 1;
  while (code >= forms[length - 1].end)
    length++;
  for (size_t i = length - 1; i; i--, code >>= 6)
    out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)(forms[length - 1].lead | code);
  out[length] = '\0';
  return length;
}

/* Returns the length of the escape that begins here, and its code point; 0: there is none. */
static size_t read_escape(const char *text, uint32_t *code)
{
  enum { BEGIN = 3, DIGITS_MAX = 6 };
  size_t end = BEGIN;
  if (strncmp(text, "\\u{", BEGIN) != 0)
    return 0;
  for (*code = 0; end < BEGIN + DIGITS_MAX; end++) {
    char digit = text[end];
    if (digit >= '0' && digit <= '9')
      *code = *code << 4 | (uint32_t)(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      *code = *code << 4 | (uint32_t)(digit - 'a' + 10);
    else
      break;
  }
  return end > BEGIN && text[end] == '}' && *code && *code <= 0x10ffff ? end + 1 : 0;
}

void escape_undo(char *text)
{
  char *to = strstr(text, "\\u{"), character[5];
  if (!to) /* the text is not written to */
    return;
  for (text = to; *text;) {
    uint32_t code;
    size_t taken = read_escape(text, &code), length = taken ? encode(code, character) : 1;
    memcpy(to, taken ? character : text, length);
    to += length;
    text += taken ? taken : 1;
  }
  *to = '\0';
}
