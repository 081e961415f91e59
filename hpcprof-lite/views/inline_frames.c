#define _GNU_SOURCE
#include "hpcprof-lite/views/inline_frames.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "common/symbols/symbols.h"
#include "common/symbols/symbols_names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Uses the line at which the code of an outlined function begins as its declaration: compilers do not give it one. */
static void declare_outlined(const struct symbols *symbols, struct symbols_location *place)
{
  const char *raw = place->raw ? place->raw : place->function;
  if (!raw || place->inlined || place->decl_line || symbols_outlined(raw, NULL, 0) == SYMBOLS_ORDINARY)
    return;
  struct symbols_location entry[INLINE_FRAMES_MAX];
  if (symbols_lookup(symbols, place->low, entry, INLINE_FRAMES_MAX) < 1 || !entry[0].file)
    return;
  place->decl_file = entry[0].file;
  place->decl_line = entry[0].line;
}

int inline_frames_look_up(struct names_module *found, const struct bounds *bounds, uint64_t offset,
                          struct symbols_location places[INLINE_FRAMES_MAX])
{
  assert(found->symbols || !found->kept);
  int count = symbols_lookup(found->symbols, offset, places, INLINE_FRAMES_MAX);
  if (count < 1) {
    places[0] = (struct symbols_location){0};
    count = 1;
  }
  if (!places[0].function && !places[0].low)
    places[0].low = bounds_start(bounds, offset);
  for (int i = 0; i < count; i++) {
    declare_outlined(found->symbols, &places[i]);
    found->named = found->named || places[i].function;
    found->lined = found->lined || places[i].line;
  }
  return count;
}

static enum names_outline outline_of(const char *raw)
{
  switch (symbols_outlined(raw, NULL, 0)) {
  case SYMBOLS_OUTLINED:
    return symbols_outlined_debug(raw) ? OUTLINE_BODY_DEBUG : OUTLINE_BODY;
  case SYMBOLS_TASK_ENTRY:
    return OUTLINE_TASK;
  default:
    return OUTLINE_NONE;
  }
}

/* Names a function by the map of generated code.  That of Python calls its functions "py::name:file". */
static void name_generated(struct names *names, char *text, struct names_function *function)
{
  function->name = function->raw = text;
  char *end = strncmp(text, "py::", 4) ? NULL : strchr(text + 4, ':');
  if (!end)
    return;
  char *name = xasprintf("%.*s", (int)(end - (text + 4)), text + 4);
  function->name = names_own(names, name);
  function->file = names_file(names, end + 1);
  function->python = true;
}

/* Returns the number of a place's function, which is named module+0xaddress if it has no name. */
static uint32_t place_function(struct names *names, const struct catalog_module *module, uint32_t number,
                               const struct symbols_location *place, uint64_t offset)
{
  assert(number < names->modules_count);
  struct names_function function = {.module = number, .file = "", .name = place->function};
  if (module->generated) {
    char *text = xstrdup(module->generated);
    names_own(names, text);
    name_generated(names, text, &function);
    return names_function(names, &function);
  }
  if (!function.name) {
    char *text = xasprintf("%s+0x%" PRIx64, module->name, place->low ? place->low : offset);
    function.name = function.raw = names_own(names, text);
    function.unknown = true;
    return names_function(names, &function);
  }
  function.raw = place->raw ? place->raw : place->function;
  function.file = names_file(names, place->decl_file);
  function.line = place->decl_line;
  function.outline = outline_of(function.raw);
  return names_function(names, &function);
}

void inline_frames_add(struct names *names, const struct catalog_module *module, uint32_t number,
                       const struct symbols_location *places, uint32_t count, uint64_t offset,
                       struct names_address *address)
{
  assert(count <= INLINE_FRAMES_MAX && (places || !count));
  static const struct symbols_location no_symbol;
  address->first = names->frames_count;
  address->offset = offset;
  address->low = count ? places->low : 0;
  address->count = MAX(count, 1);
  for (uint32_t i = 0; i < address->count; i++) {
    const struct symbols_location *here = count ? &places[i] : &no_symbol;
    struct names_frame frame = {.inlined = here->inlined && i, .line = here->line, .near = here->near};
    frame.function = place_function(names, module, number, here, offset);
    frame.file = names_file(names, here->file);
    *XAPPEND(names->frames, names->frames_count, names->frames_room) = frame;
  }
}
