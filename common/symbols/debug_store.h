/* What was read of debug data, kept in the measurement directory, so that a further report need not read them again.
 *
 * An entry is the bytes that the child process has written (symbols_child), under a key that contains everything on
 * which they depend.  doc/format.md describes the file.  Like every file, it is untrusted: its contents are checked
 * like those that come from the child, and where it is damaged, entries are missing.  It is read and written only where
 * neither can do harm; no failure is reported, because only time is lost.
 *
 * Context: BATCH, any thread.
 */
#ifndef COMMON_SYMBOLS_DEBUG_STORE_H
#define COMMON_SYMBOLS_DEBUG_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_store;

/* Reads the file of a measurement directory, if there is one.  Never NULL; debug_store_close() frees it. */
struct debug_store *debug_store_open(const char *directory);

/* Finds the bytes of a key.  False without an entry; otherwise the caller frees *bytes. */
bool debug_store_find(struct debug_store *store, const void *key, size_t key_size, uint8_t **bytes, size_t *size);

/* Adds an entry, of which there is none yet; the store copies both.  The size of a key is a multiple of 8. */
void debug_store_add(struct debug_store *store, const void *key, size_t key_size, const void *bytes, size_t size);

/* Writes the file if there is room for an entry that was added, the directory is this user's and hpcrun-lite made it.
 */
void debug_store_close(struct debug_store *store);

#endif
