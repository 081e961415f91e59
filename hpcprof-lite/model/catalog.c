#include "hpcprof-lite/model/catalog.h"

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
  free(catalog->module_slots);
  free(catalog->columns);
  pthread_mutex_destroy(&catalog->lock);
}

static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t size)
{
  const uint8_t *p = bytes;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ p[i]) * 16777619u;
  return hash;
}

static uint32_t module_hash(const struct profile_module *module)
{
  uint32_t hash = hash_bytes(2166136261u, module->path, strlen(module->path));
  return hash_bytes(hash, module->build_id, module->build_id_size);
}

static int module_compare(const struct profile_module *a, const struct profile_module *b)
{
  int order = strcmp(a->path, b->path);
  if (!order)
    order = (a->build_id_size > b->build_id_size) - (a->build_id_size < b->build_id_size);
  return order ? order : memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* Slot of the module, or the free slot where it belongs. */
static uint32_t module_slot(const struct catalog *catalog, const struct profile_module *module)
{
  uint32_t mask = catalog->module_slots_count - 1;
  uint32_t slot = module_hash(module) & mask;
  while (catalog->module_slots[slot] && module_compare(&catalog->modules[catalog->module_slots[slot] - 1], module))
    slot = (slot + 1) & mask;
  return slot;
}

/* Makes room for one more module, with the hash table at most half full. */
static int module_reserve(struct catalog *catalog)
{
  if (catalog->modules_count < catalog->modules_room)
    return 0;
  uint32_t room = catalog->modules_room ? catalog->modules_room * 2 : 32;
  struct profile_module *modules = reallocarray(catalog->modules, room, sizeof *modules);
  if (!modules)
    return ERR_NOMEM;
  catalog->modules = modules;
  uint32_t *slots = calloc((size_t)room * 2, sizeof *slots);
  if (!slots)
    return ERR_NOMEM;
  free(catalog->module_slots);
  catalog->module_slots = slots;
  catalog->module_slots_count = room * 2;
  catalog->modules_room = room;
  for (uint32_t i = 0; i < catalog->modules_count; i++)
    slots[module_slot(catalog, &modules[i])] = i + 1;
  return 0;
}

static uint32_t module_intern(struct catalog *catalog, struct profile_module *module)
{
  if (catalog->modules_count == CATALOG_MODULES_MAX || module_reserve(catalog))
    return PROFILE_NONE;
  uint32_t slot = module_slot(catalog, module);
  if (!catalog->module_slots[slot]) {
    module->path = strdup(module->path);
    if (!module->path)
      return PROFILE_NONE;
    const char *slash = strrchr(module->path, '/');
    module->name = slash && slash[1] ? slash + 1 : module->path;
    catalog->modules[catalog->modules_count++] = *module;
    catalog->module_slots[slot] = catalog->modules_count;
  }
  uint32_t number = catalog->module_slots[slot] - 1;
  catalog->modules[number].flags |= module->flags;
  return number;
}

uint32_t catalog_module(struct catalog *catalog, const char *path, const uint8_t *build_id, uint32_t build_id_size,
                        uint32_t flags)
{
  struct profile_module module = {.path = (char *)path, .build_id_size = build_id_size, .flags = flags};
  if (build_id_size > sizeof module.build_id)
    module.build_id_size = sizeof module.build_id;
  memcpy(module.build_id, build_id, module.build_id_size);
  pthread_mutex_lock(&catalog->lock);
  uint32_t number = module_intern(catalog, &module);
  pthread_mutex_unlock(&catalog->lock);
  return number;
}

static int column_compare(const struct profile_column *a, const struct profile_column *b)
{
  int order = (a->role > b->role) - (a->role < b->role);
  if (!order)
    order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->unit, b->unit);
}

static int column_intern(struct catalog *catalog, const struct profile_column *column, uint32_t *number)
{
  uint32_t own = column->role < COLUMN_STORED ? CATALOG_COLUMNS_OWN : 0;
  for (*number = 0; *number < catalog->columns_count; ++*number) {
    if (column_compare(&catalog->columns[*number], column))
      continue;
    if (catalog->columns[*number].period < column->period)
      catalog->columns[*number].period = column->period;
    return 0;
  }
  if (catalog->columns_count >= CATALOG_COLUMNS_MAX - own)
    return ERR_INPUT;
  struct profile_column *columns = reallocarray(catalog->columns, catalog->columns_count + 1, sizeof *columns);
  if (!columns)
    return ERR_NOMEM;
  catalog->columns = columns;
  struct profile_column copy = *column;
  copy.name = strdup(column->name);
  copy.unit = strdup(column->unit);
  if (!copy.name || !copy.unit) {
    free(copy.name);
    free(copy.unit);
    return ERR_NOMEM;
  }
  columns[catalog->columns_count++] = copy;
  return 0;
}

int catalog_column(struct catalog *catalog, const struct profile_column *column, uint32_t *number)
{
  pthread_mutex_lock(&catalog->lock);
  int status = column_intern(catalog, column, number);
  pthread_mutex_unlock(&catalog->lock);
  if (status)
    *number = PROFILE_NONE;
  return status;
}

static int by_module(const void *a, const void *b, void *catalog)
{
  const struct profile_module *modules = ((const struct catalog *)catalog)->modules;
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
  const struct profile_column *columns = ((const struct catalog *)catalog)->columns;
  return column_compare(&columns[*(const uint32_t *)a], &columns[*(const uint32_t *)b]);
}

void catalog_column_order(const struct catalog *catalog, uint32_t *order)
{
  for (uint32_t i = 0; i < catalog->columns_count; i++)
    order[i] = i;
  qsort_r(order, catalog->columns_count, sizeof *order, by_column, (void *)catalog);
}
