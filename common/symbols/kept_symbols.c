#include "common/symbols/kept_symbols.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

ORDER(by_value, uint64_t, COMPARE(*x, *y))

/* Where the function at an address begins; the address itself if none is known. */
static uint64_t start_of(const struct symbols *symbols, uint32_t offset)
{
  struct symbols_location location;
  return symbols_lookup(symbols, offset, &location, 1) >= 1 && location.low ? location.low : offset;
}

/* The position of the module in the list, or the number of modules. */
static size_t position_of(const struct kept_symbols *kept, const struct symbols_request *request)
{
  assert(request->path);
  size_t i = 0;
  for (; i < kept->modules_count; i++) {
    const struct kept_module *known = &kept->modules[i];
    if (!strcmp(known->path, request->path) && known->build_id_size == request->build_id_size &&
        !memcmp(known->build_id, request->build_id, request->build_id_size))
      break;
  }
  return i;
}

const struct kept_module *kept_symbols_find(const struct kept_symbols *kept, const struct symbols_request *request)
{
  assert(!request->offset_count || request->offsets);
  size_t i = position_of(kept, request);
  if (i == kept->modules_count)
    return NULL;
  const struct kept_module *known = &kept->modules[i];
  for (uint32_t j = 0; j < request->offset_count; j++) {
    uint64_t start = start_of(known->symbols, request->offsets[j]);
    if (!bsearch(&start, known->starts, known->starts_count, sizeof start, by_value))
      return NULL;
  }
  return known;
}

/* Appends the module without symbols, and returns it. */
static struct kept_module *append(struct kept_symbols *kept, const struct symbols_request *request)
{
  assert(position_of(kept, request) == kept->modules_count);
  struct kept_module *added = XAPPEND(kept->modules, kept->modules_count, kept->modules_room);
  *added = (struct kept_module){.path = xstrdup(request->path), .build_id_size = request->build_id_size};
  memcpy(added->build_id, request->build_id, request->build_id_size);
  return added;
}

void kept_symbols_add(struct kept_symbols *kept, const struct symbols_request *request, int opened,
                      struct symbols *symbols, char *message)
{
  assert(!request->offset_count || request->offsets);
  size_t i = position_of(kept, request);
  struct kept_module *known = i < kept->modules_count ? &kept->modules[i] : append(kept, request);
  uint32_t count = request->offset_count;
  uint64_t *starts = xcalloc(count, sizeof *starts);
  for (uint32_t j = 0; j < count; j++)
    starts[j] = start_of(symbols, request->offsets[j]);
  qsort(starts, count, sizeof *starts, by_value);
  if (known->symbols)
    *XAPPEND(kept->replaced, kept->replaced_count, kept->replaced_room) = known->symbols;
  free(known->starts);
  free(known->message);
  known->symbols = symbols;
  known->message = message;
  known->opened = opened;
  known->starts = starts;
  known->starts_count = count;
  kept->modules_read++;
}

void kept_symbols_settle(struct kept_symbols *kept)
{
  for (size_t i = 0; i < kept->replaced_count; i++)
    symbols_free(kept->replaced[i]);
  kept->replaced_count = 0;
}

void kept_symbols_release(struct kept_symbols *kept)
{
  kept_symbols_settle(kept);
  for (size_t i = 0; i < kept->modules_count; i++) {
    symbols_free(kept->modules[i].symbols);
    free(kept->modules[i].path);
    free(kept->modules[i].message);
    free(kept->modules[i].starts);
  }
  free(kept->modules);
  free(kept->replaced);
  *kept = (struct kept_symbols){0};
}
