#include "hpcprof-lite/symbols_units.h"

#include <stdlib.h>

#include "hpcprof-lite/symbols_constants.h"

enum { VARIABLE = 0xffff, BUDGET_FACTOR = 8, BUDGET_FLOOR = 1 << 20 };

struct attribute {
  uint16_t name, form; /* 0 where they are beyond 16 bits, and so unknown: an entry with such a form cannot be read */
  int64_t constant;    /* of DW_FORM_implicit_const */
};

struct symbols_abbrev {
  uint64_t code;
  uint32_t tag;
  uint32_t first, count; /* attributes                                              */
  uint16_t size;         /* bytes of all attributes together, VARIABLE if they vary */
  bool children;
};

/* The abbreviations at one offset; shared by the units that use them. */
struct symbols_abbrevs {
  uint64_t offset;
  unsigned users;
  struct symbols_abbrev *abbrevs; /* ascending codes */
  size_t count, room;
  struct attribute *attributes;
  size_t attribute_count, attribute_room;
};

static void abbrevs_drop(struct symbols_abbrevs *table) {
  if (!table || --table->users)
    return;
  free(table->abbrevs);
  free(table->attributes);
  free(table);
}

/* Bytes that a form always takes in a unit, VARIABLE if they vary. */
static unsigned form_size(unsigned form, unsigned offset_size) {
  switch (form) {
  case DW_FORM_flag_present:
  case DW_FORM_implicit_const:
    return 0;
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1:
    return 1;
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2:
    return 2;
  case DW_FORM_strx3:
  case DW_FORM_addrx3:
    return 3;
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4:
  case DW_FORM_ref_sup4:
    return 4;
  case DW_FORM_addr:
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sig8:
  case DW_FORM_ref_sup8:
    return 8;
  case DW_FORM_data16:
    return 16;
  case DW_FORM_strp:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_sec_offset:
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_GNU_strp_alt:
    return offset_size;
  default:
    return VARIABLE;
  }
}

/* Reads the attributes of one abbreviation up to the pair of zeros. */
static bool read_attributes(struct symbols_abbrevs *table, struct symbols_cursor *c, struct symbols_abbrev *abbrev,
                            unsigned offset_size) {
  uint32_t size = 0;
  abbrev->first = (uint32_t)table->attribute_count;
  for (;;) {
    uint64_t name = symbols_cursor_uleb(c), form = symbols_cursor_uleb(c);
    if (c->bad)
      return false;
    if (!name && !form)
      break;
    struct attribute *grown =
        symbols_grow(table->attributes, table->attribute_count, &table->attribute_room, sizeof *grown);
    if (!grown)
      return false;
    table->attributes = grown;
    struct attribute *a = &table->attributes[table->attribute_count++];
    *a = (struct attribute){.name = (uint16_t)(name > UINT16_MAX ? 0 : name),
                            .form = (uint16_t)(form > UINT16_MAX ? 0 : form)};
    if (form == DW_FORM_implicit_const)
      a->constant = symbols_cursor_sleb(c);
    unsigned add = form_size(a->form, offset_size);
    size = add == VARIABLE || size + add >= VARIABLE ? VARIABLE : size + add;
  }
  abbrev->count = (uint32_t)(table->attribute_count - abbrev->first);
  abbrev->size = (uint16_t)size;
  return true;
}

