/* Readable names of functions, and a pool of strings that the modules of symbols share.
 *
 * Context: BATCH.  The pool is not locked: its owner guards it and releases it.  Names from files are hostile: names
 * that are too long are refused, and a name whose demangled form is too long stays mangled.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_NAMES_H
#define COMMON_SYMBOLS_SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define SYMBOLS_NAME_MAX 16384 /* bytes of a name or path with its NUL; longer ones count as unknown */

struct symbols_extent;

/* Strings that are released together. */
struct symbols_pool {
  struct symbols_extent *extents;
};

/* Returns a terminated copy of the first `length` bytes of text, which belongs to the pool. */
const char *symbols_pool_copy(struct symbols_pool *pool, const char *text, size_t length);
void symbols_pool_release(struct symbols_pool *pool);

/* Writes the readable form of a linkage name: demangled C++ or Rust, gfortran's module::procedure, without the suffixes
 * of clones, but with those of OpenMP constructs.  Returns its length, 0 if it does not fit. */
size_t symbols_readable(const char *raw, char *out, size_t size);

/* Returns the readable form, in the pool, or raw itself if that is the same; NULL if raw is NULL or unusable. */
const char *symbols_readable_in(struct symbols_pool *pool, const char *raw);

/* Writes a readable name without scopes, parameters and the type that a template's function returns: "f<int>" of
 * "void ns::f<int>(long)".  Returns its length, 0 if it does not fit. */
size_t symbols_plain(const char *readable, char *out, size_t size);

/* Whether a name, and another readable one, are those of instances of one template.  GCC's debug data name some by
 * other arguments than the symbol table. */
bool symbols_same_template(const char *name, const char *other);

/* Joins up to three parts of a path, removes ".", ".." and repeated slashes, and returns the path, which belongs to the
 * pool.  An absolute part replaces those before it; parts may be NULL or "".  NULL if the path is empty or too long. */
const char *symbols_join(struct symbols_pool *pool, const char *first, const char *second, const char *third);

/* The kinds of functions that compilers make from OpenMP constructs, by their linkage names. */
enum symbols_outline {
  SYMBOLS_ORDINARY = 0, /* not made by the compiler, or not recognised           */
  SYMBOLS_OUTLINED,     /* body of a parallel region, a task or a target region  */
  SYMBOLS_TASK_ENTRY,   /* the function that the runtime calls to run a task (clang) */
  SYMBOLS_TASK_HELPER   /* copies or destroys a task's data                          */
};

/* Returns the kind of a linkage name, which may be NULL.  base (may be NULL) receives the readable name of the function
 * that contains the construct, "" if the name does not show it. */
enum symbols_outline symbols_outlined(const char *raw, char *base, size_t size);

/* Returns whether an outlined function is the variant that clang makes for debuggers, which another one calls.  In the
 * name of a construct inside a construct, only the last part tells that. */
bool symbols_outlined_debug(const char *raw);

#endif
