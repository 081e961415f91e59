#include "common/symbols/symbols_names.h"

#include "common/xalloc.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The demangler behind abi::__cxa_demangle, in the C++ run-time library (libsupc++).  It passes its output to a
 * callback, piece by piece, and allocates no memory, so that the callback may leave it by longjmp().  Returns 0, or
 * another value for a name that is not mangled. */
int __gcclibcxx_demangle_callback(const char *mangled, void (*piece)(const char *, size_t, void *), void *opaque);

/* Rust's demangler, in libiberty: of both manglings, the older one (_ZN...17h, 16 digits of a hash, E) and
 * the newer one (_R).  It passes its output to a callback, too.  Returns 0 for a name that is not of Rust.  Without
 * options it leaves out hashes. */
int rust_demangle_callback(const char *mangled, int options, void (*piece)(const char *, size_t, void *), void *opaque);

enum { EXTENT_BYTES = 64 << 10 };

struct symbols_extent {
  struct symbols_extent *next;
  size_t used, room;
  char text[];
};

const char *symbols_pool_copy(struct symbols_pool *pool, const char *text, size_t length)
{
  struct symbols_extent *extent = pool->extents;
  if (!extent || extent->room - extent->used <= length) {
    size_t room = length < EXTENT_BYTES ? EXTENT_BYTES : length + 1;
    extent = xmalloc(sizeof *extent + room);
    *extent = (struct symbols_extent){.next = pool->extents, .room = room};
    pool->extents = extent;
  }
  char *copy = extent->text + extent->used;
  memcpy(copy, text, length);
  copy[length] = 0;
  extent->used += length + 1;
  return copy;
}

void symbols_pool_release(struct symbols_pool *pool)
{
  while (pool->extents) {
    struct symbols_extent *next = pool->extents->next;
    free(pool->extents);
    pool->extents = next;
  }
}

struct output {
  jmp_buf full;
  char *text;
  size_t length, size;
};

/* Leaves the demangler when the output is full: a name of 200 bytes can expand to gigabytes. */
static void take_piece(const char *piece, size_t length, void *opaque)
{
  struct output *out = opaque;
  if (length >= out->size - out->length)
    longjmp(out->full, 1);
  memcpy(out->text + out->length, piece, length);
  out->length += length;
}

/* Demangles into text.  False if the name is not mangled or the result does not fit.  C++ can read Rust's older names,
 * too, but not as such. */
static bool demangle(const char *mangled, char *text, size_t size)
{
  struct output out = {.text = text, .size = size};
  if (setjmp(out.full))
    return false;
  if (!rust_demangle_callback(mangled, 0, take_piece, &out)) {
    out.length = 0;
    if (__gcclibcxx_demangle_callback(mangled, take_piece, &out))
      return false;
  }
  text[out.length] = 0;
  return out.length > 0;
}

/* The length of the last suffix of a clone in name[0..length): a dot, a known word, and numbers; 0 if there is none. */
static size_t clone_suffix(const char *name, size_t length)
{
  static const char *const words[] = {"constprop", "isra", "part", "cold", "lto_priv", "localalias", "ipa_icf", "llvm"};
  size_t end = length;
  while (end && (isdigit((unsigned char)name[end - 1]) || name[end - 1] == '.'))
    end--;
  if (end < length && name[end] != '.')
    return 0;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t word = strlen(words[i]);
    if (end > word + 1 && !memcmp(name + end - word, words[i], word) && name[end - word - 1] == '.')
      return length - (end - word - 1);
  }
  return 0;
}

/* The length without the suffixes of clones and without a symbol version. */
static size_t without_clones(const char *name, size_t length)
{
  const char *version = memchr(name, '@', length);
  if (version && version > name && strcmp(version, "@plt"))
    length = (size_t)(version - name);
  for (size_t suffix; (suffix = clone_suffix(name, length)) != 0;)
    length -= suffix;
  return length;
}

/* The compiler's mark of an outlined function in a linkage name, and its kind; NULL if there is none. */
static const char *find_outline(const char *raw, enum symbols_outline *kind)
{
  static const struct {
    const char *mark;
    enum symbols_outline kind;
  } marks[] = {{"._omp_fn.", SYMBOLS_OUTLINED},
               {".omp_outlined", SYMBOLS_OUTLINED},
               {".omp_task_entry", SYMBOLS_TASK_ENTRY},
               {"._omp_cpyfn", SYMBOLS_TASK_HELPER},
               {".omp_task_privates", SYMBOLS_TASK_HELPER},
               {".omp_task_dup", SYMBOLS_TASK_HELPER},
               {".omp_task_destructor", SYMBOLS_TASK_HELPER}};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    const char *found = strstr(raw, marks[i].mark);
    if (found) {
      *kind = marks[i].kind;
      return found;
    }
  }
  *kind = SYMBOLS_ORDINARY;
  return NULL;
}

/* Turns gfortran's __module_MOD_procedure into module::procedure.  False for other names, or if it does not fit. */
static bool fortran_name(const char *name, char *out, size_t size)
{
  const char *mark = strstr(name, "_MOD_");
  if (strncmp(name, "__", 2) || !mark || mark == name + 2 || !mark[5])
    return false;
  int written = snprintf(out, size, "%.*s::%s", (int)(mark - name - 2), name + 2, mark + 5);
  return written > 0 && (size_t)written < size;
}

/* Writes the readable form of a name without suffixes.  False if it does not fit. */
static bool readable_base(const char *name, size_t length, char *out, size_t size)
{
  char base[SYMBOLS_NAME_MAX];
  if (length >= sizeof base || length >= size)
    return false;
  memcpy(base, name, length);
  base[length] = 0;
  bool mangled = !strncmp(base, "_Z", 2) || !strncmp(base, "_R", 2) || !strncmp(base, "_GLOBAL_", 8);
  if ((mangled && demangle(base, out, size)) || fortran_name(base, out, size))
    return true;
  memcpy(out, base, length + 1);
  return true;
}

