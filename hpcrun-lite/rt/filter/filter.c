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

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_text(struct filter_part part, const char *text)
{
  return strlen(text) == part.length && !memcmp(part.text, text, part.length);
}

/* Takes the next item of a list, without blanks around it and '!' before it, which CTL has checked. */
static bool next_item(struct filter_part *rest, struct filter_item *item)
{
  const char *at = rest->text, *end = at + rest->length;
  while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
    at++;
  item->excludes = at < end && *at == '!';
  at += item->excludes;
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  const char *stop = at;
  while (stop < end && *stop != ',')
    stop++;
  *rest = (struct filter_part){stop, (size_t)(end - stop)};
  while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t'))
    stop--;
  item->part = (struct filter_part){at, (size_t)(stop - at)};
  return stop > at;
}

/* Finds out what the filter knows of a module: by its name, and which addresses. */
static uint8_t examine(struct filter *filter, uint32_t module, uint16_t *code)
{
  const char *name = base_name(modules_path(table_at(modules_table(), module)));
  struct filter_part rest = filter->modules;
  struct filter_item item;
  uint8_t of = OF_SEEN;
  while (next_item(&rest, &item))
    if (pattern_matches(item.part.text, item.part.length, name))
      of |= item.excludes ? OF_EXCLUDED : OF_INCLUDED;
  *code = 0;
  for (uint32_t i = 0; i < filter->known_count && !*code; i++)
    if (is_text(filter->known[i].name, name))
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

/* Decimal numbers and ranges, which CTL has checked. */
static uint64_t number(const char **at, const char *end)
{
  uint64_t value = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
    value = value * 10 + (uint64_t)(**at - '0');
  return value;
}

bool filter_thread(uint32_t index)
{
  struct filter_part rest = filter_now()->threads;
  struct filter_item item;
  if (!rest.length)
    return true;
  while (next_item(&rest, &item)) {
    const char *at = item.part.text, *end = at + item.part.length;
    uint64_t from = number(&at, end), to = at < end && *at++ == '-' ? number(&at, end) : from;
    if (index >= from && index <= to)
      return true;
  }
  return false;
}

bool filter_user_region(const char *name)
{
  struct filter_part rest = filter_now()->regions;
  struct filter_item item;
  while (next_item(&rest, &item))
    if (is_text(item.part, name))
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
  bool limited = filter->kinds_included || filter->places_included;
  return limited && !(filter->kinds_included >> kind & 1) && !listed(filter, known, FILTER_INCLUDED_CONSTRUCTS, offset);
}
