#include "hpcprof-lite/views/constructs.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "common/symbols/symbols.h"
#include "common/symbols/symbols_names.h"
#include "hpcprof-lite/views/inferred_frames.h"
#include "hpcprof-lite/views/tail_calls.h"

#include <assert.h>
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
 * is added if no address is in it. */
static uint32_t find_origin(struct names *names, const struct names_function *outlined, const char *readable)
{
  char plain[SYMBOLS_NAME_MAX];
  uint32_t best = MODEL_NONE;
  symbols_plain(readable, plain, sizeof plain);
  for (uint32_t i = 0; i < names->functions_count; i++) {
    const struct names_function *function = &names->functions[i];
    if (function->module != outlined->module || !is_meant(function, readable, plain))
      continue;
    bool exact = !strcmp(function->name, readable), declared = !exact || *function->file;
    bool before = !strcmp(function->file, outlined->file) && function->line <= outlined->line;
    if (best == MODEL_NONE && (exact || before))
      best = i;
    else if (best != MODEL_NONE && declared && before && names->functions[best].line <= function->line)
      best = i;
  }
  if (best != MODEL_NONE)
    return best;
  const char *name = names_own(names, xstrdup(readable));
  struct names_function added = {.module = outlined->module, .name = name, .raw = name, .file = ""};
  return names_function(names, &added);
}

static void set_origins(struct names *names)
{
  uint32_t count = names->functions_count;
  for (uint32_t i = 0; i < count; i++) {
    char readable[SYMBOLS_NAME_MAX];
    struct names_function outlined = names->functions[i];
    if (outlined.unknown || symbols_outlined(outlined.raw, readable, sizeof readable) == SYMBOLS_ORDINARY || !*readable)
      continue;
    uint32_t origin = find_origin(names, &outlined, readable); /* may move the functions */
    names->functions[i].origin = origin;
  }
}

/* The outlined function of a context that the runtime has called for a construct, and the address of the call by which
 * the construct has entered the runtime; MODEL_NONE if they are not known. */
static uint32_t called_function(const struct profile *profile, const struct names *names, uint32_t number,
                                uint32_t *call)
{
  assert(number && number < profile->contexts.count);
  const struct context_node *nodes = profile->contexts.nodes, *node = &nodes[number];
  const struct context_node *entry = &nodes[node->parent];
  bool called = node->kind == CONTEXT_FRAME && (entry->kind == CONTEXT_PARALLEL || entry->kind == CONTEXT_TASK);
  *call = called ? names->address_of[node->parent] : MODEL_NONE;
  if (called && *call == MODEL_NONE && entry->parent && nodes[entry->parent].kind == CONTEXT_FRAME)
    *call = names->address_of[entry->parent];
  if (*call == MODEL_NONE)
    return MODEL_NONE;
  uint32_t address = names->address_of[number];
  uint32_t function = names->frames[names->addresses[address].first].function;
  return names->functions[function].outline == OUTLINE_NONE ? MODEL_NONE : function;
}

/* Whether a function, or the construct that it was made of, contains a construct. */
static bool contains(const struct names *names, uint32_t function, const struct names_function *outlined)
{
  assert(function < names->functions_count && outlined->origin != MODEL_NONE);
  return function == outlined->origin || names->functions[function].origin == outlined->origin ||
         symbols_same_template(names->functions[function].name, names->functions[outlined->origin].name);
}

/* Moves the steps of an address to the end of all, with one more. */
static void add_step(struct names *names, struct names_address *address, uint32_t function)
{
  assert(function < names->functions_count && address->count);
  size_t needed = (size_t)names->frames_count + address->count + 1;
  xarray_reserve(&names->frames, &names->frames_room, needed, sizeof *names->frames);
  struct names_frame *to = names->frames + names->frames_count;
  memcpy(to, names->frames + address->first, address->count * sizeof *to);
  to[address->count] = (struct names_frame){.function = function, .inlined = true};
  address->first = names->frames_count;
  names->frames_count += ++address->count;
}

/* Gives a call the place of the construct.  Inlined functions that do not contain the construct are removed; the one
 * that does is added if the debug data have lost it.  Unless the call is known to be that of the outlined function
 * (`passed`), it must then have its line: a compiler that makes one of equal outlined functions names it after one. */
static void set_place(struct names *names, uint32_t call, const struct names_function *outlined, bool passed)
{
  assert(call < names->addresses_count);
  struct names_address *address = &names->addresses[call];
  uint32_t last = address->count;
  if (outlined->origin != MODEL_NONE)
    while (last && !contains(names, names->frames[address->first + last - 1].function, outlined))
      last--;
  const struct names_frame *now = names_innermost(names, call);
  if (!last && !passed && now->line && !now->near && (now->line != outlined->line || now->file != outlined->file))
    return;
  if (last)
    address->count = last;
  else
    add_step(names, address, outlined->origin);
  struct names_frame *step = &names->frames[address->first + address->count - 1];
  step->file = outlined->file;
  step->line = outlined->line;
  step->near = false;
}

enum settled { NOT_TRIED, NOT_SETTLED, SETTLED };

/* What is known of the calls by which constructs enter the runtime. */
struct calls {
  const struct profile *profile;
  struct names *names;
  struct code *code;
  enum settled *settled; /* [address] */
  uint32_t *outlined;    /* [address] the outlined function called for the construct, according to contexts */
};

