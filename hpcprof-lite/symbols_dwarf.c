#include "hpcprof-lite/symbols_dwarf.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "hpcprof-lite/symbols_constants.h"
#include "hpcprof-lite/symbols_lines.h"

enum {
  CHAIN_MAX = 200,     /* functions inlined into one another; deeper ones count as their callers       */
  REFERENCES_MAX = 16, /* abstract_origin and specification steps to a function's declaration          */
  LINES_FACTOR = 16,   /* line table bytes read, as a multiple of the section's size (plus the floor)  */
  LINES_FLOOR = 1 << 20
};

/* A function as its declaration tells, whatever instances of it there are. */
struct function {
  const struct symbols_info *info;
  uint64_t offset; /* of the entry it was asked for by */
  const char *readable, *raw, *decl_file;
  uint32_t decl_line;
};

/* A stretch of code that belongs to one instance of a function. */
struct scope {
  uint64_t low;              /* start of the out-of-line function                             */
  uint64_t entry;            /* offset of the entry, or of what it says it is an instance of  */
  struct function *function; /* NULL until asked for                                          */
  uint32_t parent;           /* scope it is inlined into; SYMBOLS_NONE if it is out of line   */
  uint32_t call_file, call_line;
  uint32_t depth;
  bool shared; /* entry lies in the shared file */
};

/* What is built on demand for a unit. */
struct unit_index {
  bool built, lines_tried;
  struct symbols_lines *lines;
  struct scope *scopes;
  size_t scope_count, scope_room;
  struct symbols_ranges ranges; /* → scope */
};

struct symbols_dwarf {
  struct symbols_info main, shared;
  struct unit_index *index, *shared_index; /* parallel to the units */
  struct symbols_ranges units;             /* → unit of main        */
  struct symbols_pool *pool;
  uint64_t lines_budget;
  void *functions; /* search tree of struct function, by file and offset */
  bool has_lines, has_functions;
};

static struct unit_index *index_of(struct symbols_dwarf *d, const struct symbols_info *info,
                                   const struct symbols_unit *unit) {
  return (info == &d->shared ? d->shared_index : d->index) + (unit - info->units);
}

/* The line table of a unit, NULL without. */
static struct symbols_lines *lines_of(struct symbols_dwarf *d, const struct symbols_info *info,
                                      const struct symbols_unit *unit) {
  struct unit_index *index = index_of(d, info, unit);
  if (!index->lines_tried && unit->has_lines) {
    const struct symbols_lines_source source = {.line = info->sections[SYMBOLS_LINE],
                                                .str = info->sections[SYMBOLS_STR],
                                                .line_str = info->sections[SYMBOLS_LINE_STR],
                                                .code = info->code,
                                                .pool = d->pool,
                                                .budget = &d->lines_budget};
    index->lines = symbols_lines_new(&source, unit->line_offset, unit->comp_dir);
  }
  index->lines_tried = true;
  return index->lines;
}

static const char *file_of(struct symbols_dwarf *d, const struct symbols_info *info, const struct symbols_unit *unit,
                           uint64_t number) {
  struct symbols_lines *lines = lines_of(d, info, unit);
  return lines ? symbols_lines_file(lines, number) : NULL;
}

/* What has been found on the way from an instance to its declaration. */
struct search {
  const char *name, *linkage, *decl_file;
  uint64_t decl_line;
};

/* Takes what one entry adds; false where no reference leads further. */
static bool search_step(struct symbols_dwarf *d, struct symbols_info **info, uint64_t *offset, struct search *s) {
  struct symbols_unit *unit = symbols_info_unit(*info, *offset);
  struct symbols_entry entry;
  struct symbols_fields f;
  if (!unit || !symbols_unit_prepare(*info, unit))
    return false;
  struct symbols_cursor c = symbols_cursor_at((*info)->sections[SYMBOLS_INFO], *offset, unit->end);
  if (!symbols_entry_read(*info, unit, &c, &entry))
    return false;
  symbols_entry_fields(*info, unit, &c, &entry, &f);
  if (!s->name)
    s->name = f.name.text;
  if (!s->linkage)
    s->linkage = f.linkage.text;
  if (!s->decl_line && f.decl_line.kind == SYMBOLS_VALUE_NUMBER)
    s->decl_line = f.decl_line.number;
  if (!s->decl_file && f.decl_file.kind == SYMBOLS_VALUE_NUMBER)
    s->decl_file = file_of(d, *info, unit, f.decl_file.number);
  const struct symbols_value *next = f.origin.kind ? &f.origin : &f.specification;
  *offset = next->number;
  if (next->kind == SYMBOLS_VALUE_SHARED)
    *info = (*info)->shared;
  return *info && (next->kind == SYMBOLS_VALUE_SHARED || next->kind == SYMBOLS_VALUE_ENTRY);
}

