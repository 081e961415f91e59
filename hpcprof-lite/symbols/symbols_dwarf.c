#include "hpcprof-lite/symbols/symbols_dwarf.h"

#include "common/array.h"

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "hpcprof-lite/symbols/symbols_child.h"
#include "hpcprof-lite/symbols/symbols_lines.h"

enum {
  ABBREVS = 2048,      /* abbreviations of a unit for which it is remembered whether they have code     */
  CHAIN_MAX = 200,     /* functions inlined into one another; deeper ones count as their callers        */
  DEPTH_MAX = 1000,    /* entries inside one another                                                    */
  REFERENCES_MAX = 16, /* abstract_origin and specification steps to a function's declaration           */
  CPU_FLOOR_MS = 400,  /* libdwarf needs about 50 ms for a MB of DWARF: if it needs ten times as much,  */
  CPU_MS_PER_MB = 500, /*   the data is damaged, even on a slow machine                                 */
  WALL_FACTOR = 20,    /* of the CPU time: the machine may be busy                                      */
  MEMORY_FACTOR = 32   /* of the size of the sections                                                   */
};

#define MEMORY_FLOOR_BYTES (256ull << 20)

/* Gives libdwarf access to sections in memory.  Section number 0 means "none", as in ELF. */
static int section_info(void *object, Dwarf_Half number, Dwarf_Obj_Access_Section *out, int *error)
{
  const struct symbols_bytes *sections = object;
  (void)error;
  if (number > SYMBOLS_SECTIONS)
    return DW_DLV_NO_ENTRY;
  *out = (Dwarf_Obj_Access_Section){.name = number ? symbols_section_names[number - 1] : "",
                                    .size = number ? sections[number - 1].size : 0};
  return DW_DLV_OK;
}

static int load_section(void *object, Dwarf_Half number, Dwarf_Small **data, int *error)
{
  const struct symbols_bytes *sections = object;
  (void)error;
  if (!number || number > SYMBOLS_SECTIONS || !sections[number - 1].size)
    return DW_DLV_NO_ENTRY;
  *data = (Dwarf_Small *)(uintptr_t)sections[number - 1].data;
  return DW_DLV_OK;
}

static Dwarf_Endianness byte_order(void *object)
{
  (void)object;
  return DW_OBJECT_LSB;
}

static Dwarf_Small word_size(void *object)
{
  (void)object;
  return 8;
}

static Dwarf_Unsigned section_count(void *object)
{
  (void)object;
  return SYMBOLS_SECTIONS + 1;
}

static const struct Dwarf_Obj_Access_Methods_s methods = {.get_section_info = section_info,
                                                          .get_byte_order = byte_order,
                                                          .get_length_size = word_size,
                                                          .get_pointer_size = word_size,
                                                          .get_section_count = section_count,
                                                          .load_section = load_section};

/* The DWARF of one file: that of the module, or the one to which dwz moved common parts. */
struct file {
  Dwarf_Obj_Access_Interface access;
  Dwarf_Debug dwarf;
  struct file *shared; /* the file of dwz, NULL if there is none */
};

/* The line table of a unit, and the files that it names. */
struct line_table {
  const struct file *file;
  Dwarf_Off unit; /* of the unit's root entry */
  Dwarf_Line_Context lines;
  const char *comp_dir;
  Dwarf_Unsigned version;
  Dwarf_Signed count; /* numbers of files are below it                         */
  uint32_t *numbers;  /* [file] its number in the draft, plus 1; 0: not looked up yet */
};

/* A function that has been looked up. */
struct known_function {
  const struct file *file;
  Dwarf_Off offset;
  uint32_t function;
};

/* Whether the entries of an abbreviation have code. */
enum has_code { CODE_UNKNOWN, CODE_ABSENT, CODE_PRESENT };

