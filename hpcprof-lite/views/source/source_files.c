#include "hpcprof-lite/views/source/source_files.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 4096, TAB = 8 };

/* Copies a path without its components "." and "..".  Returns false if it is too long. */
static bool normalise(const char *path, char out[PATH_SIZE])
{
  size_t length = 0;
  while (*path) {
    size_t part = strcspn(path, "/");
    bool up = part == 2 && path[0] == '.' && path[1] == '.';
    if (up) {
      while (length && out[--length] != '/')
        ;
    } else if (part && !(part == 1 && *path == '.')) {
      if (length + part + 2 > PATH_SIZE)
        return false;
      out[length++] = '/';
      memcpy(out + length, path, part);
      length += part;
    }
    path += part + (path[part] == '/');
  }
  out[length] = 0;
  return true;
}

/* The number of components at the end that two normalised paths have in common. */
static uint32_t common_tail(const char *a, const char *b)
{
  size_t i = strlen(a), j = strlen(b);
  uint32_t parts = 0;
  while (i && j && a[i - 1] == b[j - 1]) {
    parts += a[i - 1] == '/';
    i--;
    j--;
  }
  return parts;
}

static bool is_file(const char *path, struct stat *stats)
{
  return !stat(path, stats) && S_ISREG(stats->st_mode);
}

/* Finds the file below the directories whose path has the longest tail in common with `path`.  Returns the number of
 * components of the tail; 0: there is none. */
static uint32_t find_below(const struct source_files *files, const char *path, char best[PATH_SIZE], struct stat *stats)
{
  char wanted[PATH_SIZE], here[PATH_SIZE], plain[PATH_SIZE];
  uint32_t most = 0;
  if (!normalise(path, wanted))
    return 0;
  for (uint32_t i = 0; i < files->directories_count; i++)
    for (const char *tail = wanted; tail; tail = strchr(tail + 1, '/')) {
      struct stat found;
      int length = snprintf(here, sizeof here, "%s%s", files->directories[i], tail);
      if (length < 0 || (size_t)length >= sizeof here || !is_file(here, &found) || !normalise(here, plain))
        continue;
      uint32_t parts = common_tail(plain, wanted);
      if (parts > most) {
        most = parts;
        *stats = found;
        memcpy(best, here, (size_t)length + 1);
      }
    }
  return most;
}

int source_files_add_directory(struct source_files *files, const char *path)
{
  struct stat stats;
  if (stat(path, &stats) || !S_ISDIR(stats.st_mode))
    return ERR_INPUT;
  char *real = realpath(path, NULL);
  if (!real && errno == ENOMEM)
    xalloc_die();
  if (!real)
    return ERR_INPUT;
  *XAPPEND(files->directories, files->directories_count, files->directories_room) = real;
  return 0;
}

static void index_lines(struct source_file *file, size_t size)
{
  uint32_t lines = 0;
  for (size_t i = 0; i < size; i++)
    lines += file->bytes[i] == '\n' || i + 1 == size;
  file->starts = xmalloc(((size_t)lines + 1) * sizeof *file->starts);
  file->starts[0] = 0;
  for (size_t i = 0; i < size; i++)
    if (file->bytes[i] == '\n' || i + 1 == size)
      file->starts[++file->lines] = (uint32_t)i + 1;
}

/* Reads the file that was found. */
static void read_found(struct source_files *files, struct source_file *file, const struct stat *stats)
{
  if (stats->st_size > SOURCE_FILE_MOST)
    file->reason = "it is larger than 64 MiB";
  else if (!stats->st_size)
    file->reason = "it is empty";
  else if (files->bytes + (size_t)stats->st_size > SOURCE_FILES_MOST)
    file->reason = "the files before it have 128 MiB; select fewer with --root";
  if (file->reason)
    return;
  struct problems problems = {0};
  struct load load = {0};
  int status = load_file(&load, file->found, &problems);
  if (problems.count)
    file->reason = "it cannot be read";
  problems_release(&problems);
  file->bytes = load.bytes;
  if (!status && !load.size && !file->reason)
    file->reason = "it is empty";
  if (status || load.size > SOURCE_FILE_MOST)
    return;
  files->bytes += load.room;
  index_lines(file, load.size);
}

