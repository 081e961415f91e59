#include "hpcprof-lite/views/tail_calls.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "common/symbols/symbols.h"
#include "common/symbols/symbols_names.h"
#include "hpcprof-lite/views/inline_frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { JUMPS_MAX = 64, FUNCTIONS_MAX = 16, FOUND_MAX = 8 };

/* Jumps from a function into the runtime for one kind of construct: the ends of the instructions. */
struct found {
  uint32_t module, kind, count;
  uint64_t low, functions[FOUND_MAX], ends[FOUND_MAX]; /* functions: where that with the jump begins */
};

struct jumps {
  const struct profile *profile;
  struct names *names;
  struct code *code;
  uint32_t *body;   /* [context] the outlined function below the construct that it enters, or `several` */
  uint32_t *bodies; /* [address] of all contexts with that address */
  uint32_t *tail;   /* [address of a call] the address at which the function that it calls begins, from contexts */
  struct found *found;
  uint32_t found_count;
  size_t found_room;
  struct hash_map found_map; /* numbers + 1 */
};

/* Stands in `body` and `bodies` for more than one function. */
static const uint32_t several = MODEL_NONE - 1;

static void merge_body(uint32_t *body, uint32_t function)
{
  if (*body == MODEL_NONE)
    *body = function;
  else if (*body != function)
    *body = several;
}

static bool is_begin(const struct names_address *address)
{
  return address->low && address->offset == address->low;
}

/* Whether a context is a function that left no frame: its address is where it begins. */
static bool is_tail(const struct jumps *jumps, uint32_t node)
{
  assert(node < jumps->profile->contexts.count);
  const struct context_node *nodes = jumps->profile->contexts.nodes;
  if (nodes[node].kind != CONTEXT_FRAME || !nodes[node].parent)
    return false;
  return is_begin(&jumps->names->addresses[jumps->names->address_of[node]]);
}

/* Whether it was called by a function, rather than by the runtime. */
static bool is_called_tail(const struct jumps *jumps, uint32_t node)
{
  const struct context_node *nodes = jumps->profile->contexts.nodes;
  return nodes[nodes[node].parent].kind == CONTEXT_FRAME && is_tail(jumps, node);
}

/* Collects from the contexts the outlined functions below calls, and functions without a frame. */
static void read_contexts(struct jumps *jumps)
{
  const struct names *names = jumps->names;
  const struct context_node *nodes = jumps->profile->contexts.nodes;
  size_t contexts = jumps->profile->contexts.count, addresses = names->addresses_count;
  jumps->body = model_nones(contexts);
  jumps->bodies = model_nones(addresses);
  jumps->tail = model_nones(addresses);
  for (uint32_t i = 1; i < contexts; i++) {
    uint32_t entry = nodes[i].parent, site = nodes[entry].parent;
    if (is_called_tail(jumps, i)) {
      uint32_t *tail = &jumps->tail[names->address_of[entry]];
      *tail = MIN(*tail, names->address_of[i]);
    }
    bool task = nodes[entry].kind == CONTEXT_TASK && names->address_of[entry] != MODEL_NONE;
    bool enters = nodes[entry].kind == CONTEXT_PARALLEL || nodes[entry].kind == CONTEXT_TASK;
    if (nodes[i].kind != CONTEXT_FRAME || !entry || !enters || (!task && (nodes[site].kind != CONTEXT_FRAME || !site)))
      continue;
    uint32_t function = names->frames[names->addresses[names->address_of[i]].first].function;
    if (names->functions[function].outline == OUTLINE_NONE || !names->functions[function].line)
      continue;
    if (task) {
      merge_body(&jumps->bodies[names->address_of[entry]], function);
      continue;
    }
    merge_body(&jumps->body[site], function);
    uint32_t call = is_called_tail(jumps, site) ? nodes[site].parent : site;
    merge_body(&jumps->bodies[names->address_of[call]], function);
  }
}

