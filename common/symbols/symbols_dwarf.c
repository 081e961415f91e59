#include "common/symbols/symbols_dwarf.h"

#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/order.h"
#include "common/xalloc.h"
#include "common/symbols/symbols_child.h"
#include "common/symbols/symbols_entries.h"
#include "common/symbols/symbols_lines.h"
#include "common/symbols/symbols_split.h"

enum {
  ABBREVS = 2048,       /* abbreviations of a unit for which it is remembered whether they have code     */
  CHAIN_MAX = 200,      /* functions inlined into one another; deeper ones count as their callers        */
  DEPTH_MAX = 1000,     /* entries inside one another                                                    */
  REFERENCES_MAX = 16,  /* abstract_origin and specification steps to a function's declaration           */
  STEPS_PER_BYTE = 8,   /* of DWARF; an entry, range or row is a step, and takes a byte or more          */
  CPU_FLOOR_MS = 10000, /* may always be used                                                           */
  CPU_MS_PER_MB = 2000, /* of DWARF, forty times what libdwarf needs: a busy machine takes more of it   */
  ASLEEP_MS = 60000,
  MEMORY_FACTOR = 32 /* of the size of the sections                                                     */
};

#define STEPS_FLOOR (1ull << 20)
#define MEMORY_FLOOR_BYTES (256ull << 20)
#define DWARF_MAX_BYTES (16ull << 30) /* more does not raise the limits: some file systems report no holes */

/* The key of what the trees hold: their first member. */
struct known {
  const struct symbols_debug_file *file;
  Dwarf_Off offset;
};

/* The line table of a unit, known by its root entry. */
struct line_table {
  struct known unit;
  struct symbols_lines lines;
  uint32_t *numbers; /* [file] its number in the draft, plus 1; 0: not looked up yet */
};

/* A function that has been looked up. */
struct known_function {
  struct known entry;
  uint32_t function;
};

/* What stands behind the tail calls that a child writes. */
struct tail_end {
  uint64_t count, sound; /* sound: nothing was damaged or lacked memory */
};

/* Whether the entries of an abbreviation have code. */
enum has_code { CODE_UNKNOWN, CODE_ABSENT, CODE_PRESENT };

/* The state of the child, which is never released. */
struct reader {
  const struct symbols_dwarf_source *source;
  struct symbols_draft draft;
  struct symbols_debug_file main, shared;
  struct symbols_split split;
  void *functions, *tables; /* tsearch() trees of struct known_function and struct line_table */
  uint32_t *depths;         /* [routine] how many functions it is inlined into */
  size_t depth_room;
  uint64_t steps_left; /* bounds the work on damaged data in the same way on every machine */
  bool *missed;        /* [wanted address] the unit being read covers it, but no function has been found for it */
  struct symbols_tail_call *tail_calls;
  size_t tail_count, tail_room;
  /* of the unit being read: */
  const struct symbols_debug_file *file; /* with its entries: main, or its split part */
  struct symbols_unit unit;
  struct line_table *table;        /* NULL if there is none */
  uint8_t code_by_abbrev[ABBREVS]; /* enum has_code */
  bool thorough;                   /* functions without wanted addresses are searched for nested ones, too */
};

static void note_damage(struct reader *r)
{
  r->draft.flags |= SYMBOLS_SUMMARY_DAMAGED;
}

/* Takes a step.  False if there were too many, which only damaged data need. */
static bool take_step(struct reader *r)
{
  if (!r->steps_left) {
    note_damage(r);
    return false;
  }
  r->steps_left--;
  return true;
}

/* A line number, 0 if it is too large. */
static uint32_t line_number(uint64_t number)
{
  return number > UINT32_MAX ? 0 : (uint32_t)number;
}

ORDER(compare_known, struct known, COMPARE((uintptr_t)x->file, (uintptr_t)y->file) ?: COMPARE(x->offset, y->offset))

/* Returns what a tree has for the entry with which `wanted` begins.  If it has nothing, `wanted` is added; else it is
 * freed. */
