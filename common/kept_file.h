/* Names of the files that --keep-symbols puts into the measurement directory: symbols-HASH-NAME, where HASH has 16
 * hexadecimal digits, and NAME is the last component of the path that was measured, or its beginning.
 *
 * Context: CTL (the library makes them) and BATCH.  No state.
 */
#ifndef COMMON_KEPT_FILE_H
#define COMMON_KEPT_FILE_H

#include <stdbool.h>
#include <string.h>

#define KEPT_FILE_PREFIX "symbols-"
#define KEPT_FILE_PART_SUFFIX ".symbols" /* of the process's file that is copied to and then gets that name */
enum { KEPT_FILE_HASH = 16, KEPT_FILE_NAME = 200 };

/* NAME in the name of such a file; NULL if it is none. */
static inline const char *kept_file_name(const char *name)
{
  const char *hash = name + strlen(KEPT_FILE_PREFIX);
  if (strncmp(name, KEPT_FILE_PREFIX, strlen(KEPT_FILE_PREFIX)) != 0 ||
      strspn(hash, "0123456789abcdef") != KEPT_FILE_HASH || hash[KEPT_FILE_HASH] != '-' || !hash[KEPT_FILE_HASH + 1])
    return NULL;
  return hash + KEPT_FILE_HASH + 1;
}

/* Whether the file was made of one with that last component. */
static inline bool kept_file_is_of(const char *name, const char *base)
{
  const char *kept = kept_file_name(name);
  return kept && *base && strncmp(kept, base, KEPT_FILE_NAME) == 0 && strlen(kept) <= KEPT_FILE_NAME;
}

#endif
