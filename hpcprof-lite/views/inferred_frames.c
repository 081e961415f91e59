#include "hpcprof-lite/views/inferred_frames.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "common/symbols/symbols.h"

#include <assert.h>
#include <stdlib.h>

enum {
  CHAIN_MAX = 16,       /* functions that are inferred for one frame              */
  SEARCHED_MAX = 64,    /* functions that are searched for a way to another one   */
  ROUNDS_MAX = 3,       /* readings of a module: jumps lead into further units    */
  ADDRESSES_MAX = 1024, /* of functions in one reading                            */
  STEPS_MAX = 20000000  /* of all searches in a module                            */
};

/* A context that its caller has not called: a call of the function `called`, while the function `runs` runs. */
struct suspect {
  uint32_t module, rank, context; /* rank: catalog_module_rank() */
  uint64_t called, runs;
};

/* The tail calls of some functions of a module, sorted by function. */
struct jumps {
  struct code *code;
  uint32_t module;
  struct symbols_tail_call *calls;
  uint64_t *targets; /* [call] where it leads, 0 if that is not known */
  size_t count;
  uint32_t steps; /* of searches so far: nothing more is inferred from STEPS_MAX on */
};

struct search {
  const struct profile *profile;
  const struct symbols_request *requests;
  struct names *names;
  struct code *code;
  struct suspect *suspects;
  size_t suspects_count, suspects_room;
};

/* ---- suspects ---- */

/* Whether debug data may tell the tail calls of a module.  They are not read anew whenever a live view is. */
static bool may_tell(const struct names_module *module)
{
  return module->symbols && module->file && !module->kept && symbols_flags(module->symbols) & SYMBOLS_HAS_INLINES;
}

/* The function that a caller's address calls, 0 if that is not known; known[] remembers it, plus 1. */
static uint64_t called_at(struct search *search, uint32_t module, uint32_t address, uint64_t *known)
{
  if (!known[address]) {
    const struct callees *callees = code_callees(search->code, module);
    uint64_t offset = search->names->addresses[address].offset;
    known[address] = (callees ? callees_called(callees, offset + 1) : 0) + 1;
  }
  return known[address] - 1;
}

static void find_suspects(struct search *search)
{
  const struct context_node *nodes = search->profile->contexts.nodes;
  const struct names *names = search->names;
  uint64_t *known = xcalloc(names->addresses_count, sizeof *known);
  uint32_t *rank = xcalloc(names->modules_count, sizeof *rank);
  catalog_module_rank(&search->profile->catalog, rank);
  for (uint32_t i = 1; i < search->profile->contexts.count; i++) {
    uint32_t above = nodes[i].parent, module = nodes[i].module;
    bool frames = nodes[i].kind == CONTEXT_FRAME && above && nodes[above].kind == CONTEXT_FRAME;
    if (!frames || nodes[above].module != module || !may_tell(&names->modules[module]))
      continue;
    uint64_t runs = names->addresses[names->address_of[i]].low;
    uint64_t called = called_at(search, module, names->address_of[above], known);
    if (called && runs && called != runs && called <= UINT32_MAX)
      *XAPPEND(search->suspects, search->suspects_count, search->suspects_room) =
          (struct suspect){module, rank[module], i, called, runs};
  }
  free(known);
  free(rank);
}

ORDER(compare_suspects, struct suspect,
      COMPARE(x->rank, y->rank) ?: COMPARE(x->called, y->called) ?: COMPARE(x->runs, y->runs)
                                                  ?: COMPARE(x->context, y->context))

/* ---- jumps ---- */

static size_t first_of(const struct jumps *jumps, uint64_t function)
{
  return FIRST_WHERE(i, jumps->count, jumps->calls[i].function >= function);
}

/* Whether all ways out of a function by jumps are known. */
static bool is_complete(const struct jumps *jumps, uint64_t function)
{
  bool all = false;
  for (size_t i = first_of(jumps, function); i < jumps->count && jumps->calls[i].function == function; i++) {
    all |= jumps->calls[i].kind == SYMBOLS_TAIL_ALL;
    if (jumps->calls[i].kind != SYMBOLS_TAIL_ALL && !jumps->targets[i])
      return false;
  }
  return all;
}

/* The function to which a tail call leads, 0 if that is not known. */
static uint64_t target_of(const struct jumps *jumps, const struct symbols_tail_call *call)
{
  uint64_t targets[CALLEES_JUMPS_MAX];
  const struct callees *callees = code_callees(jumps->code, jumps->module);
  if (!callees || call->kind == SYMBOLS_TAIL_ALL)
    return 0;
  unsigned count = callees_jumped(callees, call->address, call->kind == SYMBOLS_TAIL_BEHIND, targets);
  for (unsigned i = 0; i < count; i++)
    if (code_function(jumps->code, jumps->module, targets[i]) == targets[i])
      return targets[i];
  return 0;
}

static void release_jumps(struct jumps *jumps)
{
  free(jumps->calls);
  free(jumps->targets);
}

static void read_jumps(const struct search *search, uint32_t module, const uint32_t *wanted, uint32_t count,
                       struct jumps *jumps)
{
  struct symbols_request request = search->requests[module];
  request.path = search->names->modules[module].file;
  request.offsets = wanted;
  request.offset_count = count;
  *jumps = (struct jumps){.code = search->code, .module = module};
  jumps->calls = symbols_tail_calls(search->names->modules[module].symbols, &request, &jumps->count);
  jumps->targets = xcalloc(jumps->count, sizeof *jumps->targets);
  for (size_t i = 0; i < jumps->count; i++)
    jumps->targets[i] = target_of(jumps, &jumps->calls[i]);
}