static void *remember(void **tree, void *wanted, bool *added)
{
  void **slot = tsearch(wanted, tree, compare_known);
  if (!slot)
    xalloc_die();
  *added = *slot == wanted;
  if (!*added)
    free(wanted);
  return *slot;
}

/* Opens the line table of a unit and reads its header.  False if there is none. */
static bool table_open(struct line_table *table, const struct symbols_debug_file *file, Dwarf_Die root, Dwarf_Off unit)
{
  *table = (struct line_table){.unit = {file, unit}};
  if (!symbols_lines_open(&table->lines, root))
    return false;
  table->numbers = xcalloc((size_t)table->lines.count, sizeof *table->numbers);
  return true;
}

static void table_close(struct line_table *table)
{
  symbols_lines_close(&table->lines);
  free(table->numbers);
}

/* The draft's number for a file of the table, SYMBOLS_NONE if it is unknown. */
static uint32_t file_number(struct reader *r, struct line_table *table, uint64_t number)
{
  assert(!table || table->numbers || number >= (uint64_t)table->lines.count);
  const char *directory, *name;
  if (!table || number >= (uint64_t)table->lines.count)
    return SYMBOLS_NONE;
  if (!table->numbers[number]) {
    uint32_t found = SYMBOLS_NONE;
    if (symbols_lines_file(&table->lines, number, &directory, &name))
      found = symbols_draft_file(&r->draft, table->lines.comp_dir, directory, name);
    table->numbers[number] = found + 1; /* SYMBOLS_NONE + 1 is 0: looked up again */
  }
  return table->numbers[number] - 1;
}

/* The line table of the unit that contains an entry, NULL on failure.  Tables of other units than the one being read
 * are kept open. */
static struct line_table *table_of(struct reader *r, const struct symbols_debug_file *file, Dwarf_Die die)
{
  Dwarf_Off unit;
  Dwarf_Die root;
  bool added;
  if (file->split) /* has only what the unit being read uses, and its numbers of files are those of that unit */
    return r->table;
  if (dwarf_CU_dieoffset_given_die(die, &unit, NULL) != DW_DLV_OK)
    return NULL;
  if (r->table && r->table->unit.file == file && r->table->unit.offset == unit)
    return r->table;
  struct line_table *wanted = xcalloc(1, sizeof *wanted);
  wanted->unit = (struct known){file, unit};
  struct line_table *table = remember(&r->tables, wanted, &added);
  if (added && dwarf_offdie_b(file->dwarf, unit, true, &root, NULL) == DW_DLV_OK)
    table_open(table, file, root, unit);
  return table;
}

/* Adds what one entry knows about a function, and moves to the entry to which it refers.  False if there is none. */
static bool declaration_step(struct reader *r, const struct symbols_debug_file **file, Dwarf_Off *offset,
                             const char **name, const char **linkage, struct symbols_function *function)
{
  Dwarf_Die die;
  struct symbols_entry f;
  if (dwarf_offdie_b((*file)->dwarf, *offset, true, &die, NULL) != DW_DLV_OK)
    return false;
  bool fine = symbols_entry_read(*file, die, &f);
  symbols_entry_release(&f);
  *name = *name ? *name : f.name;
  *linkage = *linkage ? *linkage : f.linkage;
  if (!function->decl_line)
    function->decl_line = line_number(f.decl_line);
  if (function->decl_file == SYMBOLS_NONE && f.decl_file != UINT64_MAX)
    function->decl_file = file_number(r, table_of(r, *file, die), f.decl_file);
  *offset = f.origin ? f.origin : f.specification;
  if (!*offset && !function->decl_line)
    *offset = symbols_entry_class(*file, die);
  dwarf_dealloc_die(die);
  if (f.origin ? f.origin_shared : f.specification_shared)
    *file = (*file)->shared;
  return fine && *offset && *file;
}

