/* What is kept of debug data: an entry without room does not cause the file to be written anew. */
#include "common/format.h"
#include "common/symbols/debug_store.h"
#include "tests/support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGE = 10 << 20 }; /* two of them are too much for a file */

static char directory[] = "/tmp/hpcrun-lite-test-XXXXXX";

static int make_directory(void **state)
{
  char path[128];
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/" FORMAT_LAUNCH_MARKER, directory);
  return close(open(path, O_CREAT | O_WRONLY, 0600));
}

static int remove_directory(void **state)
{
  static const char *const names[] = {FORMAT_LAUNCH_MARKER, FORMAT_DEBUG_DATA_NAME};
  char path[128];
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, names[i]);
    unlink(path);
  }
  return rmdir(directory);
}

/* The inode of the file. */
static ino_t written(void)
{
  struct stat status;
  char path[128];
  snprintf(path, sizeof path, "%s/" FORMAT_DEBUG_DATA_NAME, directory);
  assert_int_equal(stat(path, &status), 0);
  return status.st_ino;
}

/* Uses the entry of a key if there is one, and adds it otherwise.  Returns whether there was one. */
static bool use(struct debug_store *store, uint64_t key, size_t size)
{
  uint8_t *bytes;
  size_t found;
  if (debug_store_find(store, &key, sizeof key, &bytes, &found)) {
    assert_int_equal(found, size);
    free(bytes);
    return true;
  }
  bytes = calloc(size, 1);
  assert_non_null(bytes);
  debug_store_add(store, &key, sizeof key, bytes, size);
  free(bytes);
  return false;
}

static void what_does_not_fit_is_not_written_anew(void **state)
{
  (void)state;
  ino_t first = 0;
  for (int report = 0; report < 3; report++) {
    struct debug_store *store = debug_store_open(directory);
    assert_int_equal(use(store, 1, LARGE), report > 0);
    assert_false(use(store, 2, LARGE));
    debug_store_close(store);
    first = first ? first : written();
    assert_int_equal(written(), first);
  }
  struct debug_store *store = debug_store_open(directory);
  assert_false(use(store, 3, 100));
  debug_store_close(store);
  assert_int_not_equal(written(), first);
  store = debug_store_open(directory);
  assert_true(use(store, 1, LARGE) && use(store, 3, 100));
  debug_store_close(store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_does_not_fit_is_not_written_anew),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
