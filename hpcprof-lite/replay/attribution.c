#include "hpcprof-lite/replay/attribution.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum { ROW_BITS = 16, THREAD_BITS = 20, NODE_BITS = 28 };

/* Returns the key of an entry, 0 if no measurement can contain such a thread or node. */
static uint64_t key_of(uint32_t row, uint64_t thread, uint64_t node)
{
  if (row >> ROW_BITS || thread >> THREAD_BITS || node >> NODE_BITS)
    return 0;
  return ((uint64_t)row << (THREAD_BITS + NODE_BITS) | thread << NODE_BITS | node) + 1; /* the largest one wraps to 0 */
}

uint32_t attribution_find(const struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node)
{
  uint64_t key = key_of(row, thread, node);
  return key ? hash_map_find(&attribution->map, key) : 0;
}

uint32_t attribution_add(struct attribution *attribution, uint32_t row, uint64_t thread, uint64_t node)
{
  assert(attribution->count <= ATTRIBUTION_MAX + 1);
  uint64_t key = key_of(row, thread, node);
  uint32_t index = key ? hash_map_find(&attribution->map, key) : 0;
  if (index || !key || attribution->count > ATTRIBUTION_MAX)
    return index;
  attribution->count += attribution->count == 0; /* entry 0 */
  index = attribution->count++;
  xarray_reserve_zero(&attribution->entries, &attribution->room, attribution->count, sizeof *attribution->entries);
  hash_map_add(&attribution->map, key, index);
  attribution->entries[index] =
      (struct attribution_entry){.row = row, .thread = (uint32_t)thread, .node = (uint32_t)node};
  return index;
}

void attribution_release(struct attribution *attribution)
{
  hash_map_release(&attribution->map);
  free(attribution->entries);
  *attribution = (struct attribution){0};
}
