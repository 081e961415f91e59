/* The word that was probably meant, at the bounds of what counts as similar, and lists as text at the bounds of their
 * room.
 */
#include "common/words.h"
#include "tests/support/unit.h"

static const char *const views[] = {"flat", "timeline", "view", "abcdefghijklmnopqrstuvwx", NULL};

static void expect_similar(const char *word, const char *meant)
{
  const char *found = words_similar(views, word);
  if (meant)
    assert_string_equal(found, meant);
  else
    assert_null(found);
}

static void test_similar_words(void **state)
{
  (void)state;
  expect_similar("flat", "flat");
  expect_similar("fla", "flat");   /* one is missing, */
  expect_similar("fflat", "flat"); /* one too many, */
  expect_similar("flet", "flat");  /* another one, */
  expect_similar("falt", "flat");  /* two are swapped */
  expect_similar("veiw", "view");
  expect_similar("fl", NULL);             /* half of it */
  expect_similar("alft", NULL);           /* two edits: half of it */
  expect_similar("tmieilne", "timeline"); /* two swaps */
  expect_similar("imelin", "timeline");   /* two are missing */
  expect_similar("imeli", NULL);          /* three */
  expect_similar("", NULL);
  expect_similar("bacdefghijklmnopqrstuvxw", "abcdefghijklmnopqrstuvwx");
  expect_similar("abcdefghijklmnopqrstuvwxyzabc", NULL);
}

static void test_place_of_a_word(void **state)
{
  (void)state;
  assert_int_equal(words_find(views, "flat"), 0);
  assert_int_equal(words_find(views, "view"), 2);
  assert_int_equal(words_find(views, "Flat"), -1);
  assert_int_equal(words_find(views, ""), -1);
}

static void expect_list(const char *const *words, const char *last, const char *expected)
{
  char text[64], small[8];
  words_list(words, last, text, sizeof text);
  assert_string_equal(text, expected);
  words_list(words, last, small, sizeof small);
  assert_int_equal(strlen(small), strlen(expected) < 7 ? strlen(expected) : 7);
  assert_memory_equal(small, expected, strlen(small));
}

static void test_lists(void **state)
{
  (void)state;
  expect_list((const char *const[]){NULL}, " or ", "");
  expect_list((const char *const[]){"a", NULL}, " or ", "a");
  expect_list((const char *const[]){"a", "b", NULL}, " or ", "a or b");
  expect_list((const char *const[]){"a", "b", "c", NULL}, " and ", "a, b and c");
  expect_list((const char *const[]){"a", "b", "c", NULL}, ", ", "a, b, c");
  expect_list((const char *const[]){"abcdefg", "h", NULL}, ", ", "abcdefg, h");
}

static void test_appended_parts(void **state)
{
  (void)state;
  char text[12] = "";
  words_append(text, sizeof text, "%s", "one");
  assert_string_equal(text, "one");
  words_append(text, sizeof text, "%d", 2);
  assert_string_equal(text, "one; 2");
  words_append(text, sizeof text, "%s", "three");
  assert_string_equal(text, "one; 2; thr");
  words_append(text, sizeof text, "%s", "four"); /* there is no room */
  assert_string_equal(text, "one; 2; thr");
}

static void expect_symbol(const char *name, const char *shown)
{
  char out[WORDS_SYMBOL];
  assert_string_equal(words_symbol(name, out), shown);
}

#define LONG "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

static void test_symbols_in_sentences(void **state)
{
  (void)state;
  expect_symbol("", "");
  expect_symbol("a<b>(c)", "a<b>(c)");
  expect_symbol("a<" LONG ", b<c>>::f(int)", "a<..>::f(int)");
  expect_symbol("f(" LONG ") const", "f(..) const");
  expect_symbol("a<b>::f(" LONG ")", "a<b>::f(..)");
  expect_symbol("operator<<(" LONG ")", "operator<<(..)");
  expect_symbol("a<&b::operator->, " LONG ">::f", "a<..>::f");
  expect_symbol("a<" LONG, "a<abcdefghijklmnopqrstuvwxyzabc..ghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
  expect_symbol(LONG LONG, "abcdefghijklmnopqrstuvwxyzabcde..ghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
  expect_symbol("abcdefghijklmnopqrstuvwxyzabcd\u00e4" LONG, /* no character is divided */
                "abcdefghijklmnopqrstuvwxyzabcd..ghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
  char no_text[2 * WORDS_SYMBOL] = "";
  memset(no_text, 0x80, sizeof no_text - 1);
  expect_symbol(no_text, "..");
}

int main(int argc, char **argv)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_similar_words),  cmocka_unit_test(test_place_of_a_word),      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_appended_parts), cmocka_unit_test(test_symbols_in_sentences),
  };
  return UNIT_RUN(argc, argv, "words", tests, NULL, NULL);
}
