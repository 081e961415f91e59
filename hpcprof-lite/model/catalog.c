#include "hpcprof-lite/model/catalog.h"

#include "common/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void catalog_init(struct catalog *catalog)
{
  *catalog = (struct catalog){0};
  pthread_mutex_init(&catalog->lock, NULL);
}

void catalog_release(struct catalog *catalog)
{
  for (uint32_t i = 0; i < catalog->modules_count; i++)
    free(catalog->modules[i].path);
  for (uint32_t i = 0; i < catalog->columns_count; i++) {
    free(catalog->columns[i].name);
    free(catalog->columns[i].unit);
  }
  free(catalog->modules);
  index_release(&catalog->module_index);
  free(catalog->columns);
  pthread_mutex_destroy(&catalog->lock);
}

static uint64_t module_hash(const struct catalog_module *module)
{
  uint64_t hash = index_hash_bytes(0, module->path, strlen(module->path));
  return index_hash_bytes(hash, module->build_id, module->build_id_size);
}

static int module_compare(const struct catalog_module *a, const struct catalog_module *b)
{
  int order = strcmp(a->path, b->path);
  if (!order)
    order = (a->build_id_size > b->build_id_size) - (a->build_id_size < b->build_id_size);
  return order ? order : memcmp(a->build_id, b->build_id, a->build_id_size);
}

static struct catalog_module *find_module(struct catalog *catalog, const struct catalog_module *wanted, uint64_t hash)
{
  uint32_t slot, found = index_first(&catalog->module_index, hash, &slot);
  while (found && module_compare(&catalog->modules[found - 1], wanted))
    found = index_next(&catalog->module_index, hash, &slot);
  return found ? &catalog->modules[found - 1] : NULL;
}

static struct catalog_module *add_module(struct catalog *catalog, const struct catalog_module *wanted, uint64_t hash)
{
  struct catalog_module module = *wanted;
  if (catalog->modules_count == CATALOG_MODULES_MAX ||
      !array_reserve(&catalog->modules, &catalog->modules_room, (size_t)catalog->modules_count + 1, sizeof module))
    return NULL;
  module.path = strdup(wanted->path);
  if (!module.path || !index_add(&catalog->module_index, hash, catalog->modules_count + 1)) {
    free(module.path);
    return NULL;
  }
  const char *slash = strrchr(module.path, '/');
  module.name = slash && slash[1] ? slash + 1 : module.path;
  catalog->modules[catalog->modules_count] = module;
  return &catalog->modules[catalog->modules_count++];
}

static uint32_t intern_module(struct catalog *catalog, const struct catalog_module *wanted)
{
  uint64_t hash = module_hash(wanted);
  struct catalog_module *module = find_module(catalog, wanted, hash);
  if (!module)
    module = add_module(catalog, wanted, hash);
  if (!module)
    return MODEL_NONE;
  module->flags |= wanted->flags;
  return (uint32_t)(module - catalog->modules);
}

uint32_t catalog_add_module(struct catalog *catalog, const char *path, const uint8_t *build_id, uint32_t build_id_size,
                            uint32_t flags)
{
  struct catalog_module module = {.path = (char *)path, .build_id_size = build_id_size, .flags = flags};
  if (build_id_size > sizeof module.build_id)
    module.build_id_size = sizeof module.build_id;
  memcpy(module.build_id, build_id, module.build_id_size);
  pthread_mutex_lock(&catalog->lock);
  uint32_t number = intern_module(catalog, &module);
  pthread_mutex_unlock(&catalog->lock);
  return number;
}

static int column_compare(const struct catalog_column *a, const struct catalog_column *b)
{
  int order = (a->role > b->role) - (a->role < b->role);
  if (!order)
    order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->unit, b->unit);
}

static int intern_column(struct catalog *catalog, const struct catalog_column *column, uint32_t *number)
{
  bool own = column->role == COLUMN_IDLENESS || column->role == COLUMN_CRITICAL;
  uint32_t reserved = own ? 0 : CATALOG_COLUMNS_OWN, users = 0;
  for (*number = 0; *number < catalog->columns_count; ++*number) {
    users += catalog->columns[*number].role == COLUMN_USER;
    if (column_compare(&catalog->columns[*number], column))
      continue;
    if (catalog->columns[*number].period < column->period)
      catalog->columns[*number].period = column->period;
    return 0;
  }
  if (catalog->columns_count >= CATALOG_COLUMNS_MAX - reserved ||
      (column->role == COLUMN_USER && users >= CATALOG_COLUMNS_USER))
    return ERR_INPUT;
  if (!array_reserve(&catalog->columns, &catalog->columns_room, (size_t)catalog->columns_count + 1, sizeof *column))
    return ERR_NOMEM;
  struct catalog_column copy = *column;
  copy.name = strdup(column->name);
  copy.unit = strdup(column->unit);
  if (!copy.name || !copy.unit) {
    free(copy.name);
    free(copy.unit);
    return ERR_NOMEM;
  }
  catalog->columns[catalog->columns_count++] = copy;
  return 0;
}

int catalog_add_column(struct catalog *catalog, const struct catalog_column *column, uint32_t *number)
{
  pthread_mutex_lock(&catalog->lock);
  int status = intern_column(catalog, column, number);
  pthread_mutex_unlock(&catalog->lock);
  if (status)
    *number = MODEL_NONE;
  return status;
}

/* Whether a column of views has the name of that counter. */
static bool is_taken(const struct catalog *catalog, uint32_t counter)
{
  const char *name = catalog->columns[counter].name;
  uint32_t role = catalog->columns[counter].role;
  bool taken = !strcmp(name, "critical_path");
  for (uint32_t i = 0; i < catalog->columns_count && !taken; i++)
    taken = i != counter && (catalog->columns[i].role ^ role) != COLUMN_OF_WHOLE && /* that is the same counter */
            !strcmp(catalog->columns[i].name, name);
  return taken;
}

int catalog_distinguish(struct catalog *catalog)
{
  for (uint32_t i = 0; i < catalog->columns_count; i++) {
    struct catalog_column *column = &catalog->columns[i];
    char *name;
    while (column->role % COLUMN_OF_WHOLE == COLUMN_USER && is_taken(catalog, i)) {
      if (asprintf(&name, "%s_user", column->name) < 0)
        return ERR_NOMEM;
      free(column->name);
      column->name = name;
    }
  }
  return 0;
}

static int by_module(const void *a, const void *b, void *catalog)
{
  const struct catalog_module *modules = ((const struct catalog *)catalog)->modules;
  return module_compare(&modules[*(const uint32_t *)a], &modules[*(const uint32_t *)b]);
}

int catalog_module_rank(const struct catalog *catalog, uint32_t *rank)
{
  uint32_t count = catalog->modules_count;
  uint32_t *order = calloc(count ? count : 1, sizeof *order);
  if (!order)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < count; i++)
    order[i] = i;
  qsort_r(order, count, sizeof *order, by_module, (void *)catalog);
  for (uint32_t i = 0; i < count; i++)
    rank[order[i]] = i;
  free(order);
  return 0;
}

static int by_column(const void *a, const void *b, void *catalog)
{
  const struct catalog_column *columns = ((const struct catalog *)catalog)->columns;
  return column_compare(&columns[*(const uint32_t *)a], &columns[*(const uint32_t *)b]);
}

void catalog_column_order(const struct catalog *catalog, uint32_t *order)
{
  for (uint32_t i = 0; i < catalog->columns_count; i++)
    order[i] = i;
  qsort_r(order, catalog->columns_count, sizeof *order, by_column, (void *)catalog);
}