/* Names a function: by its linkage name where that says more than the plain one (parameters, scopes), else by its
 * plain name. */
static void name_function(struct symbols_dwarf *d, struct function *function, const struct search *s) {
  const char *raw = s->linkage ? s->linkage : s->name;
  function->readable = symbols_readable_in(d->pool, s->linkage);
  if (s->name && (!function->readable || function->readable == s->linkage))
    function->readable = symbols_readable_in(d->pool, s->name);
  function->raw = raw && function->readable && strcmp(raw, function->readable) ? raw : NULL;
}

static int compare_functions(const void *left, const void *right) {
  const struct function *a = left, *b = right;
  if (a->info != b->info)
    return (uintptr_t)a->info < (uintptr_t)b->info ? -1 : 1;
  return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The function of an entry, found out once; NULL without memory. */
static struct function *function_get(struct symbols_dwarf *d, struct symbols_info *info, uint64_t offset) {
  struct function *wanted = malloc(sizeof *wanted);
  if (!wanted)
    return NULL;
  *wanted = (struct function){.info = info, .offset = offset};
  struct function **slot = tsearch(wanted, &d->functions, compare_functions);
  if (!slot || *slot != wanted) {
    free(wanted);
    return slot ? *slot : NULL;
  }
  struct search s = {0};
  for (int i = 0; i < REFERENCES_MAX && search_step(d, &info, &offset, &s); i++)
    continue;
  name_function(d, wanted, &s);
  wanted->decl_file = s.decl_file;
  wanted->decl_line = (uint32_t)(s.decl_line > UINT32_MAX ? 0 : s.decl_line);
  return wanted;
}

/* A unit while its entries are walked. */
struct walk {
  struct symbols_dwarf *dwarf;
  struct symbols_unit *unit;
  struct unit_index *index;
  uint32_t *open; /* for each entry whose children are being read: the scope they belong to */
  size_t depth, room;
};

static uint32_t number_of(const struct symbols_value *value) {
  return value->kind == SYMBOLS_VALUE_NUMBER && value->number <= UINT32_MAX ? (uint32_t)value->number : 0;
}

/* Makes a scope of a function or inlined instance; returns the scope for its children: `parent` where it has no code.
 * */
static uint32_t add_scope(struct walk *w, const struct symbols_entry *entry, const struct symbols_fields *f,
                          uint32_t parent) {
  struct unit_index *index = w->index;
  bool inlined = entry->tag == DW_TAG_inlined_subroutine && parent != SYMBOLS_NONE;
  uint32_t depth = parent == SYMBOLS_NONE ? 0 : index->scopes[parent].depth + 1;
  uint64_t first = 0;
  if (depth >= CHAIN_MAX || index->scope_count >= SYMBOLS_NONE - 1)
    return parent;
  long ranges =
      symbols_entry_ranges(&w->dwarf->main, w->unit, f, (uint32_t)index->scope_count, depth, &index->ranges, &first);
  if (ranges <= 0)
    return parent;
  struct scope *grown = symbols_grow(index->scopes, index->scope_count, &index->scope_room, sizeof *grown);
  if (!grown)
    return parent;
  index->scopes = grown;
  index->scopes[index->scope_count] = (struct scope){.low = inlined ? index->scopes[parent].low : first,
                                                     .entry = f->origin.kind ? f->origin.number : entry->offset,
                                                     .shared = f->origin.kind == SYMBOLS_VALUE_SHARED,
                                                     .parent = inlined ? parent : SYMBOLS_NONE,
                                                     .call_file = number_of(&f->call_file),
                                                     .call_line = number_of(&f->call_line),
                                                     .depth = depth};
  return (uint32_t)index->scope_count++;
}

/* Notes that the children of an entry follow, and the scope they are in.  False: no memory. */
static bool walk_down(struct walk *w, uint32_t scope) {
  uint32_t *grown = symbols_grow(w->open, w->depth, &w->room, sizeof *grown);
  if (!grown)
    return false;
  w->open = grown;
  w->open[w->depth++] = scope;
  return true;
}

/* Walks all entries of a unit, in file order, without recursion. */
static void walk_entries(struct walk *w) {
  const struct symbols_info *info = &w->dwarf->main;
  struct symbols_cursor c = symbols_cursor_at(info->sections[SYMBOLS_INFO], w->unit->first, w->unit->end);
  struct symbols_entry entry;
  struct symbols_fields fields;
  while (symbols_entry_read(info, w->unit, &c, &entry)) {
    uint32_t scope = w->depth ? w->open[w->depth - 1] : SYMBOLS_NONE;
    if (!entry.tag) {
      if (w->depth)
        w->depth--;
    } else if (entry.tag == DW_TAG_subprogram || entry.tag == DW_TAG_inlined_subroutine) {
      symbols_entry_fields(info, w->unit, &c, &entry, &fields);
      if (!c.bad)
        scope = add_scope(w, &entry, &fields, scope);
    } else {
      symbols_entry_skip(info, w->unit, &c, &entry);
    }
    if (entry.children && !walk_down(w, scope))
      return;
    if (!w->depth)
      return;
  }
}

/* Builds the index of a unit of the main file, once; what damage or lack of memory leaves out stays unknown. */
static struct unit_index *index_get(struct symbols_dwarf *d, uint32_t number) {
  struct unit_index *index = &d->index[number];
  if (index->built)
    return index;
  index->built = true;
  struct walk walk = {.dwarf = d, .unit = &d->main.units[number], .index = index};
  if (symbols_unit_prepare(&d->main, walk.unit))
    walk_entries(&walk);
  free(walk.open);
  symbols_ranges_build(&index->ranges);
  return index;
}

/* The position of a place: where the code of the next inner one was called. */
static void set_position(struct symbols_dwarf *d, const struct symbols_unit *unit, struct symbols_place *place,
                         const struct scope *inner) {
  place->file = inner->call_line ? file_of(d, &d->main, unit, inner->call_file) : NULL;
  place->line = inner->call_line;
}

/* Functions that the compiler made (gcc's outlined ones) have no declaration: the line of their first instruction
 * stands in, which is the line of the construct. */
static void set_declaration(struct symbols_lines *lines, const struct scope *scope, struct symbols_place *place) {
  uint32_t file;
  if (scope->parent == SYMBOLS_NONE && !place->decl_line && lines &&
      symbols_lines_find(lines, scope->low, &file, &place->decl_line))
    place->decl_file = symbols_lines_file(lines, file);
}

static void set_function(struct symbols_dwarf *d, struct scope *scope, struct symbols_place *place) {
  if (!scope->function)
    scope->function = function_get(d, scope->shared ? &d->shared : &d->main, scope->entry);
  const struct function *function = scope->function;
  *place = (struct symbols_place){.low = scope->low, .inlined = scope->parent != SYMBOLS_NONE};
  if (!function)
    return;
  place->function = function->readable;
  place->raw = function->raw;
  place->decl_file = function->decl_file;
  place->decl_line = function->decl_line;
}

int symbols_dwarf_find(struct symbols_dwarf *d, uint64_t address, struct symbols_place *places, int max,
                       const char **file, uint32_t *line) {
  uint32_t number = symbols_ranges_find(&d->units, address), row_file = 0;
  if (number == SYMBOLS_NONE || max <= 0)
    return 0;
  const struct symbols_unit *unit = &d->main.units[number];
  struct unit_index *index = index_get(d, number);
  struct symbols_lines *lines = lines_of(d, &d->main, unit);
  if (lines && symbols_lines_find(lines, address, &row_file, line))
    *file = symbols_lines_file(lines, row_file);
  uint32_t chain[CHAIN_MAX], length = 0;
  for (uint32_t s = symbols_ranges_find(&index->ranges, address); s != SYMBOLS_NONE && length < CHAIN_MAX;
       s = index->scopes[s].parent)
    chain[length++] = s;
  int count = 0;
  for (uint32_t i = length; i-- > 0 && count < max; count++) {
    set_function(d, &index->scopes[chain[i]], &places[count]);
    set_declaration(lines, &index->scopes[chain[i]], &places[count]);
    if (i) {
      set_position(d, unit, &places[count], &index->scopes[chain[i - 1]]);
    } else {
      places[count].file = *file;
      places[count].line = *line;
    }
  }
  return count;
}

/* Copies the sections, cutting those of strings behind their last NUL. */
static void set_sections(struct symbols_info *info, const struct symbols_bytes sections[SYMBOLS_SECTIONS]) {
  memcpy(info->sections, sections, sizeof info->sections);
  info->sections[SYMBOLS_STR] = symbols_bytes_strings(sections[SYMBOLS_STR]);
  info->sections[SYMBOLS_LINE_STR] = symbols_bytes_strings(sections[SYMBOLS_LINE_STR]);
}

/* Reads the units of both files; false: no memory, or nothing there. */
static bool open_units(struct symbols_dwarf *d, bool *damaged) {
  d->lines_budget = LINES_FLOOR + LINES_FACTOR * (uint64_t)(d->main.sections[SYMBOLS_LINE].size +
                                                            d->shared.sections[SYMBOLS_LINE].size);
  if (d->shared.sections[SYMBOLS_INFO].size) {
    d->main.shared = &d->shared;
    if (!symbols_info_open(&d->shared))
      return false;
  }
  d->main.covered = &d->units;
  if (!symbols_info_open(&d->main) || !d->main.unit_count || !symbols_ranges_build(&d->units))
    return false;
  *damaged = d->main.damaged || d->shared.damaged;
  d->index = calloc(d->main.unit_count, sizeof *d->index);
  d->shared_index = calloc(d->shared.unit_count + 1, sizeof *d->shared_index);
  return d->index && d->shared_index;
}

struct symbols_dwarf *symbols_dwarf_new(const struct symbols_bytes sections[SYMBOLS_SECTIONS],
                                        const struct symbols_bytes shared[SYMBOLS_SECTIONS],
                                        const struct symbols_ranges *code, struct symbols_pool *pool, bool *damaged) {
  struct symbols_dwarf *d = calloc(1, sizeof *d);
  if (!d)
    return NULL;
  d->pool = pool;
  d->main.code = d->shared.code = code;
  set_sections(&d->main, sections);
  set_sections(&d->shared, shared);
  if (!open_units(d, damaged)) {
    symbols_dwarf_free(d);
    return NULL;
  }
  for (size_t i = 0; i < d->main.unit_count; i++) {
    d->has_lines = d->has_lines || d->main.units[i].has_lines;
    d->has_functions = d->has_functions || d->main.units[i].has_entries;
  }
  return d;
}

bool symbols_dwarf_has_lines(const struct symbols_dwarf *d) {
  return d->has_lines;
}

bool symbols_dwarf_has_functions(const struct symbols_dwarf *d) {
  return d->has_functions;
}

static void release_index(struct unit_index *index, size_t count) {
  for (size_t i = 0; index && i < count; i++) {
    symbols_lines_free(index[i].lines);
    symbols_ranges_release(&index[i].ranges);
    free(index[i].scopes);
  }
  free(index);
}

void symbols_dwarf_free(struct symbols_dwarf *d) {
  if (!d)
    return;
  release_index(d->index, d->main.unit_count);
  release_index(d->shared_index, d->shared.unit_count);
  tdestroy(d->functions, free);
  symbols_ranges_release(&d->units);
  symbols_info_release(&d->main);
  symbols_info_release(&d->shared);
  free(d);
}