static uint64_t path_key(const char *path)
{
  return hash_map_key_bytes(1, path, strlen(path));
}

const struct source_file *source_files_known(const struct source_files *files, const char *path)
{
  uint32_t found = HASH_MAP_FIND(&files->map, path_key(path), i, !strcmp(files->files[i - 1].path, path));
  return found ? &files->files[found - 1] : NULL;
}

/* Finds the file that a path means, and reads it. */
static void find_file(struct source_files *files, struct source_file *file)
{
  char below[PATH_SIZE];
  struct stat stats = {0};
  const char *found = *file->path == '/' && is_file(file->path, &stats) ? file->path : NULL;
  if (!found && *file->path) { /* a relative path is that of another directory than the current one */
    uint32_t same = find_below(files, file->path, below, &stats);
    found = same ? below : NULL;
    file->moved = same > 0;
    file->namesake = same == 1;
  }
  if (!found)
    return;
  file->found = xstrdup(found);
  uint64_t changed_ns = (uint64_t)stats.st_mtim.tv_sec * 1000000000 + (uint64_t)stats.st_mtim.tv_nsec;
  file->newer = files->since_ns && changed_ns > files->since_ns;
  read_found(files, file, &stats);
}

void source_files_find(struct source_files *files, const char *path, uint32_t line, uint32_t *number)
{
  const struct source_file *known = source_files_known(files, path);
  if (known) {
    *number = (uint32_t)(known - files->files);
  } else {
    *number = files->count;
    *XAPPEND(files->files, files->count, files->room) = (struct source_file){.path = path};
    hash_map_add(&files->map, path_key(path), files->count);
    find_file(files, &files->files[*number]);
  }
  struct source_file *file = &files->files[*number];
  file->last = MAX(line, file->last);
}

enum source_fault source_file_fault(const struct source_file *file)
{
  if (!file->found)
    return *file->path ? SOURCE_MISSING : SOURCE_SOUND;
  if (file->reason)
    return SOURCE_UNREADABLE;
  if (file->last > file->lines)
    return SOURCE_SHORT;
  if (file->newer)
    return SOURCE_NEWER;
  return file->namesake ? SOURCE_NAMESAKE : SOURCE_SOUND;
}

bool source_files_line(const struct source_file *file, uint32_t line, char out[SOURCE_TEXT_MAX])
{
  enum { DOTS = 3 };
  out[0] = 0;
  if (!line || line > file->lines)
    return false;
  const uint8_t *at = file->bytes + file->starts[line - 1], *end = file->bytes + file->starts[line];
  size_t length = 0, column = 0;
  while (end > at && (end[-1] == '\n' || end[-1] == '\r'))
    end--;
  for (; at < end && length + TAB + DOTS < SOURCE_TEXT_MAX; at++) {
    size_t spaces = *at == '\t' ? TAB - column % TAB : 0;
    memset(out + length, ' ', spaces);
    length += spaces;
    if (!spaces)
      out[length++] = *at ? (char)*at : '?';
    column += spaces ? spaces : (*at & 0xc0) != 0x80;
  }
  if (at < end) {
    while (length && ((uint8_t)out[length - 1] & 0xc0) == 0x80) /* no half of a character */
      length--;
    length -= length && (uint8_t)out[length - 1] >= 0xc0;
    memcpy(out + length, "...", DOTS);
    length += DOTS;
  }
  out[length] = 0;
  return true;
}

void source_files_release(struct source_files *files)
{
  for (uint32_t i = 0; i < files->count; i++) {
    free(files->files[i].found);
    free(files->files[i].bytes);
    free(files->files[i].starts);
  }
  for (uint32_t i = 0; i < files->directories_count; i++)
    free(files->directories[i]);
  hash_map_release(&files->map);
  free(files->directories);
  free(files->files);
  *files = (struct source_files){0};
}