/* The state of the child, which is never released. */
struct reader {
  const struct symbols_dwarf_source *source;
  struct symbols_draft draft;
  struct file main, shared;
  void *functions, *tables; /* tsearch() trees of struct known_function and struct line_table */
  uint32_t *depths;         /* [scope] how many functions it is inlined into */
  size_t depth_room;
  bool *found; /* [wanted address] false: the unit being read covers it, but no function has been found for it */
  /* of the unit being read: */
  uint64_t low;
  unsigned version;
  struct line_table *table;        /* NULL if there is none */
  uint8_t code_by_abbrev[ABBREVS]; /* enum has_code */
  bool thorough;                   /* functions without wanted addresses are searched for nested ones, too */
};

static void note_damage(struct reader *r)
{
  r->draft.flags |= SYMBOLS_INDEX_DAMAGED;
}

/* The attributes of an entry that matter for code and functions. */
struct fields {
  uint64_t low, high, ranges, origin, specification;
  uint64_t decl_file, decl_line, call_file, call_line;
  const char *name, *linkage;
  Dwarf_Attribute ranges_attribute; /* NULL if there is none; valid until fields_release() */
  Dwarf_Half ranges_form;
  bool has_low, has_high, high_is_size, origin_shared, specification_shared, has_lines;
};

static uint64_t number_of(Dwarf_Attribute attribute)
{
  Dwarf_Unsigned value = 0;
  Dwarf_Signed number = 0;
  if (dwarf_formudata(attribute, &value, NULL) == DW_DLV_OK)
    return value;
  return dwarf_formsdata(attribute, &number, NULL) == DW_DLV_OK && number > 0 ? (uint64_t)number : 0;
}

static const char *string_of(Dwarf_Attribute attribute)
{
  char *text = NULL;
  return dwarf_formstring(attribute, &text, NULL) == DW_DLV_OK ? text : NULL;
}

static bool address_of(Dwarf_Attribute attribute, uint64_t *out)
{
  Dwarf_Addr address;
  bool fine = dwarf_formaddr(attribute, &address, NULL) == DW_DLV_OK;
  *out = fine ? address : 0;
  return fine;
}

/* The offset of the entry to which an attribute refers, 0 if unknown; *shared: that entry is in the file of dwz. */
static uint64_t reference_of(Dwarf_Attribute attribute, bool *shared)
{
  Dwarf_Off offset = 0;
  Dwarf_Half form = 0;
  if (dwarf_whatform(attribute, &form, NULL) != DW_DLV_OK || form == DW_FORM_ref_sig8 ||
      dwarf_global_formref(attribute, &offset, NULL) != DW_DLV_OK)
    return 0;
  *shared = form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
  return offset;
}

/* Takes the end of the code, which is an address or a size.  libdwarf can tell them apart, but creates an error for
 * each size, which takes time and memory. */
static void take_high(struct fields *f, Dwarf_Attribute attribute)
{
  Dwarf_Half form = 0;
  dwarf_whatform(attribute, &form, NULL);
  f->has_high = true;
  f->high_is_size = form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4 || form == DW_FORM_data8 ||
                    form == DW_FORM_udata || form == DW_FORM_sdata || form == DW_FORM_implicit_const;
  if (f->high_is_size)
    f->high = number_of(attribute);
  else
    f->has_high = address_of(attribute, &f->high);
}

/* Takes a list of ranges; true if the attribute must be kept. */
static bool take_ranges(struct fields *f, Dwarf_Attribute attribute)
{
  Dwarf_Off offset = 0;
  if (dwarf_whatform(attribute, &f->ranges_form, NULL) != DW_DLV_OK || f->ranges_attribute)
    return false;
  if (f->ranges_form == DW_FORM_rnglistx)
    f->ranges = number_of(attribute);
  else if (dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK)
    f->ranges = offset;
  else
    return false;
  f->ranges_attribute = attribute;
  return true;
}