static int compare_abbrevs(const void *left, const void *right) {
  const struct symbols_abbrev *a = left, *b = right;
  if (a->code != b->code)
    return a->code < b->code ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

/* Reads the table up to its end or to damage; what comes before damage is kept. */
static bool read_abbrevs(struct symbols_abbrevs *table, struct symbols_cursor *c, unsigned offset_size) {
  bool sorted = true;
  for (uint64_t last = 0;;) {
    struct symbols_abbrev abbrev = {.code = symbols_cursor_uleb(c)};
    if (!abbrev.code || c->bad)
      break;
    abbrev.tag = (uint32_t)symbols_cursor_uleb(c);
    abbrev.children = symbols_cursor_fixed(c, 1) != 0;
    if (!read_attributes(table, c, &abbrev, offset_size))
      break;
    struct symbols_abbrev *grown = symbols_grow(table->abbrevs, table->count, &table->room, sizeof *grown);
    if (!grown)
      return false;
    table->abbrevs = grown;
    table->abbrevs[table->count++] = abbrev;
    sorted = sorted && abbrev.code > last;
    last = abbrev.code;
  }
  if (!sorted)
    qsort(table->abbrevs, table->count, sizeof *table->abbrevs, compare_abbrevs);
  return table->count > 0;
}

/* The table at the unit's offset, with one more user; NULL if it is unusable or the budget is used up. */
static struct symbols_abbrevs *abbrevs_get(struct symbols_info *info, const struct symbols_unit *unit) {
  struct symbols_abbrevs *table = info->recent;
  if (table && table->offset == unit->abbrev_offset) {
    table->users++;
    return table;
  }
  struct symbols_cursor c = symbols_cursor_at(info->sections[SYMBOLS_ABBREV], unit->abbrev_offset, UINT64_MAX);
  const uint8_t *start = c.next;
  table = !info->budget || c.bad ? NULL : calloc(1, sizeof *table);
  if (!table)
    return NULL;
  table->offset = unit->abbrev_offset;
  table->users = 1;
  bool fine = read_abbrevs(table, &c, unit->offset_size);
  uint64_t used = (uint64_t)(c.next - start);
  info->budget -= used < info->budget ? used : info->budget;
  if (!fine) {
    abbrevs_drop(table);
    return NULL;
  }
  abbrevs_drop(info->recent);
  info->recent = table;
  table->users++;
  return table;
}

static const struct symbols_abbrev *abbrev_find(const struct symbols_abbrevs *table, uint64_t code) {
  if (code - 1 < table->count && table->abbrevs[code - 1].code == code)
    return &table->abbrevs[code - 1];
  size_t low = 0, high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (table->abbrevs[middle].code < code)
      low = middle + 1;
    else
      high = middle;
  }
  return low < table->count && table->abbrevs[low].code == code ? &table->abbrevs[low] : NULL;
}

/* The address at an index of the unit's part of .debug_addr. */
static struct symbols_value indexed_address(const struct symbols_info *info, const struct symbols_unit *unit,
                                            uint64_t index) {
  struct symbols_bytes addresses = info->sections[SYMBOLS_ADDR];
  if (index > addresses.size / 8)
    return (struct symbols_value){.kind = SYMBOLS_VALUE_ABSENT};
  struct symbols_cursor c = symbols_cursor_at(addresses, unit->addr_base + index * 8, UINT64_MAX);
  uint64_t address = symbols_cursor_fixed(&c, 8);
  return (struct symbols_value){.kind = c.bad ? SYMBOLS_VALUE_ABSENT : SYMBOLS_VALUE_ADDRESS, .number = address};
}

static struct symbols_value text_at(struct symbols_bytes strings, uint64_t offset) {
  return (struct symbols_value){.kind = SYMBOLS_VALUE_TEXT, .text = symbols_bytes_string(strings, offset)};
}

/* The string at an index of the unit's part of .debug_str_offsets. */
static struct symbols_value indexed_text(const struct symbols_info *info, const struct symbols_unit *unit,
                                         uint64_t index) {
  struct symbols_bytes offsets = info->sections[SYMBOLS_STR_OFFSETS];
  if (index > offsets.size / unit->offset_size)
    return (struct symbols_value){.kind = SYMBOLS_VALUE_TEXT};
  struct symbols_cursor c = symbols_cursor_at(offsets, unit->str_offsets_base + index * unit->offset_size, UINT64_MAX);
  uint64_t offset = symbols_cursor_fixed(&c, unit->offset_size);
  return c.bad ? (struct symbols_value){.kind = SYMBOLS_VALUE_TEXT} : text_at(info->sections[SYMBOLS_STR], offset);
}

