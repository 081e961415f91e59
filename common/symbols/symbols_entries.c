#include "common/symbols/symbols_entries.h"

#include <assert.h>

/* Gives libdwarf access to sections in memory.  Section number 0 means "none", as in ELF. */
static int section_info(void *object, libdwarf_section_number number, Dwarf_Obj_Access_Section_a *out, int *error)
{
  assert(object);
  const struct symbols_debug_file *file = object;
  const char *name = "";
  (void)error;
  if (number > SYMBOLS_SECTIONS)
    return DW_DLV_NO_ENTRY;
  if (number)
    name = file->split ? symbols_split_section_name(number - 1) : symbols_section_name(number - 1);
  *out = (Dwarf_Obj_Access_Section_a){.as_name = name, .as_size = number ? file->sections[number - 1].size : 0};
  return DW_DLV_OK;
}

static int section_load(void *object, libdwarf_section_number number, Dwarf_Small **data, int *error)
{
  assert(data);
  const struct symbols_debug_file *file = object;
  (void)error;
  if (!number || number > SYMBOLS_SECTIONS || !file->sections[number - 1].size)
    return DW_DLV_NO_ENTRY;
  *data = (Dwarf_Small *)(uintptr_t)file->sections[number - 1].data;
  return DW_DLV_OK;
}