/* The draft's number for the function of an entry, which is looked up once. */
static uint32_t function_of(struct reader *r, const struct symbols_debug_file *file, Dwarf_Off offset)
{
  struct symbols_function function = {.decl_file = SYMBOLS_NONE};
  const char *name = NULL, *linkage = NULL;
  bool added;
  if (!file)
    return SYMBOLS_NONE;
  struct known_function *wanted = xmalloc(sizeof *wanted);
  *wanted = (struct known_function){{file, offset}, SYMBOLS_NONE};
  struct known_function *known = remember(&r->functions, wanted, &added);
  if (!added)
    return known->function;
  for (int i = 0; i < REFERENCES_MAX && declaration_step(r, &file, &offset, &name, &linkage, &function); i++)
    continue;
  function.name = symbols_draft_text(&r->draft, name);
  function.linkage = symbols_draft_text(&r->draft, linkage);
  return known->function = symbols_draft_function(&r->draft, function);
}

/* Receives the ranges of an entry, one after the other. */
struct range_sink {
  struct reader *reader;
  void (*take)(struct range_sink *sink, uint64_t low, uint64_t high); /* called for each, may be NULL */
  uint64_t first;   /* start of the first range                         */
  bool any, wanted; /* there are ranges; one contains a wanted address */
  uint32_t routine, depth;
};

/* Index of the first wanted address at or above address. */
static size_t first_wanted(const struct symbols_dwarf_source *source, uint64_t address)
{
  return FIRST_WHERE(i, source->wanted_count, source->wanted[i] >= address);
}

/* Takes a range, unless it is not in executable code: linkers leave ranges of discarded code at 0, 1 or the largest
 * addresses. */
static void sink_add(void *context, uint64_t low, uint64_t high)
{
  struct range_sink *sink = context;
  const struct symbols_dwarf_source *source = sink->reader->source;
  if (!take_step(sink->reader) || !low || low >= high || symbols_ranges_find(source->code, low) == SYMBOLS_NONE)
    return;
  size_t next = first_wanted(source, low);
  if (!source->wanted_count || (next < source->wanted_count && source->wanted[next] < high))
    sink->wanted = true;
  if (!sink->any)
    sink->first = low;
  sink->any = true;
  if (sink->take)
    sink->take(sink, low, high);
}

/* Adds a range of a routine, and notes the wanted addresses for which a function is found. */
static void take_routine_range(struct range_sink *sink, uint64_t low, uint64_t high)
{
  assert(low < high);
  struct reader *r = sink->reader;
  symbols_ranges_add(&r->draft.ranges, (struct symbols_range){low, high, sink->routine, sink->depth});
  if (sink->depth)
    return; /* the function that contains the inlined one has noted the addresses */
  for (size_t i = first_wanted(r->source, low); i < r->source->wanted_count && r->source->wanted[i] < high; i++)
    r->missed[i] = false;
}

/* Adds the routine of an instance whose ranges have been read. */
static void finish_routine(struct reader *r, const struct range_sink *sink, const struct symbols_entry *f,
                           Dwarf_Off offset, uint32_t parent)
{
  assert(sink->any && (parent == SYMBOLS_NONE || parent < r->draft.routine_count));
  const struct symbols_debug_file *origin = f->origin && f->origin_shared ? r->main.shared : r->file;
  struct symbols_routine routine = {.low = parent == SYMBOLS_NONE ? sink->first : r->draft.routines[parent].low,
                                    .function = SYMBOLS_NONE,
                                    .parent = parent,
                                    .call_file = SYMBOLS_NONE,
                                    .call_line = line_number(f->call_line)};
  if (!r->source->tail_calls)
    routine.function = function_of(r, origin, f->origin ? f->origin : offset);
  if (routine.call_line)
    routine.call_file = file_number(r, r->table, f->call_file);
  xarray_reserve(&r->depths, &r->depth_room, r->draft.routine_count + 1, sizeof *r->depths);
  r->depths[r->draft.routine_count] = sink->depth;
  symbols_draft_routine(&r->draft, routine);
}

static void add_tail_call(struct reader *r, uint32_t routine, uint64_t address, enum symbols_tail_kind kind)
{
  assert(routine < r->draft.routine_count);
  *XAPPEND(r->tail_calls, r->tail_count, r->tail_room) =
      (struct symbols_tail_call){r->draft.routines[routine].low, address, kind};
}