/* A compiler may have merged the calls of several constructs; then the one that it declares first names the place. */
static void read_contexts(struct calls *calls)
{
  const struct names *names = calls->names;
  uint32_t call;
  for (uint32_t i = 1; i < calls->profile->contexts.count; i++) {
    uint32_t function = called_function(calls->profile, names, i, &call);
    if (function == MODEL_NONE || call == MODEL_NONE || !names->functions[function].line)
      continue;
    bool near = names_innermost(names, call)->near || !names_innermost(names, call)->line;
    if (names->functions[function].outline == OUTLINE_BODY_DEBUG && !near)
      continue; /* declared at the statement below the directive */
    uint32_t *outlined = &calls->outlined[call];
    if (*outlined == MODEL_NONE || names->functions[function].line < names->functions[*outlined].line)
      *outlined = function;
  }
}

static uint32_t module_of(const struct names *names, uint32_t address)
{
  assert(address < names->addresses_count);
  return names->functions[names->frames[names->addresses[address].first].function].module;
}

/* Whether an address is a call of something else than the runtime: the function that was called there has jumped into
 * the runtime. */
static bool calls_other(struct calls *calls, uint32_t call)
{
  assert(call < calls->names->addresses_count);
  return code_calls_other(calls->code, module_of(calls->names, call), calls->names->addresses[call].offset + 1);
}

static void set_places_by_contexts(struct calls *calls)
{
  struct names *names = calls->names;
  for (uint32_t i = 0; i < names->addresses_count; i++)
    if (calls->outlined[i] != MODEL_NONE && calls->settled[i] != SETTLED && !calls_other(calls, i))
      set_place(names, i, &names->functions[calls->outlined[i]], false);
}

/* The places of directives that were entered by a jump which the code does not show. */
static void set_directives_by_contexts(struct calls *calls)
{
  struct names *names = calls->names;
  for (uint32_t i = 0; i < calls->profile->workspan.directives_count; i++) {
    uint32_t kind = calls->profile->workspan.directives[i].kind, call = names->directive_at[i];
    uint32_t function = call == MODEL_NONE ? MODEL_NONE : calls->outlined[call];
    if (function == MODEL_NONE || (kind != DIRECTIVE_PARALLEL && kind != DIRECTIVE_TEAMS) || !calls_other(calls, call))
      continue;
    tail_calls_place(names, &names->directive_at[i], function);
  }
}

/* Gives a call the place of the outlined function that its code passes to the runtime, if that can be seen.  A call of
 * clang's code has the directive's line itself. */
static void set_place_by_code(struct calls *calls, uint32_t call)
{
  struct names *names = calls->names;
  char readable[SYMBOLS_NAME_MAX];
  struct symbols_location place;
  if (call == MODEL_NONE || calls->settled[call] != NOT_TRIED)
    return;
  calls->settled[call] = NOT_SETTLED;
  struct names_address *address = &names->addresses[call];
  uint32_t module = module_of(names, call);
  uint64_t end = address->offset + 1;
  const struct names_frame *now = names_innermost(names, call);
  if (!code_passed(calls->code, module, address->low, end, &place, readable)) {
    address->placed = now->line && !now->near && code_calls_clang(calls->code, module, end);
    return;
  }
  address->placed = true;
  struct names_function outlined = {
      .module = module, .file = names_file(names, place.decl_file), .line = place.decl_line, .outline = OUTLINE_BODY};
  outlined.origin = find_origin(names, &outlined, readable);
  calls->settled[call] = SETTLED;
  set_place(names, call, &outlined, true);
}

static void set_places_by_code(struct calls *calls)
{
  const struct profile_workspan *workspan = &calls->profile->workspan;
  const struct context_node *nodes = calls->profile->contexts.nodes;
  for (uint32_t i = 0; i < workspan->directives_count; i++)
    if (construct_is_outlined(workspan->directives[i].kind) && workspan->directives[i].module != MODEL_NONE)
      set_place_by_code(calls, calls->names->directive_at[i]);
  for (uint32_t i = 1; i < calls->profile->contexts.count; i++) {
    const struct context_node *above = &nodes[nodes[i].parent];
    if (nodes[i].kind == CONTEXT_TASK && calls->names->address_of[i] != MODEL_NONE)
      set_place_by_code(calls, calls->names->address_of[i]);
    if ((nodes[i].kind == CONTEXT_PARALLEL || nodes[i].kind == CONTEXT_TASK) && nodes[i].parent &&
        above->kind == CONTEXT_FRAME)
      set_place_by_code(calls, calls->names->address_of[nodes[i].parent]);
  }
}

void constructs_settle(const struct profile *profile, const struct symbols_request *requests, struct names *names)
{
  struct calls calls = {.profile = profile, .names = names, .code = code_open(profile, names)};
  set_origins(names);
  tail_calls_follow(profile, names, calls.code);
  inferred_frames_find(profile, requests, names, calls.code);
  calls.settled = xcalloc(names->addresses_count, sizeof *calls.settled);
  calls.outlined = model_nones(names->addresses_count);
  set_origins(names); /* of functions that jumps have added */
  set_places_by_code(&calls);
  read_contexts(&calls);
  set_places_by_contexts(&calls);
  set_directives_by_contexts(&calls);
  code_close(calls.code);
  free(calls.settled);
  free(calls.outlined);
}
