#include "hpcprof-lite/symbols_lines.h"

#include <stdlib.h>

#include "hpcprof-lite/symbols_constants.h"

enum { ENTRY_FORMATS_MAX = 32 };

struct file_entry {
  const char *name;
  uint64_t directory;
  const char *path; /* joined on first use */
};

struct row {
  uint64_t address;
  uint32_t file, line;
};

/* Rows [first, first + count) ascend in address; the last one ends at `end`. */
struct sequence {
  uint64_t start, end;
  size_t first, count;
};

struct symbols_lines {
  struct symbols_lines_source source;
  const char *comp_dir;
  struct symbols_cursor program;
  const uint8_t *lengths; /* operands of the standard opcodes */
  uint16_t version;
  uint8_t address_size, offset_size, min_length, line_range, opcode_base;
  int8_t line_base;
  bool ran;
  const char **directories;
  size_t directory_count, directory_room;
  struct file_entry *files;
  size_t file_count, file_room;
  struct row *rows;
  size_t row_count, row_room;
  struct sequence *sequences;
  size_t sequence_count, sequence_room;
};

static bool add_directory(struct symbols_lines *l, const char *name) {
  const char **grown = symbols_grow(l->directories, l->directory_count, &l->directory_room, sizeof *grown);
  if (!grown)
    return false;
  l->directories = grown;
  l->directories[l->directory_count++] = name;
  return true;
}

static bool add_file(struct symbols_lines *l, const char *name, uint64_t directory) {
  struct file_entry *grown = symbols_grow(l->files, l->file_count, &l->file_room, sizeof *grown);
  if (!grown)
    return false;
  l->files = grown;
  l->files[l->file_count++] = (struct file_entry){.name = name, .directory = directory};
  return true;
}

/* DWARF 2 to 4: directories and files are numbered from 1; number 0 is the compilation directory, and no file. */
static bool read_old_names(struct symbols_lines *l, struct symbols_cursor *c) {
  bool fine = add_directory(l, l->comp_dir) && add_file(l, NULL, 0);
  while (fine && !c->bad && symbols_cursor_left(c) && *c->next)
    fine = add_directory(l, symbols_cursor_string(c));
  symbols_cursor_skip(c, 1);
  while (fine && !c->bad && symbols_cursor_left(c) && *c->next) {
    const char *name = symbols_cursor_string(c);
    uint64_t directory = symbols_cursor_uleb(c);
    symbols_cursor_uleb(c); /* time   */
    symbols_cursor_uleb(c); /* length */
    fine = add_file(l, name, directory);
  }
  return fine && !c->bad;
}

/* Reads one field of a DWARF 5 entry: text or a number.  Each form takes at least one byte, which bounds the entries.
 * */
static void read_field(struct symbols_lines *l, struct symbols_cursor *c, uint64_t form, const char **text,
                       uint64_t *number) {
  switch (form) {
  case DW_FORM_string:
    *text = symbols_cursor_string(c);
    break;
  case DW_FORM_line_strp:
    *text = symbols_bytes_string(l->source.line_str, symbols_cursor_fixed(c, l->offset_size));
    break;
  case DW_FORM_strp:
    *text = symbols_bytes_string(l->source.str, symbols_cursor_fixed(c, l->offset_size));
    break;
  case DW_FORM_udata:
    *number = symbols_cursor_uleb(c);
    break;
  case DW_FORM_data1:
    *number = symbols_cursor_fixed(c, 1);
    break;
  case DW_FORM_data2:
    *number = symbols_cursor_fixed(c, 2);
    break;
  case DW_FORM_data4:
    *number = symbols_cursor_fixed(c, 4);
    break;
  case DW_FORM_data8:
    *number = symbols_cursor_fixed(c, 8);
    break;
  case DW_FORM_data16:
    symbols_cursor_skip(c, 16);
    break;
  case DW_FORM_block:
    symbols_cursor_skip(c, symbols_cursor_uleb(c));
    break;
  case DW_FORM_block1:
    symbols_cursor_skip(c, symbols_cursor_fixed(c, 1));
    break;
  case DW_FORM_strx:
    symbols_cursor_uleb(c);
    break;
  case DW_FORM_strx1:
    symbols_cursor_skip(c, 1);
    break;
  case DW_FORM_strx2:
    symbols_cursor_skip(c, 2);
    break;
  case DW_FORM_strx3:
    symbols_cursor_skip(c, 3);
    break;
  case DW_FORM_strx4:
    symbols_cursor_skip(c, 4);
    break;
  default:
    symbols_cursor_fail(c);
  }
}