static bool has_flag(Dwarf_Die die, Dwarf_Half name)
{
  Dwarf_Attribute attribute;
  Dwarf_Bool set = false;
  if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
    return false;
  if (dwarf_formflag(attribute, &set, NULL) != DW_DLV_OK)
    set = false;
  dwarf_dealloc_attribute(attribute);
  return set;
}

/* Reads a call site.  DWARF 4 has them as extensions of GNU, in which the address is behind the jump. */
static void read_call_site(struct reader *r, Dwarf_Die die, uint32_t routine)
{
  bool tail = has_flag(die, DW_AT_call_tail_call) || has_flag(die, DW_AT_GNU_tail_call);
  if (!tail || routine == SYMBOLS_NONE)
    return;
  uint64_t behind = symbols_entry_address(r->file, die, DW_AT_call_return_pc);
  uint64_t at = behind ? 0 : symbols_entry_address(r->file, die, DW_AT_call_pc);
  if (at)
    add_tail_call(r, routine, at, SYMBOLS_TAIL_AT);
  else
    add_tail_call(r, routine, behind ? behind : symbols_entry_address(r->file, die, DW_AT_low_pc), SYMBOLS_TAIL_BEHIND);
}

/* Does a function list all of its tail calls? */
static bool lists_tail_calls(Dwarf_Die die)
{
  static const Dwarf_Half names[] = {DW_AT_call_all_calls, DW_AT_call_all_tail_calls, DW_AT_GNU_all_call_sites,
                                     DW_AT_GNU_all_tail_call_sites};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (has_flag(die, names[i]))
      return true;
  return false;
}

/* Whether an entry has code, which is remembered for its abbreviation, because all entries of one have the same
 * attributes.  Saves reading the attributes of functions that are only declared, which are most. */
static bool has_code(struct reader *r, Dwarf_Die die)
{
  int abbrev = dwarf_die_abbrev_code(die);
  Dwarf_Bool low = false, ranges = false;
  if (abbrev > 0 && abbrev < ABBREVS && r->code_by_abbrev[abbrev] != CODE_UNKNOWN)
    return r->code_by_abbrev[abbrev] == CODE_PRESENT;
  dwarf_hasattr(die, DW_AT_low_pc, &low, NULL);
  dwarf_hasattr(die, DW_AT_ranges, &ranges, NULL);
  if (abbrev > 0 && abbrev < ABBREVS)
    r->code_by_abbrev[abbrev] = low || ranges ? CODE_PRESENT : CODE_ABSENT;
  return low || ranges;
}

/* Adds a routine for a function or an inlined instance.  Returns the routine for its children, which is `parent` if it
 * has no code.  Sets *enter if the children must be read. */
static uint32_t add_routine(struct reader *r, Dwarf_Die die, Dwarf_Half tag, uint32_t parent, bool *enter)
{
  assert(parent == SYMBOLS_NONE || parent < r->draft.routine_count);
  struct symbols_entry f;
  Dwarf_Off offset = 0;
  uint32_t outer = tag == DW_TAG_inlined_subroutine ? parent : SYMBOLS_NONE;
  struct range_sink sink = {.reader = r,
                            .take = take_routine_range,
                            .routine = (uint32_t)r->draft.routine_count,
                            .depth = outer == SYMBOLS_NONE ? 0 : r->depths[outer] + 1};
  if (!has_code(r, die) || sink.depth >= CHAIN_MAX || dwarf_dieoffset(die, &offset, NULL) != DW_DLV_OK ||
      !symbols_entry_read(r->file, die, &f))
    return parent;
  symbols_entry_ranges(&r->unit, die, &f, sink_add, &sink);
  *enter = *enter || sink.wanted;
  if (sink.any)
    finish_routine(r, &sink, &f, offset, outer);
  if (sink.any && outer == SYMBOLS_NONE && r->source->tail_calls && lists_tail_calls(die))
    add_tail_call(r, sink.routine, 0, SYMBOLS_TAIL_ALL);
  symbols_entry_release(&f);
  return sink.any ? sink.routine : parent;
}