/* Takes one attribute; true if it must be kept. */
static bool take_field(struct fields *f, Dwarf_Attribute attribute)
{
  Dwarf_Half name = 0;
  dwarf_whatattr(attribute, &name, NULL);
  switch (name) {
  case DW_AT_low_pc:
    f->has_low = address_of(attribute, &f->low);
    break;
  case DW_AT_high_pc:
    take_high(f, attribute);
    break;
  case DW_AT_ranges:
    return take_ranges(f, attribute);
  case DW_AT_abstract_origin:
    f->origin = reference_of(attribute, &f->origin_shared);
    break;
  case DW_AT_specification:
    f->specification = reference_of(attribute, &f->specification_shared);
    break;
  case DW_AT_name:
    f->name = string_of(attribute);
    break;
  case DW_AT_linkage_name:
  case DW_AT_MIPS_linkage_name:
    f->linkage = string_of(attribute);
    break;
  case DW_AT_decl_file:
    f->decl_file = number_of(attribute);
    break;
  case DW_AT_decl_line:
    f->decl_line = number_of(attribute);
    break;
  case DW_AT_call_file:
    f->call_file = number_of(attribute);
    break;
  case DW_AT_call_line:
    f->call_line = number_of(attribute);
    break;
  case DW_AT_stmt_list:
    f->has_lines = true;
  }
  return false;
}

/* Reads all attributes of an entry at once, which is faster than asking libdwarf for each. */
static bool fields_read(const struct file *file, Dwarf_Die die, struct fields *f)
{
  Dwarf_Attribute *attributes;
  Dwarf_Signed count;
  *f = (struct fields){.decl_file = UINT64_MAX};
  if (dwarf_attrlist(die, &attributes, &count, NULL) != DW_DLV_OK)
    return false;
  for (Dwarf_Signed i = 0; i < count; i++)
    if (!take_field(f, attributes[i]))
      dwarf_dealloc_attribute(attributes[i]);
  dwarf_dealloc(file->dwarf, attributes, DW_DLA_LIST);
  return true;
}

static void fields_release(struct fields *f)
{
  if (f->ranges_attribute)
    dwarf_dealloc_attribute(f->ranges_attribute);
  f->ranges_attribute = NULL;
}

/* A line number, 0 if it is too large. */
static uint32_t line_number(uint64_t number)
{
  return number > UINT32_MAX ? 0 : (uint32_t)number;
}

/* Opens the line table of a unit and reads its header.  False if there is none. */
static bool table_open(struct line_table *table, const struct file *file, Dwarf_Die root, Dwarf_Off unit)
{
  Dwarf_Small tables;
  Dwarf_Signed base, count;
  *table = (struct line_table){.file = file, .unit = unit};
  if (dwarf_srclines_b(root, &table->version, &tables, &table->lines, NULL) != DW_DLV_OK)
    return false;
  if (dwarf_srclines_comp_dir(table->lines, &table->comp_dir, NULL) != DW_DLV_OK)
    table->comp_dir = NULL;
  if (dwarf_srclines_files_indexes(table->lines, &base, &count, &table->count, NULL) != DW_DLV_OK || table->count < 0)
    table->count = 0;
  table->numbers = calloc((size_t)table->count + 1, sizeof *table->numbers);
  return table->numbers != NULL;
}

static void table_close(struct line_table *table)
{
  dwarf_srclines_dealloc_b(table->lines);
  free(table->numbers);
}

/* The name of a table's directory, NULL if it is the compilation directory. */
static const char *directory_of(const struct line_table *table, Dwarf_Unsigned number)
{
  const char *directory = NULL;
  if (!number && table->version < 5)
    return NULL;
  if (dwarf_srclines_include_dir_data(table->lines, (Dwarf_Signed)number, &directory, NULL) != DW_DLV_OK)
    return NULL;
  return directory;
}

/* The draft's number for a file of the table, SYMBOLS_NONE if it is unknown. */
static uint32_t file_number(struct reader *r, struct line_table *table, uint64_t number)
{
  const char *name = NULL;
  Dwarf_Unsigned directory = 0, time, size;
  Dwarf_Form_Data16 *md5;
  if (!table || number >= (uint64_t)table->count)
    return SYMBOLS_NONE;
  if (!table->numbers[number]) {
    uint32_t found = SYMBOLS_NONE;
    if (dwarf_srclines_files_data_b(table->lines, (Dwarf_Signed)number, &name, &directory, &time, &size, &md5, NULL) ==
        DW_DLV_OK)
      found = symbols_draft_file(&r->draft, table->comp_dir, directory_of(table, directory), name);
    table->numbers[number] = found + 1; /* SYMBOLS_NONE + 1 is 0: looked up again */
  }
  return table->numbers[number] - 1;
}

