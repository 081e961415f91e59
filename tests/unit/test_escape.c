/* Characters that a terminal must not get are escaped, at the bounds of their ranges, and what is written can be
 * undone.
 */
#include "common/escape.h"
#include "common/utf8.h"
#include "tests/support/unit.h"

static const char *character(const char *text, bool reversible)
{
  static char out[ESCAPE_MAX];
  size_t length = escape_character(text, reversible, out);
  assert_int_equal(length, utf8_length(text) ? utf8_length(text) : 1);
  return out;
}

static void test_bounds_of_ranges(void **state)
{
  static const uint32_t ranges[][2] = {
      {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},     {0x115f, 0x1160},
      {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
      {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
      {0xe0000, 0xe0fff}};
  (void)state;
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    uint32_t first = ranges[i][0], last = ranges[i][1];
    assert_true(!first || !escape_needed(first - 1));
    assert_false(escape_needed(last + 1));
    for (uint32_t code = first; code <= last; code++)
      assert_true(escape_needed(code));
  }
  assert_false(escape_needed('~'));
  assert_false(escape_needed(0x10ffff));
}

static void test_characters(void **state)
{
  static const struct {
    const char *text, *shown;
  } cases[] = {{"a", "a"},
               {"\x1b[", "\\u{1b}"},
               {"\xc2\x9b", "\\u{9b}"},
               {"\u202e", "\\u{202e}"},
               {"\U000e0041", "\\u{e0041}"},
               {"\u00e9", "\u00e9"},
               {"\U0001f600", "\U0001f600"},
               {"\x9b", ESCAPE_INVALID},
               {"\xc2", ESCAPE_INVALID},
               {"\xe2\x80", ESCAPE_INVALID},
               {"\xed\xa0\x80", ESCAPE_INVALID}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_string_equal(character(cases[i].text, false), cases[i].shown);
    assert_string_equal(character(cases[i].text, true), cases[i].shown);
  }
  assert_string_equal(character("\\u{9b}", true), "\\u{5c}");
  assert_string_equal(character("\\u{9b}", false), "\\");
  assert_string_equal(character("\\u9b", true), "\\");
}

/* Every code point, and text that looks like an escape, comes back. */
static void test_escapes_are_undone(void **state)
{
  static const char *const texts[] = {"\\u{9b}", "\\\\u{9b}", "a\\u{", "\\u{5c}u{1}", "\x1b\\u{\u202e", "\\"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char shown[256] = "";
    for (const char *at = texts[i]; *at; at += utf8_length(at))
      strcat(shown, character(at, true));
    escape_undo(shown);
    assert_string_equal(shown, texts[i]);
  }
  for (uint32_t code = 1; code < 0x110000; code++) {
    char shown[16];
    if (code >= 0xd800 && code < 0xe000)
      continue;
    snprintf(shown, sizeof shown, "\\u{%x}", code);
    escape_undo(shown);
    assert_true(utf8_length(shown) == strlen(shown) && utf8_code(shown, strlen(shown)) == code);
  }
}

/* What is not an escape of a character stays as it is. */
static void test_other_text_stays(void **state)
{
  static const char *const texts[] = {"\\u{}",   "\\u{0}", "\\u{110000}", "\\u{1234567}",
                                      "\\u{9B}", "\\u{9b", "\\u9b",       ""};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[32];
    strcpy(text, texts[i]);
    escape_undo(text);
    assert_string_equal(text, texts[i]);
  }
}

/* A text is cut between characters, and escaping it again changes nothing. */
static void test_texts_are_cut(void **state)
{
  static const char text[] = "a\x1b\u00e9\u202ez";
  char out[64], again[64];
  (void)state;
  for (size_t size = 1; size < 20; size++) {
    escape_text(text, out, size);
    assert_true(strlen(out) < size);
    assert_true(!strncmp(out, "a\\u{1b}\u00e9\\u{202e}z", strlen(out)));
    escape_text(out, again, sizeof again);
    assert_string_equal(again, out);
  }
  escape_text(text, out, sizeof out);
  assert_string_equal(out, "a\\u{1b}\u00e9\\u{202e}z");
}

int main(int argc, char **argv)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds_of_ranges),   cmocka_unit_test(test_characters),
      cmocka_unit_test(test_escapes_are_undone), cmocka_unit_test(test_other_text_stays),
      cmocka_unit_test(test_texts_are_cut),
  };
  return UNIT_RUN(argc, argv, "escape", tests, NULL, NULL);
}
