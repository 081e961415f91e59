/* Symbols of one module: maps an address in an ELF file to its function, its source line and the functions inlined
 * there.
 *
 * Context: BATCH.  struct symbols belongs to its caller; the strings that it returns live as long.  Several threads may
 * call symbols_lookup() on the same one at the same time, because a lock guards what is computed on demand.  Every file
 * is hostile: damaged parts are left out and reported in the message.
 *
 * The modules: doc/architecture.md
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_H
#define COMMON_SYMBOLS_SYMBOLS_H

#include "common/symbols/symbols_location.h"
#include "common/symbols/symbols_request.h"

#include <stddef.h>

struct symbols;

enum symbols_error {
  SYMBOLS_OK = 0,
  SYMBOLS_UNREADABLE = -1, /* nothing usable: the file is missing, truncated or not ELF */
  SYMBOLS_MISMATCH = -2,   /* the file is not the one that was measured                 */
  SYMBOLS_DAMAGED = -3,    /* usable in part                                            */
  SYMBOLS_UNREAD = -4      /* usable in part: reading the rest exceeds a limit          */
};

enum symbols_flag {
  SYMBOLS_HAS_TABLE = 1,   /* a full symbol table (.symtab)                        */
  SYMBOLS_HAS_DYNAMIC = 2, /* only exported functions are named (.dynsym)          */
  SYMBOLS_HAS_LINES = 4,   /* line tables                                          */
  SYMBOLS_HAS_INLINES = 8, /* functions and what is inlined (.debug_info)           */
  SYMBOLS_SEPARATE = 16    /* some of it comes from a separate debug file          */
};

enum { SYMBOLS_VDSO_PATH = 64 };

/* Copies the kernel's vdso, code without a file, into a file in memory, and writes its path.  It is that of this
 * process, and of the measured one while the kernel is the same, which the build id tells.  Returns the descriptor,
 * which the caller closes when the path is no longer used, or -1. */
int symbols_vdso(char path[SYMBOLS_VDSO_PATH]);

/* Opens a module's file and its separate debug files.  Returns 0 or a negative enum symbols_error.  Also after a
 * failure *out is for symbols_lookup(), with what could be read, and for symbols_free().  message receives one line,
 * empty on success.  A file without debug information is not a failure. */
int symbols_open(const struct symbols_request *request, struct symbols **out, char *message, size_t size);

/* Finds the functions at `offset`, which is an address minus the load bias.  Writes at most `max` locations, outermost
 * first, and returns their number, 0 if nothing is known.  If more functions are inlined there, the innermost ones are
 * left out, so that the last location is at a call. */
int symbols_lookup(const struct symbols *symbols, uint64_t offset, struct symbols_location *locations, int max);

/* Visits all code of which something is known, in ascending order: what symbols_lookup() finds at `from` holds up to
 * `to`. */
void symbols_visit(const struct symbols *symbols,
                   void (*visit)(void *context, uint64_t from, uint64_t to, const struct symbols_location *locations,
                                 int count),
                   void *context);

/* Reads the tail calls of all functions of the units that contain the request's addresses, from the debug data that
 * symbols_open() has read for a request of the same path, sorted by their fields.  Returns an array for free(), NULL if
 * there are none or they cannot be read; sets *count to its length. */
struct symbols_tail_call *symbols_tail_calls(struct symbols *symbols, const struct symbols_request *request,
                                             size_t *count);

/* Returns what information was found, as bits of enum symbols_flag. */
unsigned symbols_flags(const struct symbols *symbols);

void symbols_free(struct symbols *symbols); /* NULL is allowed */

#endif
