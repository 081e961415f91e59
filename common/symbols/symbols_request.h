/* What is asked of the symbols of a module: its file, what shows that it is the one that was measured, the addresses.
 *
 * Context: BATCH.  Everything belongs to the caller.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_REQUEST_H
#define COMMON_SYMBOLS_SYMBOLS_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "common/file_identity.h"

struct debug_store;

/* Where files are looked for. */
struct symbols_search {
  const char *const *directories; /* of --symbols */
  size_t directories_count;
  char **measurements; /* directories of measurements */
  size_t measurements_count;
};

struct symbols_request {
  const char *path;                     /* the file that was mapped; it may have been removed or replaced since */
  const uint8_t *build_id;              /* as measured; a file with another one is not used                     */
  uint32_t build_id_size;               /* bytes; 0: unknown, then what follows decides                         */
  const struct file_identity *identity; /* as recorded; NULL: nothing is                            */
  const uint32_t *calls;                /* addresses inside instructions that should be calls                   */
  uint32_t calls_count;
  const struct symbols_search *search; /* where else files are looked for; NULL: nowhere             */
  const char *debug_root;              /* directory of separate debug files; NULL: /usr/lib/debug              */
  const uint32_t *offsets; /* the addresses to be looked up, ascending; NULL: any.  Only functions with one of these
                              are read completely, and only the lines of their units               */
  uint32_t offset_count;
  struct debug_store *store; /* what was read of debug data before, and is kept; NULL: nothing       */
};

#endif
