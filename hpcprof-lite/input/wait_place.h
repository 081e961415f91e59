/* What identifies a place at which threads wait: its kind and its code address.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_INPUT_WAIT_PLACE_H
#define HPCPROF_LITE_INPUT_WAIT_PLACE_H

#include "common/format.h"
#include "hpcprof-lite/model/index.h"

struct wait_place {
  uint32_t kind, module; /* enum format_wait_kind; module of the file */
  uint64_t offset;
};

static inline struct wait_place wait_place_of(const struct format_wait *wait)
{
  return (struct wait_place){wait->kind, wait->module, wait->offset};
}

static inline uint64_t wait_place_hash(const struct wait_place *place)
{
  return index_hash(index_hash(index_hash(1, place->kind), place->module), place->offset);
}

static inline bool wait_place_same(const struct wait_place *a, const struct wait_place *b)
{
  return a->kind == b->kind && a->module == b->module && a->offset == b->offset;
}

#endif
