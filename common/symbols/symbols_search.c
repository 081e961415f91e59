#include "common/symbols/symbols_search.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/kept_file.h"
#include "common/symbols/symbols_identity.h"

/* Whether the file of that path has code and is the one that was measured. */
static bool is_measured(const struct symbols_request *request, const char *path)
{
  char reason[PATH_MAX + 128];
  struct symbols_elf *file = symbols_elf_open(path, reason, sizeof reason);
  bool measured =
      file && symbols_elf_has_code(file) && symbols_identity_check(file, path, request, reason, sizeof reason);
  symbols_elf_close(file);
  return measured;
}

static bool fits(int length, size_t size)
{
  return length > 0 && (size_t)length < size;
}

static const char *base_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Writes the path that a file has in a directory: by the whole path, by its last component, by its build id. */
static bool path_in(const char *directory, const struct symbols_request *request, struct symbols_bytes id,
                    unsigned number, const char *suffix, char *path, size_t size)
{
  char text[SYMBOLS_ID_TEXT];
  switch (number) {
  case 0:
    return fits(snprintf(path, size, "%s/%s%s", directory, request->path, suffix), size);
  case 1:
    return fits(snprintf(path, size, "%s/%s%s", directory, base_of(request->path), suffix), size);
  default:
    symbols_identity_text(id, text);
    return id.size >= 2 &&
           fits(snprintf(path, size, "%s/.build-id/%.2s/%s%s", directory, text, text + 2, suffix), size);
  }
}

enum { PATHS = 3 }; /* of path_in() */

static bool find_in_directories(const struct symbols_request *request, char *path, size_t size)
{
  const struct symbols_search *search = request->search;
  struct symbols_bytes id = {request->build_id, request->build_id ? request->build_id_size : 0};
  for (size_t i = 0; i < search->directories_count; i++)
    for (unsigned number = 0; number < PATHS; number++)
      if (path_in(search->directories[i], request, id, number, "", path, size) && is_measured(request, path))
        return true;
  return false;
}

/* Looks among the files that --keep-symbols has put into one directory. */
static bool find_kept(const char *directory, const struct symbols_request *request, char *path, size_t size)
{
  assert(request->path);
  DIR *entries = opendir(directory);
  bool found = false;
  for (struct dirent *entry; entries && !found && (entry = readdir(entries));)
    found = kept_file_is_of(entry->d_name, base_of(request->path)) &&
            fits(snprintf(path, size, "%s/%s", directory, entry->d_name), size) && is_measured(request, path);
  if (entries)
    closedir(entries);
  return found;
}

bool symbols_search_program(const struct symbols_request *request, char *path, size_t size)
{
  assert(request->search && size);
  if (find_in_directories(request, path, size))
    return true;
  if (fits(snprintf(path, size, "%s", request->path), size) && is_measured(request, path))
    return true;
  for (size_t i = 0; i < request->search->measurements_count; i++)
    if (find_kept(request->search->measurements[i], request, path, size))
      return true;
  return false;
}

bool symbols_search_debug(const struct symbols_request *request, struct symbols_bytes id, unsigned number, char *path,
                          size_t size)
{
  static const char *const suffixes[] = {".debug", ""};
  enum { EACH = PATHS * sizeof suffixes / sizeof *suffixes };
  const struct symbols_search *search = request->search;
  if (!search || number / EACH >= search->directories_count)
    return false;
  if (!path_in(search->directories[number / EACH], request, id, number % PATHS, suffixes[number % EACH / PATHS], path,
               size))
    *path = '\0';
  return true;
}
