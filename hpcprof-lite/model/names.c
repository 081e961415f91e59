#include "hpcprof-lite/model/names.h"

#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *names_own(struct names *names, char *text)
{
  assert(text);
  return *XAPPEND(names->owned, names->owned_count, names->owned_room) = text;
}

const char *names_base(const char *path)
{
  assert(path);
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

const char *names_file(struct names *names, const char *file)
{
  if (!file || !*file)
    return "";
  uint64_t hash = hash_map_key_bytes(0, file, strlen(file));
  uint32_t found = HASH_MAP_FIND(&names->file_map, hash, i, !strcmp(names->files[i - 1], file));
  if (found)
    return names->files[found - 1];
  hash_map_add(&names->file_map, hash, names->files_count + 1);
  return *XAPPEND(names->files, names->files_count, names->files_room) = file;
}

/* Functions are the same if module, name and declaration are equal; without a declaration, the linkage names must be
 * equal.  Thus the clones that a compiler makes of a function are the same function. */
static uint64_t function_hash(const struct names_function *function)
{
  const char *place = *function->file ? function->file : function->raw;
  uint64_t hash = hash_map_key(function->module, function->line);
  hash = hash_map_key_bytes(hash, function->name, strlen(function->name));
  return hash_map_key_bytes(hash, place, strlen(place));
}

static bool same_function(const struct names_function *a, const struct names_function *b)
{
  return a->module == b->module && a->line == b->line && !strcmp(a->name, b->name) && !strcmp(a->file, b->file) &&
         (*a->file || !strcmp(a->raw, b->raw));
}

uint32_t names_function(struct names *names, const struct names_function *function)
{
  assert(function->name && function->raw && function->file);
  uint64_t hash = function_hash(function);
  uint32_t found = HASH_MAP_FIND(&names->function_map, hash, i, same_function(&names->functions[i - 1], function));
  if (found)
    return found - 1;
  struct names_function *added = XAPPEND(names->functions, names->functions_count, names->functions_room);
  *added = *function;
  added->origin = MODEL_NONE;
  hash_map_add(&names->function_map, hash, names->functions_count);
  return names->functions_count - 1;
}

bool names_has_python(const struct names *names)
{
  bool python = false;
  for (uint32_t i = 0; i < names->functions_count; i++)
    python |= names->functions[i].python;
  return python;
}

const struct names_frame *names_innermost(const struct names *names, uint32_t address)
{
  assert(address < names->addresses_count && names->addresses[address].count);
  return &names->frames[names->addresses[address].first + names->addresses[address].count - 1];
}

char *names_spot(const struct names *names, uint32_t address)
{
  assert(address < names->addresses_count && names->addresses[address].count);
  const struct names_address *at = &names->addresses[address];
  const struct names_function *function = &names->functions[names->frames[at->first].function];
  uint64_t offset = at->offset - at->low;
  const char *plus = function->unknown ? strrchr(function->name, '+') : NULL; /* "libx.so+0x1234" */
  int length = plus ? (int)(plus - function->name) : (int)strlen(function->name);
  return xasprintf("%.*s+0x%" PRIx64, length, function->name, plus ? at->offset : offset);
}

void names_release(struct names *names)
{
  for (uint32_t i = 0; i < names->modules_count; i++) {
    free(names->modules[i].message);
    free(names->modules[i].file);
  }
  for (size_t i = 0; i < names->owned_count; i++)
    free(names->owned[i]);
  free(names->owned);
  free(names->functions);
  hash_map_release(&names->function_map);
  free(names->frames);
  free(names->addresses);
  free(names->address_of);
  free(names->directive_at);
  free(names->inferred);
  free(names->inferred_addresses);
  free(names->directives);
  free(names->order);
  free(names->modules);
  free(names->files);
  hash_map_release(&names->file_map);
  *names = (struct names){0};
}