static struct symbols_value shared_text(const struct symbols_info *info, uint64_t offset) {
  return text_at(info->shared ? info->shared->sections[SYMBOLS_STR] : (struct symbols_bytes){0}, offset);
}

static struct symbols_value number_value(uint64_t number) {
  return (struct symbols_value){.kind = SYMBOLS_VALUE_NUMBER, .number = number};
}

static struct symbols_value entry_value(uint64_t offset) {
  return (struct symbols_value){.kind = SYMBOLS_VALUE_ENTRY, .number = offset};
}

/* Reads a value of the given form and moves behind it.  Forms of unknown size end the reading of the unit. */
static struct symbols_value read_form(const struct symbols_info *info, const struct symbols_unit *unit,
                                      struct symbols_cursor *c, unsigned form, int64_t constant) {
  unsigned size = form_size(form, unit->offset_size);
  switch (form) {
  case DW_FORM_implicit_const:
    return number_value((uint64_t)constant);
  case DW_FORM_flag_present:
    return number_value(1);
  case DW_FORM_sdata:
    return number_value((uint64_t)symbols_cursor_sleb(c));
  case DW_FORM_udata:
    return number_value(symbols_cursor_uleb(c));
  case DW_FORM_data1:
  case DW_FORM_data2:
  case DW_FORM_data4:
  case DW_FORM_data8:
  case DW_FORM_flag:
  case DW_FORM_sec_offset:
    return number_value(symbols_cursor_fixed(c, size));
  case DW_FORM_addr:
    return (struct symbols_value){SYMBOLS_VALUE_ADDRESS, symbols_cursor_fixed(c, size), NULL};
  case DW_FORM_addrx:
  case DW_FORM_GNU_addr_index:
    return indexed_address(info, unit, symbols_cursor_uleb(c));
  case DW_FORM_addrx1:
  case DW_FORM_addrx2:
  case DW_FORM_addrx3:
  case DW_FORM_addrx4:
    return indexed_address(info, unit, symbols_cursor_fixed(c, size));
  case DW_FORM_string:
    return (struct symbols_value){.kind = SYMBOLS_VALUE_TEXT, .text = symbols_cursor_string(c)};
  case DW_FORM_strp:
    return text_at(info->sections[SYMBOLS_STR], symbols_cursor_fixed(c, size));
  case DW_FORM_line_strp:
    return text_at(info->sections[SYMBOLS_LINE_STR], symbols_cursor_fixed(c, size));
  case DW_FORM_strp_sup:
  case DW_FORM_GNU_strp_alt:
    return shared_text(info, symbols_cursor_fixed(c, size));
  case DW_FORM_strx:
  case DW_FORM_GNU_str_index:
    return indexed_text(info, unit, symbols_cursor_uleb(c));
  case DW_FORM_strx1:
  case DW_FORM_strx2:
  case DW_FORM_strx3:
  case DW_FORM_strx4:
    return indexed_text(info, unit, symbols_cursor_fixed(c, size));
  case DW_FORM_ref1:
  case DW_FORM_ref2:
  case DW_FORM_ref4:
  case DW_FORM_ref8:
    return entry_value(unit->offset + symbols_cursor_fixed(c, size));
  case DW_FORM_ref_udata:
    return entry_value(unit->offset + symbols_cursor_uleb(c));
  case DW_FORM_ref_addr:
    return entry_value(symbols_cursor_fixed(c, unit->version <= 2 ? 8 : unit->offset_size));
  case DW_FORM_ref_sup4:
  case DW_FORM_ref_sup8:
  case DW_FORM_GNU_ref_alt:
    return (struct symbols_value){SYMBOLS_VALUE_SHARED, symbols_cursor_fixed(c, size), NULL};
  case DW_FORM_rnglistx:
    return (struct symbols_value){SYMBOLS_VALUE_LIST, symbols_cursor_uleb(c), NULL};
  case DW_FORM_loclistx:
    symbols_cursor_uleb(c);
    break;
  case DW_FORM_ref_sig8:
  case DW_FORM_data16:
    symbols_cursor_skip(c, size);
    break;
  case DW_FORM_block:
  case DW_FORM_exprloc:
    symbols_cursor_skip(c, symbols_cursor_uleb(c));
    break;
  case DW_FORM_block1:
    symbols_cursor_skip(c, symbols_cursor_fixed(c, 1));
    break;
  case DW_FORM_block2:
    symbols_cursor_skip(c, symbols_cursor_fixed(c, 2));
    break;
  case DW_FORM_block4:
    symbols_cursor_skip(c, symbols_cursor_fixed(c, 4));
    break;
  default:
    symbols_cursor_fail(c);
  }
  return (struct symbols_value){.kind = SYMBOLS_VALUE_ABSENT};
}

