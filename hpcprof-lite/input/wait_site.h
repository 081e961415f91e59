/* What identifies a site at which threads wait: its kind and its code address.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_INPUT_WAIT_SITE_H
#define HPCPROF_LITE_INPUT_WAIT_SITE_H

#include "common/format.h"
#include "hpcprof-lite/model/hash_map.h"

struct wait_site {
  uint32_t kind, module; /* enum format_wait_kind; module of the file */
  uint64_t offset;
};

static inline struct wait_site wait_site_of(const struct format_wait *wait)
{
  return (struct wait_site){wait->kind, wait->module, wait->offset};
}

static inline uint64_t wait_site_hash(const struct wait_site *site)
{
  return hash_map_key(hash_map_key(hash_map_key(1, site->kind), site->module), site->offset);
}

static inline bool wait_site_same(const struct wait_site *a, const struct wait_site *b)
{
  return a->kind == b->kind && a->module == b->module && a->offset == b->offset;
}

#endif