size_t symbols_readable(const char *raw, char *out, size_t size)
{
  enum symbols_outline kind;
  size_t length = strnlen(raw, SYMBOLS_NAME_MAX);
  if (!length || length >= SYMBOLS_NAME_MAX)
    return 0;
  length = without_clones(raw, length);
  const char *mark = find_outline(raw, &kind);
  size_t base = mark && (size_t)(mark - raw) <= length ? (size_t)(mark - raw) : length;
  if (!readable_base(raw, without_clones(raw, base), out, size))
    return 0;
  size_t written = strlen(out), tail = length - base;
  if (tail >= size - written)
    return 0;
  memcpy(out + written, raw + base, tail);
  out[written + tail] = 0;
  return written + tail;
}

const char *symbols_readable_in(struct symbols_pool *pool, const char *raw)
{
  char name[SYMBOLS_NAME_MAX];
  size_t length = raw ? symbols_readable(raw, name, sizeof name) : 0;
  if (!length)
    return NULL;
  return strcmp(name, raw) ? symbols_pool_copy(pool, name, length) : raw;
}

/* The length of a readable name without its parameters. */
static size_t without_parameters(const char *name)
{
  size_t end = strlen(name), open;
  const char *last = strrchr(name, ')');
  if (!last || strstr(last, "::"))
    return end;
  unsigned depth = 1;
  for (open = (size_t)(last - name); open && depth;) {
    char c = name[--open];
    depth += c == ')';
    depth -= c == '(';
  }
  static const char call[] = "operator"; /* "operator()" without parameters */
  size_t length = sizeof call - 1;
  bool is_call = open >= length && !memcmp(name + open - length, call, length) && name + open + 1 == last;
  return is_call || depth ? end : open;
}

size_t symbols_plain(const char *readable, char *out, size_t size)
{
  size_t end = without_parameters(readable), start = end;
  for (unsigned depth = 0; start; start--) {
    char c = readable[start - 1];
    depth += c == '>' || c == ')' || c == '}';
    bool scope = c == ':' && start > 1 && readable[start - 2] == ':';
    if (!depth && (c == ' ' || (scope && readable[start] != '<'))) /* Rust: f::<T> */
      break;
    depth -= depth && (c == '<' || c == '(' || c == '{');
  }
  if (end - start >= size)
    return 0;
  memcpy(out, readable + start, end - start);
  out[end - start] = 0;
  return end - start;
}

bool symbols_same_template(const char *name, const char *other)
{
  char plain[SYMBOLS_NAME_MAX];
  size_t length = strcspn(name, "<");
  return name[length] && symbols_plain(other, plain, sizeof plain) > length && plain[length] == '<' &&
         !strncmp(name, plain, length);
}

enum symbols_outline symbols_outlined(const char *raw, char *base, size_t size)
{
  enum symbols_outline kind = SYMBOLS_ORDINARY;
  const char *mark = raw && strnlen(raw, SYMBOLS_NAME_MAX) < SYMBOLS_NAME_MAX ? find_outline(raw, &kind) : NULL;
  if (base && size) {
    base[0] = 0;
    if (mark && !readable_base(raw, without_clones(raw, (size_t)(mark - raw)), base, size))
      base[0] = 0;
  }
  return kind;
}

bool symbols_outlined_debug(const char *raw)
{
  static const char mark[] = ".omp_outlined";
  const char *last = NULL;
  for (const char *at = raw; (at = strstr(at, mark)) != NULL; at += sizeof mark - 1)
    last = at + sizeof mark - 1;
  return last && (!strncmp(last, "_debug__", 8) || !strncmp(last, "._debug__", 9));
}

/* Removes the last component of path[0..length), which is not "..".  Returns the new length. */
static size_t drop_component(const char *path, size_t length)
{
  while (length && path[length - 1] != '/')
    length--;
  return length > 1 ? length - 1 : length;
}

/* Appends the components of part to path.  Returns the new length. */
static size_t append_part(char *path, size_t length, const char *part)
{
  while (*part) {
    size_t size = strcspn(part, "/");
    const char *last = path + length;
    while (last > path && last[-1] != '/')
      last--;
    bool removable = length && strcmp(last, "..") != 0;
    if (size == 2 && !memcmp(part, "..", 2) && (path[0] == '/' || removable)) {
      length = drop_component(path, length);
    } else if (size && !(size == 1 && *part == '.')) {
      if (length && path[length - 1] != '/')
        path[length++] = '/';
      memcpy(path + length, part, size);
      length += size;
    }
    path[length] = 0;
    part += size;
    part += strspn(part, "/");
  }
  return length;
}

const char *symbols_join(struct symbols_pool *pool, const char *first, const char *second, const char *third)
{
  const char *parts[] = {first ? first : "", second ? second : "", third ? third : ""};
  size_t start = 2, total = 2;
  char path[SYMBOLS_NAME_MAX];
  while (start && parts[start][0] != '/')
    start--;
  for (size_t i = start; i < 3; i++)
    total += strnlen(parts[i], SYMBOLS_NAME_MAX) + 1;
  if (total >= sizeof path)
    return NULL;
  size_t length = parts[start][0] == '/';
  path[0] = length ? '/' : 0;
  path[length] = 0;
  for (size_t i = start; i < 3; i++)
    length = append_part(path, length, parts[i]);
  return length ? symbols_pool_copy(pool, path, length) : NULL;
}
