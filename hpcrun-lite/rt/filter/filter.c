#include "hpcrun-lite/rt/filter/filter.h"

#include <string.h>

#include "common/pattern.h"
#include "hpcrun-lite/rt/core/modules.h"

static struct filter none;
struct filter *_Atomic filter_current = &none;

void filter_publish(struct filter *made, uint64_t since_ns)
{
  made->since_ns = since_ns;
  made->before = filter_now();
  atomic_store_explicit(&filter_current, made, memory_order_release);
}

/* What is known of a module. */
enum { OF_SEEN = 1, OF_EXCLUDED = 2, OF_INCLUDED = 4 };

/* Finds out what the filter knows of a module: by its name, and which addresses. */
static uint8_t examine(struct filter *filter, uint32_t module, uint16_t *code)
{
  const char *path = modules_path(table_at(modules_table(), module)), *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  struct filter_part rest = filter->modules;
  struct filter_item item;
  uint8_t of = OF_SEEN;
  while (filter_list_item(&rest, &item))
    if (pattern_matches(item.part.text, item.part.length, name))
      of |= item.excludes ? OF_EXCLUDED : OF_INCLUDED;
  *code = 0;
  for (uint32_t i = 0; i < filter->known_count && !*code; i++)
    if (filter_list_is(filter->known[i].name, name))
      *code = (uint16_t)(i + 1);
  if (module < FILTER_MODULES) {
    __atomic_store_n(&filter->code_of[module], *code, __ATOMIC_RELAXED);
    __atomic_store_n(&filter->module_of[module], of, __ATOMIC_RELEASE);
  }
  return of;
}

static uint8_t module_of(struct filter *filter, uint32_t module, uint16_t *code)
{
  uint8_t of = module < FILTER_MODULES ? __atomic_load_n(&filter->module_of[module], __ATOMIC_ACQUIRE) : 0;
  if (!of)
    return examine(filter, module, code);
  *code = __atomic_load_n(&filter->code_of[module], __ATOMIC_RELAXED);
  return of;
}

/* Whether the offset is in a list of the module with that number in filter->code_of. */
static bool listed(const struct filter *filter, uint16_t known, enum filter_list which, uint64_t offset)
{
  if (!known)
    return false;
  const struct filter_module *module = &filter->known[known - 1];
  const struct filter_code *first = filter->code + module->lists[which].first;
  uint32_t low = 0, high = module->lists[which].count;
  while (low < high) { /* the first element that begins above the offset */
    uint32_t middle = low + (high - low) / 2;
    if (first[middle].start <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low && offset < first[low - 1].end;
}

uint32_t filter_frame(struct filter *filter, uint32_t module, uint64_t offset)
{
  uint16_t known;
  if (!module)
    return 0;
  uint8_t of = module_of(filter, module, &known);
  if (of & OF_EXCLUDED || listed(filter, known, FILTER_EXCLUDED, offset))
    return FORMAT_FILTERED_OUT;
  return of & OF_INCLUDED || listed(filter, known, FILTER_INCLUDED, offset) ? FORMAT_FILTERED_CODE : 0;
}

bool filter_thread(uint32_t index)
{
  struct filter_part threads = filter_now()->threads;
  return !threads.length || filter_list_has(threads, index);
}

bool filter_user_region(const char *name)
{
  struct filter_part rest = filter_now()->regions;
  struct filter_item item;
  while (filter_list_item(&rest, &item))
    if (filter_list_is(item.part, name))
      return true;
  return false;
}

bool filter_construct(uint32_t parent, uint32_t kind, uint32_t module, uint64_t offset, bool wanted)
{
  struct filter *filter = filter_now();
  if (filter->needs & FORMAT_FILTERED_REGION && !parent && !wanted)
    return true; /* what is inside the region stands below its record */
  uint16_t known = 0;
  if (module)
    module_of(filter, module, &known);
  if (filter->kinds_excluded >> kind & 1 || listed(filter, known, FILTER_EXCLUDED_CONSTRUCTS, offset))
    return true;
  bool limited = filter->kinds_included || filter->lines_included;
  return limited && !(filter->kinds_included >> kind & 1) && !listed(filter, known, FILTER_INCLUDED_CONSTRUCTS, offset);
}
