#include "hpcprof-lite/views/call_places.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct call_place nowhere = {.function = "", .file = ""};

int call_place_compare(const struct call_place *x, const struct call_place *y)
{
  return strcmp(x->file, y->file) ?: COMPARE(x->line, y->line) ?: strcmp(x->function, y->function) ?: x->near - y->near;
}

/* A function by which the C++ library calls those of POSIX. */
static bool is_wrapper(const struct names_function *function, const char *file)
{
  if (strstr(file, "/include/c++/"))
    return true;
  static const char *const prefixes[] = {"std::", "__gthread", "__glibcxx_", "__gnu_cxx::", "boost::"};
  for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (!strncmp(function->name, prefixes[i], strlen(prefixes[i])))
      return true;
  return false;
}

/* The name that the user knows: of an outlined function, that of the function which contains the construct. */
static const char *known_name(const struct names *names, const struct names_function *function)
{
  if (function->origin != MODEL_NONE)
    return names->functions[function->origin].name;
  return function->outline == OUTLINE_NONE ? function->name : NULL;
}

struct call_place call_place_of(const struct profile *profile, const struct names *names, uint32_t context)
{
  struct call_place place = nowhere, innermost = nowhere;
  for (; context != MODEL_NONE && context; context = profile->contexts.nodes[context].parent) {
    uint32_t address = names->address_of[context];
    uint32_t count = address == MODEL_NONE ? 0 : names->addresses[address].count;
    for (uint32_t i = count; i-- > 0;) {
      const struct names_frame *frame = &names->frames[names->addresses[address].first + i];
      const struct names_function *function = &names->functions[frame->function];
      const char *name = known_name(names, function);
      if (!*innermost.function)
        innermost = (struct call_place){.function = function->name, .file = frame->file, .line = frame->line};
      if (!*place.function && !is_wrapper(function, frame->file))
        place = (struct call_place){.function = function->name, .file = frame->file, .line = frame->line};
      if (*place.function && name) {
        place.function = name;
        return place;
      }
    }
  }
  return *place.function ? place : innermost;
}

void call_places_enter(const struct call_place *place, uint64_t ns, struct call_place *most, uint64_t *most_ns)
{
  unsigned i = CALL_PLACES_MOST;
  while (i && most_ns[i - 1] < ns)
    i--;
  if (i == CALL_PLACES_MOST)
    return;
  for (unsigned k = CALL_PLACES_MOST - 1; k > i; k--) {
    most[k] = most[k - 1];
    most_ns[k] = most_ns[k - 1];
  }
  most[i] = *place;
  most_ns[i] = ns;
}

/* Whether a context is below main and in no parallel region. */
static bool is_initial(const struct profile *profile, const struct names *names, uint32_t context)
{
  static const char *const starts[] = {"main", "MAIN__"};
  bool found = false;
  for (; context; context = profile->contexts.nodes[context].parent) {
    uint32_t address = names->address_of[context];
    if (profile->contexts.nodes[context].kind == CONTEXT_PARALLEL)
      return false;
    for (uint32_t i = 0; address != MODEL_NONE && i < names->addresses[address].count; i++) {
      const struct names_frame *frame = &names->frames[names->addresses[address].first + i];
      for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
        found |= !strcmp(names->functions[frame->function].name, starts[k]);
    }
  }
  return found;
}

struct place_amount {
  struct call_place place;
  uint64_t ns;
};

ORDER(by_place, struct place_amount, call_place_compare(&x->place, &y->place))

/* Adds the places with an amount in that column. */
static void add_places(const struct profile *profile, const struct names *names, uint32_t column, bool near,
                       bool initial, struct place_amount *amounts, uint32_t *count)
{
  for (uint32_t i = 1; i < profile->contexts.count && column != MODEL_NONE; i++) {
    uint64_t ns = contexts_get(&profile->contexts, i, column);
    if (!ns || (initial && !is_initial(profile, names, i)))
      continue;
    amounts[*count] = (struct place_amount){call_place_of(profile, names, i), ns};
    amounts[(*count)++].place.near = near;
  }
}

void call_places_find(const struct profile *profile, const struct names *names, uint32_t column, uint32_t near,
                      bool initial, struct call_places *places)
{
  assert(names->address_of);
  struct place_amount *amounts = xcalloc(2 * (size_t)profile->contexts.count, sizeof *amounts);
  uint32_t count = 0;
  *places = (struct call_places){0};
  add_places(profile, names, column, false, initial, amounts, &count);
  add_places(profile, names, near, true, initial, amounts, &count);
  qsort(amounts, count, sizeof *amounts, by_place);
  for (uint32_t i = 0; i < count; i++)
    model_add(&places->all_ns, amounts[i].ns);
  for (uint32_t i = 0; i < count; i++) {
    if (i + 1 < count && !by_place(&amounts[i], &amounts[i + 1]))
      model_add(&amounts[i + 1].ns, amounts[i].ns);
    else
      call_places_enter(&amounts[i].place, amounts[i].ns, places->most, places->ns);
  }
  free(amounts);
}