/* Reads an attribute whose form may stand in the entry itself (at most one such step is legal). */
static struct symbols_value read_value(const struct symbols_info *info, const struct symbols_unit *unit,
                                       struct symbols_cursor *c, const struct attribute *a) {
  unsigned form = a->form;
  if (form == DW_FORM_indirect) {
    uint64_t real = symbols_cursor_uleb(c);
    form = real > UINT16_MAX || real == DW_FORM_implicit_const ? 0 : (unsigned)real;
  }
  return read_form(info, unit, c, form, a->constant);
}

bool symbols_entry_read(const struct symbols_info *info, const struct symbols_unit *unit, struct symbols_cursor *c,
                        struct symbols_entry *entry) {
  if (c->bad || !symbols_cursor_left(c))
    return false;
  *entry = (struct symbols_entry){.offset = (uint64_t)(c->next - info->sections[SYMBOLS_INFO].data)};
  uint64_t code = symbols_cursor_uleb(c);
  if (!code)
    return !c->bad;
  entry->abbrev = abbrev_find(unit->abbrevs, code);
  if (!entry->abbrev)
    return false;
  entry->tag = entry->abbrev->tag;
  entry->children = entry->abbrev->children;
  return entry->tag != 0;
}

void symbols_entry_skip(const struct symbols_info *info, const struct symbols_unit *unit, struct symbols_cursor *c,
                        const struct symbols_entry *entry) {
  if (!entry->abbrev)
    return;
  if (entry->abbrev->size != VARIABLE) {
    symbols_cursor_skip(c, entry->abbrev->size);
    return;
  }
  const struct attribute *a = unit->abbrevs->attributes + entry->abbrev->first;
  for (uint32_t i = 0; i < entry->abbrev->count && !c->bad; i++) {
    unsigned size = form_size(a[i].form, unit->offset_size);
    if (size != VARIABLE)
      symbols_cursor_skip(c, size);
    else
      read_value(info, unit, c, &a[i]);
  }
}

static struct symbols_value *field_of(struct symbols_fields *f, unsigned name) {
  switch (name) {
  case DW_AT_low_pc:
    return &f->low;
  case DW_AT_high_pc:
    return &f->high;
  case DW_AT_ranges:
    return &f->ranges;
  case DW_AT_entry_pc:
    return &f->entry_pc;
  case DW_AT_abstract_origin:
    return &f->origin;
  case DW_AT_specification:
    return &f->specification;
  case DW_AT_name:
    return &f->name;
  case DW_AT_linkage_name:
  case DW_AT_MIPS_linkage_name:
    return &f->linkage;
  case DW_AT_decl_file:
    return &f->decl_file;
  case DW_AT_decl_line:
    return &f->decl_line;
  case DW_AT_call_file:
    return &f->call_file;
  case DW_AT_call_line:
    return &f->call_line;
  case DW_AT_stmt_list:
    return &f->lines;
  case DW_AT_comp_dir:
    return &f->comp_dir;
  case DW_AT_str_offsets_base:
    return &f->str_offsets_base;
  case DW_AT_addr_base:
    return &f->addr_base;
  case DW_AT_rnglists_base:
    return &f->rnglists_base;
  default:
    return NULL;
  }
}

