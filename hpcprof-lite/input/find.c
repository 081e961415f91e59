#include "hpcprof-lite/input/find.h"

#include "common/array.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/read.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct path_list {
  char **paths;
  uint32_t count;
  size_t room;
};

static void list_add(struct path_list *list, const char *directory, const char *name)
{
  assert(directory && name);
  size_t length = strlen(directory);
  const char *slash = length && directory[length - 1] == '/' ? "" : "/";
  *XAPPEND(list->paths, list->count, list->room) = xasprintf("%s%s%s", directory, slash, name);
}

static bool is_measurement(const char *name)
{
  size_t stem = read_stem(name);
  return stem && name[stem];
}

/* Keeps one file of each process: the one written at its end, else the live one, else that of its ended threads.  Their
 * suffixes sort in this order. */
static void keep_one_per_process(struct path_list *list)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    size_t stem = read_stem(list->paths[i]);
    bool same_process =
        kept && read_stem(list->paths[kept - 1]) == stem && !strncmp(list->paths[kept - 1], list->paths[i], stem);
    if (same_process)
      free(list->paths[i]);
    else
      list->paths[kept++] = list->paths[i];
  }
  list->count = kept;
}

static bool is_of_series(const char *name)
{
  return !strncmp(name, "threads-", strlen("threads-"));
}

static void list_directory(const char *directory, struct path_list *list, struct problems *problems)
{
  DIR *open_directory = opendir(directory);
  if (!open_directory) {
    problems_add(problems, "cannot read directory '%s': %s", directory, strerror(errno));
    return;
  }
  uint32_t before = list->count;
  errno = 0;
  bool series = false, launched = false; /* of hpcrun-lite --scaling; by hpcrun-lite */
  for (struct dirent *entry; (entry = readdir(open_directory)); errno = 0) {
    series |= is_of_series(entry->d_name);
    launched |= !strcmp(entry->d_name, FORMAT_LAUNCH_MARKER);
    if (is_measurement(entry->d_name))
      list_add(list, directory, entry->d_name);
  }
  if (errno)
    problems_add(problems, "cannot read all of directory '%s': %s", directory, strerror(errno));
  if (list->count == before && series)
    problems_add(problems,
                 "'%s' holds the runs of hpcrun-lite --scaling: use hpcprof-lite --scaling, or give one of them",
                 directory);
  else if (list->count == before && launched)
    problems_add(problems,
                 "no measurements in '%s': the program ended before measuring began, or cannot be measured; "
                 "hpcrun-lite --diagnose COMMAND shows why",
                 directory);
  else if (list->count == before)
    problems_add(problems, "no measurements in '%s': it holds no file *%s; measure with: hpcrun-lite COMMAND",
                 directory, FORMAT_SUFFIX);
  closedir(open_directory);
}

/* Whether a directory has an entry with such a name. */
static bool has_entry(const char *directory, bool (*is_such)(const char *name))
{
  DIR *open_directory = opendir(directory);
  bool found = false;
  for (struct dirent *entry; open_directory && !found && (entry = readdir(open_directory));)
    found = is_such(entry->d_name);
  if (open_directory)
    closedir(open_directory);
  return found;
}

bool find_any(const char *directory)
{
  return has_entry(directory, is_measurement);
}

bool find_series(const char *directory)
{
  return has_entry(directory, is_of_series);
}

/* Whether two names, whose stat() succeeded or is zero, are of one directory. */
static bool same_directory(const struct stat *one, const struct stat *other)
{
  return one->st_nlink && one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

void find_measurements(char *const *directories, size_t directories_count, struct problems *problems, char ***paths,
                       uint32_t *count)
{
  assert(directories || !directories_count);
  struct path_list list = {0};
  struct stat *stats = xcalloc(directories_count, sizeof *stats);
  for (size_t i = 0; i < directories_count; i++) {
    bool repeated = false;
    if (stat(directories[i], &stats[i]))
      stats[i] = (struct stat){0};
    for (size_t j = 0; j < i; j++)
      repeated = repeated || same_directory(&stats[i], &stats[j]) || !strcmp(directories[i], directories[j]);
    if (!repeated)
      list_directory(directories[i], &list, problems);
  }
  free(stats);
  if (list.count)
    qsort(list.paths, list.count, sizeof *list.paths, array_by_text);
  keep_one_per_process(&list);
  *paths = list.paths;
  *count = list.count;
}
