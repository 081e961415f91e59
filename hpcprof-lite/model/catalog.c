#include "hpcprof-lite/model/catalog.h"

#include "common/escape.h"
#include "common/order.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/names.h"

#include <assert.h>
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
  for (uint32_t i = 0; i < catalog->modules_count; i++) {
    free(catalog->modules[i].path);
    free(catalog->modules[i].generated);
    free(catalog->modules[i].name);
    free(catalog->modules[i].identity.pages);
  }
  for (uint32_t i = 0; i < catalog->columns_count; i++) {
    free(catalog->columns[i].name);
    free(catalog->columns[i].unit);
  }
  free(catalog->modules);
  hash_map_release(&catalog->module_map);
  free(catalog->columns);
  pthread_mutex_destroy(&catalog->lock);
}

static uint64_t module_hash(const struct catalog_module *module)
{
  uint64_t hash = hash_map_key_bytes(0, module->path, strlen(module->path));
  if (module->generated)
    hash = hash_map_key_bytes(hash, module->generated, strlen(module->generated));
  return hash_map_key_bytes(hash, module->build_id, module->build_id_size);
}

static const char *generated_of(const struct catalog_module *module)
{
  return module->generated ? module->generated : "";
}

static int module_compare(const struct catalog_module *a, const struct catalog_module *b)
{
  return strcmp(a->path, b->path) ?: COMPARE(a->build_id_size, b->build_id_size)
                                  ?: memcmp(a->build_id, b->build_id, a->build_id_size)
                                  ?: strcmp(generated_of(a), generated_of(b));
}

/* Returns the allocated name of a module: of "_x.cpython-311-x86_64-linux-gnu.so", "_x.so". */
static char *name_of(const char *path)
{
  const char *base = names_base(path), *tag = strstr(base, ".cpython-"), *suffix = tag ? strstr(tag, ".so") : NULL;
  return suffix ? xasprintf("%.*s%s", (int)(tag - base), base, suffix) : xstrdup(base);
}

static void add_module(struct catalog *catalog, const struct catalog_module *wanted, uint64_t hash)
{
  assert(wanted->path && hash);
  struct catalog_module module = *wanted;
  module.path = xstrdup(wanted->path);
  module.generated = wanted->generated ? xstrdup(wanted->generated) : NULL;
  module.name = name_of(module.path);
  *XAPPEND(catalog->modules, catalog->modules_count, catalog->modules_room) = module;
  hash_map_add(&catalog->module_map, hash, catalog->modules_count);
}

static uint32_t intern_module(struct catalog *catalog, const struct catalog_module *wanted)
{
  uint64_t hash = module_hash(wanted);
  uint32_t found = HASH_MAP_FIND(&catalog->module_map, hash, i, !module_compare(&catalog->modules[i - 1], wanted));
  if (!found) {
    if (catalog->modules_count == CATALOG_MODULES_MAX)
      return MODEL_NONE;
    add_module(catalog, wanted, hash);
    found = catalog->modules_count;
  }
  catalog->modules[found - 1].flags |= wanted->flags;
  return found - 1;
}

static uint32_t add_locked(struct catalog *catalog, const struct catalog_module *module)
{
  pthread_mutex_lock(&catalog->lock);
  uint32_t number = intern_module(catalog, module);
  pthread_mutex_unlock(&catalog->lock);
  return number;
}

uint32_t catalog_add_module(struct catalog *catalog, const char *path, const uint8_t *build_id, uint32_t build_id_size,
                            uint32_t flags)
{
  assert(path && (build_id || !build_id_size));
  struct catalog_module module = {.path = (char *)path, .flags = flags};
  module.build_id_size = MIN(build_id_size, (uint32_t)sizeof module.build_id);
  memcpy(module.build_id, build_id, module.build_id_size);
  return add_locked(catalog, &module);
}

uint32_t catalog_add_generated(struct catalog *catalog, const char *path, const char *name)
{
  assert(path && *name);
  return add_locked(catalog,
                    &(struct catalog_module){.path = (char *)path, .generated = (char *)name, .flags = MODULE_ANON});
}

uint32_t catalog_add_same(struct catalog *catalog, const struct catalog_module *module)
{
  assert(module->path);
  struct catalog_module wanted = *module;
  wanted.identity = (struct file_identity){0};
  uint32_t number = add_locked(catalog, &wanted);
  if (number != MODEL_NONE)
    catalog_add_identity(catalog, number, &module->identity);
  return number;
}