void symbols_entry_fields(const struct symbols_info *info, const struct symbols_unit *unit, struct symbols_cursor *c,
                          const struct symbols_entry *entry, struct symbols_fields *fields) {
  *fields = (struct symbols_fields){0};
  if (!entry->abbrev)
    return;
  const struct attribute *a = unit->abbrevs->attributes + entry->abbrev->first;
  for (uint32_t i = 0; i < entry->abbrev->count && !c->bad; i++) {
    struct symbols_value value = read_value(info, unit, c, &a[i]);
    struct symbols_value *field = field_of(fields, a[i].name);
    if (field && !c->bad)
      *field = value;
  }
}

/* Where the ranges of an entry are collected. */
struct range_sink {
  struct symbols_info *info;
  struct symbols_ranges *out;
  uint32_t value, depth;
  uint64_t first;
  long count; /* negative: no memory */
};

/* Linkers leave ranges of discarded code at 0, 1 or the largest addresses: what is not code is dropped. */
static void sink_add(struct range_sink *sink, uint64_t low, uint64_t high) {
  if (sink->count < 0 || !low || low >= high || symbols_ranges_find(sink->info->code, low) == SYMBOLS_NONE)
    return;
  if (!symbols_ranges_add(sink->out, (struct symbols_range){low, high, sink->value, sink->depth}))
    sink->count = -1;
  else if (!sink->count++)
    sink->first = low;
}

/* Charges the bytes of a list to the budget; false when it is used up. */
static bool charge(struct symbols_info *info, const uint8_t *from, const uint8_t *to) {
  uint64_t used = (uint64_t)(to - from) + 1;
  info->budget -= used < info->budget ? used : info->budget;
  return info->budget > 0;
}

static void read_old_list(struct range_sink *sink, const struct symbols_unit *unit, uint64_t offset) {
  struct symbols_cursor c = symbols_cursor_at(sink->info->sections[SYMBOLS_RANGE_LISTS], offset, UINT64_MAX);
  uint64_t base = unit->low;
  for (const uint8_t *from = c.next; charge(sink->info, from, c.next); from = c.next) {
    uint64_t low = symbols_cursor_fixed(&c, 8), high = symbols_cursor_fixed(&c, 8);
    if (c.bad || (!low && !high))
      return;
    if (low == UINT64_MAX)
      base = high;
    else if (base < UINT64_MAX - 1)
      sink_add(sink, base + low, base + high);
  }
}

/* Reads one entry of a DWARF 5 list; false at its end. */
static bool read_list_entry(struct range_sink *sink, const struct symbols_unit *unit, struct symbols_cursor *c,
                            uint64_t *base) {
  unsigned kind = (unsigned)symbols_cursor_fixed(c, 1);
  uint64_t low = 0, high = 0;
  switch (kind) {
  case DW_RLE_base_addressx:
    *base = indexed_address(sink->info, unit, symbols_cursor_uleb(c)).number;
    return !c->bad;
  case DW_RLE_base_address:
    *base = symbols_cursor_fixed(c, 8);
    return !c->bad;
  case DW_RLE_startx_endx:
    low = indexed_address(sink->info, unit, symbols_cursor_uleb(c)).number;
    high = indexed_address(sink->info, unit, symbols_cursor_uleb(c)).number;
    break;
  case DW_RLE_startx_length:
    low = indexed_address(sink->info, unit, symbols_cursor_uleb(c)).number;
    high = low + symbols_cursor_uleb(c);
    break;
  case DW_RLE_offset_pair:
    low = *base + symbols_cursor_uleb(c);
    high = *base + symbols_cursor_uleb(c);
    if (*base >= UINT64_MAX - 1)
      low = high = 0;
    break;
  case DW_RLE_start_end:
    low = symbols_cursor_fixed(c, 8);
    high = symbols_cursor_fixed(c, 8);
    break;
  case DW_RLE_start_length:
    low = symbols_cursor_fixed(c, 8);
    high = low + symbols_cursor_uleb(c);
    break;
  default:
    return false;
  }
  if (!c->bad)
    sink_add(sink, low, high);
  return !c->bad;
}

