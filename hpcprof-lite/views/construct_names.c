#include "hpcprof-lite/views/construct_names.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_BELOW_MAX = 3 };

/* Returns the name of the function that contains a construct at an address whose outlined function has no origin, or
 * NULL.  It is the function above the row of that outlined function; if it has none, above that of a construct a few
 * lines before. */
static const char *caller_name(const struct names *names, const struct tree *tree, uint32_t address)
{
  assert(address < names->addresses_count);
  uint32_t best = 0, least = LINES_BELOW_MAX + 1, outer = names->frames[names->addresses[address].first].function;
  const struct names_function *outlined = &names->functions[names_innermost(names, address)->function];
  for (uint32_t i = 1; i < tree->count && least; i++) {
    const struct tree_row *row = &tree->rows[i];
    bool entry = row->kind == ROW_PARALLEL || row->kind == ROW_TASK;
    bool exact = entry && row->function == outer;
    if (!exact &&
        (!entry || (row->module != MODEL_NONE && row->module != outlined->module) || !row->line ||
         row->line > outlined->line || outlined->line - row->line >= least || strcmp(row->file, outlined->file)))
      continue;
    least = exact ? 0 : outlined->line - row->line;
    best = i;
  }
  while (best && tree->rows[best].kind != ROW_FUNCTION && tree->rows[best].kind != ROW_INLINED)
    best = tree->rows[best].parent;
  return best ? tree_unmarked_name(&tree->rows[best]) : NULL;
}

/* Sets the name and place of a construct: the innermost function at its address, by the name that the user wrote. */
static void name_directive(const struct profile *profile, struct names *names, const struct tree *tree, uint32_t number)
{
  struct names_directive *row = &names->directives[number];
  *row = (struct names_directive){.name = profile->workspan.directives[number].name, .file = "", .first = number};
  uint32_t address = names->directive_at[number];
  if (address == MODEL_NONE)
    return;
  const struct names_frame *step = names_innermost(names, address);
  row->file = step->line ? step->file : "";
  row->line = step->line;
  if (*row->name)
    return;
  const struct names_function *function = &names->functions[step->function];
  row->name = function->name;
  if (!*row->file || !row->line)
    row->name = names_own(names, names_spot(names, address));
  else if (function->origin != MODEL_NONE)
    row->name = names->functions[function->origin].name;
  else if (function->outline != OUTLINE_NONE)
    row->name = caller_name(names, tree, address) ?: function->name;
}

/* Whether the addresses of two constructs are copies of the same code: all functions and lines are the same, from the
 * innermost one up to `depth` callers into which it is inlined. */
static bool same_code(const struct names *names, uint32_t a, uint32_t b, uint32_t depth)
{
  assert(a < names->addresses_count && b < names->addresses_count);
  const struct names_address *x = &names->addresses[a], *y = &names->addresses[b];
  for (uint32_t i = 0; i <= depth && (i < x->count || i < y->count); i++) {
    if (i >= x->count || i >= y->count)
      return false;
    const struct names_frame *s = &names->frames[x->first + x->count - 1 - i];
    const struct names_frame *t = &names->frames[y->first + y->count - 1 - i];
    if (s->function != t->function || s->line != t->line || s->file != t->file)
      return false;
  }
  return true;
}

struct place_order {
  const struct profile *profile;
  const struct names *names;
};

/* By kind, place and name, then by number. */
static int by_place(const void *a, const void *b, void *argument)
{
  const struct place_order *key = argument;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const struct names_directive *x = &key->names->directives[i], *y = &key->names->directives[j];
  const struct profile_directive *directives = key->profile->workspan.directives;
  return COMPARE(directives[i].kind, directives[j].kind) ?: strcmp(x->file, y->file) ?: COMPARE(x->line, y->line)
             ?: strcmp(x->name, y->name) ?: COMPARE(directives[i].device, directives[j].device) ?: COMPARE(i, j);
}

static bool same_place(const struct profile *profile, const struct names *names, uint32_t i, uint32_t j)
{
  const struct names_directive *x = &names->directives[i], *y = &names->directives[j];
  return x->line && x->line == y->line &&
         profile->workspan.directives[i].kind == profile->workspan.directives[j].kind &&
         profile->workspan.directives[i].device == profile->workspan.directives[j].device &&
         !strcmp(x->file, y->file) && !strcmp(x->name, y->name);
}

/* "f < a.c:7 < b.c:9": the name of a construct, and up to `depth` calls that were inlined around it. */
static void add_calls(struct names *names, uint32_t number, uint32_t depth)
{
  assert(names->directive_at[number] != MODEL_NONE);
  struct names_directive *row = &names->directives[number];
  const struct names_address *address = &names->addresses[names->directive_at[number]];
  for (uint32_t i = 1; i <= depth && i < address->count; i++) {
    const struct names_frame *step = &names->frames[address->first + address->count - 1 - i];
    row->name = names_own(names, xasprintf("%s < %s:%" PRIu32, row->name, names_base(step->file), step->line));
  }
}

/* Constructs of one place and name: finds the copies that a compiler has made of a call (by unrolling a loop, for
 * example), and tells the others apart by the calls that were inlined around them. */
static void settle_place(struct names *names, const uint32_t *numbers, uint32_t count)
{
  assert(count > 1);
  enum { DEPTH_MAX = 64 };
  uint32_t depth = 0, kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t j = 0, here = names->directive_at[numbers[i]];
    for (; j < i; j++) {
      uint32_t there = names->directive_at[numbers[j]];
      bool first = names->directives[numbers[j]].first == numbers[j];
      if (first && same_code(names, here, there, DEPTH_MAX))
        break;
      while (first && depth < DEPTH_MAX && same_code(names, here, there, depth))
        depth++;
    }
    if (j < i)
      names->directives[numbers[i]].first = numbers[j];
    kept += j == i;
  }
  for (uint32_t i = 0; i < count && kept > 1; i++)
    add_calls(names, numbers[i], depth);
}

/* Adds the device to the names of constructs for devices, if there are several. */
static void name_devices(const struct profile *profile, struct names *names)
{
  const struct profile_workspan *workspan = &profile->workspan;
  uint32_t device = 0;
  bool several = false;
  for (uint32_t i = 0; i < workspan->directives_count; i++) {
    several |= device && workspan->directives[i].device && workspan->directives[i].device != device;
    device = workspan->directives[i].device ?: device;
  }
  for (uint32_t i = 0; i < workspan->directives_count && several; i++) {
    struct names_directive *row = &names->directives[i];
    device = workspan->directives[i].device;
    const char *comma = *row->name ? ", " : "";
    if (device == DEVICE_NONE)
      row->name = names_own(names, xasprintf("%s%sno device", row->name, comma));
    else if (device)
      row->name = names_own(names, xasprintf("%s%sdevice %" PRIu32, row->name, comma, device - 1));
  }
}

void construct_names(const struct profile *profile, const struct tree *tree, struct names *names)
{
  assert(!names->directives);
  uint32_t count = profile->workspan.directives_count;
  uint32_t *order = xcalloc(count, sizeof *order);
  names->directives = xcalloc((size_t)count + 1, sizeof *names->directives);
  for (uint32_t i = 0; i < count; i++) {
    order[i] = i;
    name_directive(profile, names, tree, i);
  }
  qsort_r(order, count, sizeof *order, by_place, &(struct place_order){profile, names});
  for (uint32_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && same_place(profile, names, order[i], order[end]);)
      end++;
    if (end > i + 1)
      settle_place(names, order + i, end - i);
  }
  free(order);
  name_devices(profile, names);
}
