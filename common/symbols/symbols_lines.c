#include "common/symbols/symbols_lines.h"

#include "common/xalloc.h"

#include <stdlib.h>

/* Reads the header of a line program: moves the cursor to its opcodes, and fills in the number of the first special
 * opcode and the operand counts of the standard ones.  False if it is damaged or not DWARF 5. */
static bool program_begin(struct symbols_bytes section, uint64_t offset, struct symbols_cursor *c, uint8_t *opcode_base,
                          const uint8_t **operand_counts)
{
  *c = symbols_cursor_at(section, offset, UINT64_MAX);
  uint64_t length = symbols_cursor_fixed(c, 4);
  unsigned size = length == UINT32_MAX ? 8 : 4;
  if (size == 8)
    length = symbols_cursor_fixed(c, 8);
  uint64_t end = (uint64_t)(c->next - section.data) + length;
  uint64_t version = symbols_cursor_fixed(c, 2);
  symbols_cursor_skip(c, 2);
  length = symbols_cursor_fixed(c, size);
  uint64_t program = (uint64_t)(c->next - section.data) + length;
  symbols_cursor_skip(c, 5);
  *opcode_base = (uint8_t)symbols_cursor_fixed(c, 1);
  *operand_counts = c->next;
  symbols_cursor_skip(c, *opcode_base ? *opcode_base - 1u : 0);
  if (c->bad || version != 5 || !*opcode_base)
    return false;
  *c = symbols_cursor_at(section, program, end);
  return !c->bad;
}

/* Finds the rows of a DWARF 5 line table that have the default file.  That is file 1, but older versions of libdwarf,
 * such as 20210528, return file 0.  Sets chosen[i] to whether the line program has set the file of row i; elements of
 * rows that cannot be read are left as they are.  Rows are counted as libdwarf counts them. */
static void default_files(struct symbols_bytes section, uint64_t offset, bool *chosen, size_t count)
{
  struct symbols_cursor c;
  const uint8_t *operand_counts;
  uint8_t opcode_base;
  bool file_chosen = false;
  if (!program_begin(section, offset, &c, &opcode_base, &operand_counts))
    return;
  for (size_t row = 0; row < count && !c.bad && symbols_cursor_left(&c);) {
    unsigned opcode = (unsigned)symbols_cursor_fixed(&c, 1);
    if (opcode >= opcode_base || opcode == DW_LNS_copy) {
      chosen[row++] = file_chosen;
    } else if (opcode == DW_LNS_fixed_advance_pc) {
      symbols_cursor_skip(&c, 2);
    } else if (opcode) {
      file_chosen = file_chosen || opcode == DW_LNS_set_file;
      for (unsigned i = 0; i < operand_counts[opcode - 1]; i++)
        symbols_cursor_uleb(&c);
    } else {
      uint64_t length = symbols_cursor_uleb(&c);
      if (length && symbols_cursor_left(&c) && *c.next == DW_LNE_end_sequence) {
        chosen[row++] = file_chosen;
        file_chosen = false;
      }
      symbols_cursor_skip(&c, length);
    }
  }
}

bool symbols_lines_open(struct symbols_lines *lines, Dwarf_Die root)
{
  Dwarf_Small tables;
  Dwarf_Signed base, count;
  *lines = (struct symbols_lines){0};
  if (dwarf_srclines_b(root, &lines->version, &tables, &lines->context, NULL) != DW_DLV_OK)
    return false;
  if (dwarf_srclines_comp_dir(lines->context, &lines->comp_dir, NULL) != DW_DLV_OK)
    lines->comp_dir = NULL;
  if (dwarf_srclines_files_indexes(lines->context, &base, &count, &lines->count, NULL) != DW_DLV_OK || lines->count < 0)
    lines->count = 0;
  return true;
}

void symbols_lines_close(struct symbols_lines *lines)
{
  dwarf_srclines_dealloc_b(lines->context);
}

/* The name of a table's directory, NULL if it is the compilation directory. */
static const char *directory_of(const struct symbols_lines *lines, Dwarf_Unsigned number)
{
  const char *directory = NULL;
  if (!number && lines->version < 5)
    return NULL;
  if (dwarf_srclines_include_dir_data(lines->context, (Dwarf_Signed)number, &directory, NULL) != DW_DLV_OK)
    return NULL;
  return directory;
}

bool symbols_lines_file(const struct symbols_lines *lines, uint64_t number, const char **directory, const char **name)
{
  Dwarf_Unsigned directory_number = 0, time, size;
  Dwarf_Form_Data16 *md5;
  *name = NULL;
  if (dwarf_srclines_files_data_b(lines->context, (Dwarf_Signed)number, name, &directory_number, &time, &size, &md5,
                                  NULL) != DW_DLV_OK)
    return false;
  *directory = directory_of(lines, directory_number);
  return true;
}

/* For each row of the table, whether libdwarf returns the right file; NULL if it does for all.  The caller frees it. */
static bool *chosen_files(const struct symbols_lines *lines, struct symbols_bytes section, Dwarf_Signed count)
{
  Dwarf_Unsigned offset;
  if (lines->version != 5 || count <= 0)
    return NULL;
  bool *chosen = xmalloc((size_t)count);
  memset(chosen, true, (size_t)count);
  if (dwarf_srclines_table_offset(lines->context, &offset, NULL) == DW_DLV_OK)
    default_files(section, offset, chosen, (size_t)count);
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

bool symbols_lines_rows(const struct symbols_lines *lines, struct symbols_bytes section,
                        void (*take)(void *context, const struct symbols_line *line), void *context)
{
  Dwarf_Line *rows;
  Dwarf_Signed count;
  int found = dwarf_srclines_from_linecontext(lines->context, &rows, &count, NULL);
  if (found != DW_DLV_OK)
    return found == DW_DLV_NO_ENTRY;
  bool *chosen = chosen_files(lines, section, count);
  for (Dwarf_Signed i = 0; i < count; i++) {
    Dwarf_Addr address = 0;
    Dwarf_Unsigned file = 0, number = 0;
    Dwarf_Bool statement = false;
    bool end = ends_sequence(rows[i]);
    dwarf_lineaddr(rows[i], &address, NULL);
    if (!end) {
      dwarf_line_srcfileno(rows[i], &file, NULL);
      dwarf_lineno(rows[i], &number, NULL);
      dwarf_linebeginstatement(rows[i], &statement, NULL);
    }
    struct symbols_line line = {address, !chosen || chosen[i] ? file : 1, number, statement, end};
    take(context, &line);
  }
  free(chosen);
  return true;
}
