/* RT: files of the pinned directory: when another directory or file has taken a place, nothing of it is touched. */
#include "hpcrun-lite/rt/core/pinned.h"

#include "tests/support/unit.h"

#include <errno.h>
#include <sys/stat.h>

static char top[] = "/tmp/test-pinned-XXXXXX", directory[64], moved[64], path[96], other[96], outside[96];
static struct pinned_file file;

static void write_text(const char *name, const char *text)
{
  FILE *stream = fopen(name, "we");
  assert_non_null(stream);
  fputs(text, stream);
  assert_int_equal(fclose(stream), 0);
}

static void assert_text(const char *name, const char *text)
{
  char found[64] = "";
  FILE *stream = fopen(name, "re");
  assert_non_null(stream);
  assert_true(fgets(found, sizeof found, stream) || !*text);
  fclose(stream);
  assert_string_equal(found, text);
}

static int make(void **state)
{
  (void)state;
  snprintf(directory, sizeof directory, "%s/m", top);
  snprintf(moved, sizeof moved, "%s/moved", top);
  snprintf(path, sizeof path, "%s/file", directory);
  snprintf(other, sizeof other, "%s/other", directory);
  snprintf(outside, sizeof outside, "%s/outside", top);
  file = (struct pinned_file){0};
  return mkdir(directory, 0700);
}

static int clean(void **state)
{
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s/m %s/moved %s/outside", top, top, top);
  pinned_name(&file, "/nowhere/at/all"); /* the next case pins its directory anew */
  return system(command);
}

/* Makes the file and writes a text to it. */
static void make_file(void)
{
  struct sys_own own;
  int error;
  assert_true(pinned_name(&file, path));
  assert_int_equal(pinned_create(&file, &own), 0);
  assert_int_equal(sys_write_at(&own, 0, "ours", 4, &error), 4);
  assert_int_equal(sys_close_own(&own), 0);
}

static void test_a_file_is_made_opened_renamed_and_removed(void **state)
{
  struct sys_own own;
  char text[5] = "";
  (void)state;
  make_file();
  assert_int_equal(pinned_create(&file, &own), EEXIST);
  assert_int_equal(pinned_open(&file, &own), 0);
  assert_true(own.fd >= SYS_HIGH_FD);
  assert_true(sys_read_at(&own, 0, text, 4));
  assert_string_equal(text, "ours");
  assert_int_equal(sys_close_own(&own), 0);
  assert_int_equal(pinned_rename(&file, other, NULL), 0);
  assert_text(other, "ours");
  assert_int_equal(pinned_remove(&file), 0);
  assert_int_equal(pinned_open(&file, &own), ENOENT);
  assert_int_equal(access(other, F_OK), -1);
}

/* Nothing works, and nothing in the other directory changes, until the first one is back. */
static void assert_unreachable(void)
{
  struct sys_own own;
  struct pinned_file fresh;
  assert_int_equal(pinned_open(&file, &own), ESTALE);
  assert_int_equal(pinned_find(path, &own), ESTALE);
  assert_int_equal(pinned_rename(&file, other, NULL), ESTALE);
  assert_int_equal(pinned_remove(&file), ESTALE);
  assert_true(pinned_name(&fresh, other));
  assert_int_equal(pinned_create(&fresh, &own), ESTALE);
}

static void test_another_directory_is_not_used(void **state)
{
  struct sys_own own;
  (void)state;
  make_file();
  assert_int_equal(rename(directory, moved), 0);
  assert_int_equal(mkdir(directory, 0700), 0);
  write_text(path, "precious");
  assert_unreachable();
  assert_text(path, "precious");
  assert_int_equal(access(other, F_OK), -1);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(directory), 0);
  assert_int_equal(symlink(moved, directory), 0); /* a link to the very directory */
  assert_unreachable();
  assert_int_equal(unlink(directory), 0);
  write_text(directory, "a file");
  assert_unreachable();
  assert_int_equal(unlink(directory), 0);
  assert_int_equal(rename(moved, directory), 0);
  assert_int_equal(pinned_open(&file, &own), 0);
  assert_int_equal(sys_close_own(&own), 0);
}

enum kind { HARD_LINK, LINK, FIFO, DIRECTORY, KINDS };

static int put_other(enum kind kind)
{
  switch (kind) {
  case HARD_LINK:
    return link(outside, path);
  case LINK:
    return symlink(outside, path);
  case FIFO:
    return mkfifo(path, 0600);
  default:
    return mkdir(path, 0700);
  }
}

static void test_another_file_is_left_alone(void **state)
{
  struct sys_own own;
  (void)state;
  write_text(outside, "precious");
  for (enum kind kind = 0; kind < KINDS; kind++) {
    make_file();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(put_other(kind), 0);
    assert_int_not_equal(pinned_open(&file, &own), 0);
    assert_int_equal(own.fd, -1);
    assert_int_not_equal(pinned_find(path, &own), 0);
    assert_int_equal(pinned_remove(&file), ESTALE);
    assert_int_equal(pinned_rename(&file, other, NULL), ESTALE);
    assert_text(outside, "precious");
    assert_int_equal(kind == DIRECTORY ? rmdir(path) : unlink(path), 0);
  }
}

static void test_a_file_with_a_second_name_is_left_alone(void **state)
{
  struct sys_own own;
  (void)state;
  make_file();
  assert_int_equal(link(path, outside), 0);
  assert_int_equal(pinned_open(&file, &own), ESTALE);
  assert_int_equal(pinned_find(path, &own), ESTALE);
  assert_int_equal(pinned_remove(&file), ESTALE);
  assert_int_equal(unlink(outside), 0);
  assert_int_equal(pinned_find(path, &own), 0);
  pinned_remove_opened(path, &own);
  assert_int_equal(sys_close_own(&own), 0);
  assert_int_equal(access(path, F_OK), -1);
}

static void test_only_the_file_that_is_named_is_replaced(void **state)
{
  struct pinned_file replaced;
  (void)state;
  make_file();
  replaced = file;
  assert_int_equal(pinned_rename(&replaced, other, NULL), 0);
  make_file();
  assert_int_equal(pinned_rename(&file, other, NULL), EEXIST);
  assert_int_equal(pinned_rename(&file, other, &replaced), 0);
  assert_text(other, "ours");
  write_text(path, "precious");
  assert_int_equal(pinned_rename(&file, path, NULL), EEXIST);
  assert_text(path, "precious");
}

static void test_a_file_that_is_open_is_removed_only_under_its_name(void **state)
{
  struct sys_own own;
  (void)state;
  make_file();
  assert_int_equal(pinned_open(&file, &own), 0);
  assert_int_equal(rename(path, outside), 0);
  write_text(path, "precious");
  pinned_remove_opened(path, &own);
  assert_int_equal(sys_close_own(&own), 0);
  assert_text(path, "precious");
}

static int make_top(void **state)
{
  (void)state;
  return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
  (void)state;
  return rmdir(top);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_file_is_made_opened_renamed_and_removed, make, clean),
      cmocka_unit_test_setup_teardown(test_another_directory_is_not_used, make, clean),
      cmocka_unit_test_setup_teardown(test_another_file_is_left_alone, make, clean),
      cmocka_unit_test_setup_teardown(test_a_file_with_a_second_name_is_left_alone, make, clean),
      cmocka_unit_test_setup_teardown(test_only_the_file_that_is_named_is_replaced, make, clean),
      cmocka_unit_test_setup_teardown(test_a_file_that_is_open_is_removed_only_under_its_name, make, clean),
  };
  return UNIT_RUN(argc, argv, "pinned", tests, make_top, remove_top);
}
