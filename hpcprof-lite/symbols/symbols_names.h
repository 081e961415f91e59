/* Readable names of functions, and the store of strings that the other parts of symbols share.
 *
 * Context: BATCH.  The store is not locked: its owner (an index) guards it.  Names taken from files are hostile: long
 * ones are refused, and the demangler's output is cut off where a short name would unfold into megabytes. */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_NAMES_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_NAMES_H

#include <stddef.h>

#define SYMBOLS_NAME_MAX 16384 /* bytes of a name or path, with its NUL; longer ones are unknown */

struct symbols_chunk;

/* Strings that are released all at once. */
struct symbols_pool {
  struct symbols_chunk *chunks;
};

/* A copy of text's first length bytes; NULL without memory. */
const char *symbols_pool_copy(struct symbols_pool *pool, const char *text, size_t length);
void symbols_pool_release(struct symbols_pool *pool);

/* Writes the readable form of a linkage name: demangled C++, gfortran's module::procedure, without suffixes of clones;
 * OpenMP suffixes are kept.  Returns its length, 0 if raw is too long for out. */
size_t symbols_readable(const char *raw, char *out, size_t size);

/* The readable form in the pool, or raw itself where nothing changes; NULL if it is unusable. */
const char *symbols_readable_in(struct symbols_pool *pool, const char *raw);

/* Joins up to three parts, a later absolute one replacing the earlier ones, and removes ".", ".." and doubled
 * slashes.  Parts may be NULL or "".  NULL if the path is too long or there is none. */
const char *symbols_join(struct symbols_pool *pool, const char *first, const char *second, const char *third);

#endif