static void walk_children(struct reader *r, Dwarf_Die parent, uint32_t routine, unsigned depth);

/* Reads an entry, and its children if they may have code. */
static void walk_entry(struct reader *r, Dwarf_Die die, uint32_t routine, unsigned depth)
{
  Dwarf_Half tag = 0;
  bool enter = r->thorough;
  if (!take_step(r) || dwarf_tag(die, &tag, NULL) != DW_DLV_OK)
    return;
  switch (tag) {
  case DW_TAG_inlined_subroutine:
    enter = true;
    /* fall through */
  case DW_TAG_subprogram:
    routine = add_routine(r, die, tag, routine, &enter);
    break;
  case DW_TAG_call_site:
  case DW_TAG_GNU_call_site:
    enter = false;
    if (r->source->tail_calls)
      read_call_site(r, die, routine);
    break;
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_lexical_block:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
    enter = true;
  }
  if (enter)
    walk_children(r, die, routine, depth + 1);
}

static void walk_children(struct reader *r, Dwarf_Die parent, uint32_t routine, unsigned depth)
{
  Dwarf_Die die, next;
  int found = depth < DEPTH_MAX ? dwarf_child(parent, &die, NULL) : DW_DLV_ERROR;
  while (found == DW_DLV_OK && r->steps_left) {
    walk_entry(r, die, routine, depth);
    found = dwarf_siblingof_b(r->file->dwarf, die, true, &next, NULL);
    dwarf_dealloc_die(die);
    die = next;
  }
  if (found == DW_DLV_ERROR)
    note_damage(r);
}

/* Receives the rows of a line table, in order. */
struct row_sink {
  struct reader *reader;
  size_t first; /* row of the open sequence */
};

/* Adds a row, or ends a sequence, which is kept unless it is of discarded code. */
static void take_row(void *context, const struct symbols_line *line)
{
  struct row_sink *sink = context;
  struct reader *r = sink->reader;
  struct symbols_draft *draft = &r->draft;
  if (!take_step(r))
    return;
  if (!line->ends_sequence) {
    struct symbols_row row = {line->address, file_number(r, r->table, line->file), line_number(line->number)};
    symbols_draft_row(draft, sink->first, row, line->begins_statement);
    return;
  }
  bool keep = draft->row_count > sink->first &&
              symbols_ranges_find(r->source->code, draft->rows[sink->first].low) != SYMBOLS_NONE;
  symbols_draft_sequence(draft, sink->first, line->address, keep);
  sink->first = draft->row_count;
}

/* Adds the rows of the unit's line table. */
static void add_rows(struct reader *r)
{
  struct row_sink sink = {r, r->draft.row_count};
  if (r->table && !symbols_lines_rows(&r->table->lines, r->source->sections[SYMBOLS_LINE], take_row, &sink))
    note_damage(r);
  symbols_draft_sequence(&r->draft, sink.first, 0, false);
}

/* Notes that no function has been found yet for the wanted addresses in a range of the unit. */
static void take_unit_range(struct range_sink *sink, uint64_t low, uint64_t high)
{
  assert(low < high);
  struct reader *r = sink->reader;
  for (size_t i = first_wanted(r->source, low); i < r->source->wanted_count && r->source->wanted[i] < high; i++)
    r->missed[i] = true;
}

/* Reads the tail calls of a unit.  If some of it could not be read, no function counts as one that lists all of them.
 */
static void add_tail_calls(struct reader *r, Dwarf_Die root)
{
  size_t kept = r->tail_count;
  uint32_t flags = r->draft.flags;
  r->draft.flags &= ~(uint32_t)SYMBOLS_SUMMARY_DAMAGED;
  r->thorough = true;
  walk_children(r, root, SYMBOLS_NONE, 1);
  if (r->draft.flags & SYMBOLS_SUMMARY_DAMAGED || !r->steps_left) {
    for (size_t i = kept; i < r->tail_count; i++)
      if (r->tail_calls[i].kind != SYMBOLS_TAIL_ALL)
        r->tail_calls[kept++] = r->tail_calls[i];
    r->tail_count = kept;
  }
  r->draft.flags |= flags;
}

