/* Every loss is reported: in the summary and its table with a remedy, in the line at exit, in doc/reliability.md, and
 * in the threads view if it concerns samples of a thread. */
#include "hpcrun-lite/process/losses.h"
#include "tests/support/compose_measurement.h"
#include "tests/support/unit.h"

#include <errno.h>
#include <sys/stat.h>

enum { OF_PROCESS = 3, OF_THREAD = 4 };

static char directory[] = "/tmp/test-losses-XXXXXX";
static struct compose compose;
static char printed[1 << 16];

/* Writes a measurement with a loss that the process has counted three times and its thread four times; none:
 * FORMAT_LOST_MAX. */
static void measure(unsigned loss)
{
  char path[64];
  compose_begin(&compose, COMPOSE_PACKED, 7, "./app");
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, 1000);
  compose_module(&compose, "/nowhere/app", FORMAT_MODULE_MAIN);
  compose_frame(&compose, 0, 0x10, 100, 1000);
  if (loss < FORMAT_LOST_MAX) {
    compose.process.lost[loss] = OF_PROCESS;
    compose.thread.lost[loss] = OF_THREAD;
  }
  compose_thread(&compose, 2); /* the first one has a truncated unwind */
  compose_end(&compose);
  snprintf(path, sizeof path, "%s/a.hpcrun", directory);
  assert_true(compose_write(&compose, path));
}

/* The output of hpcprof-lite, its lines joined with single spaces. */
static const char *print(const char *options)
{
  char command[4096];
  size_t size = 0;
  const char *report = getenv("HPCRUN_LITE_TEST_REPORT");
  snprintf(command, sizeof command, "%s -q %s %s", report ? report : "hpcprof-lite", options, directory);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  for (int c; (c = getc(pipe)) != EOF && size < sizeof printed - 1;) {
    c = c == '\n' ? ' ' : c;
    if (c != ' ' || !size || printed[size - 1] != ' ')
      printed[size++] = (char)c;
  }
  printed[size] = 0;
  assert_int_equal(pclose(pipe), 0);
  return printed;
}

