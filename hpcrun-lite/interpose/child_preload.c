#define _GNU_SOURCE
#include "hpcrun-lite/interpose/child_preload.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/interpose/foreign_loader.h"
#include "hpcrun-lite/interpose/sandbox.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/rt/core/sys.h"

#define SEPARATORS ": " /* of the items of LD_PRELOAD */

static const char variable[] = "LD_PRELOAD=";
#define NO_PAGE UINT64_MAX
enum { NAME = sizeof variable - 1, PAGE_BYTES = 4096 };

/* ---- the variable ---- */

static bool equals(const char *item, size_t length, const char *path)
{
  return length && strlen(path) == length && !memcmp(item, path, length);
}

static bool is_own(const char *item, size_t length)
{
  return equals(item, length, preloaded.library) || equals(item, length, preloaded.mpi) ||
         equals(item, length, preloaded.runtime);
}

/* Copies the items that are not the tool's, with the separators before them, and a NUL, if all of that fits into `room`
 * bytes.  Returns the length without the NUL; *own: whether items were left out. */
static size_t copy_foreign(char *out, size_t room, const char *value, bool *own)
{
  size_t used = 0;
  *own = false;
  while (*value) {
    size_t gap = strspn(value, SEPARATORS), length = strcspn(value + gap, SEPARATORS);
    bool kept = length && !is_own(value + gap, length);
    size_t from = used ? 0 : gap, bytes = gap + length - from;
    *own |= length && !kept;
    if (kept && used + bytes < room)
      memcpy(out + used, value + from, bytes);
    used += kept ? bytes : 0;
    value += gap + length;
  }
  if (used < room)
    out[used] = '\0';
  return used;
}

/* ---- the environment ---- */

/* The program's pointers may be invalid: then nothing is changed, and the kernel reports them.  page: the last one that
 * was found readable. */
static bool is_readable(uint64_t address, uint64_t *page)
{
  if (address / PAGE_BYTES == *page)
    return true;
  if (!sys_readable(address))
    return false;
  *page = address / PAGE_BYTES;
  return true;
}

/* Is the text readable up to its NUL? */
static bool is_readable_text(const char *text, uint64_t *page)
{
  while (is_readable((uint64_t)text, page)) {
    size_t rest = PAGE_BYTES - (uint64_t)text % PAGE_BYTES;
    if (memchr(text, 0, rest))
      return true;
    text += rest;
  }
  return false;
}

/* How a variable is to change: not at all, or without the tool's items; kept: the bytes of the others. */
static bool has_own(const char *text, uint64_t *page, size_t *kept)
{
  bool own = false;
  if (is_readable((uint64_t)text, page) && is_readable((uint64_t)text + NAME, page) && !strncmp(text, variable, NAME) &&
      is_readable_text(text + NAME, page))
    *kept = copy_foreign(NULL, 0, text + NAME, &own);
  return own;
}

/* Another thread may change the array meanwhile. */
static const char *variable_at(char *const *at)
{
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* Returns how many bytes the changed environment takes; 0 if nothing in it is to change, or if it cannot be read. */
static size_t work_out(char *const envp[])
{
  uint64_t array_page = NO_PAGE, text_page = NO_PAGE;
  size_t bytes = 0;
  for (bool changes = false;; envp++) {
    size_t kept = 0;
    if (!is_readable((uint64_t)envp, &array_page))
      return 0;
    const char *text = variable_at(envp);
    bytes += sizeof *envp;
    if (!text)
      return changes ? bytes : 0;
    bool own = has_own(text, &text_page, &kept);
    changes |= own;
    bytes += own && kept ? NAME + kept + 1 : 0;
  }
}

char *const *child_preload_change(void *memory, size_t bytes, char *const envp[])
{
  char **list = memory, *texts = (char *)memory + bytes; /* the array grows up, the texts grow down */
  uint64_t array_page = NO_PAGE, text_page = NO_PAGE;
  for (char *const *at = envp;; at++) {
    bool own;
    size_t kept = 0;
    if ((char *)(list + 1) > texts || !is_readable((uint64_t)at, &array_page))
      return envp;
    char *text = (char *)variable_at(at);
    if (text && has_own(text, &text_page, &kept)) {
      size_t length = NAME + kept + 1;
      if (!kept)
        continue;
      if ((size_t)(texts - (char *)list) < length)
        return envp;
      texts -= length;
      memcpy(texts, variable, NAME);
      if (copy_foreign(texts + NAME, kept + 1, text + NAME, &own) != kept)
        return envp;
      text = texts;
      if ((char *)(list + 1) > texts)
        return envp;
    }
    *list++ = text;
    if (!text)
      return memory;
  }
}

/* ---- the program ---- */

static const char *search_list(void)
{
  static const char path[] = "PATH=";
  for (char **at = environ; at && *at; at++)
    if (!strncmp(*at, path, sizeof path - 1))
      return *at + sizeof path - 1;
  return "/bin:/usr/bin"; /* as libc has it */
}

/* The file that execvp() would execute. */
static bool find_in_list(const char *name, const char *list, char found[PATH_MAX])
{
  size_t name_length = strlen(name);
  for (;; list++) {
    size_t length = strcspn(list, ":");
    if (length + 1 + name_length < PATH_MAX) {
      memcpy(found, list, length);
      found[length] = '/';
      memcpy(found + length + (length > 0), name, name_length + 1);
      if (sys_may_execute(found))
        return true;
    }
    list += length;
    if (!*list)
      return false;
  }
}

static bool is_foreign_command(const char *name)
{
  char found[PATH_MAX];
  return find_in_list(name, search_list(), found) && foreign_loader(AT_FDCWD, found);
}

/* The file that an open descriptor stands for: the descriptor itself may be open for nothing but that. */
static bool is_foreign_descriptor(int fd)
{
  char path[32] = "/proc/self/fd/", digits[12];
  size_t length = strlen(path), count = 0;
  if (fd < 0)
    return false;
  do
    digits[count++] = (char)('0' + fd % 10);
  while (fd /= 10);
  while (count)
    path[length++] = digits[--count];
  return foreign_loader(AT_FDCWD, path);
}

static bool is_foreign(const struct child_image *image)
{
  if (image->search && !strchr(image->path, '/'))
    return is_foreign_command(image->path);
  if (!image->path)
    return is_foreign_descriptor(image->directory);
  return foreign_loader(image->directory, image->path);
}

size_t child_preload_bytes(const struct child_image *image, char *const envp[])
{
  size_t bytes = sandbox_is_entered() || !envp ? 0 : work_out(envp);
  return bytes && is_foreign(image) ? bytes : 0;
}