static int compare_tables(const void *left, const void *right)
{
  const struct line_table *a = left, *b = right;
  if (a->file != b->file)
    return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
  return (a->unit > b->unit) - (a->unit < b->unit);
}

/* The line table of the unit that contains an entry, NULL on failure.  Tables of other units than the one being read
 * are kept open. */
static struct line_table *table_of(struct reader *r, const struct file *file, Dwarf_Die die)
{
  Dwarf_Off unit;
  Dwarf_Die root;
  if (dwarf_CU_dieoffset_given_die(die, &unit, NULL) != DW_DLV_OK)
    return NULL;
  if (r->table && r->table->file == file && r->table->unit == unit)
    return r->table;
  struct line_table *wanted = calloc(1, sizeof *wanted);
  if (!wanted)
    return NULL;
  *wanted = (struct line_table){.file = file, .unit = unit};
  struct line_table **slot = tsearch(wanted, &r->tables, compare_tables);
  if (!slot || *slot != wanted) {
    free(wanted);
    return slot ? *slot : NULL;
  }
  if (dwarf_offdie_b(file->dwarf, unit, true, &root, NULL) == DW_DLV_OK && !table_open(wanted, file, root, unit))
    wanted->count = 0;
  return wanted;
}

/* Adds what one entry knows about a function, and moves to the entry to which it refers.  False if there is none. */
static bool declaration_step(struct reader *r, const struct file **file, Dwarf_Off *offset, const char **name,
                             const char **linkage, struct symbols_function *function)
{
  Dwarf_Die die;
  struct fields f;
  if (dwarf_offdie_b((*file)->dwarf, *offset, true, &die, NULL) != DW_DLV_OK)
    return false;
  bool fine = fields_read(*file, die, &f);
  fields_release(&f);
  *name = *name ? *name : f.name;
  *linkage = *linkage ? *linkage : f.linkage;
  if (!function->decl_line)
    function->decl_line = line_number(f.decl_line);
  if (function->decl_file == SYMBOLS_NONE && f.decl_file != UINT64_MAX)
    function->decl_file = file_number(r, table_of(r, *file, die), f.decl_file);
  dwarf_dealloc_die(die);
  *offset = f.origin ? f.origin : f.specification;
  if (f.origin ? f.origin_shared : f.specification_shared)
    *file = (*file)->shared;
  return fine && *offset && *file;
}