ORDER(by_page, struct file_identity_page, COMPARE(x->offset, y->offset) ?: COMPARE(x->bytes, y->bytes)
                                          ?: COMPARE(x->checksum, y->checksum))

/* Adds a page that is not there yet.  The first ones in their order are kept, which does not depend on scheduling. */
static void add_page(struct file_identity *to, const struct file_identity_page *page)
{
  size_t at = FIRST_WHERE(i, to->pages_count, by_page(&to->pages[i], page) >= 0);
  if (at == CATALOG_PAGES_MAX || (at < to->pages_count && !by_page(&to->pages[at], page)))
    return;
  if (to->pages_count < CATALOG_PAGES_MAX)
    to->pages = xrealloc(to->pages, ++to->pages_count * sizeof *to->pages);
  memmove(&to->pages[at + 1], &to->pages[at], (to->pages_count - 1 - at) * sizeof *to->pages);
  to->pages[at] = *page;
}

void catalog_add_identity(struct catalog *catalog, uint32_t module, const struct file_identity *identity)
{
  assert(module < catalog->modules_count);
  pthread_mutex_lock(&catalog->lock);
  struct file_identity *known = &catalog->modules[module].identity;
  bool both = known->headers && identity->headers;
  known->differs |= identity->differs || (both && (known->headers != identity->headers ||
                                                   (known->size && identity->size && known->size != identity->size)));
  known->size = MAX(known->size, identity->size);
  known->time_ns = MAX(known->time_ns, identity->time_ns);
  known->headers = known->headers ? known->headers : identity->headers;
  for (uint32_t i = 0; i < identity->pages_count; i++)
    add_page(known, &identity->pages[i]);
  pthread_mutex_unlock(&catalog->lock);
}

static int column_compare(const struct catalog_column *a, const struct catalog_column *b)
{
  return COMPARE(a->role, b->role) ?: strcmp(a->name, b->name) ?: strcmp(a->unit, b->unit);
}

uint32_t catalog_same_column(const struct catalog_column *columns, uint32_t count, const struct catalog_column *wanted)
{
  for (uint32_t i = 0; i < count; i++)
    if (!column_compare(&columns[i], wanted))
      return i;
  return MODEL_NONE;
}

static int intern_column(struct catalog *catalog, const struct catalog_column *column, uint32_t *number)
{
  bool own = column->role == COLUMN_IDLENESS || column->role == COLUMN_CRITICAL;
  uint32_t reserved = own ? 0 : CATALOG_COLUMNS_OWN, users = 0;
  *number = catalog_same_column(catalog->columns, catalog->columns_count, column);
  if (*number != MODEL_NONE) {
    uint64_t *period = &catalog->columns[*number].period;
    *period = MAX(*period, column->period);
    return 0;
  }
  for (uint32_t i = 0; i < catalog->columns_count; i++)
    users += catalog->columns[i].role == COLUMN_USER;
  *number = catalog->columns_count;
  if (catalog->columns_count >= CATALOG_COLUMNS_MAX - reserved ||
      (column->role == COLUMN_USER && users >= CATALOG_COLUMNS_USER))
    return ERR_INPUT;
  struct catalog_column *added = XAPPEND(catalog->columns, catalog->columns_count, catalog->columns_room);
  *added = *column;
  added->name = xstrdup(column->name);
  added->unit = xstrdup(column->unit);
  return 0;
}

int catalog_add_column(struct catalog *catalog, const struct catalog_column *column, uint32_t *number)
{
  assert(column->name && column->unit && number);
  pthread_mutex_lock(&catalog->lock);
  int status = intern_column(catalog, column, number);
  pthread_mutex_unlock(&catalog->lock);
  if (status)
    *number = MODEL_NONE;
  return status;
}

/* ---- names that differ ---- */

/* Columns that files or programs name, in an order that does not depend on scheduling: events first.  The figures of a
 * part of the run and those of the whole run are neighbours. */
struct naming {
  struct catalog *catalog;
  uint32_t order[CATALOG_COLUMNS_MAX], count, events;
  char *names[CATALOG_COLUMNS_MAX]; /* [position in order] */
};

static uint32_t role_of(const struct catalog_column *column)
{
  return column->role % COLUMN_OF_WHOLE;
}

static bool has_free_name(const struct catalog_column *column)
{
  return role_of(column) == COLUMN_EVENT || role_of(column) == COLUMN_USER;
}