/* Adds the jumps of one function, and the functions to which it jumps otherwise. */
static void scan_function(struct jumps *jumps, struct found *found, uint64_t low, uint64_t *next, unsigned *next_count)
{
  const struct callees *callees = code_callees(jumps->code, found->module);
  uint64_t ends[JUMPS_MAX];
  if (!callees)
    return;
  unsigned count = callees_jumps(callees, low, ends, JUMPS_MAX);
  for (unsigned i = 0; i < count && code_function(jumps->code, found->module, ends[i] - 1) == low; i++) {
    uint64_t target = callees_called(callees, ends[i]);
    const char *name = code_name(jumps->code, found->module, target);
    if (name && code_is_runtime(name)) {
      if (!code_enters(name, found->kind) || found->count == FOUND_MAX)
        continue;
      found->functions[found->count] = low;
      found->ends[found->count++] = ends[i];
      continue;
    }
    bool known = target == low || code_function(jumps->code, found->module, target) != target;
    for (unsigned j = 0; j < *next_count && !known; j++)
      known = next[j] == target;
    if (!known && *next_count < FUNCTIONS_MAX)
      next[(*next_count)++] = target;
  }
}

static bool same_found(const struct found *found, uint32_t module, uint64_t low, uint32_t kind)
{
  return found->module == module && found->kind == kind && found->low == low;
}

/* Finds the jumps into the runtime from the function that begins at an address, or from one to which it jumps. */
static const struct found *find(struct jumps *jumps, uint32_t module, uint64_t low, uint32_t kind)
{
  uint64_t next[FUNCTIONS_MAX] = {low}, hash = hash_map_key(hash_map_key(hash_map_key(1, module), kind), low);
  unsigned next_count = 1;
  uint32_t known = HASH_MAP_FIND(&jumps->found_map, hash, i, same_found(&jumps->found[i - 1], module, low, kind));
  if (known)
    return &jumps->found[known - 1];
  struct found *found = XAPPEND(jumps->found, jumps->found_count, jumps->found_room);
  hash_map_add(&jumps->found_map, hash, jumps->found_count);
  *found = (struct found){.module = module, .kind = kind, .low = low};
  for (unsigned i = 0; i < next_count; i++)
    scan_function(jumps, found, next[i], next, &next_count);
  return found;
}

void tail_calls_place(struct names *names, uint32_t *address, uint32_t body)
{
  assert(*address < names->addresses_count && body < names->functions_count);
  const struct names_function *outlined = &names->functions[body];
  uint64_t offset = names->addresses[*address].offset;
  *address = names->addresses_count;
  *XAPPEND(names->addresses, names->addresses_count, names->addresses_room) =
      (struct names_address){.first = names->frames_count, .count = 1, .offset = offset, .placed = true};
  *XAPPEND(names->frames, names->frames_count, names->frames_room) =
      (struct names_frame){.function = outlined->origin == MODEL_NONE ? body : outlined->origin,
                           .file = names_file(names, outlined->file),
                           .line = outlined->line};
}

/* The line of the construct that a jump enters, 0 if it is not known. */
static uint32_t jump_line(struct jumps *jumps, const struct found *found, uint32_t i)
{
  struct symbols_location places[INLINE_FRAMES_MAX];
  char readable[SYMBOLS_NAME_MAX];
  if (code_passed(jumps->code, found->module, found->functions[i], found->ends[i], places, readable))
    return places[0].decl_line;
  int count =
      symbols_lookup(jumps->names->modules[found->module].symbols, found->ends[i] - 1, places, INLINE_FRAMES_MAX);
  return count < 1 || places[count - 1].near ? 0 : places[count - 1].line;
}

/* Which of several jumps was taken: the one that enters the construct of that outlined function, or, if that is not
 * known, the first one in the source. */
static uint32_t choose(struct jumps *jumps, const struct found *found, uint32_t body)
{
  assert(found->count);
  uint32_t best = 0, least = UINT32_MAX;
  bool known = body != MODEL_NONE && body != several;
  for (uint32_t i = 0; i < found->count && found->count > 1; i++) {
    uint32_t line = jump_line(jumps, found, i);
    if (known && line == jumps->names->functions[body].line)
      return i;
    if (line && line < least) {
      least = line;
      best = i;
    }
  }
  return best;
}

/* Returns the address of the jump that was taken. */
static uint32_t take_jump(struct jumps *jumps, const struct found *found, uint32_t body)
{
  return code_add_address(jumps->code, jumps->names, found->module, found->ends[choose(jumps, found, body)] - 1);
}

