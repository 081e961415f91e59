/* Debug files of debuginfod (of elfutils): those that its client has in a cache, and those of servers if the user
 * allows that they are asked.
 *
 * Context: BATCH.  symbols_debuginfod_use() is called before there are threads; the other functions by any thread.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_DEBUGINFOD_H
#define COMMON_SYMBOLS_SYMBOLS_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>

struct symbols_debuginfod {
  const char *cache; /* its directory, NULL: there is none */
  /* Returns the path of the debug file with this build id, which the caller frees; NULL if no server has it, or with
   * *fault set to why they cannot be asked, unless that has been reported.  NULL: no server may be asked. */
  char *(*fetch)(const char *id, const char **fault);
};

/* From now on files are looked for there.  The strings must remain. */
void symbols_debuginfod_use(const struct symbols_debuginfod *where);

/* Writes the path that the debug file with this build id, hexadecimal, has in the cache.  Returns false without a
 * cache. */
bool symbols_debuginfod_cached(const char *id, char *path, size_t size);

/* Asks the servers, see fetch(). */
char *symbols_debuginfod_fetch(const char *id, const char **fault);

#endif