/* DWARF 5: a list of entries whose fields are described in front of it.  Used for directories and for files. */
static bool read_new_names(struct symbols_lines *l, struct symbols_cursor *c, bool directories) {
  uint64_t content[ENTRY_FORMATS_MAX], form[ENTRY_FORMATS_MAX];
  unsigned formats = (unsigned)symbols_cursor_fixed(c, 1);
  if (formats > ENTRY_FORMATS_MAX)
    return false;
  for (unsigned i = 0; i < formats; i++) {
    content[i] = symbols_cursor_uleb(c);
    form[i] = symbols_cursor_uleb(c);
  }
  uint64_t count = symbols_cursor_uleb(c);
  if (c->bad || (count && !formats))
    return false;
  for (uint64_t n = 0; n < count && !c->bad; n++) {
    const char *name = NULL;
    uint64_t directory = 0;
    for (unsigned i = 0; i < formats; i++) {
      const char *text = NULL;
      uint64_t number = 0;
      read_field(l, c, form[i], &text, &number);
      if (content[i] == DW_LNCT_path)
        name = text;
      else if (content[i] == DW_LNCT_directory_index)
        directory = number;
    }
    if (!(directories ? add_directory(l, name) : add_file(l, name, directory)))
      return false;
  }
  return !c->bad;
}

/* Takes size bytes from the budget; false where it is used up. */
static bool spend(struct symbols_lines *l, uint64_t size) {
  if (*l->source.budget < size)
    return false;
  *l->source.budget -= size;
  return true;
}

/* Reads the header up to the line program; false if it is unusable. */
static bool read_header(struct symbols_lines *l, uint64_t offset) {
  struct symbols_cursor c = symbols_cursor_at(l->source.line, offset, UINT64_MAX);
  uint64_t length = symbols_cursor_fixed(&c, 4);
  l->offset_size = 4;
  if (length == 0xffffffff) {
    length = symbols_cursor_fixed(&c, 8);
    l->offset_size = 8;
  }
  if (c.bad || length > symbols_cursor_left(&c))
    return false;
  c.end = c.next + length;
  l->version = (uint16_t)symbols_cursor_fixed(&c, 2);
  l->address_size = 8;
  if (l->version >= 5) {
    l->address_size = (uint8_t)symbols_cursor_fixed(&c, 1);
    symbols_cursor_skip(&c, 1); /* segment selectors: none on this machine */
  }
  uint64_t header_length = symbols_cursor_fixed(&c, l->offset_size);
  if (c.bad || header_length > symbols_cursor_left(&c) || l->version < 2 || l->version > 5 || l->address_size != 8 ||
      !spend(l, header_length + 1))
    return false;
  l->program = (struct symbols_cursor){.next = c.next + header_length, .end = c.end};
  c.end = l->program.next;
  l->min_length = (uint8_t)symbols_cursor_fixed(&c, 1);
  symbols_cursor_skip(&c,
                      l->version >= 4 ? 2 : 1); /* operations per instruction (1 on this machine), default of is_stmt */
  l->line_base = (int8_t)symbols_cursor_fixed(&c, 1);
  l->line_range = (uint8_t)symbols_cursor_fixed(&c, 1);
  l->opcode_base = (uint8_t)symbols_cursor_fixed(&c, 1);
  l->lengths = c.next;
  symbols_cursor_skip(&c, l->opcode_base ? l->opcode_base - 1 : 0);
  if (c.bad || !l->line_range || !l->opcode_base)
    return false;
  return l->version >= 5 ? read_new_names(l, &c, true) && read_new_names(l, &c, false) : read_old_names(l, &c);
}

struct symbols_lines *symbols_lines_new(const struct symbols_lines_source *source, uint64_t offset,
                                        const char *comp_dir) {
  struct symbols_lines *l = calloc(1, sizeof *l);
  if (!l)
    return NULL;
  l->source = *source;
  l->comp_dir = comp_dir;
  if (!read_header(l, offset)) {
    symbols_lines_free(l);
    return NULL;
  }
  return l;
}

void symbols_lines_free(struct symbols_lines *l) {
  if (!l)
    return;
  free(l->directories);
  free(l->files);
  free(l->rows);
  free(l->sequences);
  free(l);
}

const char *symbols_lines_file(struct symbols_lines *l, uint64_t number) {
  if (number >= l->file_count || !l->files[number].name)
    return NULL;
  struct file_entry *file = &l->files[number];
  if (!file->path) {
    const char *directory = file->directory < l->directory_count ? l->directories[file->directory] : NULL;
    file->path = symbols_join(l->source.pool, l->comp_dir, directory, file->name);
  }
  return file->path;
}

/* The line-number machine's registers, and the sequence that is being built. */
struct machine {
  struct symbols_lines *lines;
  uint64_t address, file, line;
  size_t first; /* row at which the open sequence began */
  bool sorted;
};

static void machine_reset(struct machine *m) {
  m->address = 0;
  m->file = m->line = 1;
  m->first = m->lines->row_count;
  m->sorted = true;
}

/* Appends a row; of rows at one address the last one counts, the others cover no code. */
static bool append_row(struct machine *m) {
  struct symbols_lines *l = m->lines;
  struct row row = {m->address, (uint32_t)(m->file > UINT32_MAX ? 0 : m->file),
                    (uint32_t)(m->line > UINT32_MAX ? 0 : m->line)};
  struct row *last = l->row_count > m->first ? &l->rows[l->row_count - 1] : NULL;
  if (last && last->address == row.address) {
    *last = row;
    return true;
  }
  if (last && last->address > row.address)
    m->sorted = false;
  struct row *grown = symbols_grow(l->rows, l->row_count, &l->row_room, sizeof *grown);
  if (!grown)
    return false;
  l->rows = grown;
  l->rows[l->row_count++] = row;
  return true;
}