/* Compares columns without regard to whether they are of the whole run. */
static int counted_compare(const struct catalog_column *a, const struct catalog_column *b)
{
  return COMPARE(role_of(a), role_of(b)) ?: strcmp(a->name, b->name) ?: strcmp(a->unit, b->unit);
}

static int by_counted(const void *a, const void *b, void *catalog)
{
  const struct catalog_column *columns = ((const struct catalog *)catalog)->columns;
  return counted_compare(&columns[*(const uint32_t *)a], &columns[*(const uint32_t *)b]);
}

/* Whether a column of a view, or one of the first columns that were named, has that name. */
static bool is_taken(const struct naming *naming, uint32_t count, const char *name)
{
  assert(count <= naming->count);
  static const char *const of_views[] = {"critical_path", "file",   "line",       "function",   "directive",
                                         "text",          "work_s", "overhead_s", "lockwait_s", "idleness_s"};
  bool taken = false;
  for (size_t i = 0; i < sizeof of_views / sizeof *of_views; i++)
    taken |= !strcmp(of_views[i], name);
  for (uint32_t i = 0; i < naming->catalog->columns_count; i++)
    taken |= !has_free_name(&naming->catalog->columns[i]) && !strcmp(naming->catalog->columns[i].name, name);
  for (uint32_t i = 0; i < count; i++)
    taken |= !strcmp(naming->names[i], name);
  return taken;
}

/* Returns a copy in which U+FFFD stands for what is not UTF-8. */
static char *valid_text(const char *name)
{
  char *copy = xcalloc(strlen(name) + 1, sizeof ESCAPE_INVALID - 1), *at = copy;
  for (size_t length; *name; name += length ? length : 1) {
    length = utf8_length(name);
    if (length)
      at = mempcpy(at, name, length);
    else
      at = stpcpy(at, ESCAPE_INVALID);
  }
  return copy;
}

/* Returns a free name for an allocated one, which it frees. */
static char *find_free(const struct naming *naming, uint32_t position, bool of_user, char *name)
{
  assert(position < naming->count && name);
  for (char *longer; of_user && is_taken(naming, naming->events, name); name = longer) {
    longer = xasprintf("%s_user", name);
    free(name);
  }
  char *numbered = xstrdup(name);
  for (uint32_t i = 2; is_taken(naming, position, numbered); i++) {
    free(numbered);
    numbered = xasprintf("%s (%u)", name, i);
  }
  free(name);
  return numbered;
}

static char *name_column(const struct naming *naming, uint32_t position)
{
  assert(position < naming->count);
  const struct catalog_column *column = &naming->catalog->columns[naming->order[position]],
                              *before = position ? &naming->catalog->columns[naming->order[position - 1]] : NULL;
  if (before && !counted_compare(column, before))
    return xstrdup(naming->names[position - 1]);
  return find_free(naming, position, role_of(column) == COLUMN_USER, valid_text(column->name));
}

void catalog_distinguish(struct catalog *catalog)
{
  struct naming naming = {.catalog = catalog};
  for (uint32_t i = 0; i < catalog->columns_count; i++)
    if (has_free_name(&catalog->columns[i])) {
      naming.events += role_of(&catalog->columns[i]) == COLUMN_EVENT;
      naming.order[naming.count++] = i;
    }
  qsort_r(naming.order, naming.count, sizeof *naming.order, by_counted, catalog);
  for (uint32_t i = 0; i < naming.count; i++)
    naming.names[i] = name_column(&naming, i);
  for (uint32_t i = 0; i < naming.count; i++) {
    char **name = &catalog->columns[naming.order[i]].name;
    free(*name);
    *name = naming.names[i];
  }
}

static int by_module(const void *a, const void *b, void *catalog)
{
  const struct catalog_module *modules = ((const struct catalog *)catalog)->modules;
  return module_compare(&modules[*(const uint32_t *)a], &modules[*(const uint32_t *)b]);
}

void catalog_module_rank(const struct catalog *catalog, uint32_t *rank)
{
  uint32_t count = catalog->modules_count;
  uint32_t *order = xcalloc(count, sizeof *order);
  for (uint32_t i = 0; i < count; i++)
    order[i] = i;
  qsort_r(order, count, sizeof *order, by_module, (void *)catalog);
  for (uint32_t i = 0; i < count; i++)
    rank[order[i]] = i;
  free(order);
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
