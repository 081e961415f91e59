#include "hpcprof-lite/report/exports/string_table.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

uint32_t string_table_add(struct string_table *table, const char *text)
{
  assert(text);
  uint64_t key = hash_map_key_bytes(1, text, strlen(text));
  uint32_t number = HASH_MAP_FIND(&table->map, key, i, !strcmp(table->texts[i - 1], text));
  if (number)
    return number - 1;
  *XAPPEND(table->texts, table->count, table->room) = text;
  hash_map_add(&table->map, key, table->count);
  return table->count - 1;
}

void string_table_release(struct string_table *table)
{
  free(table->texts);
  hash_map_release(&table->map);
}