/* Reads the functions of a unit.  Functions without wanted addresses are skipped first, although they may contain
 * nested functions.  If no function is found for some wanted address, the unit is read again, completely. */
static void add_functions(struct reader *r, Dwarf_Die root)
{
  size_t routines = r->draft.routine_count, ranges = r->draft.ranges.count;
  r->thorough = !r->source->wanted_count;
  walk_children(r, root, SYMBOLS_NONE, 1);
  if (r->thorough || !memchr(r->missed, true, r->source->wanted_count))
    return;
  r->draft.routine_count = routines;
  r->draft.ranges.count = ranges;
  r->thorough = true;
  walk_children(r, root, SYMBOLS_NONE, 1);
  memset(r->missed, false, r->source->wanted_count);
}

/* The id of a unit, which both parts of a split one have. */
static uint64_t unit_id(const Dwarf_Sig8 *signature)
{
  uint64_t id;
  memcpy(&id, signature->signature, sizeof id);
  return id;
}

/* Reads the header of the next unit, and its root entry.  Returns what libdwarf does; DW_DLV_OK with *root NULL: a unit
 * without entries. */
static int next_unit(const struct symbols_debug_file *file, Dwarf_Die *root, uint64_t *id)
{
  Dwarf_Unsigned length, type_offset, next;
  Dwarf_Off abbrevs;
  Dwarf_Half version, address_size, length_size, extension_size, kind;
  Dwarf_Sig8 signature = {0};
  *root = NULL;
  int found = dwarf_next_cu_header_d(file->dwarf, true, &length, &version, &abbrevs, &address_size, &length_size,
                                     &extension_size, &signature, &type_offset, &next, &kind, NULL);
  *id = unit_id(&signature);
  if (found != DW_DLV_OK)
    return found;
  found = dwarf_siblingof_b(file->dwarf, NULL, true, root, NULL);
  return found == DW_DLV_NO_ENTRY ? DW_DLV_OK : found;
}

/* Finds the root entry of a split unit with this id; NULL if the file has none, because it is of another build. */
static Dwarf_Die split_root(const struct symbols_debug_file *file, uint64_t wanted)
{
  Dwarf_Die root;
  uint64_t id;
  while (next_unit(file, &root, &id) == DW_DLV_OK) {
    struct symbols_entry f;
    if (root && !id && symbols_entry_read(file, root, &f)) { /* before DWARF 5 it is an attribute */
      id = f.split_id;
      symbols_entry_release(&f);
    }
    if (root && id == wanted)
      return root;
  }
  return NULL;
}

/* Opens the other part of a skeleton unit, and makes it the one with the unit's entries.  Returns its root entry, NULL
 * if it is not found. */
static Dwarf_Die open_split(struct reader *r, const struct symbols_entry *f, uint64_t id)
{
  const struct symbols_split_unit unit = {f->directory, f->split_name, id};
  struct symbols_bytes addresses = r->source->sections[SYMBOLS_ADDR];
  for (int place = 0; place < SYMBOLS_SPLIT_PLACES; place++) {
    struct symbols_bytes *sections = xmalloc(SYMBOLS_SECTIONS * sizeof *sections);
    struct symbols_debug_file *file = xcalloc(1, sizeof *file);
    *file = (struct symbols_debug_file){.sections = sections, .split = true};
    if (f->addresses_base < addresses.size)
      file->addresses = (struct symbols_bytes){addresses.data + f->addresses_base, addresses.size - f->addresses_base};
    bool opened = symbols_split_find(&r->split, &unit, place, sections) && symbols_debug_open(file);
    Dwarf_Die root = opened ? split_root(file, id) : NULL;
    if (root) {
      r->steps_left += STEPS_PER_BYTE * sections[SYMBOLS_INFO].size;
      r->file = r->unit.split = file;
      return root;
    }
  }
  if (!r->draft.missing_units++) {
    const char *path = symbols_join(&r->draft.paths, f->directory, f->split_name, NULL);
    r->draft.missing_file = symbols_draft_text(&r->draft, path ? path : f->split_name);
  }
  return NULL;
}