/* ---- ways ---- */

/* Whether jumps can lead from a function to another one; maybe: also if they are not all known. */
static bool leads(struct jumps *jumps, uint64_t from, uint64_t to, bool maybe)
{
  uint64_t found[SEARCHED_MAX] = {from};
  unsigned count = 1;
  for (unsigned next = 0; next < count; next++) {
    if (found[next] == to || (maybe && !is_complete(jumps, found[next])))
      return true;
    for (size_t i = first_of(jumps, found[next]); i < jumps->count && jumps->calls[i].function == found[next]; i++) {
      bool known = !jumps->targets[i];
      if (++jumps->steps >= STEPS_MAX)
        return maybe;
      for (unsigned j = 0; j < count && !known; j++)
        known = found[j] == jumps->targets[i];
      if (!known && count == SEARCHED_MAX)
        return maybe;
      if (!known)
        found[count++] = jumps->targets[i];
    }
  }
  return false;
}

/* Writes the functions that must have run between a call and what runs, as addresses in them: of the jump that was
 * taken, or where they begin if that is not known, or if one of several was.  Returns their number. */
static unsigned infer(struct jumps *jumps, const struct suspect *suspect, uint64_t chain[CHAIN_MAX])
{
  uint64_t at = suspect->called;
  unsigned length = 0;
  if (!leads(jumps, at, suspect->runs, false))
    return 0;
  while (at != suspect->runs && length < CHAIN_MAX) {
    uint64_t next = 0;
    bool only = is_complete(jumps, at);
    chain[length] = at;
    for (size_t i = first_of(jumps, at); i < jumps->count && jumps->calls[i].function == at && only; i++) {
      uint64_t target = jumps->targets[i];
      if (!target || (target != next && !leads(jumps, target, suspect->runs, true)))
        continue;
      only = !next || target == next;
      chain[length] = next ? at : jumps->calls[i].address - (jumps->calls[i].kind == SYMBOLS_TAIL_BEHIND);
      next = target;
    }
    length++;
    if (!only || !next) {
      chain[length - 1] = at;
      break;
    }
    at = next;
  }
  return jumps->steps < STEPS_MAX ? length : 0;
}

/* ---- modules ---- */

ORDER(compare_offsets, uint32_t, COMPARE(*x, *y))

/* Sorts addresses and removes those that occur twice.  Returns their number. */
static uint32_t settle(uint32_t *wanted, uint32_t count)
{
  uint32_t kept = 0;
  qsort(wanted, count, sizeof *wanted, compare_offsets);
  for (uint32_t i = 0; i < count; i++)
    if (!kept || wanted[kept - 1] != wanted[i])
      wanted[kept++] = wanted[i];
  return kept;
}

/* Reads the jumps of the functions that the suspects' callers have called, and of those to which these lead. */
static void read_module(const struct search *search, const struct suspect *suspects, size_t count, struct jumps *jumps)
{
  uint32_t wanted[2 * ADDRESSES_MAX], known = 0;
  for (size_t i = 0; i < count && known < ADDRESSES_MAX; i++)
    if (!i || suspects[i].called != suspects[i - 1].called)
      wanted[known++] = (uint32_t)suspects[i].called;
  known = settle(wanted, known);
  read_jumps(search, suspects->module, wanted, known, jumps);
  for (int round = 1; round < ROUNDS_MAX; round++) {
    uint32_t all = known;
    for (size_t i = 0; i < jumps->count && all < 2 * ADDRESSES_MAX; i++)
      if (jumps->targets[i] && jumps->targets[i] <= UINT32_MAX && !is_complete(jumps, jumps->targets[i]))
        wanted[all++] = (uint32_t)jumps->targets[i];
    all = settle(wanted, all);
    if (all == known || all > ADDRESSES_MAX)
      return;
    known = all;
    release_jumps(jumps);
    read_jumps(search, suspects->module, wanted, known, jumps);
  }
}

/* Notes what is inferred for the suspects of one module. */
static void infer_module(struct search *search, const struct suspect *suspects, size_t count, size_t *room)
{
  struct names *names = search->names;
  struct jumps jumps;
  struct names_inferred found = {0};
  read_module(search, suspects, count, &jumps);
  for (size_t i = 0; i < count; i++) {
    uint64_t chain[CHAIN_MAX];
    bool same = i && suspects[i].called == suspects[i - 1].called && suspects[i].runs == suspects[i - 1].runs;
    if (!same) {
      found = (struct names_inferred){names->inferred_count, infer(&jumps, &suspects[i], chain)};
      for (unsigned j = 0; j < found.count; j++)
        *XAPPEND(names->inferred_addresses, names->inferred_count, *room) =
            code_add_address(search->code, names, suspects->module, chain[j]);
    }
    names->inferred[suspects[i].context] = found;
  }
  release_jumps(&jumps);
}

void inferred_frames_find(const struct profile *profile, const struct symbols_request *requests, struct names *names,
                          struct code *code)
{
  struct search search = {.profile = profile, .requests = requests, .names = names, .code = code};
  size_t room = 0;
  find_suspects(&search);
  if (search.suspects_count) {
    names->inferred = xcalloc(profile->contexts.count, sizeof *names->inferred);
    qsort(search.suspects, search.suspects_count, sizeof *search.suspects, compare_suspects);
  }
  for (size_t i = 0, end; i < search.suspects_count; i = end) {
    end = i + 1;
    while (end < search.suspects_count && search.suspects[end].module == search.suspects[i].module)
      end++;
    infer_module(&search, &search.suspects[i], end - i, &room);
  }
  free(search.suspects);
}
