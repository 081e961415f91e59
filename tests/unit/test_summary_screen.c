/* The summary's screen: what is left out, and in which order. */
#include "hpcprof-lite/report/summary/summary_screen.h"
#include "tests/support/unit.h"

#include <stdlib.h>

static struct screen screen;

/* A part of that many lines of a letter. */
static void write_part(enum screen_rank rank, char letter, unsigned lines)
{
  screen_part(&screen, rank);
  for (unsigned i = 0; i < lines; i++)
    fprintf(screen.stream, "%c\n", letter);
}

/* Ends the screen; `expected`: the letters of its lines. */
static void expect(const char *expected, unsigned reserved, bool all, unsigned left_out)
{
  char *text = NULL, letters[100] = "";
  size_t size = 0, count = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_int_equal(screen_end(&screen, stream, reserved, all), left_out);
  fclose(stream);
  for (size_t i = 0; i < size; i++)
    if (text[i] == '\n')
      letters[count++] = text[i - 1];
  free(text);
  assert_string_equal(letters, expected);
}

static void fill(void)
{
  screen_begin(&screen);
  write_part(SCREEN_ALWAYS, 'a', 10);
  write_part(SCREEN_LITTLE, 'b', 5);
  write_part(SCREEN_SOME, 'c', 5);
  write_part(SCREEN_LITTLE, 'd', 3);
  write_part(SCREEN_SOME, 'e', 3);
}

static void test_what_matters_least_is_left_out(void **state)
{
  (void)state;
  fill();
  expect("aaaaaaaaaabbbbbcccccdddeee", 0, true, 0);
  fill();
  expect("aaaaaaaaaabbbbbccccceee", 0, false, 3);
  fill();
  expect("aaaaaaaaaaccccceee", 1, false, 8); /* one line tells that some were left out */
  fill();
  expect("aaaaaaaaaaccccc", 8, false, 11);
  fill();
  expect("aaaaaaaaaa", 20, false, 16); /* what may not be left out */
}

/* The first paragraph stays with its heading. */
static void test_paragraphs(void **state)
{
  (void)state;
  screen_begin(&screen);
  write_part(SCREEN_ALWAYS, 'a', 18);
  screen_part(&screen, SCREEN_ALWAYS);
  fputs("heading H\n  one b\n    more b\n  two c\n    more c\n  three d\n", screen.stream);
  screen_split(&screen, SCREEN_LITTLE);
  write_part(SCREEN_ALWAYS, 'e', 1);
  expect("aaaaaaaaaaaaaaaaaaHbbe", 1, false, 3);
}

/* Text beyond the last part belongs to that. */
static void test_too_many_parts(void **state)
{
  (void)state;
  screen_begin(&screen);
  write_part(SCREEN_ALWAYS, 'a', 1);
  for (unsigned i = 0; i < SCREEN_PARTS + 10; i++)
    write_part(SCREEN_LITTLE, 'b', 1);
  expect("abbbbbbbbbbbbbbbbbbbbbb", 0, false, SCREEN_PARTS + 12 - SCREEN_LINES);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_matters_least_is_left_out),
                                     cmocka_unit_test(test_paragraphs), cmocka_unit_test(test_too_many_parts)};
  return UNIT_RUN(argc, argv, "summary_screen", tests, NULL, NULL);
}