/* Reads the lines and functions of a unit that contains wanted addresses; id: that of its split part, if it has one. */
static void read_contents(struct reader *r, Dwarf_Die root, const struct symbols_entry *f, uint64_t id)
{
  struct line_table table;
  Dwarf_Off offset = 0;
  Dwarf_Die split = NULL, child;
  bool lines = f->has_lines && !r->source->tail_calls;
  bool opened =
      lines && dwarf_dieoffset(root, &offset, NULL) == DW_DLV_OK && table_open(&table, &r->main, root, offset);
  if (lines && !opened)
    note_damage(r);
  r->table = opened ? &table : NULL;
  if (f->split_name) {
    r->draft.flags |= SYMBOLS_SUMMARY_SPLIT;
    split = open_split(r, f, id);
  }
  root = split ? split : root;
  if (!(r->draft.flags & SYMBOLS_SUMMARY_FUNCTIONS) && dwarf_child(root, &child, NULL) == DW_DLV_OK)
    r->draft.flags |= SYMBOLS_SUMMARY_FUNCTIONS;
  if (r->source->tail_calls)
    add_tail_calls(r, root);
  else
    add_functions(r, root);
  add_rows(r);
  if (opened)
    table_close(&table);
  r->table = NULL;
}

/* Reads a unit, if it contains wanted addresses. */
static void read_unit(struct reader *r, Dwarf_Die root, uint64_t id)
{
  struct symbols_entry f;
  Dwarf_Half offset_size, version = 0;
  Dwarf_Die child;
  if (!symbols_entry_read(&r->main, root, &f) || dwarf_get_version_of_die(root, &version, &offset_size) != DW_DLV_OK) {
    note_damage(r);
    return;
  }
  r->file = &r->main;
  r->unit = (struct symbols_unit){
      .dwarf = r->main.dwarf, .low = f.has_low ? f.low : 0, .version = version, .ranges_base = f.ranges_base};
  memset(r->code_by_abbrev, CODE_UNKNOWN, sizeof r->code_by_abbrev);
  r->draft.flags |= f.has_lines ? SYMBOLS_SUMMARY_LINES : 0;
  if (!(r->draft.flags & SYMBOLS_SUMMARY_FUNCTIONS) && dwarf_child(root, &child, NULL) == DW_DLV_OK)
    r->draft.flags |= SYMBOLS_SUMMARY_FUNCTIONS;
  struct range_sink sink = {.reader = r, .take = take_unit_range};
  symbols_entry_ranges(&r->unit, root, &f, sink_add, &sink);
  if (sink.wanted)
    read_contents(r, root, &f, f.split_id ? f.split_id : id);
  symbols_entry_release(&f);
}

static void read_units(struct reader *r)
{
  for (;;) {
    Dwarf_Die root;
    uint64_t id;
    int found = next_unit(&r->main, &root, &id);
    if (found == DW_DLV_ERROR)
      note_damage(r);
    if (found != DW_DLV_OK || !r->steps_left)
      return;
    if (!root)
      continue;
    read_unit(r, root, id);
    dwarf_dealloc_die(root);
  }
}

static uint64_t dwarf_bytes(const struct symbols_dwarf_source *source)
{
  uint64_t size = 0;
  for (int i = 0; i < SYMBOLS_SECTIONS; i++)
    size += source->sections[i].size + source->shared[i].size;
  return size;
}

/* Writes the tail calls, and the record that shows that they are all. */
static void write_tail_calls(const struct reader *r, int out)
{
  const bool sound = !(r->draft.flags & (SYMBOLS_SUMMARY_DAMAGED | SYMBOLS_SUMMARY_SHORT));
  const struct tail_end end = {.count = r->tail_count, .sound = sound};
  symbols_child_write(out, r->tail_calls, r->tail_count * sizeof *r->tail_calls);
  symbols_child_write(out, &end, sizeof end);
}

