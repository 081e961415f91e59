/* Names of functions in less room: what is dropped first, and that what is no list of parameters stays. */
#include "hpcprof-lite/report/terminal.h"
#include "tests/support/unit.h"

static void check(const char *name, unsigned width, const char *expected)
{
  const struct terminal terminal = {.width = 80};
  char text[TERMINAL_TEXT_MAX];
  unsigned used = terminal_fit(&terminal, name, width, text);
  assert_string_equal(text, expected);
  assert_true(used <= width && used == strlen(text));
}

static void the_name_itself_is_left_at_last(void **state)
{
  const char *count = "unsigned long primecount::Sieve::count(unsigned long, std::vector<int>) const";
  (void)state;
  check(count, 80, count);
  check(count, 50, "unsigned long primecount::Sieve::count(..) const");
  check(count, 24, "primecount::Sieve::count");
  check(count, 23, "Sieve::count");
  check(count, 11, "count");
  check(count, 4, "..nt");
  check("void ns::f<int, g<long> >(int) [clone .avx2]", 20, "void ns::f<..>(..)");
  check("void ns::f<int, g<long> >(int) [clone .avx2]", 14, "ns::f<..>");
}

static void overloads_keep_their_parameters(void **state)
{
  const struct terminal terminal = {.width = 80, .lists = true};
  char text[TERMINAL_TEXT_MAX];
  (void)state;
  terminal_fit(&terminal, "primecount::Sieve::count(unsigned long) const", 34, text);
  assert_string_equal(text, "Sieve::count(unsigned long) const");
  terminal_fit(&terminal, "primecount::Sieve::count(unsigned long, unsigned long) const", 20, text);
  assert_string_equal(text, "count(u..long) const");
}

static void what_is_no_list_of_parameters_stays(void **state)
{
  (void)state;
  check("ns::Functor::operator()(int) const", 20, "Functor::operator()");
  check("Functor::operator()", 12, "operator()");
  check("void* operator new(unsigned long)", 22, "void* operator new(..)");
  check("void* operator new(unsigned long)", 20, "void* operator new");
  check("parallel @ solve.c:42 (ns::solve(int))", 30, "parallel @ solve.c:42 (ns..))");
  check("work (12 contexts)", 12, "work..texts)");
  check("libprimecount.so.7+0x30b60", 15, "libpr..+0x30b60");
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_name_itself_is_left_at_last),
                                     cmocka_unit_test(overloads_keep_their_parameters),
                                     cmocka_unit_test(what_is_no_list_of_parameters_stays)};
  return UNIT_RUN(argc, argv, "fitted_names", tests, NULL, NULL);
}