static int compare_rows(const void *left, const void *right) {
  const struct row *a = left, *b = right;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return (a->file > b->file) - (a->file < b->file);
}

/* Closes the open sequence at the machine's address; one that describes discarded code is taken back. */
static bool end_sequence(struct machine *m) {
  struct symbols_lines *l = m->lines;
  size_t count = l->row_count - m->first;
  if (count && !m->sorted)
    qsort(l->rows + m->first, count, sizeof *l->rows, compare_rows);
  uint64_t start = count ? l->rows[m->first].address : 0;
  bool keep = count && m->address > start && symbols_ranges_find(l->source.code, start) != SYMBOLS_NONE;
  if (keep) {
    struct sequence *grown = symbols_grow(l->sequences, l->sequence_count, &l->sequence_room, sizeof *grown);
    if (!grown)
      return false;
    l->sequences = grown;
    l->sequences[l->sequence_count++] = (struct sequence){start, m->address, m->first, count};
  } else {
    l->row_count = m->first;
  }
  machine_reset(m);
  return true;
}

static bool extended_opcode(struct machine *m, struct symbols_cursor *c) {
  uint64_t length = symbols_cursor_uleb(c);
  if (!length || length > symbols_cursor_left(c))
    return false;
  const uint8_t *next = c->next + length;
  unsigned opcode = (unsigned)symbols_cursor_fixed(c, 1);
  bool fine = true;
  if (opcode == DW_LNE_end_sequence)
    fine = end_sequence(m);
  else if (opcode == DW_LNE_set_address)
    m->address = length == 9 ? symbols_cursor_fixed(c, 8) : 0;
  c->next = next;
  return fine;
}

static bool standard_opcode(struct machine *m, struct symbols_cursor *c, unsigned opcode) {
  const struct symbols_lines *l = m->lines;
  switch (opcode) {
  case DW_LNS_copy:
    return append_row(m);
  case DW_LNS_advance_pc:
    m->address += symbols_cursor_uleb(c) * l->min_length;
    break;
  case DW_LNS_advance_line:
    m->line += (uint64_t)symbols_cursor_sleb(c);
    break;
  case DW_LNS_set_file:
    m->file = symbols_cursor_uleb(c);
    break;
  case DW_LNS_set_column:
    symbols_cursor_uleb(c);
    break;
  case DW_LNS_const_add_pc:
    m->address += (255u - l->opcode_base) / l->line_range * l->min_length;
    break;
  case DW_LNS_fixed_advance_pc:
    m->address += symbols_cursor_fixed(c, 2);
    break;
  case DW_LNS_negate_stmt:
  case DW_LNS_set_basic_block:
  case DW_LNS_set_prologue_end:
  case DW_LNS_set_epilogue_begin:
    break;
  case DW_LNS_set_isa:
    symbols_cursor_uleb(c);
    break;
  default:
    for (unsigned i = 0; i < l->lengths[opcode - 1]; i++)
      symbols_cursor_uleb(c);
  }
  return true;
}

static int compare_sequences(const void *left, const void *right) {
  const struct sequence *a = left, *b = right;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

/* Runs the line program.  Each opcode takes a byte and makes at most one row.  What a damaged program has told before
 * its fault is kept. */
static void run_program(struct symbols_lines *l) {
  struct machine m = {.lines = l};
  struct symbols_cursor c = l->program;
  bool fine = spend(l, symbols_cursor_left(&c));
  machine_reset(&m);
  while (fine && !c.bad && symbols_cursor_left(&c)) {
    unsigned opcode = (unsigned)symbols_cursor_fixed(&c, 1);
    if (opcode >= l->opcode_base) {
      unsigned step = opcode - l->opcode_base;
      m.address += (uint64_t)(step / l->line_range) * l->min_length;
      m.line += (uint64_t)(int64_t)(l->line_base + (int)(step % l->line_range));
      fine = append_row(&m);
    } else {
      fine = opcode ? standard_opcode(&m, &c, opcode) : extended_opcode(&m, &c);
    }
  }
  if (l->sequence_count)
    qsort(l->sequences, l->sequence_count, sizeof *l->sequences, compare_sequences);
}

/* The last sequence that starts at or before address, if it reaches it. */
static const struct sequence *find_sequence(const struct symbols_lines *l, uint64_t address) {
  size_t low = 0, high = l->sequence_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (l->sequences[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low && address < l->sequences[low - 1].end ? &l->sequences[low - 1] : NULL;
}

bool symbols_lines_find(struct symbols_lines *l, uint64_t address, uint32_t *file, uint32_t *line) {
  if (!l->ran) {
    run_program(l);
    l->ran = true;
  }
  const struct sequence *sequence = find_sequence(l, address);
  if (!sequence)
    return false;
  const struct row *rows = l->rows + sequence->first;
  size_t low = 0, high = sequence->count; /* rows[0] is at or before address */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (rows[middle].address <= address)
      low = middle;
    else
      high = middle;
  }
  *file = rows[low].file;
  *line = rows[low].line;
  return true;
}
