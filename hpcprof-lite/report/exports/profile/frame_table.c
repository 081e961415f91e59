#include "hpcprof-lite/report/exports/profile/frame_table.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool same_frame(const struct tree_row *a, const struct tree_row *b)
{
  if (a->function != MODEL_NONE || b->function != MODEL_NONE)
    return a->function == b->function && a->mark == b->mark &&
           (a->kind == b->kind || (a->kind <= ROW_INLINED && b->kind <= ROW_INLINED));
  return a->kind == b->kind && a->line == b->line && a->module == b->module && !strcmp(a->name, b->name) &&
         !strcmp(a->file, b->file);
}

static uint64_t hash_of(const struct tree_row *row)
{
  if (row->function != MODEL_NONE)
    return hash_map_key(1, row->function);
  uint64_t hash = hash_map_key(hash_map_key(2, row->kind), row->line);
  return hash_map_key_bytes(hash, row->name, strlen(row->name));
}

/* Finds or adds the frame of a row. */
static void number_row(const struct tree *tree, uint32_t row, struct frame_table *table)
{
  assert(row < tree->count);
  uint64_t hash = hash_of(&tree->rows[row]);
  uint32_t found = HASH_MAP_FIND(&table->map, hash, i, same_frame(table->rows[i - 1], &tree->rows[row]));
  if (!found) {
    table->rows[table->count] = &tree->rows[row];
    found = ++table->count;
    hash_map_add(&table->map, hash, found);
  }
  table->frame_of[row] = found - 1;
}

void frame_table_init(const struct report *report, struct frame_table *table)
{
  assert(report->shown && report->tree->order);
  const struct tree *tree = report->tree;
  *table = (struct frame_table){.frame_of = xcalloc((size_t)tree->count + 1, sizeof *table->frame_of),
                                .rows = xcalloc((size_t)tree->count + 1, sizeof *table->rows)};
  for (uint32_t i = 0; i < tree->count; i++)
    if (report->shown[tree->order[i]])
      number_row(tree, tree->order[i], table);
  table->rows[table->count] = &tree_walk_omitted;
  table->frame_of[tree->count] = table->count++;
}

void frame_table_release(struct frame_table *table)
{
  free(table->frame_of);
  free(table->rows);
  hash_map_release(&table->map);
}
