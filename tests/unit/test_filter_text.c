/* The text of a filter, shell patterns, and what the running side makes of a filter. */
#include "common/filter_text.h"
#include "common/pattern.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcrun-lite/process/filter_settings.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "tests/support/unit.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's pread() in this program.  Reads beyond short_reads fail. */
static off_t short_reads = INT64_MAX;

ssize_t pread(int fd, void *buffer, size_t size, off_t at)
{
  size_t left = at < short_reads ? (size_t)(short_reads - at) : 0;
  return syscall(SYS_pread64, fd, buffer, size < left ? size : left, at);
}

static struct filter_part part(const char *text)
{
  return (struct filter_part){text, strlen(text)};
}

static void patterns_match_whole_names(void **state)
{
  (void)state;
  static const struct {
    const char *pattern, *text;
    bool matches;
  } cases[] = {
      {"", "", true},
      {"", "a", false},
      {"a", "a", true},
      {"a", "ab", false},
      {"a*", "a", true},
      {"a*", "abc", true},
      {"*c", "abc", true},
      {"*b", "abc", false},
      {"a*b*c", "axbyc", true},
      {"a*b*c", "axby", false},
      {"**", "x", true},
      {"?", "", false},
      {"?b", "ab", true},
      {"[a-c]x", "bx", true},
      {"[a-c]x", "dx", false},
      {"[!a-c]x", "dx", true},
      {"[]]", "]", true},
      {"[a", "[a", true},
      {"[a", "a", false},
      {"*[0-9]", "f12", true},
      {"*[0-9]", "f1x", false},
      {"x*", "", false},
      {"libm.so*", "libm.so.6", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (pattern_matches(cases[i].pattern, strlen(cases[i].pattern), cases[i].text) != cases[i].matches)
      fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
  assert_true(pattern_matches("ab!", 2, "ab")); /* the length counts */
}

static void lists_have_numbers_and_ranges(void **state)
{
  (void)state;
  assert_true(filter_list_has(part("0-3, 8"), 3));
  assert_true(filter_list_has(part("0-3, 8"), 8));
  assert_false(filter_list_has(part("0-3, 8"), 4));
  assert_false(filter_list_has(part("99999999999999999999"), 1));
}

static void lines_of_code_are_read_from_their_end(void **state)
{
  (void)state;
  struct filter_code_line code;
  assert_true(filter_text_code(part("a b.so 0x10 32 exclude construct"), &code));
  assert_int_equal(code.module.length, strlen("a b.so"));
  assert_true(code.start == 16 && code.end == 32 && code.excludes && code.construct);
  assert_false(filter_text_code(part("a 32 0x10 exclude function"), &code));
  assert_false(filter_text_code(part("0x10 0x20 exclude function"), &code));
  assert_false(filter_text_code(part("a 0x10 0x20 both function"), &code));
}

static void kinds_have_the_names_of_reports(void **state)
{
  (void)state;
  for (int kind = FORMAT_DIRECTIVE_PARALLEL; kind < FORMAT_CONSTRUCT_KINDS; kind++)
    assert_int_equal(filter_text_kind(part(profile_directive_name((uint32_t)kind))), kind);
  assert_int_equal(filter_text_kind(part("program")), -1);
}

/* Hostile texts: any cut and any change of a text is refused or used, without reading beyond it. */
static void any_text_is_safe(void **state)
{
  (void)state;
  static const char text[] = "functions a,!b*\nmodules x\nonly 5\nthreads 1-2,7\nconstructs for,a.c:3\n"
                             "code m 0x1 0x5 include function\ncode m 0x3 0x9 include function\n";
  char message[256], note[64];
  for (size_t i = 0; i <= sizeof text - 1; i++)
    for (int change = -1; change < 256; change += 5) {
      char *copy = strndup(text, change < 0 ? i : sizeof text - 1);
      if (change >= 0)
        copy[i] = (char)change;
      if (filter_text_check(copy, message, sizeof message)) {
        assert_true(filter_settings_apply(copy, message, sizeof message));
        filter_thread(1);
        filter_user_region("x");
        filter_settings_note(note, sizeof note, false);
      }
      free(copy);
    }
}

static void what_cannot_be_used_is_refused(void **state)
{
  (void)state;
  static const char *const cases[][2] = {{"thread 1", "is no filter"},
                                         {"threads", "has no value"},
                                         {"threads 1,,2", "an empty item"},
                                         {"threads 5-1", "'5-1' is an empty range"},
                                         {"ranks 1-x", "'1-x' is no number"},
                                         {"ranks !1", "'!1': '!' excludes"},
                                         {"skip-first 1s", "a time above 0"},
                                         {"only 0", "a time above 0"},
                                         {"regions !x", "'!' excludes"},
                                         {"functions a,!", "nothing stands behind '!'"},
                                         {"constructs x.c:0", "unknown construct 'x.c:0'"},
                                         {"constructs nothing", "taskloop, taskgroup"},
                                         {"code main 1", "is damaged"}};
  char message[512];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_false(filter_text_check(cases[i][0], message, sizeof message));
    if (!strstr(message, cases[i][1]))
      fail_msg("'%s': %s", cases[i][0], message);
  }
}

static void settings_become_what_paths_need(void **state)
{
  (void)state;
  char message[256], note[256];
  static const char text[] = "threads 2,4-5\nregions solve, x y\nconstructs task,!critical\nskip-first 1500000\n"
                             "functions !a\ncode m 1 2 exclude function";
  assert_true(filter_settings_apply(text, message, sizeof message));
  const struct filter *filter = filter_now();
  assert_true(filter->paths && filter->constructs && filter->needs == FORMAT_FILTERED_REGION);
  assert_true(filter_thread(2) && filter_thread(5) && !filter_thread(3) && !filter_thread(1));
  assert_true(filter_user_region("x y") && filter_user_region("solve") && !filter_user_region("sol"));
  assert_true(filter_construct(1, FORMAT_DIRECTIVE_CRITICAL, 0, 0, false));
  assert_true(filter_construct(1, FORMAT_DIRECTIVE_FOR, 0, 0, false));
  assert_false(filter_construct(1, FORMAT_DIRECTIVE_TASK, 0, 0, false));
  assert_false(filter_construct(1, FORMAT_CONSTRUCT_TASK_EXEC, 0, 0, false));
  assert_true(filter_construct(0, FORMAT_DIRECTIVE_TASK, 0, 0, false)); /* outside the user region */
  assert_int_equal(filter_settings_window(text).skip_ns, 1500000);
  filter_settings_note(note, sizeof note, false);
  assert_string_equal(note, "Filtered: threads 2,4-5; regions solve, x y; constructs task,!critical; "
                            "skip-first 1500 us; functions !a");
  filter_settings_note(note, sizeof note, true);
  assert_true(strstr(note, "\nNot in the program: solve, x y"));
  assert_true(filter_settings_apply("", message, sizeof message));
  assert_true(!filter->paths && !filter->constructs && !filter->needs && filter_thread(1));
}

/* A file of further lines that can be read only in part is refused: the rest of the filter would be missing. */
static void a_file_is_read_as_a_whole_or_refused(void **state)
{
  (void)state;
  static const char lines[] = "code m 0x1 0x5 exclude function\ncode n 0x1 0x5 exclude function\n";
  char message[512], path[] = "test_filter_text.XXXXXX", text[64];
  int fd = mkstemp(path);
  assert_true(fd >= 0 && write(fd, lines, sizeof lines - 1) == sizeof lines - 1);
  snprintf(text, sizeof text, "functions !a\ncode-file %s", path);
  assert_true(filter_settings_apply(text, message, sizeof message));
  assert_int_equal(filter_now()->known_count, 2);
  short_reads = sizeof lines / 2;
  bool fine = filter_settings_apply(text, message, sizeof message);
  short_reads = INT64_MAX;
  close(fd);
  unlink(path);
  assert_false(fine);
  assert_non_null(strstr(message, "cannot read"));
}

static void too_many_modules_are_refused(void **state)
{
  (void)state;
  enum { LIMIT = UINT16_MAX - 1, LINE = 48 };
  char message[512], *text = calloc(LIMIT + 1, LINE), *at = text;
  for (unsigned i = 0; i < LIMIT; i++)
    at += snprintf(at, LINE, "code m%u 0x1 0x5 exclude function\n", i);
  assert_true(filter_settings_apply(text, message, sizeof message));
  snprintf(at, LINE, "code n 0x1 0x5 exclude function\n");
  assert_false(filter_settings_apply(text, message, sizeof message));
  assert_string_equal(message, "the filter names code in too many modules");
  assert_true(filter_settings_apply("", message, sizeof message));
  free(text);
}

/* Filters of a running process, one after the other; the notes name each with its time. */
static void notes_name_all_filters_and_their_times(void **state)
{
  (void)state;
  char message[256], note[256];
  static struct filter second, none, last, again;
  assert_true(filter_settings_apply("", message, sizeof message));
  second.text = "functions !a";
  filter_publish(&second, 12340000000);
  filter_settings_note(note, sizeof note, false);
  assert_string_equal(note, "Filtered: functions !a (from 12.340 s on)");
  filter_publish(&none, 15000000000);
  last.text = "threads 1\nranks 0\ncode a 1 2 include function";
  filter_publish(&last, 20000000000);
  filter_settings_note(note, sizeof note, false);
  assert_string_equal(note,
                      "Filtered: functions !a (from 12.340 s to 15.000 s); threads 1; ranks 0 (from 20.000 s on)");
  assert_true(filter_settings_apply("only 5", message, sizeof message));
  filter_publish(&again, 1000000000);
  filter_settings_note(note, sizeof note, false);
  assert_string_equal(note, "Filtered: only 5 ns (until 1.000 s)");
  filter_settings_note(note, 20, false);
  assert_string_equal(note, "Filtered: only 5...");
  assert_true(filter_settings_apply("", message, sizeof message));
}

static void reports_name_a_filter_of_several_processes_once(void **state)
{
  (void)state;
  static char *const notes[] = {"Filtered: ranks 0 (from 1.125 s to 1.222 s); functions !a (from 5.0 s on)",
                                "Filtered: ranks 0 (from 1.098 s to 2.1 s); functions !a (from 5.9 s on)",
                                "Filtered: ranks 0 (from 1.125 s to 3.0 s); functions !a (from 5.0 s on)",
                                "Filtered: ranks 0 (from 1.125 s to 1.222 s); functions !b (from 5.0 s on)",
                                "Filtered: ranks 0 (from 1.125 s to 1.222 s); functions !a (from 5.0 s",
                                "x"};
  char text[512], expected[1024];
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
    struct profile_process processes[] = {{.usable = true, .notes = notes[0]}, {.usable = true, .notes = notes[i]}};
    const struct profile profile = {.processes = processes, .processes_count = 2};
    assert_true(profile_filtered(&profile, text, sizeof text));
    snprintf(expected, sizeof expected, i == 2 || i == 3 || i == 4 ? "%s; in other processes: %s" : "%s", notes[0] + 10,
             notes[i] + (i < 5 ? 10 : 0));
    assert_string_equal(text, expected);
  }
  struct profile_process processes[] = {{.usable = true, .notes = notes[0]}, {.usable = true, .notes = notes[3]}};
  const struct profile profile = {.processes = processes, .processes_count = 2};
  assert_true(profile_filtered(&profile, text, 100)); /* what is cut shows it */
  snprintf(expected, sizeof expected, "%s; in other processes: %s", notes[0] + 10, notes[3] + 10);
  assert_int_equal(strlen(text), 99);
  assert_memory_equal(text, expected, 96);
  assert_string_equal(text + 96, "...");
}