static void expect(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void expect(const char *where, const char *format, ...)
{
  char part[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(part, sizeof part, format, arguments);
  va_end(arguments);
  if (!strstr(where, part))
    fail_msg("'%s' is not in: %s", part, where);
}

static void each_has_a_name_and_a_remedy(void **state)
{
  (void)state;
  for (unsigned i = 0; i <= FORMAT_LOST_RELEASES; i++) {
    assert_non_null(format_loss_name(i));
    assert_non_null(format_loss_remedy(i));
  }
  assert_null(format_loss_name(FORMAT_LOST_RELEASES + 1));
  assert_null(format_loss_remedy(FORMAT_LOST_RELEASES + 1));
}

static void the_summary_reports_each(void **state)
{
  (void)state;
  for (unsigned i = 0; format_loss_name(i); i++) {
    measure(i);
    print("--view summary");
    expect(printed, "Measurement quality %d %s", OF_PROCESS + OF_THREAD, format_loss_name(i));
    expect(printed, ": %s ", format_loss_remedy(i));
    print("--view summary -f csv");
    expect(printed, "%s,%d,,", format_loss_name(i), OF_PROCESS + OF_THREAD);
    expect(printed, "%s", format_loss_remedy(i));
  }
  measure(FORMAT_LOST_MAX);
  print("--view summary");
  for (unsigned i = 0; format_loss_name(i); i++)
    assert_null(strstr(printed, format_loss_remedy(i)));
}

static void a_loss_of_a_later_version_is_reported_too(void **state)
{
  (void)state;
  measure(FORMAT_LOST_MAX - 1);
  expect(print("--view summary"), "%d losses of an unknown kind", OF_PROCESS + OF_THREAD);
}

/* Samples that the thread lacks are dropped, those without the start of the thread are partial. */
static void the_threads_view_reports_lost_samples(void **state)
{
  (void)state;
  for (unsigned i = 0; format_loss_name(i); i++) {
    bool dropped = i == FORMAT_LOST_MEMORY || i == FORMAT_LOST_IN_TOOL, partial = i == FORMAT_LOST_PARTIAL;
    char row[64];
    measure(i);
    print("--view threads");
    snprintf(row, sizeof row, " 2 102 2 0 %d %d ", dropped ? OF_THREAD : 0, partial ? OF_THREAD : 0);
    expect(printed, "%s", row);
  }
}

static const struct losses_write written;

static void the_line_at_exit_reports_each(void **state)
{
  char text[LOSSES_TEXT_MAX];
  (void)state;
  for (unsigned i = 0; format_loss_name(i); i++) {
    uint64_t lost[FORMAT_LOST_MAX] = {0};
    bool of_files = i == FORMAT_LOST_WRITES || i == FORMAT_LOST_LOG || i == FORMAT_LOST_UNKEPT;
    lost[i] = 12;
    losses_text(lost, &written, text);
    expect(text, "12 %s", format_loss_name(i));
    expect(text, "%s",
           of_files ? format_loss_remedy(i) : "remedies: see 'Measurement quality' in hpcprof-lite's summary");
  }
}

/* A file that cannot be written is no loss where the live file stays; the remedy fits the error. */
static void the_line_at_exit_reports_what_is_kept(void **state)
{
  static const struct {
    int error;
    const char *remedy;
  } errors[] = {{ENOSPC, "make room"},     {EDQUOT, "make room"},        {EFBIG, "ulimit -f"},
                {EMFILE, "ulimit -n"},     {EACCES, "its user"},         {EPERM, "its user"},
                {EROFS, "can be written"}, {ENOENT, "moved or removed"}, {ESTALE, "moved or removed"},
                {EIO, "another directory"}};
  uint64_t lost[FORMAT_LOST_MAX] = {0};
  char text[LOSSES_TEXT_MAX];
  (void)state;
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) {
    struct losses_write write = {errors[i].error, LOSSES_KEPT};
    lost[FORMAT_LOST_WRITES] = 0;
    losses_text(lost, &write, text);
    expect(text, "file not written, its data kept in the live file (");
    expect(text, "%s", errors[i].remedy);
    assert_null(strstr(text, "nothing lost"));
    write.kept = LOSSES_GONE;
    lost[FORMAT_LOST_WRITES] = 5;
    losses_text(lost, &write, text);
    expect(text, "5 bytes not written (");
    expect(text, "%s", errors[i].remedy);
    assert_null(strstr(text, "kept"));
  }
}

static void the_line_has_room_for_all(void **state)
{
  char text[LOSSES_TEXT_MAX];
  uint64_t lost[FORMAT_LOST_MAX] = {0};
  (void)state;
  losses_text(lost, &written, text);
  assert_string_equal(text, "nothing lost");
  memset(lost, 0xff, sizeof lost);
  losses_text(lost, &(struct losses_write){ENOENT, LOSSES_UNSEEN}, text);
  for (unsigned i = 0; format_loss_name(i); i++)
    expect(text, "%s", format_loss_name(i));
  expect(text, "summary");
}

static void each_is_documented(void **state)
{
  char path[4096];
  (void)state;
  snprintf(path, sizeof path, "%s/doc/reliability.md", unit_source());
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  printed[fread(printed, 1, sizeof printed - 1, file)] = 0;
  assert_true(feof(file));
  fclose(file);
  for (unsigned i = 0; format_loss_name(i); i++)
    expect(printed, "\n| %s | ", format_loss_name(i));
}

static int make_directory(void **state)
{
  (void)state;
  return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
  char path[64];
  (void)state;
  snprintf(path, sizeof path, "%s/a.hpcrun", directory);
  unlink(path);
  return rmdir(directory);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_has_a_name_and_a_remedy),
      cmocka_unit_test(the_summary_reports_each),
      cmocka_unit_test(a_loss_of_a_later_version_is_reported_too),
      cmocka_unit_test(the_threads_view_reports_lost_samples),
      cmocka_unit_test(the_line_at_exit_reports_each),
      cmocka_unit_test(the_line_at_exit_reports_what_is_kept),
      cmocka_unit_test(the_line_has_room_for_all),
      cmocka_unit_test(each_is_documented),
  };
  return UNIT_RUN(argc, argv, "losses", tests, make_directory, remove_directory);
}
