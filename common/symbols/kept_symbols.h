/* Symbols of modules that are kept from one reading of a running measurement to the next.
 *
 * Reading the debugging information of a module takes many times longer than all else that a reading needs.  A module
 * is read again only when there are addresses in functions that it was not read for.
 *
 * Context: BATCH, one thread at a time.  A structure of zeros is empty.  It owns the symbols, which names refer to (see
 * struct names_module): those that were replaced live until kept_symbols_settle(). */
#ifndef COMMON_SYMBOLS_KEPT_SYMBOLS_H
#define COMMON_SYMBOLS_KEPT_SYMBOLS_H

#include "common/symbols/symbols.h"

/* What was read of a module. */
struct kept_module {
  char *path;
  uint8_t build_id[20];
  uint32_t build_id_size;
  struct symbols *symbols;
  char *message;    /* why it could not be read completely, or NULL */
  int opened;       /* what symbols_open() has returned */
  uint64_t *starts; /* of the functions that were read, ascending; an address where no function is known is its own */
  uint32_t starts_count;
};

struct kept_symbols {
  struct kept_module *modules;
  size_t modules_count, modules_room;
  struct symbols **replaced;
  size_t replaced_count, replaced_room;
  uint64_t modules_read; /* how often a module was read */
};

/* Returns what was read of the request's module, if that covers all of its addresses; else NULL. */
const struct kept_module *kept_symbols_find(const struct kept_symbols *kept, const struct symbols_request *request);

/* Takes over symbols and message of a module, which symbols_open() has returned with `opened` for the request. */
void kept_symbols_add(struct kept_symbols *kept, const struct symbols_request *request, int opened,
                      struct symbols *symbols, char *message);

/* Frees symbols that were replaced: no names refer to them any more. */
void kept_symbols_settle(struct kept_symbols *kept);
void kept_symbols_release(struct kept_symbols *kept);

#endif
