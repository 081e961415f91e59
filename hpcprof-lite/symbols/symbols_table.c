#include "hpcprof-lite/symbols/symbols_table.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

struct symbols_table {
  struct symbols_symbol *symbols;
  struct symbols_ranges ranges; /* → symbol */
};

/* The name of the function that a part was split off from, by the part's name without ".cold" and its number. */
struct base {
  const char *name;
  size_t length;
  size_t part;      /* symbol of the part                  */
  uint64_t start;   /* of the function                     */
  unsigned matches; /* functions of that name seen so far  */
};

struct bases {
  struct base *bases;
  size_t count, room;
};

/* By address, then the name to show first: by rank, then without leading underscores, then the shorter one, then the
 * one that stands first in the file. */
static int compare_symbols(const void *left, const void *right)
{
  const struct symbols_symbol *a = left, *b = right;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  size_t a_score = strspn(a->raw, "_"), b_score = strspn(b->raw, "_");
  if (a_score != b_score)
    return a_score < b_score ? -1 : 1;
  if (a->length != b->length)
    return a->length < b->length ? -1 : 1;
  return ((uintptr_t)a->raw > (uintptr_t)b->raw) - ((uintptr_t)a->raw < (uintptr_t)b->raw);
}

static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length)
{
  int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_bases(const void *left, const void *right)
{
  const struct base *a = left, *b = right;
  return compare_names(a->name, a->length, b->name, b->length);
}

/* Collects the parts that were split off, sorted by the name of their function. */
static bool collect_bases(const struct symbols_symbols *all, struct bases *out)
{
  for (size_t i = 0; i < all->count; i++) {
    const char *name = all->symbols[i].raw, *mark = strstr(name, ".cold");
    if (!mark || mark == name || (mark[5] && mark[5] != '.'))
      continue;
    if (!array_reserve(&out->bases, &out->room, out->count + 1, sizeof *out->bases))
      return false;
    out->bases[out->count++] = (struct base){.name = name, .length = (size_t)(mark - name), .part = i};
  }
  if (out->count)
    qsort(out->bases, out->count, sizeof *out->bases, compare_bases);
  return true;
}

/* Gives split-off parts the start of their function, so that both count as one.  Where several functions of a
 * file-local name exist, nobody can tell which one a part belongs to, and it stays on its own. */
static bool join_parts(struct symbols_symbols *all)
{
  struct bases bases = {0};
  bool fine = collect_bases(all, &bases);
  for (size_t i = 0; fine && bases.count && i < all->count; i++) {
    const struct symbols_symbol *symbol = &all->symbols[i];
    struct base wanted = {.name = symbol->raw, .length = symbol->length};
    struct base *base = bsearch(&wanted, bases.bases, bases.count, sizeof wanted, compare_bases);
    if (base && (!base->matches || base->start != symbol->low)) {
      base->start = symbol->low;
      base->matches++;
    }
  }
  for (size_t i = 0; fine && i < bases.count; i++) {
    const struct base *base = &bases.bases[i];
    bool alone = (!i || compare_bases(base - 1, base)) && (i + 1 == bases.count || compare_bases(base, base + 1));
    if (base->matches == 1 && alone)
      all->symbols[base->part].start = base->start;
  }
  free(bases.bases);
  return fine;
}

/* Keeps one symbol for each address, with the largest of their sizes. */
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

/* Adds the ranges.  A symbol of unknown size ends at the next one; within a function of known size it is a mere label.
 * */
static bool add_ranges(struct symbols_table *table, const struct symbols_symbols *all)
{
  uint64_t covered = 0;
  for (size_t i = 0; i < all->count && i < SYMBOLS_NONE; i++) {
    const struct symbols_symbol *s = &all->symbols[i];
    uint64_t high = s->high;
    if (high == s->low) {
      if (s->low < covered)
        continue;
      high = i + 1 < all->count && all->symbols[i + 1].low < s->limit ? all->symbols[i + 1].low : s->limit;
    } else if (high > covered) {
      covered = high;
    }
    if (!symbols_ranges_add(&table->ranges, (struct symbols_range){s->low, high, (uint32_t)i, 0}))
      return false;
  }
  return symbols_ranges_build(&table->ranges);
}

struct symbols_table *symbols_table_new(struct symbols_symbols *all)
{
  struct symbols_table *table = calloc(1, sizeof *table);
  bool fine = table && join_parts(all);
  if (fine) {
    if (all->count)
      qsort(all->symbols, all->count, sizeof *all->symbols, compare_symbols);
    drop_aliases(all);
    fine = add_ranges(table, all);
  }
  if (!fine) {
    free(all->symbols);
    symbols_table_free(table);
    return NULL;
  }
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

void symbols_table_free(struct symbols_table *table)
{
  if (!table)
    return;
  symbols_ranges_release(&table->ranges);
  free(table->symbols);
  free(table);
}
