#include "hpcprof-lite/views/constructs.h"

#include "common/array.h"
#include "hpcprof-lite/symbols/symbols_names.h"

#include <stdlib.h>
#include <string.h>

/* Whether a function can be the one that a readable name means.  A function that is not exported may have no linkage
 * name: then its name has no scope and no parameters. */
static bool is_meant(const struct names_function *function, const char *readable, const char *plain)
{
  if (function->unknown || function->outline != OUTLINE_NONE)
    return false;
  return !strcmp(function->name, readable) || (!strchr(function->name, '(') && !strcmp(function->name, plain));
}

/* Returns the function that contains a construct: of several, the last one that is declared before the construct.  It
 * is added if no address is in it.  Returns MODEL_NONE if memory runs out. */
static uint32_t find_origin(struct names *names, const struct names_function *outlined, const char *readable)
{
  char plain[SYMBOLS_NAME_MAX];
  uint32_t best = MODEL_NONE;
  symbols_plain(readable, plain, sizeof plain);
  for (uint32_t i = 0; i < names->functions_count; i++) {
    const struct names_function *function = &names->functions[i];
    if (function->module != outlined->module || !is_meant(function, readable, plain))
      continue;
    bool before = !strcmp(function->file, outlined->file) && function->line <= outlined->line;
    if (!strcmp(function->name, readable) && !*function->file)
      best = best == MODEL_NONE ? i : best;
    else if (before && (best == MODEL_NONE || names->functions[best].line <= function->line))
      best = i;
    else if (!strcmp(function->name, readable) && best == MODEL_NONE)
      best = i;
  }
  if (best != MODEL_NONE)
    return best;
  const char *name = names_own(names, strdup(readable));
  struct names_function added = {.module = outlined->module, .name = name, .raw = name, .file = ""};
  return name ? names_function(names, &added) : MODEL_NONE;
}

static int set_origins(struct names *names)
{
  uint32_t count = names->functions_count;
  for (uint32_t i = 0; i < count; i++) {
    char readable[SYMBOLS_NAME_MAX] = "";
    struct names_function outlined = names->functions[i];
    if (outlined.unknown || symbols_outlined(outlined.raw, readable, sizeof readable) == SYMBOLS_ORDINARY || !*readable)
      continue;
    uint32_t origin = find_origin(names, &outlined, readable);
    if (origin == MODEL_NONE)
      return ERR_NOMEM;
    names->functions[i].origin = origin;
  }
  return 0;
}

/* The outlined function of a context that the runtime has called for a construct, and the address of the call by which
 * the construct has entered the runtime; MODEL_NONE if they are not known. */
static uint32_t called_function(const struct profile *profile, const struct names *names, uint32_t number,
                                uint32_t *call)
{
  const struct context_node *nodes = profile->contexts.nodes, *node = &nodes[number];
  const struct context_node *entry = &nodes[node->parent];
  *call = MODEL_NONE;
  if (node->kind != CONTEXT_FRAME || (entry->kind != CONTEXT_PARALLEL && entry->kind != CONTEXT_TASK) ||
      nodes[entry->parent].kind != CONTEXT_FRAME || !entry->parent)
    return MODEL_NONE;
  uint32_t address = names->address_of[number];
  uint32_t function = names->steps[names->addresses[address].first].function;
  *call = names->address_of[entry->parent];
  return names->functions[function].outline == OUTLINE_NONE ? MODEL_NONE : function;
}

/* Whether a function, or the construct that it was made of, contains a construct. */
static bool contains(const struct names *names, uint32_t function, const struct names_function *outlined)
{
  return function == outlined->origin || names->functions[function].origin == outlined->origin;
}

/* Moves the steps of an address to the end of all, with one more. */
static int add_step(struct names *names, struct names_address *address, uint32_t function)
{
  size_t needed = (size_t)names->steps_count + address->count + 1;
  if (!array_reserve(&names->steps, &names->steps_room, needed, sizeof *names->steps))
    return ERR_NOMEM;
  struct names_step *to = names->steps + names->steps_count;
  memcpy(to, names->steps + address->first, address->count * sizeof *to);
  to[address->count] = (struct names_step){.function = function, .inlined = true};
  address->first = names->steps_count;
  names->steps_count += ++address->count;
  return 0;
}

/* Gives a call the place of the construct.  Inlined functions that do not contain the construct are removed; the one
 * that does is added if the debug data have lost it. */
static int set_place(struct names *names, uint32_t call, const struct names_function *outlined)
{
  struct names_address *address = &names->addresses[call];
  uint32_t last = outlined->origin == MODEL_NONE ? address->count : 0;
  for (uint32_t i = address->count; i-- > 0 && !last;)
    last = contains(names, names->steps[address->first + i].function, outlined) ? i + 1 : 0;
  if (last)
    address->count = last;
  else if (add_step(names, address, outlined->origin))
    return ERR_NOMEM;
  struct names_step *step = &names->steps[address->first + address->count - 1];
  step->file = outlined->file;
  step->line = outlined->line;
  step->near = false;
  return 0;
}

/* A compiler may have merged the calls of several constructs; then the one that it declares first names the place. */
static int set_places(const struct profile *profile, struct names *names)
{
  uint32_t *outlined = malloc((names->addresses_count + 1) * sizeof *outlined), call;
  if (!outlined)
    return ERR_NOMEM;
  memset(outlined, 0xff, (names->addresses_count + 1) * sizeof *outlined);
  for (uint32_t i = 1; i < profile->contexts.count; i++) {
    uint32_t function = called_function(profile, names, i, &call);
    if (function == MODEL_NONE || call == MODEL_NONE || !names->functions[function].line)
      continue;
    bool near = names_innermost(names, call)->near || !names_innermost(names, call)->line;
    if (names->functions[function].outline == OUTLINE_BODY_DEBUG && !near)
      continue; /* declared at the statement below the directive */
    if (outlined[call] == MODEL_NONE || names->functions[function].line < names->functions[outlined[call]].line)
      outlined[call] = function;
  }
  int status = 0;
  for (uint32_t i = 0; i < names->addresses_count && !status; i++)
    if (outlined[i] != MODEL_NONE)
      status = set_place(names, i, &names->functions[outlined[i]]);
  free(outlined);
  return status;
}

int constructs_settle(const struct profile *profile, struct names *names)
{
  int status = set_origins(names);
  return status ? status : set_places(profile, names);
}
