#include "hpcprof-lite/input/range/range_wait_sites.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/thread_states.h"
#include "hpcprof-lite/model/construct_tree.h"

#include <assert.h>
#include <stdlib.h>

uint32_t range_wait_sites_add(struct range_wait_sites *sites, const struct wait_site *site)
{
  uint64_t key = wait_site_hash(site);
  uint32_t found = HASH_MAP_FIND(&sites->map, key, i, wait_site_same(&sites->all[i - 1], site));
  if (found)
    return found - 1;
  *XAPPEND(sites->all, sites->count, sites->room) = *site;
  hash_map_add(&sites->map, key, sites->count);
  return sites->count - 1;
}

void range_wait_sites_release(struct range_wait_sites *sites)
{
  free(sites->all);
  hash_map_release(&sites->map);
}

void range_stored_index(struct range_stored *stored)
{
  for (uint32_t i = 0; i < stored->count; i++) {
    struct wait_site site = wait_site_of(&stored->waits[i]);
    uint64_t key = wait_site_hash(&site);
    if (!hash_map_find(&stored->map, key))
      hash_map_add(&stored->map, key, i + 1);
  }
}

uint32_t range_stored_find(const struct range_stored *stored, const struct wait_site *site)
{
  assert(stored->waits || !stored->count);
  uint32_t found = hash_map_find(&stored->map, wait_site_hash(site));
  if (!found)
    return MODEL_NONE;
  struct wait_site at = wait_site_of(&stored->waits[found - 1]);
  return wait_site_same(&at, site) ? found - 1 : MODEL_NONE;
}

/* In which region the record lies: 0 in none, 1 the thread has created the outermost one, 2 another thread has. */
static uint8_t region_of(const struct format_construct *constructs, uint32_t record, const uint8_t *regions)
{
  assert(record);
  const struct format_construct *construct = &constructs[record];
  uint8_t around = construct->parent < record && !read_is_link(construct) ? regions[construct->parent] : 0;
  if (around || !construct_is_region(construct->kind))
    return around;
  return read_is_link(construct) ? 2 : 1;
}

struct range_code *range_codes_of_constructs(const struct read_file *file, const struct format_construct *constructs,
                                             uint32_t count, const struct range_stored *stored,
                                             struct range_wait_sites *sites)
{
  const struct format_directive *directives = read_records(file, FORMAT_DIRECTIVES);
  uint8_t *regions = xcalloc(count, sizeof *regions);
  struct range_code *codes = xcalloc((size_t)MAX(count, 1) * CONSTRUCT_TIMES + 1, sizeof *codes);
  for (uint32_t i = 0; i < count; i++) {
    struct wait_site site = {0};
    if (i)
      regions[i] = region_of(constructs, i, regions);
    if (constructs[i].directive && constructs[i].directive < read_count(file, FORMAT_DIRECTIVES)) {
      site.module = directives[constructs[i].directive].module;
      site.offset = directives[constructs[i].directive].offset;
    }
    for (uint32_t time = 0; time < CONSTRUCT_TIMES; time++) {
      struct range_code *code = &codes[(size_t)i * CONSTRUCT_TIMES + time];
      uint32_t kind = thread_states_wait(&constructs[i], !i, time);
      struct wait_site at = {.kind = kind, .module = site.module, .offset = site.offset};
      if (kind == FORMAT_WAIT_PARKED)
        at = (struct wait_site){.kind = FORMAT_WAIT_PARKED};
      *code = (struct range_code){
          .site = MODEL_NONE, .stored = MODEL_NONE, .in_region = regions[i] == 1, .inside = regions[i] != 0};
      if (kind == MODEL_NONE)
        continue;
      code->site = range_wait_sites_add(sites, &at);
      code->stored = range_stored_find(stored, &at);
      code->lock = kind == FORMAT_WAIT_LOCK;
      code->own_first = thread_states_own_first((uint64_t)i * CONSTRUCT_TIMES + time, code->lock);
    }
  }
  free(regions);
  return codes;
}

struct range_code range_code_of_site(const struct range_stored *stored, uint32_t number, struct range_wait_sites *sites)
{
  assert(number < stored->count);
  const struct format_wait *wait = &stored->waits[number];
  struct wait_site at = wait_site_of(wait);
  return (struct range_code){
      .site = range_wait_sites_add(sites, &at), .stored = number, .lock = wait->kind == FORMAT_WAIT_LOCK};
}

struct range_code *range_codes_of_sites(const struct range_stored *stored, struct range_wait_sites *sites)
{
  struct range_code *codes = xcalloc((size_t)stored->count + 1, sizeof *codes);
  codes[0] = (struct range_code){.site = MODEL_NONE, .stored = MODEL_NONE};
  for (uint32_t i = 0; i < stored->count; i++)
    codes[i + 1] = range_code_of_site(stored, i, sites);
  return codes;
}
