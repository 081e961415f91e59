#include "hpcprof-lite/views/code.h"

#include "common/xalloc.h"
#include "common/symbols/symbols.h"
#include "common/symbols/symbols_names.h"
#include "hpcprof-lite/views/inline_frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct code_file {
  struct callees *callees;
  struct bounds *bounds;
  bool opened;
};

struct code {
  const struct profile *profile;
  const struct names *names;
  struct code_file *files; /* [module] */
  struct hash_map added;   /* addresses + 1 by module and offset */
};

struct code *code_open(const struct profile *profile, const struct names *names)
{
  struct code *code = xmalloc(sizeof *code);
  *code = (struct code){profile, names, xcalloc(names->modules_count, sizeof *code->files), {0}};
  return code;
}

void code_close(struct code *code)
{
  for (uint32_t i = 0; i < code->names->modules_count; i++) {
    callees_free(code->files[i].callees);
    bounds_free(code->files[i].bounds);
  }
  free(code->files);
  hash_map_release(&code->added);
  free(code);
}

static const struct code_file *file_of(struct code *code, uint32_t module)
{
  assert(module < code->names->modules_count);
  struct code_file *file = &code->files[module];
  const char *path = code->names->modules[module].file;
  if (!file->opened && path) {
    file->callees = callees_open(path);
    file->bounds = bounds_open(path);
  }
  file->opened = true;
  return file;
}

const struct callees *code_callees(struct code *code, uint32_t module)
{
  return file_of(code, module)->callees;
}

const struct bounds *code_bounds(struct code *code, uint32_t module)
{
  return file_of(code, module)->bounds;
}

uint32_t code_add_address(struct code *code, struct names *names, uint32_t module, uint64_t offset)
{
  assert(module < names->modules_count && names == code->names);
  uint64_t key = hash_map_key(hash_map_key(1, module), offset);
  uint32_t known = HASH_MAP_FIND(&code->added, key, i, names->addresses[i - 1].offset == offset);
  if (known)
    return known - 1;
  struct symbols_location places[INLINE_FRAMES_MAX];
  int count = inline_frames_look_up(&names->modules[module], code_bounds(code, module), offset, places);
  struct names_address *address = XAPPEND(names->addresses, names->addresses_count, names->addresses_room);
  hash_map_add(&code->added, key, names->addresses_count);
  inline_frames_add(names, &code->profile->catalog.modules[module], module, places, (uint32_t)count, offset, address);
  return names->addresses_count - 1;
}

uint64_t code_function(struct code *code, uint32_t module, uint64_t offset)
{
  assert(module < code->names->modules_count);
  struct symbols_location place;
  const struct symbols *symbols = code->names->modules[module].symbols;
  if (symbols && symbols_lookup(symbols, offset, &place, 1) >= 1 && place.function)
    return place.low;
  return bounds_start(code_bounds(code, module), offset);
}

const char *code_name(struct code *code, uint32_t module, uint64_t offset)
{
  assert(module < code->names->modules_count);
  struct symbols_location place;
  const struct symbols *symbols = code->names->modules[module].symbols;
  return symbols && symbols_lookup(symbols, offset, &place, 1) >= 1 && place.low == offset ? place.function : NULL;
}

static bool begins(const char *name, const char *prefix)
{
  return !strncmp(name, prefix, strlen(prefix));
}

bool code_is_runtime(const char *name)
{
  assert(name);
  return begins(name, "GOMP_") || begins(name, "__kmpc_") || begins(name, "omp_");
}

bool code_enters(const char *name, uint32_t kind)
{
  assert(name);
  size_t length = strcspn(name, "@"); /* of NAME@plt */
  switch (kind) {
  case DIRECTIVE_PARALLEL:
    return begins(name, "GOMP_parallel") || begins(name, "__kmpc_fork_call");
  case DIRECTIVE_TEAMS:
    return begins(name, "GOMP_teams") || begins(name, "__kmpc_fork_teams");
  case DIRECTIVE_TASK:
    return (begins(name, "GOMP_task") && length == strlen("GOMP_task")) ||
           (begins(name, "__kmpc_omp_task") && length == strlen("__kmpc_omp_task")) ||
           begins(name, "__kmpc_omp_task_with_deps");
  case DIRECTIVE_TASKLOOP:
    return begins(name, "GOMP_taskloop") || begins(name, "__kmpc_taskloop");
  case DIRECTIVE_TARGET:
    return begins(name, "GOMP_target_ext") || begins(name, "__tgt_target_kernel");
  case DIRECTIVE_TASKWAIT:
    return begins(name, "GOMP_taskwait") || begins(name, "__kmpc_omp_taskwait");
  case DIRECTIVE_BARRIER:
    return begins(name, "GOMP_barrier") || begins(name, "__kmpc_barrier") || begins(name, "__kmpc_cancel_barrier");
  case DIRECTIVE_LOCK:
    return begins(name, "omp_set_lock") || begins(name, "omp_set_nest_lock") || begins(name, "omp_test_");
  default:
    return false;
  }
}

/* The name of the function to which the call or jump that ends at an address leads, NULL if it has none. */
static const char *called_name(struct code *code, uint32_t module, uint64_t end)
{
  const struct callees *callees = code_callees(code, module);
  uint64_t called = callees ? callees_called(callees, end) : 0;
  return called ? code_name(code, module, called) : NULL;
}

bool code_calls_clang(struct code *code, uint32_t module, uint64_t end)
{
  const char *name = called_name(code, module, end);
  return name && begins(name, "__kmpc_");
}

bool code_calls_other(struct code *code, uint32_t module, uint64_t end)
{
  const struct callees *callees = code_callees(code, module);
  if (!callees)
    return false;
  const char *name = called_name(code, module, end);
  if (name)
    return !code_is_runtime(name);
  return callees_called(callees, end) || callees_by_register(callees, end);
}

/* Whether an outlined function begins at an address, which has a line and shows its origin. */
static bool is_outlined(const struct symbols *symbols, uint64_t address, struct symbols_location *place, char *readable)
{
  if (symbols_lookup(symbols, address, place, 1) < 1 || place->low != address || !place->decl_line)
    return false;
  const char *raw = place->raw ? place->raw : place->function;
  return raw && symbols_outlined(raw, readable, SYMBOLS_NAME_MAX) == SYMBOLS_OUTLINED && *readable;
}

bool code_passed(struct code *code, uint32_t module, uint64_t low, uint64_t end, struct symbols_location *found,
                 char *readable)
{
  assert(module < code->names->modules_count && readable);
  enum { LOADS_MAX = 64 };
  const struct callees *callees = code_callees(code, module);
  const struct symbols *symbols = code->names->modules[module].symbols;
  uint64_t loads[LOADS_MAX], only = 0;
  struct symbols_location entry;
  const char *name = low ? called_name(code, module, end) : NULL;
  if (!name || !begins(name, "GOMP_"))
    return false;
  unsigned direct, count = callees_find(callees, low, end, loads, LOADS_MAX, &direct);
  for (unsigned i = 0; i < count; i++) {
    if (!is_outlined(symbols, loads[i], &entry, readable))
      continue;
    if (only && only != loads[i])
      return false;
    only = loads[i];
    if (i < direct)
      break;
  }
  return only && is_outlined(symbols, only, found, readable);
}
