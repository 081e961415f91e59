#define _GNU_SOURCE
#include "hpcrun-lite/rt/core/modules.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "common/file_identity.h"
#include "hpcrun-lite/rt/core/module_identity.h"
#include "hpcrun-lite/rt/core/perf_map.h"
#include "hpcrun-lite/rt/core/sys.h"

enum {
  MODULES_FIRST = 32,
  CODE_FIRST = 16,
  STRINGS_FIRST = 4096,
  LOCK_TRIES = 100000,
  MODULE_PATH_MAX = 4096,
  CACHE_SIZE = 16
};

static struct table modules, code, strings; /* grow under the lock: see struct table */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static const char *executable_path;

/* The holder is inside rt_enter(), so none of the tool's handlers delays it: it releases the lock soon unless the
 * system has switched it out. */
static bool lock_take(void)
{
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (!atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
      return true;
    if (i % 64 == 63)
      sys_yield();
  }
  return false;
}

static void lock_drop(void)
{
  atomic_flag_clear_explicit(&lock, memory_order_release);
}

static uint32_t string_add(const char *text)
{
  size_t size = strnlen(text, MODULE_PATH_MAX - 1) + 1;
  uint32_t offset;
  if (size == 1)
    return 0;
  char *to = table_next_many(&strings, (uint32_t)size, &offset);
  if (!to)
    return 0;
  memcpy(to, text, size - 1);
  table_publish_many(&strings, (uint32_t)size);
  return offset;
}

uint32_t modules_string(const char *text)
{
  if (!lock_take())
    return 0;
  uint32_t offset = string_add(text);
  lock_drop();
  return offset;
}

const struct table *modules_table(void)
{
  return &modules;
}

const struct table *modules_strings(void)
{
  return &strings;
}

const struct table *modules_code_table(void)
{
  return &code;
}

const char *modules_path(const struct format_module *module)
{
  return table_at(&strings, module->path);
}

static bool starts_with(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static uint32_t flags_of(const char *path, uint64_t start)
{
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (starts_with(name, "libhpcrun-lite"))
    return FORMAT_MODULE_TOOL;
  if (starts_with(name, "libomp.") || starts_with(name, "libomp-") || starts_with(name, "libgomp.") ||
      starts_with(name, "libgomp-") || starts_with(name, "libiomp5."))
    return FORMAT_MODULE_RUNTIME;
  if (starts_with(name, "libomptarget."))
    return FORMAT_MODULE_RUNTIME | FORMAT_MODULE_DEVICES;
  if (starts_with(name, "libc.so") || starts_with(name, "libc-2") || starts_with(name, "ld-linux") ||
      starts_with(name, "libpthread"))
    return FORMAT_MODULE_SYSTEM;
  return start == getauxval(AT_SYSINFO_EHDR) ? FORMAT_MODULE_VDSO : 0;
}

/* Finds the entry of a module that is already in the table.  Where an executable has gaps between its segments, the
 * loader knows each segment as an object of its own: they have one entry. */
static const struct format_module *find_entry(uint64_t start, uint64_t end, const char *path, uint32_t flags,
                                              uint32_t *index)
{
  uint32_t count = __atomic_load_n(&modules.count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 1; i < count; i++) {
    const struct format_module *module = table_at(&modules, i);
    bool executable = __atomic_load_n(&module->flags, __ATOMIC_RELAXED) & flags & FORMAT_MODULE_MAIN;
    bool same = module->start == start && module->end == end;
    if (executable || (same && !strncmp(modules_path(module), path, MODULE_PATH_MAX - 1))) {
      *index = i;
      return module;
    }
  }
  return NULL;
}

/* Returns the module's entry, added if it is missing. */
static const struct format_module *add_entry(uint64_t start, uint64_t end, uint64_t base, const char *path,
                                             uint32_t flags, uint32_t *index)
{
  const struct format_module *found = find_entry(start, end, path, flags, index);
  if (found || !lock_take())
    return found;
  found = find_entry(start, end, path, flags, index);
  struct format_module *module = found ? NULL : table_next(&modules, index);
  if (module && *index < FORMAT_MODULES_MAX) {
    *module =
        (struct format_module){.start = start, .end = end, .base = base, .path = string_add(path), .flags = flags};
    if (!(flags & FORMAT_MODULE_ANON))
      module_identity_read(module, path);
    table_publish(&modules);
    found = module;
  }
  lock_drop();
  return found;
}

/* Makes a library's relative path absolute while the working directory is likely to be the one of the dlopen() call. */
static const char *absolute(const char *path, char *buffer, size_t size)
{
  if (path[0] == '/' || path[0] == '[')
    return path;
  size_t length = sys_working_directory(buffer, size);
  if (!length || length + 1 + strnlen(path, size) >= size)
    return path;
  if (path[0] == '.' && path[1] == '/')
    path += 2;
  buffer[length] = '/';
  strcpy(buffer + length + 1, path);
  return buffer;
}

/* Finds an address with the loader's lock-free lookup. */
static const struct format_module *look_up(uint64_t address, uint32_t *index)
{
  struct dl_find_object object;
  if (_dl_find_object((void *)address, &object) != 0) {
    perf_map_sampled();
    uint64_t window = address & ~0xffffffffULL;
    return add_entry(window, window + 0x100000000ULL, window, "[generated code]", FORMAT_MODULE_ANON, index);
  }
  uint64_t start = (uint64_t)object.dlfo_map_start;
  const struct link_map *map = object.dlfo_link_map;
  bool main = map->l_name[0] == '\0';
  char buffer[MODULE_PATH_MAX / 4];
  uint32_t flags = main ? FORMAT_MODULE_MAIN : flags_of(map->l_name, start);
  const char *path = main || flags & FORMAT_MODULE_VDSO ? map->l_name : absolute(map->l_name, buffer, sizeof buffer);
  return add_entry(start, (uint64_t)object.dlfo_map_end, map->l_addr, main ? executable_path : path, flags, index);
}

const struct format_module *modules_find(struct thread_state *t, uint64_t address, uint32_t *index)
{
  unsigned generation = atomic_load_explicit(&rt.module_generation, memory_order_acquire);
  for (unsigned i = 0; i < CACHE_SIZE; i++) {
    struct module_cache *entry = &t->modules[i];
    if (address - entry->start < entry->end - entry->start && entry->generation == generation) {
      *index = entry->index;
      return table_at(&modules, entry->index);
    }
  }
  const struct format_module *module = look_up(address, index);
  if (!module || module->flags & FORMAT_MODULE_ANON) {
    rt_lost(t, FORMAT_LOST_MODULES);
    return module;
  }
  t->modules[*index % CACHE_SIZE] =
      (struct module_cache){.start = module->start, .end = module->end, .index = *index, .generation = generation};
  return module;
}

const struct format_module *modules_loaded(struct thread_state *t, uint64_t address, uint32_t *index)
{
  struct dl_find_object object;
  return _dl_find_object((void *)address, &object) == 0 ? modules_find(t, address, index) : NULL;
}

bool modules_still(struct thread_state *t, uint64_t address, uint32_t index)
{
  uint32_t now = 0;
  if (!atomic_load_explicit(&rt.module_generation, memory_order_relaxed) || !modules_loaded(t, address, &now))
    return true;
  return now == index;
}

/* Whether the page is known, or another one would be too many. */
static bool code_is_settled(uint32_t module, uint64_t offset)
{
  uint32_t count = __atomic_load_n(&code.count, __ATOMIC_ACQUIRE), found = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct format_code *known = table_at(&code, i);
    if (known->module != module)
      continue;
    if (known->offset / FILE_IDENTITY_PAGE == offset / FILE_IDENTITY_PAGE || ++found == FILE_IDENTITY_PAGES)
      return true;
  }
  return false;
}