/* The work of the child.  libdwarf does not say that memory was short: it reports damage, or leaves something out. */
static void read_all(void *argument, int out)
{
  struct reader r = {.source = argument};
  const struct symbols_dwarf_source *source = argument;
  r.missed = xmalloc(source->wanted_count);
  r.steps_left = STEPS_FLOOR + STEPS_PER_BYTE * dwarf_bytes(source);
  dwarf_set_de_alloc_flag(0); /* keeping track of allocations takes longer than all the rest */
  dwarf_set_reloc_application(0);
  r.split = (struct symbols_split){.program = source->program, .debug = source->debug};
  r.main.sections = source->sections;
  r.shared.sections = source->shared;
  errno = 0;
  if (!symbols_debug_open(&r.main)) {
    if (errno == ENOMEM)
      xalloc_die();
    return;
  }
  memset(r.missed, false, source->wanted_count);
  if (source->shared[SYMBOLS_INFO].size && symbols_debug_open(&r.shared)) {
    r.main.shared = &r.shared;
    dwarf_set_tied_dbg(r.main.dwarf, r.shared.dwarf, NULL);
  }
  read_units(&r);
  r.draft.flags |= errno == ENOMEM ? SYMBOLS_SUMMARY_SHORT : 0;
  if (source->tail_calls)
    write_tail_calls(&r, out);
  else
    symbols_draft_write(&r.draft, out);
}

static struct symbols_child_limits limits_for(const struct symbols_dwarf_source *source)
{
  const struct symbols_split split = {.program = source->program, .debug = source->debug};
  const uint64_t package_bytes = MIN(symbols_split_bytes(&split), DWARF_MAX_BYTES);
  const uint64_t total = MIN(dwarf_bytes(source) + package_bytes, DWARF_MAX_BYTES);
  const uint64_t memory_bytes = MEMORY_FLOOR_BYTES + MEMORY_FACTOR * total;
  return (struct symbols_child_limits){.cpu_ms = CPU_FLOOR_MS + CPU_MS_PER_MB * (total >> 20),
                                       .asleep_ms = ASLEEP_MS,
                                       .memory_bytes = memory_bytes,
                                       .output_bytes = memory_bytes};
}

enum symbols_dwarf_end symbols_dwarf_read(const struct symbols_dwarf_source *source, struct symbols_summary **summary,
                                          const char **fault)
{
  assert(source->wanted || !source->wanted_count);
  const struct symbols_child_limits limits = limits_for(source);
  uint8_t *bytes;
  size_t size;
  *summary = NULL;
  enum symbols_child_end end = symbols_child_run(read_all, (void *)(uintptr_t)source, &limits, &bytes, &size, fault);
  if (end != SYMBOLS_CHILD_DONE)
    return end == SYMBOLS_CHILD_LIMITED ? SYMBOLS_DWARF_UNREAD : SYMBOLS_DWARF_DAMAGED;
  *summary = symbols_summary_new(bytes, size);
  *fault = "their contents are inconsistent";
  return *summary ? SYMBOLS_DWARF_OK : SYMBOLS_DWARF_DAMAGED;
}

bool symbols_dwarf_tail_calls(const struct symbols_dwarf_source *source, struct symbols_tail_call **calls,
                              size_t *count, bool *sound)
{
  assert(source->tail_calls && source->wanted_count);
  const struct symbols_child_limits limits = limits_for(source);
  struct tail_end end = {0};
  const char *fault;
  uint8_t *bytes;
  size_t size;
  *count = 0;
  *calls = NULL;
  if (symbols_child_run(read_all, (void *)(uintptr_t)source, &limits, &bytes, &size, &fault) != SYMBOLS_CHILD_DONE)
    return false;
  if (size >= sizeof end)
    memcpy(&end, bytes + size - sizeof end, sizeof end);
  bool whole = size >= sizeof end && !((size - sizeof end) % sizeof **calls) &&
               (size - sizeof end) / sizeof **calls == end.count;
  if (!whole || !end.count) {
    free(bytes);
    bytes = NULL;
  }
  *count = whole ? end.count : 0;
  *calls = (void *)bytes;
  *sound = end.sound;
  return whole;
}

const char *symbols_dwarf_version(void)
{
  return dwarf_package_version();
}
