#include "hpcrun-lite/output/symbol_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/format.h"
#include "common/hash.h"
#include "common/kept_file.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/pinned.h"

#define EXECUTABLE "/proc/self/exe" /* leads to it also if it was deleted or replaced */

enum { CHANGED = -1 }; /* beside errno: there is another file */

static const uint64_t file_bytes_max = 256u << 20, all_bytes_max = 1u << 30;

static struct {
  struct pinned_file part;
  char path[PINNED_PATH_BYTES], part_path[PINNED_PATH_BYTES];
  uint64_t bytes; /* that were copied */
} state;

static uint64_t hash_of(const struct format_module *module, const char *path)
{
  uint64_t hash = hash_bytes(HASH_START, path, strlen(path));
  hash = hash_bytes(hash, module->build_id, sizeof module->build_id);
  hash = hash_bytes(hash, &module->file_size, sizeof module->file_size);
  return hash_bytes(hash, &module->file_time_ns, sizeof module->file_time_ns);
}

static void name_copy(const struct format_module *module, const char *path)
{
  unsigned long long hash = hash_of(module, path);
  const char *slash = strrchr(path, '/');
  snprintf(state.path, sizeof state.path, "%s/" KEPT_FILE_PREFIX "%016llx-%.*s", config.directory, hash, KEPT_FILE_NAME,
           slash + 1);
  writer_name_file(state.part_path, sizeof state.part_path, KEPT_FILE_PART_SUFFIX);
}

static bool is_copied(void)
{
  struct sys_own opened;
  if (pinned_find(state.path, &opened))
    return false;
  sys_close_own(&opened);
  return true;
}

/* Opens the file of a module if the path leads to it.  Returns 0, errno or CHANGED. */
static int open_at(const struct format_module *module, const char *path, struct sys_own *file)
{
  struct sys_facts facts;
  uint64_t size;
  if (!sys_open_program(file, AT_FDCWD, path, &size))
    return ENOENT;
  if (sys_facts(file, &facts) && facts.size == module->file_size && facts.time_ns == module->file_time_ns)
    return 0;
  sys_close_own(file);
  return CHANGED;
}

/* The executable's path may lead to another file meanwhile, or to none. */
static int open_file(const struct format_module *module, const char *path, struct sys_own *file)
{
  if (module->flags & FORMAT_MODULE_MAIN && !open_at(module, EXECUTABLE, file))
    return 0;
  return open_at(module, path, file);
}

/* Copies an open file.  Returns 0 or errno. */
static int copy(const struct sys_own *file, uint64_t size)
{
  if (size > file_bytes_max || size > all_bytes_max - state.bytes)
    return EFBIG;
  pinned_remove(&state.part); /* one that could not be removed before */
  if (!pinned_name(&state.part, state.part_path))
    return ENAMETOOLONG;
  int error = pinned_copy(&state.part, file, 0, size);
  if (!error)
    error = pinned_rename(&state.part, state.path, NULL);
  if (error)
    pinned_remove(&state.part);
  state.part.inode = 0;
  state.bytes += error ? 0 : size;
  return error == EEXIST && is_copied() ? 0 : error; /* another process was first */
}

static const char *reason_of(int error)
{
  switch (error) {
  case CHANGED:
    return "it was changed or replaced while the program ran";
  case EFBIG:
    return "it has more than 256 MiB, or all copies would have more than 1 GiB";
  case ENOSPC:
    return "there is no room for it (disk, quota or ulimit -f)";
  default:
    return message_error(error);
  }
}

static void keep(const struct format_module *module, bool speaks)
{
  struct sys_own file;
  const char *path = modules_path(module);
  if (module->flags & (FORMAT_MODULE_TOOL | FORMAT_MODULE_VDSO | FORMAT_MODULE_ANON) || path[0] != '/')
    return;
  name_copy(module, path);
  if (is_copied())
    return;
  int error = open_file(module, path, &file);
  if (!error) {
    error = copy(&file, module->file_size);
    sys_close_own(&file);
  }
  if (error && speaks && config.verbosity)
    message_print("--keep-symbols: '%s' is not kept: %s; copy it yourself, for hpcprof-lite --symbols", path,
                  reason_of(error));
}

void symbol_files_keep(bool last)
{
  const struct table *modules = modules_table();
  uint32_t count = __atomic_load_n(&modules->count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 1; i < count; i++)
    keep(table_at(modules, i), last);
}
