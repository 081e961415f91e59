#include "hpcrun-lite/rt/core/pinned.h"

#include <errno.h>

enum { TRIES = 100 }; /* where a program takes the numbers of descriptors again and again; also in handlers */

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
  if (directory.error)
    return directory.error;
  if (!is_in_directory(path))
    return ESTALE;
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

/* Opens a file of the directory.  EBADF: the program has taken the number of either descriptor meanwhile. */
static int open_once(const char *path, bool *create, struct sys_own *opened)
{
  struct sys_own at;
  opened->fd = -1;
  int error = open_directory(path, &at);
  if (error)
    return error;
  error = sys_open_in(opened, &at, name_of(path), create);
  sys_close_own(&at);
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

static int refuse(struct sys_own *opened)
{
  sys_close_own(opened);
  opened->fd = -1;
  return ESTALE;
}

/* Finds out which file was made, where the program has taken the directory's number just then.  It is empty, and this
 * user's. */
static int identify_made(const char *path, struct sys_own *made)
{
  struct sys_own at;
  struct sys_facts facts;
  int error = open_directory(path, &at);
  if (error)
    return error;
  error = sys_facts_in(&at, name_of(path), &facts);
  sys_close_own(&at);
  if (error)
    return error;
  if (!facts.single || facts.size || facts.owner != sys_user())
    return ESTALE;
  made->device = facts.device;
  made->inode = facts.inode;
  return 0;
}

/* Makes the file in the first round that can, and opens that very file in a later one. */
static int make(const char *path, struct sys_own *made, struct sys_own *opened)
{
  bool to_make = true;
  int error = EBADF;
  for (int i = 0; i < TRIES && error == EBADF; i++) {
    bool making = to_make;
    if (!making && !made->inode && (error = identify_made(path, made)))
      continue;
    error = open_once(path, &to_make, opened);
    if (making && !to_make)
      *made = *opened;
    if (!error && (opened->device != made->device || opened->inode != made->inode))
      error = refuse(opened);
  }
  if (error)
    opened->fd = -1;
  return error;
}

int pinned_create(struct pinned_file *file, struct sys_own *opened)
{
  struct sys_facts facts;
  struct sys_own made = {.fd = -1};
  int error = make(file->path, &made, opened);
  if (error && made.inode)
    pinned_remove_opened(file->path, &made);
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
  for (int i = 0; i < TRIES && error == EBADF; i++) {
    error = open_once(path, NULL, opened);
    if (!error && !sys_facts(opened, &facts))
      error = EBADF;
  }
  if (error) {
    opened->fd = -1;
    return error;
  }
  bool right = made ? is_made(made, &facts) : facts.single && facts.owner == sys_user();
  return right ? 0 : refuse(opened);
}

int pinned_open(const struct pinned_file *file, struct sys_own *opened)
{
  return file->inode ? open_existing(file->path, file, opened) : ENOENT;
}

int pinned_find(const char *path, struct sys_own *opened)
{
  return open_existing(path, NULL, opened);
}

/* Removes the file of that path if it is the one that was made, or the one that is open (made NULL).  EBADF: the
 * program has taken the directory's number. */
static int remove_once(const char *path, const struct pinned_file *made, const struct sys_own *opened)
{
  struct sys_own at;
  struct sys_facts facts;
  int error = open_directory(path, &at);
  if (error)
    return error;
  error = sys_facts_in(&at, name_of(path), &facts);
  if (!error) {
    bool right = made ? is_made(made, &facts) : facts.device == opened->device && facts.inode == opened->inode;
    error = right ? sys_unlink_in(&at, name_of(path)) : ESTALE;
  }
  sys_close_own(&at);
  return error;
}

int pinned_remove(struct pinned_file *file)
{
  int error = file->inode ? EBADF : ENOENT;
  for (int i = 0; i < TRIES && error == EBADF; i++)
    error = remove_once(file->path, file, NULL);
  if (!error || error == ENOENT)
    file->inode = 0;
  return error;
}

void pinned_remove_opened(const char *path, const struct sys_own *opened)
{
  int error = EBADF;
  for (int i = 0; i < TRIES && error == EBADF; i++)
    error = remove_once(path, NULL, opened);
}

int pinned_copy(struct pinned_file *file, const struct sys_own *from, uint64_t offset, uint64_t size_bytes)
{
  struct sys_own made;
  int error = offset ? pinned_open(file, &made) : pinned_create(file, &made);
  if (error)
    return error;
  if (!sys_reserve(&made, offset, size_bytes))
    error = ENOSPC;
  if (!error)
    error = sys_copy(&made, from, offset, size_bytes);
  int closed = sys_close_own(&made);
  if (!error)
    error = closed;
  if (error)
    pinned_remove(file);
  return error;
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