static int compare_known(const void *left, const void *right)
{
  const struct known_function *a = left, *b = right;
  if (a->file != b->file)
    return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
  return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The draft's number for the function of an entry, which is looked up once. */
static uint32_t function_of(struct reader *r, const struct file *file, Dwarf_Off offset)
{
  struct symbols_function function = {.decl_file = SYMBOLS_NONE};
  const char *name = NULL, *linkage = NULL;
  struct known_function *wanted = file ? malloc(sizeof *wanted) : NULL;
  if (!wanted)
    return SYMBOLS_NONE;
  *wanted = (struct known_function){file, offset, SYMBOLS_NONE};
  struct known_function **slot = tsearch(wanted, &r->functions, compare_known);
  if (!slot || *slot != wanted) {
    free(wanted);
    return slot ? (*slot)->function : SYMBOLS_NONE;
  }
  for (int i = 0; i < REFERENCES_MAX && declaration_step(r, &file, &offset, &name, &linkage, &function); i++)
    continue;
  function.name = symbols_draft_text(&r->draft, name);
  function.linkage = symbols_draft_text(&r->draft, linkage);
  return wanted->function = symbols_draft_function(&r->draft, function);
}

/* Receives the ranges of an entry, one after the other. */
struct range_sink {
  struct reader *reader;
  void (*take)(struct range_sink *sink, uint64_t low, uint64_t high); /* called for each, may be NULL */
  uint64_t first;   /* start of the first range                         */
  bool any, wanted; /* there are ranges; one contains a wanted address */
  uint32_t scope, depth;
};

/* Index of the first wanted address at or above address. */
static size_t first_wanted(const struct symbols_dwarf_source *source, uint64_t address)
{
  size_t low = 0, high = source->wanted_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (source->wanted[middle] < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Takes a range, unless it is not in executable code: linkers leave ranges of discarded code at 0, 1 or the largest
 * addresses. */
static void sink_add(struct range_sink *sink, uint64_t low, uint64_t high)
{
  const struct symbols_dwarf_source *source = sink->reader->source;
  if (!low || low >= high || symbols_ranges_find(source->code, low) == SYMBOLS_NONE)
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

/* Reads a list of .debug_ranges. */
static void read_debug_ranges(struct range_sink *sink, const struct fields *f, Dwarf_Die die)
{
  Dwarf_Ranges *list;
  Dwarf_Signed count;
  uint64_t base = sink->reader->low;
  Dwarf_Debug dwarf = sink->reader->main.dwarf;
  if (dwarf_get_ranges_b(dwarf, f->ranges, die, NULL, &list, &count, NULL, NULL) != DW_DLV_OK)
    return;
  for (Dwarf_Signed i = 0; i < count; i++)
    if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
      base = list[i].dwr_addr2;
    else if (list[i].dwr_type == DW_RANGES_ENTRY && base < UINT64_MAX - 1)
      sink_add(sink, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
  dwarf_ranges_dealloc(dwarf, list, count);
}

/* Reads a list of .debug_rnglists. */
static void read_rnglists(struct range_sink *sink, const struct fields *f)
{
  Dwarf_Rnglists_Head head;
  Dwarf_Unsigned count, offset;
  if (dwarf_rnglists_get_rle_head(f->ranges_attribute, f->ranges_form, f->ranges, &head, &count, &offset, NULL) !=
      DW_DLV_OK)
    return;
  for (Dwarf_Unsigned i = 0; i < count; i++) {
    Dwarf_Unsigned raw_low, raw_high, low, high;
    Dwarf_Bool unavailable = false;
    unsigned length, kind;
    if (dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw_low, &raw_high, &unavailable, &low, &high,
                                          NULL) != DW_DLV_OK)
      break;
    if (!unavailable && kind != DW_RLE_end_of_list && kind != DW_RLE_base_address && kind != DW_RLE_base_addressx)
      sink_add(sink, low, high);
  }
  dwarf_dealloc_rnglists_head(head);
}

static void read_ranges(struct range_sink *sink, const struct fields *f, Dwarf_Die die)
{
  if (f->ranges_attribute && sink->reader->version >= 5)
    read_rnglists(sink, f);
  else if (f->ranges_attribute)
    read_debug_ranges(sink, f, die);
  else if (f->has_low && f->has_high)
    sink_add(sink, f->low, f->high_is_size ? f->low + f->high : f->high);
}

/* Adds a range of a scope, and notes the wanted addresses for which a function is found. */
static void take_scope_range(struct range_sink *sink, uint64_t low, uint64_t high)
{
  struct reader *r = sink->reader;
  struct symbols_range range = {low, high, sink->scope, sink->depth};
  if (!symbols_ranges_add(&r->draft.ranges, range))
    r->draft.failed = true;
  for (size_t i = sink->depth ? SIZE_MAX : first_wanted(r->source, low);
       i < r->source->wanted_count && r->source->wanted[i] < high; i++)
    r->found[i] = true;
}

/* Adds the scope of an instance whose ranges have been read.  False without memory. */
static bool finish_scope(struct reader *r, const struct range_sink *sink, const struct fields *f, Dwarf_Off offset,
                         uint32_t parent)
{
  const struct file *origin = f->origin && f->origin_shared ? r->main.shared : &r->main;
  struct symbols_scope scope = {.low = parent == SYMBOLS_NONE ? sink->first : r->draft.scopes[parent].low,
                                .function = function_of(r, origin, f->origin ? f->origin : offset),
                                .parent = parent,
                                .call_file = SYMBOLS_NONE,
                                .call_line = line_number(f->call_line)};
  if (scope.call_line)
    scope.call_file = file_number(r, r->table, f->call_file);
  if (!array_reserve(&r->depths, &r->depth_room, r->draft.scope_count + 1, sizeof *r->depths))
    return false;
  r->depths[r->draft.scope_count] = sink->depth;
  return symbols_draft_scope(&r->draft, scope) != SYMBOLS_NONE;
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

/* Adds a scope for a function or an inlined instance.  Returns the scope for its children, which is `parent` if it has
 * no code.  Sets *enter if the children must be read. */
static uint32_t add_scope(struct reader *r, Dwarf_Die die, Dwarf_Half tag, uint32_t parent, bool *enter)
{
  struct fields f;
  Dwarf_Off offset = 0;
  uint32_t outer = tag == DW_TAG_inlined_subroutine ? parent : SYMBOLS_NONE;
  struct range_sink sink = {.reader = r,
                            .take = take_scope_range,
                            .scope = (uint32_t)r->draft.scope_count,
                            .depth = outer == SYMBOLS_NONE ? 0 : r->depths[outer] + 1};
  if (!has_code(r, die) || sink.depth >= CHAIN_MAX || r->draft.failed ||
      dwarf_dieoffset(die, &offset, NULL) != DW_DLV_OK || !fields_read(&r->main, die, &f))
    return parent;
  read_ranges(&sink, &f, die);
  *enter = *enter || sink.wanted;
  bool added = sink.any && finish_scope(r, &sink, &f, offset, outer);
  fields_release(&f);
  return added ? sink.scope : parent;
}

static void walk_children(struct reader *r, Dwarf_Die parent, uint32_t scope, unsigned depth);

/* Reads an entry, and its children if they may have code. */
static void walk_entry(struct reader *r, Dwarf_Die die, uint32_t scope, unsigned depth)
{
  Dwarf_Half tag = 0;
  bool enter = r->thorough;
  if (dwarf_tag(die, &tag, NULL) != DW_DLV_OK)
    return;
  switch (tag) {
  case DW_TAG_inlined_subroutine:
    enter = true;
    /* fall through */
  case DW_TAG_subprogram:
    scope = add_scope(r, die, tag, scope, &enter);
    break;
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_lexical_block:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
    enter = true;
  }
  if (enter)
    walk_children(r, die, scope, depth + 1);
}

static void walk_children(struct reader *r, Dwarf_Die parent, uint32_t scope, unsigned depth)
{
  Dwarf_Die die, next;
  int found = depth < DEPTH_MAX ? dwarf_child(parent, &die, NULL) : DW_DLV_ERROR;
  while (found == DW_DLV_OK) {
    walk_entry(r, die, scope, depth);
    found = dwarf_siblingof_b(r->main.dwarf, die, true, &next, NULL);
    dwarf_dealloc_die(die);
    die = next;
  }
  if (found == DW_DLV_ERROR)
    note_damage(r);
}

/* For each row of the table, whether libdwarf returns the right file; NULL if it does for all.  The caller frees it. */
static bool *chosen_files(struct reader *r, Dwarf_Signed count)
{
  Dwarf_Unsigned offset;
  bool *chosen = r->table->version == 5 && count > 0 ? malloc((size_t)count) : NULL;
  if (!chosen)
    return NULL;
  memset(chosen, true, (size_t)count);
  if (dwarf_srclines_table_offset(r->table->lines, &offset, NULL) == DW_DLV_OK)
    symbols_default_files(r->source->sections[SYMBOLS_LINE], offset, chosen, (size_t)count);
  return chosen;
}

/* Whether a row is the end of a sequence.  libdwarf 20210528 reports that also for rows at which an epilogue begins. */
static bool ends_sequence(Dwarf_Line line)
{
  Dwarf_Bool end = false, prologue = false, epilogue = false;
  Dwarf_Unsigned isa, discriminator;
  dwarf_lineendsequence(line, &end, NULL);
  if (end)
    dwarf_prologue_end_etc(line, &prologue, &epilogue, &isa, &discriminator, NULL);
  return end && !epilogue;
}

static void add_row(struct reader *r, Dwarf_Line line, uint64_t address, bool chosen, size_t first)
{
  Dwarf_Unsigned file = 0, number = 0;
  dwarf_line_srcfileno(line, &file, NULL);
  dwarf_lineno(line, &number, NULL);
  struct symbols_row row = {address, file_number(r, r->table, chosen ? file : 1), line_number(number)};
  symbols_draft_row(&r->draft, first, row);
}

/* Adds the rows of the unit's line table, except for sequences of discarded code. */
static void add_rows(struct reader *r)
{
  Dwarf_Line *lines;
  Dwarf_Signed count;
  size_t first = r->draft.row_count;
  int found = r->table ? dwarf_srclines_from_linecontext(r->table->lines, &lines, &count, NULL) : DW_DLV_NO_ENTRY;
  if (found == DW_DLV_ERROR)
    note_damage(r);
  if (found != DW_DLV_OK)
    return;
  bool *chosen = chosen_files(r, count);
  for (Dwarf_Signed i = 0; i < count; i++) {
    Dwarf_Addr address = 0;
    dwarf_lineaddr(lines[i], &address, NULL);
    if (!ends_sequence(lines[i])) {
      add_row(r, lines[i], address, !chosen || chosen[i], first);
      continue;
    }
    bool keep =
        r->draft.row_count > first && symbols_ranges_find(r->source->code, r->draft.rows[first].low) != SYMBOLS_NONE;
    symbols_draft_sequence(&r->draft, first, address, keep);
    first = r->draft.row_count;
  }
  symbols_draft_sequence(&r->draft, first, 0, false);
  free(chosen);
}

/* Notes that no function has been found yet for the wanted addresses in a range of the unit. */
static void take_unit_range(struct range_sink *sink, uint64_t low, uint64_t high)
{
  struct reader *r = sink->reader;
  for (size_t i = first_wanted(r->source, low); i < r->source->wanted_count && r->source->wanted[i] < high; i++)
    r->found[i] = false;
}

/* Reads the functions of a unit.  Functions without wanted addresses are skipped first, although they may contain
 * nested functions.  If no function is found for some wanted address, the unit is read again, completely. */
static void add_functions(struct reader *r, Dwarf_Die root, const struct fields *f)
{
  struct range_sink sink = {.reader = r, .take = take_unit_range};
  size_t scopes = r->draft.scope_count, ranges = r->draft.ranges.count;
  read_ranges(&sink, f, root);
  r->thorough = !r->source->wanted_count;
  walk_children(r, root, SYMBOLS_NONE, 1);
  if (!r->source->wanted_count || !memchr(r->found, false, r->source->wanted_count))
    return;
  r->draft.scope_count = scopes;
  r->draft.ranges.count = ranges;
  r->thorough = true;
  walk_children(r, root, SYMBOLS_NONE, 1);
  memset(r->found, true, r->source->wanted_count);
}

/* Reads a unit, if it contains wanted addresses. */
static void read_unit(struct reader *r, Dwarf_Die root)
{
  struct fields f;
  struct line_table table;
  Dwarf_Off offset;
  Dwarf_Half offset_size, version = 0;
  Dwarf_Die child;
  if (!fields_read(&r->main, root, &f) || dwarf_get_version_of_die(root, &version, &offset_size) != DW_DLV_OK ||
      dwarf_dieoffset(root, &offset, NULL) != DW_DLV_OK) {
    note_damage(r);
    return;
  }
  r->low = f.has_low ? f.low : 0;
  r->version = version;
  memset(r->code_by_abbrev, CODE_UNKNOWN, sizeof r->code_by_abbrev);
  r->draft.flags |= f.has_lines ? SYMBOLS_INDEX_LINES : 0;
  if (!(r->draft.flags & SYMBOLS_INDEX_FUNCTIONS) && dwarf_child(root, &child, NULL) == DW_DLV_OK)
    r->draft.flags |= SYMBOLS_INDEX_FUNCTIONS;
  struct range_sink sink = {.reader = r};
  read_ranges(&sink, &f, root);
  if (sink.wanted) {
    bool opened = f.has_lines && table_open(&table, &r->main, root, offset);
    if (f.has_lines && !opened)
      note_damage(r);
    r->table = opened ? &table : NULL;
    add_functions(r, root, &f);
    add_rows(r);
    if (opened)
      table_close(&table);
    r->table = NULL;
  }
  fields_release(&f);
}

static void read_units(struct reader *r)
{
  for (;;) {
    Dwarf_Unsigned length, type_offset, next;
    Dwarf_Off abbrevs;
    Dwarf_Half version, address_size, length_size, extension_size, kind;
    Dwarf_Sig8 signature;
    Dwarf_Die root;
    int found = dwarf_next_cu_header_d(r->main.dwarf, true, &length, &version, &abbrevs, &address_size, &length_size,
                                       &extension_size, &signature, &type_offset, &next, &kind, NULL);
    if (found == DW_DLV_ERROR)
      note_damage(r);
    if (found != DW_DLV_OK)
      return;
    found = dwarf_siblingof_b(r->main.dwarf, NULL, true, &root, NULL);
    if (found == DW_DLV_ERROR)
      note_damage(r);
    if (found != DW_DLV_OK)
      continue;
    read_unit(r, root);
    dwarf_dealloc_die(root);
  }
}

/* Without an error handler libdwarf would abort.  This one does nothing, because functions return errors, too. */
static void ignore_error(Dwarf_Error error, Dwarf_Ptr argument)
{
  (void)error;
  (void)argument;
}

static bool file_open(struct file *file, const struct symbols_bytes sections[SYMBOLS_SECTIONS])
{
  file->access = (Dwarf_Obj_Access_Interface){.object = (void *)(uintptr_t)sections, .methods = &methods};
  return dwarf_object_init_b(&file->access, ignore_error, NULL, DW_GROUPNUMBER_BASE, &file->dwarf, NULL) == DW_DLV_OK;
}

/* The work of the child. */
static void read_all(void *argument, int out)
{
  struct reader r = {.source = argument};
  const struct symbols_dwarf_source *source = argument;
  r.found = malloc(source->wanted_count + 1);
  dwarf_set_de_alloc_flag(0); /* keeping track of allocations takes longer than all the rest */
  dwarf_set_reloc_application(0);
  if (!r.found)
    symbols_child_give_up();
  if (!file_open(&r.main, source->sections))
    return;
  memset(r.found, true, source->wanted_count);
  if (source->shared[SYMBOLS_INFO].size && file_open(&r.shared, source->shared)) {
    r.main.shared = &r.shared;
    dwarf_set_tied_dbg(r.main.dwarf, r.shared.dwarf, NULL);
  }
  read_units(&r);
  symbols_draft_write(&r.draft, out);
}

static struct symbols_child_limits limits_for(const struct symbols_dwarf_source *source)
{
  uint64_t size = 0;
  for (int i = 0; i < SYMBOLS_SECTIONS; i++)
    size += source->sections[i].size + source->shared[i].size;
  struct symbols_child_limits limits = {.cpu_ms = CPU_FLOOR_MS + CPU_MS_PER_MB * (size >> 20),
                                        .memory_bytes = MEMORY_FLOOR_BYTES + MEMORY_FACTOR * size};
  limits.wall_ms = WALL_FACTOR * limits.cpu_ms;
  limits.output_bytes = limits.memory_bytes;
  return limits;
}

struct symbols_index *symbols_dwarf_read(const struct symbols_dwarf_source *source, const char **fault)
{
  struct symbols_child_limits limits = limits_for(source);
  uint8_t *bytes;
  size_t size;
  if (!symbols_child_run(read_all, (void *)(uintptr_t)source, &limits, &bytes, &size, fault))
    return NULL;
  struct symbols_index *index = symbols_index_new(bytes, size);
  *fault = "their contents are inconsistent";
  return index;
}