void modules_sampled(uint32_t index, uint64_t offset)
{
  uint32_t number;
  if (index >= __atomic_load_n(&modules.count, __ATOMIC_RELAXED))
    return;
  struct format_module *module = table_at(&modules, index);
  struct format_code page = {.module = index};
  bool changed = __atomic_load_n(&module->flags, __ATOMIC_RELAXED) & FORMAT_MODULE_CHANGED;
  if (!module->headers || changed || code_is_settled(index, offset))
    return;
  if (!module_identity_page(module, offset, &page)) { /* nor are others, most likely: each attempt is expensive */
    __atomic_fetch_or(&module->flags, FORMAT_MODULE_CHANGED, __ATOMIC_RELAXED);
    return;
  }
  if (!lock_take())
    return;
  struct format_code *added = code_is_settled(index, offset) ? NULL : table_next(&code, &number);
  if (added) {
    *added = page;
    table_publish(&code);
  }
  lock_drop();
}

const struct format_module *modules_flag_runtime(struct thread_state *t, const void *address, uint32_t *index)
{
  const struct format_module *module = modules_find(t, (uint64_t)address, index);
  if (!module || module->flags & FORMAT_MODULE_MAIN)
    return NULL;
  __atomic_fetch_or(&((struct format_module *)table_at(&modules, *index))->flags, FORMAT_MODULE_RUNTIME,
                    __ATOMIC_RELAXED);
  return module;
}

bool modules_mark_runtime(struct thread_state *t, const void *address)
{
  uint32_t index;
  const struct format_module *module = modules_flag_runtime(t, address, &index);
  if (!module)
    return false;
  rt.ompt_module = index;
  rt.runtime_start = module->start;
  rt.runtime_size = module->end - module->start;
  return true;
}

const char *modules_runtime(void)
{
  uint32_t count = __atomic_load_n(&modules.count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 1; i < count; i++) {
    const struct format_module *module = table_at(&modules, i);
    if ((module->flags & (FORMAT_MODULE_RUNTIME | FORMAT_MODULE_DEVICES)) == FORMAT_MODULE_RUNTIME)
      return modules_path(module);
  }
  return NULL;
}

void modules_start(const char *executable)
{
  uint32_t index;
  executable_path = executable;
  atomic_flag_clear(&lock);
  table_init(&modules, FORMAT_MODULES, ARENA_SHARED, 0, sizeof(struct format_module), MODULES_FIRST);
  table_init(&code, FORMAT_CODE, ARENA_SHARED, 0, sizeof(struct format_code), CODE_FIRST);
  table_init(&strings, FORMAT_STRINGS, ARENA_SHARED, 0, 1, STRINGS_FIRST);
  if (table_next(&strings, &index))
    table_publish(&strings); /* offset 0: the empty string */
  if (table_next(&modules, &index))
    table_publish(&modules); /* index 0 means "none" */
  look_up((uint64_t)getauxval(AT_PHDR), &index); /* of an executable with gaps, the part with its headers */
  look_up((uint64_t)modules_start, &index);
}
