#include "hpcprof-lite/report/row_writer.h"

#include "common/escape.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static bool keeps_names;

void row_writer_keep_names(void)
{
  keeps_names = true;
}

const char *row_writer_character(FILE *stream, const char *text)
{
  if (*text >= ' ' && *text < 127 && *text != '\\') {
    putc_unlocked(*text, stream);
    return text + 1;
  }
  char shown[ESCAPE_MAX];
  size_t length = escape_character(text, true, shown);
  fputs_unlocked(shown, stream);
  return text + length;
}

void row_writer_replaced(FILE *stream, const char *text, const char *const replacements[UINT8_MAX + 1])
{
  while (*text) {
    const char *replacement = replacements[(uint8_t)*text];
    if (replacement) {
      fputs(replacement, stream);
      text++;
    } else {
      text = row_writer_character(stream, text);
    }
  }
}

/* Length of the characters at the beginning of a text that stand for themselves in JSON. */
static size_t plain_json(const unsigned char *s)
{
  size_t length = 0;
  while (s[length] >= ' ' && s[length] < 127 && s[length] != '"' && s[length] != '\\')
    length++;
  return length;
}

/* Writes a code point as the escapes of JSON, which are units of UTF-16. */
static void json_escape(FILE *stream, uint32_t code)
{
  assert(code);
  enum { FIRST_PAIR = 0x10000, HIGH = 0xd800, LOW = 0xdc00, LOW_BITS = 10 };
  if (code < FIRST_PAIR) {
    fprintf(stream, "\\u%04" PRIx32, code);
    return;
  }
  code -= FIRST_PAIR;
  fprintf(stream, "\\u%04" PRIx32 "\\u%04" PRIx32, HIGH + (code >> LOW_BITS), LOW + (code & ((1u << LOW_BITS) - 1)));
}

/* Writes the character that begins here, and returns its bytes. */
static size_t json_character(FILE *stream, const char *text)
{
  size_t length = utf8_length(text);
  if (!length) {
    fputs_unlocked(ESCAPE_INVALID, stream);
    return 1;
  }
  uint32_t code = utf8_code(text, length);
  if (code == '"' || code == '\\')
    fprintf(stream, "\\%c", (char)code);
  else if (escape_needed(code))
    json_escape(stream, code);
  else
    fwrite_unlocked(text, 1, length, stream);
  return length;
}

void row_writer_json_string(FILE *stream, const char *text)
{
  assert(text);
  const unsigned char *s = (const unsigned char *)text;
  putc_unlocked('"', stream);
  for (;;) {
    size_t plain = plain_json(s);
    fwrite_unlocked(s, 1, plain, stream);
    s += plain;
    if (!*s)
      break;
    s += json_character(stream, (const char *)s);
  }
  putc_unlocked('"', stream);
}

/* Whether a spreadsheet may take the text for a formula, also behind spaces; or it begins with the mark itself. */
static bool needs_mark(const char *text)
{
  static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
  if (keeps_names)
    return false;
  if (*text == '\'')
    return true;
  while (*text == ' ')
    text++;
  if (*text && strchr("=+-@\t\r", *text))
    return true;
  bool found = false;
  for (size_t i = 0; i < sizeof wide / sizeof *wide && *text == wide[0][0]; i++)
    found |= !strncmp(text, wide[i], strlen(wide[i]));
  return found;
}

size_t row_writer_plain(const char *text, bool json, struct row_writer_marks *marks)
{
  assert(text && marks);
  const unsigned char *s = (const unsigned char *)text;
  bool comma = false;
  size_t length = 0;
  for (; s[length] >= ' ' && s[length] < 127 && s[length] != '"' && s[length] != '\\'; length++)
    comma |= s[length] == ',';
  if (s[length])
    return 0;
  bool space = length && (s[0] == ' ' || s[length - 1] == ' ');
  marks->quote = json || comma || space;
  marks->mark = !json && needs_mark(text);
  return length;
}

static void csv_string(FILE *stream, const char *text)
{
  struct row_writer_marks marks;
  if (!row_writer_plain(text, false, &marks)) {
    marks.quote = strpbrk(text, ",\"") || *text == ' ' || (*text && text[strlen(text) - 1] == ' ');
    marks.mark = needs_mark(text);
  }
  fputs_unlocked(marks.quote ? "\"" : "", stream);
  fputs_unlocked(marks.mark ? "'" : "", stream);
  while (*text) {
    if (*text == '"')
      putc_unlocked('"', stream);
    text = row_writer_character(stream, text);
  }
  fputs_unlocked(marks.quote ? "\"" : "", stream);
}

char *row_writer_escaped(const char *text, size_t *size)
{
  char *shown;
  FILE *stream = xopen_memstream(&shown, size);
  while (*text)
    text = row_writer_character(stream, text);
  xclose(stream, &shown);
  return shown;
}

void row_writer_put_text(FILE *stream, const char *text, bool json)
{
  assert(text);
  if (json)
    row_writer_json_string(stream, text);
  else
    csv_string(stream, text);
}

/* Tables can have millions of rows: printf() would take most of the time. */
char *row_writer_digits(char *end, uint64_t value, unsigned decimals)
{
  for (unsigned digits = 0; value || digits <= decimals; digits++, value /= 10) {
    if (digits == decimals && decimals)
      *--end = '.';
    *--end = (char)('0' + value % 10);
  }
  return end;
}

void row_writer_number(FILE *stream, uint64_t value, unsigned decimals)
{
  char text[48], *end = text + sizeof text, *at = row_writer_digits(end, value, decimals);
  fwrite_unlocked(at, 1, (size_t)(end - at), stream);
}
