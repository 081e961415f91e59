#include "hpcrun-lite/rt/core/pinned.h"

#include <errno.h>

enum { TRIES = 1000 }; /* where a program takes the numbers of descriptors again and again */

static struct {
  char path[PINNED_PATH_BYTES];
  uint64_t device, inode;
  uint64_t expected; /* inode; 0: any */
  int error;         /* why there is none */
} directory;

static const char *name_of(const char *path)
{
  const char *slash = __builtin_strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_in_directory(const char *path)
{
  size_t length = (size_t)(name_of(path) - path);
  return length && __builtin_strlen(directory.path) == length - 1 &&
         __builtin_memcmp(path, directory.path, length - 1) == 0;
}

static void pin(const char *path)
{
  struct sys_facts facts = {0};
  size_t length = (size_t)(name_of(path) - path);
  directory.error = ENOENT;
  directory.path[0] = '\0';
  if (!length || length > sizeof directory.path)
    return;
  __builtin_memcpy(directory.path, path, length - 1);
  directory.path[length - 1] = '\0';
  directory.error = sys_facts_in(NULL, directory.path, &facts);
  directory.device = facts.device;
  directory.inode = facts.inode;
  if (!directory.error && directory.expected && directory.inode != directory.expected)
    directory.error = ESTALE;
}

void pinned_expect(uint64_t inode)
{
  directory.expected = inode;
}

/* Opens the directory, if it is still the same. */
static int open_directory(const char *path, struct sys_own *opened)
{
  opened->fd = -1;
  if (!is_in_directory(path) || directory.error)
    return directory.error ? directory.error : ESTALE;
  int error = sys_open_directory(opened, directory.path);
  if (error)
    return error == ELOOP || error == ENOTDIR ? ESTALE : error;
  if (opened->device == directory.device && opened->inode == directory.inode)
    return 0;
  sys_close_own(opened);
  return ESTALE;
}

static bool is_made(const struct pinned_file *file, const struct sys_facts *facts)
{
  return facts->device == file->device && facts->inode == file->inode && facts->single && facts->owner == file->owner;
}

/* Removes a file that was made, but could not be opened. */
static void take_back(const char *path)
{
  struct sys_own at;
  int error = EBADF;
  for (int i = 0; i < TRIES && error == EBADF; i++) {
    error = open_directory(path, &at);
    if (!error) {
      error = sys_unlink_in(&at, name_of(path));
      sys_close_own(&at);
    }
  }
}

/* Opens a file of the directory.  The program may take the number of either descriptor meanwhile. */
static int open_in(const char *path, bool create, struct sys_own *opened)
{
  struct sys_own at;
  bool to_make = create;
  int error = EBADF;
  for (int i = 0; i < SYS_TRIES && error == EBADF; i++) {
    error = open_directory(path, &at);
    if (!error) {
      error = sys_open_in(opened, &at, name_of(path), &to_make);
      sys_close_own(&at);
    }
  }
  if (error)
    opened->fd = -1;
  if (error && create && !to_make)
    take_back(path);
  return error;
}

bool pinned_name(struct pinned_file *file, const char *path)
{
  size_t length = __builtin_strlen(path);
  bool fits = length < sizeof file->path;
  file->path[0] = '\0';
  file->inode = 0;
  if (!fits)
    return false;
  __builtin_memcpy(file->path, path, length + 1);
  if (!is_in_directory(path))
    pin(path);
  return true;
}

int pinned_create(struct pinned_file *file, struct sys_own *opened)
{
  struct sys_facts facts;
  int error = open_in(file->path, true, opened);
  if (error)
    return error;
  file->device = opened->device;
  file->inode = opened->inode;
  file->owner = sys_facts(opened, &facts) ? facts.owner : sys_user();
  return 0;
}

/* Opens a file that exists and is the one that was made; made NULL: one of this user. */
static int open_existing(const char *path, const struct pinned_file *made, struct sys_own *opened)
{
  struct sys_facts facts;
  int error = EBADF;
  for (int i = 0; i < SYS_TRIES && error == EBADF; i++) {
    error = open_in(path, false, opened);
    if (!error && !sys_facts(opened, &facts))
      error = EBADF;
  }
  if (error)
    return error;
  if (made ? is_made(made, &facts) : facts.single && facts.owner == sys_user())
    return 0;
  sys_close_own(opened);
  opened->fd = -1;
  return ESTALE;
}

int pinned_open(const struct pinned_file *file, struct sys_own *opened)
{
  return file->inode ? open_existing(file->path, file, opened) : ENOENT;
}

int pinned_find(const char *path, struct sys_own *opened)
{
  return open_existing(path, NULL, opened);
}

/* Removes the file if it is that one.  EBADF: the program has taken the directory's number. */
static int remove_once(const struct pinned_file *file)
{
  struct sys_own at;
  struct sys_facts facts;
  int error = open_directory(file->path, &at);
  if (error)
    return error;
  error = sys_facts_in(&at, name_of(file->path), &facts);
  if (!error)
    error = is_made(file, &facts) ? sys_unlink_in(&at, name_of(file->path)) : ESTALE;
  sys_close_own(&at);
  return error;
}

int pinned_remove(struct pinned_file *file)
{
  int error = file->inode ? EBADF : ENOENT;
  for (int i = 0; i < TRIES && error == EBADF; i++)
    error = remove_once(file);
  if (!error || error == ENOENT)
    file->inode = 0;
  return error;
}

void pinned_remove_opened(const char *path, const struct sys_own *opened)
{
  struct sys_own at;
  struct sys_facts facts;
  if (open_directory(path, &at))
    return;
  if (!sys_facts_in(&at, name_of(path), &facts) && facts.device == opened->device && facts.inode == opened->inode)
    sys_unlink_in(&at, name_of(path));
  sys_close_own(&at);
}

/* Whether the name is free, or that of the file that is to be replaced. */
static int check_free(const struct sys_own *at, const char *name, const struct pinned_file *replaced)
{
  struct sys_facts facts;
  int error = sys_facts_in(at, name, &facts);
  if (error)
    return error == ENOENT ? 0 : error;
  return replaced && replaced->inode && is_made(replaced, &facts) ? 0 : EEXIST;
}

static int rename_once(const struct pinned_file *file, const char *path, const struct pinned_file *replaced)
{
  struct sys_own at;
  struct sys_facts facts;
  int error = open_directory(file->path, &at);
  if (error)
    return error;
  error = sys_facts_in(&at, name_of(file->path), &facts);
  if (!error && !is_made(file, &facts))
    error = ESTALE;
  if (!error)
    error = check_free(&at, name_of(path), replaced);
  if (!error)
    error = sys_rename_in(&at, name_of(file->path), name_of(path));
  sys_close_own(&at);
  return error;
}

int pinned_rename(struct pinned_file *file, const char *path, const struct pinned_file *replaced)
{
  size_t length = __builtin_strlen(path);
  int error = file->inode && length < sizeof file->path && is_in_directory(path) ? EBADF : ENOENT;
  for (int i = 0; i < TRIES && error == EBADF; i++)
    error = rename_once(file, path, replaced);
  if (!error)
    __builtin_memcpy(file->path, path, length + 1);
  return error;
}