/* Follows the call of a directive that is not a call of the runtime. */
static void follow_directive(struct jumps *jumps, uint32_t number)
{
  struct names *names = jumps->names;
  const struct profile_directive *directive = &jumps->profile->workspan.directives[number];
  uint32_t module = directive->module, *address = &names->directive_at[number], call = *address;
  if (call == MODEL_NONE || module == MODEL_NONE)
    return;
  const struct callees *callees = code_callees(jumps->code, module);
  if (!callees)
    return;
  bool begins = is_begin(&names->addresses[call]);
  uint64_t called = begins ? names->addresses[call].low : callees_called(callees, names->addresses[call].offset + 1);
  const char *name = called ? code_name(jumps->code, module, called) : NULL;
  if (name && code_is_runtime(name))
    return;
  const struct found *found = NULL;
  if (called)
    found = find(jumps, module, called, directive->kind);
  uint32_t tail = jumps->tail[call];
  if ((!found || !found->count) && tail != MODEL_NONE) {
    const struct names_function *function = &names->functions[names->frames[names->addresses[tail].first].function];
    found = find(jumps, function->module, names->addresses[tail].low, directive->kind);
  }
  if (!found || !found->count)
    return;
  uint32_t body = jumps->bodies[call];
  bool known = body != MODEL_NONE && body != several;
  if (known && !jump_line(jumps, found, choose(jumps, found, body))) /* compilers have merged several jumps */
    tail_calls_place(names, address, body);
  else
    *address = take_jump(jumps, found, body);
}

/* Follows all directives, and tasks to the places of theirs. */
static void follow_directives(struct jumps *jumps)
{
  const struct profile_workspan *workspan = &jumps->profile->workspan;
  const struct context_node *nodes = jumps->profile->contexts.nodes;
  struct names *names = jumps->names;
  uint32_t count = names->addresses_count, *place = xmalloc(count * sizeof *place);
  for (uint32_t i = 0; i < count; i++)
    place[i] = i;
  for (uint32_t i = 0; i < workspan->directives_count; i++) {
    uint32_t kind = workspan->directives[i].kind, call = names->directive_at[i];
    follow_directive(jumps, i);
    if (call != MODEL_NONE && (kind == DIRECTIVE_TASK || kind == DIRECTIVE_TASKLOOP))
      place[call] = names->directive_at[i];
  }
  for (uint32_t i = 1; i < jumps->profile->contexts.count; i++)
    if (nodes[i].kind == CONTEXT_TASK && names->address_of[i] != MODEL_NONE)
      names->address_of[i] = place[names->address_of[i]];
  free(place);
}

/* Follows the functions without a frame from which a context enters a construct. */
static void follow_contexts(struct jumps *jumps)
{
  static const uint32_t regions[] = {DIRECTIVE_PARALLEL, DIRECTIVE_TEAMS},
                        tasks[] = {DIRECTIVE_TASK, DIRECTIVE_TASKLOOP};
  const struct context_node *nodes = jumps->profile->contexts.nodes;
  struct names *names = jumps->names;
  for (uint32_t i = 1; i < jumps->profile->contexts.count; i++) {
    uint32_t site = nodes[i].parent;
    if ((nodes[i].kind != CONTEXT_PARALLEL && nodes[i].kind != CONTEXT_TASK) || !site || !is_tail(jumps, site))
      continue;
    const uint32_t *kinds = nodes[i].kind == CONTEXT_PARALLEL ? regions : tasks;
    const struct names_address *tail = &names->addresses[names->address_of[site]];
    uint64_t low = tail->low;
    const struct found *found = NULL;
    for (size_t k = 0; k < 2 && !(found && found->count); k++)
      found = find(jumps, nodes[site].module, low, kinds[k]);
    if (found->count == 1 || (found->count && jumps->body[site] != several))
      names->address_of[site] = take_jump(jumps, found, jumps->body[site]);
  }
}

void tail_calls_follow(const struct profile *profile, struct names *names, struct code *code)
{
  struct jumps jumps = {.profile = profile, .names = names, .code = code};
  read_contexts(&jumps);
  follow_directives(&jumps);
  follow_contexts(&jumps);
  free(jumps.body);
  free(jumps.bodies);
  free(jumps.tail);
  free(jumps.found);
  hash_map_release(&jumps.found_map);
}
