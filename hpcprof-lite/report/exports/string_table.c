#include "hpcprof-lite/report/exports/string_table.h"

#include "common/xalloc.h"

#include <stdlib.h>
#include <string.h>

uint32_t string_table_add(struct string_table *table, const char *text)
{
  uint64_t key = index_hash_bytes(1, text, strlen(text));
  uint32_t slot, number = index_first(&table->index, key, &slot);
  while (number && strcmp(table->texts[number - 1], text) != 0)
    number = index_next(&table->index, key, &slot);
  if (number)
    return number - 1;
  xarray_reserve(&table->texts, &table->room, (size_t)table->count + 1, sizeof *table->texts);
  index_add(&table->index, key, table->count + 1);
  table->texts[table->count] = text;
  return table->count++;
}

void string_table_release(struct string_table *table)
{
  free(table->texts);
  index_release(&table->index);
}