static libdwarf_byte_order byte_order(void *object)
{
  (void)object;
  return DW_END_little;
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

#ifdef DW_LIBDWARF_VERSION_MAJOR
/* No section may be larger. */
static Dwarf_Unsigned file_size(void *object)
{
  const struct symbols_debug_file *file = object;
  Dwarf_Unsigned size = 1;
  for (unsigned i = 0; i < SYMBOLS_SECTIONS; i++)
    size += file->sections[i].size;
  return size;
}
#endif

static const Dwarf_Obj_Access_Methods_a access_methods = {.om_get_section_info = section_info,
                                                          .om_get_byte_order = byte_order,
                                                          .om_get_length_size = word_size,
                                                          .om_get_pointer_size = word_size,
                                                          .om_get_section_count = section_count,
#ifdef DW_LIBDWARF_VERSION_MAJOR
                                                          .om_get_filesize = file_size,
#endif
                                                          .om_load_section = section_load};

/* Without an error handler libdwarf would abort.  This one does nothing, because functions return errors, too. */
static void ignore_error(Dwarf_Error error, Dwarf_Ptr argument)
{
  (void)error;
  (void)argument;
}

bool symbols_debug_open(struct symbols_debug_file *file)
{
  assert(file->sections);
  unsigned group = file->split ? DW_GROUPNUMBER_DWO : DW_GROUPNUMBER_BASE;
  file->access = (Dwarf_Obj_Access_Interface_a){.ai_object = file, .ai_methods = &access_methods};
  return dwarf_object_init_b(&file->access, ignore_error, NULL, group, &file->dwarf, NULL) == DW_DLV_OK;
}

static uint64_t number_of(Dwarf_Attribute attribute)
{
  Dwarf_Unsigned value = 0;
  Dwarf_Signed number = 0;
  if (dwarf_formudata(attribute, &value, NULL) == DW_DLV_OK)
    return value;
  return dwarf_formsdata(attribute, &number, NULL) == DW_DLV_OK && number > 0 ? (uint64_t)number : 0;
}

static const char *string_of(const struct symbols_debug_file *file, Dwarf_Attribute attribute)
{
  char *text = NULL;
  Dwarf_Half form = 0;
  dwarf_whatform(attribute, &form, NULL);
  if (!file->shared && (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup))
    return NULL; /* libdwarf returns a text that says so */
  return dwarf_formstring(attribute, &text, NULL) == DW_DLV_OK ? text : NULL;
}

/* An address of a split part, by its index in those of the module. */
static bool indexed_address(const struct symbols_debug_file *file, uint64_t index, uint64_t *out)
{
  struct symbols_cursor c = symbols_cursor_at(file->addresses, index < UINT32_MAX ? 8 * index : UINT64_MAX, UINT64_MAX);
  *out = symbols_cursor_fixed(&c, 8);
  return !c.bad;
}

static bool is_indexed(Dwarf_Attribute attribute)
{
  Dwarf_Half form = 0;
  dwarf_whatform(attribute, &form, NULL);
  return form == DW_FORM_GNU_addr_index || form == DW_FORM_addrx || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool address_of(const struct symbols_debug_file *file, Dwarf_Attribute attribute, uint64_t *out)
{
  Dwarf_Addr address;
  Dwarf_Unsigned index;
  *out = 0;
  if (file->split && is_indexed(attribute))
    return dwarf_get_debug_addr_index(attribute, &index, NULL) == DW_DLV_OK && indexed_address(file, index, out);
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
static void take_high(const struct symbols_debug_file *file, struct symbols_entry *f, Dwarf_Attribute attribute)
{
  Dwarf_Half form = 0;
  dwarf_whatform(attribute, &form, NULL);
  f->has_high = true;
  f->high_is_size = form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4 || form == DW_FORM_data8 ||
                    form == DW_FORM_udata || form == DW_FORM_sdata || form == DW_FORM_implicit_const;
  if (f->high_is_size)
    f->high = number_of(attribute);
  else
    f->has_high = address_of(file, attribute, &f->high);
}

/* Takes a list of ranges; true if the attribute must be kept. */
static bool take_ranges(struct symbols_entry *f, Dwarf_Attribute attribute)
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

/* An offset in a section, 0 if the attribute is none. */
static uint64_t offset_of(Dwarf_Attribute attribute)
{
  Dwarf_Off offset = 0;
  return dwarf_global_formref(attribute, &offset, NULL) == DW_DLV_OK ? offset : 0;
}

/* Takes an attribute that only units have. */
static void take_unit_field(const struct symbols_debug_file *file, struct symbols_entry *f, Dwarf_Attribute attribute,
                            Dwarf_Half name)
{
  switch (name) {
  case DW_AT_stmt_list:
    f->has_lines = true;
    break;
  case DW_AT_comp_dir:
    f->directory = string_of(file, attribute);
    break;
  case DW_AT_dwo_name:
  case DW_AT_GNU_dwo_name:
    f->split_name = string_of(file, attribute);
    break;
  case DW_AT_GNU_dwo_id:
    f->split_id = number_of(attribute);
    break;
  case DW_AT_addr_base:
  case DW_AT_GNU_addr_base:
    f->addresses_base = offset_of(attribute);
    break;
  case DW_AT_GNU_ranges_base:
    f->ranges_base = offset_of(attribute);
  }
}

/* Takes one attribute; true if it must be kept. */
static bool take_field(const struct symbols_debug_file *file, struct symbols_entry *f, Dwarf_Attribute attribute)
{
  Dwarf_Half name = 0;
  dwarf_whatattr(attribute, &name, NULL);
  switch (name) {
  case DW_AT_low_pc:
    f->has_low = address_of(file, attribute, &f->low);
    break;
  case DW_AT_high_pc:
    take_high(file, f, attribute);
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
    f->name = string_of(file, attribute);
    break;
  case DW_AT_linkage_name:
  case DW_AT_MIPS_linkage_name:
    f->linkage = string_of(file, attribute);
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
  default:
    take_unit_field(file, f, attribute, name);
  }
  return false;
}

bool symbols_entry_read(const struct symbols_debug_file *file, Dwarf_Die die, struct symbols_entry *f)
{
  assert(file->dwarf);
  Dwarf_Attribute *attributes;
  Dwarf_Signed count;
  *f = (struct symbols_entry){.decl_file = UINT64_MAX};
  if (dwarf_attrlist(die, &attributes, &count, NULL) != DW_DLV_OK)
    return false;
  for (Dwarf_Signed i = 0; i < count; i++)
    if (!take_field(file, f, attributes[i]))
      dwarf_dealloc_attribute(attributes[i]);
  dwarf_dealloc(file->dwarf, attributes, DW_DLA_LIST);
  return true;
}

static uint64_t reference_in(Dwarf_Die die, Dwarf_Half name)
{
  Dwarf_Attribute attribute;
  bool shared = false;
  if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
    return 0;
  uint64_t offset = reference_of(attribute, &shared);
  dwarf_dealloc_attribute(attribute);
  return shared ? 0 : offset;
}

uint64_t symbols_entry_class(const struct symbols_debug_file *file, Dwarf_Die die)
{
  assert(file->dwarf);
  enum { INLINE_FRAMES_MAX = 8 }; /* the parameter, pointer and qualifiers */
  uint64_t offset = reference_in(die, DW_AT_object_pointer);
  for (int i = 0; i < INLINE_FRAMES_MAX && offset; i++) {
    Dwarf_Die next;
    Dwarf_Half tag = 0;
    if (dwarf_offdie_b(file->dwarf, offset, true, &next, NULL) != DW_DLV_OK)
      return 0;
    dwarf_tag(next, &tag, NULL);
    bool found = tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
    uint64_t type = found ? offset : reference_in(next, DW_AT_type);
    dwarf_dealloc_die(next);
    if (found)
      return offset;
    offset = type;
  }
  return 0;
}

uint64_t symbols_entry_address(const struct symbols_debug_file *file, Dwarf_Die die, Dwarf_Half name)
{
  assert(file->dwarf);
  Dwarf_Attribute attribute;
  uint64_t address;
  if (dwarf_attr(die, name, &attribute, NULL) != DW_DLV_OK)
    return 0;
  bool known = address_of(file, attribute, &address);
  dwarf_dealloc_attribute(attribute);
  return known ? address : 0;
}

void symbols_entry_release(struct symbols_entry *f)
{
  if (f->ranges_attribute)
    dwarf_dealloc_attribute(f->ranges_attribute);
  f->ranges_attribute = NULL;
}

/* Receives the ranges of an entry, one after the other. */
struct range_sink {
  void (*take)(void *context, uint64_t low, uint64_t high);
  void *context;
};

/* Reads a list of .debug_ranges. */
static void read_debug_ranges(const struct symbols_unit *unit, const struct symbols_entry *f, Dwarf_Die die,
                              const struct range_sink *sink)
{
  Dwarf_Ranges *list;
  Dwarf_Signed count;
  uint64_t base = unit->low, offset = f->ranges + (unit->split ? unit->ranges_base : 0);
  if (dwarf_get_ranges_b(unit->dwarf, offset, unit->split ? NULL : die, NULL, &list, &count, NULL, NULL) != DW_DLV_OK)
    return;
  for (Dwarf_Signed i = 0; i < count; i++)
    if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
      base = list[i].dwr_addr2;
    else if (list[i].dwr_type == DW_RANGES_ENTRY && base < UINT64_MAX - 1)
      sink->take(sink->context, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
  dwarf_dealloc_ranges(unit->dwarf, list, count);
}

/* The cursor at a list of a split part, whose header says where the lists are. */
static struct symbols_cursor split_list(struct symbols_bytes section, const struct symbols_entry *f)
{
  struct symbols_cursor c = symbols_cursor_at(section, 0, UINT64_MAX);
  unsigned size = symbols_cursor_fixed(&c, 4) == UINT32_MAX ? 8 : 4;
  symbols_cursor_skip(&c, size == 8 ? 8 : 0);
  symbols_cursor_skip(&c, 4); /* version, sizes of an address and a segment */
  uint64_t count = symbols_cursor_fixed(&c, 4), base = c.bad ? 0 : (uint64_t)(c.next - section.data);
  if (f->ranges_form != DW_FORM_rnglistx)
    return symbols_cursor_at(section, f->ranges, UINT64_MAX);
  if (f->ranges >= count)
    return (struct symbols_cursor){.bad = true};
  symbols_cursor_skip(&c, f->ranges * size);
  return symbols_cursor_at(section, base + symbols_cursor_fixed(&c, size), UINT64_MAX);
}

/* An address by its index, or as it stands. */
static uint64_t listed_address(const struct symbols_debug_file *file, struct symbols_cursor *c, bool indexed)
{
  uint64_t address;
  if (!indexed)
    return symbols_cursor_fixed(c, 8);
  if (!indexed_address(file, symbols_cursor_uleb(c), &address))
    symbols_cursor_fail(c);
  return address;
}

/* Reads a list of a split part's .debug_rnglists.dwo: libdwarf 20210528 takes these for damaged. */
static void read_split_rnglists(const struct symbols_unit *unit, const struct symbols_entry *f,
                                const struct range_sink *sink)
{
  const struct symbols_debug_file *file = unit->split;
  struct symbols_cursor c = split_list(file->sections[SYMBOLS_RNGLISTS], f);
  uint64_t base = unit->low;
  while (symbols_cursor_left(&c)) {
    unsigned kind = (unsigned)symbols_cursor_fixed(&c, 1);
    bool indexed = kind <= DW_RLE_startx_length;
    uint64_t low = 0, high = 0;
    if (kind == DW_RLE_end_of_list || kind > DW_RLE_start_length)
      return;
    low = kind == DW_RLE_offset_pair ? base + symbols_cursor_uleb(&c) : listed_address(file, &c, indexed);
    if (kind == DW_RLE_startx_endx || kind == DW_RLE_start_end)
      high = listed_address(file, &c, indexed);
    else if (kind == DW_RLE_offset_pair)
      high = base + symbols_cursor_uleb(&c);
    else if (kind == DW_RLE_startx_length || kind == DW_RLE_start_length)
      high = low + symbols_cursor_uleb(&c);
    else
      base = low;
    if (!c.bad && high)
      sink->take(sink->context, low, high);
  }
}

/* Reads a list of .debug_rnglists. */
static void read_rnglists(const struct symbols_entry *f, const struct range_sink *sink)
{
  assert(f->ranges_attribute);
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
      sink->take(sink->context, low, high);
  }
  dwarf_dealloc_rnglists_head(head);
}

void symbols_entry_ranges(const struct symbols_unit *unit, Dwarf_Die die, const struct symbols_entry *f,
                          void (*take)(void *context, uint64_t low, uint64_t high), void *context)
{
  struct range_sink sink = {take, context};
  if (f->ranges_attribute && unit->version >= 5 && unit->split)
    read_split_rnglists(unit, f, &sink);
  else if (f->ranges_attribute && unit->version >= 5)
    read_rnglists(f, &sink);
  else if (f->ranges_attribute)
    read_debug_ranges(unit, f, die, &sink);
  else if (f->has_low && f->has_high)
    take(context, f->low, f->high_is_size ? f->low + f->high : f->high);
}