static void read_new_list(struct range_sink *sink, const struct symbols_unit *unit,
                          const struct symbols_value *ranges) {
  struct symbols_bytes lists = sink->info->sections[SYMBOLS_RNGLISTS];
  uint64_t offset = ranges->number, base = unit->low;
  if (ranges->kind == SYMBOLS_VALUE_LIST) {
    if (offset > lists.size / unit->offset_size)
      return;
    struct symbols_cursor i = symbols_cursor_at(lists, unit->rnglists_base + offset * unit->offset_size, UINT64_MAX);
    offset = unit->rnglists_base + symbols_cursor_fixed(&i, unit->offset_size);
    if (i.bad)
      return;
  }
  struct symbols_cursor c = symbols_cursor_at(lists, offset, UINT64_MAX);
  for (const uint8_t *from = c.next; charge(sink->info, from, c.next); from = c.next)
    if (!read_list_entry(sink, unit, &c, &base))
      return;
}

long symbols_entry_ranges(struct symbols_info *info, const struct symbols_unit *unit,
                          const struct symbols_fields *fields, uint32_t value, uint32_t depth,
                          struct symbols_ranges *out, uint64_t *first) {
  struct range_sink sink = {.info = info, .out = out, .value = value, .depth = depth};
  if (fields->ranges.kind && unit->version >= 5)
    read_new_list(&sink, unit, &fields->ranges);
  else if (fields->ranges.kind)
    read_old_list(&sink, unit, fields->ranges.number);
  else if (fields->low.kind == SYMBOLS_VALUE_ADDRESS && fields->high.kind)
    sink_add(&sink, fields->low.number,
             fields->high.kind == SYMBOLS_VALUE_ADDRESS ? fields->high.number
                                                        : fields->low.number + fields->high.number);
  *first = sink.first;
  return sink.count;
}

bool symbols_unit_prepare(struct symbols_info *info, struct symbols_unit *unit) {
  if (!unit->abbrevs)
    unit->abbrevs = abbrevs_get(info, unit);
  return unit->abbrevs != NULL;
}

