#include "hpcprof-lite/views/atomic_places.h"

#include "common/order.h"
#include "common/symbols/instruction.h"
#include "common/xalloc.h"
#include "hpcprof-lite/views/call_places.h"
#include "hpcprof-lite/views/code.h"

#include <assert.h>
#include <stdlib.h>

enum { CODE_MAX = 1 << 20 }; /* bytes of a function that are decoded */

/* Samples in a context of a region, in the function that begins at `low`. */
struct hit {
  uint32_t module, context, region;
  uint64_t low, offset, samples, ns;
};

ORDER(by_address, struct hit,
      COMPARE(x->module, y->module) ?: COMPARE(x->low, y->low) ?: COMPARE(x->region, y->region)
                                    ?: COMPARE(x->offset, y->offset))

/* Sets region[context] to the outermost region around it, 0 outside all. */
static void find_regions(const struct contexts *contexts, uint32_t *region)
{
  for (uint32_t i = 1; i < contexts->count; i++) { /* a parent has a smaller number */
    region[i] = region[contexts->nodes[i].parent];
    if (!region[i] && contexts->nodes[i].kind == CONTEXT_PARALLEL)
      region[i] = i;
  }
}

static struct hit *find_hits(const struct profile *profile, const struct names *names, uint32_t samples, uint32_t work,
                             uint32_t *count)
{
  const struct contexts *contexts = &profile->contexts;
  uint32_t *region = xcalloc(contexts->count, sizeof *region);
  struct hit *hits = NULL;
  size_t room = 0;
  *count = 0;
  find_regions(contexts, region);
  for (uint32_t i = 1; i < contexts->count; i++) {
    const struct context_node *node = &contexts->nodes[i];
    uint32_t address = names->address_of[i];
    uint64_t here = contexts_get(contexts, i, samples);
    if (!here || !region[i] || node->kind != CONTEXT_FRAME || address == MODEL_NONE || !names->addresses[address].low ||
        profile->catalog.modules[node->module].flags & (MODULE_RUNTIME | MODULE_TOOL | MODULE_SYSTEM | MODULE_VDSO))
      continue;
    const struct names_address *at = &names->addresses[address];
    *XAPPEND(hits, *count, room) =
        (struct hit){node->module, i, region[i], at->low, at->offset, here, contexts_get(contexts, i, work)};
  }
  free(region);
  if (*count)
    qsort(hits, *count, sizeof *hits, by_address);
  return hits;
}

/* Adds a sampled address at an atomic instruction; hits of the same address follow each other. */
static void add_hit(const struct names *names, const struct hit *hit, uint64_t address_ns, struct atomic_place *place)
{
  place->atomic += hit->samples;
  place->atomic_ns += hit->ns;
  if (hit->ns >= place->most_context_ns) {
    place->most_context_ns = hit->ns;
    place->context = hit->context;
  }
  if (address_ns < place->most_ns)
    return;
  const struct names_frame *frame = names_innermost(names, names->address_of[hit->context]);
  place->most_ns = address_ns;
  place->file = frame->file;
  place->line = frame->line;
}

/* Compares the samples of a function, in the order of their addresses, with its instructions. */
static void compare_code(const struct names *names, const struct hit *hits, uint32_t count,
                         const struct callees *callees, struct atomic_place *place)
{
  uint64_t low = hits[0].low, size = hits[count - 1].offset + 1 - low, address_ns = 0;
  enum { BEHIND = 16 }; /* more than the longest instruction */
  if (size > CODE_MAX)
    return;
  uint8_t *code = xmalloc(size + BEHIND);
  size = callees_code(callees, low, size + BEHIND, code);
  bool before = false, atomic = false;
  unsigned length = 0;
  uint32_t i = 0;
  for (uint64_t at = 0; at < size && i < count; at += length, before = atomic) {
    length = instruction_length(callees_machine(callees), code + at, size - at, &atomic);
    if (!length)
      break;
    for (; i < count && hits[i].offset < low + at + length; i++) {
      address_ns = i && hits[i].offset == hits[i - 1].offset ? address_ns + hits[i].ns : hits[i].ns;
      if (hits[i].offset == low + at && (atomic || before))
        add_hit(names, &hits[i], address_ns, place);
    }
  }
  free(code);
}

/* Examines the samples of a function in a region.  Returns whether many of them are at atomic instructions. */
static bool examine(const struct profile *profile, const struct names *names, struct code *code, const struct hit *hits,
                    uint32_t count, struct atomic_place *place)
{
  assert(count);
  *place = (struct atomic_place){
      .function = call_place_of(profile, names, hits[0].context).function, .file = "", .context = hits[0].context};
  for (uint32_t i = 0; i < count; i++)
    place->samples += hits[i].samples;
  const struct callees *callees = place->samples < ATOMIC_SAMPLES_LEAST ? NULL : code_callees(code, hits[0].module);
  if (!callees)
    return false;
  compare_code(names, hits, count, callees, place);
  return place->atomic * 100 >= place->samples * ATOMIC_PERCENT_LEAST;
}

struct atomic_place *atomic_places_find(const struct profile *profile, const struct names *names, uint32_t samples,
                                        uint32_t work, uint32_t *count)
{
  uint32_t hits_count, end;
  struct hit *hits = find_hits(profile, names, samples, work, &hits_count);
  struct code *code = code_open(profile, names);
  struct atomic_place *places = NULL, place;
  size_t room = 0;
  *count = 0;
  for (uint32_t i = 0; i < hits_count; i = end) {
    end = i + 1;
    while (end < hits_count && hits[end].module == hits[i].module && hits[end].low == hits[i].low &&
           hits[end].region == hits[i].region)
      end++;
    if (examine(profile, names, code, hits + i, end - i, &place))
      *XAPPEND(places, *count, room) = place;
  }
  code_close(code);
  free(hits);
  return places;
}