static void overlapping_addresses_are_joined(void **state)
{
  (void)state;
  char message[256];
  assert_true(
      filter_settings_apply("functions x\ncode b 0x30 0x40 include function\ncode a 0x10 0x20 include function\n"
                            "code a 0x18 0x28 include function\ncode a 0x28 0x30 include function\n"
                            "code a 0x12 0x13 exclude function\ncode a 0x50 0x60 include function",
                            message, sizeof message));
  const struct filter *filter = filter_now();
  assert_int_equal(filter->known_count, 2);
  assert_int_equal(filter->known[0].lists[FILTER_INCLUDED].count, 2);
  assert_int_equal(filter->known[0].lists[FILTER_EXCLUDED].count, 1);
  const struct filter_code *first = filter->code + filter->known[0].lists[FILTER_INCLUDED].first;
  assert_true(first[0].start == 0x10 && first[0].end == 0x30 && first[1].start == 0x50);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(patterns_match_whole_names),
      cmocka_unit_test(lists_have_numbers_and_ranges),
      cmocka_unit_test(lines_of_code_are_read_from_their_end),
      cmocka_unit_test(kinds_have_the_names_of_reports),
      cmocka_unit_test(any_text_is_safe),
      cmocka_unit_test(what_cannot_be_used_is_refused),
      cmocka_unit_test(settings_become_what_paths_need),
      cmocka_unit_test(a_file_is_read_as_a_whole_or_refused),
      cmocka_unit_test(too_many_modules_are_refused),
      cmocka_unit_test(notes_name_all_filters_and_their_times),
      cmocka_unit_test(reports_name_a_filter_of_several_processes_once),
      cmocka_unit_test(overlapping_addresses_are_joined),
  };
  return UNIT_RUN(argc, argv, "filter_text", tests, NULL, NULL);
}