struct symbols_unit *symbols_info_unit(const struct symbols_info *info, uint64_t offset) {
  size_t low = 0, high = info->unit_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (info->units[middle].offset <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  struct symbols_unit *unit = low ? &info->units[low - 1] : NULL;
  return unit && offset >= unit->first && offset < unit->end ? unit : NULL;
}

/* Reads a unit's header; false where no further unit can be found.  A unit of an unknown kind has first = end: no
 * entries. */
static bool read_header(struct symbols_cursor *c, const uint8_t *base, struct symbols_unit *unit) {
  *unit = (struct symbols_unit){.offset = (uint64_t)(c->next - base), .offset_size = 4};
  uint64_t length = symbols_cursor_fixed(c, 4);
  if (length == 0xffffffff) {
    length = symbols_cursor_fixed(c, 8);
    unit->offset_size = 8;
  }
  if (c->bad || length > symbols_cursor_left(c))
    return false;
  struct symbols_cursor h = {.next = c->next, .end = c->next + length};
  c->next = h.end;
  unit->end = unit->first = (uint64_t)(h.end - base);
  unit->version = (uint8_t)symbols_cursor_fixed(&h, 2);
  uint64_t kind = unit->version >= 5 ? symbols_cursor_fixed(&h, 1) : DW_UT_compile, address_size = 8;
  if (unit->version >= 5)
    address_size = symbols_cursor_fixed(&h, 1);
  unit->abbrev_offset = symbols_cursor_fixed(&h, unit->offset_size);
  if (unit->version < 5)
    address_size = symbols_cursor_fixed(&h, 1);
  if (kind == DW_UT_skeleton || kind == DW_UT_split_compile)
    symbols_cursor_skip(&h, 8);
  if (kind == DW_UT_type || kind == DW_UT_split_type)
    symbols_cursor_skip(&h, 8 + unit->offset_size);
  if (!h.bad && unit->version >= 2 && unit->version <= 5 && address_size == 8)
    unit->first = (uint64_t)(h.next - base);
  return true;
}

/* Takes from the root entry what the other entries depend on.  The bases come first: names and addresses may need
 * them. */
static void read_root(struct symbols_info *info, struct symbols_unit *unit) {
  struct symbols_entry entry;
  struct symbols_fields fields;
  unit->str_offsets_base = unit->version >= 5 ? 2u * unit->offset_size : 0;
  unit->addr_base = unit->version >= 5 ? 8 : 0;
  unit->rnglists_base = unit->offset_size == 8 ? 20 : 12;
  for (int pass = 0; pass < 2; pass++) {
    struct symbols_cursor c = symbols_cursor_at(info->sections[SYMBOLS_INFO], unit->first, unit->end);
    if (!symbols_entry_read(info, unit, &c, &entry))
      return;
    symbols_entry_fields(info, unit, &c, &entry, &fields);
    if (fields.str_offsets_base.kind)
      unit->str_offsets_base = fields.str_offsets_base.number;
    if (fields.addr_base.kind)
      unit->addr_base = fields.addr_base.number;
    if (fields.rnglists_base.kind)
      unit->rnglists_base = fields.rnglists_base.number;
  }
  unit->low = fields.low.number;
  unit->has_lines = fields.lines.kind == SYMBOLS_VALUE_NUMBER;
  unit->line_offset = fields.lines.number;
  unit->comp_dir = fields.comp_dir.text;
  unit->has_entries = entry.children;
  uint64_t first;
  if (info->covered)
    symbols_entry_ranges(info, unit, &fields, (uint32_t)info->unit_count, 0, info->covered, &first);
}

static bool add_unit(struct symbols_info *info, const struct symbols_unit *unit) {
  struct symbols_unit *grown = symbols_grow(info->units, info->unit_count, &info->unit_room, sizeof *grown);
  if (!grown)
    return false;
  info->units = grown;
  info->units[info->unit_count++] = *unit;
  return true;
}

bool symbols_info_open(struct symbols_info *info) {
  struct symbols_bytes bytes = info->sections[SYMBOLS_INFO];
  struct symbols_cursor c = symbols_cursor_at(bytes, 0, UINT64_MAX);
  struct symbols_unit unit;
  info->budget = BUDGET_FLOOR;
  for (int i = 0; i < SYMBOLS_SECTIONS; i++)
    info->budget += BUDGET_FACTOR * (uint64_t)info->sections[i].size;
  while (!c.bad && symbols_cursor_left(&c)) {
    if (!read_header(&c, bytes.data, &unit)) {
      info->damaged = true;
      break;
    }
    if (unit.first < unit.end && symbols_unit_prepare(info, &unit)) {
      read_root(info, &unit);
      abbrevs_drop(unit.abbrevs); /* a large program has thousands of units: most are never asked for */
      unit.abbrevs = NULL;
    }
    if (!add_unit(info, &unit))
      return false;
  }
  return true;
}

void symbols_info_release(struct symbols_info *info) {
  for (size_t i = 0; i < info->unit_count; i++)
    abbrevs_drop(info->units[i].abbrevs);
  abbrevs_drop(info->recent);
  free(info->units);
  *info = (struct symbols_info){0};
}
