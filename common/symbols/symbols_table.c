#include "common/symbols/symbols_table.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct symbols_table {
  struct symbols_symbol *symbols;
  struct symbols_ranges ranges; /* value: symbol */
};

/* A part that was split off from a function; the function's name is that of the part up to ".cold". */
struct split_part {
  const char *name;
  size_t length;
  size_t symbol;    /* of the part                          */
  uint64_t start;   /* of the function                      */
  unsigned matches; /* functions of that name found so far  */
};

struct split_parts {
  struct split_part *parts;
  size_t count, room;
};

/* By address, then the name to be shown first: by rank, fewer leading underscores, shorter, earlier in the file. */
ORDER(compare_symbols, struct symbols_symbol,
      COMPARE(x->low, y->low)
          ?: COMPARE(x->rank, y->rank) ?: COMPARE(strspn(x->raw, "_"), strspn(y->raw, "_"))
          ?: COMPARE(x->length, y->length) ?: COMPARE((uintptr_t)x->raw, (uintptr_t)y->raw))

ORDER(compare_parts, struct split_part,
      memcmp(x->name, y->name, MIN(x->length, y->length)) ?: COMPARE(x->length, y->length))

/* Collects the parts that were split off, sorted by the names of their functions. */
static void collect_parts(const struct symbols_symbols *all, struct split_parts *out)
{
  for (size_t i = 0; i < all->count; i++) {
    const char *name = all->symbols[i].raw, *mark = strstr(name, ".cold");
    if (!mark || mark == name || (mark[5] && mark[5] != '.'))
      continue;
    *XAPPEND(out->parts, out->count, out->room) =
        (struct split_part){.name = name, .length = (size_t)(mark - name), .symbol = i};
  }
  if (out->count)
    qsort(out->parts, out->count, sizeof *out->parts, compare_parts);
}

/* Gives split-off parts the start of their function, so that both count as one function.  If several file-local
 * functions have the same name, a part cannot be assigned to one of them and remains a function of its own. */
static void join_parts(struct symbols_symbols *all)
{
  struct split_parts parts = {0};
  collect_parts(all, &parts);
  for (size_t i = 0; parts.count && i < all->count; i++) {
    const struct symbols_symbol *symbol = &all->symbols[i];
    struct split_part wanted = {.name = symbol->raw, .length = symbol->length};
    struct split_part *part = bsearch(&wanted, parts.parts, parts.count, sizeof wanted, compare_parts);
    if (part && (!part->matches || part->start != symbol->low)) {
      part->start = symbol->low;
      part->matches++;
    }
  }
  for (size_t i = 0; i < parts.count; i++) {
    const struct split_part *part = &parts.parts[i];
    bool unique = (!i || compare_parts(part - 1, part)) && (i + 1 == parts.count || compare_parts(part, part + 1));
    if (part->matches == 1 && unique)
      all->symbols[part->symbol].start = part->start;
  }
  free(parts.parts);
}

/* Keeps the first symbol of each address, with the largest size of all. */
static void drop_aliases(struct symbols_symbols *all)
{
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++) {
    struct symbols_symbol *last = kept ? &all->symbols[kept - 1] : NULL;
    if (!last || last->low != all->symbols[i].low)
      all->symbols[kept++] = all->symbols[i];
    else if (last->high < all->symbols[i].high)
      last->high = all->symbols[i].high;
  }
  all->count = kept;
}

/* Adds the range of each symbol.  A symbol of unknown size ends at the next one; inside a function of known size it is
 * a label and has no range. */
static void add_ranges(struct symbols_table *table, const struct symbols_symbols *all)
{
  uint64_t covered = 0;
  for (size_t i = 0; i < all->count; i++) {
    const struct symbols_symbol *s = &all->symbols[i];
    uint64_t high = s->high;
    if (high == s->low) {
      if (s->low < covered)
        continue;
      high = i + 1 < all->count && all->symbols[i + 1].low < s->limit ? all->symbols[i + 1].low : s->limit;
    } else if (high > covered) {
      covered = high;
    }
    symbols_ranges_add(&table->ranges, (struct symbols_range){s->low, high, (uint32_t)i, 0});
  }
  symbols_ranges_build(&table->ranges);
}

struct symbols_table *symbols_table_new(struct symbols_symbols *all)
{
  struct symbols_table *table = xcalloc(1, sizeof *table);
  join_parts(all);
  if (all->count)
    qsort(all->symbols, all->count, sizeof *all->symbols, compare_symbols);
  drop_aliases(all);
  add_ranges(table, all);
  table->symbols = all->symbols;
  return table;
}

const struct symbols_symbol *symbols_table_find(struct symbols_table *table, struct symbols_pool *pool,
                                                uint64_t address)
{
  uint32_t number = table ? symbols_ranges_find(&table->ranges, address) : SYMBOLS_NONE;
  if (number == SYMBOLS_NONE)
    return NULL;
  struct symbols_symbol *symbol = &table->symbols[number];
  if (!symbol->readable)
    symbol->readable = symbols_readable_in(pool, symbol->raw);
  return symbol;
}

void symbols_table_starts(const struct symbols_table *table, uint64_t **starts, size_t *count, size_t *room)
{
  if (table)
    symbols_ranges_starts(&table->ranges, starts, count, room);
}

void symbols_table_free(struct symbols_table *table)
{
  if (!table)
    return;
  symbols_ranges_release(&table->ranges);
  free(table->symbols);
  free(table);
}
