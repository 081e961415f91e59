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

/* Ends the screen; `expected`: the letters of its lines; of the lines left out, some have notes. */
static void expect_notes(const char *expected, unsigned reserved, bool all, unsigned left_out, unsigned notes)
{
  char *text = NULL, letters[100] = "";
  size_t size = 0, count = 0;
  FILE *stream = open_memstream(&text, &size);
  struct screen_left left = screen_end(&screen, stream, reserved, all);
  assert_int_equal(left.lines, left_out);
  assert_int_equal(left.notes, notes);
  fclose(stream);
  for (size_t i = 0; i < size; i++)
    if (text[i] == '\n')
      letters[count++] = text[i - 1];
  free(text);
  assert_string_equal(letters, expected);
}

static void expect(const char *expected, unsigned reserved, bool all, unsigned left_out)
{
  expect_notes(expected, reserved, all, left_out, 0);
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

/* The first note stays with its heading; those that are left out are counted, a heading alone is none. */
static void test_paragraphs(void **state)
{
  (void)state;
  screen_begin(&screen);
  write_part(SCREEN_ALWAYS, 'a', 18);
  screen_part(&screen, SCREEN_ALWAYS);
  fputs("heading H\n  one b\n    more b\n  two c\n    more c\n  three d\n", screen.stream);
  screen_split(&screen, SCREEN_LITTLE);
  write_part(SCREEN_ALWAYS, 'e', 1);
  expect_notes("aaaaaaaaaaaaaaaaaaHbbe", 1, false, 3, 2);
  screen_begin(&screen);
  write_part(SCREEN_ALWAYS, 'a', 22);
  screen_part(&screen, SCREEN_LITTLE);
  fputs("heading H\n  one b\n  two c\n", screen.stream);
  screen_split(&screen, SCREEN_LITTLE);
  expect_notes("aaaaaaaaaaaaaaaaaaaaaa", 1, false, 3, 2);
  screen_begin(&screen);
  write_part(SCREEN_ALWAYS, 'a', 24);
  screen_part(&screen, SCREEN_LITTLE);
  fputs("heading H\n", screen.stream);
  screen_split(&screen, SCREEN_LITTLE);
  expect("aaaaaaaaaaaaaaaaaaaaaaaa", 0, false, 1);
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
